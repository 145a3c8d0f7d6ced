#include "space/expr_value.h"

#include <string.h>

static const struct expr_value zero_or_one = {{0, 1}, false};

struct expr_value expr_value_unknown(void)
{
    return (struct expr_value){dse_unbounded, true};
}

struct expr_value expr_value_of(double x)
{
    return (struct expr_value){dse_iv_of(x), false};
}

static struct expr_value truth(bool is)
{
    return expr_value_of(is ? 1 : 0);
}

static struct expr_value hull(struct expr_value a, struct expr_value b)
{
    return (struct expr_value){dse_iv_hull(a.is, b.is), a.none || b.none};
}

static bool may_be_infinite(struct expr_value a)
{
    return isinf(a.is.lo) || isinf(a.is.hi);
}

/* ---- arithmetic ------------------------------------------------------------------------------------------------------------ */

struct expr_value expr_value_negative(struct expr_value a)
{
    return (struct expr_value){dse_iv_neg(a.is), a.none};
}

/* a + b of an end, in which muParser may have rounded each of them before: widened by what that can be. */
static double end_of_sum(double a, double b, double direction)
{
    const double sum = a + b;
    if (isinf(sum)) return sum;
    return sum + direction * (4 * 0x1p-52 * dse_max(fabs(a), fabs(b)) + 0x1p-1022);
}

struct expr_value expr_value_add(struct expr_value a, struct expr_value b)
{
    const bool opposite = (a.is.lo == -(double)INFINITY && b.is.hi == (double)INFINITY) ||
                          (a.is.hi == (double)INFINITY && b.is.lo == -(double)INFINITY);
    /* -inf + inf of two ends is no number; nothing is known of that end. */
    const double lo = end_of_sum(a.is.lo, b.is.lo, -1), hi = end_of_sum(a.is.hi, b.is.hi, 1);
    return (struct expr_value){dse_iv(isnan(lo) ? -(double)INFINITY : lo, isnan(hi) ? (double)INFINITY : hi),
                               a.none || b.none || opposite};
}

struct expr_value expr_value_sub(struct expr_value a, struct expr_value b)
{
    return expr_value_add(a, expr_value_negative(b));
}

struct expr_value expr_value_mul(struct expr_value a, struct expr_value b)
{
    const bool no_number = (dse_iv_contains(a.is, 0) && may_be_infinite(b)) || (dse_iv_contains(b.is, 0) && may_be_infinite(a));
    const struct dse_interval product = dse_iv_mul(a.is, b.is);
    return (struct expr_value){dse_widened(product.lo, product.hi, 3), a.none || b.none || no_number};
}

struct expr_value expr_value_div(struct expr_value a, struct expr_value b)
{
    if (dse_iv_contains(b.is, 0)) return expr_value_unknown();
    const struct dse_interval quotient = dse_iv_div(a.is, b.is);
    return (struct expr_value){dse_widened(quotient.lo, quotient.hi, 3),
                               a.none || b.none || (may_be_infinite(a) && may_be_infinite(b))};
}

/* ---- powers ---------------------------------------------------------------------------------------------------------------- */

/* a^b of a > 0: monotone in each of the two, so that its extremes are at corners. */
static struct dse_interval positive_power(struct dse_interval a, struct dse_interval b)
{
    const double p[] = {pow(a.lo, b.lo), pow(a.lo, b.hi), pow(a.hi, b.lo), pow(a.hi, b.hi)};
    struct dse_interval r = dse_iv_of(p[0]);
    for (int i = 1; i < 4; i++) {
        if (isnan(p[i])) return dse_unbounded;
        r = dse_iv_hull(r, dse_iv_of(p[i]));
    }
    return isnan(p[0]) ? dse_unbounded : dse_widened(r.lo, r.hi, 8);
}

/* a^k of a whole k > 0, for any a. */
static struct dse_interval whole_power(struct dse_interval a, double k)
{
    const bool even = fmod(k, 2) == 0;
    const struct dse_interval base = even ? dse_iv_abs(a) : a;
    return dse_widened(pow(base.lo, k), pow(base.hi, k), 8);
}

struct expr_value expr_value_pow(struct expr_value a, struct expr_value b)
{
    if (a.none || b.none) return expr_value_unknown();
    if (a.is.lo > 0) return (struct expr_value){positive_power(a.is, b.is), may_be_infinite(a) || may_be_infinite(b)};
    const bool constant = dse_iv_is_point(b.is) && !may_be_infinite(b);
    if (constant && b.is.lo > 0 && b.is.lo == floor(b.is.lo)) return (struct expr_value){whole_power(a.is, b.is.lo), false};
    if (constant && b.is.lo == 0) return expr_value_of(1);
    if (a.is.lo == 0 && b.is.lo > 0 && !may_be_infinite(a) && !may_be_infinite(b))
        return (struct expr_value){positive_power(a.is, b.is), false};
    return expr_value_unknown();
}

/* ---- comparisons and logic --------------------------------------------------------------------------------------------------- */

struct expr_value expr_value_less(struct expr_value a, struct expr_value b, bool or_equal)
{
    const bool always = or_equal ? a.is.hi <= b.is.lo : a.is.hi < b.is.lo;
    const bool never = or_equal ? a.is.lo > b.is.hi : a.is.lo >= b.is.hi;
    if (never) return truth(false);
    return always && !a.none && !b.none ? truth(true) : zero_or_one;
}

struct expr_value expr_value_equal(struct expr_value a, struct expr_value b, bool negated)
{
    const bool never = a.is.hi < b.is.lo || b.is.hi < a.is.lo;
    const bool always = !a.none && !b.none && dse_iv_is_point(a.is) && dse_iv_is_point(b.is) && a.is.lo == b.is.lo;
    if (never) return truth(negated);
    return always ? truth(!negated) : zero_or_one;
}

/* What is no number counts as true. */
static bool always_true(struct expr_value a)
{
    return !dse_iv_contains(a.is, 0);
}

static bool always_false(struct expr_value a)
{
    return !a.none && a.is.lo == 0 && a.is.hi == 0;
}

/* muParser takes the whole parts of two constants, which a number strictly between -1 and 1 has none of. */
static bool is_vague(struct expr_value a)
{
    return a.is.lo > -1 && a.is.hi < 1 && !always_false(a);
}

struct expr_value expr_value_and(struct expr_value a, struct expr_value b)
{
    if (always_false(a) || always_false(b)) return truth(false);
    return always_true(a) && always_true(b) && !is_vague(a) && !is_vague(b) ? truth(true) : zero_or_one;
}

struct expr_value expr_value_or(struct expr_value a, struct expr_value b)
{
    if (always_false(a) && always_false(b)) return truth(false);
    const bool one = (always_true(a) && !is_vague(a)) || (always_true(b) && !is_vague(b));
    return one ? truth(true) : zero_or_one;
}

struct expr_value expr_value_choose(struct expr_value condition, struct expr_value then, struct expr_value other)
{
    if (always_true(condition)) return then;
    return always_false(condition) ? other : hull(then, other);
}

/* ---- functions --------------------------------------------------------------------------------------------------------------- */

/* Of a function that grows and has values from `least` on; `units` of rounding, none where its values are exact. */
static struct expr_value growing(struct expr_value a, double (*f)(double), double least, double units)
{
    if (a.is.hi < least) return expr_value_unknown();
    const bool outside = a.is.lo < least;
    const double lo = f(dse_max(a.is.lo, least)), hi = f(a.is.hi);
    return (struct expr_value){dse_widened(lo, hi, units), a.none || outside};
}

static double nearest(double x)
{
    return floor(x + 0.5);
}

static double log_to_2(double x)
{
    return log(x) / log(2);
}

static struct expr_value of_log(const struct expr_value *a, int n)
{
    (void)n;
    return growing(*a, log, 0, 8);
}

static struct expr_value of_log2(const struct expr_value *a, int n)
{
    (void)n;
    return growing(*a, log_to_2, 0, 8);
}

static struct expr_value of_log10(const struct expr_value *a, int n)
{
    (void)n;
    return growing(*a, log10, 0, 8);
}

static struct expr_value of_exp(const struct expr_value *a, int n)
{
    (void)n;
    struct expr_value r = growing(*a, exp, -(double)INFINITY, 8);
    r.is.lo = dse_max(r.is.lo, 0);
    return r;
}

static struct expr_value of_sqrt(const struct expr_value *a, int n)
{
    (void)n;
    return growing(*a, sqrt, 0, 4);
}

static struct expr_value of_rint(const struct expr_value *a, int n)
{
    (void)n;
    return growing(*a, nearest, -(double)INFINITY, 0);
}

/* muParser's sign of what is no number is 0. */
static struct expr_value of_sign(const struct expr_value *a, int n)
{
    (void)n;
    struct dse_interval r = {(a->is.lo > 0) - (a->is.lo < 0), (a->is.hi > 0) - (a->is.hi < 0)};
    return (struct expr_value){a->none ? dse_iv_hull(r, dse_iv_of(0)) : r, false};
}

static struct expr_value of_abs(const struct expr_value *a, int n)
{
    (void)n;
    return (struct expr_value){dse_iv_abs(a->is), a->none};
}

/* muParser's min and max give one of the two where one is no number. */
static struct expr_value fold(const struct expr_value *a, int n, struct dse_interval (*f)(struct dse_interval, struct dse_interval))
{
    struct expr_value r = a[0], all = a[0];
    for (int i = 1; i < n; i++) {
        r.is = f(r.is, a[i].is);
        all = hull(all, a[i]);
    }
    return all.none ? all : r;
}

static struct expr_value of_min(const struct expr_value *a, int n)
{
    return fold(a, n, dse_iv_min);
}

static struct expr_value of_max(const struct expr_value *a, int n)
{
    return fold(a, n, dse_iv_max);
}

static struct expr_value of_sum(const struct expr_value *a, int n)
{
    struct expr_value r = expr_value_of(0);
    for (int i = 0; i < n; i++) r = expr_value_add(r, a[i]);
    return r;
}

static struct expr_value of_avg(const struct expr_value *a, int n)
{
    return expr_value_div(of_sum(a, n), expr_value_of(n));
}

const struct expr_function *expr_function_find(const char *name, size_t n)
{
    static const struct expr_function functions[] = {
        {"log", 1, of_log},   {"ln", 1, of_log},    {"log2", 1, of_log2}, {"log10", 1, of_log10}, {"exp", 1, of_exp},
        {"sqrt", 1, of_sqrt}, {"rint", 1, of_rint}, {"sign", 1, of_sign}, {"abs", 1, of_abs},     {"min", 0, of_min},
        {"max", 0, of_max},   {"sum", 0, of_sum},   {"avg", 0, of_avg},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i].name) == n && strncmp(functions[i].name, name, n) == 0) return &functions[i];
    return NULL;
}
