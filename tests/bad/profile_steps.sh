. ./lib
"$DSE" profile "$TOY/../../../catalog/traces/tinyllama.trace" --kind locality --steps 0
