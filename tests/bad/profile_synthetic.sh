. ./lib
"$DSE" profile --synthetic n=64 rho=2 clusters=3 --kind locality --heads 0
