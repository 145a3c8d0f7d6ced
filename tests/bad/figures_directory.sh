. ./lib
figure 'select 1 as a, 2 as b' '"a"' '"b"'
echo "a file" >out
"$DSE" figures ./f.toml -o out
