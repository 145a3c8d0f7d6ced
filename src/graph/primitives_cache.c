/* What the KV cache says: positions, quality, the cost of a technique. */
#include "graph/primitive_internal.h"

#include <dse/fixed.h>

POINT(widening)
{
    NO_ARGUMENTS;
    ret[0] = dse_cache_widening(g->workload);
}

BOX(widening_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(dse_cache_widening(&g->part->lo), dse_cache_widening(&g->part->hi));
}

POINT(target)
{
    ret[0] = a[0] >= 0 && a[0] <= positions_most ? dse_cache_target(g->cache, a[0]) : (double)NAN;
}

/* By the ratio, by the length, or both: each grows with what it is of. */
BOX(target_box)
{
    struct dse_cache lo = *g->lo.cache, hi = *g->hi.cache;
    const bool by_ratio = lo.cache_length == 0, by_length = hi.cache_length > 0;
    ret[0] = range_unknown;
    if (!positive(a[0]) || a[0].hi > positions_most) return;
    struct graph_range r = range_nothing;
    if (by_length) {
        lo.cache_length = dse_max_i64(1, lo.cache_length);
        r = hull(dse_cache_target(&lo, a[0].lo), dse_cache_target(&hi, a[0].hi));
    }
    if (by_ratio) {
        lo.cache_length = hi.cache_length = 0;
        const struct graph_range ratio = hull(dse_cache_target(&lo, a[0].lo), dse_cache_target(&hi, a[0].hi));
        r = (struct graph_range){dse_min(r.lo, ratio.lo), dse_max(r.hi, ratio.hi), ratio.none, false};
    }
    r.none = false;
    ret[0] = r;
}

static struct dse_cache_step step_at(const struct dse_cache *c, const struct dse_workload *w)
{
    struct dse_cache_step ret;
    dse_cache_step_at(c, w, &ret);
    return ret;
}

POINT(cache_step)
{
    NO_ARGUMENTS;
    const struct dse_cache_step s = step_at(g->cache, g->workload);
    ret[0] = s.read;
    ret[1] = s.pairs;
    ret[2] = s.pages;
    ret[3] = dse_cache_moved(&s);
    ret[4] = dse_cache_footprint(&s, g->workload);
    ret[5] = s.held;
    ret[6] = s.besides_bytes;
    ret[7] = s.residual_bytes;
}

/* All of it grows from one end of dse_cache_ends to the other. */
BOX(cache_step_box)
{
    NO_ARGUMENTS;
    struct dse_cache few = *g->lo.cache, many = *g->hi.cache;
    const struct dse_workload *least = &g->part->least, *most = &g->part->most;
    struct dse_interval target;
    const bool some = dse_cache_ends(&few, &many, least, dse_iv((double)least->context, (double)most->context), &target);
    for (int i = 0; i < 8; i++) ret[i] = range_nothing;
    if (!some) return;
    const struct dse_cache_step lo = step_at(&few, least), hi = step_at(&many, most);
    ret[0] = hull(lo.read, hi.read);
    ret[1] = hull(lo.pairs, hi.pairs);
    ret[2] = hull(lo.pages, hi.pages);
    ret[3] = hull(dse_cache_moved(&lo), dse_cache_moved(&hi));
    ret[4] = hull(dse_cache_footprint(&lo, least), dse_cache_footprint(&hi, most));
    ret[5] = hull(lo.held, hi.held);
    ret[6] = hull(lo.besides_bytes, hi.besides_bytes);
    ret[7] = hull(lo.residual_bytes, hi.residual_bytes);
}

static void quality_of(const struct dse_cache_steps *steps, double *ret)
{
    struct dse_kept kept;
    dse_cache_quality(steps, &kept);
    ret[0] = kept.mass;
    ret[1] = kept.error;
    ret[2] = kept.error_sd;
}

/* What is known of the output: NaN where nobody says. */
POINT(quality)
{
    NO_ARGUMENTS;
    const struct dse_cache_steps steps = dse_cache_steps_of(g->cache, g->workload, g->request);
    quality_of(&steps, ret);
}

/* Steps of attention in fixed point, or (a[0] = 2) with a partial softmax; exact if a[0] is 0. *ret_arithmetic outlives them. */
static struct dse_cache_steps inexact_steps(const struct groups *g, const double *a, struct dse_arithmetic *ret_arithmetic)
{
    struct dse_cache_steps ret = dse_cache_steps_of(g->cache, g->workload, g->request);
    *ret_arithmetic = (a[0] == 2 ? dse_partial_softmax : dse_fixed_point)(a[1], a[2], a[3]);
    if (a[0] != 0) ret.arithmetic = ret_arithmetic;
    return ret;
}

POINT(inexact)
{
    struct dse_arithmetic arithmetic;
    const struct dse_cache_steps steps = inexact_steps(g, a, &arithmetic);
    quality_of(&steps, ret);
}

/* Steps of a generation and single ones are not told apart inside a box. */
static bool are_alike(const struct dse_cache_steps *lo, const struct dse_cache_steps *hi)
{
    return (lo->generate > 0) == (hi->generate > 0);
}

static void bound_quality(const struct groups_box *g, const struct dse_cache_steps *lo, const struct dse_cache_steps *hi,
                          struct graph_range *ret)
{
    struct dse_interval target;
    struct dse_kept_bound b;
    for (int i = 0; i < 3; i++) ret[i] = range_unknown;
    const struct dse_interval seen = {dse_min(lo->before, hi->before), dse_max(lo->before, hi->before)};
    if (!are_alike(lo, hi) || !dse_cache_target_bound(g->lo.cache, g->hi.cache, g->lo.workload, seen, &target)) return;
    dse_cache_quality_bound(lo, hi, target, &b);
    ret[0] = some_of(b.mass);
    ret[1] = some_of(b.error);
    ret[2] = some_of(b.error_sd);
}

BOX(quality_box)
{
    NO_ARGUMENTS;
    const struct dse_cache_steps lo = dse_cache_steps_of(g->lo.cache, g->lo.workload, g->lo.request),
                                 hi = dse_cache_steps_of(g->hi.cache, g->hi.workload, g->hi.request);
    bound_quality(g, &lo, &hi, ret);
}

/* The ends of what [arithmetic] says. False: they differ in whether it counts, or are not known. */
static bool inexact_ends(const struct graph_range *a, double *lo, double *hi)
{
    bool ok = !a[0].none && a[0].lo == a[0].hi;
    for (int i = 0; i < 4; i++) {
        lo[i] = a[i].lo;
        hi[i] = a[i].hi;
        ok = ok && !a[i].none;
    }
    return ok;
}

BOX(inexact_box)
{
    double less[4], more[4];
    struct dse_arithmetic of_less, of_more;
    for (int i = 0; i < 3; i++) ret[i] = range_unknown;
    if (!inexact_ends(a, less, more)) return;
    const struct dse_cache_steps lo = inexact_steps(&g->lo, less, &of_less), hi = inexact_steps(&g->hi, more, &of_more);
    bound_quality(g, &lo, &hi, ret);
}

static void score_of(const struct dse_cache_steps *steps, double *ret)
{
    struct dse_score s;
    dse_cache_score(steps, &s);
    ret[0] = s.task_score;
    ret[1] = s.task_loss;
}

POINT(score)
{
    NO_ARGUMENTS;
    const struct dse_cache_steps steps = dse_cache_steps_of(g->cache, g->workload, g->request);
    score_of(&steps, ret);
}

POINT(inexact_score)
{
    struct dse_arithmetic arithmetic;
    const struct dse_cache_steps steps = inexact_steps(g, a, &arithmetic);
    score_of(&steps, ret);
}

static void bound_score(const struct dse_cache_steps *lo, const struct dse_cache_steps *hi, struct graph_range *ret)
{
    struct dse_interval score, loss;
    ret[0] = ret[1] = range_unknown;
    if (!are_alike(lo, hi)) return;
    dse_cache_score_bound(lo, hi, &score, &loss);
    ret[0] = some_of(score);
    ret[1] = some_of(loss);
}

BOX(score_box)
{
    NO_ARGUMENTS;
    const struct dse_cache_steps lo = dse_cache_steps_of(g->lo.cache, g->lo.workload, g->lo.request),
                                 hi = dse_cache_steps_of(g->hi.cache, g->hi.workload, g->hi.request);
    bound_score(&lo, &hi, ret);
}

BOX(inexact_score_box)
{
    double less[4], more[4];
    struct dse_arithmetic of_less, of_more;
    ret[0] = ret[1] = range_unknown;
    if (!inexact_ends(a, less, more)) return;
    const struct dse_cache_steps lo = inexact_steps(&g->lo, less, &of_less), hi = inexact_steps(&g->hi, more, &of_more);
    bound_score(&lo, &hi, ret);
}
