. ./lib
trace; sed -i '/^4,2,k/d' t.csv; import_csv
