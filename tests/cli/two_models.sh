#!/bin/sh
# Two models of different parameters in one sweep, beside a baseline: what is printed, stored and shown.
. "$(dirname "$0")/lib.sh"
export DSE_DATA_DIR="$2/tests/unit/toy"
says() { grep -qe "$1" "$2" || fail "\"$1\" is not in $2: $(cat "$2")"; }
gives() { # SQL EXPECTED
    got=$(sqlite3 two.db "$1")
    [ "$got" = "$2" ] || fail "$1: \"$got\" instead of \"$2\""
}
cat >s.toml <<'TOML'
# Which of two toys?
[sweep]
name = "two"
models = ["toy", "pebble"]
[params]
context = [256, 1024]
[params.toy]
tiles = { from = 1, to = 8, step = 1 }
sram_mib = [0.3, 2]
[params.pebble]
lanes = { from = 100, to = 1000, step = 100 }
[constraints]
small = "area_mm2 <= 80"
few = "tiles <= 6"
[derive]
density = "tokens_per_s / area_mm2"
per_tile = "tokens_per_s / tiles"
[baseline]
model = "pebble"
lanes = 60
batch = 4
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
per = ["context"]
TOML

"$DSE" sweep s.toml --dry-run >dry.txt
says 'compared with the baseline at the same llm, context$' dry.txt
says 'the constraint few does not apply' dry.txt
says 'the derived column per_tile has no value' dry.txt
says '^baseline: pebble: batch=4, lanes=60$' dry.txt

"$DSE" sweep s.toml -o two.db >front.txt 2>said.txt
[ "$(grep -c warning said.txt)" -eq 0 ] || fail "warnings: $(cat said.txt)"
cat >expected.txt <<'TEXT'
model  tokens_per_s area_mm2 speedup energy_ratio context design
pebble       163487       75       5            5     256 lanes=300
pebble       108991       50   3.333        3.333     256 lanes=200
pebble        54496       25   1.667        1.667     256 lanes=100
toy           19436    1.725  0.5944                  256 tiles=1 sram_mib=0.3
pebble       114441       75       5            5    1024 lanes=300
pebble        76294       50   3.333        3.333    1024 lanes=200
pebble        38147       25   1.667        1.667    1024 lanes=100
toy           18782    1.725  0.8206                 1024 tiles=1 sram_mib=0.3
TEXT
diff -u expected.txt front.txt || fail "another front"
# Other formats, which programs read, have a column for each axis.
"$DSE" pareto two.db --format csv >front.csv 2>said.txt
[ "$(head -n 1 front.csv)" = '"model","tokens_per_s","area_mm2","speedup","energy_ratio","context","tiles","sram_mib","lanes"' ] ||
    fail "columns of the CSV: $(head -n 1 front.csv)"
[ "$(grep -c '^"toy",.*,,$' front.csv)" -eq 0 ] || fail "toy lost its axes"
# Of one model, what the others have does not matter.
"$DSE" pareto two.db --model toy >toy.txt 2>said.txt
head -n 1 toy.txt | grep -q 'energy_ratio tiles sram_mib context$' || fail "axes of toy: $(head -n 1 toy.txt)"
says 'front: 8 points' said.txt
"$DSE" pareto two.db --max speedup --min latency_ratio --per context >other.txt 2>said.txt
[ "$(grep -c '^pebble' other.txt)" -eq 2 ] || fail "the front under other objectives: $(cat other.txt)"

gives "select model, count(*), sum(status = 'ok'), count(speedup), count(energy_ratio), count(per_tile) from comparison group by 1" \
    'pebble|20|6|20|20|0
toy|32|16|20|0|20'
gives "select count(*), count(distinct model) from comparison_front" '8|2'
gives "select baseline from run" 'pebble: batch=4, lanes=60'
gives "select count(*) from comparison c join pebble p using (point) where c.model = 'pebble' and c.speedup is not p.speedup" 0
gives "select direction from column_info where table_name = 'toy' and column_name = 'latency_ratio'" -1

# An objective that has no value in a model keeps its points off the front, and says so.
sed 's/^area_mm2 = "min"/energy_mj = "min"/; s/"two"/"three"/' s.toml >three.toml
"$DSE" sweep three.toml -o three.db >front.txt 2>said.txt
says 'three.toml:24:1: warning: energy_mj has no value in model toy: none of its points is on the front' said.txt
[ "$(grep -c '^toy' front.txt)" -eq 0 ] || fail "toy is on the front: $(cat front.txt)"

# Means over requests: the two models side by side have no one context, and say what they are means over.
sed '/^context = /d; /^per = /d; s/"two"/"served"/' s.toml >served.toml
printf '[requests]\nmix = { mine = 1, short = 3 }\n[catalog.requests.mine]\nsource = "me"\nprompt_median = 400\nprompt_p90 = 400\n' >>served.toml
printf 'generate_median = 30\ngenerate_p90 = 30\nmax_tokens = 1000\n' >>served.toml
"$DSE" sweep served.toml --dry-run >dry.txt
says 'compared with the baseline at the same llm$' dry.txt
says '^requests: mine 0.25, short 0.75: 9 requests a row, in the mean 109 + 11 tokens, the longest 400 + 30, the shortest 4 + 5$' dry.txt
"$DSE" sweep served.toml -q -o served.db >front.txt 2>said.txt
sed 's/"served"/"briefly"/; s/^mix = .*/mix = "short"/' served.toml >briefly.toml
"$DSE" sweep briefly.toml -q -o briefly.db >/dev/null 2>said.txt
rm two.db
"$DSE" merge two.db served.db briefly.db 2>said.txt
gives "select model, requests, count(*), count(context), count(prompt), count(generate), count(speedup) from comparison group by 1, 2" \
    'pebble|mine 0.25, short 0.75|10|0|0|0|10
pebble|short|10|0|0|0|10
toy|mine 0.25, short 0.75|16|0|0|0|10
toy|short|16|0|0|0|10'
# Longer requests are slower, and what is stored of a run is of its own requests.
gives "select min(a.tokens_per_s < b.tokens_per_s), count(*) from comparison a join comparison b using (model, point)
    where a.requests = 'mine 0.25, short 0.75' and b.requests = 'short' and a.status = 'ok' and b.status = 'ok'" '1|11'
gives "select count(*) from comparison c join run r on r.id = c.run where r.requests not like c.requests || ': %'" 0
gives "select distinct doc from column_info where column_name = 'requests'" 'mix of requests that the metrics are the mean over, with its shares'
