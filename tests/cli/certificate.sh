#!/bin/sh
# An exact front of all five models with a baseline, constraints and derived columns: the same from one thread and two, equal to that of all points, and
# its certificate holds until it is touched.
. "$(dirname "$0")/lib.sh"
cat >five.toml <<'TOML'
# Which machines are on the front?
[sweep]
name = "five"
models = ["lad", "veda", "swiftkv", "flashdecoding", "ane"]
[params]
llm = ["llama2-7b", "llama3.1-8b"]
context = [1024, 4096]
batch = [1, 2, 4]
weight_bits = 4
kv_bits = 8
bandwidth_gbs = { from = 60, to = 460, points = 7, scale = "log" }
[params.lad]
tiles = { from = 1, to = 8, step = 1 }
sram_mib = [0.5, 1, 2, 4]
[params.veda]
pe_copies = [1, 2, 4, 8, 16]
eviction = ["none", "voting"]
[params.swiftkv]
processors = [4, 8, 16, 32]
[params.flashdecoding]
gpu = ["rtx-3090", "rtx-4090"]
[params.ane]
query_rows = [1, 8]
engine_tflops = [3, 12, 48]
[constraints]
power = "power_w <= 60 || batch > 1"
[derive]
per_watt = "tokens_per_s / power_w"
[baseline]
model = "flashdecoding"
gpu = "rtx-4090"
[objectives]
speedup = "max"
energy_mj = "min"
per_watt = "max"
per = ["llm", "context"]
TOML
"$DSE" front five.toml --certificate --no-figures -j 1 -q -o one.db >/dev/null 2>said.txt || fail "$(cat said.txt)"
"$DSE" front five.toml --certificate --no-figures -j 2 -q -o two.db >/dev/null 2>said.txt || fail "$(cat said.txt)"
for table in certificate_box certificate_place certificate_space front; do
    sqlite3 one.db "select * from $table" >one.txt
    sqlite3 two.db "select * from $table" >two.txt
    cmp -s one.txt two.txt || fail "$table differs between one thread and two"
done
[ "$(wc -l <one.txt)" -ge 12 ] || fail "a front of $(wc -l <one.txt) points"
"$DSE" check-front two.db >out.txt 2>said.txt || fail "$(cat out.txt said.txt)"
grep -q WRONG out.txt && fail "$(cat out.txt)"
"$DSE" check two.db >out.txt 2>said.txt || fail "$(cat out.txt said.txt)"

# The front of every point has the same best of each objective, and no vector of objectives that the exact one has not.
"$DSE" sweep five.toml --no-figures -q -o all.db >/dev/null 2>said.txt || fail "$(cat said.txt)"
vectors='select distinct model, llm, context, printf("%.8e %.8e %.8e", speedup, energy_mj, per_watt) from comparison_front order by 1, 2, 3, 4'
columns=$(sqlite3 all.db "select count(*) from pragma_table_info('comparison_front') where name in ('per_watt', 'speedup')")
[ "$columns" -eq 2 ] || fail "comparison_front has not the objectives"
sqlite3 all.db "$vectors" >all.txt
sqlite3 two.db "$vectors" >exact.txt
cmp -s all.txt exact.txt || fail "the exact front is another: $(diff all.txt exact.txt | head -n 5)"

# What was touched is found and named, with the exit status of a failure.
touched() {
    cp two.db touched.db
    sqlite3 touched.db "$1; delete from digest; update run set digests = null" # which would find it, too
    "$DSE" check-front touched.db >out.txt 2>said.txt && fail "$1: not found"
    tr '\n' ' ' <said.txt | tr -s ' ' | grep -q "$2" || fail "$1: $(cat said.txt)"
}
touched "update lad_all set energy_mj = energy_mj + 1e-9 where point = (select max(point) from front where model = 'lad')" 'energy_mj was changed'
touched "update certificate_box set why = 'evaluated' where why = 'dominated'" 'the certificate says'
touched "update certificate_space set version = 1" 'this dse has version'
"$DSE" front five.toml --no-figures -q -o bare.db >/dev/null 2>said.txt || fail "$(cat said.txt)"
"$DSE" check-front bare.db >out.txt 2>said.txt && fail "a certificate without boxes is checked"
grep -q 'were not kept' said.txt || fail "$(cat said.txt)"
"$DSE" check-front all.db >out.txt 2>said.txt && fail "a sweep has a certificate"
grep -q 'has no certificate' said.txt || fail "$(cat said.txt)"
