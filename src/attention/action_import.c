/* dse trace import. */
#include "attention/action.h"
#include "attention/trace_import.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

struct ids {
    int32_t *list;
    size_t n;
};

static bool parse_id(const char *s, size_t n, int64_t *ret)
{
    char *word = xstrndup(s, n);
    bool ok = *word != '+' && *word != '-' && text_parse_i64(word, ret) && *ret <= INT32_MAX;
    free(word);
    return ok;
}

/* Read "0,2,5" or "0-21,30". An option that is not given leaves *ret empty. */
static bool read_ids(const struct invocation *in, const char *option, size_t max, struct ids *ret)
{
    const char *s = option_get(in, option);
    for (const char *p = s; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        size_t n = strcspn(p, ","), dash = strcspn(p, "-,");
        int64_t from = 0, to;
        bool ok = parse_id(p, dash, &from);
        to = from;
        if (ok && dash < n) ok = parse_id(p + dash + 1, n - dash - 1, &to) && to >= from;
        if (!ok) {
            usage_error(in, "--%s: \"%s\" is not a list of whole numbers such as 0,2,5 or 0-21", option, s);
            return false;
        }
        if ((uint64_t)(to - from) >= max - ret->n) {
            usage_error(in, "--%s: more than the %zu that a trace may have", option, max);
            return false;
        }
        ret->list = xrealloc(ret->list, ret->n + (size_t)(to - from) + 1, sizeof *ret->list);
        for (int64_t id = from; id <= to; id++) ret->list[ret->n++] = (int32_t)id;
    }
    return true;
}

/* Complain about the first of these options, in the list closed by NULL, that is missing (or, with `given`, given). */
static bool check_given(const struct invocation *in, const char *const *names, bool given, const char *with)
{
    for (size_t i = 0; names[i]; i++) {
        if (option_has(in, names[i]) != given) continue;
        usage_error(in, given ? "--%s is not for %s" : "--%s is missing; %s needs it", names[i], with);
        return false;
    }
    return true;
}

/* What is imported: by the option that names it. */
enum from { FROM_RAW, FROM_CSV, FROM_NPY, FROM_SAFETENSORS, FROMS };
static const struct {
    const char *option, *about;
    const char *const *needs, *const *refuses; /* options, closed by NULL */
} froms[FROMS] = {
    [FROM_RAW] = {"raw", "--raw", (const char *const[]){"layers", "heads", "positions", "dim", NULL},
                  (const char *const[]){"k", "v", "bf16", "steps", NULL}},
    [FROM_CSV] = {"csv", "--csv", (const char *const[]){NULL},
                  (const char *const[]){"layers", "heads", "positions", "dim", "k", "v", "bf16", "steps", NULL}},
    [FROM_NPY] = {"q", "--q FILE.npy", (const char *const[]){"k", "v", NULL}, (const char *const[]){"positions", "dim", NULL}},
    [FROM_SAFETENSORS] = {"safetensors", "--safetensors", (const char *const[]){NULL},
                          (const char *const[]){"positions", "dim", "bf16", NULL}},
};

static bool check_options(const struct invocation *in, enum from *ret)
{
    static const char *const always[] = {"model", "source", "output", NULL};
    size_t given = 0;
    for (size_t f = 0; f < FROMS; f++) {
        bool names = f == FROM_NPY && option_has(in, "safetensors"); /* --q is a tensor's name */
        if (!option_has(in, froms[f].option) || names) continue;
        *ret = (enum from)f;
        given++;
    }
    if (given != 1) {
        usage_error(
            in, "trace import needs one of --raw FILE, --csv FILE, --safetensors FILE, or --q, --k and --v with a .npy FILE each");
        return false;
    }
    return check_given(in, froms[*ret].refuses, true, froms[*ret].about) &&
           check_given(in, froms[*ret].needs, false, froms[*ret].about) && check_given(in, always, false, "trace import");
}

static int read_bits(const struct invocation *in, int otherwise)
{
    const char *s = option_get(in, "bits");
    if (!s) return otherwise;
    if (strcmp(s, "16") == 0) return 16;
    if (strcmp(s, "32") != 0) usage_error(in, "--bits: \"%s\" is neither 16 nor 32", s);
    return 32;
}

static void import(const struct invocation *in, enum from from, struct trace_info *info, const struct trace_pick *pick)
{
    const char *to = option_get(in, "output");
    if (from == FROM_RAW)
        trace_import_raw(option_get(in, "raw"), info, pick, to, in->diags);
    else if (from == FROM_CSV)
        trace_import_csv(option_get(in, "csv"), info, pick, to, in->diags);
    else
        trace_import_files(in, info, pick);
}

int trace_import_run(const struct invocation *in)
{
    enum from from = FROM_RAW;
    if (!check_options(in, &from)) return 2;
    struct ids layers = {0}, heads = {0}, some_layers = {0}, some_heads = {0};
    bool ok = read_ids(in, "layers", TRACE_LAYERS_MAX, &layers) && read_ids(in, "heads", TRACE_HEADS_MAX, &heads) &&
              read_ids(in, "select-layers", TRACE_LAYERS_MAX, &some_layers) &&
              read_ids(in, "select-heads", TRACE_HEADS_MAX, &some_heads);
    struct trace_info info = {.model = option_get(in, "model"),
                              .source = option_get(in, "source"),
                              .layers = layers.n,
                              .heads = heads.n,
                              .layer_ids = layers.list,
                              .head_ids = heads.list,
                              .n = (size_t)option_integer(in, "positions", 1, TRACE_POSITIONS_MAX, 1),
                              .d = (size_t)option_integer(in, "dim", 1, TRACE_DIM_MAX, 1),
                              .bits = read_bits(in, from == FROM_RAW   ? 16
                                                    : from == FROM_CSV ? 32
                                                                       : 0)};
    struct trace_pick pick = {.layer_ids = some_layers.list,
                              .layers = some_layers.n,
                              .head_ids = some_heads.list,
                              .heads = some_heads.n,
                              .first = (size_t)option_integer(in, "first", 1, TRACE_POSITIONS_MAX, 0)};
    if (ok && !in->diags->errors) import(in, from, &info, &pick);
    free(layers.list);
    free(heads.list);
    free(some_layers.list);
    free(some_heads.list);
    return 0;
}
