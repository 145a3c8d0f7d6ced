/* For tests of the Neural Engine: points by their settings. */
#ifndef DSE_TESTS_ANE_TEST_H
#define DSE_TESTS_ANE_TEST_H

#include "ane/ane.h"
#include "model_points.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A point: the defaults and what is set, resolved, with its results. */
struct at {
    struct ane_params p;
    const char *why; /* NULL: feasible, and the rest is there */
    struct ane_metrics m;
    struct ane_equations e;
    struct dse_breakdown parts;
};

static const struct model *ane;

/* `settings` in one string, separated by spaces. */
static inline struct at at(const char *settings)
{
    char *text = xstrdup(settings), *list[16];
    size_t n = 0;
    for (char *s = strtok(text, " "); s; s = strtok(NULL, " ")) list[n++] = s;
    struct one o;
    bool ok = one_init(&o, ane, list, n);
    diags_print(&diags, stderr, false);
    assert_true(ok);
    struct at a = {.p = *(const struct ane_params *)space_fixed(o.space)};
    dse_model_ane.resolve(&a.p);
    a.why = dse_model_ane.check(&a.p);
    dse_model_ane.equate(&a.p, &a.e);
    if (!a.why) dse_model_ane.estimate(&a.p, &a.m, &a.parts);
    one_release(&o);
    free(text);
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
    double ops = 0;
    for (int i = 0; i < a->parts.n; i++)
        if (a->parts.part[i].depth == 0) ops += a->parts.part[i].ops;
    return ops;
}

static inline int start(void **state)
{
    if (set_up(state) != 0) return -1;
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t i = 0; i < n; i++)
        if (models[i].desc == &dse_model_ane) ane = &models[i];
    return ane ? 0 : -1;
}

#endif
