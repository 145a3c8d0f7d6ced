. ./lib
printf 'kind,layer\nsink,0\n' >k.csv; "$DSE" trace generate --kinds k.csv -o new.trace
"$DSE" trace generate --kinds none.csv -o new.trace
trace; "$DSE" trace fit --to t.trace -o k.csv
"$DSE" trace fit --to t.trace --anchors a.toml
"$DSE" trace fit -o k.csv
