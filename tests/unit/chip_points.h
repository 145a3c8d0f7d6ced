/* For tests of what chips cost: points of LAD and VEDA by their settings. */
#ifndef DSE_TESTS_CHIP_POINTS_H
#define DSE_TESTS_CHIP_POINTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "model/fidelity.h"
#include "model_points.h"

#include "lad/lad.h"
#include "veda/veda.h"

enum { CHIP_SETTINGS = 24 };

/* The published point with "tiles=96 batch=1" said of it. */
static inline void chip_params(const char *model, const char *settings, void *ret)
{
    char *text = xasprintf("%s%s", strcmp(model, "lad") == 0 ? LAD_AS_PUBLISHED : VEDA_AS_PUBLISHED, settings),
         *list[CHIP_SETTINGS];
    const size_t n = settings_split(text, list, CHIP_SETTINGS);
    const struct model *m = registry_find(model);
    struct one o;
    bool ok = one_init(&o, m, list, n);
    diags_print(&diags, stderr, false);
    assert_true(ok);
    memcpy(ret, space_fixed(o.space), m->desc->params_size);
    one_release(&o);
    free(text);
}

static inline struct lad_params lad_params_of(const char *settings)
{
    struct lad_params p;
    chip_params("lad", settings, &p);
    return p;
}

static inline struct veda_params veda_params_of(const char *settings)
{
    struct veda_params p;
    chip_params("veda", settings, &p);
    return p;
}

static inline struct lad_metrics lad_metrics_of(const char *settings)
{
    struct lad_params p = lad_params_of(settings);
    const char *why = dse_model_lad.check(&p);
    if (why) fail_msg("lad %s: %s", settings, why);
    struct lad_metrics m;
    dse_model_lad.estimate(&p, &m, NULL);
    return m;
}

static inline struct veda_metrics veda_metrics_of(const char *settings)
{
    struct veda_params p = veda_params_of(settings);
    const char *why = dse_model_veda.check(&p);
    if (why) fail_msg("veda %s: %s", settings, why);
    struct veda_metrics m;
    dse_model_veda.estimate(&p, &m, NULL);
    return m;
}

static inline void assert_near(const char *what, double is, double wanted, double relative)
{
    if (!(fabs(is - wanted) <= relative * fabs(wanted))) fail_msg("%s is %.12g, not %.12g", what, is, wanted);
}

#endif
