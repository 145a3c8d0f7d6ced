#!/bin/sh
# Budgets of quality: what is over is a row and on no front, what nobody measured has a front of its own, each of several budgets has its front, and
# searches, streams, `dse front` and `dse pareto` follow. Every front is compared with one that SQL finds among the rows.
. "$(dirname "$0")/lib.sh"
sweep() { # NAME BUDGET [SECTIONS]
    cat >"$1.toml" <<TOML
# What may a cache leave out?
[sweep]
name = "$1"
models = ["veda", "flashdecoding"]
[params]
llm = "llama2-7b"
context = 1024
weight_bits = 8
[params.veda]
capacity_gib = 24
boundary = "streamed"
bandwidth_gbs = [100, 400]
eviction = ["none", "voting", "h2o", "window"]
eviction_ratio = [0.1, 0.2, 0.3, 0.5, 0.8]
quality_from = "surface"
threshold_a = [1, 3.3]
[params.flashdecoding]
gpu = "rtx-4090"
[objectives]
tokens_per_s = "max"
energy_mj = "min"
${3:-}
$2
TOML
}
# The rows of a set that no row of it dominates, as model and point; $2 is SQL about a row of `comparison`.
by_hand() { # DB CONDITION
    sqlite3 "$1" "with c as materialized (select model, point, tokens_per_s as t, energy_mj as e from comparison where status = 'ok' and ($2))
        select model, point from c where not exists (select 1 from c d where d.t >= c.t and d.e <= c.e and (d.t > c.t or d.e < c.e)) order by 1, 2"
}
same() { # WHAT DB TABLE CONDITION
    by_hand "$2" "$4" >expected.txt
    sqlite3 "$2" "select model, point from $3 order by 1, 2" >found.txt
    cmp -s expected.txt found.txt || fail "$1: $(diff expected.txt found.txt)"
    [ "${5:-some}" = none ] || [ -s found.txt ] || fail "$1: the front is empty"
}

# Nobody names a budget: a tenth.
sweep default ""
"$DSE" sweep default.toml >out.txt 2>said.txt || fail "$(cat said.txt)"
grep -q 'note: the sweep sets no quality budget.*attention_error 0.1.*rows lose more; rows whose loss nobody measured' said.txt || fail "$(cat said.txt)"
grep -q 'within attention_error 0.1 (default)$' said.txt || fail "the goal does not say its budget: $(cat said.txt)"
grep -q '^A separate front of points whose loss nobody measured' out.txt || fail "no heading of its own: $(cat out.txt)"
same "the default" results/default.db front "attention_error <= 0.1"
same "the unknown" results/default.db "(select * from budget_front where budget = 'unknown')" "attention_error is null"
[ "$(sqlite3 results/default.db "select count(*) from veda where (reason = 'over budget') <> (attention_error > 0.1)")" = 0 ] || fail "not what is over 0.1 is over budget"
[ "$(sqlite3 results/default.db "select count(*) from veda where reason = 'over budget' and status = 'infeasible'")" -gt 0 ] || fail "nothing is over"
[ "$(sqlite3 results/default.db "select count(*) from veda where quality = 'unknown' and status = 'ok'")" -gt 0 ] || fail "nothing is unknown"
"$DSE" check results/default.db >/dev/null || fail "check"

# Several.
sweep several '[quality]
attention_error = [0.03, 0.3, 0.1, 0.01]'
"$DSE" sweep several.toml >out.txt 2>said.txt || fail "$(cat said.txt)"
same "the loosest" results/several.db front "attention_error <= 0.3"
for b in 0.3 0.1 0.03 0.01; do same "$b" results/several.db "(select * from budget_front where budget = '$b')" "attention_error <= $b"; done
"$DSE" pareto results/several.db --front 0.03 --format csv >front.csv 2>said.txt || fail "$(cat said.txt)"
[ "$(($(wc -l <front.csv) - 1))" = "$(sqlite3 results/several.db "select count(*) from budget_front where budget = '0.03'")" ] || fail "pareto --front 0.03"
"$DSE" pareto results/several.db --front unknown --format csv 2>/dev/null | cut -d, -f1 | grep -q veda || fail "pareto --front unknown"
"$DSE" pareto results/several.db --front 0.03 --max tokens_per_s --min energy_mj --format csv >again.csv 2>said.txt || fail "$(cat said.txt)"
cmp -s front.csv again.csv || fail "stored and computed: $(diff front.csv again.csv)"
"$DSE" pareto results/several.db --front 0.2 >out.txt 2>said.txt && fail "a front of a budget that there is not"
grep -q 'no front "0.2"' said.txt || fail "$(cat said.txt)"

# Least of a metric, whatever is known, and trust.
sweep mass '[quality]
retained_mass = 0.9'
"$DSE" sweep mass.toml --no-figures >out.txt 2>said.txt || fail "$(cat said.txt)"
same "mass" results/mass.db front "retained_mass >= 0.9 or model = 'flashdecoding'"
sweep known '[quality]
attention_error = inf'
"$DSE" sweep known.toml --no-figures >out.txt 2>said.txt || fail "$(cat said.txt)"
same "whatever is known" results/known.db front "attention_error is not null"
sweep trusted '[quality]
attention_error = inf
trust = "rounded"'
"$DSE" sweep trusted.toml --no-figures >out.txt 2>said.txt || fail "$(cat said.txt)"
same "trust" results/trusted.db front "quality in ('exact', 'rounded')"
[ "$(sqlite3 results/trusted.db "select count(*) from budget_front")" = 0 ] || fail "what is unknown is not trusted"
[ "$(sqlite3 results/trusted.db "select count(distinct reason) from veda where reason like 'over budget: quality is %'")" -ge 2 ] || fail "no reason for what is not trusted"

# What keeps a part of its rows, and searches.
sed 's/^name = .*/&\nkeep = "front"/; s/"several"/"streamed"/' several.toml >streamed.toml
"$DSE" sweep streamed.toml >out.txt 2>said.txt || fail "$(cat said.txt)"
sqlite3 results/streamed.db "select budget, model, point from budget_front order by 1, 2, 3" >streamed.txt
sqlite3 results/several.db "select budget, model, point from budget_front order by 1, 2, 3" >several.txt
cmp -s streamed.txt several.txt || fail "keep = front: $(diff streamed.txt several.txt)"
sweep exact '[quality]
attention_error = 0.1'
"$DSE" sweep exact.toml >/dev/null 2>said.txt || fail "$(cat said.txt)"
"$DSE" front exact.toml -o certified.db --certificate >out.txt 2>said.txt || fail "$(cat said.txt)"
"$DSE" check-front certified.db >out.txt 2>said.txt || fail "$(cat said.txt)"
for db in results/exact.db certified.db; do sqlite3 $db "select distinct tokens_per_s, energy_mj from comparison_front order by 1, 2" >"$(basename $db).txt"; done
cmp -s exact.db.txt certified.db.txt || fail "dse front: $(diff exact.db.txt certified.db.txt)"
[ "$(sqlite3 certified.db "select count(*) from comparison_front where attention_error > 0.1 or attention_error is null")" = 0 ] || fail "dse front is over budget"
sweep local '[quality]
attention_error = 0.1
[search]
method = "local"
seed = 1'
"$DSE" sweep local.toml >out.txt 2>said.txt || fail "$(cat said.txt)"
[ "$(sqlite3 results/local.db "select count(*) from comparison_front where attention_error > 0.1 or attention_error is null")" = 0 ] || fail "a search is over budget"

# Parts of a sweep, merged, and all of it again.
for k in 1 2 3; do "$DSE" sweep several.toml --shard $k/3 -o part$k.db >/dev/null 2>said.txt || fail "$(cat said.txt)"; done
"$DSE" merge merged.db part1.db part2.db part3.db >/dev/null 2>said.txt || fail "$(cat said.txt)"
sqlite3 merged.db "select budget, model, point from budget_front order by 1, 2, 3" >merged.txt
cmp -s merged.txt several.txt || fail "merged: $(diff merged.txt several.txt)"
"$DSE" merge copied.db results/several.db >/dev/null 2>said.txt || fail "$(cat said.txt)"
sqlite3 copied.db "select budget, model, point from budget_front order by 1, 2, 3" >merged.txt
cmp -s merged.txt several.txt || fail "copied: $(diff merged.txt several.txt)"
"$DSE" check merged.db >/dev/null || fail "check of what was merged"

# A baseline that no front would have.
cat >base.toml <<'TOML'
[sweep]
name = "base"
models = ["veda"]
[params]
pe_copies = [1, 2]
[baseline]
model = "veda"
boundary = "bulk"
[objectives]
speedup = "max"
TOML
"$DSE" sweep base.toml >out.txt 2>said.txt || fail "$(cat said.txt)"
grep -q 'warning: the baseline would be on no front: it loses more than the sweep' said.txt || fail "$(cat said.txt)"
# A front that nobody can have: figures are no error, and a search says what it means.
cat >empty.toml <<'TOML'
[sweep]
name = "empty"
models = ["veda"]
[params]
pe_copies = [1, 2]
boundary = "bulk"
[quality]
exact = false
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
[figures]
files = ["f.toml"]
TOML
printf '[figure]\ntitle = "f"\nkind = "scatter"\nsql = "select tokens_per_s, area_mm2 from veda_front"\nx = "tokens_per_s"\ny = "area_mm2"\n' >f.toml
"$DSE" sweep empty.toml >out.txt 2>said.txt || fail "$(cat said.txt)"
grep -q 'its figures are not drawn: the front is empty' said.txt || fail "$(cat said.txt)"
"$DSE" front empty.toml -o exact_empty.db >out.txt 2>said.txt || fail "$(cat said.txt)"
grep -q 'figure f is not drawn: its query has no rows here' said.txt || fail "a figure of no rows: $(cat said.txt)"
grep -q 'certain: no feasible point of this lattice is known to stay within the quality budget' said.txt || fail "$(cat said.txt)"
