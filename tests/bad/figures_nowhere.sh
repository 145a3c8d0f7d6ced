. ./lib
figure 'select 1 as a, 2 as b' '"a"' '"b"'
"$DSE" figures ./f.toml -o no/such/place
