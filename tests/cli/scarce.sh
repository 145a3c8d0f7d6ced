#!/bin/sh
# No threads to be had, no memory, the database gone: the work is done with what there is, or a message says what is missing.
. "$(dirname "$0")/lib.sh"
cat >s.toml <<'TOML'
[sweep]
name = "s"
models = ["lad"]
[params]
tiles = { from = 1, to = 64, step = 1 }
context = { from = 512, to = 16384, step = 512 }
[objectives]
tokens_per_s = "max"
TOML
"$DSE" sweep s.toml -q -o all.db >/dev/null 2>&1

# A user who may have one process: root becomes another for it, who may not read everything.
if [ "$(id -u)" -ne 0 ]; then
    alone() { (ulimit -u 1 && exec "$@"); }
else
    chmod 777 "$WORK"
    alone() { setpriv --reuid=65534 --clear-groups prlimit --nproc=1 "$@"; }
fi
if ASAN_OPTIONS=detect_leaks=0 alone "$DSE" --version >/dev/null 2>&1; then
    ASAN_OPTIONS=detect_leaks=0 alone "$DSE" sweep s.toml -q -j 8 -o one.db >out.txt 2>err.txt || fail "without threads: $(cat err.txt)"
    [ "$(rows one.db lad)" = "$(rows all.db lad)" ] || fail "other rows without threads"
    ASAN_OPTIONS=detect_leaks=0 alone "$DSE" agree ane --near --points 2 -j 4 >out.txt 2>err.txt || fail "agree without threads: $(cat err.txt)"
fi

# Pieces of memory of a megabyte are not to be had: a limit of the address sanitizer, which the tests are built with.
status=0
ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=1 "$DSE" trace generate --set n=4096 --set d=128 -o x.trace \
    >out.txt 2>err.txt || status=$?
if nm "$DSE" 2>/dev/null | grep -q __asan_init; then
    [ "$status" -eq 1 ] || fail "exit status $status without memory: $(cat err.txt)"
    grep -q '^dse: error: out of memory: 2097152 bytes are not to be had$' err.txt || fail "no word about memory: $(cat err.txt)"
    [ -z "$(ls -A | grep trace || true)" ] || fail "half a trace was left behind"
fi

# The database is removed while it is written.
write_sweep big.toml
sed -i 's/step = 0.25/step = 0.5/' big.toml
"$DSE" sweep big.toml -q -o gone.db >out.txt 2>err.txt &
pid=$!
while [ ! -s gone.db ]; do sleep 0.01; done
rm gone.db
status=0
wait $pid || status=$?
[ "$status" -eq 1 ] || fail "exit status $status for a database that was removed: $(cat err.txt)"
grep -q 'was deleted or replaced' err.txt || fail "nothing is said of a database that was removed: $(cat err.txt)"
if grep -q 'is kept\|the same command goes on' err.txt; then fail "a database that was removed is said to be kept: $(cat err.txt)"; fi
