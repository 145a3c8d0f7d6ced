. ./lib
"$DSE" profile "$TOY/../../data/tinyllama.trace" --kind locality --contexts 64,4096
