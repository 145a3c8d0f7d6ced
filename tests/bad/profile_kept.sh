. ./lib
trace=$TOY/../../../catalog/traces/tinyllama.trace
"$DSE" profile "$trace" --kind kept
"$DSE" profile "$trace" --kind range --kept a.csv
"$DSE" profile "$trace" --kept missing.csv
"$DSE" profile --synthetic n=64 --kept a.csv
case_of() {
    printf 'layer,head,step,kept\n%s\n' "$1" >kept.csv
    "$DSE" profile "$trace" --kept kept.csv --contexts 64
}
case_of '1,0,60,1'
case_of '0,0,60,0-3 61'
case_of '0,0,4096,0'
case_of '0,0,60,0-3
0,0,60,5'
case_of '0,0,60,0-3'
