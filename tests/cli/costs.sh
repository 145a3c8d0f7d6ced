#!/bin/sh
# Dollars and grams: every model has them at both fidelities, prices move them and nothing else, a book of one's own is heard, and what is not
# known says which constant is missing.
. "$(dirname "$0")/lib.sh"
at() { # MODEL METRIC [OPTION]...: one number
    model=$1 metric=$2
    shift 2
    "$DSE" eval "$model" --format json "$@" | grep -o "\"$metric\": [^,}]*" | head -n 1 | cut -d: -f2
}
less() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a < b)}'; }

cat >s.toml <<'TOML'
[sweep]
name = "s"
models = ["lad", "veda", "swiftkv", "flashdecoding", "ane"]
[params]
prices = ["low", "typical", "high"]
[quality]
exact = false
[objectives]
usd_per_mtoken = "min"
TOML
"$DSE" sweep s.toml -q -o s.db >front.txt || fail "a sweep over prices"
sqlite3 s.db "select model || ' ' || group_concat(usd_per_mtoken < coalesce(after, 1e9), '') || (count(distinct energy_mj) = 1) || (count(distinct latency_us) = 1) ||
        (count(distinct coalesce(gco2_per_mtoken, 0)) = 1) from
    (select *, lead(usd_per_mtoken) over (partition by model order by instr('low typical high', prices)) as after from comparison order by model, instr('low typical high', prices))
    group by model" >prices.txt
for model in ane flashdecoding lad swiftkv veda; do grep -qx "$model 111111" prices.txt || fail "prices: $(cat prices.txt)"; done

# More bandwidth is never cheaper, and neither is a smaller server share or a shorter life.
before=0
for gbs in 256 512 768 1024 1536; do
    usd=$(at lad system_usd --set bandwidth_gbs=$gbs)
    less "$usd" "$before" && fail "$gbs GB/s cost $usd $, less before it costs $before $"
    before=$usd
done
less "$(at lad usd_per_mtoken --set life_years=6)" "$(at lad usd_per_mtoken --set life_years=3)" || fail "a shorter life is cheaper"
less "$(at lad usd_per_mtoken --set busy_share=1)" "$(at lad usd_per_mtoken --set busy_share=0.5)" || fail "an idle machine is cheaper"
less "$(at lad gco2_per_mtoken --set grid=iceland)" "$(at lad gco2_per_mtoken --set grid=india)" || fail "a dirty grid is clean"
less "$(at flashdecoding usd_per_mtoken)" "$(at flashdecoding usd_per_mtoken --set prices=high --set tenure=rented)" || fail "a rented GPU is cheaper than a bought one at the highest rent"

# What must be bought does not depend on how a step is evaluated, but for the power supply, which is paid by the watt.
for metric in die_usd embodied_kgco2; do
    [ "$(at veda $metric)" = "$(at veda $metric --fidelity event-level)" ] || fail "$metric differs between fidelities"
done

# A node without a price; a book that has one; a price of another year.
"$DSE" eval lad --all --set technology=65nm --set clock_ghz=0.5 --set area=core >eval.txt || fail "a node without a price is refused"
grep -q 'die_usd .*unknown: the book of costs has no wafer_usd_65nm' eval.txt || fail "$(grep usd eval.txt)"
# Without edges a die costs less than can be built, and the point says so.
grep -q 'exclude the die.s memory interfaces and network' eval.txt || fail "nothing says that area = core leaves the interfaces unpriced"
"$DSE" eval lad | grep -q 'exclude the die.s memory interfaces and network' && fail "a die with its interfaces is said to lack them"
cat >mine.toml <<'TOML'
[costs.mine]
like = "public"
source = "a quote"
wafer_usd_65nm = 1500
defect_density_65nm = 0.05
wafer_usd_22nm = 6400
TOML
less 0 "$(at lad die_usd --set technology=65nm --set clock_ghz=0.5 --set area=core --set costs=mine -c mine.toml)" || fail "a book of one's own is not heard"
awk -v a="$(at lad die_usd)" -v b="$(at lad die_usd --set costs=mine -c mine.toml)" 'BEGIN {exit !(b / a > 1.999999 && b / a < 2.000001)}' ||
    fail "a wafer of twice the price is no die of twice the price"
"$DSE" list costs mine --format csv -c mine.toml | tr -d '"' | grep -q 'mine,wafer_usd_22nm,6400,6400,6400,usd,,own' || fail "$("$DSE" list costs mine --format csv -c mine.toml | grep 22nm)"
less "$(at veda usd_per_mtoken --set memory=lpddr5-6400-16ch --set price_year=2023)" "$(at veda usd_per_mtoken --set memory=lpddr5-6400-16ch --set price_year=2026)" ||
    fail "memory of 2023 is not cheaper than that of 2026"
