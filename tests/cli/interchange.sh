#!/bin/sh
# What other simulators write is read, and what they ask for is written by a published schema.
. "$(dirname "$0")/lib.sh"
SOURCE=$2

# Energy tables of Accelergy: printed, and as entries of a catalog.
cat >ERT.yaml <<'Y'
ERT:
  version: 0.4
  tables:
  - name: top.DRAM[1..1]
    actions:
    - name: read
      arguments:
        global_cycle_seconds: 1e-09
      energy: 512.0
  - name: top.chip.buffer[1..4]
    actions:
    - name: read
      arguments: {data_delta: 0, address_delta: 0}
      energy: 0.5
    - name: read
      arguments: {data_delta: 1, address_delta: 1}
      energy: 20.5
    - name: update
      energy: 24.25
    - name: leak
      energy: 3.5
Y
printf 'ART:\n  tables:\n  - name: top.chip.buffer[1..4]\n    area: 350000.0\n' >ART.yaml
"$DSE" accelergy ERT.yaml ART.yaml --format csv | tr -d '"' >out.txt || fail "the tables are not read"
grep -qx 'top.chip.buffer\[1..4\],0.35,read,20.5' out.txt && [ "$(wc -l <out.txt)" -eq 5 ] || fail "the tables are others: $(cat out.txt)"
"$DSE" accelergy ERT.yaml ART.yaml --component buffer --node-nm 22 --capacity-mib 2.5 --word-bits 256 -o buffer.csv >own.toml || fail "no SRAM"
"$DSE" accelergy ERT.yaml --component DRAM --like hbm2-5cube --word-bits 64 --name my-dram >>own.toml || fail "no memory"
grep -qx 'dram_pj_per_bit = 8' own.toml || fail "512 pJ of 64 bits are another: $(cat own.toml)"
metric() { "$DSE" eval lad -c own.toml "$@" --format json | python3 -c 'import json, sys; r = json.load(sys.stdin)[0]; print(r["status"], r["'"$want"'"])'; }
if command -v python3 >/dev/null; then
    want=energy_dram_mj
    before=$(metric) after=$(metric --set memory=my-dram)
    python3 -c 'import sys; a, b = float(sys.argv[2]), float(sys.argv[4]); sys.exit(not abs(b / a - 8 / 3.9) < 1e-9)' $before $after || fail "DRAM: $before, $after"
    want=energy_sram_mj
    before=$(metric) after=$(metric --set sram=buffer)
    case $after in ok*) ;; *) fail "LAD cannot be built with this SRAM: $after" ;; esac
    [ "$before" != "$after" ] || fail "the SRAM changes nothing"
fi
for bad in '--component bufer' '--component buffer' '--component buffer --node-nm 0 --capacity-mib 1 --word-bits 8 -o x.csv' '--component buffer --like hbm2-5cube --name a/b --word-bits 8'; do
    status=0
    # shellcheck disable=SC2086
    "$DSE" accelergy ERT.yaml $bad >out.txt 2>err.txt || status=$?
    [ $status -eq 2 ] && [ -s err.txt ] || fail "$bad: exit status $status"
done
printf 'ERT:\n  tables:\n  - name: a\n    actions:\n    - name: read\n      energy: much\n' >bad.yaml
"$DSE" accelergy bad.yaml >out.txt 2>err.txt && fail "an energy that is no number is read"
grep -q '^bad.yaml:6:15: error: energy: "much"' err.txt || fail "$(cat err.txt)"

# Summaries say who estimated what: that is no action. Keys may stand in any order, lists at the indent of their key.
cat >ERT_summary.yaml <<'Y'
ERT_summary:
  version: 0.4
  table_summary:
  - actions:
    - average_energy: 3.0
      max_energy: 5.0
      min_energy: 1.0
      name: read
    - name: write
      energy: 4.0
    name: top.chip.buffer[1..4]
    primitive_estimation(s):
    - name: storage
      estimator: CactiSRAM
    - name: address_generators[0..1]
      estimator: Aladdin_table
  - name: top.chip.mac
    primitive_estimation(s):
    - action_name: compute
      energy: 9.0
      subaction_estimations:
      - subaction_name: add
        energy: 7.0
    actions:
    - name: compute
      energy: 2.5
Y
cat >ART_summary.yaml <<'Y'
ART_summary:
  version: 0.4
  table_summary:
  - name: top.chip.buffer[1..4]
    area: 350000.0
    primitive_estimations:
    - name: storage
      estimator: CactiSRAM
      area: 100.0
  - name: top.chip.mac
    area: 1000.0
    primitive_estimations: Aladdin_table
Y
"$DSE" accelergy ERT_summary.yaml ART_summary.yaml --format csv | tr -d '"' >out.txt || fail "the summaries are not read"
cat >want.txt <<'T'
component,area_mm2,action,energy_pj
top.chip.buffer[1..4],0.35,read,5
top.chip.buffer[1..4],0.35,write,4
top.chip.mac,0.001,compute,2.5
T
diff want.txt out.txt || fail "summaries are read as other tables"

# A step of every model as JSON.
for m in $("$DSE" list models --format csv | sed '1d;s/,.*//' | tr -d '"'); do
    "$DSE" eval "$m" --breakdown --format json >"$m.json" || fail "eval $m"
done
"$DSE" eval lad --set phase=prefill --set llm=llama3-8b --breakdown --format json >prefill.json
if ! command -v python3 >/dev/null; then
    echo "SKIPPED: there is no python3 to check JSON with" >&2
    exit 77
fi
cat >check.py <<'P'
import json, math, sys

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "null": type(None)}

def check(value, schema, at):
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(isinstance(value, TYPES[k]) and not isinstance(value, bool) for k in kinds):
        sys.exit(f"{at}: {value!r} is no {kinds}")
    if "const" in schema and value != schema["const"]:
        sys.exit(f"{at}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        sys.exit(f"{at}: {value!r} is none of {schema['enum']}")
    if "minimum" in schema and value is not None and value < schema["minimum"]:
        sys.exit(f"{at}: {value} is below {schema['minimum']}")
    for key in schema.get("required", []):
        if key not in value:
            sys.exit(f"{at}: {key} is missing")
    if isinstance(value, dict):
        for key, member in value.items():
            rule = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            if rule is None:
                sys.exit(f"{at}.{key} is not in the schema")
            check(member, rule, f"{at}.{key}")
    if isinstance(value, list):
        for i, item in enumerate(value):
            check(item, schema["items"], f"{at}[{i}]")

schema = json.load(open(sys.argv[1]))
for path in sys.argv[2:]:
    step = json.load(open(path))
    check(step, schema, path)
    total = sum(p["time_us"] for p in step["parts"] if p["depth"] == 0)
    if not math.isclose(total, step["metrics"]["latency_us"], rel_tol=1e-9):
        sys.exit(f"{path}: parts take {total} us of {step['metrics']['latency_us']}")
    if not step["operators"]:
        sys.exit(f"{path}: no operators")
    for o in step["operators"]:
        if o["kind"] == "linear" and o["copies"] == 1 and o["operations"] < 1.98 * o["repeat"] * o["m"] * o["k"] * o["n"]:
            sys.exit(f"{path}: {o}")
P
python3 check.py "$SOURCE/docs/schema/step.json" ./*.json || fail "a step is not as docs/schema/step.json has it"
