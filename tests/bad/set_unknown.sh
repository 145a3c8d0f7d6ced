. ./lib
"$DSE" eval lad --set tils=4
