. ./lib
database; "$DSE" query a.db "select tiles form lad"
