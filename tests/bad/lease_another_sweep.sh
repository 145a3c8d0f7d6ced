. ./lib
good_sweep s.toml s; good_sweep t.toml t; "$DSE" sweep s.toml -q --lease f; "$DSE" sweep t.toml --lease f
