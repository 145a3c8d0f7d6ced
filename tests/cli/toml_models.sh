#!/bin/sh
# Models without C: a file in TOML, asked through every command and in a sweep beside a model of dse; from DSE_PLUGINS, and installed.
SOURCE=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
says() { grep -qe "$1" "$2" || fail "\"$1\" is not in $2: $(head -n 20 "$2")"; }
cp "$SOURCE/examples/array.toml" .
with() { "$DSE" --plugin ./array.toml "$@"; }

"$DSE" test-model array.toml >out.txt 2>err.txt || fail "the model of the example does not hold: $(cat out.txt err.txt)"
[ "$(grep -c '^array .* ok ' out.txt)" -eq 11 ] || fail "test-model: $(cat out.txt)"
with list models >out.txt
says '^array .*closed-form' out.txt
with describe array machine >out.txt
says 'pe_w .* power of a multiplier at work' out.txt
with eval array --breakdown >out.txt
says '^ffn_down .* dram' out.txt
with eval array --equations >out.txt
says '^peak_ops_per_s  *8.192e+12' out.txt
with complete -- eval array --set pe >out.txt
says '^pes=' out.txt
with eval array --set capacity_gib=0.5 >out.txt 2>err.txt
says '13.05 GiB needed, 0.5 GiB available' err.txt

# The page of the manual builds the example, in 40 lines.
sed -n '/^## Claims$/q; /^```toml$/,/^```$/p' "$SOURCE/docs/reference/model-in-toml.md" | grep -v '^```' >page.toml
[ "$(wc -l <page.toml)" -le 40 ] || fail "the model of docs/reference/model-in-toml.md has $(wc -l <page.toml) lines"
grep -v '^#' array.toml | grep . | diff - page.toml || fail "docs/reference/model-in-toml.md builds another model than examples/array.toml"
[ "$(with query :memory: "SELECT count(*), sum(status = 'ok') FROM array WHERE batch BETWEEN 1 AND 4" --format csv | tail -n 1)" = 4,4 ] || fail "dse query"

cat >beside.toml <<'TOML'
# Is LAD faster than a plain array on its own memory?
[sweep]
name = "beside"
models = ["lad", "array"]
[params]
context = [1024, 2048]
memory = "hbm2-5cube"
[params.array]
pes = { from = 1024, to = 65536, points = 13, scale = "log" }
[objectives]
tokens_per_s = "max"
energy_mj = "min"
TOML
DSE_PLUGINS="$WORK/array.toml" "$DSE" sweep beside.toml -q -o beside.db >out.txt 2>err.txt || fail "the sweep: $(cat err.txt)"
[ "$(sqlite3 beside.db 'select count(*) from array')" = 26 ] || fail "rows are missing"
[ "$(sqlite3 beside.db 'select count(*) from comparison where model = "array"')" = 26 ] || fail "the comparison lacks it"
with sweep beside.toml -q -j 1 -o one.db >out.txt 2>err.txt || fail "the sweep on one thread: $(cat err.txt)"
[ "$(rows beside.db array)" = "$(rows one.db array)" ] || fail "rows depend on the threads"

# Machines by their data sheets: those of today's LLMs without a line of C. A step streams its bytes, of all chips at once.
"$DSE" test-model "$SOURCE/examples/data_sheet.toml" >out.txt 2>err.txt || fail "data sheets do not hold: $(cat out.txt err.txt)"
tpu() { "$DSE" --plugin "$SOURCE/examples/data_sheet.toml" eval data_sheet --format csv --set llm=gpt-oss-20b --set weight_bits=4 --set context=4096 "$@"; }
tpu >tpu.csv
[ "$(sqlite3 :memory: '.mode csv' '.import tpu.csv t' '.mode list' "select abs(dram_mib * 1.048576 / 819 * tokens_per_s / 1000 - 1) < 0.02 and bound = 'dram' from t")" = 1 ] || fail "the TPU: $(cat tpu.csv)"

# Loops: groups of attention read what the operators read; a loop whose elements need the sum of another.
sed '/^busy_share/a kv_mib = { is = "sum(for group in attention: group.layers * group.sequences * group.positions * (group.key_bytes + group.value_bytes))", doc = "read" }\
by_op_mib = { is = "sum(for op in operators: op.kv_read_bytes)", doc = "the same" }\
largest_share = { is = "most(for op in linear: op.time_s / linear_s)", doc = "of a linear layer" }\
all_shares = { is = "sum(for op in linear: op.time_s / linear_s)", doc = "1" }\
named = { is = "sum(for op in linear: op.name == \x27lm_head\x27 ? op.ops : op.is_draft ? 1 : 0)", doc = "by name" }\
by_role = { is = "sum(for op in linear: op.role == \x27output-head\x27 ? op.ops : 0)", doc = "by role" }\
heads = { is = "least(for op in linear: op.name == \x27lm_head\x27 ? 0 : op.repeat)", doc = "layers" }' array.toml |
    sed '/^step_s/a linear_s = "sum(for op in linear: op.time_s)"' | sed '/^\[for.linear\]/,/^$/d' >loops.toml
sed -n '/^\[for.operators\]/,/^$/p' array.toml | sed 's/operators/linear/' >>loops.toml
for llm in llama2-7b llama3-8b; do
    "$DSE" --plugin ./loops.toml query :memory: "SELECT kv_mib = by_op_mib, kv_mib > 0, all_shares, heads, largest_share < 1, named = by_role FROM array WHERE llm = '$llm'" --format csv >out.txt 2>err.txt || fail "loops: $(cat err.txt)"
    [ "$(tail -n 1 out.txt)" = 1,1,1,0,1,1 ] || fail "loops of $llm: $(cat out.txt)"
done

# The page's forms of choices, in a file that the example includes: found from any folder, and no other file than when it was loaded.
mkdir -p shared/common
sed -n '/^## Ranges/,/^## Files/p' "$SOURCE/docs/reference/model-in-toml.md" | sed -n '/^```toml$/,/^```$/p' | grep -v '^```' >shared/common/choices.toml
{ echo 'include = ["common/choices.toml"]' && cat array.toml; } >shared/chooses.toml
"$DSE" --plugin shared/chooses.toml eval array --equations --set context=600 >out.txt 2>err.txt || fail "choices: $(cat err.txt)"
for line in 'tile  *2 ' 'fill_us  *5 us' 'splits  *18 ' 'split_at  *51.33 ' 'square  *64 ' 'slower  *0.5 '; do says "^$line" out.txt; done
"$DSE" --plugin shared/chooses.toml --plugin ./shared/chooses.toml list models >out.txt 2>err.txt || fail "the same files twice: $(cat err.txt)"
"$DSE" --plugin shared/chooses.toml --plugin shared/common/choices.toml list models >out.txt 2>err.txt && fail "a shared file is a model"
says 'choices.toml:1:1: error: the file has no .model.' err.txt

# Published numbers beside it.
mkdir array
cat >array/claims.csv <<'CSV'
id,system,paper,location,quantity,value,value_hi,unit,conditions,kind,modelable,how,split
array.speed,array,the page,none,tokens a second,18.6,,1/s,,derived,yes,,holdout
CSV
cat >array/claims.toml <<'TOML'
[machines.plain]
model = "array"
[claims."array.speed"]
value = "plain.tokens_per_s"
unit = "1/s"
TOML
with validate array >out.txt || fail "validate"
says '^array.speed 18.6 .*exact' out.txt
# Or in it, as the page has it, with the digits of the number.
sed -n '/^## Claims$/,/^## L/p' "$SOURCE/docs/reference/model-in-toml.md" | sed -n '/^```toml$/,/^```$/p' | grep -v '^```' | sed 's/= 18.6 /= 18.60 /' | cat array.toml - >claiming.toml
"$DSE" --plugin ./claiming.toml validate array >out.txt || fail "validate of claims in the file"
says '^speed  *18.60 .*held out' out.txt
if sed 's/plain.tokens/plain.toucans/' claiming.toml >wrong.toml && "$DSE" --plugin ./wrong.toml validate array >out.txt 2>err.txt; then fail "a claim of nothing"; fi
says 'wrong.toml:[0-9]*:13: error: array has no parameter, metric or equation "toucans_per_s"' err.txt

# In the folder of the models, the library and SQL.
mkdir data data/models
for f in "$SOURCE"/*; do
    case $f in */models) ;; *) ln -s "$f" data/ ;; esac
done
for f in "$SOURCE"/models/*; do ln -s "$f" data/models/; done
cp array.toml data/models/
DSE_DATA_DIR=$WORK/data "$DSE" list models >out.txt
says '^array .*closed-form' out.txt
echo 'broken' >data/models/other.toml
DSE_DATA_DIR=$WORK/data "$DSE" list models >out.txt 2>err.txt || fail "a broken model in the folder stops dse"
says 'other.toml: warning: left out' err.txt
rm data/models/other.toml

# Chips that work together are all paid for: as the degrees of parallelism say, or a model that says less does not hold.
sed -e 's/^uses .*/uses = ["workload", "memory", "economics"]\ncan = ["parallel"]/' -e 's/^\[step\]/[step]\ndie = "100 [mm2]"\nnode = "7 [nm]"/' \
    -e '/^busy_share/d' "$SOURCE/examples/array.toml" >paid.toml
usd() { "$DSE" --plugin ./paid.toml eval array --set tensor_parallel="$1" --format csv | sqlite3 :memory: '.mode csv' '.import /dev/stdin t' "select round(system_usd, 6) from t"; }
[ "$(sqlite3 :memory: "select abs($(usd 4) / $(usd 1) - 4) < 0.1")" = 1 ] || fail "four chips cost $(usd 4) and one $(usd 1)"
"$DSE" test-model ./paid.toml >out.txt 2>err.txt || fail "priced chips: $(cat out.txt err.txt)"
sed 's/^die = /chips = "1"\ndie = /' paid.toml >free.toml
if "$DSE" test-model ./free.toml >out.txt 2>err.txt; then fail "three of four chips for nothing"; fi
grep -q 'not all are paid for' out.txt err.txt || fail "free chips: $(cat out.txt err.txt)"

# Beside a model that may lose something, an exact one without the metric loses nothing: a query with a budget finds both.
cat >beside.toml <<'TOML'
[sweep]
name   = "beside"
models = ["array", "lad"]
[params]
llm   = "opt-2.7b"
batch = 1
[objectives]
tokens_per_s = "max"
TOML
with sweep beside.toml -q --no-figures >out.txt 2>err.txt || fail "$(cat err.txt)"
with query results/beside.db "select model || ' ' || count(*) from comparison where status = 'ok' and attention_error <= 0.1 group by model" --format csv >out.txt
says 'array 1' out.txt
says 'lad [12]' out.txt
