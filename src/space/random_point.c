#include "space/random_point.h"

#include <math.h>
#include <string.h>

double random_uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

struct value random_value_of(const struct field *f, const struct catalog *catalog, uint64_t *seed)
{
    if (f->type == DSE_TYPE_ENUM) {
        int32_t n = 0;
        while (f->choices[n]) n++;
        return (struct value){.choice = (int32_t)(random_uniform(seed) * n)};
    }
    if (f->type == DSE_TYPE_REF) {
        size_t n = 0;
        while (catalog_at(catalog, f->kind, n)) n++;
        return (struct value){.ref = catalog_at(catalog, f->kind, (size_t)(random_uniform(seed) * (double)n))};
    }
    double v = f->min > 0 && random_uniform(seed) < 0.7 ? exp(log(f->min) + random_uniform(seed) * log(f->max / f->min))
                                                        : f->min + random_uniform(seed) * (f->max - f->min);
    if (random_uniform(seed) < 0.05) v = f->min;
    if (random_uniform(seed) < 0.05) v = f->max;
    if (f->type == DSE_TYPE_I64) return (struct value){.i64 = (int64_t)v};
    return (struct value){.f64 = fmin(fmax(v, f->min), f->max)};
}

/* Parameters that most values of make a point infeasible, wherever the others are: drawn less often. */
static bool seldom_fits(const char *name)
{
    static const char *const names[] = {"tensor_parallel",   "pipeline_parallel", "data_parallel",  "expert_parallel",
                                        "draft_tokens",      "accepted_length",   "context_spread", "activation_bits",
                                        "weight_scale_bits", "chunk_tokens",      "chunk_context"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

bool random_point_of(const struct model *m, const struct catalog *catalog, const void *base, double share, uint64_t *seed,
                     void *params)
{
    memcpy(params, base, m->desc->params_size);
    for (size_t i = 0; i < m->params.n; i++)
        if (random_uniform(seed) < share * (seldom_fits(m->params.fields[i].name) ? 0.1 : 1))
            field_set(&m->params.fields[i], params, random_value_of(&m->params.fields[i], catalog, seed));
    if (m->desc->resolve) m->desc->resolve(params);
    return !m->desc->check || !m->desc->check(params);
}
