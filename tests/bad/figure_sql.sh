. ./lib
database
figure 'select tils, area_mm2 from lad' '"tiles"' '"area_mm2"'
"$DSE" plot f.toml a.db
