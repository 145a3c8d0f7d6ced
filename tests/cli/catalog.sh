#!/bin/sh
# Entries of one's own: started from one that ships, like another, without timing; files that are found without being named.
. "$(dirname "$0")/lib.sh"
export XDG_CONFIG_HOME="$WORK/none"
unset DSE_CATALOG 2>/dev/null || true

# What is written is read back as the same entry, of every kind in TOML and all of their entries.
for kind in llms memories gpus fpgas engines npus interconnects requests; do
    "$DSE" list $kind --format toml >mine.toml || fail "list $kind --format toml"
    "$DSE" list $kind --format csv -c mine.toml >all.csv || fail "$kind: what was written is not read"
    names=$("$DSE" list $kind --format csv | tail -n +2 | cut -d, -f1 | tr -d '"')
    for name in $names; do
        grep "^\"*$name\"*," all.csv | cut -d, -f2- >shipped.txt
        grep "^\"*my-$name\"*," all.csv | cut -d, -f2- >own.txt
        cmp -s shipped.txt own.txt || fail "$kind $name is another when read back: $(diff shipped.txt own.txt)"
    done
done
[ "$("$DSE" list memories ddr4-3200-2ch hbm-256 --format toml | grep -c '^\[')" -eq 2 ] || fail "names do not choose"
"$DSE" list llms mixtral-8x7b >llm.txt # a token touches two of eight experts, a quarter of their weights; one of eight chips has one of its two rows
grep -qE '^ +1 +2 +2 +2 +21 +4 ' llm.txt || fail "experts at work: $(cat llm.txt)"
[ "$("$DSE" list llms llama2-7b llama3-8b --format csv | wc -l)" -eq 3 ] || fail "names do not choose in CSV"
"$DSE" list profiles --format toml >/dev/null 2>err.txt && fail "profiles are no TOML"
grep -q 'CSV' err.txt || fail "$(cat err.txt)"
"$DSE" list memories hbm3-h100-80 2>err.txt && fail "an unknown name is listed"
grep -q 'did you mean hbm3-h100-80gb' err.txt || fail "$(cat err.txt)"
# Formats: what most classes have is said once; a named one has a line a class, and CSV has all columns.
"$DSE" list formats >formats.txt
grep -qE '^fp8-blocks +16: router, tables, head, other; else 8 \+ 0\.001953 x 8 ' formats.txt || fail "formats: $(cat formats.txt)"
grep -qE "^checkpoint +the LLM's checkpoint +as released " formats.txt || fail "formats: $(cat formats.txt)"
[ "$("$DSE" list formats qoq | grep -cE '^qoq +(attention|dense) +4 +0\.09766 +8')" -eq 2 ] || fail "a format has no line a class"
"$DSE" list formats --format csv | head -n 1 | grep -q '"experts_scale_bits"' || fail "CSV of formats lacks columns"

# Books of constants, too: but for the name, each constant of each year.
"$DSE" list costs --format toml >book.toml || fail "list costs --format toml"
"$DSE" list costs public --format csv >shipped.txt
"$DSE" list costs my-public --format csv -c book.toml | sed 's/my-public/public/' >own.txt || fail "a written book is not read"
cmp -s shipped.txt own.txt || fail "a book is another when read back: $(diff shipped.txt own.txt | head)"
[ "$("$DSE" list costs wafer_usd_5nm --format csv | wc -l)" -eq 3 ] || fail "the years of a constant are not listed"
"$DSE" list costs wafer_usd_9nm 2>err.txt && fail "an unknown constant is listed"
grep -q 'did you mean wafer_usd_8nm' err.txt || fail "$(cat err.txt)"

# Like another: what differs differs, the rest is the same; in any order of the file.
cat >like.toml <<'TOML'
[memories.twice]
like = "once"
channels = 320
source = "twice as many"
[memories.once]
like = "hbm3-h100-80gb"
capacity_gib = 96
TOML
"$DSE" list memories once twice hbm3-h100-80gb --format json -c like.toml >like.json
[ "$(grep -c '"t_rcd_ns": 15.708,' like.json)" -eq 3 ] || fail "what is alike has other timing: $(cat like.json)"
[ "$(grep -c '"capacity_gib": 96,' like.json)" -eq 2 ] || fail "likeness is not handed on"
grep '"twice"' like.json | grep -q '"channels": 320,' || fail "channels of its own are lost"
grep '"once"' like.json | grep -q '"source": "like hbm3-h100-80gb: NVIDIA H100' || fail "the source is lost"
grep '"twice"' like.json | grep -q '"source": "twice as many"' || fail "its own source is lost"

# A memory without timing: closed form, in whole bursts; no event level, with the reason.
cat >bare.toml <<'TOML'
[memories.bare]
channels = 32
channel_gbs = 32.0
dram_pj_per_bit = 4.0
burst_bytes = 64
capacity_gib = 80.0
kind = "hbm2"
source = "a data sheet without timing"
TOML
for model in lad veda swiftkv ane; do
    "$DSE" eval $model --set memory=bare -c bare.toml --format csv >eval.csv 2>err.txt || fail "$model: $(cat err.txt)"
    grep -q '^"*ok"*,' eval.csv || fail "$model on a memory without timing: $(cut -c1-200 eval.csv)"
    tail -n 1 eval.csv | grep -q 'nan\|inf,' && fail "$model: no number on a memory without timing"
    [ $model != ane ] || continue # whose event level is of calls and dispatches: it knows no banks
    "$DSE" eval $model --set memory=bare --fidelity event-level -c bare.toml >out.txt 2>err.txt && fail "$model: an event level without timing"
    grep -q 'the event level needs DRAM timing' err.txt || fail "$model: $(cat err.txt)"
done
efficiency() { "$DSE" query :memory: "select efficiency from dram_efficiency('bare', $1)" -c bare.toml --format csv | tail -n 1; }
[ "$(efficiency 32)" = 0.5 ] && [ "$(efficiency 64)" = "$(efficiency 65536)" ] || fail "short accesses: $(efficiency 32), $(efficiency 64), $(efficiency 65536)"
"$DSE" dram --pattern random --memory bare -c bare.toml >/dev/null 2>err.txt && fail "dram without timing"
grep -q 'the event level needs DRAM timing' err.txt || fail "$(cat err.txt)"
# In a sweep what is not known is NULL.
cat >bare_sweep.toml <<'TOML'
[sweep]
name = "bare"
models = ["lad"]
[params]
memory = ["bare", "hbm2-5cube"]
[quality]
exact = false
[objectives]
tokens_per_s = "max"
TOML
"$DSE" sweep bare_sweep.toml -c bare.toml -q >/dev/null || fail "a sweep over a memory without timing"
[ "$(sqlite3 results/bare.db "select memory || ':' || (t_rcd_ns is null) || ':' || (tokens_per_s > 0) from lad order by 1" | tr '\n' ' ')" = "bare:1:1 hbm2-5cube:0:1 " ] ||
    fail "$(sqlite3 results/bare.db 'select memory, t_rcd_ns, tokens_per_s from lad')"

# Files that are found: the user's, then those of DSE_CATALOG, then --catalog; each may build on those before.
mkdir -p config/dse home/.config/dse
sed 's/memories.bare/memories.first/' bare.toml >config/dse/catalog.toml
sed 's/memories.bare/memories.at-home/' bare.toml >home/.config/dse/catalog.toml
printf '[memories.second]\nlike = "first"\nchannels = 16\n' >second.toml
printf '[memories.third]\nlike = "second"\nchannels = 8\n' >third.toml
printf '[memories.fourth]\nlike = "third"\nchannels = 4\n' >fourth.toml
has() { "$DSE" list memories --format csv -c fourth.toml | grep -q "^\"*$1\"*,$2,"; }
export XDG_CONFIG_HOME="$WORK/config" DSE_CATALOG="second.toml::third.toml"
has first 32 && has second 16 && has third 8 && has fourth 4 || fail "files are not found: $("$DSE" list memories --format csv -c fourth.toml 2>&1 | tail -n 5)"
DSE_CATALOG="second.toml:third.toml:fourth.toml:second.toml" has fourth 4 || fail "a file that is named twice is an error"
unset XDG_CONFIG_HOME DSE_CATALOG
HOME="$WORK/home" "$DSE" list memories --format csv | grep -q '^"*at-home"*,' || fail "~/.config/dse/catalog.toml is not read"
HOME="$WORK" "$DSE" list memories >/dev/null || fail "no file of one's own is an error"
DSE_CATALOG=missing.toml "$DSE" list memories >/dev/null 2>err.txt && fail "a missing file of DSE_CATALOG is no error"
grep -q 'missing.toml' err.txt || fail "$(cat err.txt)"
