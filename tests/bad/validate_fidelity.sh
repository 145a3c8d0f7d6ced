. ./lib
"$DSE" validate lad --fidelity event-level
