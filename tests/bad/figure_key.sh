. ./lib
figure 'select tiles, area_mm2 from lad' '"tile"' 4
sed -i s/sql/sqll/ f.toml
"$DSE" plot f.toml
