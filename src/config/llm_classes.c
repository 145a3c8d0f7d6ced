#include "config/llm_classes.h"

#include "base/xalloc.h"
#include "config/llm_tensors.h"

#include <ctype.h>
#include <dse/llm.h>
#include <dse/units.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* What modules are called, and the classes of their weights. The first that is in a name counts. */
enum { NETWORKS = 1 << DSE_WEIGHTS_DENSE | 1 << DSE_WEIGHTS_EXPERTS | 1 << DSE_WEIGHTS_SHARED };
static const struct module {
    const char *word;
    unsigned classes;     /* a bit for each */
    const char *parts[5]; /* of such a module, which make up all of it, where a file may name them one by one */
    const char *only;     /* the part that the word itself names; NULL: all of them */
} modules[] = {
    {"lm_head", 1 << DSE_WEIGHTS_HEAD},
    {"token_embd", 1 << DSE_WEIGHTS_TABLES},
    {"embed_tokens", 1 << DSE_WEIGHTS_TABLES},
    {"embed", 1 << DSE_WEIGHTS_TABLES},
    {"wte", 1 << DSE_WEIGHTS_TABLES},
    {"altup", 1 << DSE_WEIGHTS_OTHER},
    {"laurel", 1 << DSE_WEIGHTS_OTHER},
    {"shared_expert_gate", 1 << DSE_WEIGHTS_ROUTER},
    {"router", 1 << DSE_WEIGHTS_ROUTER},
    {"ffn_gate_inp", 1 << DSE_WEIGHTS_ROUTER},
    {"block_sparse_moe.gate", 1 << DSE_WEIGHTS_ROUTER},
    {"ffn.gate.", 1 << DSE_WEIGHTS_ROUTER},
    {"mlp.gate", 1 << DSE_WEIGHTS_ROUTER},
    {"moe.gate", 1 << DSE_WEIGHTS_ROUTER},
    {"shared_experts", 1 << DSE_WEIGHTS_SHARED},
    {"shared_expert", 1 << DSE_WEIGHTS_SHARED},
    {"_shexp", 1 << DSE_WEIGHTS_SHARED},
    {"_exps", 1 << DSE_WEIGHTS_EXPERTS},
    {"experts", 1 << DSE_WEIGHTS_EXPERTS},
    {"indexers_proj", 1 << DSE_WEIGHTS_INDEXER, {NULL}, "weights_proj"}, /* so GLM-5.2's file calls it */
    {"indexer", 1 << DSE_WEIGHTS_INDEXER},
    {"linear_attn", 1 << DSE_WEIGHTS_RECURRENT},
    {"mamba", 1 << DSE_WEIGHTS_RECURRENT},
    {"ssm_", 1 << DSE_WEIGHTS_RECURRENT},
    {"attn", 1 << DSE_WEIGHTS_ATTENTION, {"q_proj", "k_proj", "v_proj", "o_proj"}},
    {"attention", 1 << DSE_WEIGHTS_ATTENTION, {"q_proj", "k_proj", "v_proj", "o_proj"}},
    {"mlp", NETWORKS, {"gate", "up", "down"}},
    {"ffn", NETWORKS, {"gate", "up", "down"}},
    {"feed_forward", NETWORKS, {"gate", "up", "down"}},
};
enum { MODULES = sizeof modules / sizeof *modules };

static bool has_letter(const char *s)
{
    while (*s && !isalpha((unsigned char)*s)) s++;
    return *s != '\0';
}

/* "mlp.gate_proj" is a part of a network, "mlp.gate" a router. */
static bool is_longer(const struct module *m, const char *at)
{
    return m->classes == 1 << DSE_WEIGHTS_ROUTER && at[strlen(m->word)] == '_';
}

/* *ret_rest is what follows the word. NULL: no module that is known. */
static const struct module *module_of(const char *name, const char **ret_rest)
{
    for (size_t i = 0; i < MODULES; i++) {
        const char *at = strstr(name, modules[i].word);
        if (!at || is_longer(&modules[i], at)) continue;
        *ret_rest = at + strlen(modules[i].word);
        return &modules[i];
    }
    return NULL;
}

bool llm_is_beside(const char *name)
{
    static const char *const words[] = {"visual", "vision", "audio", "mm_projector", "multi_modal_projector",
                                        "mtp.",   "nextn",  NULL};
    for (size_t i = 0; words[i]; i++)
        if (strstr(name, words[i])) return true;
    return false;
}

int llm_class_of_tensor(const char *name)
{
    const char *rest;
    const struct module *m = strncmp(name, "output.", strlen("output.")) == 0 ? &modules[0] : module_of(name, &rest);
    if (!m) return -1;
    for (int class = 0; class < DSE_WEIGHT_CLASSES; class ++) /* of networks the first: those with experts say so */
        if (m->classes >> class & 1) return class;
    return -1;
}

/* A pattern without its escapes ("mlp\.gate"). The caller frees it. */
static char *plain(const char *pattern)
{
    char *ret = xstrdup(pattern), *to = ret;
    for (const char *from = ret; *from; from++)
        if (*from != '\\') *to++ = *from;
    *to = '\0';
    return ret;
}

/* What is said of a class: all of it, all of some layers, or only some of its parts. */
struct named {
    bool all[DSE_WEIGHT_CLASSES], partly[DSE_WEIGHT_CLASSES], in_layer[DSE_WEIGHT_CLASSES][DSE_PATTERN_MAX];
    unsigned parts[MODULES]; /* a bit for each that is named for all layers */
};

/* "model.layers.3.self_attn": 3; -1: of no layer in particular. */
static long layer_of(const char *name)
{
    const char *at = strstr(name, "layers.");
    if (!at || !isdigit((unsigned char)at[strlen("layers.")])) return -1;
    return strtol(at + strlen("layers."), NULL, 10);
}

/* Have all parts of the module been named by now? */
static bool add_parts(const struct module *m, const char *rest, unsigned *parts)
{
    unsigned all = 0;
    for (unsigned i = 0; m->parts[i]; i++) {
        if (strstr(rest, m->parts[i])) *parts |= 1U << i;
        all |= 1U << i;
    }
    return all > 0 && *parts == all;
}

/* "mlp.up_proj" is of the dense network alone, "mlp.*up_proj" of experts, too. */
static unsigned classes_of(const struct module *m, const char *rest)
{
    const bool any_depth = strncmp(rest, ".*", 2) == 0;
    return has_letter(rest) && m->classes == NETWORKS && !any_depth ? 1 << DSE_WEIGHTS_DENSE : m->classes;
}

static void add_name(const char *name, struct named *ret)
{
    const char *rest;
    const struct module *m = module_of(name, &rest);
    if (!m || llm_is_beside(name)) return;
    const long layer = layer_of(name);
    const bool part = m->only || has_letter(rest), whole = part && layer < 0 && add_parts(m, rest, &ret->parts[m - modules]);
    const unsigned classes = classes_of(m, rest);
    for (int class = 0; class < DSE_WEIGHT_CLASSES; class ++) {
        if (!(classes >> class & 1)) continue;
        if (whole || (!part && layer < 0))
            ret->all[class] = true;
        else if (part)
            ret->partly[class] = true;
        else if (layer < DSE_PATTERN_MAX)
            ret->in_layer[class][layer] = true;
    }
}

static void add_names(const json_t *list, struct named *ret)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *pattern = json_string_value(json_array_get(list, i));
        char *name = pattern ? plain(pattern) : NULL;
        if (name) add_name(name, ret);
        free(name);
    }
}

/* Kimi delta attention is called as attention is. */
static void name_delta(const struct dse_llm *llm, struct named *k)
{
    bool delta = false;
    for (size_t i = 0; i < llm->n_kinds; i++) delta = delta || llm->kinds[i].attention == DSE_KDA;
    if (!delta) return;
    k->all[DSE_WEIGHTS_RECURRENT] = k->all[DSE_WEIGHTS_RECURRENT] || k->all[DSE_WEIGHTS_ATTENTION];
    k->partly[DSE_WEIGHTS_RECURRENT] = k->partly[DSE_WEIGHTS_RECURRENT] || k->partly[DSE_WEIGHTS_ATTENTION];
    for (size_t i = 0; i < DSE_PATTERN_MAX; i++)
        k->in_layer[DSE_WEIGHTS_RECURRENT][i] = k->in_layer[DSE_WEIGHTS_RECURRENT][i] || k->in_layer[DSE_WEIGHTS_ATTENTION][i];
}

/* Is every layer named? */
static bool is_named(const struct dse_llm *llm, enum dse_weight_class class, const struct named *k)
{
    int64_t n = 0;
    for (int64_t i = 0; i < llm->layers; i++) n += k->in_layer[class][i];
    return k->all[class] || n == llm->layers;
}

static bool is_named_in_part(const struct dse_llm *llm, enum dse_weight_class class, const struct named *k)
{
    bool any = k->partly[class];
    for (int64_t i = 0; i < llm->layers && !any; i++) any = k->in_layer[class][i];
    return any && !is_named(llm, class, k);
}

/* ---- parts of a class ------------------------------------------------------------------------------------------------------ */

/* Do the names of one letter, "(q|k|v)_proj" or "qkv_proj", have this one? */
static bool has_initial(const char *rest, char initial)
{
    const char *at = rest;
    while ((at = strchr(at, initial)) && at[1] != '|' && at[1] != ')') at++;
    return at || (initial != 'o' && strstr(rest, "qkv"));
}

/* Is it the part, one of several, or a matrix that has it in it ("in_proj_qkvz" has in_proj_z, "gate_up_proj" gate_proj)? */
static bool means_part(const char *rest, const char *part)
{
    static const char fused[] = "in_proj_", proj[] = "_proj";
    const char *at = strstr(rest, fused);
    const size_t stem = strcspn(part, "_");
    if (!has_letter(rest) || strstr(rest, part)) return true;
    if (strcmp(part + stem, proj) != 0) return at && strncmp(part, fused, strlen(fused)) == 0 && strstr(at, part + strlen(fused));
    if (stem == 1) return has_initial(rest, *part);
    char *name = xasprintf("%.*s", (int)stem, part);
    const bool ret = strstr(rest, name) != NULL;
    free(name);
    return ret;
}

/* Mark the layers of the matrices' kind that a name means; true: all of them. */
static bool mark_layers(const char *name, const struct dse_llm *llm, const struct dse_llm_matrix *m, bool *marks)
{
    const char *rest;
    const struct module *module = module_of(name, &rest);
    if (!module || llm_is_beside(name) || !(classes_of(module, rest) >> m->class & 1)) return false;
    if (!means_part(module->only ? module->only : rest, m->part)) return false;
    const long layer = layer_of(name);
    if (m->kind >= 0 && layer >= 0 && layer < llm->layers) marks[layer] = dse_llm_layer(llm, layer) == &llm->kinds[m->kind];
    return layer < 0;
}

/* The share of such matrices that the list leaves as they are. */
static double kept_share(const json_t *list, const struct dse_llm *llm, const struct dse_llm_matrix *m)
{
    bool marks[DSE_PATTERN_MAX] = {false}, all = false;
    int64_t n = 0;
    for (size_t i = 0; i < json_array_size(list) && !all; i++) {
        const char *pattern = json_string_value(json_array_get(list, i));
        char *name = pattern ? plain(pattern) : NULL;
        all = name && mark_layers(name, llm, m, marks);
        free(name);
    }
    for (int64_t i = 0; i < llm->layers; i++) n += marks[i];
    return all ? 1 : m->kind < 0 ? 0 : (double)n / (double)llm->kinds[m->kind].layers;
}

/* False: all matrices of the class are left as they are. */
static bool keep_parts(const json_t *list, enum dse_weight_class class, struct llm_filled *ret)
{
    bool any = !ret->is_listed[class];
    for (size_t i = 0; i < ret->n; i++) {
        struct llm_part *part = &ret->parts[i];
        if (part->of.class != class) continue;
        part->kept = kept_share(list, ret->llm, &part->of);
        any = any || part->kept < 1;
    }
    return any;
}

/* ---- classes --------------------------------------------------------------------------------------------------------------- */

/* Does the method quantise the class where nothing is said of it? */
static bool is_usual(const char *method, enum dse_weight_class class)
{
    if (method && strcmp(method, "mxfp4") == 0) return class == DSE_WEIGHTS_EXPERTS;
    if (method && strcmp(method, "MLX") == 0) return true;
    return class < DSE_WEIGHTS_ROUTER;
}

/* Targets of a group: "Linear", names and patterns of modules. Parts of a module stand for all of it: the others are in other
 * groups, or have no weights of their own (fused ones). */
static bool is_target(const json_t *targets, const struct dse_llm *llm, enum dse_weight_class class, const struct named *named)
{
    for (size_t i = 0; i < json_array_size(targets); i++) {
        const char *name = json_string_value(json_array_get(targets, i));
        if (name && strcmp(name, "Linear") == 0 && is_usual(NULL, class)) return true;
    }
    return is_named(llm, class, named) || is_named_in_part(llm, class, named);
}

/* False: its weights had another format already. */
static bool set_bits(struct llm_filled *ret, enum dse_weight_class class, const struct llm_format *f)
{
    enum { USUAL_BITS = 16 };
    struct dse_llm *llm = ret->llm;
    double *of = &llm->formats.bits[class];
    const bool is_new = isnan(*of) || *of == f->weight_bits, is_narrow = f->activation_bits > 0 && f->weight_bits < USUAL_BITS;
    *of = ret->bits[class] = f->weight_bits;
    llm->formats.scale_bits[class] = f->scale_bits > 0 ? f->scale_bits : (double)NAN;
    ret->scales[class] = f->weight_bits < USUAL_BITS ? f->scales : (struct llm_scales){0};
    if (f->scales.block_bits <= 0) ret->scales[class].mean_bits = f->scale_bits;
    llm->formats.activation_bits[class] = is_narrow && f->activation_bits < USUAL_BITS ? f->activation_bits : (double)NAN;
    return is_new;
}

bool llm_fill_classes(const json_t *q, const json_t *targets, const char *method, const struct llm_format *format,
                      struct llm_filled *ret)
{
    const struct dse_llm *llm = ret->llm;
    struct named *kept = xcalloc(2, sizeof *kept), *meant = kept + 1;
    struct dse_llm_counts n;
    bool exact = true;
    dse_llm_count(llm, &n);
    const json_t *exceptions = llm_exceptions(q);
    add_names(exceptions, kept);
    add_names(targets, meant);
    name_delta(llm, kept);
    name_delta(llm, meant);
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) {
        const enum dse_weight_class class = (enum dse_weight_class)i;
        const bool is_meant = targets ? is_target(targets, llm, class, meant) : is_usual(method, class);
        if (n.matrices[i] == 0 || !is_meant || is_named(llm, class, kept) || !keep_parts(exceptions, class, ret)) continue;
        const bool is_known = ret->is_listed[i] || !is_named_in_part(llm, class, kept);
        exact = set_bits(ret, class, format) && exact && is_known;
    }
    free(kept);
    return exact;
}
