. ./lib
"$DSE" profile "$TOY/../../data/tinyllama.trace" --kind locality --ratios 0.5 --policies h2o
"$DSE" profile "$TOY/../../data/tinyllama.trace" --kind range --fit --heads 2
