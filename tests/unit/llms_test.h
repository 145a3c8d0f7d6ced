/* What the tests of each model on LLMs of all kinds share. */
#ifndef LLMS_TEST_H
#define LLMS_TEST_H

#include "model_points.h"

#include <dse/workload.h>

static inline const struct dse_llm *find_llm(const char *name)
{
    const struct dse_entry *e = catalog_find(catalog, DSE_KIND_LLM, name);
    if (!e) fail_msg("no LLM %s", name);
    return (const struct dse_llm *)(const void *)e;
}

static inline void assert_close(const char *what, double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want))) fail_msg("%s: %.12g, not %.12g", what, got, want);
}

/* The closed form of a point that must be feasible. `parts` may be NULL. */
static inline void estimate_into(const struct dse_model *model, const void *params, const struct dse_llm *llm, void *metrics,
                                 struct dse_breakdown *parts)
{
    const char *why = model->check(params);
    if (why) fail_msg("%s: %s", llm->entry.name, why);
    memset(metrics, 0, model->metrics_size);
    if (parts) memset(parts, 0, sizeof *parts);
    model->estimate(params, metrics, parts);
}

/* The outermost parts of a breakdown, added up. */
static inline struct dse_part sum_of_parts(const struct dse_breakdown *parts)
{
    struct dse_part sum = {0};
    for (int i = 0; i < parts->n; i++) {
        if (parts->part[i].depth > 0) continue;
        sum.dram_bytes += parts->part[i].dram_bytes;
        sum.time_us += parts->part[i].time_us;
        sum.energy_mj += parts->part[i].energy_mj;
        sum.ops += parts->part[i].ops;
    }
    return sum;
}

static inline double op_bytes(const struct dse_op *op)
{
    return op->weight_bytes + op->kv_read_bytes + op->kv_write_bytes;
}

/* All that a step's operators read and write. */
static inline double bytes_of_operators(const struct dse_workload *w)
{
    struct dse_oplist list;
    double bytes = 0;
    dse_workload_expand(w, &list);
    for (int i = 0; i < list.n; i++) bytes += op_bytes(&list.op[i]);
    return bytes;
}

/* The catalog, and a model's default point. */
static inline int set_up_defaults_of(void **state, const struct dse_model *model, void *params)
{
    struct one o;
    size_t n;
    if (set_up(state)) return -1;
    const struct model *models = registry_models(&n);
    for (size_t m = 0; m < n; m++) {
        if (models[m].desc != model) continue;
        if (!one_init(&o, &models[m], NULL, 0)) return -1;
        memcpy(params, space_fixed(o.space), model->params_size);
        one_release(&o);
        return 0;
    }
    return -1;
}

#endif
