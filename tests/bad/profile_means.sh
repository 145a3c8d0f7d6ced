. ./lib
trace="$TOY/../../../catalog/traces/tinyllama.trace"
head='method,context,ratio,metric,mean'
surface() { "$DSE" profile "$trace" --kind surface --policies h2o --contexts 64,128,256 --ratios 0.2,0.5 --means "$1"; }
printf '%s\nh2o,64,0.2,retained_mas,0.8\nh2o,64,0.2,retained_mass,0\nh2o,64,0.2,attention_error,0.3\nh2o,64,0.2,attention_error,0.3\n' "$head" >cells.csv
surface cells.csv
printf '%s\nh2o,64,0.3,retained_mass,0.8\n' "$head" >elsewhere.csv
surface elsewhere.csv
printf 'method,context,metric,mean\n' >header.csv
surface header.csv
surface nowhere.csv
"$DSE" profile --synthetic n=128 --kind surface --policies h2o --contexts 64,128 --ratios 0.2,0.5 --means cells.csv
