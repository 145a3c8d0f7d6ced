/* space/expr.h over boxes: at every point of a box an expression has the value that its range holds. */
#include "space/expr.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct params {
    double clock_ghz;
    int64_t tiles;
};
struct metrics {
    double area_mm2, tokens_per_s, usd;
};

static const struct dse_param param_table[] = {
    DSE_PARAM_F64(struct params, clock_ghz, "GHz", 0.1, 10, "clock", ""),
    DSE_PARAM_I64(struct params, tiles, 1, 64, "tiles", ""),
    DSE_PARAM_END,
};
static const struct dse_metric metric_table[] = {
    DSE_METRIC_F64(struct metrics, area_mm2, "mm2", DSE_LESS, "area", ""),
    DSE_METRIC_F64(struct metrics, tokens_per_s, "1/s", DSE_MORE, "speed", ""),
    DSE_METRIC_F64(struct metrics, usd, "", DSE_LESS, "dollars", ""),
    DSE_METRIC_END,
};
enum { USD = 2 };

static struct schema params, metrics;

static int set_up(void **state)
{
    (void)state;
    schema_init_params(&params, param_table);
    schema_init_metrics(&metrics, metric_table, NULL);
    metrics.fields[USD].may_be_null = true;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    schema_release(&params);
    schema_release(&metrics);
    return 0;
}

/* ---- boxes ------------------------------------------------------------------------------------------------------------------- */

static double any(double lo, double hi)
{
    return lo + (hi - lo) * ((double)rand() / RAND_MAX);
}

struct corner {
    struct params p;
    struct metrics m;
};

static void any_pair(double lo, double hi, double *ret_lo, double *ret_hi)
{
    const double a = any(lo, hi), b = rand() % 3 ? any(lo, hi) : a;
    *ret_lo = fmin(a, b);
    *ret_hi = fmax(a, b);
}

static void any_box(struct corner *lo, struct corner *hi)
{
    double a, b;
    any_pair(0.1, 10, &lo->p.clock_ghz, &hi->p.clock_ghz);
    any_pair(1, 64, &a, &b);
    lo->p.tiles = (int64_t)a;
    hi->p.tiles = (int64_t)b;
    any_pair(0, 3, &lo->m.area_mm2, &hi->m.area_mm2);
    any_pair(-2, 2, &lo->m.tokens_per_s, &hi->m.tokens_per_s);
    any_pair(-1, 1e6, &lo->m.usd, &hi->m.usd);
}

static double between(double lo, double hi)
{
    const int at = rand() % 4;
    return at == 0 ? lo : at == 1 ? hi : fmin(hi, fmax(lo, any(lo, hi)));
}

static struct corner any_point(const struct corner *lo, const struct corner *hi)
{
    return (struct corner){{between(lo->p.clock_ghz, hi->p.clock_ghz), lo->p.tiles + rand() % (hi->p.tiles - lo->p.tiles + 1)},
                           {between(lo->m.area_mm2, hi->m.area_mm2), between(lo->m.tokens_per_s, hi->m.tokens_per_s),
                            rand() % 8 ? between(lo->m.usd, hi->m.usd) : (double)NAN}};
}

/* ---- expressions ------------------------------------------------------------------------------------------------------------- */

static const char *const functions[] = {"log",  "ln",    "log2",  "log10", "exp",   "sqrt",  "rint", "sign", "abs",
                                        "sin",  "cos",   "tan",   "asin",  "acos",  "atan",  "sinh", "cosh", "tanh",
                                        "ceil", "floor", "round", "known", "asinh", "acosh", "atanh"};

static void add_any(char *text, int depth)
{
    static const char *const leaves[] = {"clock_ghz", "tiles", "area_mm2", "tokens_per_s", "usd", "0", "1",
                                         "2.5",       "0.5",   "3",        "_pi"};
    static const char *const operators[] = {" + ", "-", "*", "/", "^", " < ", "<=", ">", " >= ", "==", "!=", " && ", "||"};
    static const char *const many[] = {"min", "max", "sum", "avg"};
    const int kind = depth == 0 ? 0 : rand() % 10;
    if (kind < 2) {
        strcat(text, leaves[rand() % (int)(sizeof leaves / sizeof *leaves)]);
    } else if (kind < 7) {
        const bool brackets = rand() % 2;
        if (brackets) strcat(text, "(");
        add_any(text, depth - 1);
        const char *sign = operators[rand() % (int)(sizeof operators / sizeof *operators)];
        strcat(text, sign);
        if (rand() % 6 == 0 && strcmp(sign, "-") != 0 && strcmp(sign, " + ") != 0) strcat(text, "-");
        add_any(text, depth - 1);
        if (brackets) strcat(text, ")");
    } else if (kind == 7) {
        strcat(text, functions[rand() % (int)(sizeof functions / sizeof *functions)]);
        strcat(text, "(");
        add_any(text, depth - 1);
        strcat(text, ")");
    } else if (kind == 8) {
        strcat(text, many[rand() % 4]);
        strcat(text, "(");
        add_any(text, depth - 1);
        strcat(text, ", ");
        add_any(text, depth - 1);
        strcat(text, ")");
    } else {
        strcat(text, "(");
        add_any(text, depth - 1);
        strcat(text, " ? ");
        add_any(text, depth - 1);
        strcat(text, " : ");
        add_any(text, depth - 1);
        strcat(text, ")");
    }
}

static struct expr *compile(const char *text)
{
    struct diags d;
    diags_init(&d);
    struct expr *e = expr_new(text, (struct srcloc){"f.toml", 1, 1}, NULL, &params, &metrics, &d);
    diags_release(&d);
    return e;
}

/* How many values were compared, and how many of the bounds say something. */
static long compared, telling;

static void compare(const struct expr *e, const char *text)
{
    struct corner lo, hi;
    any_box(&lo, &hi);
    const struct graph_range is = expr_range(e, &(struct expr_box){&lo.p, &hi.p, &lo.m, &hi.m});
    for (int i = 0; i < 8; i++) {
        const struct corner at = any_point(&lo, &hi);
        const double v = expr_eval(e, &at.p, &at.m);
        if (isnan(v)) continue;
        compared++;
        telling += isfinite(is.lo) || isfinite(is.hi);
        if (!(is.lo <= v && v <= is.hi))
            fail_msg("%s: %.17g is not in [%.17g, %.17g] at clock %.17g tiles %lld area %.17g tokens %.17g usd %.17g", text, v,
                     is.lo, is.hi, at.p.clock_ghz, (long long)at.p.tiles, at.m.area_mm2, at.m.tokens_per_s, at.m.usd);
    }
}

static void expr_bounds__hold_what_every_point_gives(void **state)
{
    (void)state;
    enum { EXPRESSIONS = 30000, BOXES = 6, LENGTH = 20000 };
    srand(1);
    char *text = malloc(LENGTH);
    for (int i = 0; i < EXPRESSIONS; i++) {
        *text = '\0';
        add_any(text, 1 + rand() % 4);
        struct expr *e = compile(text);
        assert_non_null(e);
        for (int k = 0; k < BOXES; k++) compare(e, text);
        expr_free(e);
    }
    free(text);
    assert_true(compared > (long)EXPRESSIONS * BOXES);
    assert_true(telling > compared / 2);
}

static struct dse_interval bound_of(const char *text)
{
    static const struct params lo = {1, 4}, hi = {2, 8};
    static const struct metrics floor = {10, 100, NAN}, ceiling = {20, 300, NAN};
    struct expr *e = compile(text);
    const struct graph_range r = expr_range(e, &(struct expr_box){&lo, &hi, &floor, &ceiling});
    expr_free(e);
    return dse_iv(r.lo, r.hi);
}

static void assert_near(struct dse_interval is, double lo, double hi)
{
    assert_true(is.lo <= lo && is.lo >= lo - 1e-10 * fabs(lo));
    assert_true(is.hi >= hi && is.hi <= hi + 1e-10 * fabs(hi));
}

static void expr_bounds__are_as_narrow_as_their_terms(void **state)
{
    (void)state;
    assert_near(bound_of("tokens_per_s / area_mm2"), 5, 30);
    assert_near(bound_of("2 * clock_ghz + tiles"), 6, 12);
    assert_near(bound_of("tiles ^ 2 - 3"), 13, 61);
    assert_near(bound_of("max(tiles, 6) * clock_ghz"), 6, 16);
    assert_near(bound_of("clock_ghz < 3 ? tiles : 1e9"), 4, 8);
    assert_near(bound_of("tokens_per_s / usd"), -INFINITY, INFINITY);
}

static void expr_bounds__tell_when_a_constraint_is_decided(void **state)
{
    (void)state;
    assert_near(bound_of("area_mm2 <= 25 && tiles >= 4"), 1, 1);
    assert_near(bound_of("area_mm2 <= 9.99"), 0, 0);
    assert_near(bound_of("area_mm2 <= 25 && tiles > 8"), 0, 0);
    assert_near(bound_of("area_mm2 <= 15"), 0, 1);
    assert_near(bound_of("area_mm2 <= 10"), 0, 1); /* the bound of the area may be off by rounding */
    assert_near(bound_of("usd <= 10"), 0, 1);
}

static void expr_bounds__know_what_has_no_value_anywhere(void **state)
{
    (void)state;
    struct dse_interval v = bound_of("sqrt(0 - tiles)");
    assert_true(v.lo > v.hi);
    assert_near(bound_of("1 + 2 * sin(clock_ghz)"), -1, 3);
    assert_near(bound_of("tan(clock_ghz)"), -INFINITY, INFINITY);
    assert_near(bound_of("(tiles - 6) ^ 2"), 0, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expr_bounds__hold_what_every_point_gives),
        cmocka_unit_test(expr_bounds__are_as_narrow_as_their_terms),
        cmocka_unit_test(expr_bounds__tell_when_a_constraint_is_decided),
        cmocka_unit_test(expr_bounds__know_what_has_no_value_anywhere),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
