. ./lib
trace; echo 4,2,q,0,0.25,-1 >>t.csv; import_csv
