. ./lib
toy_claims '/^\[constants/,/^fit/d' claims.toml
"$DSE_TOY" validate toy
