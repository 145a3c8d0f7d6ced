. ./lib
"$DSE" validate lad --fidelity exact
