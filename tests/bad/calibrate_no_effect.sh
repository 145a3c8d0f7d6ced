. ./lib
toy_claims 's/^fit = true/&\n[constants.sram_mib]/; s/^claims = .*/claims = ["toy.overhead", "toy.step"]/' claims.toml
"$DSE_TOY" calibrate toy
