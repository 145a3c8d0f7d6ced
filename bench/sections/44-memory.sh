# largest resident set of a sweep of one and of ten million points
title "largest resident set (to reach: under 300 MiB, whatever the number of points)"
for n in 1 10; do
    million $(($(size 50 2) * n)) >points.toml
    bench run "$dse" sweep points.toml -q -o points.db >"$n"
    echo "   $n million points: $(field 1 <"$n") s wall, $(field 2 <"$n") s CPU, $(field 3 <"$n") MiB"
    rm -f points.db*
done
row 'largest resident set of `dse sweep`' "$(field 3 <1) MiB for one million points, $(field 3 <10) MiB for ten"
