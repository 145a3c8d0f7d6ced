export DSE_DATA_DIR="$TOY"
"$DSE_TOY" eval pebble --fidelity event-level
