/* Points of any model of the registry: its defaults, and random ones within the ranges. Shared by the tests and the bench over
 * all models. */
#ifndef MODEL_POINTS_H
#define MODEL_POINTS_H

#include "base/text.h"
#include "base/xalloc.h"
#include "config/bind.h"
#include "dse_config.h"
#include "model/registry.h"
#include "space/space_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct catalog *catalog;
static struct diags diags;

static inline int set_up(void **state)
{
    (void)state;
    diags_init(&diags);
    catalog = catalog_new(catalog_data_dir(), &diags);
    diags_print(&diags, stderr, false);
    return catalog ? 0 : -1;
}

static inline int tear_down(void **state)
{
    (void)state;
    catalog_free(catalog);
    diags_release(&diags);
    registry_release();
    return 0;
}

/* A space of one point. */
struct one {
    struct binding *binding;
    struct sweep_file sweep;
    struct space *space;
};

static inline bool one_init(struct one *o, const struct model *m, char *const *settings, size_t n)
{
    *o = (struct one){.binding = binding_new(m, catalog, catalog_data_dir(), &diags)};
    bool ok = o->binding != NULL;
    for (size_t i = 0; ok && i < n; i++) ok = binding_set_text(o->binding, settings[i], &diags);
    ok = ok && binding_finish(o->binding, &diags);
    o->sweep = (struct sweep_file){.bindings = &o->binding, .n_models = 1};
    if (ok) o->space = space_new(&o->sweep, 0, 1, &diags);
    return ok && o->space;
}

static inline void one_release(struct one *o)
{
    space_free(o->space);
    binding_free(o->binding);
}

/* A model's small default: with sanitizers LAD's own step takes half a minute. Settings of parameters that the model does not
 * have, or of an LLM that its catalog does not have, are left out. Returns how many are left. */
enum { SMALL = 4 };
static inline size_t small_settings(const struct model *m, char *ret[SMALL])
{
    static char llm[] = "llm=thin", batch[] = "batch=1", context[] = "context=256", layers[] = "layers_simulated=1";
    char *const all[SMALL] = {llm, batch, layers, context};
    size_t n = 0;
    for (size_t i = 0; i < SMALL; i++) {
        char *name = xstrndup(all[i], strcspn(all[i], "="));
        bool known = schema_find(&m->params, name) && (all[i] != llm || catalog_find(catalog, DSE_KIND_LLM, "thin"));
        if (known) ret[n++] = all[i];
        free(name);
    }
    return n;
}

static inline int set_up_thin(void **state)
{
    if (set_up(state)) return -1;
    char *path = xasprintf("%s/tests/data/thin_llm.toml", catalog_data_dir());
    bool ok = access(path, R_OK) || catalog_add_file(catalog, path, &diags); /* the toy models have a catalog of their own */
    diags_print(&diags, stderr, false);
    free(path);
    return ok ? 0 : -1;
}

static uint64_t seed = 42;
static inline double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

/* Any value that the field's range allows. */
static inline struct value random_value(const struct field *f)
{
    if (f->type == DSE_TYPE_ENUM) {
        int32_t n = 0;
        while (f->choices[n]) n++;
        return (struct value){.choice = (int32_t)(uniform() * n)};
    }
    if (f->type == DSE_TYPE_REF) {
        size_t n = 0;
        while (catalog_at(catalog, f->kind, n)) n++;
        return (struct value){.ref = catalog_at(catalog, f->kind, (size_t)(uniform() * (double)n))};
    }
    double v = f->min > 0 && uniform() < 0.7 ? exp(log(f->min) + uniform() * log(f->max / f->min))
                                             : f->min + uniform() * (f->max - f->min);
    if (uniform() < 0.05) v = f->min;
    if (uniform() < 0.05) v = f->max;
    if (f->type == DSE_TYPE_I64) return (struct value){.i64 = (int64_t)v};
    return (struct value){.f64 = fmin(fmax(v, f->min), f->max)};
}

/* Parameters that most values of make a point infeasible, wherever the others are: drawn less often. */
static inline bool seldom_fits(const char *name)
{
    static const char *const names[] = {"tensor_parallel",   "pipeline_parallel", "data_parallel",  "expert_parallel",
                                        "draft_tokens",      "accepted_length",   "context_spread", "activation_bits",
                                        "weight_scale_bits", "chunk_tokens",      "chunk_context"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* The parameters of a random point of the model, resolved. `share` of the parameters differ from those of `base`. Returns whether
 * the point is feasible. */
static inline bool random_point(const struct model *m, const void *base, double share, void *params)
{
    memcpy(params, base, m->desc->params_size);
    for (size_t i = 0; i < m->params.n; i++)
        if (uniform() < share * (seldom_fits(m->params.fields[i].name) ? 0.1 : 1))
            field_set(&m->params.fields[i], params, random_value(&m->params.fields[i]));
    if (m->desc->resolve) m->desc->resolve(params);
    return !m->desc->check || !m->desc->check(params);
}

#endif
