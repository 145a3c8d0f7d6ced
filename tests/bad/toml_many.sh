# More in a file than its reader takes in good time: tables by headers and by keys, and values. Numbers have dots, too.
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "[a%d.b]\n[a%d]\n", i, i }' >headers.toml
awk 'BEGIN { for (i = 0; i < 50000; i++) printf "a%d.b = 1.5\n", i }' >keys.toml
awk 'BEGIN { printf "a = [1.5"; for (i = 0; i < 1100000; i++) printf ",\n1.5"; print "]" }' >values.toml
for f in headers keys values; do
    echo "== $f" >&2
    "$DSE" sweep $f.toml
done
