#!/bin/sh
# What people read on a terminal: an answer says first what it assumed, a model is described on a screen, a report says five sentences, and a name that is not there gets
# the nearest one.
#     readable.sh DSE SOURCE BUILD
. "$(dirname "$0")/lib.sh"
says() { grep -q -- "$1" "$2" || fail "\"$1\" is not in $2: $(cat "$2")"; }
cd "$WORK"

for model in $("$DSE" list models --format csv | sed '1d; s/^"\([^"]*\)".*/\1/'); do
    # ---- describe: a screen; every group and every name of it by itself; nothing is in two groups, and everything in one
    "$DSE" describe "$model" >overview.txt
    [ "$(wc -l <overview.txt)" -le 40 ] || fail "describe $model prints $(wc -l <overview.txt) lines"
    awk '/^[A-Z]+ +COUNT/ { on = 1; next } !NF { on = 0 } on { print $1, $2 }' overview.txt >groups.txt
    [ "$(wc -l <groups.txt)" -ge 8 ] || fail "groups of $model: $(cat overview.txt)"
    "$DSE" describe "$model" --format csv | sed '1d' | cut -d, -f1 | tr -d '"' | sort >params.txt
    "$DSE" describe "$model" --metrics --format csv | sed '1d' | cut -d, -f1 | tr -d '"' | sort >metrics.txt
    [ "$(awk '{ n += $2 } END { print n }' groups.txt)" -eq "$(cat params.txt metrics.txt | wc -l)" ] || fail "groups of $model have not all: $(cat groups.txt)"
    # Nothing is in two groups of a kind, and everything in one; a parameter may be called as a group is, and stands with it, too.
    grouped() { # HEADING EVERY-NAME OPTION...
        awk -v heading="$1" '$2 == "COUNT" { on = $1 == heading; next } !NF { on = 0 } on { print $1 }' overview.txt >kind.txt
        every=$2
        shift 2
        while read -r group; do
            "$DSE" describe "$model" "$group" "$@" --format csv | sed '1d' | cut -d, -f1 | tr -d '"'
        done <kind.txt | grep -vxF -f kind.txt | sort >grouped.txt
        grep -vxF -f kind.txt "$every" | diff - grouped.txt || fail "$model: in no group, or in two"
    }
    grouped PARAMETERS params.txt
    grouped METRICS metrics.txt --metrics
    for name in $(head -n 3 params.txt) $(head -n 3 metrics.txt); do
        "$DSE" describe "$model" "$name" >one.txt || fail "describe $model $name"
        says "^$name " one.txt
    done
    # ---- eval: what was assumed, then groups; --all has every metric, and the default says how many it left out
    "$DSE" eval "$model" >short.txt 2>said.txt
    "$DSE" eval "$model" --all >all.txt 2>said.txt
    sed -n '2,/^ *$/p' short.txt >assumed.txt
    for name in fidelity llm phase batch context weight_bits; do says "^$name " assumed.txt; done
    for title in speed 'energy and power' 'area and cost' memory quality 'inside the machine'; do says "^$title *$" all.txt; done
    for name in $(cat metrics.txt); do says "^$name " all.txt; done
    shown=0
    for name in $(cat metrics.txt); do ! grep -q "^$name " short.txt || shown=$((shown + 1)); done
    left=$(sed -n 's/^\([0-9]*\) more metrics: dse eval .* --all.*/\1/p' short.txt)
    [ "$((shown + ${left:-0}))" -eq "$(wc -l <metrics.txt)" ] || fail "$model: $shown shown, $left left out, $(wc -l <metrics.txt) in all"
done
"$DSE" describe lad tilez >out.txt 2>err.txt && fail "describe lad tilez"
says 'no group, parameter, metric or equation "tilez": did you mean "tiles"?' err.txt
# For programs, too, what is no parameter is found, and what is nothing is refused.
"$DSE" describe lad tilez --format csv >out.txt 2>err.txt && fail "describe lad tilez --format csv"
"$DSE" describe lad energy_mj --format csv >out.txt || fail "a metric as csv"
says '^"energy_mj"' out.txt
"$DSE" describe lad equations --format csv >out.txt || fail "equations as csv"
[ "$(wc -l <out.txt)" -gt 20 ] || fail "equations as csv: $(cat out.txt)"
"$DSE" --plugin "$2/examples/array.toml" describe array quality >out.txt 2>err.txt && fail "array has no metrics of quality"
! grep -q 'did you mean "quality"' err.txt || fail "$(cat err.txt)"
"$DSE" --plugin "$2/examples/array.toml" eval array >out.txt
says '^quality *$' out.txt
! grep -q '^area and cost' out.txt || fail "a group without a metric has a heading: $(cat out.txt)"
for subject in equations constants trends causes; do
    "$DSE" describe flashdecoding $subject >out.txt || fail "describe flashdecoding $subject"
    [ "$(wc -l <out.txt)" -gt 2 ] || fail "describe flashdecoding $subject is empty"
done
"$DSE" eval lad --set tiles=4 --fidelity event-level -c "$2/tests/data/thin_llm.toml" --set llm=thin --set context=256 >out.txt
says '^NAME  *EVENT LEVEL  *CLOSED FORM' out.txt
says '^tiles  *4 ' out.txt
# A lossy technique is assumed, too, where it is a default: VEDA evicts, LAD leaves positions out.
"$DSE" eval veda >out.txt
sed -n '2,/^ *$/p' out.txt >assumed.txt
says '^eviction  *voting ' assumed.txt
says '^eviction_ratio  *0.6 ' assumed.txt
"$DSE" eval lad >out.txt
says '^decoding  *locality-aware ' out.txt
"$DSE" eval veda --set eviction=none >out.txt
! grep -q '^eviction_ratio' out.txt || fail "nothing is evicted: $(cat out.txt)"
"$DSE" eval veda --requests chat >out.txt 2>said.txt
says '^requests  *chat ' out.txt
says '^request_usd ' out.txt

# ---- report: five sentences, those of the closest rivals first, and how many more there are
cat >several.toml <<'TOML'
[sweep]
name   = "several"
models = ["lad", "veda", "swiftkv", "flashdecoding"]
[params]
batch = [1, 4]
[params.lad]
tiles = [4, 8]
[objectives]
tokens_per_s = "max"
energy_mj    = "min"
TOML
"$DSE" sweep several.toml -q >/dev/null 2>said.txt || fail "$(cat said.txt)"
"$DSE" report results/several.db >out.txt 2>said.txt || fail "$(cat said.txt)"
[ "$(grep -c '\.$' out.txt)" -eq 6 ] || fail "a report says: $(cat out.txt)"
tail -n 1 out.txt | grep -q '^[0-9]* more comparisons are on the page\.$' || fail "a report ends with: $(tail -n 1 out.txt)"

# ---- agree: a command with what moves the metrics that are compared; with it they are the same
"$DSE" agree swiftkv --near --points 3 -q --format csv >points.csv
python3 - "$DSE" <<'PY' || fail "agree"
import csv, subprocess, sys
for row in csv.DictReader(open("points.csv")):
    command = row["command"].split()
    assert command[:3] == ["dse", "eval", "swiftkv"], command
    at = command.index("--fidelity")
    settings = [command[i + 1] for i in range(at + 2, len(command), 2)]
    def ask(fidelity, settings):
        sets = [word for s in settings for word in ("--set", s)]
        out = subprocess.run([sys.argv[1], "eval", "swiftkv", "--fidelity", fidelity, *sets, "--format", "csv"], capture_output=True, text=True).stdout
        found = next(csv.DictReader(out.splitlines()), None)
        return found and [found[m] for m in ("latency_us", "attention_us", "energy_mj", "dram_mib")]
    both = [ask("closed-form", settings), ask("event-level", settings)]
    assert abs(100 * (float(both[1][0]) / float(both[0][0]) - 1) - float(row["latency_us_pct"])) < 1e-6, (row["command"], both)
    for one in settings: # none of them could be left out
        left = [s for s in settings if s != one]
        assert [ask("closed-form", left), ask("event-level", left)] != both, (one, row["command"])
PY

# ---- SQL
"$DSE" query results/several.db 'select tokenz from lad' 2>err.txt && fail "no such column"
says "did you mean tokens_per_s? All: select name from pragma_table_xinfo('lad')" err.txt
"$DSE" query results/several.db "select name from pragma_table_xinfo('lad')" --format csv >out.txt
says '^"tokens_per_s"$' out.txt
"$DSE" query results/several.db 'select tiles from ladd' 2>err.txt && fail "no such table"
says 'did you mean lad? All: select name from pragma_table_list union select name from pragma_module_list' err.txt
"$DSE" query :memory: 'select name from pragma_table_list union select name from pragma_module_list' --format csv >out.txt
says '^"claim"$' out.txt
"$DSE" query :memory: 'select valu from claim' 2>err.txt && fail "no such column of a computed table"
says 'did you mean value?' err.txt

# ---- what README.md and docs/explanation/fidelity.md say of the two fidelities
"$DSE" eval lad --fidelity event-level >out.txt 2>err.txt || fail "$(cat err.txt)"
said=$(awk '$1 == "attention_us" { a = 100 * ($2 / $3 - 1) } $1 == "latency_us" { l = 100 * ($2 / $3 - 1) }
    END { printf "at LAD'"'"'s defaults the event level says %+.0f %% for attention, and %+.0f %% for a step", a, l }' out.txt)
tr -s ' \n' '  ' <"$2/docs/explanation/fidelity.md" | grep -qF -- "$said" || fail "fidelity.md does not say: $said"

"$DSE" eval veda --fidelity event-level --set llm=llama3.1-8b --set memory=hbm3-h100-80gb --set pe_rows=32 --set pe_columns=32 --set pe_copies=128 --set batch=16 \
    --set context=16384 --set vote_lanes=16 --set vote_fifo=131072 --set sfu_exp=16 --set sfu_div=16 >out.txt 2>err.txt || fail "$(cat err.txt)"
said=$(awk '$1 == "tokens_per_s" { printf "%.0f tokens/s in closed form and %.0f at event level", $3, $2 }' out.txt)
tr -s ' \n' '  ' <"$2/README.md" | grep -qF -- "$said" || fail "README.md does not say: $said"

# ---- a sweep that ships, by its name or its path in the source tree
"$DSE" sweep sweeps/lad_sram.toml 2>err.txt && fail "there is no such file here"
says 'the sweep of that name that comes with dse is .*/sweeps/lad_sram.toml' err.txt
"$DSE" sweep lad_sram 2>err.txt && fail "there is no such file here"
says 'comes with dse is .*/sweeps/lad_sram.toml' err.txt
