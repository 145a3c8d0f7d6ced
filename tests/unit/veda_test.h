/* What the cmocka programs of VEDA share: its defaults, and points near them. */
#ifndef DSE_TESTS_VEDA_TEST_H
#define DSE_TESTS_VEDA_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "model_points.h"
#include "veda/veda.h"

/* The point as published with the settings given ("llm=llama3-8b"), resolved; a NULL ends them. Power and area are as the paper
 * counts them, which is what it prints: test_chip.c has the rest. */
static inline struct veda_params params_with(const char *setting, ...)
{
    enum { MOST = 24 };
    struct text all;
    text_init(&all);
    text_add(&all, VEDA_AS_PUBLISHED "power=constant area=core");
    va_list list;
    va_start(list, setting);
    for (const char *s = setting; s; s = va_arg(list, const char *)) text_addf(&all, " %s", s);
    va_end(list);
    char *settings[MOST];
    const size_t n = settings_split(all.s, settings, MOST);
    struct one o;
    bool ok = one_init(&o, registry_find("veda"), settings, n);
    diags_print(&diags, stderr, false);
    assert_true(ok);
    struct veda_params p = *(const struct veda_params *)space_fixed(o.space);
    one_release(&o);
    text_release(&all);
    return p;
}
#define DEFAULTS params_with(NULL)

/* The value of `eviction`. */
static inline int32_t eviction_named(const char *name)
{
    int32_t i = 0;
    while (strcmp(dse_eviction_choices()[i], name) != 0) i++;
    return i;
}

/* The metrics of a point that must be feasible. */
static inline struct veda_metrics estimate(const struct veda_params *p)
{
    struct veda_metrics m;
    const char *why = dse_model_veda.check(p);
    if (why) fail_msg("infeasible: %s", why);
    dse_model_veda.estimate(p, &m, NULL);
    return m;
}

static inline struct veda_equations equations(const struct veda_params *p)
{
    struct veda_equations e;
    dse_model_veda.equate(p, &e);
    return e;
}

static inline void assert_near(double a, double b, double relative)
{
    if (fabs(a - b) <= relative * fmax(fabs(a), fabs(b))) return;
    fail_msg("%.17g is not %.17g", a, b);
}

static inline void set_bandwidth(struct veda_params *p, double gbs)
{
    p->dram.bandwidth_gbs = gbs;
    dse_dram_resolve(&p->dram);
}

#endif
