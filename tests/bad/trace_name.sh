. ./lib
head -c 6 /dev/zero >a.f16; "$DSE" trace import --raw a.f16 --layers 0 --heads 0 --positions 1 --dim 1 --model "$(printf 'a\nb')" --source "" -o new.trace
