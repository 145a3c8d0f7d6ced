#!/bin/sh
# docs/reference/gallery.md shows every figure of plots/ with its question, the first line of its file.
#     gallery.sh DSE SOURCE BUILD       check that it lists all of them, in order, with their questions, and that each picture is there
#     gallery.sh DSE SOURCE --update    draw docs/pictures anew and write docs/reference/gallery.md
source=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
export LC_ALL=C.UTF-8 DSE_DATA_DIR="$source"
pictures=$source/docs/pictures

# The comment that a figure begins with, up to its first empty line or end: one line.
question() {
    awk '!/^#/ || /^#$/ { exit } { sub(/^# */, ""); printf "%s%s", n++ ? " " : "", $0 } END { print "" }' "$1"
}

# " Rows in closed form." of a figure of a sweep's rows.
drawn_at() {
    sweep=$(sed -n 's/^sweep *= *"\([^"]*\)".*/\1/p' "$1" | head -n 1)
    [ -n "$sweep" ] && [ -f "$source/sweeps/$sweep.toml" ] || return 0
    case $(sed -n 's/^fidelity *= *"\([^"]*\)".*/\1/p' "$source/sweeps/$sweep.toml") in
    event-level) echo ' Rows at event level.' ;;
    refine) echo ' Rows in closed form; the front, and its rivals, at event level.' ;;
    *) echo ' Rows in closed form.' ;;
    esac
}

{
    cat <<'TEXT'
# Gallery

Every figure that comes with dse: what it asks, the picture, and the command that draws it. `dse figures all -o DIR` draws all. Open diamonds are published
numbers. Written by `tests/cli/gallery.sh DSE SOURCE --update`; how a figure is made: [figures](figure-file.md).
TEXT
    for file in "$source"/plots/*.toml; do
        name=$(basename "$file" .toml)
        printf '\n## %s\n\n%s%s\n\n![%s](../pictures/%s.png)\n\n    dse figures %s\n' "$name" "$(question "$file")" "$(drawn_at "$file")" "$name" "$name" "$name"
    done
} >gallery.md
if [ "${3:-}" = --update ]; then
    "$DSE" figures all --dpi 110 -q -o drawn || fail "dse figures all"
    mkdir -p "$pictures"
    rm -f "$pictures"/*.png
    cp drawn/*.png "$pictures"
    cp gallery.md "$source/docs/reference/gallery.md"
    exit 0
fi

for file in "$source"/plots/*.toml; do
    case $(question "$file") in
    *\?*) ;;
    *) fail "$file does not begin with the question that it answers" ;;
    esac
done
diff "$source/docs/reference/gallery.md" gallery.md || fail "docs/reference/gallery.md is another; tests/cli/gallery.sh DSE SOURCE --update writes it"
for file in "$source"/plots/*.toml; do basename "$file" .toml; done >figures.txt
for file in "$pictures"/*.png; do basename "$file" .png; done >pictures.txt
diff pictures.txt figures.txt || fail "docs/pictures has other pictures than plots has figures; tests/cli/gallery.sh DSE SOURCE --update draws them"
for file in "$pictures"/*.png; do
    [ "$(head -c 8 "$file" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "$file is no PNG"
done
[ "$(cat "$pictures"/*.png | wc -c)" -lt 2600000 ] || fail "docs/pictures has more than 2.5 MB"
