. ./lib
"$DSE" profile "$TOY/../../data/tinyllama.trace" --kind range --contexts 64 -o .
