/* Bounds of exchanges over a box: dse/interconnect.h. */
#include "hw/interconnect_ways.h"

#include <dse/bound.h>

/* The links of a box at which an exchange is fastest and slowest: seconds fall with rates and grow with waits (I1 to I7). */
static void fastest_and_slowest(const struct dse_links *lo, const struct dse_links *hi, struct dse_links *ret_fast,
                                struct dse_links *ret_slow)
{
    *ret_fast = *lo;
    *ret_slow = *hi;
    ret_fast->link_gbs = hi->link_gbs;
    ret_fast->link_share = hi->link_share;
    ret_fast->link_reduce_share = hi->link_reduce_share;
    ret_slow->link_gbs = lo->link_gbs;
    ret_slow->link_share = lo->link_share;
    ret_slow->link_reduce_share = lo->link_reduce_share;
}

static struct dse_interval exact_or_widened(double lo, double hi)
{
    const double units = 8; /* of some ten operations */
    return lo == hi ? dse_iv_of(lo) : dse_widened(lo, hi, units);
}

/* Devices, stride and island are single values. Bytes grow with those asked for, way by way; which way is taken is not known
 * but where only one is allowed: those of the fast end are all. */
static void bound_group(const struct dse_links *fast, const struct dse_links *slow, const struct dse_exchange *x_lo,
                        const struct dse_exchange *x_hi, struct dse_exchange_bound *ret)
{
    struct dse_exchange_cost least, most;
    dse_exchange_at(fast, x_lo, &least);
    dse_exchange_at(slow, x_hi, &most);
    ret->seconds = exact_or_widened(least.seconds, most.seconds);
    ret->bytes = dse_iv(least.bytes, most.bytes);
    ret->joules = dse_iv(least.joules, most.joules);
    if (x_hi->devices <= 1 || least.seconds == most.seconds) return;
    const struct group g = group_of(x_hi, (double)fast->linked_devices);
    enum way ways[WAYS];
    const int n = ways_of(fast, x_hi, &g, ways);
    for (int i = 0; i < n; i++) {
        struct dse_exchange_plan plan;
        plan_by(fast, x_lo, &g, ways[i], &plan); /* fast has the least energy a bit, slow the most */
        const double bytes = x_lo->bytes > 0 ? plan_bytes(&plan, false) + plan_bytes(&plan, true) : 0;
        ret->bytes.lo = dse_min(ret->bytes.lo, bytes);
        ret->joules.lo = dse_min(ret->joules.lo, x_lo->bytes > 0 ? plan_joules(fast, &plan) : 0);
        plan_by(slow, x_hi, &g, ways[i], &plan);
        ret->bytes.hi = dse_max(ret->bytes.hi, plan_bytes(&plan, false) + plan_bytes(&plan, true));
        ret->joules.hi = dse_max(ret->joules.hi, plan_joules(slow, &plan));
    }
    ret->bytes = exact_or_widened(ret->bytes.lo, ret->bytes.hi);
    ret->joules = exact_or_widened(ret->joules.lo, ret->joules.hi);
}

static void include(struct dse_exchange_bound *all, const struct dse_exchange_bound *one, bool first)
{
    all->seconds = first ? one->seconds : dse_iv_hull(all->seconds, one->seconds);
    all->bytes = first ? one->bytes : dse_iv_hull(all->bytes, one->bytes);
    all->joules = first ? one->joules : dse_iv_hull(all->joules, one->joules);
}

void dse_exchange_bound(const struct dse_links *lo, const struct dse_links *hi, const struct dse_exchange *x_lo,
                        const struct dse_exchange *x_hi, struct dse_exchange_bound *ret)
{
    struct dse_links fast, slow;
    fastest_and_slowest(lo, hi, &fast, &slow);
    struct dse_exchange a = *x_lo, b = *x_hi;
    const double tried = (x_hi->devices - x_lo->devices + 1) * (x_hi->stride - x_lo->stride + 1) *
                         (double)(hi->linked_devices - lo->linked_devices + 1);
    if (tried > DSE_EXCHANGE_TRIED) {
        const struct dse_interval unknown = {0, (double)INFINITY};
        *ret = (struct dse_exchange_bound){unknown, unknown, unknown};
        return;
    }
    bool first = true;
    for (int64_t linked = lo->linked_devices; linked <= hi->linked_devices; linked++)
        for (int64_t more = 0; more <= (int64_t)(x_hi->devices - x_lo->devices); more++)
            for (int64_t apart = 0; apart <= (int64_t)(x_hi->stride - x_lo->stride); apart++) {
                struct dse_exchange_bound one;
                fast.linked_devices = slow.linked_devices = linked;
                a.devices = b.devices = x_lo->devices + (double)more;
                a.stride = b.stride = x_lo->stride + (double)apart;
                bound_group(&fast, &slow, &a, &b, &one);
                include(ret, &one, first);
                first = false;
            }
}
