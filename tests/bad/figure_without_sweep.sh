. ./lib
figure 'select tiles, area_mm2 from machines' '"tiles"' '"area_mm2"'
"$DSE" plot f.toml
