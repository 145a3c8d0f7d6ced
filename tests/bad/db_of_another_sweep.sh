. ./lib
good_sweep s.toml s; good_sweep t.toml t; "$DSE" sweep s.toml -q -o a.db >/dev/null; b=$(sha256sum <a.db); "$DSE" sweep t.toml -o a.db; e=$?; unharmed a.db "$b"; exit $e
