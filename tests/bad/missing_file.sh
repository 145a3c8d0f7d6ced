. ./lib
"$DSE" sweep none.toml
