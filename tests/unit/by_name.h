/* Points of a model by the names of its parameters, and metrics by theirs: for tests that do not care in what the model is
 * written. */
#ifndef DSE_TESTS_BY_NAME_H
#define DSE_TESTS_BY_NAME_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "model_points.h"

#include <dse/hw.h>
#include <dse/workload.h>

enum { NAMED_BYTES = 4096, NAMED_SETTINGS = 32 };

struct point {
    const struct model *model;
    _Alignas(16) char params[NAMED_BYTES];
};

static inline struct point point_copied(const struct model *model, const void *params)
{
    struct point p = {.model = model};
    memcpy(p.params, params, model->desc->params_size);
    return p;
}

/* The defaults with `settings` ("llm=llama3-8b batch=2"), resolved. */
static inline struct point point_of(const char *model, const char *settings)
{
    struct point p = {.model = registry_find(model)};
    char *text = xstrdup(settings), *list[NAMED_SETTINGS];
    const size_t n = settings_split(text, list, NAMED_SETTINGS);
    struct one o;
    const bool ok = one_init(&o, p.model, list, n);
    diags_print(&diags, stderr, false);
    assert_true(ok && p.model->desc->params_size <= sizeof p.params);
    memcpy(p.params, space_fixed(o.space), p.model->desc->params_size);
    one_release(&o);
    free(text);
    return p;
}

static inline const struct field *param_of(const struct point *p, const char *name)
{
    const struct field *f = schema_find(&p->model->params, name);
    if (!f) fail_msg("no parameter %s", name);
    return f;
}

/* Any value, of its range or not; what follows from it is as it would be. */
static inline void put(struct point *p, const struct field *f, struct value value)
{
    static const char *const follows[][2] = {{"kv_bits", "value_bits"}, {"activation_bits", "exchange_bits"}};
    field_set(f, p->params, value);
    for (size_t i = 0; i < sizeof follows / sizeof *follows; i++) {
        const struct field *other = schema_find(&p->model->params, follows[i][1]);
        if (other && strcmp(f->name, follows[i][0]) == 0) field_set(other, p->params, (struct value){.f64 = (double)NAN});
    }
    if (p->model->desc->resolve) p->model->desc->resolve(p->params);
}

static inline void set(struct point *p, const char *name, double number)
{
    const struct field *f = param_of(p, name);
    put(p, f, f->type == DSE_TYPE_F64 ? (struct value){.f64 = number} : (struct value){.i64 = (int64_t)number});
}

static inline void choose(struct point *p, const char *name, const char *choice)
{
    const struct field *f = param_of(p, name);
    int32_t i = 0;
    while (f->choices[i] && strcmp(f->choices[i], choice) != 0) i++;
    if (!f->choices[i]) fail_msg("%s is not %s", name, choice);
    put(p, f, (struct value){.choice = i});
}

static inline void name_entry(struct point *p, const char *name, enum dse_kind kind, const char *entry)
{
    const struct dse_entry *e = catalog_find(catalog, kind, entry);
    if (!e) fail_msg("no %s", entry);
    put(p, param_of(p, name), (struct value){.ref = e});
}

static inline double get(const struct point *p, const char *name)
{
    return field_number(param_of(p, name), p->params);
}

/* The group of parameters whose member stands `offset` from its beginning. */
static inline void *group_of(struct point *p, const char *member, size_t offset)
{
    return p->params + param_of(p, member)->offset - offset;
}
static inline struct dse_workload *workload_of(struct point *p)
{
    return group_of(p, "llm", offsetof(struct dse_workload, llm));
}
static inline struct dse_dram *dram_of(struct point *p)
{
    return group_of(p, "memory", offsetof(struct dse_dram, memory));
}

/* NULL: the point can be built. */
static inline const char *refusal(const struct point *p)
{
    return p->model->desc->check(p->params);
}

/* ---- metrics ----------------------------------------------------------------------------------------------------------------- */

#define NAMED_METRICS(X) \
    X(tokens_per_s) \
    X(latency_us) \
    X(attention_us) \
    X(energy_mj) \
    X(dram_mib) \
    X(area_mm2) \
    X(compute_utilization) \
    X(dram_utilization) \
    X(linear_us) \
    X(communication_us) \
    X(cached_positions) \
    X(retained_mass) \
    X(attention_error) \
    X(eviction_speedup) \
    X(array_utilization) \
    X(scores_utilization) \
    X(values_utilization) \
    X(softmax_exposed_us) \
    X(vote_exposed_us) \
    X(weights_mib) \
    X(kv_mib) \
    X(vote_mib) \
    X(energy_dram_mj) \
    X(energy_sram_mj) \
    X(energy_modules_mj) \
    X(energy_clock_mj) \
    X(energy_leakage_mj) \
    X(energy_interface_mj) \
    X(energy_links_mj) \
    X(chip_power_w) \
    X(core_mm2) \
    X(phy_mm2) \
    X(noc_mm2) \
    X(links_mm2) \
    X(matmul_gops) \
    X(system_usd) \
    X(dram_footprint_gib) \
    X(calls) \
    X(call_us) \
    X(slide_us) \
    X(exposed_slide_us) \
    X(request_ms) \
    X(wasted_rows) \
    X(concat_mib) \
    X(transpose_mib) \
    X(slide_mib) \
    X(technique_mib) \
    X(engine_power_w)

/* NaN: without a value, or the model does not have it. */
struct named {
    const char *bound;
#define FIELD(name) double name;
    NAMED_METRICS(FIELD)
#undef FIELD
};

static inline double named_metric(const struct model *m, const void *metrics, const char *name)
{
    const struct field *f = schema_find(&m->metrics, name);
    return f ? field_number(f, metrics) : (double)NAN;
}

static inline struct named named_metrics(const struct model *m, const void *metrics)
{
    const struct field *bound = schema_find(&m->metrics, "bound");
    return (struct named){.bound = bound->choices[field_get(bound, metrics).choice],
#define READ(name) .name = named_metric(m, metrics, #name),
                          NAMED_METRICS(READ)
#undef READ
    };
}

/* The metrics of a point that must be feasible. `parts` may be NULL. */
static inline struct named estimate_parts(const struct point *p, struct dse_breakdown *parts)
{
    const struct dse_model *desc = p->model->desc;
    const char *why = desc->check ? desc->check(p->params) : NULL;
    if (why) fail_msg("infeasible: %s", why);
    void *metrics = xcalloc(1, desc->metrics_size);
    if (parts) parts->n = parts->n_causes = 0;
    desc->estimate(p->params, metrics, parts);
    const struct named ret = named_metrics(p->model, metrics);
    free(metrics);
    return ret;
}

static inline struct named estimate(const struct point *p)
{
    return estimate_parts(p, NULL);
}

/* What `dse eval --equations` prints of a point. */
static inline double equation(const struct point *p, const char *name)
{
    const struct field *f = schema_find(&p->model->equations, name);
    if (!f) fail_msg("no equation %s", name);
    void *equations = xcalloc(1, p->model->desc->equations_size);
    p->model->desc->equate(p->params, equations);
    const double ret = field_number(f, equations);
    free(equations);
    return ret;
}

#endif
