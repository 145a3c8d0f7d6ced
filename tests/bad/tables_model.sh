"$DSE" query :memory: "select * from metric('laad')"
