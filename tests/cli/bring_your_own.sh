#!/bin/sh
# A model that nobody measured, from its weights to an evaluation: the script of docs/how-to/your-attention.md, word for word, on a tiny transformer of random weights
# (tests/cli/fake_transformers stands for the packages), then import, profile, and the profiles in use. The same trace by way of .npy.
source=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
export LC_ALL=C PYTHONPATH="$source/tests/cli/fake_transformers" PYTHONDONTWRITEBYTECODE=1

awk '/^```python$/ { on = 1; next } /^```$/ { on = 0 } on' "$source/docs/how-to/your-attention.md" >export.py
[ "$(grep -vc '^$' export.py)" -ge 35 ] || fail "docs/how-to/your-attention.md has no script"
head -c 159 "$source/README.md" >text.txt
python3 export.py tiny text.txt qkv.safetensors >said.txt
grep -q -- '--safetensors qkv.safetensors --layers 0,1' said.txt || fail "the script names another command"

"$DSE" trace import --safetensors qkv.safetensors --layers 0,1 --model tiny --source "random weights" -o mine.trace
info=$("$DSE" trace info mine.trace --format csv | tail -1)
case $info in *'"0 1","0 1 2 3",2,160,160,8,16,'*) ;; *) fail "the trace is another one: $info" ;; esac
# k and v of two heads and q of four: two thirds of what repeated keys take
size=$(wc -c <mine.trace)
[ "$size" -lt $((2 * 160 * 8 * 2 * 9)) ] || fail "$size bytes: keys are repeated"

# What the trace says of a head is what the model computed: the largest score, from q and k as they were written.
python3 - >want.txt <<'PY'
import json, struct
b = open("qkv.safetensors", "rb").read()
n = struct.unpack("<Q", b[:8])[0]
h, data = json.loads(b[8 : 8 + n]), b[8 + n :]
def load(name):
    begin, end = h[name]["data_offsets"]
    return struct.unpack("<%de" % ((end - begin) // 2), data[begin:end])
q, k = load("q"), load("k")
N, D = 160, 8
for layer in range(2):
    for head in range(4):
        of_q, of_k = (layer * 4 + head) * N * D, (layer * 2 + head // 2) * N * D
        print("%d,%d,%.4g" % (layer, head, max(sum(q[of_q + t * D + j] * k[of_k + i * D + j] for j in range(D)) / D ** 0.5 for t in range(N) for i in range(t + 1))))
PY
"$DSE" trace info mine.trace --scores --format csv | tail -n +2 | awk -F, '{ printf "%d,%d,%.4g\n", $2, $3, $5 }' >got.txt
cmp want.txt got.txt || fail "the trace has other heads than the model"

# Measured, and used.
mkdir profiles retentions
"$DSE" profile mine.trace --kind locality --contexts 64,96,128 --steps 32 -o profiles/mine.csv
"$DSE" profile mine.trace --kind retention --policies h2o,voting --contexts 64,96,128 --ratios 0.25,0.5,0.75 -s reserved_length=8 -s prompt_share=1 -o retentions/mine.csv
printf '[profiles]\nmine = "profiles/mine.csv"\n[retentions]\nmine = "retentions/mine.csv"\n' >mine.toml
"$DSE" eval veda -c mine.toml --set boundary=bulk --set quality_from=retention --set retention=mine --set eviction=h2o --set eviction_ratio=0.5 --set context=128 --format json >eval.json 2>notes.txt
mass=$(grep -v '^#' retentions/mine.csv | awk -F, '$1 == "h2o" && $2 == 128 && $3 == 0.5 { print $4 }')
used=$(sed -n 's/.*"retained_mass"[: ]*\([0-9.e-]*\).*/\1/p' eval.json | head -1)
awk "BEGIN { exit !(\"$mass\" != \"\" && ($mass - (0$used))^2 < 1e-10) }" || fail "veda says $used of retained mass, the profile $mass"
"$DSE" eval lad -c mine.toml --set draws=profile --set intervals=5 --set profile=mine --set context=128 --format csv >lad.csv 2>>notes.txt || fail "lad does not take the profile"

# The same by way of .npy, and with q of some steps alone.
python3 - <<'PY'
import json, struct
b = open("qkv.safetensors", "rb").read()
n = struct.unpack("<Q", b[:8])[0]
h, data = json.loads(b[8 : 8 + n]), b[8 + n :]
for name in "qkv":
    begin, end = h[name]["data_offsets"]
    text = "{'descr': '<f2', 'fortran_order': False, 'shape': (%s), }" % ", ".join(map(str, h[name]["shape"]))
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    open(name + ".npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + data[begin:end])
PY
"$DSE" trace import --q q.npy --k k.npy --v v.npy --model tiny --source "random weights" -o npy.trace
cmp mine.trace npy.trace || fail "a trace of .npy differs from the same of .safetensors"

python3 export.py tiny text.txt some.safetensors --every 16 >said.txt
"$DSE" trace import --safetensors some.safetensors --layers 0,1 --model tiny --source "random weights" -o some.trace
case $("$DSE" trace info some.trace --format csv | tail -1) in *'"0 1 2 3",2,160,10,8,16,'*) ;; *) fail "not q of ten steps" ;; esac
"$DSE" profile some.trace --kind range --contexts 160 --steps 32 --format csv >range.csv || fail "the range of scores needs no more than some steps"
[ "$(tail -1 range.csv | cut -d, -f2)" -eq 16 ] || fail "two steps of eight heads are 16 vectors"
! "$DSE" profile some.trace --kind retention --contexts 160 2>refused.txt || fail "a cache was followed over steps that are missing"
grep -q 'q of 10 of its 160 steps' refused.txt || fail "the refusal does not say what is missing"
