. ./lib
"$DSE" profile "$TOY/../../../catalog/traces/tinyllama.trace" --kind locality --ratios 0.5 --policies h2o
"$DSE" profile "$TOY/../../../catalog/traces/tinyllama.trace" --kind range --fit --heads 2
