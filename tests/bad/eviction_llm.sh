. ./lib
# Eviction of an LLM with other layers than full attention with a dense network: refused by every model, with one sentence.
for llm in deepseek-v3 deepseek-v3.2 gemma3-12b mixtral-8x7b mamba2-2.7b; do
    for policy in voting h2o window quest snapkv; do
        for model in "lad --set decoding=full-cache" lad veda swiftkv flashdecoding ane; do
            # shellcheck disable=SC2086
            "$DSE" eval $model --set llm=$llm --set eviction=$policy 2>&1 >out.txt
        done
    done
done | sort | uniq -c | sed 's/^ *//' >&2
"$DSE" eval veda --set llm=deepseek-v3 --set eviction=voting --set eviction_ratio=0.25
