. ./lib
good_sweep s.toml s; echo "these are my notes, not a database; they are dear to me" >a.db; b=$(sha256sum <a.db); "$DSE" sweep s.toml -o a.db; e=$?; unharmed a.db "$b"; exit $e
