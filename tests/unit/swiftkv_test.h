/* For tests of SwiftKV: points by their settings. */
#ifndef DSE_TESTS_SWIFTKV_TEST_H
#define DSE_TESTS_SWIFTKV_TEST_H

#include "model_points.h"
#include "swiftkv/swiftkv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SETTINGS_MAX = 8 };

/* A point of the model, as `dse eval swiftkv --set ...` sees it. */
struct point {
    struct swiftkv_params params;
    struct swiftkv_metrics metrics;
    struct swiftkv_equations equations;
    struct dse_breakdown parts;
    const char *reason; /* why it is infeasible, or NULL; then there are no metrics */
};

static inline struct point point(const char *settings) /* separated by spaces */
{
    size_t n;
    const struct model *models = registry_models(&n), *m = NULL;
    for (size_t i = 0; i < n; i++)
        if (models[i].desc == &dse_model_swiftkv) m = &models[i];
    assert_non_null(m);
    char *copy = xstrdup(settings), *list[SETTINGS_MAX], *rest = copy;
    size_t count = 0;
    for (char *word; (word = strsep(&rest, " ")) != NULL;)
        if (*word) {
            assert_true(count < SETTINGS_MAX);
            list[count++] = word;
        }
    struct one o;
    bool ok = one_init(&o, m, list, count);
    diags_print(&diags, stderr, false);
    assert_true(ok);
    struct point p = {0};
    memcpy(&p.params, space_fixed(o.space), sizeof p.params);
    one_release(&o);
    free(copy);
    p.reason = m->desc->check(&p.params);
    if (!p.reason) m->desc->estimate(&p.params, &p.metrics, &p.parts);
    return p;
}

static inline struct point equated(const char *settings)
{
    struct point p = point(settings);
    dse_model_swiftkv.equate(&p.params, &p.equations);
    return p;
}

static inline double latency(const char *settings)
{
    struct point p = point(settings);
    if (p.reason) fail_msg("%s: %s", settings, p.reason);
    return p.metrics.common.latency_us;
}

static inline void assert_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * fabs(want))) fail_msg("%.12g is not %.12g within %g", got, want, tolerance);
}

#endif
