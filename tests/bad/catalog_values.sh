# Values of catalogs that mean nothing are an error of their line; so is what a catalog has too much of.
cp -r "$(dirname "$TOY")/../../catalog" . 2>/dev/null
for d in models docs; do ln -s "$(dirname "$TOY")/../../$d" "$d"; done
export DSE_DATA_DIR=.
cell() { # FILE LINE COLUMN VALUE
    cp "catalog/$1" kept
    awk -F, -v OFS=, -v line="$2" -v column="$3" -v value="$4" 'NR == line { $column = value } { print }' kept >"catalog/$1"
    "$DSE" eval lad >out.txt
    cp kept "catalog/$1"
}
cell technology.csv 2 7 -2.52
cell technology.csv 2 3 0
cell technology.csv 2 5 1e300
cell technology.csv 12 4 -0.9
cell sram.csv 2 6 -1
cell sram.csv 2 3 0
cell sram.csv 2 10 -1e-3
"$DSE" eval lad >out.txt || echo "the catalog is not as it was" >&2
awk '{ print } NR == 2 { for (i = 0; i < 200000; i++) print }' catalog/technology.csv >many
cp many catalog/technology.csv
"$DSE" eval lad
cp "$(dirname "$TOY")/../../catalog/technology.csv" catalog
awk 'BEGIN { print "[llms]"; for (i = 0; i < 5001; i++) printf "[llms.l%d]\nlike = \"llama2-7b\"\n", i }' >c.toml
"$DSE" eval lad --catalog c.toml
