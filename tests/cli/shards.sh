#!/bin/sh
# Shards that make no whole: of different sweeps they are refused, and what is missing is said.
. "$(dirname "$0")/lib.sh"
write_sweep s.toml
sed -i 's/points = 16/points = 2/' s.toml
sed 's/points = 2/points = 3/' s.toml >edited.toml
sed 's/^name = .*/name = "other"/' s.toml >other.toml
for sweep in s edited other; do
    "$DSE" sweep $sweep.toml -q --shard 1/2 -o $sweep-1.db >/dev/null
    "$DSE" sweep $sweep.toml -q --shard 2/2 -o $sweep-2.db >/dev/null
done
refused() { # WHY DATABASE...
    why=$1
    shift
    if "$DSE" merge no.db "$@" 2>err.txt; then fail "$why were merged"; fi
    grep -q 'shards of different sweeps, none of which is whole: .*-1.db has shard 1/2 of ' err.txt || fail "$why: $(cat err.txt)"
    [ ! -e no.db ] || fail "$why: something was written"
}
refused 'shards of a sweep and of one that was edited' s-1.db edited-2.db
refused 'shards of two sweeps' s-1.db other-2.db
"$DSE" merge one.db s-1.db 2>err.txt || fail "one shard: $(cat err.txt)"
grep -q 'warning: test: only shard 1/2 is there' err.txt || fail "nothing is said of a missing shard: $(cat err.txt)"
"$DSE" merge one.db s-2.db 2>err.txt || fail "the other shard: $(cat err.txt)"
! grep -q warning err.txt || fail "all shards are there: $(cat err.txt)"
"$DSE" sweep s.toml -q -o whole.db >/dev/null
[ "$(rows one.db lad)" = "$(rows whole.db lad)" ] || fail "merged one after the other: other rows"
"$DSE" merge all.db s-1.db other-2.db s-2.db other-1.db 2>err.txt || fail "all shards of two sweeps: $(cat err.txt)"
! grep -q warning err.txt || fail "all shards of two are there: $(cat err.txt)"
[ "$(sqlite3 all.db 'select count(*), min(status) from run')" = '2|done' ] || fail "two whole runs: $(sqlite3 all.db 'select * from run')"
"$DSE" sweep s.toml -q --shard 1/3 -o third-1.db >/dev/null
"$DSE" sweep s.toml -q --shard 3/3 -o third-3.db >/dev/null
"$DSE" merge thirds.db third-1.db third-3.db 2>err.txt || fail "two of three: $(cat err.txt)"
grep -q 'warning: test: .* points are there, and shards are missing' err.txt || fail "a third is missing: $(cat err.txt)"
