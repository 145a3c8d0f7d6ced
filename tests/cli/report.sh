#!/bin/sh
# A report is one page of bounded size that asks no network; a browser finds its parts alive. What cannot be reported is refused.
. "$(dirname "$0")/lib.sh"
SOURCE=$2

cat >small.toml <<'TOML'
# Does the page tell <b>"what"</b> & why?
[sweep]
name = "small"
models = ["lad"]
[params]
context = { from = 512, to = 4096, step = 512 }
llm = ["llama2-7b", "opt-6.7b"]
tiles = { from = 1, to = 12, step = 1 }
sram_mib = { from = 1, to = 4, step = 0.25 }
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
TOML
"$DSE" sweep small.toml -q >front.txt
"$DSE" report results/small.db 2>/dev/null
[ "$(wc -c <results/small.html)" -lt 5000000 ] || fail "the page has $(wc -c <results/small.html) bytes"
[ "$(grep -c 'https\{0,1\}://[^"]*\.js' results/small.html)" -eq 0 ] || fail "the page loads a script from somewhere"
sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>.*/\1/p' results/small.html >data.json
[ "$(sqlite3 :memory: "select json_valid(readfile('data.json'))")" = 1 ] || fail "the data of the page are no JSON"
[ "$(sqlite3 :memory: "select json_array_length(readfile('data.json'), '$.front.rows')")" = "$(count results/small.db lad_front)" ] ||
    fail "the front is not whole"

# Several models, a mix of requests, a refined run: each has a page.
sed -e 's/"lad"\]/"lad", "veda"]/; s/^sram_mib.*//; s/^tiles.*/bandwidth_gbs = [256, 512, 1024]/' -e 's/"small"/"two"/' small.toml >two.toml
"$DSE" sweep two.toml -q >front.txt
"$DSE" report results/two.db 2>/dev/null

for page in small two; do
    node "$SOURCE/tests/report/browser.mjs" "$SOURCE/report/node_modules/playwright-core" "results/$page.html" >browser.txt 2>&1 ||
        fail "$page.html in a browser: $(tail -3 browser.txt)"
done

# What cannot be reported.
refused() { # WHAT-IT-SAYS ARGUMENTS...
    want=$1
    shift
    if "$DSE" report "$@" -o never.html 2>err.txt; then fail "a report of $*"; fi
    grep -q -- "$want" err.txt || fail "\"$want\" is not in: $(cat err.txt)"
    [ ! -e never.html ] || fail "a page was left behind: $*"
}
refused 'cannot be opened' none.db
echo text >text.db
refused 'not a SQLite database' text.db
sqlite3 other.db 'create table t(x)'
refused 'not one of dse' other.db
refused 'has no run 7' results/small.db --run 7
cp results/small.db aimless.db
sqlite3 aimless.db "update run set objectives = ''"
refused 'has no objectives' aimless.db
sed -e 's/"small"/"nothing"/' small.toml >nothing.toml
printf '[constraints]\narea = "area_mm2 < 0"\n' >>nothing.toml
"$DSE" sweep nothing.toml -q >/dev/null
refused 'no feasible point' results/nothing.db
cp results/small.db half.db
sqlite3 half.db "update run set status = 'interrupted'"
refused 'is not done (interrupted)' half.db
if "$DSE" report results/small.db -o /nowhere/never.html 2>err.txt; then fail "a page in a folder that is not there"; fi
