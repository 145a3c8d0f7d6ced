#!/bin/sh
# A model that lives outside of the tree: compiled against the installed headers, and asked through every command.
. "$(dirname "$0")/../cli/lib.sh"
source=$2 build=$3
says() { grep -qe "$1" "$2" || fail "\"$1\" is not in $2: $(cat "$2")"; }

DESTDIR=$WORK/root meson install -C "$build" --no-rebuild --quiet >/dev/null
headers=$(dirname "$(find "$WORK/root" -type d -path '*include/dse')")
cc -std=gnu17 -Wall -Wextra -Wno-missing-field-initializers -Werror -I"$headers" -c "$source/tests/roofline/roofline.c" -o roofline.o ||
    fail "the installed headers do not compile a model"
[ "$(wc -l <"$source/tests/roofline/roofline.c")" -lt 150 ] || fail "the sixth model takes 150 lines or more"

# Its folder beside those of the five.
mkdir -p data/models
ln -s "$source/catalog" "$source/report" "$source/plots" "$source/sweeps" data
ln -s "$source"/models/*/ "$source/tests/roofline" data/models
export DSE_DATA_DIR="$WORK/data"
for test in models trends; do
    "$build/tests/roofline/test_${test}_roofline" >out.txt 2>&1 || fail "$test: $(cat out.txt)"
done

"$DSE" list models >out.txt
says '^roofline .*closed-form, event-level' out.txt
"$DSE" describe roofline >out.txt
says 'peak_tflops' out.txt
"$DSE" eval roofline --breakdown >out.txt
says 'ffn_down' out.txt
"$DSE" eval roofline --fidelity event-level >out.txt
says 'dram_utilization' out.txt
"$DSE" agree roofline --points 5 >out.txt
says 'latency_us' out.txt
"$DSE" validate roofline >out.txt 2>&1 || fail "a model without claims: $(cat out.txt)"
says 'roofline has no published numbers' out.txt
cat >six.toml <<'TOML'
# Is LAD faster than an ideal machine on its own memory?
[sweep]
name = "six"
models = ["lad", "roofline"]
[params]
context = [1024, 2048]
memory = "hbm2-5cube"
[params.roofline]
peak_tflops = { from = 1, to = 1000, points = 13, scale = "log" }
[objectives]
tokens_per_s = "max"
energy_mj = "min"
TOML
"$DSE" sweep six.toml -q -o six.db >out.txt 2>err.txt || fail "the sweep: $(cat err.txt)"
[ "$(sqlite3 six.db 'select count(*) from roofline')" = 26 ] || fail "rows of the roofline are missing"
[ "$(sqlite3 six.db 'select count(*) from comparison where model = "roofline"')" = 26 ] || fail "the comparison lacks the roofline"
"$DSE" report six.db -o six.html 2>err.txt || fail "the report: $(cat err.txt)"
says 'peak_tflops' six.html
