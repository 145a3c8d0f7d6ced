. ./lib
toy_claims '' ''
rm toy/models/toy/claims.toml
"$DSE_TOY" validate toy
status=$?
rm toy/models/toy/claims.csv # a model need not have any
"$DSE_TOY" validate toy
exit $status
