"$DSE" measure --only gem,launch
"$DSE" measure --only ''
"$DSE" measure --only gemm, --dry-run
"$DSE" measure --only launch --clocks
"$DSE" measure --seconds 0
"$DSE" measure --seconds soon
"$DSE" measure --device -1
"$DSE" measure --gpu h2000
"$DSE" measure --gpu mine
"$DSE" measure --format xml
"$DSE" measure all
"$DSE" measure -o a.csv --folder b
mkdir empty
"$DSE" measure --libraries empty
