. ./lib
"$DSE" profile "$TOY/../../data/tinyllama.trace" --kind locality --contexts 64,128 -o x.csv
