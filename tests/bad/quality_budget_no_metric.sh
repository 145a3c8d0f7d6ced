# A limit on a metric that no model of the sweep has.
cat >mine.toml <<'TOML'
[model]
name  = "mine"
title = "Mine"
cite  = "nobody"
uses  = ["workload", "memory"]
[parameters]
pes = { default = 4096, range = [1, 1000000], doc = "multiply-adds a cycle" }
[equations]
work_s = "sum(for op in linear: op.weight_bytes / memory.rate)"
[step]
time = "work_s"
[metrics]
linear_us = { is = "work_s", better = "less", doc = "linear layers" }
[[parts]]
name = "all"
time = "work_s"
TOML
cat >sweep.toml <<'TOML'
[sweep]
name = "bad"
models = ["mine"]
[params]
pes = [1, 2]
[objectives]
tokens_per_s = "max"
[quality]
attention_error = 0.1
TOML
"$DSE" --plugin ./mine.toml sweep sweep.toml
