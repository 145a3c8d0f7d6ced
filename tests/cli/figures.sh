#!/bin/sh
# Every figure of plots/ is drawn from nothing, two at a time, and has what its query gives: a picture of a sensible size, the name of every series of its
# rows in the legend, and a diamond for every published point.
#     figures.sh DSE SOURCE BUILD
# All but those of exact fronts, which take a minute. Those that take minutes under AddressSanitizer are drawn by a release build: means over
# twelve heads, runs at event level, a million designs, and all measured rows for a figure of some of them (one, of all, is drawn). The two of
# them that take longest are left to DSE_SAMPLES=all. Sweeps that sweeps.sh runs, too, are run once for both; what a figure is held against is
# evaluated with its picture.
source=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
export LC_ALL=C.UTF-8 DSE_DATA_DIR="$source"

slow="lad_trillion shootout_trillion"
[ "${DSE_SAMPLES:-}" = all ] || slow="$slow lad_sram_refine lad_fig2b"
if nm -D "$DSE" 2>/dev/null | grep -q __asan_init; then slow="$slow lad_fig2b fidelity_latency lad_sram_refine lad_million measured_attention_context measured_gemm_rows measured_step_batch"; fi
: >names.txt
for file in "$source"/plots/*.toml; do
    name=$(basename "$file" .toml)
    case " $slow " in
    *" $name "*) ;;
    *) echo "$name" >>names.txt ;;
    esac
done
[ "$(wc -l <names.txt)" -ge 75 ] || fail "plots/ has only $(wc -l <names.txt) figures"
mkdir drawn
SHIPPED=$source/sweeps
for sweep in $(sed -n 's/^sweep *= *"\([^"]*\)".*/\1/p' $(sed "s|.*|$source/plots/&.toml|" names.txt) | sort -u); do
    is_shared "$SHIPPED/$sweep.toml" && ln -s "$(shipped "$sweep")" "drawn/$sweep.db"
done
# shellcheck disable=SC2046
"$DSE" figures $(cat names.txt) -f svg -o drawn -j 2 -q --data --gnuplot-script 2>said.txt || fail "dse figures: $(cat said.txt)"
[ ! -s said.txt ] || fail "dse figures -q says: $(cat said.txt)"

# The value of a key of a figure, of one line or between """: value FILE KEY
value() {
    awk -v key="$2" '
        inside { if (sub(/""".*/, "")) { print; exit } print; next }
        $1 == key && $2 == "=" {
            sub(/^[^=]*= */, "")
            if (sub(/^"""/, "")) { inside = 1; next }
            if (sub(/^\{.*column *= *"/, "") || sub(/^"/, "")) { sub(/".*/, ""); print }
            exit
        }' "$1"
}

# Names and what pictures call them.
"$DSE" list llms --format toml | awk '/^\[llms/ { name = $0; gsub(/^\[llms\."?my-|"?\]$/, "", name) } /^title = / { gsub(/^title = "|"$/, ""); gsub(/\./, "\\.", name); print "s/" name "/" $0 "/g" }' |
    sort -r >llms.sed
"$DSE" list models --format csv | tail -n +2 | sed 's/^"*\([a-z]*\)"*,"*\([^:]*\):.*/s\/^\1$\/\2\//' >models.sed
"$DSE" list formats --format toml |
    sed -n -e 's/^\[formats\.my-\(.*\)\]$/\1/; t keep' -e 's/^title *= "\(.*\)"$/\1/; T; H; x; s/\n/$\//; s/.*/s\/^&\//p; d' -e ':keep' -e h >formats.sed
[ "$(wc -l <formats.sed)" -ge 5 ] || fail "titles: $(cat formats.sed)"
[ "$(wc -l <llms.sed)" -ge 11 ] && [ "$(wc -l <models.sed)" -eq 5 ] || fail "titles: $(cat llms.sed models.sed)"
# One spelling: what a title, a label or a text of a figure says of an LLM is one of them.
"$DSE" list llms --format toml | sed -n 's/^title = "\(.*\)"$/\1/p' >titles.txt
sed -n -e "s/^title *= *\"\(.*\)\"$/\1/p" -e 's/.*label *= *"\([^"]*\)".*/\1/p' "$source"/plots/*.toml | grep -oiE '[a-z-]*(llama|chatglm|mistral|qwen|opt-)[-a-z0-9. ]*[0-9]b' >spelled.txt || true
[ -s spelled.txt ] || fail "no figure names an LLM"
while read -r one; do
    grep -qxF "$one" titles.txt || fail "a figure says \"$one\", which is the title of no LLM"
done <spelled.txt

# How many points are published, of all figures that no sweep feeds: their claims are evaluated once.
while read -r name; do
    file=$source/plots/$name.toml
    [ -z "$(value "$file" sweep)" ] || continue
    value "$file" reference_sql >reference.sql
    [ ! -s reference.sql ] || printf "SELECT '%s', count(*) FROM (%s) UNION ALL " "$name" "$(cat reference.sql)"
done <names.txt >published.sql
"$DSE" query :memory: "$(cat published.sql) SELECT '', 0" --format csv | tr -d '"\r' >published.csv || fail "published points"

while read -r name; do
    file=$source/plots/$name.toml svg=drawn/$name.svg sweep=$(value "$file" sweep)
    database=:memory:
    [ -z "$sweep" ] || database=drawn/$sweep.db
    [ -s "$svg" ] || fail "$name: no picture"
    size=$(wc -c <"$svg")
    { [ "$size" -gt 2048 ] && [ "$size" -lt 2000000 ]; } || fail "$name: a picture of $size bytes"
    value "$file" sql >query.sql
    [ -s query.sql ] || fail "$name: no sql"
    cp "drawn/$name.csv" rows.csv
    cp "drawn/$name.gp" script.gp
    sed -i 's/\r$//' rows.csv
    rm -f rows.db
    sqlite3 rows.db '.mode csv' '.import rows.csv result'
    rows=$(sqlite3 rows.db 'SELECT count(*) FROM result')
    [ "$rows" -gt 1 ] || fail "$name: its query gives $rows rows"

    series=$(value "$file" series)
    if [ -n "$series" ]; then
        sqlite3 rows.db "SELECT DISTINCT \"$series\" FROM result WHERE \"$series\" <> ''" |
            sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g' >series.txt
        [ -s series.txt ] || fail "$name: no series"
        case $series in model) sed -f models.sed series.txt ;; format) sed -f formats.sed series.txt ;; *) sed -f llms.sed series.txt ;; esac >shown.txt && mv shown.txt series.txt
        while read -r one; do
            grep -qF ">$one<" "$svg" || grep -qF "$one" "$svg" || fail "$name: the legend has no \"$one\""
        done <series.txt
    fi

    quoted=$(value "$file" quoted)
    if [ -n "$quoted" ]; then # hatched, and the legend says so
        grep -qF 'quoted from the paper' "$svg" || fail "$name: the legend does not say what is quoted"
        hatched=$(grep -a '^plot ' script.gp | sed 's/record=/\n/g' | sed -n 's/^(\([0-9]*\)).* fs transparent pattern .*/\1/p')
        want=$(sqlite3 rows.db "SELECT count(*) FROM result WHERE CAST(\"$quoted\" AS REAL)")
        [ "$hatched" -eq "$want" ] || fail "$name: $want bars are quoted and $hatched hatched"
        [ "$want" -eq "$rows" ] || grep -qF 'modelled' "$svg" || fail "$name: the legend does not say what is modelled"
    fi
    # What a paper says of others is in no bar that looks like a model's.
    ! grep -q 'coalesce(modelled, value)' query.sql || [ -n "$quoted" ] || fail "$name: quoted numbers are not told apart"

    value "$file" reference_sql >reference.sql
    [ -s reference.sql ] || continue
    label=$(value "$file" reference_label)
    grep -qF "${label:-published}" "$svg" || fail "$name: the legend has no \"${label:-published}\""
    if [ -n "$sweep" ]; then points=$("$DSE" query "$database" "SELECT count(*) FROM ($(cat reference.sql))" --format csv | sed -n '2{s/[^0-9]//g;p}')
    else points=$(sed -n "s/^$name,//p" published.csv); fi
    [ "$points" -gt 0 ] || fail "$name: no published points"
    diamonds=$(grep -a '^plot ' script.gp | sed 's/record=/\n/g' | sed -n 's/^(\([0-9]*\)).*with points pt 12 .*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
    [ "$diamonds" -eq "$points" ] || fail "$name: $points published points and $diamonds diamonds"
done <names.txt
