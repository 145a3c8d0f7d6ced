/* One point at both fidelities, and what makes them differ. */
#include "agree/agree_internal.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(DSE_IDEAL_SYNC == 1 << (AGREE_CAUSES - 1), "a cause for each ideal");

const char *const agree_metric_names[] = {"latency_us", "attention_us", "energy_mj", "dram_mib", NULL};
_Static_assert(sizeof agree_metric_names / sizeof *agree_metric_names == AGREE_METRICS + 1, "every metric has a name");

static double metric(const struct model *m, const void *metrics, int which)
{
    const struct field *f = schema_find(&m->metrics, agree_metric_names[which]);
    return f && !f->without ? field_number(f, metrics) : (double)NAN;
}

double difference_of(const struct model *m, const void *metrics, const void *closed, int which)
{
    const double c = metric(m, closed, which);
    if (c == 0) return (double)NAN; /* a hit ratio, say, that only events have */
    const double d = (metric(m, metrics, which) - c) / c;
    return isfinite(d) ? d : (double)NAN;
}

/* The closed form without what the event level goes without: refresh, until an ideal DRAM has the closed form's bandwidth. */
static void estimate_ideal(const struct design_point *p, int taken, void *metrics)
{
    const struct model *m = p->model;
    const struct field *refresh = schema_find(&m->params, "t_rfc_ns");
    if (!refresh || taken != 2) {
        m->desc->estimate(p->params, metrics, NULL);
        return;
    }
    char *params = xmalloc(m->desc->params_size);
    memcpy(params, p->params, m->desc->params_size);
    memcpy(params + refresh->offset, &(double){0}, sizeof(double));
    if (m->desc->check(params)) memcpy(params, p->params, m->desc->params_size);
    m->desc->estimate(params, metrics, NULL);
    free(params);
}

/* Of the closed form as it is: how much more the run has than a closed form that goes without the same. */
static void set_causes(const struct model *m, const void *events, const void *closed, const void *ideal, int taken,
                       struct agree_point *ret)
{
    for (int k = 0; k < AGREE_METRICS; k++) {
        const double left = difference_of(m, events, closed, k) - difference_of(m, ideal, closed, k);
        if (taken == 0) ret->metric[k] = left;
        if (taken > 0) ret->cause[k][taken - 1] = ret->left[k] - left;
        ret->left[k] = left;
    }
}

enum run_end carry_out(struct runner *r, const struct design_point *p, const struct agree_options *o, struct agree_point *ret)
{
    const struct model *m = p->model;
    void *events = xcalloc(1, m->desc->metrics_size), *closed = xcalloc(1, m->desc->metrics_size),
         *ideal = xcalloc(1, m->desc->metrics_size);
    m->desc->estimate(p->params, closed, NULL);
    struct agree_point seen = *ret;
    const int causes = o->no_causes ? 0 : AGREE_CAUSES;
    enum run_end end = RUN_DONE;
    for (int i = 0; i <= causes && end == RUN_DONE; i++) {
        runner_set_ideal(r, (1U << i) - 1);
        end = runner_run(r, m->desc, p->params, events, NULL);
        ret->is_measured = runner_is_measured(r);
        if (end == RUN_DONE && i == 0) rank_keep(o->n_sweeps == 1 ? o->sweeps[0] : NULL, p, closed, events, ret);
        if (end != RUN_DONE || ret->is_measured) break;
        estimate_ideal(p, i, ideal);
        set_causes(m, events, closed, ideal, i, &seen);
    }
    if (end != RUN_DONE) rank_forget(ret);
    if (end == RUN_DONE && !ret->is_measured) {
        memcpy(ret->metric, seen.metric, sizeof seen.metric);
        memcpy(ret->cause, seen.cause, sizeof seen.cause);
        if (causes) memcpy(ret->left, seen.left, sizeof seen.left);
    } else if (end != RUN_DONE && end != RUN_STOPPED && end != RUN_REFUSED) {
        ret->failure = xstrdup(runner_error(r));
    }
    free(events);
    free(closed);
    free(ideal);
    return end;
}

double difference_at(struct runner *r, const struct design_point *p, int metric)
{
    const struct model *m = p->model;
    void *events = xcalloc(1, m->desc->metrics_size), *closed = xcalloc(1, m->desc->metrics_size);
    m->desc->estimate(p->params, closed, NULL);
    runner_set_ideal(r, 0);
    const bool done = runner_run(r, m->desc, p->params, events, NULL) == RUN_DONE;
    const double ret = done ? difference_of(m, events, closed, metric) : (double)NAN;
    free(events);
    free(closed);
    return ret;
}
