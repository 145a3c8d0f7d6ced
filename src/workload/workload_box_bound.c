/* A model's bound as the hull of those of a box's parts: dse/workload_box.h. */
#include <dse/bound.h>
#include <dse/workload_box.h>

#include <assert.h>
#include <stddef.h>

enum { PARAMS_MAX = 4096, METRICS_MAX = 2048 };

/* What is not known of one of them is not known of both. */
static void hull(const struct dse_metric *metrics, void *floor, void *ceiling, const void *other_floor, const void *other_ceiling)
{
    for (const struct dse_metric *m = metrics; m->type != DSE_TYPE_END; m++) {
        char *lo = (char *)floor + m->offset, *hi = (char *)ceiling + m->offset;
        const char *other_lo = (const char *)other_floor + m->offset, *other_hi = (const char *)other_ceiling + m->offset;
        if (m->type == DSE_TYPE_EMBED) hull(m->embed, lo, hi, other_lo, other_hi);
        if (m->type == DSE_TYPE_F64) {
            double *a = (double *)(void *)lo, *b = (double *)(void *)hi;
            const double x = *(const double *)(const void *)other_lo, y = *(const double *)(const void *)other_hi;
            const bool known = *a == *a && x == x;
            *a = known ? dse_min(*a, x) : (double)NAN;
            *b = known ? dse_max(*b, y) : (double)NAN;
        }
        if (m->type == DSE_TYPE_I64) {
            int64_t *a = (int64_t *)(void *)lo, *b = (int64_t *)(void *)hi;
            *a = dse_min_i64(*a, *(const int64_t *)(const void *)other_lo);
            *b = dse_max_i64(*b, *(const int64_t *)(const void *)other_hi);
        }
    }
}

bool dse_bound_parts(const struct dse_model *model, size_t workload_at, const void *lo, const void *hi, dse_bound_part *bound,
                     void *floor, void *ceiling)
{
    _Alignas(max_align_t) char one_lo[PARAMS_MAX], one_hi[PARAMS_MAX], one_floor[METRICS_MAX], one_ceiling[METRICS_MAX];
    const struct dse_workload *from = (const struct dse_workload *)(const void *)((const char *)lo + workload_at),
                              *to = (const struct dse_workload *)(const void *)((const char *)hi + workload_at);
    struct dse_workload_parts parts;
    struct dse_workload_part part;
    bool any = false;
    assert(model->params_size <= PARAMS_MAX && model->metrics_size <= METRICS_MAX);
    if (!dse_workload_parts_begin(&parts, from, to)) {
        dse_bound_nothing(model->metrics, floor, ceiling);
        return true;
    }
    memcpy(one_lo, lo, model->params_size);
    memcpy(one_hi, hi, model->params_size);
    while (dse_workload_parts_next(&parts, &part)) {
        if (!part.is_followed) {
            dse_bound_nothing(model->metrics, floor, ceiling);
            return true;
        }
        memcpy(one_lo + workload_at, &part.lo, sizeof part.lo);
        memcpy(one_hi + workload_at, &part.hi, sizeof part.hi);
        memset(any ? one_floor : (char *)floor, 0, model->metrics_size);
        memset(any ? one_ceiling : (char *)ceiling, 0, model->metrics_size);
        dse_bound_nothing(model->metrics, any ? one_floor : floor, any ? one_ceiling : ceiling);
        if (!bound(one_lo, one_hi, &part, any ? one_floor : floor, any ? one_ceiling : ceiling)) continue;
        if (any) hull(model->metrics, floor, ceiling, one_floor, one_ceiling);
        any = true;
    }
    return any;
}
