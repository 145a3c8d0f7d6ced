#!/bin/sh
# Needs: npm-report
# dse front: the same front as the sweep's, from any number of threads; a budget and Ctrl-C end with what is certain; the rows are a run like others.
. "$(dirname "$0")/lib.sh"
write_sweep s.toml
"$DSE" sweep s.toml -q -o sweep.db >/dev/null
"$DSE" front s.toml -o one.db -j1 >table.txt 2>said.txt
"$DSE" front s.toml -o three.db -j3 -q >/dev/null
grep -q 'the exact front of 189,696 points in .* on 1 thread: .* rows' said.txt || fail "no word about the search: $(cat said.txt)"
grep -q 'certain: in closed form no point of this lattice is missing from the front' said.txt || fail "no word about what is certain: $(cat said.txt)"
vectors() { sqlite3 "$1" "select distinct printf('%.9g %.9g %.9g', tokens_per_s, area_mm2, energy_mj) from lad_front order by 1"; }
vectors sweep.db >sweep.txt
vectors one.db >one.txt
diff sweep.txt one.txt || fail "the sweep has another front"
[ "$(rows one.db lad)" = "$(rows three.db lad)" ] || fail "other rows from three threads"
[ "$(count one.db lad_all)" -lt 5000 ] || fail "more rows than a front has"

"$DSE" check one.db >/dev/null || fail "dse check: $("$DSE" check one.db)"
"$DSE" pareto one.db --max tokens_per_s --min area_mm2 >/dev/null || fail "dse pareto"
"$DSE" report one.db -o one.html >/dev/null 2>&1 || fail "dse report"
"$DSE" front s.toml -o one.db 2>&1 >/dev/null | grep -q 'has the exact front already (run 1); --fresh searches again' || fail "searched again"
"$DSE" front s.toml -o one.db --fresh -q >/dev/null
[ "$(sqlite3 one.db 'select count(*), min(status) from run')" = '2|done' ] || fail "--fresh made no run"

# A lattice that takes a while, stopped.
cat >large.toml <<'TOML'
# A large one.
[sweep]
name = "large"
models = ["lad"]
[params]
batch = { from = 1, to = 16, step = 1 }
tiles = { from = 1, to = 32, step = 1 }
sram_mib = { from = 0.25, to = 8, step = 0.125 }
vpu_eas = { from = 1, to = 8, step = 1 }
vpu_md = { from = 1, to = 8, step = 1 }
vpu_ac = { from = 1, to = 8, step = 1 }
vpu_width = [16, 32, 48, 64, 96, 128, 192, 256]
clock_ghz = { from = 0.4, to = 2.4, step = 0.02 }
bandwidth_gbs = { from = 128, to = 2048, points = 100, scale = "log" }
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
energy_mj = "min"
TOML
"$DSE" front large.toml -o budget.db --budget 500ms >/dev/null 2>said.txt || fail "a budget is no failure: $(cat said.txt)"
grep -q 'a front of .* points in' said.txt || fail "no word about a front that is not certain: $(cat said.txt)"
grep -q 'the search is not finished (.* boxes are open)' said.txt || fail "no word about what is open: $(cat said.txt)"
[ "$(sqlite3 budget.db 'select status from run')" = interrupted ] || fail "a run that was cut off is not interrupted"
[ "$(count budget.db lad_front)" -gt 0 ] || fail "no front within the budget"
"$DSE" front large.toml -o stopped.db >/dev/null 2>said.txt &
pid=$!
sleep 2
kill -INT $pid
status=0
wait $pid || status=$?
[ $status -eq 130 ] || fail "exit status $status instead of 130: $(cat said.txt)"
grep -q 'the search is not finished' said.txt || fail "no word about what is open: $(cat said.txt)"
