. ./lib
cat >c.toml <<TOML
[gpus.wide]
like = "h100"
linked_devices = 16
[interconnects.silent]
source = "none"
link_share = 0.9
link_latency_us = 1
link_pj_per_bit = 5
linked_devices = 8
link_topology = "switch"
link_reduce_share = 0
link_reduce_us = 0
TOML
cat >wide.toml <<TOML
[sweep]
name   = "wide"
models = ["flashdecoding"]
[params]
gpu             = "h100"
tensor_parallel = [1, 2]
linked_devices  = 16
[objectives]
tokens_per_s = "max"
TOML
"$DSE" list gpus -c c.toml
"$DSE" eval flashdecoding --set gpu=h100 --set linked_devices=16
"$DSE" sweep wide.toml
"$DSE" eval flashdecoding --set gpu=h100 --set batch=64 --set data_parallel=64 --set outer_interconnect=xsr-113g
