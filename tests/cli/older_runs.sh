#!/bin/sh
# Needs: npm-report
# An edited sweep leaves its earlier run in the file. Every command that reads takes -r, and shows that run as it was the newest.
. "$(dirname "$0")/lib.sh"
for tiles in '1, 2, 4' '3, 6, 8, 10'; do
    cat >s.toml <<TOML
[sweep]
name = "s"
models = ["lad", "veda"]
[params]
context = [1024, 4096]
[params.lad]
tiles = [$tiles]
[params.veda]
pe_rows = [32, 64]
[quality]
exact = false
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
TOML
    "$DSE" sweep s.toml -q -o s.db >front.txt 2>&1 || fail "the sweep: $(cat front.txt)"
    [ -e old.db ] || cp s.db old.db
done
[ "$(sqlite3 s.db 'select max(id) from run')" = 2 ] || fail "the edited sweep is no second run"

# What the file said when the run was its only one, and what -r 1 says now, after a second: the same, to the last byte.
same() { # COMMAND [OPTION]...: DSE COMMAND DB OPTION...
    command=$1
    shift
    "$DSE" "$command" old.db "$@" >then.txt 2>then.err || fail "$command old.db $*: $(cat then.err)"
    "$DSE" "$command" s.db "$@" -r 1 >now.txt 2>now.err || fail "$command s.db $* -r 1: $(cat now.err)"
    [ -s then.txt ] || fail "$command old.db $* says nothing"
    cmp then.txt now.txt || fail "$command $*: -r 1 is not what run 1 was"
    cmp then.err now.err || fail "$command $*: -r 1 says otherwise what it found: $(cat now.err)"
}
same pareto --format csv
same pareto --format csv -m lad
same pareto --format csv --max tokens_per_s --min energy_mj --per context
for view in lad lad_front veda veda_front comparison comparison_front; do
    same query "select count(*), min(run), max(run), sum(latency_us), min(context) from $view" --format csv
done
same query 'select * from lad' --format csv
# The newest is what it is without -r, and run 2 is the newest.
"$DSE" pareto s.db --format csv >newest.txt 2>&1
"$DSE" pareto s.db --format csv -r 2 >now.txt 2>&1
cmp newest.txt now.txt || fail "-r 2 is not the newest run"
if cmp -s newest.txt then.txt; then fail "both runs have one front"; fi

# A page has its rows, a figure its points.
"$DSE" report s.db -r 1 -o page.html 2>err.txt || fail "report -r 1: $(cat err.txt)"
rows=$(sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>.*/\1/p' page.html >data.json &&
    sqlite3 :memory: "select json_array_length(readfile('data.json'), '$.front.rows')")
[ "$rows" = "$(sqlite3 s.db 'select count(*) from front where run = 1')" ] || fail "the page of run 1 has $rows rows of its front"
cat >f.toml <<'TOML'
[figure]
title = "t"
kind = "scatter"
sql = "select tiles, tokens_per_s from lad where context = 1024 order by 1"
x = "tiles"
y = "tokens_per_s"
TOML
"$DSE" plot f.toml s.db -r 1 -o f.svg --data f.csv 2>err.txt || fail "plot -r 1: $(cat err.txt)"
[ "$(sed 1d f.csv | cut -d, -f1 | tr '\n' ' ')" = '1 2 4 ' ] || fail "plot -r 1 drew $(cat f.csv)"

# A newest run that did not end does not hide the one that did.
sqlite3 s.db "update run set status = 'interrupted' where id = 2; delete from digest; update run set digests = null"
"$DSE" pareto s.db --format csv >now.txt 2>/dev/null
"$DSE" pareto old.db --format csv >then.txt 2>/dev/null
cmp then.txt now.txt || fail "the newest run that is done is not shown when a newer one is not"
"$DSE" pareto s.db -r 2 >now.txt 2>err.txt
grep -q 'run 2 is not done (interrupted)' err.txt || fail "nothing is said of a run that is not done: $(cat err.txt)"

for command in pareto report "query s.db -r 3" ; do
    case $command in
    query*) set -- query s.db 'select 1' -r 3 ;;
    *) set -- "$command" s.db -r 3 ;;
    esac
    if "$DSE" "$@" >now.txt 2>err.txt; then fail "$*: there is no run 3"; fi
    grep -q 'has no run 3; its runs are 1 to 2' err.txt || fail "$*: $(cat err.txt)"
done
