. ./lib
database; sqlite3 a.db "pragma user_version = 99"; b=$(sha256sum <a.db); "$DSE" sweep s.toml -o a.db; e=$?; unharmed a.db "$b"; exit $e
