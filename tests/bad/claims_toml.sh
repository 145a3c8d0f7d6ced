. ./lib
toy_claims 's/^value = "toy.area_mm2"/value = "toy.area_cm2"/; s/^value = "toy.latency_us"/value = "toy.tokens_per_s"/; s/^unit  = "MHz"/unit = "GHz"/; /"toy.tiles"/d; s/"toy.kv_ratio"/"toy.kv_ration"/; s/^headline/headlin/; s/^mean  = "min"/mean = "least"/' claims.toml
"$DSE_TOY" validate toy
