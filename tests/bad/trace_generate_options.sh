. ./lib
"$DSE" trace generate; "$DSE" trace generate --bits 8 -o g.trace; "$DSE" trace generate --count 0 -o g.trace; "$DSE" trace fit --iterations -1
