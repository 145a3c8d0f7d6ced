. ./lib
cat >f.toml <<TOML
[figure]
kind = "lines"
sql = "select 1 as a, 2 as b"
x = "a"
y = "b"
TOML
"$DSE" plot f.toml
