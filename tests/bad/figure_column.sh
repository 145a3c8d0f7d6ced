. ./lib
database
figure 'select tiles, area_mm2 from lad' '"tile"' '"area_mm2"'
"$DSE" plot f.toml a.db
