. ./lib
database
figure 'select tiles, area_mm2 from lad' '"tiles"' '"area_mm2"'
PATH=/nowhere "$DSE" plot f.toml a.db
