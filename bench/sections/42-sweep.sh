# a sweep of a million points, against a bare loop of INSERTs of the same rows
title "a million LAD points, evaluation included, against a bare loop of prepared INSERTs of the same rows (to reach: 1.0; goal: 2)"
million "$(size 50 2)" >million.toml
"$dse" sweep million.toml -q -o rows.db >/dev/null
for _ in $(passes); do
    rm -f sweep.db* bare.db*
    sync
    bench insert rows.db lad_all bare.db 131072 >>bare
    sync
    bench run "$dse" sweep million.toml -q -o sweep.db >>whole
    rm -f sweep.db*
    sync
    "$dse" sweep million.toml -o sweep.db 2>&1 >/dev/null | sed -n 's/.* points in \([0-9.]*\) s .*/\1/p' >>stored
done
bare=$(median 1 <bare) bare_cpu=$(median 2 <bare) whole=$(median 1 <whole) whole_cpu=$(median 2 <whole) stored=$(median 1 <stored)
echo "   bare INSERT loop           $bare s wall, $bare_cpu s CPU"
echo "   dse sweep, to the last row $stored s wall: $(ratio "$bare" "$stored") times the rate"
echo "   dse sweep, whole process   $whole s wall, $whole_cpu s CPU: $(ratio "$bare" "$whole") times, with the front found, stored and printed"
row 'a million LAD points evaluated and stored, all columns, crash-safe' \
    "$stored s wall: $(ratio "$bare" "$stored") times the rate of a bare loop of prepared \`INSERT\`s of the same rows"
row 'the whole command, front found, stored and printed' \
    "$whole s wall, $whole_cpu s CPU: $(ratio "$bare" "$whole") times the rate of the bare loop, in $(ratio "$whole_cpu" "$bare_cpu") times its CPU time"
