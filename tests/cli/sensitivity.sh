#!/bin/sh
# dse eval --sensitivity: what a table says to people and to programs, of models in C and in TOML.
SOURCE=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
export COLUMNS=200 NO_COLOR=1
says() { grep -qe "$1" "$2" || fail "\"$1\" is not in $2: $(head -n 30 "$2")"; }
says_not() { ! grep -qe "$1" "$2" || fail "\"$1\" is in $2: $(grep -e "$1" "$2")"; }
toml() { "$DSE" eval veda --set context=512 --set bandwidth_gbs=280 --sensitivity "$@"; }
# A cell of the line of METRIC and OF. Quotes are gone, and what has commas of its own stands last.
cell() { # FILE METRIC OF COLUMN
    awk -F, -v metric="$2" -v of="$3" -v column="$4" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["metric"] == metric && $at["of"] == of { print $at[column] }' "$1"
}

# People: the largest first, small ones and other metrics left out, each with how it was found and what to know of it.
toml >out.txt 2>err.txt || fail "$(cat err.txt)"
says '^METRIC  *OF  *VALUE  *% FOR 1 %  *HOW  *NOTE' out.txt
says '^tokens_per_s  *clock_ghz  *1  *0\.[0-9]*  *derivative' out.txt
says '^tokens_per_s  *pe_rows  *8  *0  *derivative  *0 by a step (ceil, floor, round); 0\.[0-9]* without steps' out.txt
says '^tokens_per_s  *tensor_parallel  *1  *[0-9.]*  *difference  *upwards alone; below: its range ends here' out.txt
says '^compute_utilization  *2 in peak_ops_per_s, line [0-9]*  *2  *-1  *derivative' out.txt
says 'numbers are left out: [0-9]* below 0.05, and [0-9]* of other metrics; --metric NAME picks, --all prints all' out.txt
says_not '^latency_us' out.txt
awk 'NR > 1 && NF > 3 && $1 == "area_mm2"' out.txt | grep -q . || fail "no area in $(cat out.txt)"
toml --metric latency_us >one.txt
says '^latency_us  *clock_ghz  *1  *-0\.' one.txt
says_not '^tokens_per_s' one.txt
says '^[0-9]* numbers below 0.05 are left out; --all prints them' one.txt
toml --metric latency_us --all >all.txt
says '^latency_us .* 0  *derivative' all.txt
says_not 'left out' all.txt
"$DSE" eval veda --set batch=64 --set context=65536 --sensitivity >out.txt 2>err.txt
says 'this point is infeasible' err.txt
says_not 'difference' out.txt

# Programs: all numbers of all metrics, or of one, with places of constants.
toml --format csv | tr -d '"' >all.csv
toml --format csv --metric tokens_per_s | tr -d '"' >one.csv
[ "$(tail -n +2 all.csv | cut -d, -f1 | sort -u | wc -l)" -gt 20 ] || fail "metrics: $(cut -d, -f1 all.csv | sort | uniq -c)"
[ "$(tail -n +2 one.csv | cut -d, -f1 | sort -u)" = tokens_per_s ] || fail "--metric: $(cut -d, -f1 one.csv | sort | uniq -c)"
grep '^tokens_per_s,' all.csv >of_all.csv
tail -n +2 one.csv | diff of_all.csv - || fail "--metric has other numbers"
toml --format json >all.json
[ "$(tail -n +2 all.csv | wc -l)" -eq "$(grep -c '"elasticity"' all.json)" ] || fail "csv and json differ"
line=$(cell all.csv compute_utilization peak_ops_per_s line)
sed -n "${line}p" "$SOURCE/models/veda/veda.toml" | grep -q '^peak_ops_per_s .*"2 \* machines' || fail "peak_ops_per_s is not on line $line"

# Formulas that share their terms fit; with a constant of its own in each place they are too many.
{
    printf '[model]\nname = "large"\ntitle = "t"\ncite = "c"\nuses = ["workload", "memory"]\n[for.operators]\nbytes = "op.weight_bytes + 1 [B]"\n'
    factors=$(printf ' * 1.5%.0s' $(seq 60))
    for i in $(seq 100); do echo "e${i}_s = \"op.bytes / memory.rate$factors\""; done
    printf '[step]\ntime = "sum(for op in operators: op.e1_s'
    for i in $(seq 2 100); do printf ' + op.e%d_s' "$i"; done
    printf ')"\n'
} >large.toml
"$DSE" --plugin ./large.toml eval large --sensitivity --metric latency_us >out.txt 2>err.txt || fail "$(cat err.txt)"
says 'note: the model has too many formulas to differentiate' err.txt
says '^latency_us  *bandwidth_gbs' out.txt

# All of it is found by differences then, as of a model in C.
"$DSE" --plugin ./large.toml eval large --sensitivity --format csv 2>err.txt | tr -d '"' >c.csv
[ "$(cell c.csv latency_us bandwidth_gbs how)" = difference ] || fail "how: $(cell c.csv latency_us bandwidth_gbs how)"
[ "$(cell all.csv latency_us clock_ghz how)" = derivative ] || fail "how: $(cell all.csv latency_us clock_ghz how)"
[ "$(cell c.csv latency_us context step)" = 1 ] || fail "the step of context: $(cell c.csv latency_us context step)"
