. ./lib
cat >c.toml <<TOML
[memories.a]
like = "b"
[memories.b]
like = "c"
[memories.c]
like = "a"
[memories.self]
like = "self"
[memories.unknown]
like = "hbm3-h100-80"
[memories.number]
like = 3
[memories.wrong]
like = "hbm-256"
t_ras_ns = 1.0
banks = "many"
[memories.some]
channels = 32
channel_gbs = 32.0
dram_pj_per_bit = 4.0
burst_bytes = 64
capacity_gib = 80.0
t_rcd_ns = 14.0
source = "of the timing one key"
[llms.l]
like = "hbm-256"
TOML
"$DSE" list memories --catalog c.toml
