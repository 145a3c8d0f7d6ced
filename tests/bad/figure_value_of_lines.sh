. ./lib
figure 'select 1 as a, 2 as b' '"a"' '"b"'
sed -i 's/"scatter"/"lines"/' f.toml
echo 'value = "b"' >>f.toml
"$DSE" plot f.toml
