. ./lib
toy_claims 's/^fit = true/&\n[constants.sram_mib]/' claims.toml
"$DSE_TOY" calibrate toy
