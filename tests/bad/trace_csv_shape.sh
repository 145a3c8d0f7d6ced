. ./lib
"$DSE" trace import --csv a --dim 4 --model toy --source x -o new.trace
