/* For tests of the Neural Engine: points by their settings. */
#ifndef DSE_TESTS_ANE_TEST_H
#define DSE_TESTS_ANE_TEST_H

#include "by_name.h"
#include "llms_test.h"
#include "sim/sim.h"

#include <dse/units.h>

#define ANE_EQUATIONS(X) \
    X(rows_q) \
    X(rows_k) \
    X(cached_rows) \
    X(returned_rows) \
    X(concats_per_k) \
    X(concat_pieces) \
    X(chunk_inputs) \
    X(additions_per_k) \
    X(transpose_rows) \
    X(prefill_calls) \
    X(prefill_calls_per_slide) \
    X(generate_calls_per_slide) \
    X(concat_call_mib) \
    X(transpose_call_mib) \
    X(one_slide_mib) \
    X(balanced_rows) \
    X(prefill_ms) \
    X(generate_ms) \
    X(best_query_rows) \
    X(best_request_ms)

struct equations {
#define FIELD(name) double name;
    ANE_EQUATIONS(FIELD)
#undef FIELD
};

/* A point: the defaults and what is set, resolved, with its results. */
struct at {
    struct point p;
    const char *why; /* NULL: feasible, and the rest is there */
    struct named m;
    struct equations e;
    struct dse_breakdown parts;
};

static inline struct equations equations_of(const struct point *p)
{
    void *all = xcalloc(1, p->model->desc->equations_size);
    p->model->desc->equate(p->params, all);
    const struct equations ret = {
#define READ(name) .name = field_number(schema_find(&p->model->equations, #name), all),
        ANE_EQUATIONS(READ)
#undef READ
    };
    free(all);
    return ret;
}

/* `settings` in one string, separated by spaces. */
static inline struct at at(const char *settings)
{
    struct at a = {.p = point_of("ane", settings)};
    a.why = refusal(&a.p);
    a.e = equations_of(&a.p);
    if (!a.why) a.m = estimate_parts(&a.p, &a.parts);
    return a;
}

/* A point that must be feasible. */
static inline struct at good(const char *settings)
{
    struct at a = at(settings);
    if (a.why) fail_msg("%s: %s", settings, a.why);
    return a;
}

static inline void assert_near(double a, double b, double relative)
{
    if (fabs(a - b) <= relative * fmax(fabs(a), fabs(b))) return;
    fail_msg("%.17g is not %.17g", a, b);
}

static inline double sum_ops(const struct at *a)
{
    return sum_of_parts(&a->parts).ops;
}

/* An LLM in a machine with room for it. */
static inline struct point on(const char *llm)
{
    char *settings = xasprintf("llm=%s capacity_gib=8192", llm);
    const struct point p = point_of("ane", settings);
    free(settings);
    return p;
}

static inline void assert_parts_add_up(const char *what, const struct point *p)
{
    struct dse_breakdown parts;
    struct point copy = *p;
    const struct named m = estimate_parts(p, &parts);
    const struct dse_part sum = sum_of_parts(&parts);
    const double tokens = dse_workload_tokens(workload_of(&copy));
    assert_close(what, sum.time_us, m.latency_us, 1e-9);
    assert_close(what, sum.energy_mj, m.energy_mj * tokens, 1e-9);
    assert_close(what, sum.dram_bytes, m.dram_mib * DSE_MIB * tokens, 1e-9);
    assert_close(what, m.tokens_per_s, tokens / m.latency_us * DSE_US_PER_S, 1e-9);
}

/* The point at event level. `parts` and `ret_events` may be NULL. */
static inline struct named simulated(const struct point *p, unsigned ideal, struct dse_breakdown *parts, uint64_t *ret_events)
{
    const struct dse_model *desc = p->model->desc;
    void *metrics = xcalloc(1, desc->metrics_size);
    struct dse_sim *sim = sim_new(&(struct sim_options){.ideal = ideal});
    assert_non_null(sim);
    if (parts) parts->n = parts->n_causes = 0;
    if (!desc->simulate(p->params, sim, metrics, parts)) fail_msg("%s", dse_sim_error(sim));
    if (ret_events) *ret_events = sim_events(sim);
    const struct named ret = named_metrics(p->model, metrics);
    sim_free(sim);
    free(metrics);
    return ret;
}

static inline double simulated_us(const struct point *p, unsigned ideal)
{
    return simulated(p, ideal, NULL, NULL).latency_us;
}

/* The bound of the box between two points. False: none of its points can be built. */
static inline bool bound_between(const struct point *lo, const struct point *hi, struct named *floor, struct named *ceiling)
{
    const struct dse_model *desc = lo->model->desc;
    void *low = xcalloc(1, desc->metrics_size), *high = xcalloc(1, desc->metrics_size);
    const bool some = desc->bound(lo->params, hi->params, low, high);
    *floor = named_metrics(lo->model, low);
    *ceiling = named_metrics(lo->model, high);
    free(low);
    free(high);
    return some;
}

#endif
