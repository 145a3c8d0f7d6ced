. ./lib
database; "$DSE" query a.db "select 1; select 2"
