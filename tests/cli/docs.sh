#!/bin/sh
# Every whole sweep file of the documents runs as it stands there, and has feasible points; readme.sh runs the commands of the README.
#     docs.sh DSE SOURCE
SOURCE=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
cp -r "$SOURCE/plots" .

# The blocks of TOML of a file: block.1, block.2, ...; the line where each begins stands in block.N.line.
blocks() { # FILE
    awk '$0 == "```toml" { n++; on = 1; print FNR >("block." n ".line"); next }
        /^```/ { on = 0 }
        on { print >("block." n) }' "$1"
}
swept=0
for page in "$SOURCE"/docs/*.md "$SOURCE"/models/*/README.md; do
    rm -f block.*
    blocks "$page"
    for block in block.*; do
        case $block in *.line | 'block.*') continue ;; esac
        grep -q '^\[sweep\]' "$block" && grep -q '^\[objectives\]' "$block" || continue
        at="${page#"$SOURCE"/}:$(cat "$block.line")"
        cp "$block" example.toml
        rm -f example.db
        "$DSE" sweep example.toml -q --no-figures -o example.db >/dev/null 2>err.txt </dev/null || fail "$at: the sweep file does not run: $(cat err.txt)"
        feasible=$(sqlite3 example.db 'select min(feasible) from run')
        [ "$feasible" -gt 0 ] || fail "$at: no point of the sweep file is feasible"
        swept=$((swept + 1))
    done
done
[ "$swept" -gt 0 ] || fail "no document has a sweep file"
