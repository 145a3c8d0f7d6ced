/* Intervals (dse/interval.h): what an operation makes of numbers within its arguments is within its result, also at ends, at zero
 * and at infinity; and results are no wider than rounding asks for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dse/interval.h>

static uint64_t seed = 7;
static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

/* Of any size and sign, now and then a whole number or 0. */
static double any(bool positive)
{
    const double kind = uniform(), size = exp((uniform() - 0.5) * 80);
    const double v = kind < 0.1 ? 0 : kind < 0.3 ? floor(uniform() * 9) : size;
    return positive || uniform() < 0.5 ? v : -v;
}

static struct dse_interval draw(bool positive)
{
    const double a = any(positive), b = uniform() < 0.3 ? a : any(positive);
    return dse_iv(fmin(a, b), fmax(a, b));
}

/* A number of it, often an end. */
static double within(struct dse_interval a)
{
    const double kind = uniform();
    return kind < 0.3 ? a.lo : kind < 0.6 ? a.hi : fmin(a.hi, a.lo + uniform() * (a.hi - a.lo));
}

static void assert_in(const char *what, struct dse_interval r, double v)
{
    if (!(r.lo <= v && v <= r.hi)) fail_msg("%s: %.17g is outside of %.17g to %.17g", what, v, r.lo, r.hi);
}

enum { TRIALS = 300000 };
static const double end = (double)INFINITY;

static void interval__operations_hold_what_numbers_give(void **state)
{
    (void)state;
    for (int i = 0; i < TRIALS; i++) {
        const struct dse_interval a = draw(false), b = draw(false), p = draw(true), q = draw(true);
        const double x = within(a), y = within(b), u = within(p), v = within(q);
        assert_in("+", dse_iv_add(a, b), x + y);
        assert_in("-", dse_iv_sub(a, b), x - y);
        assert_in("*", dse_iv_mul(a, b), x * y);
        assert_in("* of positive", dse_iv_mul(p, q), u * v);
        if (y != 0) assert_in("/", dse_iv_div(a, b), x / y);
        if (v != 0) assert_in("/ of positive", dse_iv_div(p, q), u / v);
        if (v != 0 && u / v < 0x1p60 && q.lo > 0) {
            assert_in("ceil", dse_iv_ceil_div(p, q), ceil(u / v));
            assert_in("floor", dse_iv_floor_div(p, q), floor(u / v));
        }
        assert_in("min", dse_iv_min(a, b), fmin(x, y));
        assert_in("max", dse_iv_max(a, b), fmax(x, y));
        assert_in("abs", dse_iv_abs(a), fabs(x));
        assert_in("sqrt", dse_iv_sqrt(p), sqrt(u));
        if (p.lo > 0) assert_in("log", dse_iv_log(p), log(u));
        if (p.lo > 0 && p.hi < 1e6) assert_in("pow", dse_iv_pow(p, 1.76), pow(u, 1.76));
        if (p.lo > 0 && p.lo > 1e-6) assert_in("falling pow", dse_iv_pow(p, -2.5), pow(u, -2.5));
        assert_in("hull", dse_iv_hull(a, b), x);
        if (dse_iv_contains(a, y)) assert_in("both", dse_iv_both(a, b), y);
    }
}

/* One operation of points is off by a few units in the last place at most, and rounds outward by one at least. */
static void interval__rounds_outward_by_little(void **state)
{
    (void)state;
    for (int i = 0; i < TRIALS; i++) {
        const double x = any(false), y = any(false);
        const struct dse_interval r = dse_iv_mul(dse_iv_of(x), dse_iv_of(y));
        assert_true(r.hi - r.lo <= 8 * 0x1p-52 * fabs(x * y));
        if (x * y != 0) assert_true(r.lo < x * y && x * y < r.hi);
        if (x != 0) assert_true(dse_below(x, 1) <= nextafter(x, -end) && dse_above(x, 1) >= nextafter(x, end));
    }
    assert_true(dse_below(0, 4) == 0 && dse_above(0, 4) == 0);
    assert_true(dse_below(end, 4) == end && dse_above(-end, 4) == -end);
    assert_true(dse_iv_is_point(dse_iv_mul(dse_iv_of(0), dse_unbounded)));
}

/* What is not known stays so, and never becomes no number. */
static void interval__of_the_unknown_are_numbers(void **state)
{
    (void)state;
    const struct dse_interval some[] = {dse_unbounded, {0, end}, {3, end}, {-end, -2}, {0, 0}, {-1, 4}, {2, 5}};
    enum { N = sizeof some / sizeof *some };
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const struct dse_interval of[] = {dse_iv_add(some[i], some[j]), dse_iv_sub(some[i], some[j]),
                                              dse_iv_mul(some[i], some[j]), dse_iv_div(some[i], some[j]),
                                              dse_iv_both(some[i], some[j])};
            for (size_t k = 0; k < sizeof of / sizeof *of; k++)
                if (!(of[k].lo <= of[k].hi)) fail_msg("%d, %d, operation %zu: %g to %g", i, j, k, of[k].lo, of[k].hi);
        }
    assert_true(dse_iv_div(dse_iv_of(6), dse_iv(0, 3)).lo <= 2 && dse_iv_div(dse_iv_of(6), dse_iv(0, 3)).lo > 1.99);
}

/* A look-up takes a neighbour of its entry. */
static void interval__tables_hold_what_lies_between_entries(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 4, 8}, y[] = {3, -1, 7, 5};
    for (int i = 0; i < TRIALS / 10; i++) {
        const double p = uniform() * 10, q = uniform() * 10;
        const struct dse_interval r = dse_iv_table(x, y, 4, dse_iv(fmin(p, q), fmax(p, q)));
        const double at = fmin(p, q) + uniform() * fabs(p - q);
        int k = 0;
        while (k < 3 && x[k + 1] <= at) k++;
        assert_in("table", r, y[k]);
        if (k < 3 && at > x[k]) assert_in("table", r, y[k + 1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interval__operations_hold_what_numbers_give),
        cmocka_unit_test(interval__rounds_outward_by_little),
        cmocka_unit_test(interval__of_the_unknown_are_numbers),
        cmocka_unit_test(interval__tables_hold_what_lies_between_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
