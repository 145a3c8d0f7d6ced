. ./lib
figure 'select 1 as a, 2 as b' '"a"' '"b"'
sed -i 's/"scatter"/"lines"/' f.toml
echo 'band_sql = "SELECT 1 AS x_from, 2 AS x_too, NULL AS text"' >>f.toml
"$DSE" plot f.toml
