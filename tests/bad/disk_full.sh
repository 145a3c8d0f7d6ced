. ./lib
sed "s/2, 4, 6/2/; s/tiles/clock_ghz = { from = 0.5, to = 2, points = 100000 }\ntiles/" >s.toml <<TOML
[sweep]
name = "s"
models = ["lad"]
[params]
tiles = [2, 4, 6]
[objectives]
tokens_per_s = "max"
TOML
(ulimit -f 4000; "$DSE" sweep s.toml -q -o a.db); e=$?; sqlite3 a.db "pragma integrity_check" | grep -qx ok || echo "HARMED" >&2; exit $e
