#!/bin/sh
# Random points of each model have the same numbers, to the last bit, in a sweep, from `dse eval --points`, in SQL and from the extension. (tests/unit/
# test_library.c holds --set, sweeps and libdse against each other.)
SOURCE=$(cd "$2" && pwd) BUILD=$3
. "$(dirname "$0")/lib.sh"
. "$SOURCE/tests/cli/library.lib"
export LC_ALL=C
points=200
[ "${DSE_SAMPLES:-}" != all ] || points=1000
install_into "$WORK/root"

# Names set parameters, some of two names the same ones; numbers are whole, broken, or set by names.
cat >s.toml <<TOML
# Do all ways in give the same answer?
[sweep]
name = "same"
models = ["lad", "veda", "swiftkv", "flashdecoding", "ane"]
[params]
llm = ["llama2-7b", "opt-2.7b", "qwen3-8b"]
context = { from = 64, to = 2048, step = 64 }
batch = [1, 2, 8]
tensor_parallel = [1, 2, 4]
dram_pj_per_bit = { from = 1, to = 7, points = 37 }
capacity_gib = [16, 80]
[params.lad]
memory = ["hbm2-5cube", "hbm2-a100-40gb"]
interconnect = ["nvlink3", "nvlink4"]
outer_interconnect = ["nvlink3", "ethernet-10g"]
tiles = [4, 8]
[params.veda]
interconnect = ["nvlink3", "nvlink4"]
outer_interconnect = ["nvlink3", "ethernet-10g"]
eviction = ["none", "voting"]
[params.swiftkv]
interconnect = ["nvlink3", "nvlink4"]
outer_interconnect = ["nvlink3", "ethernet-10g"]
fpga = ["u55c", "u280"]
[params.flashdecoding]
gpu = ["a100-80gb", "h100", "l40s"]
engine = ["flashdecoding++", "vllm-0.14"]
[params.ane]
npu = ["m1", "m4"]
outer_interconnect = ["nvlink3", "ethernet-10g"]
[sample]
method = "random"
points = $points
seed = 27
[objectives]
tokens_per_s = "max"
energy_mj = "min"
TOML
"$DSE" sweep s.toml -q --no-figures -o s.db >/dev/null 2>err.txt || fail "the sweep: $(cat err.txt)"

metrics="tokens_per_s latency_us energy_mj power_w dram_mib compute_utilization dram_utilization system_usd usd_per_mtoken"
for model in lad veda swiftkv flashdecoding ane; do
    axes=$(sqlite3 s.db "select group_concat(name, ' ') from (select c.name from run, pragma_table_info('${model}_all') c
        where instr(', ' || axes || ',', ', ' || c.name || ','))")
    names=$(echo "$axes" | tr ' ' ,)
    list=$(echo "$metrics" | tr ' ' ,)
    "$DSE" query s.db "SELECT $names FROM $model ORDER BY point" --format csv >points.csv
    "$DSE" query s.db "SELECT status, reason, $list FROM $model ORDER BY point" --format csv >swept.csv
    "$DSE" eval "$model" --points points.csv --format csv >all.csv 2>err.txt || fail "$model --points: $(cat err.txt)"
    sqlite3 :memory: '.mode csv' '.import all.csv e' '.import swept.csv s' ".headers off" \
        "select count(*) from e join s on e.rowid = s.rowid where e.status = s.status and (s.status <> 'ok' or ($(for m in $metrics; do printf "e.%s = s.%s and " "$m" "$m"; done) 1))" >same.txt
    [ "$(cat same.txt)" -eq $points ] || fail "$model: of $points points $(cat same.txt) are the same by eval --points"
    feasible=$(sqlite3 s.db "select count(*) from $model where status = 'ok'")
    [ "$feasible" -gt $((points / 10)) ] || fail "$model: only $feasible points are feasible"
    equal="SELECT count(*) FROM $model s JOIN TABLE m USING ($names) WHERE s.status = m.status AND $(for m in $metrics; do printf 's.%s IS m.%s AND ' "$m" "$m"; done) 1"
    got=$("$DSE" query s.db "$(echo "$equal" | sed "s/TABLE/${model}_model/")" --format csv 2>err.txt | tail -n 1)
    [ "$got" -eq $points ] || fail "$model: of $points points $got are the same in SQL: $(cat err.txt)"
    got=$(in_host sqlite3 -batch -cmd '.load '"$lib/dse.so" -cmd "ATTACH '$WORK/s.db' AS swept" :memory: \
        "$(echo "$equal" | sed "s/FROM $model s/FROM swept.$model s/; s/TABLE/main.$model/")" 2>err.txt) || fail "$model, the extension: $(cat err.txt)"
    [ "$got" -eq $points ] || fail "$model: of $points points $got are the same from the extension"
done
