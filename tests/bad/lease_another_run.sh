. ./lib
good_sweep s.toml s; "$DSE" sweep s.toml -q --lease f; sed -i 's/4, 6/4, 8/' s.toml; "$DSE" sweep s.toml --lease f
