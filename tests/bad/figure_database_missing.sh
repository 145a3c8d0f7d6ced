. ./lib
cat >f.toml <<TOML
[figure]
kind = "lines"
sweep = "never_run"
sql = "select 1 as a, 2 as b"
x = "a"
y = "b"
TOML
"$DSE" plot f.toml
