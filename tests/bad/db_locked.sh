. ./lib
good_sweep s.toml s; "$DSE" sweep s.toml -q -o a.db >/dev/null
mkfifo go; (echo "begin exclusive;"; cat go) | sqlite3 a.db & sleep 1
"$DSE" sweep s.toml --fresh -q -o a.db; e=$?; echo >go; wait; exit $e
