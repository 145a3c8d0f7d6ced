/* Formats of weights: the bits of each class, in the checkpoint of an LLM or in an entry of the catalog. */
#include "workload/llm.h"

#include <dse/num.h>
#include <dse/workload.h>

#include <math.h>
#include <stddef.h>
#include <stdio.h>

const char *const dse_weight_class_names[] = {
    [DSE_WEIGHTS_ATTENTION] = "attention", [DSE_WEIGHTS_INDEXER] = "indexer", [DSE_WEIGHTS_RECURRENT] = "recurrent",
    [DSE_WEIGHTS_DENSE] = "dense",         [DSE_WEIGHTS_EXPERTS] = "experts", [DSE_WEIGHTS_SHARED] = "shared",
    [DSE_WEIGHTS_ROUTER] = "router",       [DSE_WEIGHTS_TABLES] = "tables",   [DSE_WEIGHTS_HEAD] = "head",
    [DSE_WEIGHTS_OTHER] = "other",         [DSE_WEIGHT_CLASSES] = NULL,
};

#define BITS(name_, of, class, least, most, doc_) \
    { \
        .type = DSE_TYPE_F64, .name = name_, .unit = "bit", .doc = doc_, .source = "", .min = (least), .max = (most), \
        .offset = offsetof(struct dse_class_bits, of) + (class) * sizeof(double) \
    }
#define CLASS(name, class, what, without) \
    BITS(name "_bits", bits, class, 1, 32, "a weight of " what "; " without " without this key"), \
        BITS(name "_scale_bits", scale_bits, class, 0, 16, "scales and zero points for such a weight"), \
        BITS(name "_activation_bits", activation_bits, class, 1, 32, \
             "what such weights are multiplied with; activation_bits without")
#define CLASSES(without) \
    CLASS("attention", DSE_WEIGHTS_ATTENTION, "attention", without), CLASS("indexer", DSE_WEIGHTS_INDEXER, "indexers", without), \
        CLASS("recurrent", DSE_WEIGHTS_RECURRENT, "recurrent layers", without), \
        CLASS("dense", DSE_WEIGHTS_DENSE, "dense networks", without), \
        CLASS("experts", DSE_WEIGHTS_EXPERTS, "routed experts", without), \
        CLASS("shared", DSE_WEIGHTS_SHARED, "shared experts", without), CLASS("router", DSE_WEIGHTS_ROUTER, "routers", without), \
        CLASS("tables", DSE_WEIGHTS_TABLES, "the embedding", without), \
        CLASS("head", DSE_WEIGHTS_HEAD, "the output head", without), \
        CLASS("other", DSE_WEIGHTS_OTHER, "inputs of layers and hyper-connections", without)

const struct dse_param llm_format_fields[] = {CLASSES("16"), DSE_PARAM_END};

static const char *const no_yes[] = {"no", "yes", NULL};
static const struct dse_param weights[] = {CLASSES("weight_bits"), DSE_PARAM_END};
#define RELEASED(S) DSE_PARAM_ENUM(S, released, no_yes, "all classes as the LLM's checkpoint has them", "")
static const struct dse_param origins[] = {RELEASED(struct dse_format_origin), DSE_PARAM_END};

const struct dse_param dse_formats_fields[] = {
    DSE_EMBED_OPTIONAL(struct dse_formats, origin, struct dse_format_origin, origins),
    DSE_EMBED_OPTIONAL(struct dse_formats, weights, struct dse_class_bits, weights),
    DSE_PARAM_END,
};

const char *class_bits_fault(const struct dse_class_bits *b)
{
    enum { FULL_BITS = 16 };
    static _Thread_local char why[120];
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) {
        const char *name = dse_weight_class_names[i];
        const bool narrow = b->bits[i] > 0 && b->bits[i]<FULL_BITS, scaled = b->scale_bits[i]> 0;
        const bool few = b->activation_bits[i] > 0 && b->activation_bits[i] < FULL_BITS;
        if (narrow || !(scaled || few)) continue;
        const char *key = scaled ? "scale" : "activation";
        if (!(b->bits[i] > 0))
            snprintf(why, sizeof why, "%s_%s_bits needs %s_bits", name, key, name);
        else if (scaled)
            snprintf(why, sizeof why, "weights of 16 bits or more have no scales: %s_scale_bits = 0", name);
        else
            snprintf(why, sizeof why, "weights of 16 bits or more are multiplied with no fewer: %s_activation_bits", name);
        return why;
    }
    return NULL;
}

const char *dse_formats_check(const struct dse_formats *f)
{
    static _Thread_local char why[120];
    for (int i = 0; i < DSE_WEIGHT_CLASSES && f->origin.released; i++) {
        if (!(f->weights.bits[i] > 0 || f->weights.scale_bits[i] > 0 || f->weights.activation_bits[i] > 0)) continue;
        snprintf(why, sizeof why, "released = \"yes\" takes all formats from the LLM: no %s_bits beside it",
                 dse_weight_class_names[i]);
        return why;
    }
    return class_bits_fault(&f->weights);
}

bool dse_formats_complete(const struct dse_formats *f)
{
    int named = 0;
    for (int i = 0; f && i < DSE_WEIGHT_CLASSES; i++) named += f->weights.bits[i] > 0;
    return f && (f->origin.released || named == DSE_WEIGHT_CLASSES);
}

bool dse_formats_uniform(const struct dse_formats *f)
{
    bool any = f && f->origin.released;
    for (int i = 0; f && i < DSE_WEIGHT_CLASSES; i++) any = any || f->weights.bits[i] > 0;
    return !any;
}

struct dse_held dse_workload_held(const struct dse_workload *w, const struct dse_llm *llm, enum dse_weight_class class)
{
    const struct dse_formats *f = w->format;
    if (class == DSE_WEIGHTS_HEAD && llm->embedding_tables == 1) class = DSE_WEIGHTS_TABLES; /* they are one */
    if (f && f->origin.released) return dse_llm_held(llm, class);
    if (!f || !(f->weights.bits[class] > 0)) return (struct dse_held){(double)w->weight_bits, w->weight_scale_bits};
    return (struct dse_held){f->weights.bits[class], f->weights.scale_bits[class] > 0 ? f->weights.scale_bits[class] : 0};
}

double dse_workload_activation_bits(const struct dse_workload *w, const struct dse_llm *llm, enum dse_weight_class class)
{
    enum { USUAL_BITS = 16 };
    const struct dse_formats *f = w->format;
    const double usual = w->activation_bits > 0 ? (double)w->activation_bits : USUAL_BITS;
    if (class == DSE_WEIGHTS_HEAD && llm->embedding_tables == 1) class = DSE_WEIGHTS_TABLES;
    const double own = !f ? 0 : f->origin.released ? llm->formats.activation_bits[class] : f->weights.activation_bits[class];
    const double bits = own > 0 ? own : usual;
    return dse_workload_held(w, llm, class).bits < USUAL_BITS ? bits : dse_max(USUAL_BITS, bits);
}

bool dse_workload_narrows(const struct dse_workload *w)
{
    enum { USUAL_BITS = 16 };
    const double usual = w->activation_bits > 0 ? (double)w->activation_bits : USUAL_BITS;
    struct dse_llm_counts n;
    if (dse_formats_uniform(w->format)) return false;
    dse_llm_count(w->llm, &n);
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++)
        if (n.matrices[i] > 0 && dse_workload_activation_bits(w, w->llm, (enum dse_weight_class)i) < usual) return true;
    return false;
}

struct dse_weight_bits dse_workload_weight_bits(const struct dse_workload *w)
{
    struct dse_weight_bits ret = {(double)w->weight_bits, (double)w->weight_bits, (double)w->weight_bits};
    struct dse_llm_counts n;
    if (dse_formats_uniform(w->format)) return ret;
    dse_llm_count(w->llm, &n);
    ret = (struct dse_weight_bits){(double)INFINITY, 0, (double)INFINITY};
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) {
        const enum dse_weight_class class = (enum dse_weight_class)i;
        const double bits = dse_workload_held(w, w->llm, class).bits;
        if (n.matrices[i] > 0) ret.least = dse_min(ret.least, bits);
        if (i == DSE_WEIGHTS_TABLES ? w->llm->embedding_tables > 1 : n.matrices[i] == 0 && i != DSE_WEIGHTS_HEAD) continue;
        ret.narrowest = dse_min(ret.narrowest, bits);
        ret.widest = dse_max(ret.widest, bits);
    }
    return ret;
}
