. ./lib
"$DSE" profile "$TOY/../../../catalog/traces/tinyllama.trace" --kind locality --contexts 64,4096
