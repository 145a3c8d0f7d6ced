#!/bin/sh
# Needs: chromium npm-report
# A report is one page of bounded size that asks no network; its numbers are those of dse, and a browser finds its parts alive. Nothing of a hostile database runs in
# it. What cannot be reported is refused.
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
[quality]
exact = false
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

numbers() { # NAME COMMANDS: the page of results/NAME.db against what dse says
    node "$SOURCE/tests/report/rows.mjs" "$DSE" "results/$1.db" "results/$1.html" "$2" >numbers.txt 2>&1 || fail "$1.html: $(tail -3 numbers.txt)"
}
in_browser() { # NAME
    node "$SOURCE/tests/report/browser.mjs" "$SOURCE/report/node_modules/playwright-core" "results/$1.html" >browser.txt 2>&1 ||
        fail "$1.html in a browser: $(tail -3 browser.txt)"
}

# Several models, with entries of the sweep's own; a mix of requests; a refined run.
for shipped in edge_shootout cloud_shootout edge_requests; do
    "$DSE" sweep "$SOURCE/sweeps/$shipped.toml" -q >front.txt
    "$DSE" report "results/$shipped.db" >said.txt 2>err.txt
    grep -q warning err.txt && fail "$shipped: $(cat err.txt)"
    numbers "$shipped" 6
done
# The last one's weights have four bits, which sentences about equal quality count as exact.
grep -q '^With exact attention, .* This rests on formats of fewer bits counted as exact\.' said.txt || fail "formats count as nothing: $(cat said.txt)"
grep -q '^[1-9][0-9]* of' numbers.txt && fail "means over requests have parts"
cat >refined.toml <<'TOML'
# Where do events differ?
[sweep]
name = "refined"
models = ["lad"]
fidelity = "refine"
[params]
llm = "opt-2.7b"
context = 256
layers_simulated = 1
tiles = [1, 2]
batch = 2
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
TOML
"$DSE" sweep refined.toml -q >front.txt
"$DSE" report results/refined.db 2>/dev/null
numbers refined 2
grep -q 'fidelity event-level' results/refined.html || fail "the command of a row at event level is one of the closed form"
sed -e 's/"lad"\]/"lad", "veda"]/; s/^sram_mib.*//; s/^tiles.*/bandwidth_gbs = [256, 512, 1024]\n[params.lad]\nsram_mib = 4/' -e 's/"small"/"two"/' small.toml >two.toml
"$DSE" sweep two.toml -q >front.txt
"$DSE" report results/two.db 2>/dev/null

numbers small 4
numbers two 4

# Who cannot be compared, and what they lack; and who is equal.
tells() { # NAME WHAT-THE-REPORT-SAYS SQL
    cp results/two.db "results/$1.db"
    sqlite3 "results/$1.db" "$3; delete from digest; update run set digests = null"
    "$DSE" report "results/$1.db" >said.txt 2>/dev/null
    [ "$(grep -c "^$2\.\( They differ in .*\.\)\{0,1\}$" said.txt)" = 1 ] || fail "$1: $(cat said.txt)"
}
lacks() { # NAME WHAT SQL
    tells "$1" "lad and veda cannot be compared in Area .*: $2" "$3"
}
lacks unmeasured 'no scenario has designs of both whose attention_error is known' "update veda_all set attention_error = null, quality = 'unknown'"
lacks wrong 'no scenario has designs of both whose attention_error is at most 0.1' "update lad_all set attention_error = 0; update veda_all set attention_error = 1.5"
lacks free 'no scenario has a value above 0 for designs of both whose attention_error is at most 0.1' "update lad_all set attention_error = 0; update veda_all set attention_error = 0.1, area_mm2 = null"
areas() { # OF-LLAMA OF-OPT, LAD's over VEDA's
    echo "update lad_all set attention_error = 0, quality = 'exact', beyond = null, area_mm2 = iif(context > 2048, 1, iif(llm = 'llama2-7b', $1, $2)); update veda_all set attention_error = 0, quality = 'exact', beyond = null, area_mm2 = 1"
}
rests='an attention error of at most 0.1, lad and veda are equal in Area .*(1x to 1x over 12 scenarios)'
errors() { # QUALITY BEYOND, of both
    echo "$(areas 1 1); update lad_all set attention_error = 0.1, quality = '$1', beyond = $2; update veda_all set attention_error = 0.1, quality = '$1', beyond = $2"
}
tells equal 'With exact attention, lad and veda are equal in Area .*(1x to 1x over 12 scenarios)' "$(areas 1 1)"
tells equal_on_the_mean 'With exact attention, lad and veda are equal on the mean in Area .*(0.5x to 2x over 12 scenarios)' "$(areas 0.5 2)"
tells measured "At $rests" "$(errors measured null)"
tells extended "At $rests. This rests on errors extended beyond what was measured" "$(errors extended "'quality is extended beyond'")"
tells other_llm "At $rests. This rests on errors measured on another LLM" "$(errors other-llm null)"
tells both "At $rests. This rests on errors extended beyond what was measured and errors measured on another LLM" "$(errors other-llm "'quality is extended beyond'")"
lacks elsewhere 'no scenario has feasible designs of both' "update veda_all set context = context + 1"
for page in small two edge_shootout; do in_browser "$page"; done

# An older run of an edited sweep has a page of its own numbers.
sed 's/to = 4096/to = 2048/' small.toml >edited.toml
"$DSE" sweep edited.toml -q -o results/small.db >front.txt
"$DSE" report results/small.db -r 1 -o results/older.html 2>/dev/null
cp results/small.db results/older.db
numbers older 4
grep -q '"id":1,' results/older.html || fail "-r 1 is another run"

# Names of a catalog of one's own: without it the page lacks parts and commands, and it is said why.
cat >mine.toml <<'TOML'
[llms.mine]
source = "made up"
layers = 4
hidden = 512
heads = 4
kv_heads = 4
head_dim = 128
ffn = 1024
ffn_matrices = 3
vocab = 1000
embedding_tables = 2
max_context = 4096
TOML
sed -e 's/"opt-6.7b"/"mine"/; s/"small"/"own"/' small.toml >own.toml
"$DSE" sweep own.toml -q -c mine.toml >front.txt
"$DSE" report results/own.db 2>err.txt
grep -q 'cannot be read again.*mine.*--catalog' err.txt || fail "nothing is said of a name that is not known: $(cat err.txt)"
"$DSE" report results/own.db -c mine.toml 2>err.txt
grep -q warning err.txt && fail "with its catalog: $(cat err.txt)"
numbers own 4
grep -q 'catalog mine.toml' results/own.html || fail "the command does not name the catalog"

# Every place where a name or a text of a database can stand.
E="<img/src=x/onerror=window.pwned=1>PWNED</script><script>window.pwned=1</script>"
cat >evil.toml <<TOML
# $E is asked here
[sweep]
name = "evil"
models = ["lad", "veda"]
[params]
area = "core"
context = { from = 512, to = 4096, step = 512 }
llm = ["llama2-7b", "opt-6.7b"]
[params.lad]
tiles = [1, 2, 6]
sram_mib = [1, 2.5]
[params.veda]
pe_copies = [1, 2, 4]
eviction = ["none", "voting"]
[constraints]
area = "area_mm2 < 9"
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
TOML
"$DSE" sweep evil.toml -q >front.txt
for model in lad veda; do
    echo "alter table ${model}_all rename column tokens_per_s to 'a$E'; alter table ${model}_all rename column context to 'c$E';
          alter table ${model}_fixed rename column context to 'c$E'; update ${model}_all set llm = '$E' || llm, bound = '$E' || bound, reason = '$E' || reason;"
done >evil.sql
for renamed in "lad tiles $E" "lad sram_mib __proto__" "veda eviction constructor"; do
    set -- $renamed
    echo "alter table $1_all rename column $2 to '$3'; alter table $1_fixed rename column $2 to '$3'; update run set axes = replace(axes, '$2', '$3');"
done >>evil.sql
cat >>evil.sql <<SQL
update column_info set column_name = 'a$E' where column_name = 'tokens_per_s';
update column_info set unit = '$E' || unit, doc = '$E' || doc;
alter table run add column 'k$E' text;
update run set sweep = '$E', "k$E" = '$E', host = '$E', objectives = 'max a$E, min area_mm2 per c$E', axes = replace(axes, 'context', 'c$E'),
    notices = json_array(json_object('kind', '$E', 'text', '$E'), json_object('kind', 'axis-end', 'text', '$E'));
alter table veda_all rename to 'v${E}_all';
alter table veda_fixed rename to 'v${E}_fixed';
update front set model = 'v$E' where model = 'veda';
update block set model = 'v$E' where model = 'veda';
delete from digest;
update run set digests = null;
SQL
sqlite3 results/evil.db <evil.sql
"$DSE" report results/evil.db 2>/dev/null
node "$SOURCE/tests/report/hostile.mjs" "$SOURCE/report/node_modules/playwright-core" results/evil.html PWNED >browser.txt 2>&1 ||
    fail "a hostile database: $(tail -3 browser.txt)"


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
sqlite3 aimless.db "update run set objectives = ''; delete from digest; update run set digests = null"
refused 'has no objectives' aimless.db
sed -e 's/"small"/"nothing"/' small.toml >nothing.toml
printf '[constraints]\narea = "area_mm2 < 0"\n' >>nothing.toml
"$DSE" sweep nothing.toml -q >/dev/null
refused 'no feasible point' results/nothing.db
cp results/small.db half.db
sqlite3 half.db "update run set status = 'interrupted'; delete from digest; update run set digests = null"
refused 'is not done (interrupted)' half.db
if "$DSE" report results/small.db -o /nowhere/never.html 2>err.txt; then fail "a page in a folder that is not there"; fi
