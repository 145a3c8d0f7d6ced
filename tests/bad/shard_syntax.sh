. ./lib
"$DSE" sweep x.toml --shard 4/3
