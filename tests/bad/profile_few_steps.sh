. ./lib
"$DSE" profile "$TOY/../../data/tinyllama.trace" --kind locality --contexts 16,64
