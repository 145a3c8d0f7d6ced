. ./lib
figure 'select 1 as a, 2 as b' '"a"' '"b"'
sed -i 's/"scatter"/"parallel"/' f.toml
echo 'columns = ["a", "b"]' >>f.toml
"$DSE" plot f.toml
