# What sections share. Each runs in a folder of its own, with $dse, $build, $source and the rows it measured in $DSE_BENCH_ROWS.
set -eu
export LC_ALL=C

title() { echo "== $1"; }

# A program of this folder.
bench() {
    program=$build/bench/bench_$1
    shift
    "$program" "$@"
}

# FULL SHORT: which of the two is asked for.
size() { if [ -n "$DSE_BENCH_SHORT" ]; then printf '%s\n' "$2"; else printf '%s\n' "$1"; fi; }
passes() { size '1 2 3' 1; }

# Of one line, or of many: column N.
field() { awk -v n="$1" '{ print $n }'; }
median() { field "$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
# A B [FORMAT]: A / B. A number that is missing or nothing is an error.
ratio() { awk -v a="$1" -v b="$2" -v format="${3:-%.2f}" 'BEGIN { if (!(a > 0 && b > 0)) exit 1; printf format, a / b }'; }

# WHAT MEASURED: a row of docs/speed.md's table.
row() { printf '%s\t%s\n' "$1" "$2" >>"$DSE_BENCH_ROWS"; }

# The sweep of a million points, which are 50 bandwidths, with so many instead.
million() { sed -e '/^\[figures\]/,$d' -e "s/points = 50/points = $1/" "$source/sweeps/lad_million.toml"; }
