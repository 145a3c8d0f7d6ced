. ./lib
cat >c.toml <<TOML
[costs.mine]
like = "public"
wafer_usd_7nm = -9346
wafer_usd_5nm = 0
defect_density_7nm = {low = 0.1, typical = 0.05}
leakage_share_7nm = 1.2
memory_usd_gb_hbm3 = [{typical = 14, year = 2025}, {typical = 15, year = 2025}]
wafer_usd_9nm = 7000
yield_alpha = "three"
[costs.from_nothing]
wafer_usd_7nm = 9346
TOML
"$DSE" eval lad --catalog c.toml
