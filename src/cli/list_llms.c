#include "cli/list_llms.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "config/catalog_kinds.h"
#include "desc/schema.h"
#include "workload/experts.h"
#include "workload/llm.h"

#include <dse/llm.h>
#include <dse/units.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FP16_BYTES = 2 };

static const struct dse_llm *llm_at(const struct catalog *c, size_t i)
{
    return (const struct dse_llm *)(const void *)catalog_at(c, DSE_KIND_LLM, i);
}

static bool is_asked_for(const struct invocation *in, const struct dse_llm *llm)
{
    for (size_t i = 1; i < in->n_operands; i++)
        if (strcmp(in->operands[i], llm->entry.name) == 0) return true;
    return in->n_operands < 2;
}

/* "24 window, 6 full; 1 dense, 29 experts": the layers by what they are. */
static void add_layers(const struct dse_llm *llm, struct text *t)
{
    int64_t mixers[DSE_MIXERS] = {0}, networks[DSE_FEED_FORWARDS] = {0};
    for (size_t i = 0; i < llm->n_kinds; i++) {
        mixers[llm->kinds[i].attention] += llm->kinds[i].layers;
        if (llm->kinds[i].beside != DSE_NO_MIXER) mixers[llm->kinds[i].beside] += llm->kinds[i].layers;
        networks[llm->kinds[i].feed_forward] += llm->kinds[i].layers;
    }
    for (int i = 0, n = 0; i < DSE_NO_MIXER; i++)
        if (mixers[i]) text_addf(t, "%s%lld %s", n++ ? ", " : "", (long long)mixers[i], dse_mixer_names[i]);
    for (int i = 0, n = 0; i < DSE_NO_FFN; i++)
        if (networks[i]) text_addf(t, "%s%lld %s", n++ ? ", " : "; ", (long long)networks[i], dse_feed_forward_names[i]);
}

/* All that a sequence keeps, keys and values in 16 bits. */
static double cache_gib(const struct dse_llm *llm, int64_t context)
{
    return dse_llm_cache_bytes(llm, context, FP16_BYTES) / DSE_GIB;
}

/* The columns of counts that a person looks at. */
static void put_counts(struct output *o, const struct dse_llm *llm)
{
    struct dse_llm_counts n;
    dse_llm_count(llm, &n);
    output_f64(o, (double)n.params / DSE_GIGA);
    output_f64(o, (double)n.params_active / DSE_GIGA);
    output_f64(o, dse_llm_token_bytes(llm, FP16_BYTES) / DSE_KIB);
    output_f64(o, dse_llm_state_bytes(llm) / DSE_MIB);
    output_f64(o, cache_gib(llm, llm->max_context));
    output_f64(o, (double)n.linear_macs * DSE_OPS_PER_MAC / DSE_GIGA);
}

static void list_table(const struct invocation *in, const struct catalog *c, enum output_format format)
{
    struct output *o =
        output_new(stdout, format,
                   (const char *const[]){"llm", "layers", "params [1e9]", "active [1e9]", "cache a token [KiB]", "states [MiB]",
                                         "cache, full [GiB]", "linear [Gop]", "max_context", "source"},
                   10);
    const struct dse_llm *llm;
    for (size_t i = 0; (llm = llm_at(c, i)); i++) {
        if (!is_asked_for(in, llm)) continue;
        struct text layers;
        text_init(&layers);
        add_layers(llm, &layers);
        output_text(o, llm->entry.name);
        output_text(o, layers.s);
        put_counts(o, llm);
        output_i64(o, llm->max_context);
        output_text(o, llm->entry.source);
        text_release(&layers);
    }
    output_end(o);
}

/* What a token costs as the context grows. */
static void list_contexts(const struct dse_llm *llm, enum output_format format)
{
    struct output *o =
        output_new(stdout, format, (const char *const[]){"context", "cache [GiB]", "a token [Gop]", "latents expanded [Gop]"}, 4);
    const bool latent = llm->latent.kv_rank > 0;
    for (int64_t context = 1024;; context *= 4) {
        if (context > llm->max_context) context = llm->max_context;
        output_i64(o, context);
        output_f64(o, cache_gib(llm, context));
        output_f64(o, (double)dse_llm_macs(llm, context, DSE_LATENT_ABSORBED) * DSE_OPS_PER_MAC / DSE_GIGA);
        if (latent)
            output_f64(o, (double)dse_llm_macs(llm, context, DSE_LATENT_EXPANDED) * DSE_OPS_PER_MAC / DSE_GIGA);
        else
            output_text(o, NULL);
        if (context == llm->max_context) break;
    }
    output_end(o);
}

static void put_class(struct output *o, const char *name, int64_t weights, double bits)
{
    if (weights == 0) return;
    output_text(o, name);
    output_i64(o, weights);
    output_f64(o, bits);
    output_f64(o, (double)weights * bits / DSE_BITS_PER_BYTE / DSE_GIB);
}

/* The weights of the released checkpoint by class, with the bits that they are held in. */
static void list_classes(const struct dse_llm *llm, enum output_format format)
{
    struct dse_llm_counts n;
    dse_llm_count(llm, &n);
    const double bytes = dse_llm_checkpoint_bytes(llm);
    struct output *o = output_new(stdout, format, (const char *const[]){"class", "weights", "bits each", "checkpoint [GiB]"}, 4);
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++)
        put_class(o, dse_weight_class_names[i], n.matrices[i],
                  DSE_BITS_PER_BYTE * dse_held_bytes(dse_llm_held(llm, (enum dse_weight_class)i)));
    put_class(o, "norms, biases", n.params_small, DSE_BITS_PER_BYTE * FP16_BYTES);
    put_class(o, "all", n.params, bytes * DSE_BITS_PER_BYTE / (double)n.params);
    output_end(o);
}

enum { CHIPS = 8 };
/* Of routed experts, as means over the layers that have any: how many a batch touches, and how full the fullest of some chips is,
 * NaN where a layer has fewer experts than chips; and bytes of those that are touched, of all layers. */
struct touched {
    double experts, fullest, bytes;
};

static struct touched touched_by(const struct dse_workload *w, double batch)
{
    const struct dse_llm *llm = w->llm;
    struct touched sum = {0};
    double layers = 0;
    for (size_t i = 0; i < llm->n_kinds; i++)
        layers += llm->kinds[i].feed_forward == DSE_FFN_EXPERTS ? (double)llm->kinds[i].layers : 0;
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_kind *k = &llm->kinds[i];
        const struct dse_choice c = llm_choice(&k->shape);
        const double share = (double)k->layers / layers, mean = batch * (double)c.chosen / CHIPS;
        if (k->feed_forward != DSE_FFN_EXPERTS) continue;
        const double experts = experts_at_work(w, c, batch, 1).touched;
        sum.experts += share * experts;
        sum.fullest += c.routed >= CHIPS ? share * experts_at_work(w, c, batch, CHIPS).rows / mean : (double)NAN;
        sum.bytes += (double)(k->layers * llm_expert_elements(llm, &k->shape)) * FP16_BYTES * experts;
    }
    return sum;
}

/* Are loads of as many experts as every layer with experts has? */
static bool are_loads_of(const struct dse_expert_loads *loads, const struct dse_llm *llm)
{
    bool same = loads != NULL;
    for (size_t i = 0; same && i < llm->n_kinds; i++)
        same = llm->kinds[i].feed_forward != DSE_FFN_EXPERTS || llm->kinds[i].shape.moe.experts == dse_expert_loads_experts(loads);
    return same;
}

/* Experts of a layer that a batch touches, and how full the fullest of some chips is, by each routing that there are loads for. */
static void list_experts(const struct dse_llm *llm, const struct dse_expert_loads *loads, enum output_format format)
{
    enum { LAST = 1024 };
    struct dse_workload w = {.llm = llm, .routing_exponent = 1.2, .expert_loads = loads};
    struct output *o = output_new(stdout, format,
                                  (const char *const[]){"batch", "experts", "power-law 1.2", "profile", "experts at 16 bits [GiB]",
                                                        "fullest of 8", "power-law 1.2 of 8", "profile of 8"},
                                  8);
    for (int64_t batch = 1; batch <= LAST; batch *= 4) {
        static const enum dse_routing by[] = {DSE_ROUTING_UNIFORM, DSE_ROUTING_POWER_LAW, DSE_ROUTING_PROFILE};
        enum { WAYS = sizeof by / sizeof *by };
        struct touched by_way[WAYS];
        for (int i = 0; i < WAYS; i++) {
            w.routing = (int32_t)by[i];
            const bool known = by[i] != DSE_ROUTING_PROFILE || loads;
            by_way[i] = known ? touched_by(&w, (double)batch) : (struct touched){(double)NAN, (double)NAN, (double)NAN};
        }
        output_i64(o, batch);
        for (int i = 0; i < WAYS; i++) output_f64(o, by_way[i].experts);
        output_f64(o, by_way[0].bytes / DSE_GIB);
        for (int i = 0; i < WAYS; i++) output_f64(o, by_way[i].fullest);
    }
    output_end(o);
}

/* `["full", "window*5"]`: nothing where all layers have the LLM's own numbers. */
static void put_kinds(struct output *o, const struct dse_llm *llm)
{
    static const char key[] = "layer_kinds = ";
    struct text t;
    text_init(&t);
    catalog_write_layer_kinds(llm, &t);
    char *text = text_detach(&t);
    text[strcspn(text, "\n")] = '\0';
    output_text(o, *text ? text + strlen(key) : "");
    free(text);
}

/* The counts that are whole numbers of an LLM, by name. */
#define COUNT(name) \
    { \
#name, offsetof(struct dse_llm_counts, name) \
    }
static const struct {
    const char *name;
    size_t offset;
} counts[] = {COUNT(params),
              COUNT(params_active),
              COUNT(params_active_with_input),
              COUNT(params_tables),
              COUNT(params_routed),
              COUNT(params_idle),
              COUNT(params_small),
              COUNT(linear_macs),
              COUNT(kv_elements),
              COUNT(kv_window_elements),
              COUNT(index_elements),
              COUNT(state_elements),
              COUNT(conv_state_elements)};
enum { COUNTS = sizeof counts / sizeof *counts };

static void put_all_counts(struct output *o, const struct dse_llm *llm)
{
    struct dse_llm_counts n;
    dse_llm_count(llm, &n);
    for (size_t i = 0; i < COUNTS; i++) {
        int64_t count;
        memcpy(&count, (const char *)&n + counts[i].offset, sizeof count);
        output_i64(o, count);
    }
    output_i64(o, (int64_t)dse_llm_checkpoint_bytes(llm));
}

/* Every field and every count of every entry, for programs. */
static void list_fields(const struct invocation *in, const struct catalog *c, enum output_format format,
                        void (*put)(struct output *, const struct field *, const struct dse_entry *))
{
    static const char *const last[] = {"checkpoint_bytes", "layer_kinds", "source"};
    enum { LAST = sizeof last / sizeof *last };
    const struct schema *fields = catalog_fields(c, DSE_KIND_LLM);
    const char **columns = xcalloc(1 + fields->n + COUNTS + LAST, sizeof *columns);
    size_t n = 0;
    columns[n++] = "llm";
    for (size_t i = 0; i < fields->n; i++) columns[n++] = fields->fields[i].name;
    for (size_t i = 0; i < COUNTS; i++) columns[n++] = counts[i].name;
    for (size_t i = 0; i < LAST; i++) columns[n++] = last[i];
    struct output *o = output_new(stdout, format, columns, n);
    free(columns);
    const struct dse_llm *llm;
    for (size_t i = 0; (llm = llm_at(c, i)); i++) {
        if (!is_asked_for(in, llm)) continue;
        output_text(o, llm->entry.name);
        for (size_t k = 0; k < fields->n; k++) put(o, &fields->fields[k], &llm->entry);
        put_all_counts(o, llm);
        put_kinds(o, llm);
        output_text(o, llm->entry.source);
    }
    output_end(o);
}

void list_llms(const struct invocation *in, const struct catalog *c, enum output_format format,
               void (*put)(struct output *, const struct field *, const struct dse_entry *))
{
    if (format != OUTPUT_TABLE) {
        list_fields(in, c, format, put);
        return;
    }
    list_table(in, c, format);
    if (in->n_operands != 2) return;
    fputs("\n", stdout);
    const struct dse_llm *llm = (const struct dse_llm *)(const void *)catalog_find(c, DSE_KIND_LLM, in->operands[1]);
    list_contexts(llm, format);
    fputs("\n", stdout);
    list_classes(llm, format);
    if (dse_llm_fewest_experts(llm) == 0) return;
    const struct dse_expert_loads *loads =
        (const struct dse_expert_loads *)(const void *)catalog_find(c, DSE_KIND_EXPERT_LOADS, in->operands[1]);
    fputs("\n", stdout);
    list_experts(llm, are_loads_of(loads, llm) ? loads : NULL, format);
}
