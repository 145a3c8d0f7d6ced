. ./lib
cat >c.toml <<TOML
[interconnects.adds]
like = "infinity-fabric-mi300x"
link_reduce_share = 0.5
[interconnects.bare]
like = "ici-v5e"
link_phy = "nvlink4"
[interconnects.odd]
like = "nvlink4"
link_topology = "hypercube"
linked_devices = 0
link_gb = 900
[interconnects.none]
link_gbs = 100
TOML
"$DSE" list interconnects -c c.toml
