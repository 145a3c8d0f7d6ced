. ./lib
"$DSE" profile "$TOY/../../data/tinyllama.trace"
