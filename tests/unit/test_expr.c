/* space/expr.h: constraints and derived columns. */
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
    int32_t mode;
};
struct metrics {
    double area_mm2, tokens_per_s;
};

static const char *const modes[] = {"eq7", "exact", NULL};
static const struct dse_param param_table[] = {
    DSE_PARAM_F64(struct params, clock_ghz, "GHz", 0.1, 10, "clock", ""),
    DSE_PARAM_I64(struct params, tiles, 1, 64, "tiles", ""),
    DSE_PARAM_ENUM(struct params, mode, modes, "mode", ""),
    DSE_PARAM_END,
};
static const struct dse_metric metric_table[] = {
    DSE_METRIC_F64(struct metrics, area_mm2, "mm2", DSE_LESS, "area", ""),
    DSE_METRIC_F64(struct metrics, tokens_per_s, "1/s", DSE_MORE, "speed", ""),
    DSE_METRIC_END,
};

static struct schema params, metrics;
static const struct params p = {.clock_ghz = 2, .tiles = 6, .mode = 1};
static const struct metrics m = {.area_mm2 = 12, .tokens_per_s = 600};

static int set_up(void **state)
{
    (void)state;
    schema_init_params(&params, param_table);
    schema_init_metrics(&metrics, metric_table, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    schema_release(&params);
    schema_release(&metrics);
    return 0;
}

static double value_of(const char *text)
{
    struct diags d;
    diags_init(&d);
    struct expr *e = expr_new(text, (struct srcloc){"f.toml", 3, 10}, NULL, &params, &metrics, &d);
    if (!e) {
        diags_print(&d, stderr, false);
        fail_msg("\"%s\" was refused", text);
    }
    double v = expr_eval(e, &p, &m);
    expr_free(e);
    diags_release(&d);
    return v;
}

/* The text must be refused at this column of the file (the expression starts at 10), with this in the message or hint. */
static void refused(const char *text, int column, const char *says)
{
    struct diags d;
    diags_init(&d);
    struct expr *e = expr_new(text, (struct srcloc){"f.toml", 3, 10}, NULL, &params, &metrics, &d);
    assert_null(e);
    assert_true(d.n >= 1);
    assert_int_equal(d.list[0].line, 3);
    assert_int_equal(d.list[0].column, column);
    if (!strstr(d.list[0].message, says) && !(d.list[0].hint && strstr(d.list[0].hint, says)))
        fail_msg("\"%s\": \"%s\" is not in \"%s\" (%s)", text, says, d.list[0].message, d.list[0].hint);
    diags_release(&d);
}

static void expr__sees_numeric_parameters_and_metrics(void **state)
{
    (void)state;
    assert_true(value_of("tokens_per_s / area_mm2") == 50);
    assert_true(value_of("area_mm2 <= 25 && tiles >= 4") == 1);
    assert_true(value_of("tiles * clock_ghz > 12 ? 1 : 2") == 2);
    assert_true(value_of("max(tiles, area_mm2)") == 12);
    assert_true(value_of("1e3 + 2.5e-1") == 1000.25);
    assert_true(value_of("tiles != 6") == 0);
    assert_true(value_of("!(tiles == 6) + floor(2.5) + ceil(2.5) + round(2.5) + rint(2.5) + known(0 / 0)") == 10);
    assert_true(value_of("1 < tiles < 3") == 1);
    assert_true(value_of("sum(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) + avg(1, 2)") == 79.5);
    assert_true(value_of("sin(_pi / 2) + ln(_e)") == 2);
    assert_false(signbit(value_of("-1 * (tiles - 6)")));
}

static void expr__what_has_no_value_is_nan(void **state)
{
    (void)state;
    assert_true(isnan(value_of("tiles / (tiles - 6)")));
    assert_true(isnan(value_of("log2(0 - tiles)")));
    assert_true(isnan(value_of("sqrt(tiles - 7)")));
}

static void expr__mistakes_are_refused_at_their_place(void **state)
{
    (void)state;
    refused("aera_mm2 < 4", 10, "area_mm2");
    refused("tiles + aera_mm2", 18, "area_mm2");
    refused("tiles = 4", 16, "cannot assign");
    refused("mode == 1", 10, "not a number");
    refused("tiles <= \"4\"", 10, "strings");
    refused("", 10, "empty");
    refused("   ", 10, "empty");
    refused("tiles <=", 18, "");
    refused("min(1", 15, "");
    refused("1, 2", 10, "2 values");
    refused("voltage * 2", 10, "neither a parameter nor a metric");
    refused("1 + sqr(tiles)", 14, "there is no function sqr()");
    refused("1 + sqr(tiles)", 14, "sqrt");
    refused("min()", 10, "min() takes one argument or more, not 0");
    refused("sqrt(1, tiles)", 10, "sqrt() takes one argument, not 2");
    refused("2 tiles", 12, "an operator is expected");
    refused("2 [B]", 12, "an operator is expected");
    refused("0x10", 10, "a number is expected");
    refused("1e999", 10, "a number is expected");
    refused("tiles.x", 10, "neither a parameter nor a metric");
    refused("sum(for op in linear: 1)", 18, "\")\" is expected");
}

/* n of `open`, a 1, and n of `close`. */
static char *nested(int n, const char *open, const char *close)
{
    char *text = calloc(1, (size_t)n * (strlen(open) + strlen(close)) + 2), *at = text;
    for (int i = 0; i < n; i++) at = stpcpy(at, open);
    at = stpcpy(at, "1");
    for (int i = 0; i < n; i++) at = stpcpy(at, close);
    return text;
}

static void expr__has_limits(void **state)
{
    (void)state;
    char *deep = nested(400, "(", ")"), *deeper = nested(2000, "(", ")"), *wide = nested(4900, "", "+1"),
         *wider = nested(5000, "", "+1");
    assert_true(value_of(deep) == 1);
    assert_true(value_of(wide) == 4901);
    refused(deeper, 510, "an expression that is less deep is expected");
    refused(wider, 10, "the expression has 10,001 characters; at most 10,000");
    free(deep);
    free(deeper);
    free(wide);
    free(wider);
}

static void expr__never_crashes_on_rubbish(void **state)
{
    (void)state;
    static const char alphabet[] = "ti+-*/^()<>=!&|?:,.0e9 \t_$#;'\"max";
    unsigned seed = 7;
    for (int i = 0; i < 20000; i++) {
        char text[24];
        size_t n = 1 + (seed >> 20) % 22;
        for (size_t k = 0; k < n; k++) {
            seed = seed * 1103515245u + 12345u;
            text[k] = alphabet[(seed >> 16) % (sizeof alphabet - 1)];
        }
        text[n] = '\0';
        struct diags d;
        diags_init(&d);
        struct expr *e = expr_new(text, (struct srcloc){"f", 1, 1}, text, &params, &metrics, &d);
        if (e)
            (void)expr_eval(e, &p, &m);
        else
            assert_true(d.errors > 0);
        expr_free(e);
        diags_release(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expr__sees_numeric_parameters_and_metrics),
        cmocka_unit_test(expr__what_has_no_value_is_nan),
        cmocka_unit_test(expr__mistakes_are_refused_at_their_place),
        cmocka_unit_test(expr__has_limits),
        cmocka_unit_test(expr__never_crashes_on_rubbish),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
