. ./lib
trace; sed -i 's/^layer,head,which/layer,head,what/' t.csv; import_csv
