#!/bin/sh
# The models against measured machines. A regime whose error grew by more than a tenth fails; what `dse eval` says of a row's settings is what stands
# in the row; files of others are refused with their place.
#     measured.sh DSE SOURCE BUILD            compare with measured.csv, and the tables in docs/accuracy.md
#     measured.sh DSE SOURCE --update         write both anew, after looking at what changed
source=$(cd "$2" && pwd)
tables_lib=$(cd "$(dirname "$0")" && pwd)/measured_tables.lib
. "$(dirname "$0")/lib.sh"
. "$tables_lib"
export LC_ALL=C

cp "$(once measured.csv "$DSE" validate --measured --format csv)" rows.csv
sqlite3 rows.db '.mode csv' '.import rows.csv rows'
sqlite3 rows.db ".mode csv" "select model, source, regime, split, count(*), printf('%.2f', avg(abs(error_pct))) from rows where error_pct <> ''
    group by 1, 2, 3, 4 order by 1, 2, 3, 4" | tr -d '\r' >now.csv
"$DSE" validate --measured --regimes --format csv | tr -d '\r' >regimes.csv || fail "dse validate --measured --regimes"
sqlite3 rows.db '.mode csv' '.import regimes.csv regimes'
tables "$source" "${3:-}"

stored=$source/tests/cli/measured.csv
if [ "${3:-}" = --update ]; then
    { echo model,source,regime,split,rows,mean_abs_error_pct && cat now.csv; } >"$stored"
    exit 0
fi
changes=$(sqlite3 :memory: 'create table is_now (model, source, regime, split, rows integer, error real)' \
    'create table was (model, source, regime, split, rows integer, error real)' '.mode csv' ".import --skip 1 $stored was" '.import now.csv is_now' '.mode list' "
    select was.source || ', ' || regime || ', ' || split || ': the error of ' || was.error || ' % is ' || is_now.error || ' %'
        from was join is_now using (model, source, regime, split) where is_now.error > was.error * 1.1 + 0.05
    union all select source || ', ' || regime || ', ' || split || ': ' || was.rows || ' rows had an answer, ' || coalesce(is_now.rows, 0) || ' have one'
        from was left join is_now using (model, source, regime, split) where coalesce(is_now.rows, 0) < was.rows
    union all select source || ', ' || regime || ', ' || split || ' does not stand in measured.csv'
        from is_now where (model, source, regime, split) not in (select model, source, regime, split from was)")
[ -z "$changes" ] || fail "errors grew; if that is meant, say why in the commit and run tests/cli/measured.sh DSE SOURCE --update
$changes"

# Every row is accounted for: a number or a reason. No test row is a calibrate row elsewhere.
[ "$(sqlite3 rows.db "select count(*) from rows where (error_pct = '') <> (reason <> '')")" = 0 ] || fail "rows with neither number nor reason, or both"

# Regimes hold what rows hold. Each is of a kind; what is wrong has a suspected cause, and a cause has a regime.
[ "$(sqlite3 rows.db "select count(*) from (select model, source, regime, split, count(*) as n, avg(error_pct) as bias, avg(abs(error_pct)) as size, sum(abs(error_pct) <= 10) as near
    from rows where error_pct <> '' group by 1, 2, 3, 4) as r left join regimes as s using (model, source, regime, split)
    where s.rows is null or s.rows <> n or abs(bias - mean_pct) > 1e-6 or abs(size - mean_abs_pct) > 1e-6 or abs(near * 100.0 / n - within_10_pct) > 1e-6")" = 0 ] || fail "regimes are not the sums of rows"
[ -z "$(sqlite3 rows.db "select regime from regimes where kind = ''")" ] || fail "of no kind (causes.toml): $(sqlite3 rows.db "select regime from regimes where kind = ''")"
[ -z "$(sqlite3 rows.db "select regime from regimes where wrong = '1' and cause = ''")" ] ||
    fail "wrong, and nobody said why (catalog/measured/causes.toml): $(sqlite3 rows.db "select source || ', ' || regime from regimes where wrong = '1' and cause = ''")"
[ "$(sqlite3 rows.db "select count(*) from regimes where (split = 'test' and rows > 0 and (target_pct <> '' and mean_abs_pct + 0 > target_pct + 0 or rows >= 10 and abs(mean_pct) > 20)) <> (wrong = '1')")" = 0 ] ||
    fail "wrong is not what is over its target or biased"
sqlite3 rows.db 'select distinct regime from regimes' >regimes.txt
grep -h '^regimes' "$source/catalog/measured/causes.toml" | grep -o '"[^"]*"' | tr -d '"' | sort -u | while read -r pattern; do
    while read -r regime; do
        # shellcheck disable=SC2254
        case $regime in $pattern) echo yes ;; esac
    done <regimes.txt | grep -q yes || fail "causes.toml: no regime is \"$pattern\""
done
# Constants that a regime rests on: those of GEMMs are not attention's, and an engine's are of its steps.
[ "$(sqlite3 rows.db "select count(*) from regimes where constants like '%attention_block_cycles%' and regime like 'attention, decode%' or constants not like '%gemm_fixed_cycles%' and regime like 'GEMM, a100%' or constants not like '%gemm_tensor_share%' and regime like 'GEMM, a100%M >= 1024'
    or constants not like '%launch_us%' and regime like 'token time, a100%' or constants <> 'fill_rows' and model = 'ane' and regime like 'tokens/s%'")" = 0 ] || fail "constants of regimes: $(sqlite3 rows.db 'select regime, constants from regimes')"
"$DSE" query :memory: "select count(*), round(sum(rows * mean_abs_percent), 3), sum(wrong), count(distinct constants) from measured_regimes" --format csv | tail -n 1 >asked.txt
[ "$(cat asked.txt)" = "$(sqlite3 -csv rows.db "select count(*), round(sum(rows * mean_abs_pct), 3), sum(wrong), count(distinct constants) from regimes")" ] || fail "the table measured_regimes: $(cat asked.txt)"
"$DSE" validate --measured flashdecoding >table.txt
grep -q 'SUSPECTED CAUSE' table.txt || [ "$(sqlite3 rows.db "select count(*) from regimes where wrong = '1' and model = 'flashdecoding'")" = 0 ] || fail "what is wrong is not in the table"
"$DSE" describe flashdecoding causes | grep -q "suspected" || fail "dse describe does not say what stays wrong"
"$DSE" validate --measured flashdecoding --regimes --format json >regimes.json
[ "$(sqlite3 :memory: "select count(*) from json_each(readfile('regimes.json'))")" = "$(sqlite3 rows.db "select count(*) from regimes where model = 'flashdecoding'")" ] || fail "regimes in JSON"

# Rows by their settings, of kernels whose binding is one metric.
sqlite3 rows.db "select modelled || ' ' || settings from rows where regime like 'attention, decode, h100' and error_pct <> '' order by line limit 3" |
    while read -r number settings; do
        "$DSE" list llms layer-8-1 >/dev/null 2>&1 && fail "entries.toml is in the catalog of everyone"
        # shellcheck disable=SC2086
        "$DSE" eval flashdecoding -c "$source/catalog/measured/entries.toml" $settings --format json | grep -o '"attention_us": [0-9.e+]*' | cut -d' ' -f2 >one.txt
        awk -v a="$number" -v b="$(cat one.txt)" 'BEGIN { exit !(b > 0 && (a / b - 1) ^ 2 < 1e-20) }' || fail "the row says $number, dse eval says $(cat one.txt): $settings"
    done

# The table for people counts what the rows hold.
grep -q "^test rows: the mean absolute error of a regime is" table.txt || fail "$(tail -n 3 table.txt)"
[ "$(awk '$1 == "flashdecoding" && / test / { for (i = 1; i <= NF; i++) if ($i == "test") n += $(i + 1) } END { print n + 0 }' table.txt)" = \
    "$(sqlite3 rows.db "select count(*) from rows where model = 'flashdecoding' and split = 'test' and error_pct <> ''")" ] || fail "rows of the table are not those of the CSV"

# The shipped constants are those that their rows give, within a hundredth; a machine with too few rows has none.
"$DSE" calibrate flashdecoding --measured --format csv | tr -d '"\r' >fit.csv || fail "dse calibrate --measured"
awk -F, 'NR > 1 { n++; r = $4 / $3; if (r < 0.99 || r > 1.01) { print $1, $2, $3, $4; bad = 1 } } END { exit bad || n != 43 }' fit.csv ||
    fail "shipped constants are not those of the rows of split calibrate: $(cat fit.csv)"

# What is left out moves rows of what was fitted, and no others.
"$DSE" validate --measured flashdecoding --leave-out gpu --format csv 2>err.txt | tr -d '\r' >left_out.csv || fail "--leave-out gpu"
sqlite3 rows.db '.mode csv' '.import left_out.csv left_out'
[ "$(sqlite3 rows.db "select count(*) from rows join left_out using (file, line, regime) where rows.modelled <> left_out.modelled and rows.settings like '%gpu=l40s%'")" = 0 ] ||
    fail "nothing was fitted to an L40S, and leaving it out moves its rows"
[ "$(sqlite3 rows.db "select count(*) from rows join left_out using (file, line, regime) where rows.modelled <> left_out.modelled and rows.regime like 'GEMM, a100%'")" -gt 1000 ] ||
    fail "rows of an A100 are answered with its own constants"
"$DSE" validate --measured flashdecoding --leave-out gpx 2>err.txt && fail "--leave-out gpx passes"
grep -q 'did you mean gpu' err.txt || fail "--leave-out gpx: $(cat err.txt)"

# The table for queries has the same rows.
"$DSE" query :memory: "select count(*), round(sum(modelled), 3) from measured where split = 'test'" --format csv | tail -n 1 >asked.txt
[ "$(cat asked.txt)" = "$(sqlite3 -csv rows.db "select count(*), round(sum(modelled), 3) from rows where split = 'test'")" ] || fail "the table measured: $(cat asked.txt)"

# A GPU of whose generation nothing was measured says so, and others do not.
"$DSE" eval flashdecoding --set gpu=mi210 --set engine=vllm-0.14 | grep -q "generation were not measured" || fail "an MI210 passes for measured"
"$DSE" eval flashdecoding --set gpu=l40s --set engine=vllm-0.14 >out.txt
grep -q "constants of 16-bit GEMMs (gemms_from) are an A100's" out.txt || fail "an L40S passes for an A100"
grep -q "constants of attention (attention_from) are an A100's" out.txt || fail "an L40S's attention passes for an A100's"
grep -q "narrow_from\|experts_from" out.txt && fail "kernels that do not run are said to be borrowed: $(cat out.txt)"
"$DSE" eval flashdecoding --set gpu=l40s --set engine=vllm-0.14 --set activation_bits=8 --set weight_bits=8 | grep -q "below 16 bits (narrow_from) are an H100's" ||
    fail "GEMMs of fp8 of an L40S pass for its own"
"$DSE" eval flashdecoding --set gpu=h100 --set engine=vllm-0.14 --set llm=mixtral-8x7b --set tensor_parallel=2 | grep -q "experts' GEMMs (experts_from) are an A100's" || fail "experts of an H100 pass for its own"
"$DSE" eval flashdecoding --set gpu=h100 --set engine=vllm-0.14 | grep -q "constants of" && fail "an H100 does not pass for measured"
"$DSE" eval flashdecoding --set gpu=b200 --set engine=vllm-0.14 | grep -q "constants of attention" && fail "attention of a B200 does not pass for its own"
"$DSE" eval flashdecoding --set gpu=mi210 | grep -q "generation were not measured" && fail "the paper's kernels are not those that were measured"

# ---- files of others ------------------------------------------------------------------------------------------------------------
mkdir own
cat >own/bindings.toml <<'TOML'
[[bind]]
file = "mine"
model = "flashdecoding"
set = { gpu = "{gpu}", batch = "{batch}" }
value = "latency_us / 1000"
unit = "ms"
regime = "steps, {gpu}"
TOML
good() { printf 'source,gpu,batch,value,unit,split\nme,h100,1,10,ms,test\nme,h100,2,10,ms,calibrate\n' >own/mine.csv; }
refused() { # WHAT IS SAID
    "$DSE" validate --measured --from own >out.txt 2>err.txt && fail "not refused: $1"
    grep -qF "$1" err.txt || fail "no \"$1\" in: $(cat err.txt)"
}
good
"$DSE" validate --measured --from own | grep -q 'steps, h100 *test *1 ' || fail "a folder of one's own: $("$DSE" validate --measured --from own)"
sed -i 's/,test/,tset/' own/mine.csv && refused 'mine.csv:2:17: error: split: "tset" is neither calibrate nor test' && good
sed -i '2s/ms/us/' own/mine.csv && refused 'mine.csv:2:14: error: unit: "us", where its binding has "ms"' && good
sed -i '3s/h100/h1000/' own/mine.csv && refused 'mine.csv:3:4: error: gpu: there is no gpu "h1000"' && good
sed -i '3s/h100,2/h100,1/' own/mine.csv && refused 'mine.csv:3:1: error: the same was measured in line 2' && good
sed -i '3s/,10,/,-10,/' own/mine.csv && refused 'mine.csv:3:11: error: value: "-10" is not a positive number' && good
sed -i '1s/batch/gpu/' own/mine.csv && refused 'column gpu stands twice' && good
sed -i '3s/,10,/,10,10,/' own/mine.csv && refused 'mine.csv:3:1: error: 7 cells in this row' && good
# A row that the model cannot answer is counted, and says why.
sed -i '2s/h100,1/h100,1000000/' own/mine.csv
"$DSE" validate --measured --from own --format csv >out.txt || fail "a row without an answer is not an error"
grep -q ',"test",10,,"ms",,"batch: 1000000 is above the maximum' out.txt || fail "$(cat out.txt)"
"$DSE" validate --measured --from own | grep -q 'test rows: none of 1 has an answer' || fail "$("$DSE" validate --measured --from own)"
good
# What is said about regimes.
noted() { # TOML WHAT IS SAID
    printf '%b' "$1" >own/causes.toml
    refused "$2"
    rm own/causes.toml
}
noted '[[kind]]\nmodel = "flashdecoding"\nname = "steps"\nregimes = "steps*"\n' 'causes.toml:4:11: error: regimes: a list is needed, not a string'
noted '[[kind]]\nmodel = "flashdecoding"\nname = "steps"\nregimes = ["steps*"]\ntarget = -1\n' 'causes.toml:5:10: error: target: percent, above 0'
noted '[[kind]]\nmodel = "flash"\nname = "steps"\nregimes = ["steps*"]\n' 'causes.toml:2:9: error: there is no such model'
noted '[[cause]]\nmodel = "flashdecoding"\nregimes = ["steps*"]\n' 'causes.toml:1:1: error: cause is missing'
noted '[[cuase]]\n' 'causes.toml:1:3: error: unknown key'
noted '[constants]\nflashdecoding = ["gpu"]\n' 'causes.toml:2:18: error: a parameter of flashdecoding that is a number is needed'
wrong() { # SED WHAT IS SAID
    cp own/bindings.toml kept.toml
    sed -i "$1" own/bindings.toml
    refused "$2"
    cp kept.toml own/bindings.toml
}
wrong 's/{batch}/{bach}/' 'bindings.toml:4:34: error: mine.csv has no column "bach"'
wrong 's/{batch}/{batch:rows}/' 'there is no map "rows"'
wrong 's/batch = /bacth = /' 'flashdecoding has no parameter bacth'
wrong 's/latency_us/latencyus/' 'there is no "latencyus"'
wrong 's/"mine"/"..\/mine"/' 'is no name of a file'
wrong 's/^unit/units/' 'unit is missing'
wrong 's/ = "latency_us . 1000"/ = "latency_us"/' 'latency_us is in us, not in ms'
wrong 's/"flashdecoding"/"flash"/' 'there is no such model'
