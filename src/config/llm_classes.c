#include "config/llm_classes.h"

#include "base/xalloc.h"
#include "config/llm_json.h"

#include <ctype.h>
#include <dse/llm.h>
#include <dse/units.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const json_t *llm_exceptions(const json_t *q)
{
    static const char *const keys[] = {"modules_to_not_convert", "ignore",  "exclude_modules",
                                       "ignored_layers",         "exclude", "llm_int8_skip_modules",
                                       "modules_to_not_quantize"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const json_t *list = json_object_get(q, keys[k]);
        if (json_array_size(list) > 0) return list;
    }
    return NULL;
}

/* What modules of a class are called. The first that is in a name counts. */
static const struct {
    const char *word;
    enum dse_weight_class class;
} module_names[] = {
    {"lm_head", DSE_WEIGHTS_HEAD},
    {"embed_tokens", DSE_WEIGHTS_TABLES},
    {"embed", DSE_WEIGHTS_TABLES},
    {"wte", DSE_WEIGHTS_TABLES},
    {"shared_expert_gate", DSE_WEIGHTS_ROUTER},
    {"router", DSE_WEIGHTS_ROUTER},
    {"mlp.gate", DSE_WEIGHTS_ROUTER},
    {"moe.gate", DSE_WEIGHTS_ROUTER},
    {"shared_experts", DSE_WEIGHTS_SHARED},
    {"shared_expert", DSE_WEIGHTS_SHARED},
    {"indexer", DSE_WEIGHTS_INDEXER},
    {"linear_attn", DSE_WEIGHTS_RECURRENT},
    {"mamba", DSE_WEIGHTS_RECURRENT},
    {"self_attn", DSE_WEIGHTS_ATTENTION},
    {"attention", DSE_WEIGHTS_ATTENTION},
    {"experts", DSE_WEIGHTS_EXPERTS},
    {"mlp", DSE_WEIGHTS_DENSE},
};
enum { MODULE_NAMES = sizeof module_names / sizeof *module_names };

/* Whether modules of a class are kept: all, all of some layers, or only some in a layer. */
struct kept {
    bool all[DSE_WEIGHT_CLASSES], partly[DSE_WEIGHT_CLASSES], in_layer[DSE_WEIGHT_CLASSES][DSE_PATTERN_MAX];
};

static bool has_letter(const char *s)
{
    while (*s && !isalpha((unsigned char)*s)) s++;
    return *s != '\0';
}

/* "model.layers.3.self_attn": 3; -1: of no layer in particular. */
static long layer_of(const char *name)
{
    const char *at = strstr(name, "layers.");
    if (!at || !isdigit((unsigned char)at[strlen("layers.")])) return -1;
    return strtol(at + strlen("layers."), NULL, 10);
}

static void keep(const char *name, struct kept *ret)
{
    for (size_t i = 0; i < MODULE_NAMES; i++) {
        const char *at = strstr(name, module_names[i].word);
        const enum dse_weight_class class = module_names[i].class;
        const long layer = layer_of(name);
        if (!at) continue;
        if (class == DSE_WEIGHTS_ROUTER && strncmp(at, "mlp.gate_", strlen("mlp.gate_")) == 0) continue; /* a gate of the network */
        if (has_letter(at + strlen(module_names[i].word)))
            ret->partly[class] = true;
        else if (layer < 0)
            ret->all[class] = true;
        else if (layer < DSE_PATTERN_MAX)
            ret->in_layer[class][layer] = true;
        return;
    }
}

/* Is every layer among them? Some only: the class is kept in part. */
static bool is_kept(const struct dse_llm *llm, enum dse_weight_class class, struct kept *k)
{
    int64_t n = 0;
    for (int64_t i = 0; i < llm->layers; i++) n += k->in_layer[class][i];
    if (n > 0 && n < llm->layers) k->partly[class] = true;
    return k->all[class] || n == llm->layers;
}

/* Does the method quantise the class where nothing is said of it? */
static bool is_quantised(const char *method, enum dse_weight_class class)
{
    if (method && strcmp(method, "mxfp4") == 0) return class == DSE_WEIGHTS_EXPERTS;
    if (method && strcmp(method, "MLX") == 0) return true;
    return class < DSE_WEIGHTS_ROUTER;
}

bool llm_fill_classes(const json_t *q, const char *method, double bits, double scale_bits, struct dse_llm *llm)
{
    struct kept *kept = xcalloc(1, sizeof *kept);
    const json_t *list = llm_exceptions(q);
    bool exact = true;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (name) keep(name, kept);
    }
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) {
        const enum dse_weight_class class = (enum dse_weight_class)i;
        const bool quantised = is_quantised(method, class) && !is_kept(llm, class, kept);
        llm->formats.bits[i] = quantised ? bits : (double)NAN;
        llm->formats.scale_bits[i] = quantised && scale_bits > 0 ? scale_bits : (double)NAN;
        exact = exact && !(quantised && kept->partly[i]);
    }
    free(kept);
    return exact;
}

/* ---- the index -------------------------------------------------------------------------------------------------------------- */

static char *index_beside(const char *path)
{
    static const char name[] = "model.safetensors.index.json";
    const char *slash = strrchr(path, '/');
    return slash ? xasprintf("%.*s/%s", (int)(slash - path), path, name) : xstrdup(name);
}

static void compare(double total, double counted, struct text *ret)
{
    text_addf(ret, "model.safetensors.index.json: %.0f bytes, ", total);
    if (total == counted)
        text_add(ret, "as counted\n");
    else
        text_addf(ret, "%.0f %s than counted: layers in formats of their own, or what is no part of the LLM (vision, drafts)\n",
                  total > counted ? total - counted : counted - total, total > counted ? "more" : "fewer");
}

bool llm_compare_index(struct llm_config *c, const struct dse_llm *llm, bool is_exact, struct text *ret)
{
    char *path = index_beside(c->file), *source = NULL;
    bool ok = true;
    const bool is_there = access(path, F_OK) == 0;
    const double counted = dse_llm_checkpoint_bytes(llm);
    if (is_there || ret->n > 0)
        text_addf(ret, "checkpoint: %.0f bytes, %.2f GiB%s\n", counted, counted / DSE_GIB,
                  is_exact ? "" : "; about: parts of some classes are in other formats");
    if (is_there) {
        json_t *root = llm_json_read(path, &source, c->diags);
        const json_t *total = json_object_get(json_object_get(root, "metadata"), "total_size");
        if (json_is_number(total)) compare(json_number_value(total), counted, ret);
        ok = root != NULL;
        json_decref(root);
    }
    free(source);
    free(path);
    return ok;
}
