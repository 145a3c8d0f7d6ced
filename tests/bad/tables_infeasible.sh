"$DSE" query :memory: "select * from timeline('lad', 'capacity_gib=1')"
