"$DSE" query :memory: "select * from score_stats('no.trace')"
