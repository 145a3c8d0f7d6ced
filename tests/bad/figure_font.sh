. ./lib
figure 'select 1 as a, 2 as b' '"a"' '"b"'
cat >>f.toml <<'TOML'
[output]
font = "Arial' onload='alert(1)"
TOML
"$DSE" plot f.toml -o f.svg
status=$?
sed -i "s/^font = .*/font = 'DejaVu Sans'/; s|^kind|sweep = \"../../x\"\nkind|" f.toml
"$DSE" plot f.toml -o f.svg
exit $status
