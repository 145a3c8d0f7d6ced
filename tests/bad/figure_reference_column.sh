. ./lib
figure 'select 1 as a, 2 as b' '"a"' '"b"'
sed -i 's/"scatter"/"lines"/' f.toml
echo 'reference_sql = "SELECT 1 AS a, 3 AS c"' >>f.toml
"$DSE" plot f.toml
