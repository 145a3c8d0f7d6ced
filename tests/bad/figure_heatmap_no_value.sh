. ./lib
figure 'select 1 as a, 2 as b' '"a"' '"b"'
sed -i 's/"scatter"/"heatmap"/' f.toml
"$DSE" plot f.toml
