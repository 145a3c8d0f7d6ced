#!/bin/sh
# A run whose kernels take whole times of measurements repeats the closed form: its row says so, and nothing counts it as agreement.
source=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
export DSE_DATA_DIR="$source" LC_ALL=C

sweep() {
    cat <<EOF
[sweep]
name     = "$1"
models   = ["flashdecoding"]
fidelity = "$1"
[params]
context = 512
batch   = [1, 4]
engine  = ["vllm", "flashdecoding++"]
[objectives]
latency_us = "min"
per        = ["engine", "batch"]
EOF
}

labels() {
    "$DSE" query "$1.db" "SELECT engine, group_concat(DISTINCT fidelity) FROM (SELECT * FROM flashdecoding_all ORDER BY fidelity) GROUP BY engine" --format csv | sed 1d
}

# Rows of a sweep at event level and of one that refines; what stands in the file is what dse wrote.
sweep event-level >events.toml
sweep refine >refine.toml
"$DSE" sweep events.toml -o events.db --quiet >/dev/null || fail "a sweep at event level"
[ "$(labels events)" = '"flashdecoding++","event-level"
"vllm","measured-kernel"' ] || fail "rows at event level: $(labels events)"
"$DSE" sweep refine.toml -o refine.db --quiet >/dev/null || fail "a sweep that refines"
[ "$(labels refine)" = '"flashdecoding++","closed-form,event-level"
"vllm","closed-form,measured-kernel"' ] || fail "refined rows: $(labels refine)"
for db in events refine; do "$DSE" check "$db.db" >out.txt 2>&1 || fail "dse check $db.db: $(cat out.txt)"; done

# What a baseline is says nothing of the rows beside it.
{ sweep event-level && printf '[baseline]\nmodel = "flashdecoding"\nengine = "vllm"\n'; } >beside.toml
"$DSE" sweep beside.toml -o beside.db --quiet >/dev/null || fail "a sweep beside a baseline of measured kernels"
[ "$(labels beside)" = "$(labels events)" ] || fail "rows beside a baseline of measured kernels: $(labels beside)"

# One point, and points of a file.
"$DSE" eval flashdecoding --fidelity event-level --set engine=vllm --set context=512 | grep -q '^fidelity *measured-kernel' ||
    fail "dse eval does not say it"
printf 'engine,context\nvllm,512\nflashdecoding++,512\n' >points.csv
"$DSE" eval flashdecoding --fidelity event-level --points points.csv --format csv >rows.csv || fail "dse eval --points"
grep -q 'measured-kernel' rows.csv && grep -q 'event-level' rows.csv || fail "rows of points"

# No difference is told of it, and there is none to tell of an engine that is nothing else.
"$DSE" agree flashdecoding --near --set engine=vllm --set context=512 --points 2 >out.txt 2>&1 || fail "dse agree: $(cat out.txt)"
grep -q '^2 more take their kernels whole' out.txt || fail "dse agree: $(cat out.txt)"
grep -q '^Farthest apart' out.txt && fail "dse agree shows points that say nothing"
exit 0
