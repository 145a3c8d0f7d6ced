# A time that is none.
. ./lib
good_sweep s.toml s
"$DSE" front s.toml -o s.db --budget 0s
"$DSE" front s.toml -o s.db --budget soon
"$DSE" front s.toml -o s.db --budget 5.5.5min
"$DSE" front s.toml -o s.db --budget ''
