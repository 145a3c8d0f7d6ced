. ./lib
good_sweep s.toml s; : >file; "$DSE" sweep s.toml --lease file; "$DSE" sweep s.toml --lease no/such/place
