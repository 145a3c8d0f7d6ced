#!/bin/sh
# What a sweep prints of its fronts: every group has its share of the rows, and the command that it names shows all.
. "$(dirname "$0")/lib.sh"
source=$2
unset COLUMNS LINES 2>/dev/null || true
"$DSE" sweep "$source/sweeps/lad_sram.toml" --no-figures -o sram.db >rows.txt 2>said.txt
points=$(sqlite3 sram.db 'select count(*) from front')
groups=$(sqlite3 sram.db 'select count(*) from (select distinct llm, context from lad_front)')
[ "$groups" -gt 20 ] || fail "not more fronts than rows: $groups"
[ "$(wc -l <rows.txt)" -eq 21 ] || fail "not 20 rows in a file: $(wc -l <rows.txt)"
[ "$(tail -n +2 rows.txt | awk '{ print $2 }' | grep -c knee)" -eq 20 ] || fail "not all are knees: $(cat rows.txt)"
[ "$(awk 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "llm") at = i } NR > 1 { print $at, $(at + 1) }' rows.txt | sort -u | wc -l)" -eq 20 ] ||
    fail "rows are of fewer than 20 fronts: $(cat rows.txt)"
tr '\n' ' ' <said.txt | grep -q "20 of [0-9,]* points are shown, knees and extremes of $groups fronts first; all: dse pareto sram.db" || fail "$(cat said.txt)"
[ "$("$DSE" pareto sram.db --format csv 2>/dev/null | wc -l)" -eq $((points + 1)) ] || fail "the command does not show all"

# With as much room as there are points nothing is picked; with room for knees and extremes they are all there.
cat >few.toml <<'TOML'
[sweep]
name = "few"
models = ["lad"]
[params]
draws = "profile"
intervals = 5
context = [1024, 2048]
tiles = { from = 1, to = 32, step = 1 }
sram_mib = [0.75, 1, 2, 4]
[quality]
exact = false
trust = "unknown" # of published-fit nobody knows what it loses
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
per = ["context"]
TOML
"$DSE" sweep few.toml --no-figures >rows.txt 2>said.txt
front=$(sqlite3 results/few.db 'select count(*) from front')
[ "$front" -gt 20 ] || fail "a front of $front points fits"
for at in 1024 2048; do
    for want in "max(tokens_per_s)" "min(area_mm2)"; do
        tiles=$(sqlite3 results/few.db "select tiles from (select tiles, $want from lad_front where context = $at)")
        awk -v at=$at -v tiles="$tiles" 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "context") c = i - NF; if ($i == "tiles") t = i - NF } }
            NR > 1 && $(NF + c) == at && $(NF + t) == tiles { found = 1 } END { exit !found }' rows.txt || fail "$want at $at, $tiles tiles, is not shown: $(cat rows.txt)"
    done
    grep -c knee rows.txt | grep -q '^2$' || fail "not a knee each: $(cat rows.txt)"
done
sed -i 's/step = 1 }/step = 8 }/' few.toml
"$DSE" sweep few.toml --no-figures -o small.db >rows.txt 2>said.txt
grep -q 'shows' rows.txt && fail "a front that fits is picked from: $(cat rows.txt)"
grep -q 'are shown' said.txt && fail "$(cat said.txt)"
# A higher terminal shows more.
for rows in 24 60; do
    script -qefc "stty cols 200 rows $rows; $DSE sweep $source/sweeps/lad_sram.toml --no-figures -o sram.db" /dev/null </dev/null | grep -c 'knee' >rows$rows.txt
done
[ "$(cat rows60.txt)" -gt "$(cat rows24.txt)" ] || fail "$(cat rows24.txt) and $(cat rows60.txt) knees on terminals of 24 and 60 lines"
