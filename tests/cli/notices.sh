#!/bin/sh
# What a sweep says of its front: where axes end, what models have otherwise by default.
. "$(dirname "$0")/lib.sh"
says() { grep -qF "$1" "$2" || fail "\"$1\" is not in $2: $(cat "$2")"; }
silent() { ! grep -qF "$1" "$2" || fail "\"$1\" is in $2"; }

# ---- the front ends where the axis ends ----
cat >ends.toml <<'TOML'
# More bandwidth costs no area as the paper counts it.
[sweep]
name = "ends"
models = ["lad"]
[params]
power = "constant"
area = "core"
context = [512, 2048]
bandwidth_gbs = { from = 256, to = 4096, points = 5, scale = "log" }
tiles = [1, 2, 4, 8]
intervals = [2, 9, 16]
[quality]
exact = false
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
per = ["context"]
TOML
"$DSE" sweep ends.toml -o ends.db --no-figures >front.txt 2>said.txt
designs=$(count ends.db lad_front)
at_end=$(sqlite3 ends.db 'select count(*) from lad_front where bandwidth_gbs = 4096')
[ "$at_end" -gt $((designs / 2)) ] || fail "the sweep does not show what it is for: $at_end of $designs"
line="note: $at_end of the $designs designs of lad on the front have bandwidth_gbs = 4096, the greatest value of its axis: better ones may lie beyond"
says "$line" said.txt
# An axis that the parameter itself ends says nothing, and neither does one that has fronts of its own.
silent "have tiles = 1" said.txt
silent "have intervals" said.txt
silent "have context" said.txt
# The same from the database: for people, and as a column of the run for everybody.
"$DSE" pareto ends.db >front.txt 2>again.txt
grep '^note: ' said.txt >a.txt
grep '^note: ' again.txt >b.txt
diff -u a.txt b.txt || fail "pareto has other notices than the sweep"
sqlite3 ends.db "select 'note: ' || json_extract(value, '\$.text') from run, json_each(notices)" >b.txt
diff -u a.txt b.txt || fail "the run has other notices than the sweep printed"
# Another goal has a front, and notices, of its own.
"$DSE" pareto ends.db --min area_mm2 >front.txt 2>other.txt
silent "bandwidth_gbs = 4096" other.txt

# Shards: the front of the whole has the notices of the whole.
for k in 1 2; do "$DSE" sweep ends.toml --shard $k/2 -q -o part$k.db >part.txt 2>&1; done
"$DSE" merge whole.db part1.db part2.db 2>merged.txt
a=$(sqlite3 ends.db 'select notices, axis_ends from run')
b=$(sqlite3 whole.db 'select notices, axis_ends from run')
[ "$a" = "$b" ] || fail "merged: $b instead of $a"

# ---- unequal defaults ----
cat >unequal.toml <<'TOML'
# Two machines on one DRAM?
[sweep]
name = "unequal"
models = ["lad", "veda"]
[params]
context = [512, 1024, 2048]
bandwidth_gbs = 256
kv_bits = 16
[params.veda]
clock_ghz = 2
[quality]
exact = false
[objectives]
tokens_per_s = "max"
energy_mj = "min"
per = ["context"]
TOML
"$DSE" sweep unequal.toml -o unequal.db --no-figures >front.txt 2>said.txt
says 'note: the models have different defaults of parameters that the sweep does not set: ' said.txt
says "note: share of the DRAM's peak that is sustained: lad is at 0.871, veda at 1" said.txt
says 'note: process node: lad is at 22nm, veda at 28nm' said.txt
says 'batch (lad 12, veda 1)' said.txt
says 'clock_ghz (lad 1, veda 2)' said.txt
says 'note: DRAM: lad is at hbm2-5cube, veda at hbm-256' said.txt
says 'note: capacity of the DRAM [GiB]: lad is at 40, veda at 16' said.txt
silent 'channels (' said.txt # follows from the memory, which is there
silent 'bandwidth_gbs' said.txt
silent 'start of an exchange' said.txt # of one chip there is none
silent 'price of a GB' said.txt # nobody asks for dollars
silent 'layers_simulated' said.txt # closed form does not read it
# The settings of several terms are one block, which the sweep takes as it is.
copied() { # NAME
    sed -n '/^note: to compare the models on equal terms, add these lines to the sweep file:$/,/^note: the models/p' said.txt | grep -v '^note' >block.txt
    [ "$(head -1 block.txt)" = '[equal]' ] || fail "$1: no [equal] to copy: $(cat said.txt)"
    cat "$1.toml" block.txt >copied.toml
    "$DSE" sweep copied.toml --dry-run >again.txt || fail "$1: what is to be copied is refused: $(cat block.txt)"
}
copied unequal
says 'equal: technology = 22nm, memory = hbm2-5cube, dram_efficiency = 0.871' again.txt # the memory's name sets its capacity
# A setting alone stands in its sentence; several are added to an [equal] that is there.
sed -e '/^technology = /d; s/"unequal"/"one"/' copied.toml >one.toml
"$DSE" sweep one.toml -o one.db --no-figures >front.txt 2>said.txt
says 'note: process node: lad is at 22nm, veda at 28nm; [equal] technology = "22nm" gives lad, veda the same value' said.txt
silent 'to compare the models on equal terms' said.txt
sed -e '/^technology = /d; /^dram_efficiency = /d; s/"unequal"/"two"/' copied.toml >two.toml
"$DSE" sweep two.toml -o two.db --no-figures >front.txt 2>said.txt
says 'note: to compare the models on equal terms, add these lines to [equal] of the sweep file:' said.txt
! grep -qx '\[equal\]' said.txt || fail "a second [equal]: $(cat said.txt)"
sed 's/^bandwidth_gbs = 256/&\ndram_efficiency = 0.9/; s/"unequal"/"equal"/' unequal.toml >equal.toml
"$DSE" sweep equal.toml -o equal.db --no-figures >front.txt 2>said.txt
silent 'dram_efficiency' said.txt

# A node that the models can be scaled to is proposed, by the name that gives it: that of a chip that is sold, where there is one.
sed -e 's/"veda"\]/"veda", "swiftkv", "ane"]/; s/^\[params.veda\]/[params.ane]\nnpu = ["m1", "m3"]\n&/; s/"unequal"/"sold"/' unequal.toml >sold.toml
"$DSE" sweep sold.toml -o sold.db --no-figures >front.txt 2>said.txt
says 'note: process node: lad is at 22nm, veda at 28nm, swiftkv at 16nm (its fpga), ane at 5nm and 3nm (its npu)' said.txt
says 'technology = { value = "tsmc-16nm", except = ["ane"] }' said.txt
copied sold
says 'technology = tsmc-16nm (not ane)' again.txt

# [equal] puts models on one value, as if [params] of each gave it: the same rows, and no notice.
cat >given.toml <<'TOML'
[sweep]
name = "terms"
models = ["lad", "veda", "flashdecoding"]
[params]
context = [512, 1024]
batch = 8
eviction = "none"
boundary = "bulk"
[params.lad]
technology = "7nm"
capacity_gib = 64
dram_efficiency = 0.9
[params.veda]
technology = "7nm"
capacity_gib = 64
dram_efficiency = 0.9
[params.flashdecoding]
capacity_gib = 64
attention_efficiency = 0.9
linear_efficiency = 0.9
[objectives]
tokens_per_s = "max"
energy_mj = "min"
TOML
sed -e '/^\[params\./,/^linear/d' -e 's/^\[objectives\]/[equal]\ntechnology = "7nm"\ncapacity_gib = 64\ndram_efficiency = 0.9\n&/' given.toml >terms.toml
"$DSE" sweep terms.toml --dry-run >said.txt
says 'equal: technology = 7nm, capacity_gib = 64, dram_efficiency = 0.9' said.txt
"$DSE" sweep given.toml -o terms.db --no-figures --quiet >/dev/null 2>&1
"$DSE" sweep terms.toml -o terms.db --no-figures >/dev/null 2>said.txt
says 'already' said.txt # the same run
for term in 'process node' 'capacity of' "share of the DRAM" ; do silent "note: $term" said.txt; done
says 'note: DRAM: lad is at hbm2-5cube, veda at hbm-256, flashdecoding at hbm2e (its gpu)' said.txt
says 'memory = "hbm2e-a100-80gb"' said.txt
# A model that is left out is told of; the report and `dse pareto` have the sentences that the sweep printed.
sed -e 's/"7nm"/{ value = "22nm", except = ["flashdecoding"] }/; s/"terms"/"apart"/' terms.toml >apart.toml
"$DSE" sweep apart.toml --dry-run >said.txt
says 'equal: technology = 22nm (not flashdecoding), capacity' said.txt
"$DSE" sweep apart.toml -o apart.db --no-figures >/dev/null 2>said.txt
says 'note: process node: lad is at 22nm, veda at 22nm, flashdecoding at 7nm (its gpu); [equal] leaves out flashdecoding' said.txt
"$DSE" pareto apart.db >/dev/null 2>again.txt
grep '^note: ' said.txt >a.txt
grep '^note: ' again.txt >b.txt
diff -u a.txt b.txt || fail "pareto has other notices than the sweep"
[ "$(sqlite3 apart.db "select count(*) from run, json_each(notices) where json_extract(value, '\$.kind') = 'unequal-terms'")" -ge 3 ] || fail "no notices of terms"
# Where one exchanges, the start of it is told, in the unit that each model has it in.
sed -e 's/^batch.*/&\ntensor_parallel = 2/; s/"terms"/"starts"/' terms.toml >starts.toml
"$DSE" sweep starts.toml -o starts.db --no-figures >/dev/null 2>said.txt
says 'note: start of an exchange between chips [us]: lad is at 2, veda at 2, flashdecoding at 13200 (nccl_start_cycles)' said.txt
# The documents have a word on each term.
printf '[sweep]\nname = "n"\nmodels = ["lad"]\n[equal]\nnone = 1\n' >none.toml
"$DSE" sweep none.toml --dry-run >/dev/null 2>said.txt && fail "a term that is none"
terms=$(sed -n 's/.*the terms are \(.*\); a parameter.*/\1/p' said.txt | tr -d ,)
[ -n "$terms" ] || fail "$(cat said.txt)"
for term in $terms; do grep -q "^|.*\`$term\`" "$2/docs/reference/sweep-file.md" || fail "docs/reference/sweep-file.md has no $term"; done
# A run of an older dse kept a sentence.
sqlite3 apart.db "update run set unequal = 'models differ', notices = null; delete from digest; update run set digests = null"
"$DSE" pareto apart.db --min energy_mj >/dev/null 2>said.txt
says 'note: models differ' said.txt

# What the sweep's fidelity does not read is told at its place: as an axis it gives the same rows.
cat >unread.toml <<'TOML'
[sweep]
name = "unread"
models = ["lad", "veda"]
[params]
layers_simulated = [1, 2]
context = 512
[params.lad]
sram_ports = 1
[quality]
exact = false
[objectives]
tokens_per_s = "max"
TOML
"$DSE" sweep unread.toml --dry-run >/dev/null 2>said.txt
grep -q '^unread.toml:5:20: warning: layers_simulated is not read in closed form: its values change no metric' said.txt || fail "$(cat said.txt)"
grep -q '^unread.toml:8:14: warning: lad: sram_ports is not read in closed form' said.txt || fail "$(cat said.txt)"
[ "$(grep -c warning: said.txt)" = 2 ] || fail "$(cat said.txt)"
sed 's/^models/fidelity = "event-level"\nmodels/' unread.toml >read.toml
"$DSE" sweep read.toml --dry-run >/dev/null 2>said.txt
! grep warning: said.txt || fail "$(cat said.txt)"

# What moves nothing where it stands is told: links of one chip, in a sweep and in a point; not where there are several.
cat >idle.toml <<'TOML'
[sweep]
name = "idle"
models = ["lad", "swiftkv"]
[params]
link_gbs = [10, 100]
context = [512, 1024]
[params.lad]
routing_exponent = [1, 2]
[quality]
exact = false
[objectives]
tokens_per_s = "max"
TOML
"$DSE" sweep idle.toml --dry-run >/dev/null 2>said.txt
grep -q '^idle.toml:5:12: warning: link_gbs changes no metric here: rows that differ only in it are equal' said.txt || fail "$(cat said.txt)"
grep -q '^idle.toml:8:20: warning: routing_exponent changes no metric' said.txt || fail "$(cat said.txt)"
[ "$(grep -c warning: said.txt)" = 2 ] || fail "$(cat said.txt)"
sed 's/^context.*/tensor_parallel = [1, 2]/; s/^routing_exponent.*/tiles = [4, 8]/' idle.toml >moving.toml
"$DSE" sweep moving.toml --dry-run >/dev/null 2>said.txt
! grep warning: said.txt || fail "$(cat said.txt)"
"$DSE" eval lad --set link_gbs=10 --set context=512 >/dev/null 2>said.txt
[ "$(cat said.txt)" = 'dse: warning: link_gbs changes no metric here: all metrics are the same with 224, the value without --set' ] || fail "$(cat said.txt)"
"$DSE" eval lad --set link_gbs=10 --set tensor_parallel=2 >/dev/null 2>said.txt
[ ! -s said.txt ] || fail "$(cat said.txt)"
# Rows whose metrics are equal need not be equal: another constraint may refuse them, for another reason, and a derived column may differ.
printf '[constraints]\nfast = "context < 600 || link_gbs > 50"\nshort = "context < 600"\n' | cat idle.toml - >reasons.toml
"$DSE" sweep reasons.toml --dry-run >/dev/null 2>said.txt
! grep -q link_gbs said.txt || fail "$(cat said.txt)"
printf '[derive]\nports = "link_gbs * 2"\n' | cat idle.toml - >derived.toml
"$DSE" sweep derived.toml --dry-run >/dev/null 2>said.txt
! grep -q link_gbs said.txt || fail "$(cat said.txt)"
# A grid of 4096 points is looked at whole; of a larger one it is said how many pairs of rows were compared. One corner that moves is found.
sed 's/^context.*/context = { from = 1, to = 1024, step = 1 }/; s/^link_gbs.*/link_gbs = [10, 20]/' idle.toml >whole.toml
"$DSE" sweep whole.toml --dry-run >/dev/null 2>said.txt
grep -q 'link_gbs changes no metric here: rows that differ only in it are equal$' said.txt || fail "$(cat said.txt)"
sed 's/^context.*/context = { from = 1, to = 4096, step = 1 }/' whole.toml >large.toml
"$DSE" sweep large.toml --dry-run >/dev/null 2>said.txt
grep -q 'link_gbs changes no metric here: rows that differ only in it are equal in 1[0-9]* pairs that were checked$' said.txt || fail "$(cat said.txt)"
printf '[derive]\ncorner = "link_gbs > 15 && context == 1000"\n' | cat whole.toml - >corner.toml
"$DSE" sweep corner.toml --dry-run >/dev/null 2>said.txt
! grep -q link_gbs said.txt || fail "$(cat said.txt)"
# Nor does a comparison tell of links that machines of one chip have otherwise.
"$DSE" sweep idle.toml --fresh -o idle.db --no-figures --quiet >/dev/null 2>&1
sqlite3 idle.db 'select unequal from run' >said.txt
says 'DRAM: lad is at hbm2-5cube, swiftkv at' said.txt
silent 'interconnect (' said.txt
"$DSE" sweep moving.toml --fresh -o moving.db --no-figures --quiet >/dev/null 2>&1
sqlite3 moving.db 'select unequal from run' >said.txt
says 'interconnect (' said.txt

# A front that ends where no die has edge for more memory, not where the axis ends, says so with the reason.
cat >limit.toml <<'TOML'
[sweep]
name = "limit"
models = ["lad"]
[params]
llm = "opt-2.7b"
context = [512, 1024, 2048, 3072]
batch = 12
bandwidth_gbs = [1024, 1536, 8192]
tiles = 24
[quality]
exact = false
[objectives]
tokens_per_s = "max"
per = ["context"]
TOML
"$DSE" sweep limit.toml -o limit.db --no-figures >/dev/null 2>said.txt
grep -q "have bandwidth_gbs = 1536, the greatest value of its axis that can be built: beyond it, the memory interfaces need more die edge" said.txt || fail "$(cat said.txt)"
sed 's/, 8192//; s/"limit"/"end"/' limit.toml >end.toml
"$DSE" sweep end.toml -o end.db --no-figures >/dev/null 2>said.txt
! grep -q 'that can be built' said.txt || fail "$(cat said.txt)"

# ---- dollars of several kinds ----
# A chip is counted at what it costs to make, a board at what it is sold for: said where the sweep asks for dollars, and only there.
cat >dollars.toml <<'TOML'
# A chip beside a board
[sweep]
name = "dollars"
models = ["lad", "flashdecoding"]
[params]
context = [512, 1024, 2048]
[quality]
exact = false
[objectives]
usd_per_mtoken = "min"
latency_us = "min"
TOML
"$DSE" sweep dollars.toml -o dollars.db --no-figures >front.txt 2>said.txt
says "note: dollars of these models cannot be compared (lad cost, flashdecoding price)" said.txt
silent 'price of a GB' said.txt # one memory is priced
"$DSE" pareto dollars.db --max tokens_per_s --min latency_us >front.txt 2>said.txt
says "cannot be compared" said.txt # the sweep's own text asks for them
sed -e 's/usd_per_mtoken = "min"/energy_mj = "min"/' dollars.toml >joules.toml
"$DSE" sweep joules.toml -o joules.db --no-figures >front.txt 2>said.txt
silent "cannot be compared" said.txt
"$DSE" pareto joules.db --min system_usd --min latency_us >front.txt 2>said.txt
says "cannot be compared" said.txt
sed -e 's/, "flashdecoding"/, "ane"/' dollars.toml >engine.toml
"$DSE" sweep engine.toml -o dollars.db --fresh --no-figures >front.txt 2>said.txt
says 'note: price of a GB of memory: lad $7.5 (hbm2), ane $5.83 (lpddr5); this price follows from the kind of memory' said.txt
sed -e 's/, "flashdecoding"/, "veda"/' dollars.toml >chips.toml
"$DSE" sweep chips.toml -o chips.db --no-figures >front.txt 2>said.txt
silent "cannot be compared" said.txt
