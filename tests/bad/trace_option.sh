. ./lib
"$DSE" trace info --model toy t.trace
