#!/bin/sh
# Head kinds fitted to real heads, heads made of them, and quality beyond the contexts that were measured: always labelled `extended`.
source=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
export LC_ALL=C
trace=$source/catalog/traces/tinyllama.trace

"$DSE" trace fit --to "$trace" --first 256 --format csv -o kinds.csv >features.csv
[ "$(grep -vc '^#' kinds.csv)" -eq 5 ] || fail "four heads are four rows"
awk -F, 'NR > 1 && !($8 >= 0 && $8 <= 0.75) { print; bad = 1 } END { exit bad || NR != 8 }' features.csv || fail "made heads are apart from the real ones"
"$DSE" trace fit --to "$trace" --first 256 -o again.csv >said.txt
cmp kinds.csv again.csv || fail "the same fit writes another file"
grep -q '^sink ' said.txt || fail "no table of kinds"

# The same heads in the layers that they come from, and any number of them in one.
"$DSE" trace generate --kinds kinds.csv --set n=512 --model tiny -o made.trace
real=$("$DSE" trace info "$trace" --format csv | tail -1 | cut -d, -f3,4)
[ "$("$DSE" trace info made.trace --format csv | tail -1 | cut -d, -f3,4)" = "$real" ] || fail "made heads lie in other layers"
case $("$DSE" trace info made.trace --format csv | tail -1) in *'of kinds like: '*) ;; *) fail "a made trace does not say that it is" ;; esac
"$DSE" trace generate --kinds kinds.csv --set n=300 --count 6 -o six.trace

surface() { # TRACE FILE CONTEXTS
    "$DSE" profile "$1" --kind surface --policies h2o,window --contexts "$3" --ratios 0.25,0.5,0.75 -o "$2"
}
surface "$trace" real.csv 128,256,512
surface made.trace made.csv 128,256,512
# The same without the trace, and at contexts that no trace has: what takes a step by itself at all, sums of probabilities up to --followed.
"$DSE" trace measure kinds.csv --like real.csv --contexts 128,256,512,2048 --followed 512 -o long.csv
awk -F, '!/^#/ && NR > 1 && $1 != "method" { if ($1 == "h2o" && $2 > 512) bad = 1; n[$1, $2]++; if ($NF != "extended") bad = 1 }
    END { exit bad || n["h2o", 512] != 6 || n["window", 2048] != 6 || n["fixed-point", 2048] == 0 || n["kv-format", 2048] == 0 || n["lad", 512] == 0 }' long.csv ||
    fail "made heads were measured by other methods"
"$DSE" trace measure kinds.csv --like real.csv --contexts 128,256,512,2048 --followed 512 -o again.csv
cmp long.csv again.csv || fail "measuring made heads again is not the same"
"$DSE" trace extend real.csv long.csv --contexts 2048,131072 -o far.csv >/dev/null
awk -F, '/,extended$/ { n++; if ($7 == "" || $8 $9 $10 $11 != "") bad = 1; if ($2 == 2048) se[$1, $3, $4, $5] = $7; else if ($7 + 0 < se[$1, $3, $4, $5] * 0.5) bad = 2 }
    END { exit bad || n == 0 }' far.csv || fail "extended rows have a spread that nobody measured, or errors that fall with the context"
for method in fixed-point partial-softmax kv-format lad; do grep -q "^$method,131072,.*,extended" far.csv || fail "$method was not extended"; done
"$DSE" trace extend real.csv made.csv --contexts 512,2048,131072 -o both.csv --format csv >checks.csv
awk -F, 'NR > 1 && $1 == "\"retained_mass\"" { found = $5 < 0.1 } END { exit !found }' checks.csv || fail "contexts up to 256 do not predict 512"
grep -v ',extended$' both.csv | cmp - real.csv || fail "measured rows changed"
awk -F, '/,extended$/ { n++; if ($2 != 2048 && $2 != 131072) bad = 1 } END { exit bad || n == 0 }' both.csv || fail "rows of other contexts"
[ "$(grep -c '^h2o,131072,0.5,' both.csv)" -eq "$(grep -c '^h2o,512,0.5,' both.csv)" ] || fail "h2o lacks rows at 131072"
"$DSE" trace extend both.csv made.csv --contexts 512,2048,131072 -o twice.csv >/dev/null
cmp both.csv twice.csv || fail "extending again is not the same"

# A catalog takes the file.
printf '[quality]\nmine = "both.csv"\n' >mine.toml
"$DSE" list quality -c mine.toml --format csv | grep -q mine || fail "the catalog does not take the extended file"
