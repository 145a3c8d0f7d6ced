"$DSE" eval lad --fidelity event
