. ./lib
figure 'select 1 as a, 2 as b' '"a"' '"b"'
PATH=/nowhere "$DSE" figures ./f.toml -o .
