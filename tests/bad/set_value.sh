. ./lib
"$DSE" eval lad --set tiles=many
