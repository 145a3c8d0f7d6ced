. ./lib
figure 'SELECT 1 AS a, 2 AS b UNION ALL SELECT 3, 4' '"a"' '{ column = "b", max = 5 }'
cat >>f.toml <<TOML
annotation_sql = "SELECT NULL AS x, 40 AS y, 'limit' AS text"
band_sql = "SELECT 90 AS x_from, 95 AS x_to, 'far' AS text"
TOML
"$DSE" plot f.toml -o f.svg && [ -s f.svg ]
