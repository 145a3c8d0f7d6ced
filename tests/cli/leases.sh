#!/bin/sh
# Workers that lease blocks of points: eight of them, killed at random, stopped, joining late; and the rows of a plain run.
. "$(dirname "$0")/lib.sh"
build=$3
write_sweep s.toml
sed -i 's/points = 16/points = 5/' s.toml
"$DSE" sweep s.toml -q -j 2 -o whole.db >/dev/null
expected=$(rows whole.db lad)
front() { sqlite3 "$1" 'select point from front order by 1' | sha256sum; }
is_whole() { # DB WHAT
    [ "$(rows "$1" lad)" = "$expected" ] || fail "$2: other rows"
    [ "$(front "$1")" = "$(front whole.db)" ] || fail "$2: another front"
    [ "$(sqlite3 "$1" 'select count(*), min(shard), min(status), min(done) = min(planned) from run')" = '1||done|1' ] ||
        fail "$2: the run is $(sqlite3 "$1" 'select shard, status, done, planned from run')"
    [ "$(sqlite3 "$1" 'select count(*), min(feasible) from run')" = "$(sqlite3 whole.db 'select 1, feasible from run')" ] || fail "$2: counts"
    "$DSE" check "$1" >checked.txt || fail "$2: $(cat checked.txt)"
}
worker() { "$DSE" sweep s.toml -q -j 1 --lease "$1" --lease-age "${2:-1}"; }
blocks() { find "$1/leases/$2" -type f | wc -l; }

# ---- one worker, and one that comes late ------------------------------------------------------------------------------------
"$DSE" sweep s.toml --lease one >out.txt 2>said.txt
[ ! -s out.txt ] || fail "a worker prints a front: $(cat out.txt)"
grep -q '^test: 15 of the 15 blocks in one: 59,280 points' said.txt || fail "said: $(cat said.txt)"
grep -q 'dse merge results/test.db one$' said.txt || fail "no word about merging: $(cat said.txt)"
"$DSE" merge one.db one
is_whole one.db "one worker"
"$DSE" sweep s.toml --lease one 2>said.txt
grep -q '^test: 0 of the 15 blocks' said.txt || fail "a late worker said: $(cat said.txt)"
[ "$(find one -name '*.db' | wc -l)" -eq 1 ] || fail "a worker without a block has a database"
"$DSE" sweep s.toml -o one.db 2>said.txt >/dev/null
grep -q 'already' said.txt || fail "the merged run is not known as the whole: $(cat said.txt)"

# Files of workers one by one, as shards, and the merged one among them.
worker two
for db in two/*.db; do "$DSE" merge parts.db "$db"; done
"$DSE" merge parts.db one.db two
is_whole parts.db "files of workers"

# ---- a database that is lost -------------------------------------------------------------------------------------------------
lost=$(ls two/*.db)
rm "$lost"
"$DSE" merge none.db two 2>said.txt && fail "merged without a database"
grep -q "is not there: .dse sweep FILE --lease two. does its blocks again" said.txt || fail "said: $(cat said.txt)"
worker two
"$DSE" merge again.db two
is_whole again.db "blocks of a lost database"

# ---- eight workers, killed at random -----------------------------------------------------------------------------------------
seed=20261123
random() { # BELOW: a number, in $drawn
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 4096 % $1))
}
pids=
start() { # a worker more
    "$DSE" sweep s.toml -q -j 1 --lease chaos --lease-age 1 &
    pids="$pids $!"
}
pick() { # one of them, in $picked
    # shellcheck disable=SC2086
    set -- $pids
    random $#
    shift "$drawn"
    picked=$1
}
while [ "$(echo $pids | wc -w)" -lt 8 ]; do start; done
kills=0
while [ $kills -lt 8 ]; do
    random 200
    sleep "0.$((drawn + 100))"
    pick
    # Every other one is stopped for longer than a lease first: it goes on, and dies or not, when others have its block.
    if [ $((kills % 2)) -eq 0 ] && kill -STOP "$picked" 2>/dev/null; then stopped="${stopped:-} $picked"; else kill -9 "$picked" 2>/dev/null || true; fi
    pids=$(for p in $pids; do [ "$p" = "$picked" ] || printf '%s ' "$p"; done)
    start
    kills=$((kills + 1))
done
for p in $pids; do wait "$p" || fail "a worker failed"; done
for p in ${stopped:-}; do kill -CONT "$p"; done
for p in ${stopped:-}; do wait "$p" || fail "a worker that had been stopped failed"; done
[ "$(blocks chaos done) $(blocks chaos held) $(blocks chaos free)" = '15 0 0' ] || fail "blocks: $(ls chaos/leases/*)"
[ "$(find chaos -name '*.db' | wc -l)" -gt 4 ] || fail "only these worked: $(ls chaos)"
"$DSE" merge chaos.db chaos 2>/dev/null
is_whole chaos.db "killed and stopped workers"

# ---- Ctrl-C gives the block back; an unfinished folder is not merged -------------------------------------------------------------
"$DSE" sweep s.toml -j 1 --lease left --lease-age 60 2>said.txt &
pid=$!
until [ -d left/leases/held ] && [ "$(blocks left done)" -gt 0 ]; do sleep 0.02; done
kill -INT $pid
status=0
wait $pid || status=$?
if [ $status -eq 130 ]; then
    grep -q 'interrupted; .* blocks are still to do' said.txt || fail "said: $(cat said.txt)"
    "$DSE" merge left.db left 2>said.txt && fail "merged an unfinished folder"
    grep -q 'blocks are not done: .dse sweep FILE --lease left. does them' said.txt || fail "said: $(cat said.txt)"
fi
[ "$(blocks left held)" -eq 0 ] || fail "a block is held by nobody"
worker left 60
"$DSE" merge left.db left
is_whole left.db "after Ctrl-C"

# ---- a file system without locks ------------------------------------------------------------------------------------------------
no_locks=$build/tests/cli/no_locks.so
[ -f "$no_locks" ] || fail "$no_locks is not built"
without() { LD_PRELOAD=$no_locks ASAN_OPTIONS=verify_asan_link_order=0 "$@"; }
without "$DSE" sweep s.toml -q -o locked.db >/dev/null 2>said.txt && fail "a database without locks"
grep -q 'the file system has no locks' said.txt || fail "said: $(cat said.txt)"
without "$DSE" sweep s.toml -q --lease none
# The database of all is written where there are locks.
NO_LOCKS=none/ without "$DSE" merge none.db none 2>/dev/null
is_whole none.db "without locks"
