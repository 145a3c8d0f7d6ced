. ./lib
head -c 100000000 /dev/zero | tr "\\000" "[" >b.toml; "$DSE" sweep b.toml
