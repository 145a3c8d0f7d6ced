/* What a number can be over a box of design points.
 *
 * All numbers lie from lo to hi. `none`: there may be points without a number, which compare as false, but for !=, and count as
 * true. Where no point has a number, lo > hi. Infinite numbers are numbers. */
#ifndef DSE_GRAPH_RANGE_H
#define DSE_GRAPH_RANGE_H

#include "graph/graph.h"

#include <dse/interval.h>

/* Along which axes of a lattice (1 << axis, or-ed) a number may grow, and fall, from a place to any later one of the box, while all
 * other axes stand still. Along an axis that is in neither it is the same, also in that it is no number. */
struct graph_moves {
    uint32_t up, down;
};

struct graph_range {
    double lo, hi;
    bool none;
    bool minus_zero;          /* zeros may be negative ones, which turn the sign of what they divide */
    struct graph_moves moves; /* kept by range_moved alone */
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

/* Of an operation: what graph_apply gives at any point. What the mathematical library computes of ranges that are not single
 * numbers is rounded outward. */
struct graph_range range_apply(enum graph_op op, struct graph_range a, struct graph_range b, struct graph_range c);

/* The same, and how the result moves, from how the operands do. IEEE's operations keep an order to the bit; nothing is said so of
 * the mathematical library's, which may then move in both directions. */
struct graph_range range_moved(enum graph_op op, struct graph_range a, struct graph_range b, struct graph_range c);
/* How the result r moves. */
struct graph_moves moves_of(enum graph_op op, const struct graph_range *a, const struct graph_range *b, const struct graph_range *c,
                            const struct graph_range *r);
/* In any direction along these axes. */
static inline struct graph_moves moves_any(uint32_t axes)
{
    return (struct graph_moves){axes, axes};
}
static inline uint32_t moves_all(struct graph_moves m)
{
    return m.up | m.down;
}

#endif
