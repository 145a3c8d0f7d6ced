#!/bin/sh
# Needs: npm-report
# A disk on which the n-th write, sync or name fails: the command says so with exit status 1, or has done all of it, and the same command
# goes on to the rows of an undisturbed run. Commands that only read change nothing beside a database.
. "$(dirname "$0")/lib.sh"
build=$3
WRITES=1 SHORT=2 SYNCS=3 NAMES=4 ENOSPC=28 EIO=5 EACCES=13
write_sweep s.toml
sed -i 's/points = 16/points = 2/; s/step = 64/step = 512/' s.toml
every=29
[ "${DSE_SAMPLES:-}" = all ] && every=5

# ---- reading ----------------------------------------------------------------------------------------------------------------
mkdir -p read
"$DSE" sweep s.toml -q -o read/s.db >/dev/null
listing() { find read -type f -exec sha256sum {} +; }
before=$(listing)
reads() { # COMMAND...: it works although nothing below read/ can be changed, and changes nothing
    for kind in $WRITES $SYNCS $NAMES; do
        ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD="$build/tests/cli/disk_faults.so" DISK_FAULT="$kind 0 1 $EACCES $WORK/read" DISK_COUNT="$WORK/calls" "$@" >out.txt 2>said.txt ||
            fail "$*: $(cat said.txt)"
        [ "$(cat calls)" -eq 0 ] || fail "$* tried to change something $(cat calls) times"
        [ "$(listing)" = "$before" ] || fail "$* has changed the database or left something beside it"
    done
}
reads "$DSE" query read/s.db 'select count(*) from lad'
reads "$DSE" pareto read/s.db
reads "$DSE" check read/s.db
reads "$DSE" report read/s.db -o page.html

# ---- writing ----------------------------------------------------------------------------------------------------------------
"$DSE" sweep s.toml -q --shard 1/2 -o one.db >/dev/null
"$DSE" sweep s.toml -q --shard 2/2 -o two.db >/dev/null
expected=$(rows read/s.db lad)
sweep() { "$DSE" sweep s.toml -q -j 1 --no-figures -o disk/s.db; }
merge() { "$DSE" merge disk/s.db one.db two.db; }
tried=0
fails_at() { # COMMAND KIND AT STAYS ERRNO
    rm -rf disk
    mkdir disk
    status=0
    ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD="$build/tests/cli/disk_faults.so" DISK_FAULT="$2 $3 $4 $5 $WORK/disk" DISK_COUNT="$WORK/calls" "$1" >out.txt 2>said.txt || status=$?
    case $status in
    0) [ "$(rows disk/s.db lad)" = "$expected" ] || fail "$*: said to be well, and other rows" ;;
    1) grep -q 'error: ' said.txt || fail "$*: no message: $(cat said.txt)" ;;
    *) fail "$*: exit status $status: $(cat said.txt)" ;;
    esac
    "$1" >out.txt 2>said.txt || fail "$*: the same command does not go on: $(cat said.txt)"
    [ "$(rows disk/s.db lad)" = "$expected" ] || fail "$*: other rows after going on"
    tried=$((tried + 1))
}
everywhere() { # COMMAND KIND STAYS ERRNO
    at=0
    while [ $at -eq 0 ] || [ "$(cat calls)" -gt $((at - every)) ]; do
        fails_at "$1" "$2" $at "$3" "$4"
        at=$((at + every))
    done
}
for command in sweep merge; do
    everywhere $command $WRITES 1 $ENOSPC
    everywhere $command $WRITES 0 $EIO
    everywhere $command $SHORT 0 $ENOSPC
    everywhere $command $SYNCS 0 $EIO
    everywhere $command $NAMES 0 $EACCES
done
[ $tried -gt 20 ] || fail "only $tried faults"
