#!/bin/sh
# Ctrl-C: exit status 130, the state saved or what is known shown; the same command of a sweep goes on.
. "$(dirname "$0")/lib.sh"
# A sweep that is done before Ctrl-C reaches it proves nothing: then a larger one is tried.
for points in 40 120 360; do
    write_sweep s.toml
    sed -i "s/points = 16/points = $points/" s.toml
    rm -f a.db
    "$DSE" sweep s.toml -o a.db >/dev/null 2>said.txt &
    pid=$!
    wait_for_rows $pid a.db
    kill -INT $pid 2>/dev/null || true
    status=0
    wait $pid || status=$?
    [ $status -eq 0 ] && [ "$(sqlite3 a.db 'select status from run')" = "done" ] || break
done
[ $status -eq 130 ] || fail "exit status $status instead of 130: $(cat said.txt)"
grep -q 'the same command goes on' said.txt || fail "no word about resuming: $(cat said.txt)"
done=$(sqlite3 a.db 'select done from run')
[ "$done" -eq "$(count a.db lad_all)" ] || fail "the run says $done points, the table has $(count a.db lad_all)"
[ "$(sqlite3 a.db 'select status from run')" = interrupted ] || fail "status is not interrupted"
[ "$(sqlite3 a.db 'select sum(last - first + 1) from block')" -eq "$done" ] || fail "blocks and rows disagree"

"$DSE" sweep s.toml -q -o a.db >/dev/null
"$DSE" sweep s.toml -q -o whole.db >/dev/null
[ "$(rows a.db lad 16)" = "$(rows whole.db lad 16)" ] || fail "other rows after an interruption"
[ "$(sqlite3 a.db 'select count(*), status from run')" = '1|done' ] || fail "the run was not finished"

# A run at event level, and requests to a DRAM: what is known until then.
source=$2
stopped() { # COMMAND...; waits until the command has begun
    "$DSE" "$@" >out.txt 2>said.txt &
    pid=$!
    sleep 2
    kill -INT $pid
    status=0
    wait $pid || status=$?
    [ $status -eq 130 ] || fail "$1: exit status $status instead of 130: $(cat said.txt)"
    grep -q 'stopped.*; \(the results cover\|only the finished points\)' said.txt || fail "$1: no word about what is shown: $(cat said.txt)"
}
stopped eval lad --fidelity event-level --set layers_simulated=32 --timeline run.json
grep -q '^weight DMA ' out.txt || fail "no resources: $(cat out.txt)"
[ "$(sqlite3 :memory: "SELECT json_valid(cast(readfile('run.json') AS text))")" = 1 ] || fail "half a timeline: $(tail -c 300 run.json)"
stopped dram --pattern random,size=64,count=200000000 --memory hbm2-dramsim3
grep -q '^bandwidth_gbs ' out.txt || fail "no bandwidth: $(cat out.txt)"

# So does one that does nothing but refresh thousands of channels for a second of arrays at work, all in one event.
start=$(date +%s)
stopped eval swiftkv -c "$source/tests/data/thin_llm.toml" --fidelity event-level --set llm=thin --set phase=prefill --set batch=43 --set context=256 \
    --set bandwidth_gbs=213368 --set attention=flash --set gemv_efficiency=0.07 --set weight_reuse=65536
took=$(($(date +%s) - start))
[ $took -lt 60 ] || fail "Ctrl-C was obeyed after $took s"
