. ./lib
"$DSE" trace import --raw a.f16 --layers 0 --heads 0 --positions 0 --dim 99999 --bits 8 --model toy --source x -o new.trace
