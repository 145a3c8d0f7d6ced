. ./lib
trace="$TOY/../../../catalog/traces/tinyllama.trace"
"$DSE" profile "$trace" --kind surface --policies h2o --contexts 64,128,2048 --ratios 0.2,0.5 --ends 3
"$DSE" profile "$trace" --kind surface --policies h2o --contexts 34,128 --ratios 0.2,0.5 --ends 2
"$DSE" profile "$trace" --kind surface --policies h2o --contexts 64,128 --ratios 0.2,0.5 --ends 0
"$DSE" profile "$trace" --kind locality --contexts 64,128,256 --ends 3
"$DSE" profile --synthetic n=128 --kind surface --policies h2o --contexts 64,128 --ratios 0.2,0.5 --by-layer
