. ./lib
"$DSE" profile --kind locality
