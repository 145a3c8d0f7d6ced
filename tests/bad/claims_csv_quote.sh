. ./lib
toy_claims '10s/geomean"/geomean/' claims.csv
"$DSE_TOY" validate toy
