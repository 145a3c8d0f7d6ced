. ./lib
"$DSE" profile nowhere.trace --kind locality
