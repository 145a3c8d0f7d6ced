#!/bin/sh
# Profiles are outputs of a command: the same bytes again, read back by the catalog and by the models. Nothing is left of a failure.
. "$(dirname "$0")/lib.sh"
data=$2/tests/data
trace=$2/catalog/traces/tinyllama.trace
export LC_ALL=C

"$DSE" profile "$trace" --kind locality --contexts 64,256,512 --fit -o locality.csv
cmp locality.csv "$data/tinyllama_locality.csv" || fail "tests/data/tinyllama_locality.csv is not what the command writes"
"$DSE" profile "$trace" --kind retention --contexts 128,256,512 --ratios 0.3,0.5 -o retention.csv
cmp retention.csv "$data/tinyllama_retention.csv" || fail "tests/data/tinyllama_retention.csv is not what the command writes"
for twice in one two; do
    "$DSE" profile --synthetic n=256 seed=7 --heads 3 --kind locality --contexts 64,128,256 -o $twice.csv
done
cmp one.csv two.csv || fail "synthetic heads differ from run to run"
"$DSE" profile --synthetic n=256 seed=8 --heads 3 --kind locality --contexts 64,128,256 -o other.csv
! cmp -s one.csv other.csv || fail "the seed changes nothing"
grep -q '^# generator: seed=7 n=256 d=' one.csv || fail "the generator's parameters are not in the profile"
grep -q '^# trace: 7769353d856998a6, ' locality.csv || fail "the checksum of the trace is not in the profile"

# The policies that the help lists are those that are measured.
listed=$("$DSE" profile --help | sed -n 's/.*--policies LIST *retention: \([^ ]*\) (default: all that the settings allow)$/\1/p')
"$DSE" profile "$trace" --kind retention --contexts 128,256 --ratios 0.3,0.5 -s prompt_share=1 -s layers=22 -o every.csv
[ "$listed" = "$(awk -F, '!/^#/ && $1 != "policy" && !seen[$1]++ { printf "%s%s", n++ ? "," : "", $1 }' every.csv)" ] ||
    fail "the help lists \"$listed\""

# The help names every kind and every setting of it.
"$DSE" profile --help | tr '\n' ' ' >help.txt
kinds=$("$DSE" profile "$trace" 2>&1 | sed -n 's/.*--kind is needed: //p' | tr -d ,)
[ "$kinds" = "locality retention range partial-softmax fixed-point kv-format kept recording surface" ] || fail "kinds: $kinds"
for kind in $kinds; do
    grep -q "[ ,]$kind[ ,]" help.txt || fail "the help does not know --kind $kind"
    settings=$("$DSE" profile "$trace" --kind $kind -s none=1 2>&1 | sed -n 's/.*no setting "none": //p' | tr -d ,)
    [ -n "$settings" ] || [ $kind = kept ] || fail "--kind $kind has no settings"
    for setting in $settings; do grep -q "[ ]$setting[,.;=]" help.txt || fail "the help does not know $setting of $kind"; done
done

# A surface is the same on one thread and on two, and a model reads it at what was measured and between.
surface() { # FILE
    "$DSE" profile "$trace" --kind surface --contexts 128,256,512 --ratios 0.2,0.5 --policies h2o,snapkv --vary intervals=8,16 --vary kv_bits=4 -o "$1"
}
OMP_NUM_THREADS=1 surface one.csv
OMP_NUM_THREADS=2 surface surface.csv
cmp one.csv surface.csv || fail "a surface depends on how many threads measure it"
grep -q '^kv-format,128,1,kv_bits=4 scales=kivi group=32 residual=128,attention_error,' surface.csv || fail "the surface has no format of keys"
printf 'quality.mine = "surface.csv"\n' >quality.toml
active() { # INTERVALS
    "$DSE" eval lad --all -c quality.toml --set draws=surface --set surface=mine --set context=512 --set batch=1 --set active_cv=0 --set intervals="$1" |
        awk '$1 == "active" { print $2 }'
}
for intervals in 5 8 16; do
    row=lad,512,1,; [ $intervals = 5 ] || row="${row}intervals=$intervals"
    measured=$(grep "^$row,active," surface.csv | cut -d, -f6)
    awk -v a="$(active $intervals)" -v b="$measured" 'BEGIN { exit !(a / b - 1 < 1e-3 && b / a - 1 < 1e-3) }' ||
        fail "$intervals intervals: |J| is not the $measured that was measured"
done
awk -v a="$(active 8)" -v b="$(active 12)" -v c="$(active 16)" 'BEGIN { exit !(a < b && b < c) }' || fail "12 intervals are not between 8 and 16"
"$DSE" list quality mine -c quality.toml -f csv | grep -q '"mine","lad","active","128..512"' || fail "dse list does not show the surface"

# Layers have rows of their own beside the model's, which are what models read; pairs of settings are every combination, once; several ends
# and texts are of the same heads; heads that are weighed to meet a mean meet it better.
"$DSE" profile "$trace" --kind surface --contexts 64,128,256 --ratios 0.2,0.5 --policies h2o,voting --by-layer \
    --vary 'threshold_a=0.5*reserved_length=16,32' --vary threshold_a=0.5,1 --ends 3 -o layers.csv
rows() { grep -c "$1" layers.csv; }
[ "$(rows '^h2o,256,0.5,,retained_mass')" -eq 1 ] && [ "$(rows '^h2o,256,0.5,layer=0,retained_mass')" -eq 1 ] &&
    [ "$(rows '^h2o,256,0.5,layer=5,retained_mass')" -eq 1 ] || fail "layers: $(grep ^h2o layers.csv)"
settings=$(awk -F, '$1 == "voting" && $2 == 256 && $3 == 0.5 && $5 == "retained_mass" { print $4 }' layers.csv | sort | tr '\n' ';')
[ "$settings" = ';layer=0;layer=5;reserved_length=16;threshold_a=0.5;threshold_a=0.5 reserved_length=16;' ] || fail "pairs: $settings"
awk -F, '/^h2o,256,0.5,,/ && $5 == "attention_error" { m = $6 } /^h2o,256,0.5,layer=0,attention/ { a = $6 } /^h2o,256,0.5,layer=5,attention/ { b = $6 }
    END { m -= (a + 5 * b) / 6; exit !(m < 1e-5 && m > -1e-5) }' layers.csv || fail "layer 0 counts once and layer 5 five times: $(grep ^h2o,256 layers.csv)"
grep -q '^# Layers count 0: 0.1667, 5: 0.8333.$' layers.csv || fail "weights of layers: $(grep '^# ' layers.csv)"
printf 'quality.layers = "layers.csv"\n' >layers.toml
"$DSE" list quality layers -c layers.toml -f csv | grep '"voting","retained_mass"' | grep -q 'threshold_a 0.5..1, reserved_length 16..32, 2 layers' ||
    fail "dse list: $("$DSE" list quality layers -c layers.toml -f csv | grep '"voting"')"
means() { # FILE [MEAN]: what the surface says of h2o
    "$DSE" profile "$trace" --kind surface --contexts 64,128,256 --ratios 0.2,0.5 --policies h2o ${2:+--means means.csv} -o "$1"
    awk -F, '/^h2o,256,0.2,,attention_error,/ { print $6 }' "$1"
}
before=$(means plain.csv)
printf 'method,context,ratio,metric,mean\nh2o,256,0.2,attention_error,%s\n' "$(awk -v a="$before" 'BEGIN { print 1.2 * a }')" >means.csv
awk -v a="$before" -v b="$(means matched.csv 1)" 'BEGIN { exit !(b > 1.1 * a && b < 1.2 * a) }' || fail "a mean is not met: $before, $(means matched.csv 1)"
grep -q '^# Heads are weighed to meet 1 means over all heads' matched.csv || fail "$(grep '^# ' matched.csv)"
"$DSE" profile "$trace" "$trace" --kind surface --contexts 64,128,256 --ratios 0.2,0.5 --policies h2o -o twice.csv
grep -v '^# ' plain.csv >one.csv
grep -v '^# ' twice.csv | paste -d, one.csv - | awk -F, 'NR > 1 {
    for (i = 1; i <= 13; i++) if ($i != $(i + 13) && ($i / $(i + 13) - 1) ^ 2 > 1e-6) { print; bad = 1 } } END { exit bad || NR < 20 }' >off.txt ||
    fail "the same text twice says the same, of as many heads: $(cat off.txt)"

# What is written can be used.
cat >mine.toml <<'TOML'
profiles.mine = "locality.csv"
retentions.mine = "bulk.csv"
retentions.streamed = "retention.csv"
TOML
"$DSE" profile "$trace" --kind retention --contexts 128,256,512 --ratios 0.3,0.5 -s prompt_share=1 -o bulk.csv
"$DSE" eval lad -c mine.toml --set draws=profile --set intervals=5 --set profile=mine --set context=256 --format csv >lad.csv
"$DSE" eval veda -c mine.toml --set boundary=bulk --set quality_from=retention --set retention=mine --set context=256 --set eviction_ratio=0.5 --format csv >veda.csv
cell() { sqlite3 :memory: '.mode csv' ".import $1 t" "select $2 from t"; }
column() { awk -F, -v at="$2" -v want="$3" '!/^#/ && !n { for (i = 1; i <= NF; i++) if ($i == want) n = i } $0 ~ at { print $n }' "$1"; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && (a - b) ^ 2 <= 1e-18 * b ^ 2) }' || fail "$3: $1 is not $2"; }
near "$(cell lad.csv attention_error)" "$(column locality.csv '^256,' attention_error)" "attention_error of lad"
near "$(cell lad.csv false_negative)" "$(column locality.csv '^256,' false_negative)" "false_negative of lad"
near "$(cell veda.csv retained_mass)" "$(column bulk.csv '^voting,256,0.5,' retained_mass)" "retained_mass of veda"
near "$(cell veda.csv attention_error)" "$(column bulk.csv '^voting,256,0.5,' attention_error)" "attention_error of veda"
# What was measured token by token says nothing of a prompt that is kept whole.
"$DSE" eval veda -c mine.toml --set boundary=bulk --set quality_from=retention --set retention=streamed --set context=256 --set eviction_ratio=0.5 --format csv >veda.csv
[ "$(cell veda.csv "quote(nullif(retained_mass, ''))")" = NULL ] || fail "retained_mass is that of another procedure: $(cell veda.csv retained_mass)"
[ "$(cell veda.csv quality)" = unknown ] || fail "and its quality is $(cell veda.csv quality)"

# Single steps: their means are those of the profile of the same steps, and LAD replays them at both levels.
"$DSE" profile "$trace" --kind recording --contexts 64,256 --steps 8 -o recording.csv
"$DSE" profile "$trace" --kind locality --contexts 64,128,256 --steps 8 -o eight.csv
mean() { awk -F, -v at="$1" -v c="$2" '$1 == at { s += $c; n++ } END { print s / n }' recording.csv; }
for column in 4,centers 5,large 6,active 7,updates; do
    near "$(mean 256 "${column%,*}")" "$(column eight.csv '^256,' "${column#*,}")" "mean of ${column#*,}"
done
[ "$(grep -c '^256,' recording.csv)" -eq 32 ] || fail "4 heads with 8 steps are 32 rows: $(cat recording.csv)"
echo 'recordings.mine = "recording.csv"' >recording.toml
for fidelity in closed-form event-level; do
    "$DSE" eval lad -c recording.toml --set draws=replay --set recording=mine --set intervals=5 --set context=256 --set llm=opt-2.7b --set weight_bits=4 \
        --set layers_simulated=1 --set batch=8 --fidelity $fidelity --format csv >replayed.csv
    awk -v a="$(cell replayed.csv active)" -v b="$(mean 256 6)" 'BEGIN { exit !((a / b - 1) ^ 2 < 1e-8) }' ||
        fail "$fidelity: active positions $(cell replayed.csv active), not $(mean 256 6)"
done

# More intervals lose less of the output; the edges of the paper, said aloud, change no number.
error() { "$DSE" profile "$trace" --kind locality --contexts 256 "$@" --format csv | tail -n 1 | cut -d, -f7; }
five=$(error) sixteen=$(error -s intervals=16)
awk -v a="$five" -v b="$sixteen" 'BEGIN { exit !(a > 0.1 && b < 0.02) }' || fail "errors of 5 and 16 intervals: $five, $sixteen"
"$DSE" profile "$trace" --kind locality --contexts 64,256,512 --fit --edges=-10,-6,-3,-1 -o edges.csv
grep -q 'intervals=5 scores=centers edges=-10,-6,-3,-1 kv_bits=16 llm=tinyllama-1.1b$' edges.csv || fail "the edges are not in the profile"
[ "$(grep -v '^# written' edges.csv)" = "$(grep -v '^# written' locality.csv)" ] || fail "the paper's edges give another profile"
# A prompt that is kept whole until it ends: the sink, without a vote, leaves with the surplus.
mass() { "$DSE" profile "$trace" --kind retention --contexts 256 --ratios 0.5 --policies "$1" -s prompt_share="$2" --format csv | tail -n 1 | cut -d, -f4; }
awk -v a="$(mass voting 0)" -v b="$(mass voting 0.8)" 'BEGIN { exit !(a > 0.8 && b < 0.6) }' || fail "voting: $(mass voting 0), $(mass voting 0.8)"
[ "$(mass window 0)" = "$(mass window 0.8)" ] || fail "a window does not depend on the prompt"

# Printed: as many rows, in each format, and a law of each count.
"$DSE" profile "$trace" --kind range --contexts 64,128 --format csv >range.csv
[ "$(wc -l <range.csv)" -eq 3 ] || fail "two contexts make two rows: $(cat range.csv)"
"$DSE" profile "$trace" --kind locality --contexts 64,128,256 --fit >table.txt
[ "$(grep -c '^fit: [a-z_]* = [0-9.e-]* n^' table.txt)" -eq 5 ] || fail "five laws are wanted: $(cat table.txt)"

# A trace that is cut, a value that is not finite: no file, and what stood there stands.
head -c 3000000 "$trace" >cut.trace
echo stays >there.csv
status=0
"$DSE" profile cut.trace --kind locality -o there.csv 2>err.txt || status=$?
[ $status -eq 2 ] && [ "$(cat there.csv)" = stays ] || fail "a broken trace: status $status, $(cat there.csv)"
status=0
"$DSE" profile "$trace" --kind locality --contexts 64 -o there.csv 2>err.txt || status=$?
[ $status -eq 2 ] && [ "$(cat there.csv)" = stays ] && grep -q 'at least 3 are needed' err.txt || fail "one point: $(cat err.txt)"
[ -z "$(find . -name '*.tmp')" ] || fail "a temporary file is left"
