. ./lib
"$DSE" diff a.db
"$DSE" diff a.db b.db --with dse
"$DSE" diff a.db b.db --rel much
"$DSE" diff a.db b.db --rel =1
"$DSE" diff a.db b.db --show collumns
"$DSE" diff a.db b.db --causes -1
"$DSE" diff missing.db missing.db
