#!/bin/sh
# Each model as its own baseline: the whole workload is the point's, scales of the cache among it.
. "$(dirname "$0")/lib.sh"
for model in lad veda swiftkv flashdecoding ane; do
    cat >self.toml <<TOML
# Is a model as fast as itself?
[sweep]
name = "self"
models = ["$model"]
[params]
kv_bits = 8
kv_scale_bits = [0, 1]
quality_from = "surface"
[baseline]
model = "$model"
quality_from = "surface"
[quality]
exact = false
[objectives]
tokens_per_s = "max"
TOML
    "$DSE" sweep self.toml -o "$model.db" --no-figures >front.txt 2>said.txt || fail "$model: $(cat said.txt)"
    got=$(sqlite3 "$model.db" "select count(*), min(speedup), max(speedup), min(energy_ratio), max(energy_ratio), count(distinct dram_mib) from $model where status = 'ok'")
    [ "$got" = '2|1.0|1.0|1.0|1.0|2' ] || fail "$model beside itself: $got"
done
