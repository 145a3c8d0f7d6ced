#!/bin/sh
# What no front shows is said, on the terminal and in the report: models and names of which nothing is feasible, with the reasons, and rows that are
# NULL in an objective. `dse pareto` with other objectives keeps the run's fronts apart.
SOURCE=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
cat >s.toml <<'TOML'
# Which GPU?
[sweep]
name = "gpus"
models = ["flashdecoding", "veda"]
[params]
llm = "llama2-70b"
context = [512, 1024]
[params.flashdecoding]
gpu = ["a100-80gb", "h100", "rtx-4090"]
weight_bits = 4
batch = [1, 2]
[params.veda]
capacity_gib = 1
[constraints]
power = "power_w <= 600"
[quality]
exact = false
[objectives]
tokens_per_s = "max"
system_usd = "min"
per = ["context"]
TOML
"$DSE" sweep s.toml >front.txt 2>said.txt || fail "the sweep: $(cat said.txt)"
said() { grep -qE "$1" said.txt || fail "\"$1\" is not said: $(cat said.txt)"; }
said '^note: none of the 2 rows of veda is feasible, so no front has any of them: 2 of them: weights and KV cache do not fit'
said '^note: none of the 4 rows of flashdecoding with gpu = (h100|rtx-4090) is feasible, so no front has any of them: 4 of them: '
without=$(sqlite3 results/gpus.db "select count(*) from flashdecoding where status = 'ok' and system_usd is null")
if [ "$without" -gt 0 ]; then said "^note: no front has the $without feasible rows of flashdecoding without a value of system_usd"; fi
"$DSE" report results/gpus.db 2>/dev/null || fail "no report"
grep -q 'none of the 2 rows of veda is feasible' results/gpus.html || fail "the report does not say it"

# Nothing is left.
sed 's/600/1/; s/"gpus"/"none"/' s.toml >none.toml
"$DSE" sweep none.toml >front.txt 2>said.txt || fail "the sweep: $(cat said.txt)"
said '^note: none of the 12 rows of flashdecoding is feasible, so no front has any of them: .*constraint power: power_w <= 1'

# A board of the catalog without a price.
cat >p.toml <<'TOML'
# What costs a token?
[sweep]
name = "prices"
models = ["flashdecoding"]
[params]
gpu = ["a100-80gb", "h100-pcie"]
context = [512, 1024]
batch = [1, 4]
[catalog.gpus.h100-pcie]
source = "for this test: an H100 that has no price"
sms = 114
clock_ghz = 1.755
tensor_tflops = 756
vector_tflops = 51
bandwidth_gbs = 2000
capacity_gib = 80
l1_kib = 256
l2_mib = 50
l1_bytes = 128
board_power_w = 350
die_mm2 = 814
dram_pj_per_bit = 6
[quality]
exact = false
[objectives]
tokens_per_s = "max"
usd_per_mtoken = "min"
per = ["context"]
TOML
"$DSE" sweep p.toml >front.txt 2>said.txt || fail "the sweep: $(cat said.txt)"
said '^note: no front has the 4 feasible rows of flashdecoding without a value of usd_per_mtoken \(gpu = h100-pcie\)'

# Other objectives, the same fronts.
rows_of() { tail -n +2 "$1" | cut -d , -f "$2" | sort -u | wc -l; }
"$DSE" pareto results/prices.db --max tokens_per_s --min power_w --format csv >other.csv 2>said.txt
said '^front: [0-9]+ points, max tokens_per_s, min power_w per context within attention_error 0.1 \(default\), as in the run \(--per none: one front of all\)'
column=$(head -n 1 other.csv | tr , '\n' | grep -n '^"*context"*$' | cut -d : -f 1)
[ "$(rows_of other.csv "$column")" -eq 2 ] || fail "a front of one context: $(cat other.csv)"
"$DSE" pareto results/prices.db --max tokens_per_s --per none --format csv >one.csv 2>said.txt
[ "$(tail -n +2 one.csv | wc -l)" -eq 1 ] || fail "--per none: $(cat one.csv)"
"$DSE" pareto results/prices.db --max tokens_per_s --per batch --format csv >batch.csv 2>said.txt
[ "$(tail -n +2 batch.csv | wc -l)" -eq 2 ] || fail "--per batch: $(cat batch.csv)"
if "$DSE" pareto results/prices.db --max tokens_per_s --per none --per batch 2>err.txt; then fail "--per none and another"; fi
grep -q 'no other --per can stand beside it' err.txt || fail "$(cat err.txt)"
