/* dse trace: what the real attention of a model was, in files. */
#include "attention/action.h"
#include "attention/attention.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

static const struct trace_action actions[] = {
    {"info", "FILE...", 1, SIZE_MAX, (const char *const[]){"scores", "format", NULL}, trace_info_run},
    {"import", "", 0, 0,
     (const char *const[]){"raw",          "csv",   "q",         "k",   "v",    "safetensors", "bf16",   "steps",
                           "layers",       "heads", "positions", "dim", "bits", "model",       "source", "select-layers",
                           "select-heads", "first", "output",    NULL},
     trace_import_run},
    {"generate", "", 0, 0, (const char *const[]){"set", "count", "kinds", "bits", "model", "output", NULL}, trace_generate_run},
    {"fit", "", 0, 0, (const char *const[]){"anchors", "iterations", "to", "first", "output", "format", NULL}, trace_fit_run},
    {"measure", "KINDS.csv", 1, 1, (const char *const[]){"like", "contexts", "followed", "output", NULL}, trace_measure_run},
    {"extend", "MEASURED.csv MADE.csv", 2, 2, (const char *const[]){"contexts", "output", "format", NULL}, trace_extend_run},
};
enum { ACTIONS = sizeof actions / sizeof *actions };

static const struct trace_action *find_action(const struct invocation *in)
{
    const char *names[ACTIONS + 1] = {NULL}, *name = in->operands[0];
    for (size_t i = 0; i < ACTIONS; i++) {
        if (strcmp(actions[i].name, name) == 0) return &actions[i];
        names[i] = actions[i].name;
    }
    char *joined = text_join(names, ", "), *all = xasprintf(": %s", joined);
    usage_unknown(in, "trace: unknown action", name, names, ACTIONS, all);
    free(all);
    free(joined);
    return NULL;
}

static bool check_options(const struct invocation *in, const struct trace_action *a)
{
    for (size_t i = 0; i < in->n_options; i++) {
        const char *name = in->options[i].row->name;
        bool takes = false;
        for (size_t k = 0; a->options[k] && !takes; k++) takes = strcmp(a->options[k], name) == 0;
        if (takes) continue;
        usage_error(in, "trace %s does not take --%s", a->name, name);
        return false;
    }
    return true;
}

static int run(const struct invocation *in)
{
    const struct trace_action *a = find_action(in);
    if (!a || !check_options(in, a)) return 2;
    if (in->n_operands - 1 < a->min_operands) return usage_error(in, "something is missing: dse trace %s %s", a->name, a->operands);
    if (in->n_operands - 1 > a->max_operands)
        return usage_error(in, "one argument too many: \"%s\"", in->operands[1 + a->max_operands]);
    return a->run(in);
}

const struct command command_trace = {
    .name = "trace",
    .operands = "info FILE...|import|generate|fit|measure KINDS.csv|extend MEASURED.csv MADE.csv",
    .summary = "import, generate, inspect and fit traces: q, k and v of attention heads",
    .options =
        (const struct option_row[]){
            OPTION_FORMAT,
            {0, "scores", NULL, "info: print the range of the scores of each head"},
            {0, "raw", "FILE", "import: a plain array [layer][head][q|k|v][position][element], little-endian"},
            {0, "csv", "FILE", "import: rows layer,head,which,position,x0,x1,... where `which` is q, k or v"},
            {0, "safetensors", "FILE", "import: tensors q, k and v of [layers, heads, positions, elements], or without layers"},
            {0, "q", "FILE|NAME", "import: q as a .npy file of that shape; with --safetensors the tensor's name (default: q)"},
            {0, "k", "FILE|NAME", "import: likewise the keys, with as many heads as the cache has (default: k)"},
            {0, "v", "FILE|NAME", "import: likewise the values (default: v)"},
            {0, "steps", "LIST|FILE|NAME",
             "import: positions of the rows of q, if q lacks some: 0-131071/512, a .npy file or a tensor (default: steps)"},
            {0, "bf16", NULL, "import: read 16-bit integers of .npy files as bf16"},
            {0, "layers", "LIST",
             "import: layers of the model that the arrays hold: 0,2,5 or 0-21; --raw needs this, others count from 0"},
            {0, "heads", "LIST", "import: query heads of the model that the arrays hold; written as --layers"},
            {0, "positions", "N", "import --raw: number of positions in the array"},
            {0, "dim", "N", "import --raw: head dimension"},
            {0, "bits", "16|32", "import, generate: fp16 or fp32 (default: 16; 32 for CSV and for arrays of bf16 or fp32)"},
            {0, "model", "NAME", "import, generate: the LLM that the trace is of"},
            {0, "source", "TEXT", "import: where the trace comes from, and its licence"},
            {0, "select-layers", "LIST", "import: only these layers"},
            {0, "select-heads", "LIST", "import: only these heads"},
            {0, "first", "N", "import: only the first N positions; fit --to: fit on them (256 to 2048)"},
            {'o', "output", "FILE", "import, generate: the trace to write; fit --to: the kinds; measure, extend: the quality file"},
            {'s', "set", "NAME=VALUE", "generate: a parameter of synthetic attention; any number of times"},
            {0, "count", "N", "generate: number of heads (default: 8)"},
            {0, "anchors", "FILE", "fit: published statistics (default: catalog/anchors.toml)"},
            {0, "to", "TRACE", "fit: fit one generator to each head of this trace"},
            {0, "kinds", "FILE", "generate: use the generators of FILE, which `trace fit --to TRACE -o FILE` writes"},
            {0, "like", "FILE", "measure: measure the methods, settings and ratios of this quality file on the generated heads"},
            {0, "followed", "N", "measure: longest context of methods that need every step: votes, sums, lad (default: 4096)"},
            {0, "contexts", "LIST",
             "measure: contexts (default: six up to 131072); extend: longer contexts to add (default: powers of two)"},
            {0, "iterations", "N", "fit: at most N iterations; 0 only measures the start (default: 1000)"},
            {0},
        },
    .help =
        "A trace holds q, k and v of attention heads. q and k are taken after RoPE, and attention is causal. With grouped\n"
        "queries, k and v of .npy and .safetensors files have the heads of the cache. In raw arrays and CSV they are\n"
        "repeated for each query head. docs/reference/trace-file.md describes the formats, and\n"
        "docs/how-to/your-attention.md has a script that exports them.\n"
        "\n"
        "  dse trace info model.trace\n"
        "  dse trace info model.trace --scores --format csv\n"
        "  dse trace import --raw qkv.f16 --layers 0,2,5 --heads 0,8 --positions 2048 --dim 64 --bits 16 --model tinyllama-1.1b "
        "\\\n"
        "      --source \"my dump of TinyLlama\" --select-layers 2 --first 1024 -o model.trace\n"
        "  dse trace import --safetensors qkv.safetensors --model mine --source \"my model, my text\" -o mine.trace\n"
        "  dse trace import --q q.npy --k k.npy --v v.npy --steps 130816-131071 --model mine --source \"a long text\" -o "
        "long.trace\n"
        "  dse trace import --csv qkv.csv --model toy --source \"written by hand\" -o toy.trace\n"
        "  dse trace generate --set n=2048 --set noise_sd=1 --count 4 -o synthetic.trace\n"
        "  dse trace fit\n"
        "  dse trace fit --to model.trace --first 1024 -o kinds.csv\n"
        "  dse trace generate --kinds kinds.csv --set n=4096 --model mine -o long.trace\n"
        "  dse trace measure kinds.csv --like quality/mine.csv -o made.csv\n"
        "  dse trace extend quality/mine.csv made.csv --contexts 8192,131072 -o quality/mine-extended.csv\n",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .run = run,
};
