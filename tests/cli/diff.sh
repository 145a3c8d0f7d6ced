#!/bin/sh
# dse diff: what changed between two runs, and whether each cause is given its own.
. "$(dirname "$0")/lib.sh"
SOURCE=$2

# A sweep of 120 points over two catalog names.
cat >s.toml <<'TOML'
[sweep]
name = "s"
models = ["lad"]
[params]
llm = ["llama2-7b", "llama3-8b"]
context = { from = 512, to = 2048, step = 512 }
tiles = { from = 2, to = 16, step = 1 }
[quality]
exact = false
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
TOML
"$DSE" sweep s.toml -q -o a.db >/dev/null

differs() { # STATUS DB DB OPTION...: standard output goes to out
    want=$1
    shift
    status=0
    "$DSE" diff "$@" >out 2>err || status=$?
    [ "$status" -eq "$want" ] || fail "exit status $status where $want was due: diff $*: $(cat out err | head -20)"
}
has() { tr -d '"' <out | grep -q -- "$1" || fail "\"$1\" is not in: $(cat out)"; }
# "CAUSE WHAT" of every cause, once.
causes() {
    differs 1 "$@" --show why --format csv
    sed 1d out | tr -d '"' | cut -d, -f2,3 | sort -u
}

# The same, in itself and with its points in another order, and in a run of the same file.
differs 0 a.db a.db
has '120 matched by llm, context, tiles, of which 0 changed'
sed 's/^context = .*/context = [1536, 512, 2048, 1024]/; s/"llama2-7b", "llama3-8b"/"llama3-8b", "llama2-7b"/' s.toml >order.toml
"$DSE" sweep order.toml -q -o order.db >/dev/null
differs 0 a.db order.db
has '120 matched'
cp a.db two.db
"$DSE" sweep s.toml -q -o two.db --fresh >/dev/null 2>&1
differs 0 two.db:1 two.db:2

# The sweep: a number it gives, fewer points.
sed 's/^\[params\]/[params]\nclock_ghz = 1.25/; s/to = 16/to = 14/' s.toml >sweep.toml
"$DSE" sweep sweep.toml -q -o sweep.db >/dev/null
[ "$(causes a.db sweep.db)" = 'sweep,clock_ghz 1 -> 1.25' ] || fail "causes: $(cat out)"
differs 1 a.db sweep.db
has '120 rows in A, 104 in B; 104 matched'
has '^tokens_per_s'
differs 1 a.db sweep.db --show rows --format csv
[ "$(sed 1d out | wc -l)" -eq 104 ] || fail "changed rows: $(wc -l <out)"

# Fronts: a design that only one sweep has.
sed 's/from = 2, to = 16/from = 1, to = 16/' s.toml >wider.toml
"$DSE" sweep wider.toml -q -o wider.db >/dev/null
differs 1 a.db wider.db --show front --format csv
has '^lad,gained,.*tiles=1$'

# A constant: a default of another file of the model; a catalog: an entry that says other things.
for f in one constant narrow; do
    mkdir "of_$f"
    { printf '[defaults]\ncontext = 1024\nweight_bits = 16\n' && cat "$SOURCE/examples/array.toml"; } >"of_$f/array.toml"
done
sed -i 's/^context *= *1024/context = 1025/' of_constant/array.toml
sed -i 's/^weight_bits *= *16/weight_bits = 8/' of_narrow/array.toml
export DSE_PLUGINS="$PWD/of_one/array.toml"
printf '[sweep]\nname = "f"\nmodels = ["array"]\nfidelity = "closed-form"\n[params]\nbatch = [1, 2]\n[objectives]\ntokens_per_s = "max"\n' >f.toml
"$DSE" sweep f.toml -q -o f.db >/dev/null
DSE_PLUGINS=$PWD/of_constant/array.toml "$DSE" sweep f.toml -q -o constant.db >/dev/null
[ "$(causes f.db constant.db)" = 'constant,context 1024 -> 1025' ] || fail "causes: $(cat out)"
data() { # NAME: a data directory whose models and catalog can be changed
    mkdir "$1" "$1/models" "$1/catalog"
    ln -s "$SOURCE/models/shared.toml" "$1/models/"
    for f in "$SOURCE"/catalog/*; do ln -s "$f" "$1/catalog/"; done
    for f in "$SOURCE"/models/*/; do
        mkdir "$1/models/$(basename "$f")"
        cp "$f"/*.toml "$f"/*.csv "$1/models/$(basename "$f")/" 2>/dev/null || true
    done
}
data catalog
rm catalog/catalog/llms.toml catalog/catalog/memories.toml
awk '/^\[llama3-8b\]/ { on = 1 } on && /^layers/ { sub(/32/, "30"); on = 0 } { print }' "$SOURCE/catalog/llms.toml" >catalog/catalog/llms.toml
awk '/^\[hbm2-5cube\]/ { on = 1 } on && /^channel_gbs/ { sub(/19.2/, "20"); on = 0 } { print }' "$SOURCE/catalog/memories.toml" >catalog/catalog/memories.toml
! cmp -s catalog/catalog/llms.toml "$SOURCE/catalog/llms.toml" || fail "the LLM was not changed"
! cmp -s catalog/catalog/memories.toml "$SOURCE/catalog/memories.toml" || fail "the memory was not changed"
DSE_DATA_DIR=$PWD/catalog "$DSE" sweep s.toml -q -o catalog.db >/dev/null
causes a.db catalog.db >found
grep -q '^catalog,llm llama3-8b: layers 32 -> 30$' found || fail "causes: $(cat found)"
grep -q '^catalog,memory hbm2-5cube: channel_gbs 19.2 -> 20$' found || fail "causes: $(cat found)"
! grep -qE '^(code|constant|sweep)' found || fail "causes: $(cat found)"

# The code: a number that the parameters do not give. The same of two causes at once.
cp sweep.db code.db
sqlite3 code.db "update lad_all set energy_mj = energy_mj * 1.5 where tiles = 4; delete from digest; update run set digests = null"
causes sweep.db code.db >found
grep -q '^code,dse ' found && [ "$(wc -l <found)" -eq 1 ] || fail "causes: $(cat found)"
differs 1 sweep.db code.db --show columns --format csv
has '^lad,energy_mj,mJ,8,0,0[.]5'
[ "$(sed 1d out | wc -l)" -eq 1 ] || fail "one column changed: $(cat out)"
causes a.db code.db >found
grep -q '^code,dse ' found && grep -q '^sweep,clock_ghz 1 -> 1.25$' found || fail "causes: $(cat found)"
differs 1 a.db code.db --show why --format csv
! tr -d '"' <out | grep '^lad,code,' | grep -v ',energy_mj,' || fail "code moves more than the energy: $(cat out)"

# Tolerances.
differs 0 sweep.db code.db --rel 0.5
differs 1 sweep.db code.db --rel 0.3
differs 0 sweep.db code.db --rel energy_mj=0.5
differs 1 sweep.db code.db --rel 1 --rel energy_mj=1e-6
differs 2 sweep.db code.db --rel nothing=1
grep -q 'have no column "nothing"' err || fail "$(cat err)"
differs 2 sweep.db code.db --rel -1

# Another binary: what it makes of the same sweep.
printf '#!/bin/sh\nDSE_PLUGINS=%s exec "%s" "$@"\n' "$PWD/of_constant/array.toml" "$DSE" >other
chmod +x other
[ "$(causes f.toml --with ./other)" = 'constant,context 1024 -> 1025' ] || fail "causes: $(cat out)"
[ "$(causes f.db --with ./other)" = 'constant,context 1024 -> 1025' ] || fail "causes: $(cat out)"
differs 2 a.db --with ./missing
differs 2 a.db
differs 2 a.db missing.db
differs 2 a.db:7 a.db

# Requests, event level, JSON that is one.
cp f.toml chat.toml
printf '[requests]\nmix = "chat"\npoints = 4\n' >>chat.toml
"$DSE" sweep chat.toml -q -o chat.db >/dev/null
DSE_PLUGINS=$PWD/of_narrow/array.toml "$DSE" sweep chat.toml -q -o chat2.db >/dev/null
[ "$(causes chat.db chat2.db)" = 'constant,weight_bits 16 -> 8' ] || fail "causes: $(cat out)"
differs 1 a.db code.db --format json
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys
d = json.load(open("out"))
assert d["differ"] and d["models"][0]["changed"] == 104, d["models"]
assert {w["cause"] for w in d["why"]} == {"code", "sweep"}, d["why"]' || fail "the JSON is another"
fi

# A parameter that stands still in both and moves nothing is told; it is no difference.
sed 's/^\[params\]/[params]\nsinks = 5/' s.toml >idle.toml
"$DSE" sweep idle.toml -q -o idle.db >/dev/null 2>&1
differs 0 a.db idle.db
has 'fixed parameters that differ: sinks 4 -> 5; no row changes because of them'
differs 0 a.db idle.db --format json
has 'inputs: \[{name: sinks, a: 4, b: 5}\]'

# What is infinite, or more than a number can say, is not "from 0"; a change from 0 is.
cp a.db infinite.db
sqlite3 infinite.db "update lad_all set latency_us = 9e999 where point = 3; delete from digest; update run set digests = null"
differs 1 a.db infinite.db --causes 0
has '^latency_us .*[0-9] *inf'
differs 1 infinite.db a.db --causes 0
has '^latency_us .*inf *[0-9]'
cp a.db small.db
cp a.db large.db
sqlite3 small.db "update lad_all set latency_us = 1e-300 where point = 3; delete from digest; update run set digests = null"
sqlite3 large.db "update lad_all set latency_us = 1e300 where point = 3; delete from digest; update run set digests = null"
differs 1 small.db large.db --causes 0
has '^latency_us .*+1e+292 %'
sqlite3 small.db "update lad_all set latency_us = 0 where point = 3; delete from digest; update run set digests = null"
for pair in "a.db infinite.db" "infinite.db a.db" "a.db large.db"; do
    # shellcheck disable=SC2086
    differs 1 $pair
    if grep -q 'from 0' out; then fail "$pair: from 0: $(cat out)"; fi
done
differs 1 small.db large.db --causes 0
has '^latency_us .*from 0'

# A hostile database says nothing to the terminal.
cp a.db hostile.db
sqlite3 hostile.db "update run set version = char(27) || '[2Jred', git_commit = char(155) || '31m', started = char(7), shard = char(27) || ']0;title'; delete from digest; update run set digests = null"
differs 0 a.db hostile.db:1
if LC_ALL=C grep -q "$(printf '[\033\007]')" out || LC_ALL=C grep -q "$(printf '\302\233')" out; then fail "escape sequences: $(od -c out | head)"; fi
has 'dse ?\[2Jred (?31m)'

# A signal takes away what --with has made so far, and the other binary.
mkdir tmp
printf '#!/bin/sh\necho $$ >pid.new; mv pid.new pid; : >"$5"; exec sleep 100\n' >slow
chmod +x slow
for signal in TERM HUP; do
    rm -f pid
    TMPDIR=$PWD/tmp env --default-signal="$signal" "$DSE" diff a.db --with ./slow >out 2>err & # under nohup, HUP is ignored
    dse=$!
    until [ -s pid ]; do kill -0 $dse 2>/dev/null || fail "diff ended: $(cat err)"; sleep 0.05; done
    kill -s "$signal" $dse
    wait $dse 2>/dev/null && fail "a diff that was ended by $signal is said to be well"
    [ -z "$(ls tmp)" ] || fail "$signal leaves $(ls tmp/*) behind"
    if kill -0 "$(cat pid)" 2>/dev/null; then fail "$signal leaves the other binary behind"; fi
done
