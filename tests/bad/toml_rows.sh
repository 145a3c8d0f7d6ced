# Operators of a row, what is sold as a computer, defaults of entries and of quantities, equations of the best point: each case edits a good model.
cat >good <<'TOML'
[model]
name  = "mine"
title = "Mine"
cite  = "nobody"
uses  = ["workload", "stream", "economics"]
operators = "row"
sold_as   = "apple"
[parameters]
npu    = { default = "m1", catalog = "npus", doc = "the engine" }
engine_tflops = { from = "npu", range = [0.01, 1000], doc = "its rate" }
gbs_of_copies_gbs = { default = "auto", auto = "memory.rate", range = [0.1, 10000], doc = "bandwidth of copies" }
rows   = { default = 4, range = [1, 64], doc = "rows of a call" }
[equations]
call_s = "sum(for op in linear: max(op.ops * rows / engine_tflops, op.weight_bytes / gbs_of_copies_gbs)) + (memory == 'hbm-256' ? 0 : 1 [us])"
best   = { is = "rows", trying = "rows", least = "call_s * ceil(8 / rows)", step = "2", shares = "64", doc = "rows of the fastest eight" }
[refuse]
"an LLM with experts (llm)" = "sum(for op in linear: experts_at_work(rows, op.routed, op.chosen)) == 0"
[step]
time = "call_s"
node = "5 [nm]"
energy = "call_s * 1 [W]"
TOML
bad() { # WHAT SED-SCRIPT
    echo "== $1" >&2
    sed "$2" good >mine.toml
    "$DSE" --plugin ./mine.toml eval mine
}
cp good good.toml
"$DSE" --plugin ./good.toml eval mine >out.txt || echo "the good one is refused" >&2
bad "unknown operators" 's/"row"/"rows"/'
bad "operators that are no string" 's/= "row"/= 1/'
bad "an unknown computer" 's/"apple"/"pear"/'
bad "a computer without prices" 's/, "economics"//'
bad "a computer with a die" 's/^node/die = "1 [mm2]"\nnode/'
bad "a computer without a node" '/^node/d'
bad "stream beside memory" 's/"stream"/"memory", "stream"/'
bad "a default of no entry" 's/from = "npu"/from = "memory"/'
bad "a default that the entry has not" 's/^engine_tflops/engine_gflops/'
bad "a choice by an entry" 's/from = "npu", range = .0.01, 1000./from = "npu", choices = ["a"]/'
bad "a quantity that there is not" 's/memory\.rate/memory.speed/'
bad "auto with another default" 's/default = "auto"/default = 1/'
bad "auto of a whole number" 's/default = 4/default = "auto", auto = "memory.rate"/'
bad "tries of a shared parameter" 's/trying = "rows"/trying = "batch"/'
bad "tries without what is least" 's/least = "[^"]*", //'
bad "the best point in a formula" 's/^time = .*/time = "call_s * best"/'
bad "an entry as a choice" "s/memory == 'hbm-256'/memory < 'hbm-256'/"
"$DSE" --plugin ./good.toml eval mine --set llm=qwen3-30b-a3b
