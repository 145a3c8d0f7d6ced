#!/bin/sh
# On a terminal nothing is wider than it unless asked, words stay whole, what is long goes through a pager; in a file lines are as long as they get.
. "$(dirname "$0")/lib.sh"
source=$2
unset COLUMNS LINES LESS PAGER 2>/dev/null || true
export DSE_PAGER= NO_COLOR=1

# What a command prints on a terminal of so many columns; script is of bsdutils, which every Debian has.
on_terminal() { # COLUMNS ROWS COMMAND
    script -qefc "stty cols $1 rows $2; $3" /dev/null </dev/null | tr -d '\r'
}
widest() { awk '{ if (length($0) > w) w = length($0) } END { print w + 0 }' "$1"; }
narrow() { # COLUMNS COMMAND: no line is wider, and it says as many words as a file gets
    on_terminal "$1" 40 "$DSE $2" | sed "s/.*$(printf '\033')\[K//" >tty.txt # without what was drawn over
    [ -s tty.txt ] || fail "$2: nothing on a terminal"
    grep -v '^  dse ' tty.txt >lines.txt || true # a command to copy stays in one piece
    [ "$(widest lines.txt)" -le "$1" ] || fail "$2: $(widest lines.txt) characters on a terminal of $1"
}

"$DSE" sweep "$source/sweeps/lad_sram.toml" --no-figures -o sram.db -q >/dev/null
for columns in 80 60; do
    for command in "eval lad" "eval lad --all" "eval lad --breakdown" "eval lad --equations" "eval ane --fidelity event-level" "describe lad" "describe lad --all" "describe flashdecoding --all" \
        "list" "list models" "list llms" "list memories" "list gpus" "list engines" "list profiles" "list requests" "pareto sram.db" \
        "pareto sram.db --max tokens_per_s --min power_w" "query sram.db 'select * from lad limit 3'" "query sram.db 'select * from run'" "validate ane" "validate lad" \
        "--help" "eval --help" "list --help" "validate --help"; do
        narrow $columns "$command"
    done
done

# Words stay whole: each of the file is one of the terminal.
words() { tr -s ' \n;' '\n' <"$1" | sort -u; }
"$DSE" describe lad --all >file.txt
on_terminal 80 40 "$DSE describe lad --all" >tty.txt
words file.txt >file.words
words tty.txt >tty.words
[ -z "$(comm -23 file.words tty.words)" ] || fail "words are cut at 80 columns: $(comm -23 file.words tty.words | head)"

# All columns and rows are there when the table is cut into several.
on_terminal 80 40 "$DSE list memories" >tty.txt
[ "$(grep -c '^hbm3-h100-80gb ' tty.txt)" -gt 2 ] || fail "list memories: no several tables"
grep -q 'HBM3_5600Mbps' tty.txt || fail "list memories: the sources are gone"

# Asked to, and in a file, lines are whole.
on_terminal 80 40 "$DSE list llms --wide" >wide.txt
"$DSE" list llms >file.txt
cmp -s wide.txt file.txt || fail "--wide is not what a file gets"
[ "$(widest file.txt)" -gt 100 ] || fail "a file gets narrow lines"
COLUMNS=60 "$DSE" list llms | cmp -s - file.txt || fail "COLUMNS makes the lines of a file narrow"

# The pager: ours, theirs, none; only on a terminal.
paged() { # COMMAND: is it seen by the pager (which writes in capitals)?
    on_terminal 80 24 "$1" | grep -q 'META-LLAMA'
}
paged "DSE_PAGER='tr a-z A-Z' $DSE list llms" || fail "DSE_PAGER is not used"
paged "unset DSE_PAGER; PAGER='tr a-z A-Z' $DSE list llms" || fail "PAGER is not used"
paged "DSE_PAGER= PAGER='tr a-z A-Z' $DSE list llms" && fail "an empty DSE_PAGER is no pager"
paged "DSE_PAGER='tr a-z A-Z' $DSE list llms --no-pager" && fail "--no-pager has one"
paged "DSE_PAGER='tr a-z A-Z' $DSE --no-pager list llms" && fail "--no-pager before the command has one"
paged "DSE_PAGER='tr a-z A-Z' $DSE list llms >f; cat f" && fail "a file has a pager"
on_terminal 80 24 "DSE_PAGER=no-such-pager $DSE list llms" | grep -q 'meta-llama' || fail "without the pager's program nothing is seen"
# Notes stand where the rows do; who leaves early has seen what he wanted.
on_terminal 80 24 "DSE_PAGER='tr a-z A-Z' $DSE eval lad --set llm=opt-2.7b --set context=4096" | grep -q 'DSE: THIS POINT IS INFEASIBLE' ||
    fail "notes are not in the pager"
on_terminal 80 24 "DSE_PAGER='head -n 1' $DSE query sram.db 'select * from lad' --format csv; echo status \$?" | grep -q '^status 0' ||
    fail "a pager that ends early is an error"

# Without characters of UTF-8 in the locale a name of them is still one.
LC_ALL=C "$DSE" query :memory: "select 'Häufigkeit' as name" | grep -q 'Häufigkeit' || fail "UTF-8 becomes numbers"
"$DSE" query :memory: "select char(27) || '[31mred' as name" | grep -q "$(printf '\033')" && fail "a text gives orders to the terminal"
on_terminal 40 24 "$DSE query :memory: \"select 1 as a, '$(printf 'word %.0s' 1 2 3 4 5 6 7 8 9 10 11 12)' || char(27) || '[31mred' as name\"" >tty.txt
grep -q "$(printf '\033')" tty.txt && fail "a text gives orders to the terminal"

# The progress line is drawn over itself, so it must not wrap.
write_sweep big.toml
for columns in 80 60 30; do
    on_terminal $columns 24 "$DSE sweep big.toml --fresh --no-figures -o big$columns.db" | tr '\033' '\n' | sed -n 's/^\[K//p' | grep '%  ' >bar.txt || true
    [ -s bar.txt ] || fail "no progress on a terminal"
    [ "$(widest bar.txt)" -lt $columns ] || fail "progress of $(widest bar.txt) characters on a terminal of $columns: $(head -n 1 bar.txt)"
done
