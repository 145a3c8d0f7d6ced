#!/bin/sh
# `meson install` gives a dse that works from anywhere: it finds its catalog, its models' defaults, its sweeps and figures.
. "$(dirname "$0")/lib.sh"
build=$3
DESTDIR=$WORK/root meson install -C "$build" --no-rebuild --quiet >/dev/null
installed=$(find "$WORK/root" -type f -name dse -perm -u+x | head -n 1)
[ -n "$installed" ] || fail "no installed dse"
[ -f "$(find "$WORK/root" -name model.h)" ] || fail "the headers are not installed"
share=$(dirname "$(find "$WORK/root" -type d -name catalog | head -n 1)")
# It is not told where its data are: it finds them beside itself, although the prefix was moved. The source tree must not help out.
cd "$WORK"
installed_dse() { env -u DSE_DATA_DIR "$installed" "$@"; }
installed_dse list llms >out.txt
installed_dse eval lad --set context=1024 >out.txt || fail "the installed dse does not evaluate"
grep -q tokens_per_s out.txt || fail "no metrics: $(cat out.txt)"
installed_dse validate flashdecoding >out.txt || fail "the installed dse has no claims, or nothing to measure them on"
grep -q 'fdpp.sec6.corr_all .* holds *shipped' out.txt || fail "nothing is measured on the trace that ships: $(cat out.txt)"
installed_dse list figures >out.txt
grep -q "^$share/plots/lad_sram_pareto.toml" out.txt || fail "no figures installed, or those of the source tree: $(cat out.txt)"
installed_dse sweep "$share/sweeps/lad_hbm.toml" -q -o a.db >out.txt 2>err.txt || fail "an installed sweep does not run: $(cat err.txt)"
[ -s lad_hbm.png ] || fail "its figure was not drawn"

# Links between the installed pages, and those of the models, lead somewhere.
python3 "$2/tests/links.py" "$(dirname "$share")/doc/dse" >links.txt || fail "$(head -5 links.txt)"
python3 "$2/tests/links.py" "$share" >links.txt || fail "$(head -5 links.txt)"
