#include "base/text.h"
#include "figure/axis.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char column_name[] = "area_mm2";

static struct column_spec spec_of(enum scale scale)
{
    return (struct column_spec){.column = column_name, .scale = scale, .min = NAN, .max = NAN};
}

/* The value that a tick's text says, on a plain axis: commas dropped, a minus sign of type turned into one of ASCII. */
static double value_of(const char *text)
{
    char plain[AXIS_TEXT_MAX + 4];
    size_t n = 0;
    if (strncmp(text, "\u2212", 3) == 0) {
        plain[n++] = '-';
        text += 3;
    }
    for (; *text; text++)
        if (*text != ',') plain[n++] = *text;
    plain[n] = '\0';
    double v = NAN;
    if (!text_parse_f64(plain, &v)) fail_msg("the tick text \"%s\" is no number", plain);
    return v;
}

static size_t count_labelled(const struct axis *a)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++) n += a->tick[i].text[0] != '\0';
    return n;
}

static const struct tick *find_tick(const struct axis *a, const char *text)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->tick[i].text, text) == 0) return &a->tick[i];
    return NULL;
}

static void check_axis(enum scale scale, double low, double high)
{
    struct column_spec spec = spec_of(scale);
    struct axis a;
    axis_fit(&a, &spec, axis_scale(scale, low), axis_scale(scale, high), 6);
    assert_true(a.low < a.high);
    assert_true(axis_scale(scale, low) >= a.low && axis_scale(scale, high) <= a.high);
    size_t labelled = count_labelled(&a);
    if (labelled < 2 || labelled > 16) fail_msg("%zu labelled ticks from %g to %g, scale %d", labelled, low, high, (int)scale);
    for (size_t i = 0; i < a.n; i++) {
        assert_true(a.tick[i].at >= 0 && a.tick[i].at <= 1);
        const char *text = a.tick[i].text;
        bool power = strstr(text, "×") || strstr(text, "\xC2") || strstr(text, "\xE2\x81"); /* "2×10⁶": not written out */
        if (!text[0] || power) continue;
        double shown = value_of(text) * pow(1000, a.thousands);
        double there = axis_unscale(scale, a.low + a.tick[i].at * (a.high - a.low));
        double span = axis_unscale(scale, a.high) - axis_unscale(scale, a.low);
        if (!(fabs(shown - there) <= 1e-6 * span)) fail_msg("the tick \"%s\" stands at %.17g", text, there);
    }
    axis_release(&a);
}

static void axis__has_ticks_that_say_where_they_stand(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 3000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double low = pow(10, (double)(seed >> 40) * 0x1p-24 * 24 - 12);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double ratio = pow(10, pow((double)(seed >> 40) * 0x1p-24, 3) * 10);
        double high = low * (1.001 + (ratio - 1));
        check_axis(SCALE_LINEAR, low, high);
        check_axis(SCALE_LINEAR, -low, high);
        check_axis(SCALE_LINEAR, -high, -low);
        check_axis(SCALE_LOG, low, high);
        check_axis(SCALE_LOG2, low, high);
    }
}

static void axis__shows_a_single_value_in_the_middle(void **state)
{
    (void)state;
    for (int scale = SCALE_LINEAR; scale <= SCALE_LOG2; scale++) {
        check_axis((enum scale)scale, 42, 42);
        check_axis((enum scale)scale, 1e-9, 1e-9);
        check_axis((enum scale)scale, 7e11, 7e11);
    }
    check_axis(SCALE_LINEAR, 0, 0);
    check_axis(SCALE_LINEAR, -5, -5);
    check_axis(SCALE_LINEAR, 1e299, 1e299);
}

/* The smallest number that there is, the largest, and both; and limits in a file that leave no room. */
static void axis__bears_the_ends_of_all_numbers(void **state)
{
    (void)state;
    static const double ends[] = {0, 5e-324, 1e-310, DBL_MIN, 1e-300, 1, 1e300, DBL_MAX};
    enum { N = sizeof ends / sizeof *ends };
    for (int scale = SCALE_LINEAR; scale <= SCALE_LOG2; scale++)
        for (int i = 0; i < 4 * N * N; i++) {
            const double sign = i / (N * N) % 2 && scale == SCALE_LINEAR ? -1 : 1, low = sign * ends[i / N % N], high = ends[i % N];
            if (low > high || (scale != SCALE_LINEAR && low <= 0)) continue;
            struct column_spec spec = spec_of((enum scale)scale);
            if (i >= 2 * N * N && low < high) spec.min = low, spec.max = high;
            struct axis a;
            axis_fit(&a, &spec, axis_scale((enum scale)scale, low), axis_scale((enum scale)scale, high), 6);
            if (!(a.low < a.high)) fail_msg("an axis from %g to %g, scale %d", a.low, a.high, scale);
            for (size_t k = 0; k < a.n; k++) assert_true(a.tick[k].at >= 0 && a.tick[k].at <= 1);
            axis_release(&a);
        }
}

static void axis__starts_at_zero_when_values_come_near_it(void **state)
{
    (void)state;
    struct column_spec spec = spec_of(SCALE_LINEAR);
    struct axis a;
    axis_fit(&a, &spec, 10, 100, 5);
    assert_true(a.low == 0);
    axis_release(&a);
    axis_fit(&a, &spec, 90, 100, 5);
    assert_true(a.low > 80 && a.low < 90);
    axis_release(&a);
}

static void axis__keeps_to_the_limits_of_the_file(void **state)
{
    (void)state;
    struct column_spec spec = spec_of(SCALE_LINEAR);
    struct axis a;
    spec.min = 20;
    spec.max = 50;
    axis_fit(&a, &spec, 0, 100, 5);
    assert_true(a.low == 20 && a.high == 50);
    axis_release(&a);
    spec.max = NAN; /* all data below the lower limit: still an axis */
    axis_fit(&a, &spec, 0, 10, 5);
    assert_true(a.low == 20 && a.high > 20);
    axis_release(&a);
}

static void axis__writes_powers_as_people_do(void **state)
{
    (void)state;
    struct axis a;
    struct column_spec spec = spec_of(SCALE_LOG);
    axis_fit(&a, &spec, 0, 4, 6);
    assert_non_null(find_tick(&a, "1"));
    assert_non_null(find_tick(&a, "1000"));
    assert_non_null(find_tick(&a, "10,000"));
    axis_release(&a);
    axis_fit(&a, &spec, 2, 9, 10);
    assert_non_null(find_tick(&a, "10⁹"));
    assert_null(find_tick(&a, "100"));
    axis_release(&a);
    axis_fit(&a, &spec, -5, -1, 6);
    assert_non_null(find_tick(&a, "10⁻⁵"));
    axis_release(&a);
    spec.scale = SCALE_LOG2;
    axis_fit(&a, &spec, 6, 14, 9);
    assert_non_null(find_tick(&a, "64"));
    assert_non_null(find_tick(&a, "16,384"));
    axis_release(&a);
}

static void check_label(const char *column, const char *label, const char *unit, double high, const char *expected)
{
    char name[64], own[64];
    strcpy(name, column);
    struct column_spec spec = {.column = name, .min = NAN, .max = NAN};
    if (label) spec.label = strcpy(own, label);
    struct axis a;
    axis_fit(&a, &spec, 0, high, 5);
    axis_set_label(&a, &spec, unit);
    assert_string_equal(a.label, expected);
    axis_release(&a);
}

static void axis__labels_a_column_with_its_unit(void **state)
{
    (void)state;
    check_label("area_mm2", NULL, "mm2", 100, "Area [mm²]");
    check_label("bandwidth_gbs", NULL, "GB/s", 100, "Bandwidth [GB/s]");
    check_label("attention_us", NULL, "us", 100, "Attention [µs]");
    check_label("tokens_per_s", NULL, "tokens/s", 100, "tokens/s");
    check_label("tokens_per_s", NULL, "1/s", 100, "Tokens [1/s]");
    check_label("dram_pj_per_bit", NULL, "pJ/bit", 100, "Dram [pJ/bit]");
    check_label("weight_bits", NULL, "bit", 100, "Weight [bit]");
    check_label("tiles", NULL, "", 100, "Tiles");
    check_label("of_its_own", NULL, NULL, 100, "Of its own");
    check_label("tiles", "Tiles sharing the HBM", "", 100, "Tiles sharing the HBM");
}

static void axis__tells_of_thousands_in_its_label(void **state)
{
    (void)state;
    check_label("x", "Throughput [tokens/s]", "", 5e6, "Throughput [10⁶ tokens/s]");
    check_label("x", "Operations", "", 5e9, "Operations (10⁹)");
    check_label("energy_mj", NULL, "mJ", 4e-5, "Energy [10⁻⁶ mJ]");
    check_label("x", "Throughput [tokens/s]", "", 5e5, "Throughput [tokens/s]");
}

static void axis__does_not_depend_on_the_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) skip();
    struct axis a;
    struct column_spec spec = spec_of(SCALE_LINEAR);
    axis_fit(&a, &spec, 0.5, 2.5, 5);
    const struct tick *t = find_tick(&a, "1.5");
    setlocale(LC_ALL, "C");
    assert_non_null(t);
    axis_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axis__has_ticks_that_say_where_they_stand),
        cmocka_unit_test(axis__shows_a_single_value_in_the_middle),
        cmocka_unit_test(axis__bears_the_ends_of_all_numbers),
        cmocka_unit_test(axis__starts_at_zero_when_values_come_near_it),
        cmocka_unit_test(axis__keeps_to_the_limits_of_the_file),
        cmocka_unit_test(axis__writes_powers_as_people_do),
        cmocka_unit_test(axis__labels_a_column_with_its_unit),
        cmocka_unit_test(axis__tells_of_thousands_in_its_label),
        cmocka_unit_test(axis__does_not_depend_on_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
