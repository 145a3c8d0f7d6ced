#include "graph/range.h"

#include <math.h>

typedef struct graph_range range;

static const double infinite = (double)INFINITY;

/* Is it one number at all points? Then the operation on points says what there is, and nothing is rounded outward. */
static bool is_single(range a)
{
    return !a.none && a.lo == a.hi;
}

static range hull(range a, range b)
{
    return (range){dse_min(a.lo, b.lo), dse_max(a.hi, b.hi), a.none || b.none, a.minus_zero || b.minus_zero};
}

static range truth(bool may_be_true, bool may_be_false)
{
    return (range){may_be_false ? 0 : 1, may_be_true ? 1 : 0, false, false};
}

static bool may_be_infinite(range a)
{
    return a.lo == -infinite || a.hi == infinite;
}

static bool has_zero(range a)
{
    return a.lo <= 0 && a.hi >= 0;
}

/* ---- arithmetic --------------------------------------------------------------------------------------------------------------
 *
 * IEEE's + - * / and square roots keep an order to the last bit, rounding and all: between results at the ends lie those between
 * them. So nothing is rounded outward there. */

static bool may_be_negative(range a)
{
    return a.lo < 0 || (a.minus_zero && has_zero(a));
}

static range sum(range a, range b)
{
    const double lo = a.lo + b.lo, hi = a.hi + b.hi;
    const bool opposite = (a.lo == -infinite && b.hi == infinite) || (a.hi == infinite && b.lo == -infinite);
    return (range){isnan(lo) ? -infinite : lo, isnan(hi) ? infinite : hi, a.none || b.none || opposite,
                   a.minus_zero && b.minus_zero};
}

static range negative(range a)
{
    return (range){-a.hi, -a.lo, a.none, true};
}

/* What a graph leaves out, too, where it is a constant: nothing is rounded outward. */
static bool is_one(range a)
{
    return a.lo == 1 && a.hi == 1 && !a.none;
}

static range product(range a, range b)
{
    if (is_one(b)) return a;
    if (is_one(a)) return b;
    const bool no_number = (has_zero(a) && may_be_infinite(b)) || (has_zero(b) && may_be_infinite(a));
    const double ll = dse_product(a.lo, b.lo), hh = dse_product(a.hi, b.hi);
    range r = {ll, hh, a.none || b.none || no_number, may_be_negative(a) || may_be_negative(b)};
    if (a.lo >= 0 && b.lo >= 0) return r;
    const double lh = dse_product(a.lo, b.hi), hl = dse_product(a.hi, b.lo);
    r.lo = dse_min(dse_min(ll, lh), dse_min(hl, hh));
    r.hi = dse_max(dse_max(ll, lh), dse_max(hl, hh));
    return r;
}

/* a / b, of ends that may be infinite: then `none`. */
static double ratio(double a, double b, double none)
{
    return isinf(a) && isinf(b) ? none : a / b;
}

/* Of a divisor above 0. */
static range over_positive(range a, range b, bool none, bool minus_zero)
{
    return (range){a.lo >= 0 ? ratio(a.lo, b.hi, 0) : ratio(a.lo, b.lo, -infinite),
                   a.hi >= 0 ? ratio(a.hi, b.lo, infinite) : ratio(a.hi, b.hi, 0), none, minus_zero};
}

/* A division by zero is infinite, of the sign of the zero, or no number. */
static range quotient(range a, range b)
{
    if (is_one(b)) return a;
    const bool by_zero = has_zero(b), signs = may_be_negative(a) || may_be_negative(b);
    const bool none = a.none || b.none || (by_zero && has_zero(a)) || (may_be_infinite(a) && may_be_infinite(b));
    if (by_zero && (signs || b.hi == 0)) return (range){-infinite, infinite, none, true};
    if (by_zero) return (range){ratio(a.lo, b.hi, 0), infinite, none, signs}; /* both are at least 0 */
    if (b.lo > 0) return over_positive(a, b, none, signs);
    return over_positive((range){-a.hi, -a.lo}, (range){-b.hi, -b.lo}, none, signs);
}

static range hull_of_powers(range a, range b)
{
    const double p[] = {pow(a.lo, b.lo), pow(a.lo, b.hi), pow(a.hi, b.lo), pow(a.hi, b.hi)};
    range r = {infinite, -infinite, may_be_infinite(a) || may_be_infinite(b), false};
    for (int i = 0; i < 4; i++) {
        if (isnan(p[i])) return range_unknown;
        r.lo = dse_min(r.lo, p[i]);
        r.hi = dse_max(r.hi, p[i]);
    }
    return (range){dse_below(r.lo, 4), dse_above(r.hi, 4), r.none, false};
}

/* Of a positive base it is monotone in both; of another one only whole powers are followed. */
static range power(range a, range b)
{
    if (a.lo > 0 || (a.lo == 0 && !a.minus_zero && b.lo > 0 && !may_be_infinite(a) && !may_be_infinite(b)))
        return hull_of_powers(a, b);
    if (!is_single(b) || !(b.lo >= 0) || b.lo != floor(b.lo) || may_be_infinite(b)) return range_unknown;
    if (b.lo == 0) return range_of(1);
    const bool even = fmod(b.lo, 2) == 0;
    const struct dse_interval base = even ? dse_iv_abs(dse_iv(a.lo, a.hi)) : dse_iv(a.lo, a.hi);
    return (range){dse_below(pow(base.lo, b.lo), 4), dse_above(pow(base.hi, b.lo), 4), false, true};
}

/* ---- comparisons, logic, choices -------------------------------------------------------------------------------------------- */

/* What is no number compares as false, with infinite numbers, too. */
static range less(range a, range b, bool or_equal)
{
    if (range_is_nothing(a) || range_is_nothing(b)) return truth(false, true);
    const bool never = or_equal ? a.lo > b.hi : a.lo >= b.hi, always = or_equal ? a.hi <= b.lo : a.hi < b.lo;
    return truth(!never, !always || a.none || b.none);
}

static range equal(range a, range b)
{
    const bool never = range_is_nothing(a) || range_is_nothing(b) || a.hi < b.lo || b.hi < a.lo;
    return truth(!never, !(is_single(a) && is_single(b) && a.lo == b.lo));
}

static range unequal(range a, range b)
{
    const range e = equal(a, b);
    return truth(e.lo == 0, e.hi == 1);
}

/* What is no number counts as true. */
static bool may_be_true(range a)
{
    return a.none || a.lo != 0 || a.hi != 0;
}

static bool may_be_false(range a)
{
    return has_zero(a);
}

static range choose(range condition, range yes, range no)
{
    if (!may_be_false(condition)) return yes;
    return may_be_true(condition) ? hull(yes, no) : no;
}

/* min(a, b) is the first where one of the two is no number. */
static range smaller(range a, range b, bool larger)
{
    const double lo = larger ? dse_max(a.lo, b.lo) : dse_min(a.lo, b.lo), hi = larger ? dse_max(a.hi, b.hi) : dse_min(a.hi, b.hi);
    const range ordered = {lo, hi, a.none, a.minus_zero || b.minus_zero};
    return range_is_nothing(a) ? a : b.none ? hull(ordered, a) : ordered;
}

/* ---- functions -------------------------------------------------------------------------------------------------------------- */

/* What of it lies in [least, most], where a function has numbers. */
static range within(range a, double least, double most)
{
    const range r = {dse_max(a.lo, least), dse_min(a.hi, most), a.none || a.lo < least || a.hi > most, may_be_negative(a)};
    return range_is_nothing(r) ? range_nothing : r;
}

/* Of a function that grows or falls all over the range; `units`: by how much its values are off. */
static range monotone(enum graph_op op, range a, double units)
{
    if (range_is_nothing(a)) return a;
    const double p = graph_apply(op, a.lo, 0, 0), q = graph_apply(op, a.hi, 0, 0);
    return (range){dse_below(dse_min(p, q), units), dse_above(dse_max(p, q), units), a.none, a.minus_zero || may_be_negative(a)};
}

static range growing(enum graph_op op, range a, double least, double units)
{
    return monotone(op, within(a, least, infinite), units);
}

static range magnitude(range a)
{
    const struct dse_interval m = dse_iv_abs(dse_iv(a.lo, a.hi));
    return (range){m.lo + 0.0, m.hi + 0.0, a.none, false}; /* of -0, too, the magnitude is 0 */
}

static range known(range a)
{
    return truth(!range_is_nothing(a), a.none);
}

static range sign(range a)
{
    const range of_none = range_of(0), r = {(a.lo > 0) - (a.lo < 0), (a.hi > 0) - (a.hi < 0), false, false};
    return range_is_nothing(a) ? of_none : a.none ? hull(r, of_none) : r;
}

static range of_angle(enum graph_op op, range a)
{
    const double half_pi = 1.57; /* and a little less */
    switch (op) {
    case GRAPH_SIN:
    case GRAPH_COS: return (range){-1, 1, a.none || may_be_infinite(a), true};
    case GRAPH_TAN: return a.lo > -half_pi && a.hi < half_pi ? monotone(op, a, 4) : range_unknown;
    case GRAPH_ASIN:
    case GRAPH_ACOS: return monotone(op, within(a, -1, 1), 4);
    case GRAPH_COSH: return monotone(op, magnitude(a), 4);
    case GRAPH_ATAN:
    case GRAPH_SINH:
    case GRAPH_TANH: return monotone(op, a, 4);
    default: return range_unknown;
    }
}

static range function(enum graph_op op, range a)
{
    switch (op) {
    case GRAPH_NEGATE: return negative(a);
    case GRAPH_CEIL:
    case GRAPH_FLOOR:
    case GRAPH_NEAREST:
    case GRAPH_ROUND: return growing(op, a, -infinite, 0);
    case GRAPH_ABS: return magnitude(a);
    case GRAPH_SQRT: return growing(op, a, 0, 0);
    case GRAPH_EXP:
    case GRAPH_EXPM1: return growing(op, a, -infinite, 4);
    case GRAPH_LOG1P: return growing(op, a, -1, 4);
    case GRAPH_LN:
    case GRAPH_LOG2:
    case GRAPH_LOG10: return growing(op, a, 0, 4);
    default: return of_angle(op, a);
    }
}

/* Of operands that have numbers somewhere. */
static range arithmetic(enum graph_op op, range a, range b)
{
    switch (op) {
    case GRAPH_ADD: return sum(a, b);
    case GRAPH_SUB: return sum(a, negative(b));
    case GRAPH_MUL: return product(a, b);
    case GRAPH_DIV: return quotient(a, b);
    case GRAPH_POW: return power(a, b);
    default: return function(op, a);
    }
}

static range logic(enum graph_op op, range a, range b)
{
    switch (op) {
    case GRAPH_LT:
    case GRAPH_LE: return less(a, b, op == GRAPH_LE);
    case GRAPH_EQ: return equal(a, b);
    case GRAPH_NE: return unequal(a, b);
    case GRAPH_AND: return truth(may_be_true(a) && may_be_true(b), may_be_false(a) || may_be_false(b));
    default: return truth(may_be_true(a) || may_be_true(b), may_be_false(a) && may_be_false(b));
    }
}

struct graph_range range_apply(enum graph_op op, struct graph_range a, struct graph_range b, struct graph_range c)
{
    const bool two = op < GRAPH_NEGATE;
    if (op == GRAPH_KNOWN) return known(a);
    if (op == GRAPH_SIGN) return sign(a);
    if (op == GRAPH_CHOOSE) return choose(a, b, c);
    if (range_is_exact(a) && (!two || range_is_exact(b))) return range_of(graph_apply(op, a.lo, b.lo, 0));
    if (op >= GRAPH_LT && op <= GRAPH_OR) return logic(op, a, b);
    if (op == GRAPH_MIN || op == GRAPH_MAX) return smaller(a, b, op == GRAPH_MAX);
    if (op == GRAPH_POW && (a.none || b.none)) return range_unknown; /* 1 to the power of nothing is 1 */
    if (range_is_nothing(a) || (two && range_is_nothing(b))) return range_nothing;
    return arithmetic(op, a, b);
}

/* ---- how it moves ------------------------------------------------------------------------------------------------------------ */

static struct graph_moves both(struct graph_moves a, struct graph_moves b)
{
    return (struct graph_moves){a.up | b.up, a.down | b.down};
}

static struct graph_moves turned(struct graph_moves a)
{
    return (struct graph_moves){a.down, a.up};
}

static struct graph_moves either_way(struct graph_moves a)
{
    return moves_any(moves_all(a));
}

/* Of a factor, where the other one is `by`. */
static struct graph_moves times(struct graph_moves a, const range *by)
{
    return by->lo >= 0 ? a : by->hi <= 0 ? turned(a) : either_way(a);
}

static struct graph_moves moves_of_quotient(const range *a, const range *b)
{
    if (has_zero(*b)) return either_way(both(a->moves, b->moves));
    return both(times(a->moves, b), turned(times(b->moves, a)));
}

/* Of the larger one; of the smaller one with both turned. */
static struct graph_moves moves_of_larger(const range *a, const range *b, double a_least, double a_most, double b_least,
                                          double b_most)
{
    if (b->none) return both(a->moves, b->moves);
    return a_least >= b_most ? a->moves : b_least >= a_most ? b->moves : both(a->moves, b->moves);
}

/* Does it grow as its sides, which are at least 0, get away from 0? */
static struct graph_moves moves_of_logic(const range *a, const range *b)
{
    const struct graph_moves m = both(a->moves, b->moves);
    return a->lo >= 0 && b->lo >= 0 ? m : either_way(m);
}

static struct graph_moves moves_of_choice(const range *condition, const range *yes, const range *no)
{
    if (!may_be_false(*condition)) return yes->moves;
    if (!may_be_true(*condition)) return no->moves;
    return both(either_way(condition->moves), both(yes->moves, no->moves));
}

struct graph_moves moves_of(enum graph_op op, const struct graph_range *a, const struct graph_range *b, const struct graph_range *c,
                            const struct graph_range *r)
{
    const struct graph_moves none = {0, 0};
    if (range_is_exact(*r)) return none;
    const struct graph_moves all = either_way(op == GRAPH_CHOOSE  ? both(a->moves, both(b->moves, c->moves))
                                              : op < GRAPH_NEGATE ? both(a->moves, b->moves)
                                                                  : a->moves);
    if (r->none) return all;
    switch (op) {
    case GRAPH_ADD: return both(a->moves, b->moves);
    case GRAPH_SUB: return both(a->moves, turned(b->moves));
    case GRAPH_MUL: return both(times(a->moves, b), times(b->moves, a));
    case GRAPH_DIV: return moves_of_quotient(a, b);
    case GRAPH_LT:
    case GRAPH_LE: return both(turned(a->moves), b->moves);
    case GRAPH_AND:
    case GRAPH_OR: return moves_of_logic(a, b);
    case GRAPH_MAX: return moves_of_larger(a, b, a->lo, a->hi, b->lo, b->hi);
    case GRAPH_MIN: return moves_of_larger(a, b, -a->hi, -a->lo, -b->hi, -b->lo);
    case GRAPH_NEGATE: return turned(a->moves);
    case GRAPH_CEIL:
    case GRAPH_FLOOR:
    case GRAPH_NEAREST:
    case GRAPH_ROUND:
    case GRAPH_SQRT:
    case GRAPH_SIGN: return a->moves;
    case GRAPH_ABS: return times(a->moves, a);
    case GRAPH_CHOOSE: return moves_of_choice(a, b, c);
    default: return all;
    }
}

struct graph_range range_moved(enum graph_op op, struct graph_range a, struct graph_range b, struct graph_range c)
{
    struct graph_range r = range_apply(op, a, b, c);
    r.moves = moves_any(0);
    if (moves_all(a.moves) | moves_all(b.moves) | moves_all(c.moves)) r.moves = moves_of(op, &a, &b, &c, &r);
    return r;
}
