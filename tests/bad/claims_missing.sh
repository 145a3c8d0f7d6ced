. ./lib
toy_claims '' ''
rm toy/models/toy/claims.csv toy/models/toy/claims.toml
"$DSE_TOY" validate toy
