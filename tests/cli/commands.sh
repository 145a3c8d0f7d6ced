#!/bin/sh
# Every command works from the tables alone and speaks all three formats; exit statuses are as promised.
. "$(dirname "$0")/lib.sh"
status_of() {
    status=0
    "$@" >out.txt 2>err.txt || status=$?
    echo $status
}
expect() { # STATUS COMMAND...
    want=$1
    shift
    got=$(status_of "$@")
    [ "$got" -eq "$want" ] || fail "exit status $got instead of $want: $*: $(cat err.txt)"
}
says() { grep -q -- "$1" "$2" || fail "\"$1\" is not in $2: $(cat "$2")"; }

expect 0 "$DSE" --version
expect 0 "$DSE" --help
expect 2 "$DSE"
expect 2 "$DSE" swep x.toml
says 'did you mean sweep' err.txt
for c in sweep eval query pareto plot describe list merge check validate calibrate trace measure; do
    expect 0 "$DSE" $c --help
    says "Usage: dse $c" out.txt
done
expect 2 "$DSE" sweep --frsh x.toml
says 'did you mean --fresh' err.txt
expect 2 "$DSE" sweep
expect 2 "$DSE" eval lad --set

expect 0 "$DSE" list
for kind in models llms memories technologies srams profiles sweeps figures; do
    for format in table csv json; do
        expect 0 "$DSE" list $kind --format $format
        [ "$(wc -l <out.txt)" -gt 1 ] || fail "list $kind $format is empty"
    done
done
expect 2 "$DSE" list lms
says 'did you mean llms' err.txt
for format in table csv json; do
    expect 0 "$DSE" describe lad --format $format
    says tiles out.txt
    expect 0 "$DSE" eval lad --set tiles=8 --set context=1024 --format $format
    says tokens_per_s out.txt
    expect 0 "$DSE" eval lad --breakdown --format $format
    says qkv out.txt
done
# A name is one thing: the breakdown's total is what eval says, whatever the tokens of a step.
column() { awk -F, -v want="$1" 'NR == 1 { gsub("\"", ""); for (i = 1; i <= NF; i++) if ($i == want) at = i } END { print $at }' "$2"; }
for of in "lad --set batch=12" "lad --set phase=prefill" "veda --set generate=64 --set prompt=128" "swiftkv" "flashdecoding --set batch=5" "ane" \
    "ane --fidelity event-level"; do
    # shellcheck disable=SC2086
    "$DSE" eval $of --format csv >eval.csv && "$DSE" eval $of --breakdown --format csv >parts.csv || fail "eval $of"
    grep -q '^"*total"*,-1,' parts.csv || fail "eval $of --breakdown has no total"
    for pair in latency_us:time_us dram_mib:dram_mib energy_mj:energy_mj; do
        awk -v a="$(column ${pair%:*} eval.csv)" -v b="$(column ${pair#*:} parts.csv)" \
            'BEGIN { d = a - b; exit !(a > 0 && (d < 0 ? -d : d) <= 1e-9 * a) }' ||
            fail "eval $of: ${pair%:*} is $(column ${pair%:*} eval.csv), the breakdown's total $(column ${pair#*:} parts.csv)"
    done
done
expect 0 "$DSE" eval lad --breakdown
says 'energy_mj a token' out.txt
expect 2 "$DSE" eval lad --set tile=8
says 'did you mean "tiles"' err.txt
expect 2 "$DSE" eval lad --set tiles=0
says 'below the minimum' err.txt
expect 2 "$DSE" eval lad --set bandwidth_gbs=-1555
expect 0 "$DSE" eval ane --fidelity event-level
expect 2 "$DSE" eval lad --fidelity exact
expect 2 "$DSE" eval ladd
says 'did you mean lad' err.txt
expect 2 "$DSE" eval lad --format xml

# The published numbers: every claim is a row, in columns that others rely on.
for format in table csv json; do
    expect 0 "$DSE" validate ane --format $format
    says ane.speedup out.txt
    expect 0 "$DSE" calibrate swiftkv --format $format
    says gemv_efficiency out.txt
done
expect 0 "$DSE" validate ane --format csv
[ "$(head -n 1 out.txt | tr -d '"')" = system,claim,location,kind,split,published,bound,modelled,unit,error_pct,verdict,constants,measured_on,class,null_model,null_error_pct,step ] ||
    fail "validate: the header is another: $(head -n 1 out.txt)"
[ "$(wc -l <out.txt)" -eq 20 ] || fail "validate: not 19 claims"
expect 0 "$DSE" validate ane --all
says 'ane.k_rows' out.txt
expect 0 "$DSE" calibrate ane
says 'has no constants that are fitted' out.txt
expect 2 "$DSE" calibrate
expect 2 "$DSE" validate lda
says 'did you mean lad' err.txt

# A point that cannot be built is an answer with its reason.
expect 0 "$DSE" eval lad --set llm=opt-2.7b --set context=4096 --format json
says infeasible out.txt

# JSON is JSON, CSV has as many cells a row as its header.
if command -v python3 >/dev/null 2>&1; then
    "$DSE" eval lad --format json | python3 -c 'import json,sys; assert json.load(sys.stdin)[0]["tiles"] > 0' || fail "eval: not JSON"
    "$DSE" describe lad --format csv | python3 -c 'import csv,sys; r=list(csv.reader(sys.stdin)); assert len(set(map(len, r))) == 1 and len(r) > 20' ||
        fail "describe: not CSV"
fi

cat >s.toml <<'TOML'
[sweep]
name = "small"
models = ["lad"]
[params]
area = "core"
tiles = [1, 2, 4]
context = [1024, 2048]
memory = ["hbm2-5cube", "hbm2-a100-40gb"]
[constraints]
small = "area_mm2 <= 10"
[quality]
exact = false
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
TOML
expect 0 "$DSE" sweep s.toml --dry-run
says '12 points' out.txt
[ ! -e results ] || fail "a dry run wrote something"
expect 0 "$DSE" sweep s.toml
says 'tokens_per_s' out.txt
[ "$(count results/small.db lad)" -eq 12 ] || fail "not 12 rows"
[ "$(sqlite3 results/small.db "select count(*) from lad where status = 'infeasible' and reason like 'constraint small%' and tokens_per_s > 0")" -eq 4 ] ||
    fail "the constraint's rows are not there"
# A catalog name on an axis varies what it sets, and the view has every parameter.
[ "$(sqlite3 results/small.db 'select count(distinct bandwidth_gbs) from lad')" -eq 2 ] || fail "memory does not set bandwidth_gbs"
[ "$(sqlite3 results/small.db 'select min(clock_ghz) from lad')" = 1.0 ] || fail "a fixed parameter is not in the view"
for format in table csv json; do
    expect 0 "$DSE" query results/small.db 'select tiles, max(tokens_per_s) as best from lad group by tiles' --format $format
    says best out.txt
    expect 0 "$DSE" pareto results/small.db --format $format
    expect 0 "$DSE" pareto results/small.db --max tokens_per_s --min power_w --format $format
    says power_w out.txt
done
expect 2 "$DSE" query results/small.db 'select tils from lad'
says 'no such column: tils' err.txt
expect 2 "$DSE" query results/small.db 'delete from lad_all'
[ "$(count results/small.db lad)" -eq 12 ] || fail "a query wrote to the database"
expect 2 "$DSE" pareto results/small.db --max tokens
# The trace that ships: shown in three formats; its values taken out and imported again are the same file.
trace=$2/catalog/traces/tinyllama.trace
for format in table csv json; do
    expect 0 "$DSE" trace info "$trace" --format $format
    says 7769353d856998a6 out.txt
done
tail -c +257 "$trace" | head -c 3145728 >qkv.f16
source=$("$DSE" trace info "$trace" --format csv | tail -n 1 | sed 's/.*,"\(Tiny.*\)"$/\1/')
expect 0 "$DSE" trace import --raw qkv.f16 --layers 0,5 --heads 0,16 --positions 2048 --dim 64 --bits 16 --model tinyllama-1.1b \
    --source "$source" -o again.trace
cmp "$trace" again.trace || fail "the trace imported again is another"
expect 0 "$DSE" trace import --raw qkv.f16 --layers 0,5 --heads 0,16 --positions 2048 --dim 64 --model t --source t --select-layers 5 \
    --select-heads 16 --first 64 -o part.trace
for format in table csv json; do
    expect 0 "$DSE" trace info part.trace --scores --format $format
    says 'MASS ON FIRST' out.txt
done
expect 2 "$DSE" trace inf part.trace
says 'did you mean info' err.txt
# Synthetic attention: the same file again, and a fit to an anchor of our own.
for i in 1 2; do
    expect 0 "$DSE" trace generate --set n=64 --set d=16 --set rho=0.9 --count 3 -o synthetic$i.trace
done
cmp synthetic1.trace synthetic2.trace || fail "the same parameters gave another trace"
expect 0 "$DSE" trace info synthetic1.trace
says 'dse trace generate --set n=64 --set d=16 --set rho=0.9' out.txt
cat >anchors.toml <<TOML
heads = 2
score_range = [-9, 4]
fit = ["noise_sd"]
[start]
d = 8
[[anchors]]
statistic = "top1"
n = 64
at_least = 0.9
tolerance = 0.01
source = "of a test"
TOML
for format in table csv json; do
    expect 0 "$DSE" trace fit --anchors anchors.toml --iterations 5 --format $format
    says 'of a test' out.txt
done

# A full output is an error, not silence.
# A reader that has seen enough is no error to speak of.
{ "$DSE" describe veda 2>err.txt; } | head -n 1 >/dev/null
[ ! -s err.txt ] || fail "describe | head: $(cat err.txt)"
if [ -w /dev/full ]; then
    expect 1 sh -c "'$DSE' list llms >/dev/full"
fi
