#!/bin/sh
# Computed tables say what the commands say; figures are drawn from them, and from sweeps that are run when they are missing.
. "$(dirname "$0")/lib.sh"
SOURCE=$2
ask() { "$DSE" query :memory: "$1" --format csv; }

# The same numbers as the commands.
[ "$(ask "select value from metric('lad', 'context=1024, tiles=8') where name = 'latency_us'" | tail -1)" = \
    "$("$DSE" eval lad --set context=1024 --set tiles=8 --format csv | sqlite3 :memory: '.mode csv' '.import /dev/stdin t' 'select latency_us from t')" ] ||
    fail "metric() is not dse eval"
[ "$(ask "select abs(sum(time_us) / (select value from metric('veda') where name = 'latency_us') - 1) < 1e-9 from breakdown('veda') where depth = 0" | tail -1)" = 1 ] ||
    fail "the parts of breakdown() do not add up to the latency"
for column in dram_mib energy_mj; do
    [ "$(ask "select abs(sum($column) / (select value from metric('lad', 'batch=12') where name = '$column') - 1) < 1e-9 from breakdown('lad', 'batch=12') where depth = 0" |
        tail -1)" = 1 ] || fail "the parts' $column of breakdown() do not add up to the metric of that name"
done
"$DSE" validate --format csv >validate.csv
[ "$(ask 'select count(*) from claim where modelled is not null' | tail -1)" -gt 150 ] || fail "claim has too few numbers"
for id in lad.fig7.e2e_speedup.lad25.group1 swiftkv.sec5.gop_token; do
    grep -q "$id" validate.csv || fail "no claim $id"
    [ "$(ask "select modelled from claim where id = '$id'" | tail -1)" = "$(sqlite3 :memory: '.mode csv' '.import validate.csv t' "select modelled from t where claim = '$id' and step = '' and measured_on = ''")" ] ||
        fail "claim is not dse validate: $id"
done
for model in lad veda swiftkv flashdecoding ane; do
    [ "$(ask "select count(*) from equation('$model')" | wc -l)" = 2 ] || fail "equation('$model')"
done

# A join: one call for each row of the left table.
[ "$(ask "with c(n) as (values (512), (1024), (2048)) select count(distinct n) from c, breakdown('lad', 'context=' || n)" | tail -1)" = 3 ] || fail "join"

# Attention: shares add up; exp is near; a trace is read.
[ "$(ask "select abs(sum(share) - 1) < 1e-9 from score_share('synthetic', 0, 512)" | tail -1)" = 1 ] || fail "score_share"
[ "$(ask "select max(abs(relative_error)) < 1e-4 from exp_error('table')" | tail -1)" = 1 ] || fail "exp_error"
[ "$(ask "select count(*), min(interval) >= 1, max(interval) <= 5 from interval_map('$SOURCE/catalog/traces/tinyllama.trace', 1, 64, 54, 10)" | tail -1)" = 595,1,1 ] ||
    fail "interval_map"
[ "$(ask "select count(*) from score_stats('synthetic', 3, 512)" | tail -1)" = 3 ] || fail "score_stats"
[ "$(ask "select min(retained_mass) > 0 and max(retained_mass) <= 1 from retention('tinyllama-1.1b')" | tail -1)" = 1 ] || fail "retention"
[ "$(ask "select count(*) from profile('published-fit')" | tail -1)" = 49 ] || fail "profile"

# A figure runs the sweep that it misses, once.
"$DSE" plot "$SOURCE/plots/ane_query_rows.toml" 2>first.txt
grep -q 'is not there: running' first.txt || fail "the sweep was not run: $(cat first.txt)"
[ -s results/ane_query_rows.png ] || fail "no picture"
"$DSE" plot "$SOURCE/plots/ane_query_rows.toml" 2>second.txt
if grep -q running second.txt; then fail "the sweep was run again"; fi

# Several at once, from nothing.
"$DSE" figures 'gpu_flat_gemm*' ane_cache_designs -o pictures --format svg 2>/dev/null
[ "$(ls pictures/*.svg | wc -l)" = 4 ] || fail "dse figures drew $(ls pictures)"
