. ./lib
good_sweep s.toml s; sqlite3 a.db "create table mine(x); insert into mine values (1)"; b=$(sha256sum <a.db); "$DSE" sweep s.toml -o a.db; e=$?; unharmed a.db "$b"; exit $e
