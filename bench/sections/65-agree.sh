# closed form against event level over the space of every shipped sweep
title "event level over closed form, random points of every shipped sweep (to reach: median within 5 %, 95 of 100 within 15 %, each)"
for file in "$source"/sweeps/*.toml; do
    name=$(basename "$file" .toml)
    [ -z "$DSE_BENCH_SHORT" ] || [ "$name" = veda_pe ] || continue
    # A sweep whose models have no event level has nothing to compare.
    "$dse" agree "$file" --points 100 --budget "$(size 60s 2s)" --worst 0 --summary --quiet --format csv >one.csv 2>/dev/null || continue
    sed -n "s|^|$name,|; s|\"||g; /,difference,/p" one.csv >>apart.csv
done
awk -F , '
    function size(x) { return x < 0 ? -x : x }
    $4 != "dram_mib" {
        holds = size($7) <= 5 && $10 <= 15
        printf "   %-20s %-14s %-13s median %+7.2f %%, 95 of 100 within %6.2f %%%s\n", $1, $2, $4, $7, $10, holds ? "" : "  TOO FAR"
        n[$4]++
        good[$4] += holds
        if (size($7) > middle[$4]) middle[$4] = size($7)
        if ($10 > most[$4]) most[$4] = $10
    }
    END {
        for (m in n) printf "%s\t%d of %d within both, median up to %.1f %%, 95 of 100 within %.1f %%\n", m, good[m], n[m], middle[m], most[m] >"rows"
    }' apart.csv
sort rows | while IFS="$(printf '\t')" read -r metric what; do
    row "event level over closed form, each model in the space of each shipped sweep: $metric" "$what"
done
