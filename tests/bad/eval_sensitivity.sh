# Metrics that are none, and what has no sensitivity.
"$DSE" eval lad --sensitivity --metric token_per_s
"$DSE" eval lad --sensitivity --metric zzzzzz
"$DSE" eval lad --metric tokens_per_s
"$DSE" eval lad --sensitivity --fidelity event-level
"$DSE" eval lad --sensitivity --requests chat
"$DSE" eval lad --sensitivity --metric tokens_per_s --points points.csv
