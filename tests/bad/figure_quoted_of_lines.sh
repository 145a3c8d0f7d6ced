. ./lib
database
figure 'SELECT tiles, area_mm2 FROM lad' '"tiles"' '"area_mm2"'
sed -i 's/^\[figure\]/[figure]\nquoted = "tiles"/' f.toml
"$DSE" plot f.toml a.db -o f.svg
sed -i 's/^kind .*/kind = "bars"/; s/quoted = "tiles"/quoted = "tils"/' f.toml
"$DSE" plot f.toml a.db -o f.svg
