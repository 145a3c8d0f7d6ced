. ./lib
trace="$TOY/../../../catalog/traces/tinyllama.trace"
surface() { "$DSE" profile "$trace" --kind surface --policies h2o --contexts 64,128,256 --ratios 0.2,0.5 "$@"; }
surface --vary 'intervals=8*intervals=16'
surface --vary 'intervals=8*kv_bits=2,4'
surface --vary 'intervals=8*collinear=0.9*recent=32*page=8'
surface --vary 'intervals=8*colinear=0.9'
surface --vary 'intervals=8*'
surface --vary 'intervals=8*collinear=2'
surface --vary intervals
