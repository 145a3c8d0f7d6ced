. ./lib
head -c 3000 /dev/zero | tr "\\000" "\\377" >b.toml; "$DSE" sweep b.toml
