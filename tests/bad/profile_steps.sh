. ./lib
"$DSE" profile "$TOY/../../data/tinyllama.trace" --kind locality --steps 0
