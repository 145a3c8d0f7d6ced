. ./lib
"$DSE" eval lad --set t_ras_ns=1
"$DSE" eval veda --set memory=ddr4-3200-2ch --set t_rcd_ns=40
"$DSE" eval veda --fidelity event-level --set t_rfc_ns=4000
"$DSE" eval swiftkv --set interleave_bytes=48
cat >t.toml <<TOML
[sweep]
name = "t"
models = ["lad"]
[params]
t_ras_ns = [33, 20, 1]
tiles = [2, 4]
[objectives]
tokens_per_s = "max"
TOML
"$DSE" sweep t.toml -o t.db
"$DSE" dram --pattern random --set t_ras_ns=1
"$DSE" dram --pattern random --set t_wtr_l_ns=1
cat >c.toml <<TOML
[memories.mine]
$(sed -n '/^\[hbm-256\]/,/^source/p' "$TOY/../../../catalog/memories.toml" | sed -e 1d -e 's/^t_ras_ns .*/t_ras_ns = 1/')
TOML
"$DSE" eval lad --catalog c.toml
