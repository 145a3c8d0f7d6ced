. ./lib
trace; sed -i 's/1\.5/1,5/; s/0\.125$//; s/,1,5,/,one,5/' t.csv; import_csv
