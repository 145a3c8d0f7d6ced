. ./lib
toy_claims 's/^claims = .*/claims = ["toy.overhead", "toy.fast", "toy.step", "toy.trace", "toy.stp"]/' claims.toml
"$DSE_TOY" calibrate toy
