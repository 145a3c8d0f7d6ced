. ./lib
figure 'select tiles, area_mm2 from lad' '"tiles"' '"area_mm2"'
"$DSE" plot f.toml
