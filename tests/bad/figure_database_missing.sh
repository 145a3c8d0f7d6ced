. ./lib
figure 'select 1 as a, 2 as b' '"a"' '"b"'
echo 'sweep = "never_run"' >>f.toml
"$DSE" plot f.toml
