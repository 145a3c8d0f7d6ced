. ./lib
"$DSE" trace import --raw a --csv b --model toy --source x -o new.trace
