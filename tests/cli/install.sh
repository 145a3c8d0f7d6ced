#!/bin/sh
# `meson install` gives a dse that works from anywhere: it finds its catalog, its models' defaults, its sweeps and figures.
. "$(dirname "$0")/lib.sh"
build=$3
DESTDIR=$WORK/root meson install -C "$build" --no-rebuild --quiet >/dev/null
installed=$(find "$WORK/root" -type f -name dse -perm -u+x | head -n 1)
[ -n "$installed" ] || fail "no installed dse"
[ -f "$(find "$WORK/root" -name model.h)" ] || fail "the headers are not installed"
share=$(dirname "$(find "$WORK/root" -type d -name catalog | head -n 1)")
# The staging folder stands for the prefix: say where the data are, as the prefix would.
cd "$WORK"
DSE_DATA_DIR=$share "$installed" eval lad --set context=4096 >out.txt || fail "the installed dse does not evaluate"
grep -q tokens_per_s out.txt || fail "no metrics: $(cat out.txt)"
DSE_DATA_DIR=$share "$installed" list figures >out.txt
grep -q lad_sram_pareto out.txt || fail "no figures installed"
DSE_DATA_DIR=$share "$installed" sweep "$share/sweeps/lad_hbm.toml" -q -o a.db >out.txt 2>err.txt || fail "an installed sweep does not run: $(cat err.txt)"
[ -s lad_hbm.png ] || fail "its figure was not drawn"
