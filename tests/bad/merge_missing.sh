. ./lib
"$DSE" merge out.db none.db
