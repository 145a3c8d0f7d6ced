. ./lib
echo text >a.db; "$DSE" merge out.db a.db; e=$?; [ ! -e out.db ] || echo "out.db was made" >&2; exit $e
