# A model in TOML that is none: each case edits one line of a good one.
cat >good <<'TOML'
[model]
name  = "mine"
title = "Mine"
cite  = "nobody"
uses  = ["workload", "memory"]
[parameters]
pes       = { default = 4096, range = [1, 1000000], doc = "multiply-adds a cycle" }
clock_ghz = { default = 1, range = [0.1, 5], doc = "clock" }
order     = { default = "rows", choices = ["rows", "columns"], doc = "order" }
[functions]
"twice(x)" = "2 * x"
[equations]
peak    = "twice(pes) * clock_ghz"
work_s  = "sum(for op in linear: op.time_s)"
moved   = "sum(for op in linear: op.weight_bytes)"
[for.linear]
time_s  = "max(op.ops / peak, op.weight_bytes / memory.rate)"
[check]
"no room (capacity_gib)" = "workload.footprint <= memory.capacity"
[step]
time = "work_s"
[metrics]
linear_us = { is = "work_s", better = "less", doc = "linear layers" }
[trends]
pes = { more = ["tokens_per_s"] }
[[parts]]
name = "all"
time = "work_s"
TOML
bad() { # WHAT SED-SCRIPT
    echo "== $1" >&2
    sed "$2" good >mine.toml
    "$DSE" --plugin ./mine.toml eval mine
}
cp good good.toml
"$DSE" --plugin ./good.toml eval mine || echo "the good one is refused" >&2
bad "a cycle" 's/^peak .*/peak = "work_s * pes \/ 1 [s] * clock_ghz"/'
bad "a function that needs itself" 's/^"twice.*/"twice(x)" = "twice(x) + 1"/'
bad "a unit that does not fit a name" 's/^peak .*/peak_s = "2 * pes * clock_ghz"/; s/\/ peak/\/ 1 [Hz]/'
bad "units that do not fit each other" 's/^work_s .*/work_s = "sum(for op in linear: op.time_s) + moved"/'
bad "a unit in a function" 's/^peak .*/peak = "2 * pes * clock_ghz * log2(clock_ghz)"/'
bad "a unit that is none" 's/^peak .*/peak = "2 [furlong] * pes"/'
bad "an unknown function" 's/max(/maximum(/'
bad "too many arguments" 's/twice(pes)/twice(pes, 2)/'
bad "an unknown name" 's/memory.rate/memory.speed/'
bad "an unknown field" 's/op.weight_bytes \//op.wait_bytes \//'
bad "an unknown loop" 's/in linear: op.weight/in linears: op.weight/'
bad "a loop that is no argument" 's/^moved .*/moved = "sum(moved)"/'
bad "a choice as a number" 's/^peak .*/peak = "2 * pes * order * clock_ghz"/'
bad "a role that no operator has" "s/^work_s .*/work_s = \"sum(for op in linear: op.role == 'output-heads' ? op.time_s : 0 [s])\"/"
bad "a role as a number" 's/^work_s .*/work_s = "sum(for op in linear: op.role * op.time_s)"/'
bad "a choice that is none" "s/^peak .*/peak = \"2 * pes * clock_ghz * (order == 'lines')\"/"
bad "no formula" 's/^work_s .*/work_s = "1 [s] + "/'
bad "a range that is none" 's/range = \[0.1, 5\]/range = [5, 0.1]/'
bad "a default outside" 's/default = 1,/default = 10,/'
bad "a default that is no choice" 's/default = "rows"/default = "row"/'
bad "a group that is none" 's/"memory"\]/"memories"]/'
bad "a name that is taken" 's/^moved /batch /'
bad "a metric of all models" 's/^linear_us/latency_us/'
bad "a trend of no parameter" 's/^pes = { more/pez = { more/'
bad "a trend of no metric" 's/"tokens_per_s"\]/"tokens"]/'
bad "a condition in seconds" 's/workload.footprint <= memory.capacity/work_s/'
bad "a default of a shared parameter" '$a [defaults]\nbatch = 0'
bad "a claim without a number" '$a [claims.speed]\nunit = "1/s"'
bad "a claim of no kind" '$a [claims.speed]\nnumber = 3\nunit = "1/s"\nquantity = "q"\nsource = "s"\nkind = "guess"\nvalue = "mine.tokens_per_s"'
level='s/"memory"\]/"memory", "events"]/'
bad "a formula of the event level's own" "$level; s/^pes  .*/& \nfifo = { default = 8, range = [1, 64], doc = \"entries\", level = \"events\" }/; s/^peak .*/peak = \"fifo * clock_ghz\"/"
bad "a formula of an event-level group" "$level; s/^peak .*/peak = \"seed * clock_ghz\"/"
bad "a formula of a choice that the event level reads" "s/\"columns\"\], doc/\"columns\"], level = \"events\", doc/; s/^peak .*/peak = \"order == 'rows' ? clock_ghz : 0\"/"
bad "a formula of an entry that the event level reads" '/^uses/a event_level_only = ["draft"]
s/^peak .*/peak = "draft.hidden * clock_ghz"/'
bad "a level that is none" 's/doc = "clock"/doc = "clock", level = "event"/'
bad "a shared parameter that is none" '/^uses/a closed_form_only = ["dram_eficiency"]'
bad "an own parameter among the shared ones" '/^uses/a closed_form_only = ["pes"]'
bad "a parameter that is said twice" "$level; /^uses/a event_level_only = [\"seed\"]"
bad "a board that is no entry" '/^\[step\]/a board = "pes"'
bad "a board and a die" '/^\[\[parts/,$d
s/"memory"\]/"memory", "economics"]/; s/^pes  .*/& \nfpga = { default = "u55c", catalog = "fpgas", doc = "board" }/
s/^time = "work_s"$/time = "work_s"\nboard = "fpga"\ndie = "1 [mm2]"\nnode = "7 [nm]"/'
bad "arithmetic without a cache" '$a [arithmetic]\nmethod = "fixed-point"\nwhen = "1"\nexp_bits = "5"\nfraction_bits = "17"\nrounding = "0"'
bad "limits of a part of each operator" '$a [[parts]]\nfor = "linear"\ntime = "op.time_s"\nlimits = { all = "work_s" }'
bad "a default that is no number" 's/default = 1,/default = "best",/'
bad "a number that is left open without a formula" 's/default = 1,/default = "auto",/'
bad "a number that is left open by operators" 's/default = 1,/default = "auto", auto = "sum(for op in linear: op.k) * 1 [Hz]",/'
bad "an unknown section" 's/^\[functions\]/[function]/'
bad "no step" '/^\[step\]/,/^time/d'
bad "the name of another model" 's/"mine"/"lad"/'
"$DSE" --plugin ./none.toml list models
