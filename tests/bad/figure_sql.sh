. ./lib
good_sweep s.toml s; "$DSE" sweep s.toml -q -o a.db >/dev/null; cat >f.toml <<TOML
[figure]
title = "t"
kind = "scatter"
sql = "select tils, area_mm2 from lad"
x = "tiles"
y = "area_mm2"
TOML
"$DSE" plot f.toml a.db
