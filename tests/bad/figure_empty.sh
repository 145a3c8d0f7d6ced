. ./lib
database
figure 'select tiles, area_mm2 from lad where tiles = 99' '"tiles"' '"area_mm2"'
"$DSE" plot f.toml a.db
e=$?
[ ! -e f.png ] || echo 'a picture is there' >&2
exit $e
