. ./lib
good_sweep s.toml s; sed -i 's/^models/keep = "front"\nmodels/' s.toml; "$DSE" sweep s.toml --lease f
