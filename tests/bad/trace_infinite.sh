. ./lib
printf '\0\74\0\74\0\174\0\74\0\74\0\74' >a.f16; "$DSE" trace import --raw a.f16 --layers 4 --heads 2 --positions 1 --dim 2 --model toy --source x -o new.trace
e=$?; [ ! -e new.trace ] || echo "new.trace was made" >&2; exit $e
