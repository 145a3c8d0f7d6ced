. ./lib
cat >c.toml <<TOML
[llms.llama2-7b]
layers = 32
[llms.mine]
layers = 0
hiden = 4096
TOML
"$DSE" eval lad --catalog c.toml
