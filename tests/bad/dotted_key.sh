. ./lib
{ head -c 4000000 /dev/zero | tr "\\000" "a" | sed 's/aa/a./g'; echo "a = 1"; } >b.toml; "$DSE" sweep b.toml
