. ./lib
"$DSE" profile "$TOY/../../../catalog/traces/tinyllama.trace" --kind speed
