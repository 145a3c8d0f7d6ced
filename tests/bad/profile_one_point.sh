. ./lib
"$DSE" profile "$TOY/../../../catalog/traces/tinyllama.trace" --kind locality --contexts 64,128 -o x.csv
