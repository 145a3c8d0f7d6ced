. ./lib
good_sweep s.toml s
"$DSE" sweep s.toml -o ""
