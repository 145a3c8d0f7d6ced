. ./lib
"$DSE" query none.db "select 1"
