. ./lib
database; "$DSE" merge a.db a.db
