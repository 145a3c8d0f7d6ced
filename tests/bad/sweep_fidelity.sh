# --fidelity of dse sweep: a word that there is not, and a model without an event level.
cat >s.toml <<'TOML'
[sweep]
name = "s"
models = ["toy", "pebble"]
[objectives]
latency_us = "min"
TOML
export DSE_DATA_DIR=$TOY
"$DSE_TOY" sweep s.toml --fidelity refined
"$DSE_TOY" sweep s.toml --fidelity events
"$DSE_TOY" sweep s.toml --fidelity refine
