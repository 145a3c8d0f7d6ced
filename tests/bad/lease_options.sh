. ./lib
good_sweep s.toml s; "$DSE" sweep s.toml --lease f -o a.db; "$DSE" sweep s.toml --lease f --shard 1/2; "$DSE" sweep s.toml --lease ''; "$DSE" sweep s.toml --lease f --lease-age 0
