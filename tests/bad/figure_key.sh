. ./lib
cat >f.toml <<TOML
[figure]
title = "t"
kind = "scatter"
sqll = "select tiles, area_mm2 from lad"
x = "tile"
y = 4
TOML
"$DSE" plot f.toml a.db
