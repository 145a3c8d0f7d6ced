. ./lib
figure "select 1 as a, 2 as b, 'lad' as c" '"a"' '"b"'
sed -i 's/"scatter"/"lines"/' f.toml
printf 'series = "c"\nnormalize = "ladd"\n' >>f.toml
"$DSE" plot f.toml
