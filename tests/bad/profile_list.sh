. ./lib
"$DSE" profile "$TOY/../../../catalog/traces/tinyllama.trace" --kind retention --ratios 0.5,0.2 --policies voting,h20 --contexts 64,x
