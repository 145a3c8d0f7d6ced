. ./lib
trace="$TOY/../../../catalog/traces/tinyllama.trace"
"$DSE" profile "$trace" --kind recording --steps half
"$DSE" profile "$trace" --kind recording --fit
"$DSE" profile "$trace" --kind recording --ratios 0.5 -s sinks=2
"$DSE" profile "$trace" --kind recording --contexts 16,64 --steps 32
