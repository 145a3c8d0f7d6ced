#!/bin/sh
# Every command of the README that starts with `dse` runs as it is written.
. "$(dirname "$0")/lib.sh"
root=$2
cp -r "$root/sweeps" "$root/plots" .
mkdir bin
ln -s "$DSE" bin/dse
PATH=$WORK/bin:$PATH
awk '/^```sh/ {on = 1; next} /^```/ {on = 0} on && /^(dse|sqlite3) /' "$root/README.md" >commands.txt
[ -s commands.txt ] || fail "the README shows no commands"
while IFS= read -r line; do
    sh -c "$line" >out.txt 2>err.txt </dev/null || fail "$line: $(cat err.txt)"
done <commands.txt
