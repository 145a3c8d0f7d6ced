. ./lib
"$DSE" trace import --raw a --layers 0 --heads 0 --positions 1 --model toy --source x -o new.trace
