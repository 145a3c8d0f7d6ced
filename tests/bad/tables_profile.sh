"$DSE" query :memory: "select * from profile('none')"
