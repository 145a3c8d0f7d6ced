. ./lib
"$DSE" eval lad --catalog none.toml
