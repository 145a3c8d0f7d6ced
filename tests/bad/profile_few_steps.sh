. ./lib
"$DSE" profile "$TOY/../../../catalog/traces/tinyllama.trace" --kind locality --contexts 16,64
