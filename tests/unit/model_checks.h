/* What the metrics and the breakdown of any model must satisfy, whatever the fidelity. */
#ifndef MODEL_CHECKS_H
#define MODEL_CHECKS_H

#include "model/row_check.h"
#include "model_points.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static inline double metric(const struct model *m, const void *metrics, const char *name)
{
    const struct field *f = schema_find(&m->metrics, name);
    return f && !f->without ? field_number(f, metrics) : (double)NAN;
}

/* src/model/row_check.h; and there is a breakdown, of all of it. */
static inline void check_metrics(const struct model *m, const void *metrics, const struct dse_breakdown *breakdown)
{
    struct row_check *c = row_check_new(m->desc);
    char *why = row_check_run(c, metrics, breakdown);
    if (why) fail_msg("%s: %s", m->desc->name, why);
    assert_true(breakdown->n > 0);
    row_check_free(c);
}

static inline void check_closed_form(const struct model *m, const void *params)
{
    void *metrics = xcalloc(1, m->desc->metrics_size);
    struct dse_breakdown b = {0};
    m->desc->estimate(params, metrics, &b);
    check_metrics(m, metrics, &b);
    free(metrics);
}

#endif
