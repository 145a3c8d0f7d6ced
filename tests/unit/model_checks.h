/* What the metrics and the breakdown of any model must satisfy, whatever the fidelity. */
#ifndef MODEL_CHECKS_H
#define MODEL_CHECKS_H

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

static inline void assert_adds_up(const struct model *m, const char *what, double sum, double total)
{
    if (isnan(total)) return;
    if (fabs(sum - total) > 1e-9 * fabs(total) + 1e-12)
        fail_msg("%s: the parts' %s add up to %.12g, the metric says %.12g", m->desc->name, what, sum, total);
}

/* Metrics are finite; the parts of the breakdown add up to them. */
static inline void check_metrics(const struct model *m, const void *metrics, const struct dse_breakdown *breakdown)
{
    struct dse_breakdown b = *breakdown;
    for (size_t i = 0; i < m->metrics.n; i++) {
        const struct field *f = &m->metrics.fields[i];
        if (f->type == DSE_TYPE_F64 && !f->without && !isfinite(field_number(f, metrics)) &&
            !(f->may_be_null && isnan(field_number(f, metrics))))
            fail_msg("%s: %s is %g", m->desc->name, f->name, field_number(f, metrics));
    }
    double time = 0, bytes = 0, energy = 0;
    for (int i = 0; i < b.n; i++) {
        assert_true(b.part[i].name && b.part[i].bound);
        assert_true(isfinite(b.part[i].time_us) && b.part[i].time_us >= 0 && b.part[i].dram_bytes >= 0 && b.part[i].ops >= 0);
        if (b.part[i].depth != 0) continue;
        time += b.part[i].time_us;
        bytes += b.part[i].dram_bytes;
        energy += b.part[i].energy_mj;
    }
    double tokens = metric(m, metrics, "tokens_per_s") * metric(m, metrics, "latency_us") * 1e-6;
    assert_true(b.n > 0);
    assert_adds_up(m, "time", time, metric(m, metrics, "latency_us"));
    assert_adds_up(m, "bytes", bytes, metric(m, metrics, "dram_mib") * tokens * 1048576);
    assert_adds_up(m, "energy", energy, metric(m, metrics, "energy_mj") * tokens);
    assert_adds_up(m, "energy over time", energy * 1e-3 / (time * 1e-6), metric(m, metrics, "power_w"));
    assert_true(metric(m, metrics, "attention_us") <= time * (1 + 1e-9));
    assert_true(metric(m, metrics, "compute_utilization") <= 1 + 1e-9 && metric(m, metrics, "dram_utilization") <= 1 + 1e-9);
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
