#!/bin/sh
# Every sweep that is shipped opens with a question, runs, has a feasible point of each of its models and a front, and draws its figures.
. "$(dirname "$0")/lib.sh"
root=$2
SHIPPED=$(cd "$root/sweeps" && pwd)
cp -r "$root/sweeps" "$root/plots" .
# At event level a run takes some seconds with sanitizers: a few of them.
refines() { grep -q '^fidelity *= *"refine"' "$1"; }
for file in sweeps/*.toml; do
    ! refines "$file" || { sed -i '/^\[refine\]/,/^$/d' "$file" && printf '[refine]\nruns = 4\n' >>"$file"; }
done
for file in sweeps/*.toml; do
    head -n 1 "$file" | grep -q '^# .*?' || fail "$file: its first line is not a question"
    "$DSE" sweep "$file" --dry-run >dry.txt || fail "$file: refused"
    points=$(sed -n 's/^[a-z]*: \([0-9,]*\) points$/\1/p' dry.txt | tr -d , | awk '{n += $1} END {printf "%.0f", n}')
    [ "$points" -le 200000 ] || continue # a minute and more of a build with sanitizers
    rm -f run.db ./*.png
    if is_shared "$file" && ! refines "$file"; then # what the first test made that needed it is taken as it is, and its front is there as if run here
        name=$(basename "$file" .toml)
        cp "$(shipped "$name")" run.db
        "$DSE" sweep "$file" -q -o run.db >front.txt 2>said.txt || fail "$file: $(cat said.txt)"
        [ "$(sqlite3 run.db 'select count(*) from run')" = 1 ] || fail "$file: was run again"
    else
        "$DSE" sweep "$file" -q -o run.db >front.txt 2>said.txt || fail "$file: $(cat said.txt)"
    fi
    [ "$(wc -l <front.txt)" -gt 1 ] || fail "$file: no front"
    for model in $(sed -n 's/^\([a-z]*\): [0-9,]* points$/\1/p' dry.txt); do
        [ "$(sqlite3 run.db "select count(*) > 0 from comparison where model = '$model' and status = 'ok'")" -eq 1 ] ||
            fail "$file: no machine of $model can run it"
    done
    figures=$(grep -o 'plots/[a-z_]*\.toml' "$file" | sort -u | wc -l)
    [ "$(ls ./*.png | wc -l)" -eq "$figures" ] || fail "$file: $figures figures are named, $(ls ./*.png | wc -l) drawn"
done
