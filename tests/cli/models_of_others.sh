#!/bin/sh
# What a model or a query of others can have in it: many parameters, a step without time, numbers that are infinite, limits that make no sense.
SOURCE=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
says() { grep -qe "$1" "$2" || fail "\"$1\" is not in $2: $(head -n 20 "$2")"; }

# 1,500 parameters are a model like others, through its database.
awk '{ print } /^pe_w/ { for (i = 0; i < 1500; i++) printf "p%d = { default = 1, range = [0, 10], doc = \"x\" }\n", i }' "$SOURCE/examples/array.toml" >wide.toml
cat >wide_sweep.toml <<'TOML'
# Is a wide table a table?
[sweep]
name = "wide"
models = ["array"]
[params]
context = [1024, 2048]
[objectives]
tokens_per_s = "max"
TOML
"$DSE" --plugin ./wide.toml sweep wide_sweep.toml -q -o wide.db >out.txt 2>err.txt || fail "1,500 parameters: $(cat err.txt)"
"$DSE" check wide.db >out.txt 2>&1 || fail "dse check calls a good database wrong: $(cat out.txt)"
[ "$("$DSE" --plugin ./wide.toml query wide.db 'select sum(p1499) from array' --format csv | tail -n 1)" = 2 ] || fail "the last parameter"
{ sed -n '1,/^pe_w/p' wide.toml; awk 'BEGIN { for (i = 0; i < 300; i++) printf "q%d = { default = 1, range = [0, 10], doc = \"x\" }\n", i }'; sed '1,/^pe_w/d' wide.toml; } >wider.toml
if "$DSE" --plugin ./wider.toml list models >out.txt 2>err.txt; then fail "1,800 parameters"; fi
says 'parameters and metrics; at most 1,800' err.txt
{ echo '[sweep]'; echo 'name = "axes"'; echo 'models = ["array"]'; echo '[params]'; awk 'BEGIN { for (i = 0; i < 300; i++) printf "p%d = [1, 2]\n", i }'; printf '[objectives]\ntokens_per_s = "max"\n[sample]\npoints = 4\nmethod = "random"\nseed = 1\n'; } >axes.toml
if "$DSE" --plugin ./wide.toml sweep axes.toml -q -o axes.db >out.txt 2>err.txt; then fail "300 axes"; fi
says 'model array has 300 axes in the sweep; at most 256' err.txt

# A model just below its limits is loaded, in no time.
awk 'BEGIN { s = "1"; for (i = 0; i < 300; i++) s = s "+pes*" i } { print } /^peak_ops_per_s/ { for (i = 1; i < 36; i++) printf "e%d = \"%s\"\n", i, s }' "$SOURCE/examples/array.toml" |
    sed 's/^time  *= "step_s"/time = "step_s + 0 [s] * (e1 + e2 + e3 + e34 + e35)"/' >large.toml
(ulimit -t 20 && exec "$DSE" --plugin ./large.toml eval array) >out.txt 2>err.txt || fail "a large model: $(cat err.txt)"

# A step that takes no time has an infinite rate, which is said.
sed 's/^time  *= "step_s"/time = "step_s * 0"/' "$SOURCE/examples/array.toml" >zero.toml
if "$DSE" --plugin ./zero.toml eval array >out.txt 2>err.txt; then fail "a step without time"; fi
says 'a bug in model array: tokens_per_s is inf' err.txt
[ "$(wc -l <err.txt)" -eq 1 ] || fail "more than that: $(cat err.txt)"
sed 's/^time  *= "step_s"/tokens = "0"\n&/' "$SOURCE/examples/array.toml" >none.toml
if "$DSE" --plugin ./none.toml eval array >out.txt 2>err.txt; then fail "a step without tokens"; fi
[ "$(wc -l <err.txt)" -eq 1 ] || fail "more than that: $(cat err.txt)"

# So are peaks of 0, and chips without end.
for said in 'peak_ops = "0 [Hz]"' 'peak_bytes = "0 [B/s]"' 'chips = "inf"' 'ops = "-inf"'; do
    sed "/^${said%% *} /d; s|^\\[step\\]|&\\n$said|" "$SOURCE/examples/array.toml" >zero.toml
    "$DSE" --plugin ./zero.toml eval array --breakdown >out.txt 2>err.txt || [ $? -eq 1 ] || fail "$said: $(cat err.txt)"
    if grep -q 'runtime error\|Sanitizer' err.txt; then fail "$said: $(cat err.txt)"; fi
done

# Infinity is printed as such, and is on no front.
infinite="select 9e999 as most, -9e999 as least, null as none, 1.5 as number"
"$DSE" query :memory: "$infinite" >out.txt
says '^ *inf  *-inf  *1.5$' out.txt
[ "$("$DSE" query :memory: "$infinite" --format csv | tail -n 1)" = inf,-inf,,1.5 ] || fail "csv: $("$DSE" query :memory: "$infinite" --format csv)"
"$DSE" query :memory: "$infinite" --format json >out.txt
says '"most": 1e999, "least": -1e999, "none": null' out.txt
[ "$("$DSE" query :memory: "select * from pareto('select 9e999 as x, 1 as y union all select 2, 2', 'max x, min y')" --format csv | tail -n 1)" = '1,"{""x"":2,""y"":2}"' ] ||
    fail "the front: $("$DSE" query :memory: "select * from pareto('select 9e999 as x, 1 as y union all select 2, 2', 'max x, min y')" --format csv)"

# Limits of a query that make no sense are told as they are.
for limit in -1 -9e999 "'x'" null; do
    if "$DSE" query :memory: "select count(*) from lad where context in (1024, 2048) and max_points = $limit" >out.txt 2>err.txt; then [ "$limit" = null ] || fail "max_points = $limit"; fi
done
"$DSE" query :memory: "select count(*) from lad where context in (1024, 2048) and max_points = -1" >out.txt 2>err.txt || true
says 'the query asks for 2 points (context 2), and the limit is -1' err.txt
