. ./lib
toy_claims '' ''
head -c 2000 "$TOY/catalog/traces/few.trace" >toy/catalog/traces/few.trace
"$DSE_TOY" validate toy
