/* For tests of what chips cost: points of LAD and VEDA by their settings. */
#ifndef DSE_TESTS_CHIP_POINTS_H
#define DSE_TESTS_CHIP_POINTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "model/fidelity.h"
#include "model_points.h"

#include "lad_struct.h"
#include "by_name.h"

/* The published point with "tiles=96 batch=1" said of it. */
static inline struct point chip_point(const char *model, const char *settings)
{
    char *text = xasprintf("%s%s", strcmp(model, "lad") == 0 ? LAD_AS_PUBLISHED : VEDA_AS_PUBLISHED, settings);
    const struct point p = point_of(model, text);
    free(text);
    return p;
}

static inline struct lad_params lad_params_of(const char *settings)
{
    const struct point p = chip_point("lad", settings);
    struct lad_params ret;
    memcpy(&ret, p.params, sizeof ret);
    return ret;
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

static inline struct named veda_metrics_of(const char *settings)
{
    const struct point p = chip_point("veda", settings);
    return estimate(&p);
}

static inline void assert_near(const char *what, double is, double wanted, double relative)
{
    if (!(fabs(is - wanted) <= relative * fabs(wanted))) fail_msg("%s is %.12g, not %.12g", what, is, wanted);
}

#endif
