. ./lib
"$DSE" profile "$TOY/../../../catalog/traces/tinyllama.trace" --kind retention -s colinear=0.9 -s sinks=-1 -s sinks
