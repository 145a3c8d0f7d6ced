. ./lib
database
b=$(sha256sum <a.db)
"$DSE" sweep s.toml -o a.db --shard 2/3
e=$?
unharmed a.db "$b"
exit $e
