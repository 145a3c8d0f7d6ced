. ./lib
"$DSE" trace imprt x; "$DSE" trace xyzzy x
