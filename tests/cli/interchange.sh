#!/bin/sh
# What other simulators write is read, and what they ask for is written by a published schema.
. "$(dirname "$0")/lib.sh"
SOURCE=$2

# Traces of DRAMsim3 and Ramulator: the same requests as ours say, and the same run.
printf 'R 0 64 0\nW 40 64 10\nR 12340 64 20\n' >ours.trace
printf '0x0 READ 0\n0x40 WRITE 20\n0x12340 READ 40\n' >dramsim3.trace
for f in ours dramsim3; do
    "$DSE" dram $f.trace --memory hbm2-dramsim3 --access 64 --cycle-ns 0.5 --print-trace >$f.printed || fail "$f.trace is not read"
    "$DSE" dram $f.trace --memory hbm2-dramsim3 --access 64 --cycle-ns 0.5 --format csv >$f.csv || fail "$f.trace does not run"
done
cmp -s ours.printed dramsim3.printed || fail "DRAMsim3's trace is another: $(cat dramsim3.printed)"
printf 'LD 0x0\nST 0x40\nLD 0x12340\n' >ramulator2.trace
printf '0x0 R\n0x40 W\n0x12340 R\n' >ramulator1.trace
printf 'R 0 64\nW 40 64\nR 12340 64\n' >untimed.trace
for f in ramulator1 ramulator2 untimed; do "$DSE" dram $f.trace --access 64 --print-trace >$f.printed || fail "$f.trace is not read"; done
cmp -s ramulator1.printed untimed.printed && cmp -s ramulator2.printed untimed.printed || fail "Ramulator's traces are others: $(cat ramulator2.printed)"
# Addresses of a larger machine wrap around at the memory's end.
printf '0xfffffffffff0 READ 0\n' | "$DSE" dram - --access 64 --print-trace >out.txt || fail "an address of a larger machine is refused"
for bad in '0x1z0 READ 1' '0x100 READ x' '0x100 READ 1 2' 'LD' '0x100 MOVE 1'; do
    status=0
    printf '%s\n' "$bad" | "$DSE" dram - --print-trace >out.txt 2>err.txt || status=$?
    [ $status -eq 2 ] && grep -q 'standard input:1:' err.txt || fail "\"$bad\": exit status $status, $(cat err.txt)"
done

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
