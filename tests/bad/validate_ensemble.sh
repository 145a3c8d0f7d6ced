. ./lib
"$DSE" validate lad --ensemble --fidelity event-level
