. ./lib
toy_claims 's/^set   = { context = 256 }/set = { context = 8192 }/' claims.toml
"$DSE_TOY" calibrate toy
