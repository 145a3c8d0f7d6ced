/* Statistics and errors of LAD's decoding from a measured surface, where the intervals and the window are settings of the
 * measurement (E39). */
#include "lad.h"

#include <math.h>

static const enum dse_quality_metric statistics[] = {DSE_Q_CENTERS, DSE_Q_LARGE, DSE_Q_ACTIVE, DSE_Q_UPDATES, DSE_Q_HIT_RATIO};
enum { STATISTICS = sizeof statistics / sizeof *statistics };

const struct dse_entry *lad_statistics(const struct lad_params *p)
{
    if (p->draws == LAD_REPLAY) return (const struct dse_entry *)p->recording;
    return p->draws == LAD_SURFACE ? (const struct dse_entry *)p->cache.surface : (const struct dse_entry *)p->profile;
}

static const struct dse_quality_surface *surface_of(const struct lad_params *p)
{
    const struct dse_quality_surface *s = dse_quality_method(p->cache.surface, "lad");
    for (int i = 0; s && i < STATISTICS; i++)
        if (!dse_surface_has(s, statistics[i])) return NULL;
    return s;
}

bool lad_surface_range(const struct lad_params *p, double *ret_from, double *ret_to)
{
    const struct dse_quality_surface *s = surface_of(p);
    double measured;
    if (s) dse_surface_contexts(s, ret_from, ret_to, &measured);
    return s != NULL;
}

const char *lad_surface_find(const struct lad_params *p, bool all, struct dse_quality_place *ret)
{
    if (!surface_of(p)) return "the surface has no statistics of LAD's decoding (surface, draws)";
    struct dse_quality_query q = {.method = "lad", .context = (double)p->workload.context, .ratio = 1};
    q.given = 1u << DSE_SET_INTERVALS | 1u << DSE_SET_RECENT;
    if (all) q.given |= 1u << DSE_SET_KV_BITS | 1u << DSE_SET_SCORES; /* the machine goes by its centers: 0 */
    q.setting[DSE_SET_INTERVALS] = (double)p->intervals;
    q.setting[DSE_SET_RECENT] = (double)p->recent;
    q.setting[DSE_SET_KV_BITS] = (double)p->workload.kv_bits;
    return dse_quality_find(p->cache.surface, &q, ret);
}

const char *lad_surface_read(const struct lad_params *p, struct dse_locality *ret)
{
    struct dse_quality_place at;
    const char *why = lad_surface_find(p, false, &at);
    if (why) return why;
    *ret = (struct dse_locality){.centers = dse_quality_mean(&at, DSE_Q_CENTERS),
                                 .large = dse_quality_mean(&at, DSE_Q_LARGE),
                                 .active = dse_quality_mean(&at, DSE_Q_ACTIVE),
                                 .updates = dse_quality_mean(&at, DSE_Q_UPDATES),
                                 .hit_ratio = dse_quality_mean(&at, DSE_Q_HIT_RATIO)};
    return NULL;
}

bool lad_surface_bound(const struct lad_params *lo, const struct lad_params *hi, struct dse_interval context,
                       struct dse_locality_bound *ret)
{
    struct dse_quality_box box = {.method = "lad", .context = context, .ratio = dse_iv_of(1)};
    box.given = 1u << DSE_SET_INTERVALS | 1u << DSE_SET_RECENT;
    box.lo[DSE_SET_INTERVALS] = (double)lo->intervals;
    box.hi[DSE_SET_INTERVALS] = (double)hi->intervals;
    box.lo[DSE_SET_RECENT] = (double)lo->recent;
    box.hi[DSE_SET_RECENT] = (double)hi->recent;
    struct dse_interval *const range[STATISTICS] = {&ret->centers, &ret->large, &ret->active, &ret->updates, &ret->hit_ratio};
    for (int i = 0; i < STATISTICS; i++)
        if (!dse_quality_bound(lo->cache.surface, &box, statistics[i], DSE_Q_MEAN, range[i])) return false;
    return true;
}
