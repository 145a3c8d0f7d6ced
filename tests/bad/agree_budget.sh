. ./lib
"$DSE" agree sweeps.toml --near
"$DSE" agree veda --budget soon
"$DSE" agree veda --budget 0s
