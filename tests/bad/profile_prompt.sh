. ./lib
trace=$TOY/../../../catalog/traces/tinyllama.trace
"$DSE" profile "$trace" --kind retention -s prompt_share=1.5
"$DSE" profile "$trace" --kind retention -s prompt_share=0.9
"$DSE" profile "$trace" --kind retention -s prompt_share=0.6 --steps half
"$DSE" profile "$trace" --kind retention --ratios 0.5 -o x.csv
