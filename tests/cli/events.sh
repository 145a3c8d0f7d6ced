#!/bin/sh
# Event level through the command line: a run and what it tells, agreement, sweeps that are killed, resumed, sharded and merged.
. "$(dirname "$0")/lib.sh"
export DSE_DATA_DIR="$2/tests/unit/toy" LC_ALL=C
says() { grep -qe "$1" "$2" || fail "\"$1\" is not in $2: $(cat "$2")"; }
is_json() { [ "$(sqlite3 :memory: "select json_valid(cast(readfile('$1') as text))")" = 1 ] || fail "$1 is not JSON: $(head -c 300 "$1")"; }
number() { sqlite3 :memory: "select json_extract(cast(readfile('$1') as text), '\$[0].$2')"; }

# ---- one run ----------------------------------------------------------------------------------------------------------------
"$DSE" list models --format csv >models.csv
says '"toy",.*"closed-form, event-level"' models.csv
says '"pebble",.*"closed-form",' models.csv
"$DSE" describe toy >described.txt
says '^Fidelities: closed-form, event-level$' described.txt

"$DSE" eval toy --all --set batch=64 --fidelity event-level --timeline run.json >eval.txt
says '^NAME  *EVENT LEVEL  *CLOSED FORM  *UNIT' eval.txt
says '^last_layer_share ' eval.txt
says '^memory / dram  *[0-9.]* %' eval.txt
is_json run.json
[ "$(sqlite3 :memory: "select count(*) > 30 from json_each(cast(readfile('run.json') as text), '\$.traceEvents') where json_extract(value, '\$.ph') = 'X'")" = 1 ] ||
    fail "the timeline has no events: $(head -c 300 run.json)"
[ "$(ls | grep -c '^run.json')" -eq 1 ] || fail "something is left beside the timeline: $(ls)"

# The same keys from both fidelities, for programs.
"$DSE" eval toy --format json >closed.json
"$DSE" eval toy --format json --fidelity event-level >events.json
is_json closed.json
is_json events.json
keys() { sqlite3 :memory: "select group_concat(key) from json_each(cast(readfile('$1') as text), '\$[0]')"; }
[ "$(keys closed.json)" = "$(keys events.json)" ] || fail "other keys: $(keys closed.json), $(keys events.json)"
[ "$(number events.json fidelity)" = event-level ] && [ "$(number closed.json fidelity)" = closed-form ] || fail "fidelity"
"$DSE" eval toy --format json --fidelity event-level --ideal all >ideal.json
[ "$(sqlite3 :memory: "select $(number ideal.json latency_us) < $(number events.json latency_us)")" = 1 ] || fail "--ideal all is not faster"
"$DSE" eval toy --format json --fidelity event-level --ideal fifos,refresh --ideal dram,draws,sync >each.json
cmp ideal.json each.json || fail "all causes are not all"

"$DSE" eval toy --set batch=64 --fidelity event-level --gantt >chart.txt
says '^ *dram .*%$' chart.txt
says '^ *tiles .*%$' chart.txt
[ "$(grep -c '[^ -~]' chart.txt)" -eq 0 ] || fail "the chart is not ASCII under LC_ALL=C"
COLUMNS=60 "$DSE" eval toy --set batch=64 --fidelity event-level --gantt --from 50 --to 90 >part.txt
[ "$(awk '/%$/ && length > n { n = length } END { print n }' part.txt)" -le 60 ] || fail "a chart wider than the terminal: $(cat part.txt)"
"$DSE" eval toy --fidelity event-level --resources --format csv >resources.csv
[ "$(sqlite3 :memory: '.mode csv' '.import resources.csv r' '.mode list' \
    'select count(*) || " " || (max(abs(busy_us + stalled_on_input_us + stalled_on_output_us + idle_us - 57)) < 3) from r')" = '2 1' ] ||
    fail "times of resources: $(cat resources.csv)"
"$DSE" eval toy --fidelity event-level --notes --format json >notes.json
[ "$(number notes.json name)" = last_layer_share ] || fail "notes: $(cat notes.json)"

# A point that cannot be built has no run and no timeline.
"$DSE" eval toy --set tiles=64 --set sram_mib=0.25 --fidelity event-level --timeline none.json >none.txt 2>said.txt
says 'infeasible' said.txt
[ ! -e none.json ] || fail "a timeline of no run"

"$DSE" validate toy --fidelity event-level --format csv >claims.csv
head -n 1 claims.csv | grep -q ',"step","closed_form","closed_form_error_pct"$' || fail "columns: $(head -n 1 claims.csv)"
[ "$(sqlite3 :memory: '.mode csv' '.import claims.csv c' '.mode list' "select count(*) > 0 from c where modelled <> closed_form and closed_form <> ''")" = 1 ] ||
    fail "event level answers no claim otherwise: $(cat claims.csv)"

# ---- agreement --------------------------------------------------------------------------------------------------------------
"$DSE" agree toy --points 30 --worst 2 >agree.txt 2>said.txt
says '^latency_us ' agree.txt
says '^fill and drain ' agree.txt
[ "$(grep -c '^ .*dse eval toy --fidelity event-level' agree.txt)" -eq $((2 * $(grep -c '^Farthest apart in ' agree.txt))) ] || fail "the worst points: $(cat agree.txt)"
"$DSE" agree toy --points 30 -j 1 --format csv >one.csv 2>/dev/null
"$DSE" agree toy --points 30 -j 2 --format csv >two.csv 2>/dev/null
cmp one.csv two.csv || fail "-j 2 gives other differences"
"$DSE" agree toy --points 30 --seed 2 --format csv >other.csv 2>/dev/null
! cmp -s one.csv other.csv || fail "another seed gives the same points"
"$DSE" agree --points 5 --format json --summary >agree.json 2>/dev/null
is_json agree.json
[ "$(number agree.json name)" = latency_us ] || fail "summary: $(cat agree.json)"
says '^attention_us ' agree.txt
[ "$(sqlite3 :memory: '.mode csv' '.import one.csv p' '.mode list' "select count(*) from p where attention_us_pct = ''")" = 0 ] || fail "no attention_us"
# A parameter that the fidelity does not read.
"$DSE" eval toy --set seed=3 >closed.txt 2>said.txt
says '^dse: warning: toy: seed is not read in closed form$' said.txt
"$DSE" eval toy --set seed=3 --fidelity event-level 2>said.txt >/dev/null
[ ! -s said.txt ] || fail "a seed is read at event level: $(cat said.txt)"
# The command of a point shows what was said of it.
command=$(sed -n 2p one.csv | sed 's/.*,"dse \(.*\)"$/\1/')
# shellcheck disable=SC2086
"$DSE" $command --format json >again.json
# shellcheck disable=SC2086
"$DSE" $(echo "$command" | sed 's/--fidelity event-level//') --format json >again_closed.json
[ "$(sqlite3 :memory: '.mode csv' '.import one.csv p' '.mode list' \
    "select abs(latency_us_pct - 100 * ($(number again.json latency_us) / $(number again_closed.json latency_us) - 1)) < 1e-9 from p limit 1")" = 1 ] ||
    fail "$command gives another difference"

# ---- sweeps -----------------------------------------------------------------------------------------------------------------
cat >s.toml <<'TOML'
# Does the front survive event level?
[sweep]
name = "refined"
models = ["toy"]
fidelity = "refine"
[params]
batch = 64
tiles = { from = 1, to = 16, step = 1 }
sram_mib = { from = 0.5, to = 4, step = 0.25 }
clock_ghz = [0.1, 0.4, 0.8, 1.5]
memory = ["two-channels", "eight-channels"]
context = [256, 1024]
[constraints]
small = "area_mm2 <= 22"
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
per = ["context"]
TOML
all_rows() {
    columns=$(sqlite3 "$1" "select group_concat('\"' || name || '\"') from pragma_table_info('toy_all') where name not in ('id', 'run')")
    sqlite3 "$1" "select $columns from toy_all order by point, fidelity" | sha256sum
}
front() { sqlite3 "$1" 'select point from front order by 1' | sha256sum; }
same() { # DATABASE WHAT
    [ "$(all_rows "$1")" = "$(all_rows one.db)" ] || fail "$2: other rows"
    [ "$(front "$1")" = "$(front one.db)" ] || fail "$2: another front"
    [ "$(sqlite3 "$1" 'select count(*), status, refined from run')" = "$(sqlite3 one.db 'select count(*), status, refined from run')" ] ||
        fail "$2: another run: $(sqlite3 "$1" 'select * from run')"
}

"$DSE" sweep s.toml --dry-run >dry.txt
says '^event level: [0-9]* points are on the front of the closed form, and have [0-9]* neighbours' dry.txt
[ ! -e results ] || fail "a dry run wrote something"
start=$(date +%s%N)
"$DSE" sweep s.toml -j 1 -o one.db >front.txt 2>said.txt
took=$((($(date +%s%N) - start) / 1000000))
says "points on the closed form's front" said.txt
[ "$(sqlite3 one.db "select count(*), min(fidelity) from toy_front")" = "$(sqlite3 one.db "select count(*), 'event-level' from front")" ] ||
    fail "the front is not refined throughout"
"$DSE" query one.db 'select tiles, latency_us_closed, latency_us_event, latency_us_ratio from toy_refined limit 3' >refined.txt
says latency_us_ratio refined.txt
"$DSE" sweep s.toml -q -j 2 -o two.db >/dev/null
same two.db "-j 2"
for k in 1 2 3; do "$DSE" sweep s.toml --shard $k/3 -o part$k.db >/dev/null 2>said.txt; done
says 'merge all parts' said.txt
"$DSE" merge merged.db part2.db part1.db part3.db 2>said.txt
says 'the front of refined is not refined yet' said.txt
"$DSE" sweep s.toml -q -o merged.db >/dev/null
same merged.db "three merged shards"
"$DSE" merge again.db merged.db two.db 2>said.txt
! grep -q "not refined yet" said.txt || fail "what is refined is to be refined: $(cat said.txt)"
same again.db "merging what is done"
"$DSE" sweep s.toml --lease leases 2>said.txt
says 'and refine the front: dse sweep s.toml -o' said.txt
"$DSE" merge leased.db leases 2>said.txt
says 'the front of refined is not refined yet' said.txt
"$DSE" sweep s.toml -q -o leased.db >/dev/null
same leased.db "leased blocks"

# Killed at random moments, in both phases.
seed=20261122 kills=0 refining=0
while [ $kills -lt 8 ]; do
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    wait=$((seed % took))
    "$DSE" sweep s.toml -q -o killed.db >/dev/null 2>&1 &
    pid=$!
    sleep "$(printf '%d.%03d' $((wait / 1000)) $((wait % 1000)))"
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    kills=$((kills + 1))
    [ -f killed.db ] || continue
    [ "$(sqlite3 killed.db 'pragma integrity_check')" = ok ] || fail "a broken database after kill $kills"
    state=$(sqlite3 killed.db "select status || ' ' || (done = planned) || ' ' || (refined > 0) from run" 2>/dev/null || echo none)
    case $state in
    'running 1 1') refining=$((refining + 1)) ;;
    'done '*)
        same killed.db "after kill $kills"
        rm -f killed.db killed.db-journal
        ;;
    esac
done
"$DSE" sweep s.toml -q -o killed.db >/dev/null
same killed.db "after $kills kills, $refining of them while refining"

# Every point at event level: interrupted, and gone on with.
sed -e 's/"refine"/"event-level"/; s/"refined"/"everywhere"/' s.toml >e.toml
"$DSE" sweep e.toml --dry-run >dry.txt
says '^event level: 3,840 rows' dry.txt
"$DSE" sweep e.toml -o e.db >/dev/null 2>said.txt &
pid=$!
wait_for_rows $pid e.db
kill -INT $pid 2>/dev/null || true
status=0
wait $pid || status=$?
if [ $status -eq 130 ]; then # else it was faster than the signal
    says 'the same command goes on' said.txt
    [ "$(sqlite3 e.db "select status = 'interrupted' and done = (select count(*) from toy_all) and done <= planned from run")" = 1 ] ||
        fail "an interruption: $(sqlite3 e.db 'select * from run')"
fi
"$DSE" sweep e.toml -q -o e.db >/dev/null
"$DSE" sweep e.toml -q -j 1 -o whole.db >/dev/null
[ "$(all_rows e.db)" = "$(all_rows whole.db)" ] || fail "other rows after an interruption"
[ "$(sqlite3 e.db "select count(*) || (select distinct fidelity from toy_all) from toy")" = 3840event-level ] || fail "rows of the closed form"
# Refined rows are those of the whole.
sqlite3 one.db "select point, latency_us, tokens_per_s, status from toy_all where fidelity = 'event-level' order by 1" >refined_rows.txt
sqlite3 whole.db "attach 'one.db' as r" "select point, latency_us, tokens_per_s, status from toy_all where point in
    (select point from r.toy_all where fidelity = 'event-level') order by 1" >same_rows.txt
cmp refined_rows.txt same_rows.txt || fail "refined rows differ from those of event level everywhere"
# --fidelity in place of the file's: the run says what it was made at, and is that of a file that says so.
"$DSE" sweep s.toml -q --fidelity event-level -o asked.db >/dev/null
[ "$(all_rows asked.db)" = "$(all_rows whole.db)" ] || fail "other rows of --fidelity event-level"
"$DSE" sweep s.toml -q --fidelity closed-form -o asked_closed.db >/dev/null
[ "$(sqlite3 asked_closed.db "select fidelity, hash in (select hash from run where refined is null) from run")" = 'closed-form|1' ] ||
    fail "--fidelity closed-form is stored as $(sqlite3 asked_closed.db 'select fidelity, refined from run')"
[ "$(sqlite3 asked_closed.db 'select count(*), max(fidelity) from toy_all')" = '3840|closed-form' ] || fail "rows of --fidelity closed-form"
"$DSE" sweep e.toml -q --fidelity refine -o asked_refine.db >/dev/null
[ "$(all_rows asked_refine.db)" = "$(all_rows one.db)" ] || fail "other rows of --fidelity refine"
[ "$(sqlite3 asked_refine.db "select group_concat(fidelity) from run")" = refine ] || fail "--fidelity refine is stored as another"
{ cat s.toml && printf '[refine]\nruns = 3\n'; } >runs.toml
"$DSE" sweep runs.toml -q --fidelity closed-form -o runs.db >/dev/null || fail "[refine] under --fidelity closed-form"
"$DSE" sweep e.toml -q --lease fine
"$DSE" merge fine.db fine 2>/dev/null
[ "$(all_rows fine.db)" = "$(all_rows whole.db)" ] || fail "other rows from leased blocks"
