# [events] of a model in TOML that names what is not there, or what nothing needs: each case edits a good one.
cat >good <<'TOML'
[model]
name  = "mine"
title = "Mine"
cite  = "nobody"
uses  = ["workload", "memory", "events"]
[parameters]
clock_ghz = { default = 1, range = [0.1, 5], doc = "clock" }
order     = { default = "rows", choices = ["rows", "columns"], doc = "order" }
fifo      = { default = 8, range = [1, 64], doc = "entries", level = "events" }
[equations]
work_s    = "sum(for op in linear: op.time_s)"
queries   = "phase == 'prefill' ? context : 1"
scores_s  = "sum(for group in attention: group.scores_s)"
[for.linear]
time_s    = "op.ops / clock_ghz"
[for.collective]
time_s    = "op.m / clock_ghz"
[for.operators]
moved     = "op.weight_bytes"
[for.attention]
scores_s  = "group.pairs * queries / clock_ghz"
[step]
time      = "work_s"
[metrics]
scores_us = { is = "scores_s", better = "less", doc = "scores" }
[events]
reads = ["clock_ghz", "fifo", "work_s", "scores_us", "op.time_s"]
[events.unit]
gives = ["queries"]
reads = ["group.scores_s"]
[events.seen]
gives = ["op.time_s", "group.scores_s"]
TOML
bad() { # WHAT SED-SCRIPT
    echo "== $1" >&2
    sed "$2" good >mine.toml
    "$DSE" --plugin ./mine.toml eval mine
}
cp good good.toml
"$DSE" --plugin ./good.toml eval mine || echo "the good one is refused" >&2
bad "an equation that is none" 's/"work_s", "scores_us"/"worm_s", "scores_us"/'
bad "an equation of a loop that is none" 's/"op.time_s"\]/"op.tome_s"]/'
bad "a field of an operator" 's/"op.time_s"\]/"op.repeat"]/'
bad "an equation of another loop" 's/gives = \["queries"\]/gives = ["group.time_s"]/'
bad "an element without its loop" 's/gives = \["op.time_s"/gives = ["time_s"/'
bad "a choice" 's/"fifo", /"order", /'
bad "an entry" 's/"fifo", /"llm", /'
bad "a parameter in place of an equation" 's/gives = \["queries"\]/gives = ["context"]/'
bad "two loops with the same operators" 's/^moved .*/time_s = "op.m \/ clock_ghz"/'
bad "a number twice" 's/"fifo", /"work_s", /'
bad "no name" 's/"fifo", /8, /'
bad "no list" 's/gives = \["queries"\]/gives = "queries"/'
bad "nothing reads it" 's/gives = \["queries"\]/gives = ["queries", "work_s"]/'
bad "nothing follows from it" 's/^scores_us = .*/scores_us = { is = "work_s", doc = "work" }/'
bad "a section without numbers" '/^gives = \["queries"\]/d; s/^reads = \["group.scores_s"\]/reads = []/'
bad "an unknown key" 's/^reads = \["group.scores_s"\]/asks = []/'
bad "an unknown key of all of it" 's/^reads = \["clock.*/asks = []/'
bad "a section with the name of the whole" 's/^\[events.unit\]/[events.events]/'
bad "a section whose name is none" 's/^\[events.unit\]/[events.Unit]/'
bad "no table" '1i events = 3
/^\[events\]/,$d'
