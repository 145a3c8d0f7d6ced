# rows of LAD through the SQLite extension, beside a table of the same
title "rows of LAD through the SQLite extension, five columns to CSV (to reach: 500000 rows a second and core), beside a table of the same"
rows=$(size 500000 16000) # 16 tiles times so many contexts
columns="tiles, context, tokens_per_s, area_mm2, energy_mj"
where="tiles BETWEEN 1 AND 16 AND context BETWEEN 1001 AND $((1000 + rows / 16)) AND llm = 'llama3.1-8b' AND capacity_gib = 1024"
extension=".load $build/src/sql/dse"
sqlite3 -cmd "$extension" rows.db "CREATE TABLE t AS SELECT $columns FROM lad WHERE $where"
[ "$(sqlite3 rows.db 'SELECT count(*) FROM t')" -eq "$rows" ]
for _ in $(passes); do
    bench run sqlite3 -csv rows.db 'SELECT * FROM t' >>stored
    bench run sqlite3 -csv -cmd "$extension" :memory: "SELECT $columns FROM lad WHERE $where" >>computed
done
stored=$(median 2 <stored) computed=$(median 2 <computed)
echo "   read from a table  $(ratio "$rows" "$stored" %.0f) rows a second of CPU"
echo "   computed           $(ratio "$rows" "$computed" %.0f) rows a second of CPU: $(ratio "$computed" "$stored") times the time"
row 'rows of LAD computed in SQL, five columns to CSV' \
    "$(ratio "$rows" "$computed" %.0f) a second of CPU: $(ratio "$computed" "$stored") times the time of reading them from a table"
