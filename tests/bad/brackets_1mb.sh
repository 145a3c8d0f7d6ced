. ./lib
{ printf "a = "; head -c 1000000 /dev/zero | tr "\\000" "["; } >b.toml; "$DSE" sweep b.toml
