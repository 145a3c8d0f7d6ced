"$DSE" query :memory: "select * from breakdown('lad', 'contxt=3')"
