/* Intervals: a floor and a ceiling of a quantity over a box of design points. A model's bound() (model.h) is its closed form
 * written with these, term by term, and tightened where a quantity appears twice.
 *
 * Every function is sound: if the arguments lie in the intervals, the result of the same double-precision operation lies in what is
 * returned. Results are rounded outward: by one unit in the last place after + - * / sqrt, which IEEE 754 rounds correctly, by four
 * after functions of the mathematical library. min, max, floor, ceil and hulls are exact. Ends are ordered (lo <= hi) and never
 * NaN; an end that is not known is infinite, and dse_unbounded is the interval of which nothing is known. 0 times infinity is 0
 * here: the product of a quantity that is zero with one that is finite but unknown.
 *
 * Pure, without branches on anything but numbers, inline: a bound is computed hundreds of thousands of times a second. */
#ifndef DSE_INTERVAL_H
#define DSE_INTERVAL_H

#include <dse/num.h>
#include <math.h>
#include <stdbool.h>

struct dse_interval {
    double lo, hi;
};

static const struct dse_interval dse_unbounded = {-(double)INFINITY, (double)INFINITY};

/* ---- rounding outward ---------------------------------------------------------------------------------------------------- */

/* 2^-52 of a number is one to two units in its last place. 0 stays 0, so that what is nothing everywhere is nothing, and no number
 * below the normal ones comes up, which processors take a hundred times as long for: that a product underflows is not foreseen
 * (no quantity is below 2^-970). */
static inline double dse_below(double x, double units)
{
    const double ulp = 0x1p-52;
    return x * (x < 0 ? 1 + units * ulp : 1 - units * ulp);
}

static inline double dse_above(double x, double units)
{
    return -dse_below(-x, units);
}

static inline struct dse_interval dse_widened(double lo, double hi, double units)
{
    return (struct dse_interval){dse_below(lo, units), dse_above(hi, units)};
}

/* ---- making -------------------------------------------------------------------------------------------------------------- */

static inline struct dse_interval dse_iv(double lo, double hi)
{
    return (struct dse_interval){lo, hi};
}

/* A constant. */
static inline struct dse_interval dse_iv_of(double x)
{
    return (struct dse_interval){x, x};
}

static inline bool dse_iv_is_point(struct dse_interval a)
{
    return a.lo == a.hi;
}

static inline bool dse_iv_contains(struct dse_interval a, double x)
{
    return a.lo <= x && x <= a.hi;
}

/* The smallest interval around both. */
static inline struct dse_interval dse_iv_hull(struct dse_interval a, struct dse_interval b)
{
    return (struct dse_interval){dse_min(a.lo, b.lo), dse_max(a.hi, b.hi)};
}

/* What is known from two bounds of the same quantity. Of two that exclude each other, which is a bug of theirs, the hull. */
static inline struct dse_interval dse_iv_both(struct dse_interval a, struct dse_interval b)
{
    struct dse_interval r = {dse_max(a.lo, b.lo), dse_min(a.hi, b.hi)};
    return r.lo <= r.hi ? r : dse_iv_hull(a, b);
}

/* ---- arithmetic ---------------------------------------------------------------------------------------------------------- */

static inline struct dse_interval dse_iv_neg(struct dse_interval a)
{
    return (struct dse_interval){-a.hi, -a.lo};
}

static inline struct dse_interval dse_iv_add(struct dse_interval a, struct dse_interval b)
{
    return dse_widened(a.lo + b.lo, a.hi + b.hi, 1);
}

static inline struct dse_interval dse_iv_sub(struct dse_interval a, struct dse_interval b)
{
    return dse_widened(a.lo - b.hi, a.hi - b.lo, 1);
}

static inline double dse_product(double a, double b)
{
    const double ab = a * b;
    return ab == ab ? ab : 0; /* ends are no NaN */
}

static inline struct dse_interval dse_iv_mul(struct dse_interval a, struct dse_interval b)
{
    if (a.lo >= 0 && b.lo >= 0) return dse_widened(dse_product(a.lo, b.lo), dse_product(a.hi, b.hi), 1);
    const double ll = dse_product(a.lo, b.lo), lh = dse_product(a.lo, b.hi), hl = dse_product(a.hi, b.lo),
                 hh = dse_product(a.hi, b.hi);
    return dse_widened(dse_min(dse_min(ll, lh), dse_min(hl, hh)), dse_max(dse_max(ll, lh), dse_max(hl, hh)), 1);
}

/* a * k, of a constant. */
static inline struct dse_interval dse_iv_scale(struct dse_interval a, double k)
{
    return dse_iv_mul(a, dse_iv_of(k));
}

/* Unbounded where the divisor may be zero, except that x / [0, b] of x >= 0 is at least x / b. */
static inline struct dse_interval dse_iv_div(struct dse_interval a, struct dse_interval b)
{
    if (b.lo > 0 && a.lo >= 0 && b.hi < (double)INFINITY) return dse_widened(a.lo / b.hi, a.hi / b.lo, 1);
    if (b.lo > 0 && a.lo >= 0) return dse_widened(0, isinf(a.hi) ? a.hi : a.hi / b.lo, 1);
    if (b.lo == 0 && b.hi > 0 && a.lo >= 0)
        return (struct dse_interval){isinf(b.hi) ? 0 : dse_below(a.lo / b.hi, 1), (double)INFINITY};
    if (b.lo <= 0 && b.hi >= 0) return dse_unbounded;
    const struct dse_interval inverse = dse_widened(1 / b.hi, 1 / b.lo, 1);
    return dse_iv_mul(a, inverse);
}

/* 1 / a. */
static inline struct dse_interval dse_iv_inv(struct dse_interval a)
{
    return dse_iv_div(dse_iv_of(1), a);
}

static inline struct dse_interval dse_iv_min(struct dse_interval a, struct dse_interval b)
{
    return (struct dse_interval){dse_min(a.lo, b.lo), dse_min(a.hi, b.hi)};
}

static inline struct dse_interval dse_iv_max(struct dse_interval a, struct dse_interval b)
{
    return (struct dse_interval){dse_max(a.lo, b.lo), dse_max(a.hi, b.hi)};
}

static inline struct dse_interval dse_iv_clamp(struct dse_interval a, double least, double most)
{
    return (struct dse_interval){dse_clamp(a.lo, least, most), dse_clamp(a.hi, least, most)};
}

static inline struct dse_interval dse_iv_abs(struct dse_interval a)
{
    if (a.lo >= 0) return a;
    if (a.hi <= 0) return dse_iv_neg(a);
    return (struct dse_interval){0, dse_max(-a.lo, a.hi)};
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

/* As dse_floor and dse_ceil, of intervals that are not below 0; infinite ends stay. An end that rounding outward has moved across
 * a whole number costs one: use what is known to be whole as such. */
static inline struct dse_interval dse_iv_floor(struct dse_interval a)
{
    return (struct dse_interval){floor(a.lo), floor(a.hi)};
}

static inline struct dse_interval dse_iv_ceil(struct dse_interval a)
{
    return (struct dse_interval){ceil(a.lo), ceil(a.hi)};
}

/* ceil(a / b) of points is that of the numbers, not of ends that rounding has moved: tight where a and b are single values or
 * the quotient's ends are. a.lo >= 0, b.lo > 0. */
static inline struct dse_interval dse_iv_ceil_div(struct dse_interval a, struct dse_interval b)
{
    return (struct dse_interval){isinf(b.hi) ? 0 : ceil(a.lo / b.hi), ceil(a.hi / b.lo)};
}

static inline struct dse_interval dse_iv_floor_div(struct dse_interval a, struct dse_interval b)
{
    return (struct dse_interval){isinf(b.hi) ? 0 : floor(a.lo / b.hi), floor(a.hi / b.lo)};
}

/* ---- functions ----------------------------------------------------------------------------------------------------------- */

/* Of a function that grows (or, falling, shrinks) all over the interval, from its values at the ends. */
static inline struct dse_interval dse_iv_growing(double at_lo, double at_hi)
{
    return dse_widened(at_lo, at_hi, 4);
}

static inline struct dse_interval dse_iv_falling(double at_lo, double at_hi)
{
    return dse_widened(at_hi, at_lo, 4);
}

static inline struct dse_interval dse_iv_sqrt(struct dse_interval a) /* a.lo >= 0 */
{
    return dse_widened(sqrt(a.lo), sqrt(a.hi), 1);
}

static inline struct dse_interval dse_iv_exp(struct dse_interval a)
{
    return dse_iv_growing(exp(a.lo), exp(a.hi));
}

static inline struct dse_interval dse_iv_log(struct dse_interval a) /* a.lo > 0 */
{
    return dse_iv_growing(log(a.lo), log(a.hi));
}

/* a^k of a constant exponent, a.lo > 0, or a.lo >= 0 and k > 0. */
static inline struct dse_interval dse_iv_pow(struct dse_interval a, double k)
{
    return k >= 0 ? dse_iv_growing(pow(a.lo, k), pow(a.hi, k)) : dse_iv_falling(pow(a.lo, k), pow(a.hi, k));
}

/* ---- a table ------------------------------------------------------------------------------------------------------------- */

/* The hull of y[i] over the entries whose x[i], ascending, enclose the interval: a look-up that takes any of an entry's two
 * neighbours, or a law between them that stays between their values, lies in it. Ends beyond the table take its ends. n >= 1. */
static inline struct dse_interval dse_iv_table(const double *x, const double *y, int n, struct dse_interval a)
{
    int first = 0, last = n - 1;
    while (first + 1 < n && x[first + 1] <= a.lo) first++;
    while (last > 0 && x[last - 1] >= a.hi) last--;
    struct dse_interval r = dse_iv_of(y[first]);
    for (int i = first + 1; i <= last; i++) r = dse_iv_hull(r, dse_iv_of(y[i]));
    return r;
}

#endif
