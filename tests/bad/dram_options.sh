"$DSE" dram
"$DSE" dram --pattern random a.trace
"$DSE" dram none.trace
"$DSE" dram .
"$DSE" dram --pattern random --memory hbm2-dramsim
"$DSE" dram --pattern random --set t_fow_ns=3 --set banks=a --set banks=0 --set banks
"$DSE" dram --pattern random --set banks=64
"$DSE" dram --pattern random --set bus_channels=3
"$DSE" dram --pattern random --memory hbm2-dramsim3 --set queue_depth=128
"$DSE" dram --pattern random --frontend perch
"$DSE" dram --pattern random --format xml
: >empty.trace
"$DSE" dram empty.trace
cat >mine.toml <<TOML
[memories.mine]
channels = 1
channel_gbs = 16
dram_pj_per_bit = 4
burst_bytes = 32
capacity_gib = 1
interleave_bytes = 256
row_bytes = 1024
banks = 16
bank_groups = 4
queue_depth = 32
t_rcd_ns = 14
t_rp_ns = 14
t_ras_ns = 34
t_rtp_ns = 5
t_ccd_ns = 4
t_rrd_ns = 4
t_faw_ns = 15
row_command_ns = 6
t_rfc_ns = 260
t_refi_ns = 3900
t_cl_ns = 14
source = "a data sheet"
TOML
"$DSE" dram -c mine.toml --memory mine --pattern random
