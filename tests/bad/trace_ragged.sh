. ./lib
trace; sed -i 's/^4,2,k.*/4,2,k,0,1.5/' t.csv; import_csv
