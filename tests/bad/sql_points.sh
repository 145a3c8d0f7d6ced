"$DSE" query :memory: "select count(*) from lad where tiles > 0 and context > 0 and batch > 0"
