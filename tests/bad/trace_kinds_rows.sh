. ./lib
export DSE_DATA_DIR="$TOY"
"$DSE" trace generate --set n=256 --set d=16 --count 1 -o g.trace && "$DSE" trace fit --to g.trace -o k.csv >table.txt
sed 's/^\(sink\|local\|sparse\|broad\),/wide,/' k.csv >a.csv; "$DSE" trace generate --kinds a.csv -o new.trace 2>&1 | grep -v '^ ' >&2
sed 's/,0,0,1,256,/,0,0,1,1.5,/' k.csv >a.csv; "$DSE" trace generate --kinds a.csv -o new.trace 2>&1 | grep -v '^ ' >&2
sed 's/,0,0,1,256,/,0,0,1,0,/' k.csv >a.csv; "$DSE" trace generate --kinds a.csv -o new.trace 2>&1 | grep -v '^ ' >&2
grep -v ',0,0,1,256,' k.csv >a.csv; "$DSE" trace generate --kinds a.csv -o new.trace 2>&1 | grep -v '^ ' >&2
"$DSE" trace generate --kinds k.csv --set rho=0.5 -o new.trace
