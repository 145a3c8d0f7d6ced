. ./lib
good_sweep s.toml s; mkdir a.db; "$DSE" sweep s.toml -o a.db
