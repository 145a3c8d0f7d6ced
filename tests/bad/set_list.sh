. ./lib
"$DSE" eval lad --set "tiles=[2,4]"
