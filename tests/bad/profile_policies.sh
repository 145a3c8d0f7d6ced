. ./lib
"$DSE" profile "$TOY/../../../catalog/traces/tinyllama.trace" --kind retention --policies snapkv,pyramidkv,voting
"$DSE" profile "$TOY/../../../catalog/traces/tinyllama.trace" --kind retention --policies pyramidkv -s prompt_share=1
"$DSE" profile "$TOY/../../../catalog/traces/tinyllama.trace" --kind retention --policies snapkv -s prompt_share=1 -s pool=4 --contexts 128
"$DSE" profile "$TOY/../../../catalog/traces/tinyllama.trace" --kind retention --policies pyramidkv -s prompt_share=1 -s layers=2 --contexts 128
