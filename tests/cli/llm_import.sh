#!/bin/sh
# Configurations of others as entries of a catalog: what is printed, what an approximate entry marks, and what is counted of a cache.
. "$(dirname "$0")/lib.sh"
export XDG_CONFIG_HOME="$WORK/none"
unset DSE_CATALOG 2>/dev/null || true
SOURCE=$2
says() { grep -qF -- "$1" "$2" || fail "\"$1\" is not in $2: $(cat "$2")"; }
cases=$SOURCE/tests/data/llms/cases

# Indexers that layers share: 21 of GLM-5.2's 78 layers have one, and so do three of these six.
"$DSE" llm import "$cases/glm52_shared_indexer.json" -n shared -o shared.toml >out.txt || fail "shared indexers"
[ -s out.txt ] && fail "there are no formats to print: $(cat out.txt)"
"$DSE" llm import "$cases/generic_noise.json" -n full -o full.toml || fail "the same with six indexers"
column() { # NAME COLUMN FILE
    "$DSE" list llms "$1" -c "$3" --format csv | python3 -c "import csv,sys; print(next(csv.DictReader(sys.stdin))['$2'])"
}
[ $(($(column full params full.toml) - $(column shared params shared.toml))) -eq 104640 ] || fail "parameters of shared indexers"
[ "$(column shared index_elements shared.toml)" -eq 96 ] || fail "keys of shared indexers"
"$DSE" eval flashdecoding -c shared.toml --set llm=shared --set gpu=h100 --set context=4096 >out.txt || fail "a step with shared indexers"
grep -q '^beyond' out.txt && fail "what is read in full is marked: $(cat out.txt)"

# Layers with unequal numbers of experts run on every machine, at both fidelities, and on chips that share their experts.
for case in unequal_experts blocks_of_experts; do
    "$DSE" llm import "$cases/$case.json" -n "$case" -o "$case.toml" >out.txt || fail "import $case"
    "$DSE" list llms "$case" -c "$case.toml" >out.txt || fail "list $case"
    says 'fullest of 8' out.txt
    for model in lad veda swiftkv flashdecoding ane; do
        for fidelity in closed-form event-level; do
            "$DSE" eval $model -c "$case.toml" --set llm="$case" --set context=512 --set batch=3 --fidelity $fidelity $([ $model = lad ] && echo --set decoding=full-cache) >out.txt 2>err.txt ||
                fail "$model, $fidelity, $case: $(cat out.txt err.txt)"
        done
    done
    "$DSE" eval flashdecoding -c "$case.toml" --set llm="$case" --set context=512 --set data_parallel=8 --set expert_parallel=8 >out.txt || fail "8 chips, $case: $(cat out.txt)"
done
"$DSE" eval flashdecoding -c unequal_experts.toml --set llm=unequal_experts --set data_parallel=12 --set expert_parallel=12 >out.txt 2>&1
says "expert_parallel is more than the LLM's experts" out.txt

# A catalog that is there is not written over, unless told to.
"$DSE" llm import "$cases/generic_noise.json" -n other -o full.toml 2>err.txt && fail "a catalog is written over"
says 'full.toml: error: the file is there already' err.txt
says '--force replaces it' err.txt
grep -q '^\[llms.full\]' full.toml || fail "the catalog has changed"
"$DSE" llm import "$cases/generic_noise.json" -n other -o full.toml --force || fail "--force"
grep -q '^\[llms.other\]' full.toml || fail "--force does not replace"
"$DSE" llm import "$cases/generic_noise.json" -n more >>full.toml || fail "one more entry"
"$DSE" list llms other more -c full.toml >/dev/null || fail "a catalog that was added to"

# What formats the files name is printed, with the settings that come nearest, and is in the entry, too.
"$DSE" llm import "$cases/quantization_config_dropped.json" -n awq -o awq.toml >out.txt || fail "formats"
says 'quantization_config: awq, weights of 4 bits in groups of 128; not lm_head' out.txt
says 'nearest: --set weight_bits=4 --set weight_scale_bits=0.15625' out.txt
says '# nearest: --set weight_bits=4 --set weight_scale_bits=0.15625' awq.toml
settings=$(sed -n 's/^nearest: \(.*\);.*/\1/p' out.txt)
"$DSE" eval flashdecoding -c awq.toml --set llm=awq --set gpu=h100 --set context=4096 $settings >/dev/null || fail "the nearest settings are refused: $settings"
"$DSE" llm import "$cases/quantization_config_dropped.json" | grep -q '^# nearest: --set weight_bits=4' || fail "formats are not printed with the entry"

# What was left out marks the entry, and every row that is made with it: in eval, at both fidelities, in a sweep and at points.
printf '{"model_type": "llama", "hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 4, "intermediate_size": 1024, "vocab_size": 1000,
 "max_position_embeddings": 8192, "layer_shapes": [1, 2]}' >config.json
"$DSE" llm import config.json -n part 2>err.txt && fail "a key that is not known is passed over"
says 'unknown keys of llama, which may change a number of the entry: layer_shapes' err.txt
says '--approximate imports the rest' err.txt
"$DSE" llm import config.json -n part --approximate -o part.toml || fail "--approximate"
grep -q '^approximate = "yes"' part.toml || fail "the entry is not marked: $(cat part.toml)"
grep -q '^source = .*approximate: not read: layer_shapes' part.toml || fail "the source does not say what was left out"
[ "$(column part approximate part.toml)" = yes ] || fail "dse list does not say it"
for model in lad flashdecoding; do
    "$DSE" eval $model -c part.toml --set llm=part >out.txt || fail "eval $model"
    says 'llm import --approximate' out.txt
done
cat >sweep.toml <<'TOML'
[sweep]
name = "part"
models = ["swiftkv"]
TOML
sed 's/^\[llms\./[catalog.llms./' part.toml >>sweep.toml
cat >>sweep.toml <<'TOML'
[params]
llm = ["part", "opt-2.7b"]
context = [512, 1024]
[objectives]
tokens_per_s = "max"
TOML
"$DSE" sweep sweep.toml --no-figures -q -o part.db >/dev/null || fail "a sweep"
[ "$("$DSE" query part.db "SELECT llm, count(beyond), count(*) FROM swiftkv GROUP BY 1 ORDER BY 1" --format csv | tail -n +2 | tr -d '"' | tr '\n' ' ')" = 'opt-2.7b,0,2 part,2,2 ' ] ||
    fail "rows: $("$DSE" query part.db "SELECT llm, beyond FROM swiftkv" --format csv)"
printf 'llm,context\npart,512\nopt-2.7b,512\n' >points.csv
"$DSE" eval swiftkv -c part.toml --points points.csv --format csv >out.txt || fail "points"
[ "$(grep -c 'llm import --approximate' out.txt)" -eq 1 ] || fail "points: $(cat out.txt)"

# Summaries count like models: 8-bit keys of indexers and 32-bit states.
"$DSE" list llms deepseek-v3.2 >out.txt
grep -qE '^deepseek-v3.2 .* 76.25 +0 ' out.txt || fail "a token of DeepSeek-V3.2: $(cat out.txt)" # 61 (2 576 + 128) / 1024
"$DSE" list llms qwen3-next-80b-a3b >out.txt
grep -qE '^qwen3-next-80b-a3b .* 24 +73.69 ' out.txt || fail "states: $(cat out.txt)" # 36 (4 32 128 128 + 2 3 8192) / 2^20
printf '{"model_type": "mamba2", "num_hidden_layers": 2, "hidden_size": 128, "vocab_size": 1000, "state_size": 32, "num_heads": 4, "head_dim": 64, "n_groups": 1}' >config.json
"$DSE" llm import config.json | grep -q '^# .*; 67.75 KiB of 32-bit states a sequence' || fail "states of an import: $("$DSE" llm import config.json)" # 2 (4 256 32 + 2 3 320) / 1024
