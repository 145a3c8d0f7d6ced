. ./lib
"$DSE" profile "$TOY/../../../catalog/traces/tinyllama.trace" --kind range --contexts 64 -o .
