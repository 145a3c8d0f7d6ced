. ./lib
toy_claims 's/^model = "pebble"/model = "pebbles"/; s/^memory = "eight-channels"/memory = "nine-channels"/; s/^context = \[512, 1024/context = [512, 0/; s/stone.latency_us/stine.latency_us/' claims.toml
"$DSE_TOY" validate toy
