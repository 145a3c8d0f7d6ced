#!/bin/sh
# dse agree over the spaces of shipped sweeps: the two levels give one answer on a few points of each, and the same order; a budget
# ends it; commands show what they say.
source=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
export DSE_DATA_DIR="$source" LC_ALL=C

for model in veda ane swiftkv lad; do
    for file in "$source"/sweeps/*.toml; do
        name=$(basename "$file" .toml)
        sed -n '/^models/p' "$file" | grep -q "\"$model\"" || continue
        points=2
        [ "$model" = lad ] && points=1 # whose runs take up to seconds
        "$DSE" agree "$file" --model "$model" --points $points --no-causes --budget 60s --quiet --format csv >points.csv || fail "dse agree $file --model $model"
        sed "1d; s|^|$name,|" points.csv >>all.csv
        sed '1!d; s|^|sweep,|' points.csv >head.csv
    done
done
cat head.csv all.csv >both.csv
# A metric is told where it is there: 5 % in the middle of all points, 15 % for 95 of 100; of LAD 6 % and 80, whose whole
# cache among many tiles the two levels see apart (docs/explanation/fidelity.md).
python3 - <<'PY' || fail "the two levels are apart"
import csv
every = list(csv.DictReader(open("both.csv")))
for model, sweeps, share, limit in ("veda", 12, 0.95, 5), ("ane", 8, 0.95, 5), ("swiftkv", 8, 0.95, 5), ("lad", 10, 0.8, 6):
    rows = [r for r in every if r["model"] == model]
    assert len({r["sweep"] for r in rows}) >= sweeps, (model, len(rows))
    for metric in ("latency_us", "attention_us", "energy_mj"):
        apart = sorted((abs(float(r[metric + "_pct"])), r["command"]) for r in rows if r[metric + "_pct"])
        middle, most = apart[len(apart) // 2], apart[int(share * (len(apart) - 1))]
        assert middle[0] < limit and most[0] < 15, (model, metric, middle, most)
PY

# Rankings: of a few points that one front may have all of, no pair that is more than a tenth apart is in another order.
ranks() { # SWEEP OPTION...
    sweep=$1
    shift
    "$DSE" agree "$source/sweeps/$sweep.toml" --no-causes --worst 0 --quiet --budget 60s "$@" >out.txt || fail "dse agree $sweep $*"
    grep -q '^rankings that flip: 0 of [1-9][0-9]* pairs more than 10 % apart (tokens_per_s, energy_mj per ' out.txt ||
        fail "$sweep $*: $(sed -n '/^rankings/,$p' out.txt)"
}
# Of LAD's designs of many tiles on much bandwidth the closed form calls equal what events see 13 % apart: they are left out here.
ranks cloud_shootout --model veda --model swiftkv --model flashdecoding --model ane --points 2 --set llm=llama3.1-8b --set context=4096 --set batch=4 --set bandwidth_gbs=3350
ranks edge_shootout --points 2 --set llm=llama3.1-8b --set context=4096 --set bandwidth_gbs=128
ranks shootout_trillion --points 2 --set context=4096 --set bandwidth_gbs=128
ranks moe_edge --points 2 --set llm=gpt-oss-20b --set context=2048 --set batch=1 --set format=checkpoint
ranks long_context --points 2 --set llm=llama3.1-8b --set context=16384

# A budget ends it with what there is.
began=$(date +%s)
"$DSE" agree veda --budget 2s --worst 1 --points 100000 -j 2 >out.txt 2>said.txt || fail "a budget: $(cat said.txt)"
[ $(($(date +%s) - began)) -lt 60 ] || fail "a budget of 2 s took $(($(date +%s) - began)) s"
grep -q 'the budget of 2 s is spent' said.txt || fail "of the budget it is said: $(cat said.txt)"
grep -q '^latency_us ' out.txt || fail "no results within the budget: $(cat out.txt)"
"$DSE" agree lad --near --set layers_simulated=32 --budget 0.01s --points 1 -j 1 >out.txt 2>said.txt || fail "a budget too short: $(cat said.txt)"
grep -q 'No point ran at both levels: a run of this model takes longer' out.txt || fail "of a budget too short it is said: $(cat out.txt)"

# The command of the worst point shows its difference again, within a tenth.
"$DSE" agree "$source/sweeps/veda_quality.toml" --points 4 --worst 1 --quiet >out.txt || fail "veda_quality"
line=$(sed -n '/^Farthest apart in attention_us/{n;p}' out.txt)
said=$(printf '%s\n' "$line" | sed 's/^ *\([-+0-9.]*\) %.*/\1/')
settings=$(printf '%s\n' "$line" | sed 's/.*event-level//')
for fidelity in closed-form event-level; do
    # shellcheck disable=SC2086
    "$DSE" eval veda --fidelity "$fidelity" $settings --format json >"$fidelity.json" 2>/dev/null || fail "dse eval veda $settings"
done
python3 - "$said" <<'PY' || fail "$line is not what its command gives"
import json, sys
said = float(sys.argv[1])
closed, events = (json.load(open(f + ".json"))[0]["attention_us"] for f in ("closed-form", "event-level"))
assert abs(100 * (events / closed - 1) - said) <= 0.1 * abs(said) + 0.01, (said, closed, events)
PY
