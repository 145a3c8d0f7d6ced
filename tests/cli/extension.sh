#!/bin/sh
# The models in SQL: the extension in sqlite3, in Python and in R, and the same tables in `dse query`, say what `dse eval` and `dse sweep` say.
SOURCE=$(cd "$2" && pwd) BUILD=$3
. "$(dirname "$0")/lib.sh"
. "$SOURCE/tests/cli/library.lib"
export LC_ALL=C
install_into "$WORK/root"
extension=$lib/dse.so
[ -s "$extension" ] || fail "the extension is not installed"
[ "$(nm -D --defined-only "$extension" | grep -c ' [TDBR] ')" -eq 1 ] || fail "the extension exports more than its entry"

# `.load dse` finds it where libraries are; its data, beside it.
ask() { in_host sqlite3 -batch -csv -cmd '.load dse' :memory: "$1"; }
plain() { tr -d '"' | sed 's/\.0\([],]\|$\)/\1/g'; } # sqlite3 and dse query quote differently
answers() { # WHAT QUERY EXPECTED: by the extension and by dse query
    expected=$(printf '%s\n' "$3" | plain)
    ask "$2" >there.txt 2>&1 || true
    "$DSE" query :memory: "$2" --format csv 2>&1 | tail -n +2 >here.txt
    [ "$(plain <there.txt)" = "$expected" ] || fail "$1: sqlite3 says $(head -n 9 there.txt), not $expected"
    [ "$(plain <here.txt)" = "$expected" ] || fail "$1: dse query says $(head -n 9 here.txt), not $expected"
}
refuses() { # WHAT QUERY MESSAGE
    if ask "$2" >out.txt 2>err.txt; then fail "$1 was not refused: $(head -n 3 out.txt)"; fi
    grep -q "$3" err.txt || fail "$1: $(cat err.txt)"
}

answers 'a value, in the order of the list' "SELECT tiles, context FROM lad WHERE tiles IN (12, 4, 8) AND context = 2048" '4,2048
8,2048
12,2048'
answers 'ranges, cut to the range of the parameter' "SELECT group_concat(tiles) FROM (SELECT tiles FROM lad WHERE tiles > 2.5 AND tiles <= 5) UNION ALL
    SELECT count(*) FROM lad WHERE tiles < 4 UNION ALL SELECT count(*) FROM lad WHERE tiles BETWEEN 9 AND 4 UNION ALL SELECT count(*) FROM lad WHERE tiles > 1e300" '"3,4,5"
3
0
0'
answers 'a table that gives values, on either side' "WITH c(n) AS (VALUES (512), (1024)) SELECT n, context FROM lad, c WHERE context = n" '512,512
1024,1024'
answers 'two models joined by what they share' "SELECT context, lad.tokens_per_s > veda.tokens_per_s FROM lad JOIN veda USING (context) WHERE context IN (512, 1024)" '512,1
1024,1'
answers 'infeasible and invalid points are rows' "SELECT tiles, capacity_gib, status, reason IS NULL, tokens_per_s IS NULL FROM lad WHERE capacity_gib IN (1, 1024) AND tiles IN (8, 4.5, 'x') ORDER BY +tiles, +capacity_gib" \
    '4.5,1.0,invalid,0,1
4.5,1024.0,invalid,0,1
8,1.0,infeasible,0,1
8,1024.0,ok,1,0
x,1.0,invalid,0,1
x,1024.0,invalid,0,1'
answers 'why' "SELECT DISTINCT reason FROM lad WHERE llm = 'lama'" '"llm: no such name: `dse list llms`"'
answers 'names and choices that SQLite chooses from' "SELECT llm FROM lad WHERE llm LIKE 'opt-_.7b' ORDER BY 1" 'opt-2.7b
opt-6.7b'
answers 'what a name sets, and what the query sets itself' "SELECT memory, channels FROM lad WHERE memory IN ('hbm2-5cube', 'hbm2-a100-40gb') AND channels = 7" 'hbm2-5cube,7
hbm2-a100-40gb,7'
answers 'NULL is equal to nothing' "SELECT count(*) FROM lad WHERE tiles IN (NULL, 8)" 1
answers 'a row is the same row in every scan' "SELECT tiles FROM lad WHERE tiles = 4 OR tiles = 6" '4
6'
answers 'metrics choose among the points' "SELECT count(*) = (SELECT sum(tokens_per_s > 500) FROM lad WHERE tiles BETWEEN 1 AND 16) FROM lad WHERE tiles BETWEEN 1 AND 16 AND tokens_per_s > 500" 1
answers 'both fidelities' "SELECT fidelity, tokens_per_s > 0 FROM lad WHERE fidelity IN ('closed-form', 'event-level') AND context = 512 AND llm = 'opt-2.7b'" 'closed-form,1
event-level,1'
answers 'a parameter that nobody speaks of' "SELECT pipeline IS NOT NULL, sram_mib > 0 FROM lad" 1,1
refuses 'a trillion points' 'SELECT count(*) FROM lad WHERE tiles > 0 AND context > 0 AND batch > 0' '17,592,186,044,416 points (batch 65,536 x context 1,048,576 x tiles 256), and the limit is 10,000,000: bound context (BETWEEN'
answers 'more points, when they are wanted' 'SELECT count(*) FROM lad WHERE context > 0 AND tiles < 21 AND max_points = 3e7' 20971520
refuses 'a range of no whole number' 'SELECT 1 FROM lad WHERE sram_mib BETWEEN 1 AND 2' 'sram_mib is no whole number, and a range of it has no end of values: sram_mib IN'
refuses 'another fidelity' "SELECT 1 FROM lad WHERE fidelity = 'exact'" 'there is no fidelity "exact": closed-form, event-level'
refuses 'parameters that exclude each other' "SELECT 1 FROM lad WHERE channel_gbs = 100 AND bandwidth_gbs = 100" 'cannot both be given'

# Fronts. Volume: the union of [0, 3] x [1, 9] and [0, 5] x [4, 9] is 24 + 25 - 15.
points="(SELECT column1 x, column2 y FROM (VALUES (3, 1), (5, 4), (2, 2), (5, 4), (NULL, 0), (5, NULL)))"
answers 'a front and its volume' "SELECT pareto('max,min', x, y), hypervolume('max,min', x, y, 0, 9) FROM $points" '"[[3,1],[5,4],[5,4]]",34.0'
answers 'of nothing' "SELECT pareto('max', x), hypervolume('max', x, 0) FROM $points WHERE x > 9" '[],0.0'
answers 'as windows' "SELECT x, hypervolume('max', x, 0) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM (SELECT value x FROM json_each('[1,4,2]'))" '1,1.0
2,2.0
4,4.0'
answers 'rows of a front' "SELECT nr, row ->> 'x', row ->> 'y' FROM pareto('SELECT x, y FROM $points', 'max x, min y')" '1,3,1
2,5,4
3,5,4'
refuses 'objectives of no column' "SELECT * FROM pareto('SELECT 1 AS a', 'max b')" 'the query has no column "b"'
refuses 'objectives without a direction' "SELECT * FROM pareto('SELECT 1 AS a', 'a')" '"a" is no objective'
refuses 'a front of something that writes' "SELECT * FROM pareto('CREATE TABLE t(x)', 'max x')" 'one SELECT'
refuses 'no directions' "SELECT hypervolume(1, 2)" 'no list of up to 16 directions'
refuses 'too few numbers' "SELECT hypervolume('max,min', 1, 2, 3)" '2 directions need as many numbers'

# Row for row what a sweep stores, in its own database.
cat >swept.toml <<'TOML'
# Is SQL the sweep?
[sweep]
name = "swept"
models = ["lad", "veda"]
[params]
llm = ["llama2-7b", "opt-2.7b"]
context = [512, 4096, 65536]
[params.lad]
tiles = [4, 8]
memory = ["hbm2-5cube", "hbm2-a100-40gb"]
[quality]
exact = false
[objectives]
tokens_per_s = "max"
TOML
"$DSE" sweep swept.toml -q -o swept.db >/dev/null 2>err.txt || fail "the sweep: $(cat err.txt)"
same="count(*), sum(s.status = m.status AND s.tokens_per_s IS m.tokens_per_s AND s.energy_mj IS m.energy_mj AND s.area_mm2 IS m.area_mm2
    AND s.reason IS m.reason AND s.quality IS m.quality AND s.bandwidth_gbs IS m.bandwidth_gbs)"
[ "$("$DSE" query swept.db "SELECT $same FROM lad s JOIN lad_model m USING (llm, context, tiles, memory)" --format csv | tail -n 1)" = 24,24 ] ||
    fail "SQL and a sweep of lad differ: $("$DSE" query swept.db "SELECT $same FROM lad s JOIN lad_model m USING (llm, context, tiles, memory)")"
[ "$("$DSE" query swept.db "SELECT count(*), sum(s.status = m.status AND s.tokens_per_s IS m.tokens_per_s) FROM veda s JOIN veda_model m USING (llm, context)" --format csv |
    tail -n 1)" = 6,6 ] || fail "SQL and a sweep of veda differ"

# Elsewhere.
python=$(python_with_extensions)
if [ -n "$python" ]; then
    DSE_EXTENSION=$extension in_host "$python" "$SOURCE/examples/front.py" 2048 >front.txt || fail "examples/front.py: $(cat front.txt)"
    awk 'NR > 1 && $1 ~ /^[0-9]+$/ { rows++; bad += $3 < speed || $4 <= area; speed = $3; area = $4 } END { exit !(rows > 5 && !bad) }' front.txt ||
        fail "no front: $(cat front.txt)"
else
    echo "skipped: Python, for there is none whose sqlite3 loads extensions"
fi
if command -v Rscript >/dev/null 2>&1 && Rscript -e 'library(RSQLite)' >/dev/null 2>&1; then
    in_host Rscript -e "library(RSQLite); d <- dbConnect(SQLite(), loadable.extensions = TRUE); invisible(dbGetQuery(d, \"SELECT load_extension('$extension')\"));
        stopifnot(nrow(dbGetQuery(d, 'SELECT tokens_per_s FROM lad WHERE tiles IN (4, 8)')) == 2)" || fail "R"
else
    echo "skipped: R, for there is none with RSQLite"
fi
