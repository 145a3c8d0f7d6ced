# dse diff of two runs of a million rows
title "dse diff of two runs of a million rows of LAD, seconds of CPU (to reach: 3)"
tiles=$(size 32 1)
sweep() { # NAME LLMS
    printf '[sweep]\nname = "%s"\nmodels = ["lad"]\n[params]\nllm = [%s]\n' "$1" "$2"
    printf 'context = { from = 512, to = 4096, step = 128 }\ntiles = { from = 1, to = %d, step = 1 }\n' "$tiles"
    printf 'sram_mib = { from = 0.5, to = 27.5, step = 0.125 }\n[objectives]\ntokens_per_s = "max"\narea_mm2 = "min"\n'
}
sweep a '"opt-2.7b", "llama2-7b", "llama2-13b", "llama3-8b", "mistral-7b"' >a.toml
sweep b '"mistral-7b", "llama3-8b", "opt-2.7b", "llama2-7b", "llama2-13b"' >b.toml
for x in a b; do "$dse" sweep $x.toml -q -o $x.db >/dev/null; done
for x in a b; do
    for _ in $(passes); do bench run "$dse" diff a.db $x.db >>times_$x; done
done
same=$(median 2 <times_a) other=$(median 2 <times_b)
echo "   the same order     $same s"
echo "   in another order   $other s"
row '`dse diff` of two runs of a million rows' "$same s CPU in the same order, $other s in another"
