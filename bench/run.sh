#!/bin/sh
# Speed, as ratios to limits and yardsticks measured in the same run: absolute times drift with the machine, ratios are what counts.
#     run.sh BUILD [SECTION...]             all sections, or those named
#     run.sh BUILD --short [SECTION...]     little of everything, to see that it works: its numbers are no measurements
#     run.sh BUILD --update [SECTION...]    and write what was measured into bench/results.tsv and the table of docs/speed.md
#     run.sh BUILD --list                   the sections, and what they measure
#     run.sh - ...                          is this command line right?
# A section is a file sections/NUMBER-NAME.sh, whose first line says what it measures; the numbers are their order. Each runs in a folder of its own.
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
source=$(dirname "$here")
results=$here/results.tsv
tab=$(printf '\t')

say() { printf 'bench: %s\n' "$*" >&2; }
usage() {
    say "$*"
    exit 2
}

names() { for file in "$here"/sections/*.sh; do basename "$file" .sh | sed 's/^[0-9]*-//'; done; }
file_of() { echo "$here"/sections/[0-9]*-"$1".sh; }
list() { for name in $(names); do printf '%-10s %s\n' "$name" "$(sed -n '1s/^# //p' "$(file_of "$name")")"; done; }

# ---- one section -------------------------------------------------------------------------------------------------------------

label() { if [ -n "$DSE_BENCH_SHORT" ]; then sed -u 's/^/[short run, no measurement] /'; else cat; fi; }

# Its exit status is in the file `status`, for a pipe has that of its end.
carry_out() {
    mkdir "$work/$1"
    {
        status=0
        (cd "$work/$1" && exec sh -c '. "$1"; . "$2"' sh "$here/lib.sh" "$(file_of "$1")") || status=$?
        echo "$status" >"$work/status"
    } | label | tee "$work/log"
    rm -rf "${work:?}/$1"
    read -r status <"$work/status"
    [ "$status" -eq 0 ] || { say "$1 FAILED with exit status $status"; return 1; }
}

# Are there rows, each with numbers where numbers belong? A number that is missing leaves two spaces, or one at the start.
check_rows() {
    [ -s "$DSE_BENCH_ROWS" ] || { say "$1 FAILED: it measured nothing"; return 1; }
    wrong=$(awk -F '\t' 'NF != 2 || $1 == "" || $2 !~ /[0-9]/ || $2 ~ /^ |  / || $2 ~ /(^|[^a-z])(nan|inf)([^a-z]|$)/' "$DSE_BENCH_ROWS")
    wrong=$wrong$(grep -Ei '(^|[^a-z])(nan|inf)([^a-z]|$)' "$work/log" || true)
    [ -z "$wrong" ] || { say "$1 FAILED: no number: $wrong"; return 1; }
}

# CPU seconds of all that this shell has waited for, as `times` wrote it into a file; in a substitution it would say nothing.
cpu_of() { awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "m"); s += 60 * t[1] + t[2] } print s }' "$1"; }

run_section() {
    start=$(date +%s)
    times >"$work/times"
    cpu=$(cpu_of "$work/times")
    load=$(cut -d' ' -f1 /proc/loadavg)
    : >"$DSE_BENCH_ROWS"
    end=failed
    if carry_out "$1" && check_rows "$1"; then end=done; fi
    times >"$work/times"
    awk -v name="$1" -v end="$end" -v wall="$(($(date +%s) - start))" -v a="$cpu" -v b="$(cpu_of "$work/times")" \
        'BEGIN { printf "%-10s %6d s, %7.1f s of CPU, %s\n", name, wall, b - a, end }' >>"$work/took"
    [ "$end" = done ]
}

# ---- the table ---------------------------------------------------------------------------------------------------------------

commit() {
    git -C "$source" rev-parse --short HEAD 2>/dev/null || { echo unknown; return; }
    git -C "$source" diff --quiet HEAD -- . ':!docs/speed.md' ':!bench/results.tsv' || echo "with changes"
}

machine() {
    printf '%s cores of %s, %s' "$(nproc)" "$(sed -n 's/^model name[^:]*: *//p; t end; b; :end q' /proc/cpuinfo)" "$("$build"/bench/bench_about)"
}

# The rows of a section instead of those it had: section, day, commit, machine, load average as it began, what, measured.
keep_rows() {
    [ -f "$results" ] || : >"$results"
    about=$1$tab$(date -u +%Y-%m-%d)$tab$(commit | tr '\n' ' ' | sed 's/ $//')$tab$(machine)$tab$load
    { grep -v "^$1$tab" "$results" || true; sed "s|^|$(printf '%s' "$about" | sed 's/[&|\\]/\\&/g')$tab|" "$DSE_BENCH_ROWS"; } >"$work/results"
    for name in $(names); do grep "^$name$tab" "$work/results" || true; done >"$results"
}

table() {
    echo '| what | measured | by |'
    echo '|---|---|---|'
    awk -F '\t' '
        { printf "| %s | %s | `%s`, %s |\n", $6, $7, $1, $2 }
        { run = $2 ", commit " $3 ", " $4 }
        !(run in sections) { runs[++n] = run; low[run] = high[run] = $5; sections[run] = "" }
        last != $1 { sections[run] = sections[run] (sections[run] == "" ? "" : ", ") "`" $1 "`"; last = $1 }
        $5 + 0 < low[run] + 0 { low[run] = $5 }
        $5 + 0 > high[run] + 0 { high[run] = $5 }
        END {
            print ""
            for (i = 1; i <= n; i++)
                printf "- %s: %s. Load average as they began: %s to %s.\n", runs[i], sections[runs[i]], low[runs[i]], high[runs[i]]
        }' "$results"
}

write_page() {
    begin='<!-- written by ./dev bench --update -->'
    end='<!-- end of the speeds -->'
    grep -qxF "$begin" "$source/docs/speed.md" && grep -qxF "$end" "$source/docs/speed.md" || { say "docs/speed.md has no place for the table: $begin"; return 1; }
    table >"$work/table"
    awk -v begin="$begin" -v end="$end" -v table="$work/table" '
        $0 == begin { print; while ((getline line <table) > 0) print line; skip = 1 }
        $0 == end { skip = 0 }
        !skip && $0 != begin { print }' "$source/docs/speed.md" >"$work/page"
    cat "$work/page" >"$source/docs/speed.md"
}

# ---- all of them -------------------------------------------------------------------------------------------------------------

[ $# -gt 0 ] || usage "run.sh BUILD [--short | --update] [SECTION...]"
build=$1
shift
DSE_BENCH_SHORT=
update=
chosen=
for word in "$@"; do
    case $word in
    --short) DSE_BENCH_SHORT=1 ;;
    --update) update=1 ;;
    --list) list && exit ;;
    -*) usage "unknown option $word; there are --short, --update and --list" ;;
    *)
        names | grep -qxF -e "$word" || usage "there is no section \"$word\", but these: $(names | tr '\n' ' ')"
        chosen="$chosen $word"
        ;;
    esac
done
[ -z "$update" ] || [ -z "$DSE_BENCH_SHORT" ] || usage "what a short run says is no measurement: --update and --short exclude each other"
[ "$build" != - ] || exit 0
[ -x "$build/src/cli/dse" ] && [ -x "$build/bench/bench_run" ] || usage "$build has no benches: meson setup with -Dbench=true, then ninja"
build=$(cd "$build" && pwd)
dse=$build/src/cli/dse
work=$(mktemp -d)
DSE_BENCH_ROWS=$work/rows
export DSE_BENCH_SHORT DSE_BENCH_ROWS build dse source
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

set -- ${chosen:-$(names)}
n=0
failed=
for name in "$@"; do
    n=$((n + 1))
    say "section $n of $#, $name"
    if ! run_section "$name"; then
        failed="$failed $name"
    elif [ -n "$update" ]; then
        keep_rows "$name"
        write_page
    fi
    tail -n 1 "$work/took" | sed 's/^/bench: /' >&2
    echo
done
say "seconds of each section:"
cat "$work/took" >&2
[ -z "$failed" ] || { say "FAILED:$failed"; exit 1; }
say "all of $# done"
