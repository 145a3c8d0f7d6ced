#!/bin/sh
# Needs: mandoc
# The manual: a page for every command, model and format that is installed, with every option, and nothing that mandoc complains about.
. "$(dirname "$0")/lib.sh"
pages=$3/src/cli
"$DSE" --help >help
commands=$(sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' help | grep -v '^dse$')
[ "$(echo "$commands" | wc -l)" -gt 20 ] || fail "few commands: $commands"
for c in $commands; do
    [ -s "$pages/dse-$c.1" ] || fail "dse $c has no page"
    grep -q "dse-$c 1" "$pages/dse.1" || fail "dse(1) does not name $c"
    "$DSE" "$c" --help | sed -n 's/^ .* --\([a-z-]*\).*/\1/p' | while read -r option; do
        grep -q "^.It.*Fl -$option" "$pages/dse-$c.1" || grep -q -- "--$option" "$pages/dse-$c.1" || fail "dse-$c(1) has no --$option"
    done
done
for m in $("$DSE" list models --format csv | sed '1d;s/,.*//' | tr -d '"'); do
    [ -s "$pages/dse-$m.7" ] || fail "model $m has no page"
    for p in $("$DSE" describe "$m" --format csv | sed '1d' | tr -d '"' | cut -d, -f1 | head -5); do
        grep -q "$p" "$pages/dse-$m.7" || fail "dse-$m(7) has no $p"
    done
done
for f in sweep-file catalog database figure trace claims measured model-toml quality; do
    [ "$(wc -l <"$pages/dse-$f.5")" -gt 50 ] || fail "dse-$f(5) is empty"
done
! "$DSE" --help | grep -qE '^  (manual|complete) ' || fail "a command that is not for people is listed"
if ! command -v mandoc >/dev/null; then
    echo "SKIPPED: there is no mandoc to check the manual with" >&2
    exit 77
fi
mandoc -Tlint -W warning "$pages"/*.[157] >lint || true
[ ! -s lint ] || fail "mandoc complains: $(head -20 lint)"
mandoc -Tutf8 "$pages/dse-sweep.1" | col -b 2>/dev/null | grep -q 'EXIT STATUS' || fail "dse-sweep(1) cannot be read"
