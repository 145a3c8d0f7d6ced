. ./lib
good_sweep s.toml s; "$DSE" sweep s.toml -q -o a.db >/dev/null; sqlite3 a.db "pragma user_version = 99"; b=$(sha256sum <a.db); "$DSE" sweep s.toml -o a.db; e=$?; unharmed a.db "$b"; exit $e
