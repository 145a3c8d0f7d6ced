. ./lib
toy_claims 's/^mean  = "min"/mean  = "min/' claims.toml
"$DSE_TOY" validate toy
