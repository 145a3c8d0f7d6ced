. ./lib
toy_claims 's/^context = 4096/context = 8192/; s/= "toy.kv_ratio"/&/; s/long.kv_mib \/ toy.kv_mib/long.latency_us \/ toy.latency_us/' claims.toml
"$DSE_TOY" validate toy --format csv
