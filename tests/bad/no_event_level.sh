export DSE_DATA_DIR="$TOY"
cat >x.toml <<'TOML'
[sweep]
name = "x"
models = ["toy", "pebble"]
fidelity = "event-level"
[objectives]
tokens_per_s = "max"
TOML
"$DSE_TOY" sweep x.toml
