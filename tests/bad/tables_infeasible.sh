"$DSE" query :memory: "select * from metric('lad', 'capacity_gib=1')"
