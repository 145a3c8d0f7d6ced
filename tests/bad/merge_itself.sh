. ./lib
good_sweep s.toml s; "$DSE" sweep s.toml -q -o a.db >/dev/null; "$DSE" merge a.db a.db
