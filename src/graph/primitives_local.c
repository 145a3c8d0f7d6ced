/* What LAD's decoding keeps and reads: statistics of heads, their loss, heads that read together. */
#include "graph/primitive_internal.h"

#include <string.h>

static struct dse_local_of local_of(const struct groups *g)
{
    return (struct dse_local_of){g->local, g->cache, g->workload};
}

/* Statistics of the mean head at a context: NaN where there are none. */
POINT(local_at)
{
    const struct dse_local_of o = local_of(g);
    struct dse_locality at;
    double cv;
    for (int i = 0; i < 6; i++) ret[i] = (double)NAN;
    if (!(a[0] >= 1 && a[0] <= positions_most) || dse_local_at(&o, a[0], &at, &cv)) return;
    const double numbers[] = {at.centers, at.large, at.active, at.updates, at.hit_ratio, cv};
    memcpy(ret, numbers, sizeof numbers);
}

BOX(local_at_box)
{
    const struct dse_local_of lo = local_of(&g->lo), hi = local_of(&g->hi);
    struct dse_locality_bound b;
    struct dse_interval cv;
    bool all;
    for (int i = 0; i < 6; i++) ret[i] = range_unknown;
    if (!positive(a[0]) || a[0].hi > positions_most) return;
    for (int i = 0; i < 6; i++) ret[i] = range_nothing;
    if (!dse_local_bound(&lo, &hi, iv(a[0]), &b, &cv, &all)) return;
    const struct dse_interval numbers[] = {b.centers, b.large, b.active, b.updates, b.hit_ratio, cv};
    for (int i = 0; i < 6; i++) ret[i] = (struct graph_range){numbers[i].lo, numbers[i].hi, !all, false};
}

POINT(local_works)
{
    NO_ARGUMENTS;
    const struct dse_local_of o = local_of(g);
    ret[0] = dse_local_works(g->local, g->workload);
    ret[1] = !dse_local_unlike(&o);
}

BOX(local_works_box)
{
    NO_ARGUMENTS;
    ret[0] = range_of(dse_local_works(g->lo.local, g->lo.workload));
    ret[1] = (struct graph_range){0, 1, false, false};
}

POINT(local_loss)
{
    NO_ARGUMENTS;
    const struct dse_local_of o = local_of(g);
    struct dse_local_loss loss;
    dse_local_quality(&o, &loss);
    const double numbers[] = {loss.error, loss.error_sd, loss.false_negative, loss.task_score, loss.task_loss};
    memcpy(ret, numbers, sizeof numbers);
}

BOX(local_loss_box)
{
    NO_ARGUMENTS;
    const struct dse_local_of lo = local_of(&g->lo), hi = local_of(&g->hi);
    struct dse_interval b[5];
    dse_local_quality_bound(&lo, &hi, dse_iv_i64(g->lo.workload->context, g->hi.workload->context), b);
    for (int i = 0; i < 5; i++) ret[i] = some_of(b[i]);
}

enum { HEADS_MOST = 4096 };

static bool is_shared(double n, double count, double newest, double heads)
{
    return n >= 1 && n <= positions_most && count >= 0 && newest >= 0 && heads >= 0 && heads <= HEADS_MOST && heads == floor(heads);
}

/* Of a[0] positions, a[1] a head, which are all of them at most, a[2] newest and a[3] heads. */
POINT(shared)
{
    (void)g;
    const bool ok = is_shared(a[0], a[1], a[2], a[3]);
    ret[0] = ok ? dse_local_shared(a[0], dse_min(a[1], a[0]), a[2], (int64_t)a[3]) : (double)NAN;
}

BOX(shared_box)
{
    (void)g;
    bool none = false;
    for (int i = 0; i < 4; i++) none = none || a[i].none;
    ret[0] = range_unknown;
    if (!is_one(&a[3]) || range_is_nothing(a[0]) || range_is_nothing(a[1]) || range_is_nothing(a[2])) return;
    const double count = dse_min(a[1].hi, a[0].hi);
    if (!is_shared(a[0].lo, dse_min(a[1].lo, a[0].lo), a[2].lo, a[3].lo) || !is_shared(a[0].hi, count, a[2].hi, a[3].lo)) return;
    ret[0] = range_iv(dse_local_shared_bound(iv(a[0]), dse_iv(dse_min(a[1].lo, count), count), iv(a[2]), (int64_t)a[3].lo));
    ret[0].none = none;
}
