. ./lib
toy_claims 's/^trace = "few"/trace = "fewer"/; s/^profile = "sparse"/profile = "spars"/; s/^range = "wide"/range = "wider"/; s/seed = 3/sed = 3/; s/^heads     = 2/heads     = 0/' claims.toml
"$DSE_TOY" validate toy
