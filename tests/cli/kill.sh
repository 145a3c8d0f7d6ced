#!/bin/sh
# A sweep killed with SIGKILL twenty times at random moments, and resumed each time, has the rows of an undisturbed one.
. "$(dirname "$0")/lib.sh"
write_sweep s.toml
start=$(date +%s%N)
"$DSE" sweep s.toml -q -o whole.db >/dev/null
took=$((($(date +%s%N) - start) / 1000000))
whole=$(rows whole.db lad 16)
seed=20261121
kills=0
partial=0
while [ $kills -lt 20 ]; do
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    # Up to a little more than a whole run, so that kills fall everywhere.
    wait=$((seed % (took + took / 4)))
    "$DSE" sweep s.toml -q -o killed.db >/dev/null 2>&1 &
    pid=$!
    sleep "$(printf '%d.%03d' $((wait / 1000)) $((wait % 1000)))"
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    kills=$((kills + 1))
    [ -f killed.db ] || continue
    check=$(sqlite3 killed.db 'pragma integrity_check' 2>&1)
    [ "$check" = ok ] || fail "after kill $kills: $check"
    # Start over now and then, so that not all kills hit a finished run.
    if [ "$(sqlite3 killed.db "select count(*) from run where status = 'done'" 2>/dev/null || echo 0)" -gt 0 ] && [ $kills -lt 16 ]; then
        [ "$(rows killed.db lad 16)" = "$whole" ] || fail "after kill $kills: other rows"
        rm -f killed.db killed.db-journal
    else
        partial=$((partial + 1))
    fi
done
[ $partial -gt 3 ] || fail "only $partial kills hit an unfinished run"
"$DSE" sweep s.toml -q -o killed.db >/dev/null
[ "$(rows killed.db lad)" = "$(rows whole.db lad)" ] || fail "other rows after twenty kills"
[ "$(sqlite3 killed.db 'select count(*) from run')" -eq 1 ] || fail "more than one run"
[ "$(sqlite3 killed.db 'select done = planned and status = '\''done'\'' from run')" -eq 1 ] || fail "the run is not done"
[ "$(sqlite3 killed.db 'select point from front order by 1' | sha256sum)" = "$(sqlite3 whole.db 'select point from front order by 1' | sha256sum)" ] ||
    fail "another front after twenty kills"

# A search cannot be resumed: what a killed one left is taken away by the next, which says so.
cat >search.toml <<'TOML'
[sweep]
name = "search"
models = ["lad"]
[params]
context = { from = 512, to = 8192, step = 512 }
tiles = { from = 1, to = 64, step = 1 }
[search]
method = "nsga2"
evaluations = 500
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
TOML
"$DSE" sweep search.toml -q -o search.db >/dev/null || fail "a search"
found=$(rows search.db lad)
sqlite3 search.db "update run set status = 'running', ended = null; delete from front; delete from digest where run = 1 and \"of\" <> 'lad_all'" # as one that was killed when its rows were stored
stored=$(count search.db lad_all)
"$DSE" sweep search.toml -q -o search.db >/dev/null 2>err || fail "a search after one that was killed: $(cat err)"
grep -q "note: run 1, a search that was killed, was removed with its $stored rows" err || fail "no note: $(cat err)"
[ "$(count search.db run)" -eq 1 ] || fail "the run of a killed search stays"
[ "$(rows search.db lad)" = "$found" ] || fail "other rows after a search that was killed"

# Of an exact front the certificate goes with it.
sed '/^\[search\]/,/^evaluations/d; s/"search"/"exact"/' search.toml >exact.toml
"$DSE" front exact.toml --certificate -q --no-figures -o exact.db >/dev/null 2>err || fail "an exact front: $(cat err)"
boxes=$(count exact.db certificate_box)
sqlite3 exact.db "update run set status = 'running', ended = null; delete from digest where run = 1 and \"of\" <> 'lad_all'"
"$DSE" front exact.toml --certificate -q --no-figures -o exact.db >/dev/null 2>err || fail "an exact front after one that was killed: $(cat err)"
[ "$(count exact.db certificate)" -eq 1 ] && [ "$(count exact.db certificate_box)" -eq "$boxes" ] || fail "the certificate of a killed run stays"
"$DSE" check exact.db >out.txt 2>&1 || fail "after an exact front that was killed: $(cat out.txt)"
