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

/* A metric is NULL where the model says why, and only there; a point's quality is unknown likewise. */
static inline void check_standing(const struct model *m, const void *params, const void *metrics)
{
    for (size_t i = 0; i < m->metrics.n; i++) {
        const struct field *f = &m->metrics.fields[i];
        if (f->type != DSE_TYPE_F64 || f->without) continue;
        const char *why = m->desc->why_null ? m->desc->why_null(params, f->name) : NULL;
        if (isnan(field_number(f, metrics)) != (why != NULL))
            fail_msg("%s: %s is %g, and the reason is %s", m->desc->name, f->name, field_number(f, metrics), why ? why : "none");
    }
    if (!m->desc->stand) return;
    struct dse_standing s = {0};
    m->desc->stand(params, &s);
    assert_true(s.quality >= 0 && s.quality < DSE_QUALITY_COUNT && s.n_beyond >= 0 && s.n_beyond <= DSE_BEYOND_MAX);
    assert_true((s.quality == DSE_QUALITY_UNKNOWN) == (s.unknown != NULL));
    const struct field *error = schema_find(&m->metrics, "attention_error");
    if (!error) return;
    assert_true((s.quality == DSE_QUALITY_UNKNOWN) == (isnan(field_number(error, metrics)) != 0));
    if (s.quality <= DSE_QUALITY_ROUNDED) assert_true(field_number(error, metrics) == 0);
}

static inline void check_closed_form(const struct model *m, const void *params)
{
    void *metrics = xcalloc(1, m->desc->metrics_size);
    struct dse_breakdown b = {0};
    m->desc->estimate(params, metrics, &b);
    check_metrics(m, metrics, &b);
    check_standing(m, params, metrics);
    free(metrics);
}

#endif
