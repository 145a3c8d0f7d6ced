/* For tests of SwiftKV: points by their settings. */
#ifndef DSE_TESTS_SWIFTKV_TEST_H
#define DSE_TESTS_SWIFTKV_TEST_H

#include "by_name.h"

/* A point of the model, as `dse eval swiftkv --set ...` sees it. */
struct tested {
    struct point point;
    _Alignas(16) char metrics[NAMED_BYTES];
    struct dse_breakdown parts;
    const char *reason; /* why it is infeasible, or NULL; then there are no metrics */
};

/* The same again after its parameters were changed. */
static inline void test_again(struct tested *t)
{
    const struct dse_model *desc = t->point.model->desc;
    t->reason = desc->check(t->point.params);
    t->parts.n = t->parts.n_causes = 0;
    if (!t->reason) desc->estimate(t->point.params, t->metrics, &t->parts);
}

static inline struct tested test_at(const char *settings) /* separated by spaces */
{
    struct tested t = {.point = point_of("swiftkv", settings)};
    assert_true(t.point.model->desc->metrics_size <= sizeof t.metrics);
    test_again(&t);
    return t;
}

static inline double metric(const struct tested *t, const char *name)
{
    const struct field *f = schema_find(&t->point.model->metrics, name);
    if (!f) fail_msg("no metric %s", name);
    return field_number(f, t->metrics);
}

static inline const char *bound_of(const struct tested *t)
{
    return named_metrics(t->point.model, t->metrics).bound;
}

static inline double equated(const char *settings, const char *name)
{
    const struct point p = point_of("swiftkv", settings);
    return equation(&p, name);
}

/* Of a feasible point. */
static inline double metric_at(const char *settings, const char *name)
{
    const struct tested t = test_at(settings);
    if (t.reason) fail_msg("%s: %s", settings, t.reason);
    return metric(&t, name);
}

static inline double latency(const char *settings)
{
    return metric_at(settings, "latency_us");
}

static inline void assert_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * fabs(want))) fail_msg("%.12g is not %.12g within %g", got, want, tolerance);
}

#endif
