#!/bin/sh
# Needs: openmpi-bin
# What README.md and the pages of docs/ show is what happens: every block runs, file by file and line by line, and what is printed below a command is what comes
# out. Commands in running text are commands with such options.
#     docs.sh DSE SOURCE BUILD [PAGE...]
#
# A block of ``` is, by its language or its first line,
#   commands   sh, or indented by four spaces: each line runs, in the order of the page, in one folder a page. In a block with "$ " before its commands the lines
#              below a command are its output; a line "..." among them stands for lines that are left out.
#   sql        statements for the database that its first line names: -- results/NAME.db
#   toml       a sweep file or a part of one, a figure, a catalog, claims
#   a file     whose first line says its name, # NAME, and which another block names. TOML and Python may have one, too.
# A block that is none of these is an error. A page finds what ships (sweeps/, plots/, catalog/, examples/), and what its reader would bring: see `brings`.
SOURCE=$(cd "$2" && pwd) BUILD=$3
. "$(dirname "$0")/lib.sh"
shift 3
export LC_ALL=C.UTF-8 NO_COLOR=1 XDG_CONFIG_HOME="$WORK/none" PYTHONPATH="$SOURCE/tests/cli/fake_transformers" PYTHONDONTWRITEBYTECODE=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,tcp OMPI_MCA_plm=isolated
unset SLURM_ARRAY_TASK_ID SLURM_PROCID SLURM_JOB_ID PMI_RANK DSE_CATALOG DSE_PLUGINS
SHIPPED=$SOURCE/sweeps
left_out=
LIMIT_S=300 # of one command, under sanitizers and on a busy machine
. "$SOURCE/tests/cli/docs.lib"
programs

wrong() { # LINE MESSAGE
    printf 'FAILED: %s:%s: %s\n' "$page" "$1" "$2" >&2
    echo "$page" >>"$WORK/wrong"
}

# The blocks of a page as 1.block, 2.block, ... and in `index` a line each: number, line of its first line, language. In `inline` the code in running text, with its line.
split_page() { # FILE
    : >index
    : >inline
    awk '
        function begin(language) { n++; print n, FNR + (language != "indented"), language == "" ? "none" : language >"index" }
        function put(text) { print text >(n ".block") }
        /^```/ { if (fenced) fenced = 0; else { fenced = 1; indented = 0; begin(substr($0, 4)); printf "" >(n ".block") } next }
        fenced { put($0); next }
        /^    / && (indented || (blank && $1 ~ /^(\$|dse|sqlite3|mpirun|sudo|cc)$/)) { if (!indented) begin("indented"); indented = 1; put(substr($0, 5)); next }
        { indented = 0; blank = $0 ~ /^$/ }
        blank { inside = 0; next }
        {
            parts = split($0, part, "`")
            for (i = 1; i <= parts; i++) {
                if (i > 1) { if (inside) print at "\t" span >"inline"; inside = !inside; span = ""; at = FNR }
                if (inside) span = span (i == 1 ? " " : "") part[i]
            }
        }' "$1"
}

run() { # LINE COMMAND
    case $2 in 'mpirun '*) command -v mpirun >/dev/null || { left_out=$2 && return; } ;; esac
    status=0
    (cd here && timeout "$LIMIT_S" sh -c "$2") >out.txt 2>err.txt </dev/null || status=$?
    [ "$status" -eq 0 ] || wrong "$1" "$2: exit status $status: $(head -n 5 err.txt)"
}

# What the page shows below a command is what it printed; nothing shown is nothing claimed. A line of "..." stands for any lines that are left out.
compare() { # LINE
    [ ! -s shown.txt ] || python3 "$SOURCE/tests/cli/docs_shown.py" shown.txt out.txt >differs.txt || wrong "$1" "another output is shown than comes out: $(head -n 6 differs.txt)"
}

commands() { # BLOCK LINE
    line=$2 asked=
    : >shown.txt
    prompt=$(grep -o '^\$ ' "$1" | head -n 1 | tr -d ' ')
    while IFS= read -r text; do
        case $prompt$text in
        '$$ '*)
            [ -z "$asked" ] || compare "$asked"
            asked=$line
            : >shown.txt
            run "$line" "${text#\$ }"
            ;;
        '$'*) printf '%s\n' "$text" >>shown.txt ;;
        '' | '#'* | ' '*'#'*) ;;
        *) run "$line" "$text" ;;
        esac
        line=$((line + 1))
    done <"$1"
    [ -z "$asked" ] || compare "$asked"
}

# The statements of a block, each with its line; one ends with a line that ends in a semicolon.
statements() { # BLOCK LINE
    db=$(sed -n '1s/^-- \([^ ]*\.db\)$/\1/p' "$1")
    if [ -z "$db" ]; then
        wrong "$2" "the first line of an sql block names its database: -- results/NAME.db"
        return
    fi
    have "$db"
    line=$2 statement=
    while IFS= read -r text; do
        case $text in '--'*) ;; *) statement="$statement $text" ;; esac
        case $text in
        *';')
            (cd here && "$DSE" query "$db" "$statement") >out.txt 2>err.txt || wrong "$line" "$statement: $(cat err.txt)"
            statement=
            ;;
        esac
        line=$((line + 1))
    done <"$1"
    [ -z "$statement" ] || wrong "$line" "a statement without a semicolon: $statement"
}

has() { grep -q "^\[\[\{0,1\}$1[].]" "$2"; } # TABLE FILE

# Give a part of a sweep file what it lacks of a whole one.
complete_sweep() { # BLOCK
    sed 's/^\[sweep\].*/&\nname = "part"\nmodels = ["lad"]/' "$1"
    has sweep "$1" || printf '[sweep]\nname = "part"\nmodels = ["lad"]\n'
    ! has refine "$1" || printf 'fidelity = "refine"\n'
    has params "$1" || printf '[params]\ntiles = { from = 1, to = 16, step = 1 }\nsram_mib = { from = 0.125, to = 8, step = 0.125 }\nclock_ghz = { from = 0.5, to = 2, points = 16 }\n'
    has objectives "$1" || printf '[objectives]\ntokens_per_s = "max"\narea_mm2 = "min"\n'
}

toml() { # BLOCK LINE
    cp "$1" here/block.toml
    if has sweep "$1" && has objectives "$1"; then
        (cd here && "$DSE" sweep block.toml -q --no-figures -o block.db) >out.txt 2>err.txt || wrong "$2" "the sweep file does not run: $(cat err.txt)"
        [ "$(sqlite3 here/block.db 'select min(feasible) from run' 2>err.txt)" -gt 0 ] 2>/dev/null || wrong "$2" "no point of the sweep file is feasible"
    elif has figure "$1"; then
        db=$(figure_db)
        have "$db"
        (cd here && "$DSE" plot block.toml "$db" -o block.svg) >out.txt 2>err.txt || wrong "$2" "the figure is not drawn: $(cat err.txt)"
    elif grep -qE '^\[(sweep|constraints|sample|search|requests|refine|baseline|equal)\]' "$1" && ! grep -q '^source' "$1" || grep -qE '^(attention_error|retained_mass|trust) *=' "$1"; then
        complete_sweep "$1" >here/block.toml
        (cd here && "$DSE" sweep block.toml --dry-run) >out.txt 2>err.txt || wrong "$2" "a sweep file does not take it: $(cat err.txt)"
    elif has claims "$1"; then
        claims "$1" "$2"
    elif grep -qE '^\[\[(bind|kind|cause)\]\]|^\[fit\.' "$1"; then
        bindings "$1" "$2"
    elif grep -qE "^\[($kinds)[].]" "$1"; then
        (cd here && "$DSE" list -c block.toml) >out.txt 2>err.txt || wrong "$2" "the catalog is not read: $(cat err.txt)"
    else
        wrong "$2" "a block of TOML that is no sweep file, part of one, figure, catalog or claims: say how docs.sh tries it"
    fi
}

# The name of a file in its first line: "# NAME" or "# NAME: what it is".
named() { sed -n '1s/^# \([A-Za-z0-9_./-]*\.[a-z0-9]*\)\(:.*\)\{0,1\}$/\1/p' "$1"; } # BLOCK

# Files of the page lie there before its first command.
write_named() {
    while read -r n line _; do
        name=$(named "$n.block")
        [ -n "$name" ] || continue
        mkdir -p "here/$(dirname "$name")"
        cp "$n.block" "here/$name"
        [ "$(grep -lF -- "$name" ./*.block | wc -l)" -gt 1 ] || wrong "$line" "no other block of the page reads $name"
    done <index
}

block() { # N LINE LANGUAGE
    if elsewhere "$page" "$3"; then return; fi
    first=$(head -n 1 "$1.block")
    case $3 in
    sh | indented) commands "$1.block" "$2" ;;
    sql) statements "$1.block" "$2" ;;
    toml) toml "$1.block" "$2" ;;
    *)
        case $3$first in
        none'$ '* | 'nonedse '* | 'nonesqlite3 '* | 'nonempirun '*) commands "$1.block" "$2" ;;
        *) [ -n "$(named "$1.block")" ] || wrong "$2" "a block that is neither run nor a file with a name" ;;
        esac
        ;;
    esac
}

help_of() { # COMMAND...: a file with its help and that of dse
    of=$WORK/help$(printf '.%s' "$@")
    [ -f "$of" ] || { "$DSE" "$@" --help && "$DSE" --help; } >"$of" 2>&1 || printf 'unknown' >"$of"
    echo "$of"
}

# A command in running text: there is such a command, and it has the options. A file of ours that it names is there.
inline() { # LINE TEXT
    set -f
    # shellcheck disable=SC2046
    set -- "$1" $(printf '%s' "$2" | sed 's/^\$ //; s/^mpirun .*dse /dse /; s/^dse --plugin [^ ]* /dse /')
    set +f
    line=$1 command=${3:-}
    case $command in
    COMMAND | '') return ;;
    esac
    help=$(help_of "$command")
    if [ "$(cat "$help")" = unknown ]; then
        wrong "$line" "dse $command is no command"
        return
    fi
    shift 3
    case $command:${1:-} in
    trace:[a-z]* | llm:[a-z]*) grep '^Usage:' "$help" | grep -q "[ |]$1\([ |.]\|$\)" || wrong "$line" "dse $command has no $1" ;;
    esac
    for word; do
        case $word in
        sweeps/NAME.toml | plots/NAME.toml) ;;
        --[a-z]*)
            word=${word%%=*}
            grep -q -- "$word\\([^a-z-]\\|$\\)" "$help" || wrong "$line" "dse $command has no option $word"
            ;;
        sweeps/*.toml | plots/*.toml) [ -f "$SOURCE/$word" ] || wrong "$line" "there is no $word" ;;
        esac
    done
}

# What would look like an example and be none: other fences, fences in lists, HTML, and lines above the first command of a block.
odd_blocks() {
    awk '
        /^~~~/ || /^ +```/ || /^> *```/ || /^<pre/ { print FNR "\tan example in other marks than ``` at the begin of a line is not tried" }
        /^```/ { fenced = !fenced; first = FNR; prompted = before = 0; next }
        fenced && /^\$ / && !prompted++ && before { print first "\tlines above the first command of a block are not compared" }
        fenced { before = 1 }
    ' "$1"
}

try_page() { # PAGE
    page=$1
    odd_blocks "$SOURCE/$page" >"$WORK/odd"
    while IFS='	' read -r line text; do wrong "$line" "$text"; done <"$WORK/odd"
    rm -rf "$WORK/page"
    mkdir -p "$WORK/page/here/results"
    cd "$WORK/page" || exit
    split_page "$SOURCE/$page"
    write_named
    brings "$page"
    while read -r n line language; do
        block "$n" "$line" "$language" 3>&-
    done <index
    while IFS='	' read -r line text; do
        case $text in 'dse '* | 'mpirun '*'dse '*) inline "$line" "$text" ;; esac
    done <inline
}

# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(cd "$SOURCE" && echo README.md docs/*.md docs/*/*.md models/*/README.md examples/*/README.md)
for one; do
    try_page "$one"
done
[ ! -s "$WORK/wrong" ] || fail "$(wc -l <"$WORK/wrong") places in $(sort -u "$WORK/wrong" | wc -l) pages do not hold"
if [ -n "$left_out" ]; then
    echo "SKIPPED: there is no mpirun for $left_out: ./dev deps, or apt-get install openmpi-bin"
    exit 77
fi
