. ./lib
figure 'select 1 as a, 2 as b' '"a"' '"b"'
"$DSE" plot f.toml --size tripple
