. ./lib
"$DSE" trace import --raw a.f16 --layers 0-2,x --heads 0 --positions 5 --dim 4 --model toy --source x -o new.trace
