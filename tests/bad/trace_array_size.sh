. ./lib
head -c 1000 /dev/zero >a.f16; "$DSE" trace import --raw a.f16 --layers 0-3 --heads 0,1 --positions 5 --dim 4 --model toy --source x -o new.trace
