/* What a number can be over a box of design points.
 *
 * All numbers lie from lo to hi. `none`: there may be points without a number, which compare as false, but for !=, and count as
 * true. Where no point has a number, lo > hi. Infinite numbers are numbers. */
#ifndef DSE_GRAPH_RANGE_H
#define DSE_GRAPH_RANGE_H

#include "graph/graph.h"

#include <dse/interval.h>

struct graph_range {
    double lo, hi;
    bool none;
    bool minus_zero; /* zeros may be negative ones, which turn the sign of what they divide */
};

static const struct graph_range range_unknown = {-(double)INFINITY, (double)INFINITY, true, true};
static const struct graph_range range_nothing = {(double)INFINITY, -(double)INFINITY, true, false};

static inline struct graph_range range_of(double x)
{
    return isnan(x) ? range_nothing : (struct graph_range){x, x, false, x == 0 && signbit(x) != 0};
}

/* Of an interval without points that have no number. */
static inline struct graph_range range_iv(struct dse_interval a)
{
    return (struct graph_range){a.lo, a.hi, false, false};
}

static inline bool range_is_nothing(struct graph_range a)
{
    return a.lo > a.hi;
}

/* Is it one number at all points, to the bit? */
static inline bool range_is_exact(struct graph_range a)
{
    return !a.none && a.lo == a.hi && (a.lo != 0 || !a.minus_zero);
}

/* Of an operation, with outward rounding where a, b and c are not single numbers: what graph_apply gives at any point. */
struct graph_range range_apply(enum graph_op op, struct graph_range a, struct graph_range b, struct graph_range c);

#endif
