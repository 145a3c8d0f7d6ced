. ./lib
trace=$TOY/../../../catalog/traces/tinyllama.trace
"$DSE" profile "$trace" --kind range --edges=-3,-2
"$DSE" profile "$trace" --kind locality --edges=-3,-2 -s intervals=3
"$DSE" profile "$trace" --kind locality --edges=-3
"$DSE" profile "$trace" --kind locality --edges=-3,-2,0
"$DSE" profile "$trace" --kind locality -s intervals=17
