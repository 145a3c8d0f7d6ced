export DSE_DATA_DIR="$TOY"
"$DSE_TOY" eval toy --fidelity event-level --gantt --format csv
