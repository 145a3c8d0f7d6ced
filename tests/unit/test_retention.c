/* Retention profiles: exact on their points, monotone between them, silent about what was not measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "quality/retention.h"

#include <dse/bound.h>
#include <math.h>
#include <stdlib.h>

static const struct retention_point points[] = {
    {"voting", 256, 0.125, {0.5, 0.75}},    {"voting", 256, 0.25, {0.75, 0.5}},    {"voting", 256, 0.5, {0.875, 0.25}},
    {"voting", 1024, 0.125, {0.375, 1.25}}, {"voting", 1024, 0.25, {0.625, 0.75}}, {"voting", 1024, 0.5, {0.75, 0.5}},
    {"window", 512, 0.25, {0.25, 0.875}},   {"window", 512, 0.5, {0.5, 0.625}},    {"window", 512, 1, {1, 0}},
};
enum { POINTS = sizeof points / sizeof *points };

static struct dse_retention *make(void)
{
    struct row_fault fault = {0};
    struct dse_retention *r = retention_new("test", "points of the test", points, POINTS, &fault);
    assert_null(fault.why);
    assert_non_null(r);
    return r;
}

static void retention__is_exact_on_its_points(void **state)
{
    (void)state;
    struct dse_retention *r = make();
    for (size_t i = 0; i < POINTS; i++) {
        struct dse_retained at = {0};
        assert_true(dse_retention_at(r, points[i].policy, points[i].context, points[i].ratio, &at));
        assert_true(fabs(at.mass - points[i].at.mass) <= 1e-14 && fabs(at.error - points[i].at.error) <= 1e-14);
    }
    retention_free(r);
}

static void retention__grows_with_the_ratio_and_ends_at_everything(void **state)
{
    (void)state;
    struct dse_retention *r = make();
    for (double context = 256; context <= 1024; context += 64) {
        struct dse_retained before = {0, 2}, at = {0};
        for (double ratio = 0.125; ratio <= 1; ratio += 1.0 / 256) {
            assert_true(dse_retention_at(r, "voting", context, ratio, &at));
            assert_true(at.mass >= before.mass - 1e-14 && at.error <= before.error + 1e-14);
            before = at;
        }
        assert_true(at.mass == 1 && at.error == 0);
    }
    retention_free(r);
}

static void retention__lies_between_the_contexts_measured(void **state)
{
    (void)state;
    struct dse_retention *r = make();
    struct dse_retained at;
    assert_true(dse_retention_at(r, "voting", 512, 0.25, &at)); /* halfway over the logarithm */
    assert_true(fabs(at.mass - 0.6875) < 1e-12 && fabs(at.error - 0.625) < 1e-12);
    retention_free(r);
}

static void retention__says_nothing_where_nothing_was_measured(void **state)
{
    (void)state;
    struct dse_retention *r = make();
    struct dse_retained at = {-1, -1};
    assert_false(dse_retention_at(r, "voting", 255, 0.5, &at));
    assert_false(dse_retention_at(r, "voting", 1025, 0.5, &at));
    assert_false(dse_retention_at(r, "voting", 512, 0.12, &at));
    assert_false(dse_retention_at(r, "window", 513, 0.5, &at));
    assert_false(dse_retention_at(r, "oracle", 512, 0.5, &at));
    assert_false(dse_retention_at(r, "voting", (double)NAN, 0.5, &at));
    assert_true(at.mass == -1 && at.error == -1);
    assert_true(dse_retention_at(r, "oracle", 1e6, 1, &at)); /* nothing leaves: no measurement is needed */
    assert_true(at.mass == 1 && at.error == 0);
    retention_free(r);
}

static void retention__names_what_it_has(void **state)
{
    (void)state;
    struct dse_retention *r = make();
    const void *same = r;
    const struct dse_entry *entry = same;
    assert_string_equal(entry->name, "test");
    assert_string_equal(entry->source, "points of the test");
    assert_string_equal(dse_retention_policy(r, 0), "voting");
    assert_string_equal(dse_retention_policy(r, 1), "window");
    assert_null(dse_retention_policy(r, 2));
    double lo = 0, hi = 0;
    assert_true(dse_retention_range(r, "voting", &lo, &hi) && lo == 256 && hi == 1024);
    assert_false(dse_retention_range(r, "oracle", &lo, &hi));
    retention_free(r);
    retention_free(NULL);
}

static void refuse(const struct retention_point *list, size_t n, const char *expected)
{
    struct row_fault fault = {0};
    assert_null(retention_new("bad", "test", list, n, &fault));
    assert_true(fault.row == ROW_NONE || fault.column != NULL);
    char *why = row_fault_text(&fault);
    assert_string_equal(why, expected);
    free(why);
}

static void retention__refuses_what_is_no_profile(void **state)
{
    (void)state;
    static const struct retention_point first = {"a", 256, 0.25, {0.5, 0.5}}, other = {"b", 256, 0.25, {0.5, 0.5}},
                                        half = {"b", 256, 0.5, {0.5, 0.5}};
    const struct {
        struct retention_point second;
        const char *why;
    } bad[] = {
        {{"", 256, 0.5, {0.5, 0.5}}, "row 2: there is no policy"},
        {{"a", 0, 0.5, {0.5, 0.5}}, "row 2: context 0 is not at least 1"},
        {{"a", 256, 0, {0.5, 0.5}}, "row 2: ratio 0 is not above 0 and at most 1"},
        {{"a", 256, 1.5, {0.5, 0.5}}, "row 2: ratio 1.5 is not above 0 and at most 1"},
        {{"a", 256, 0.5, {1.5, 0.5}}, "row 2: retained_mass 1.5 is outside of 0 to 1"},
        {{"a", 256, 0.5, {0.5, -1}}, "row 2: attention_error -1 is not a positive number"},
        {{"a", 256, 0.5, {0.5, 1e300}}, "row 2: attention_error 1e+300 is above 1e+09"}, /* a spline through it overflows */
        {{"a", 256, 1e-300, {0.5, 1}}, "row 2: ratio 1e-300 is below 1e-09"},
        {{"a", 256, 1, {0.5, 0.5}}, "row 2: a ratio of 1 keeps all mass (1) without error (0), not 0.5 and 0.5"},
        {{"a", 256, 0.25, {0.5, 0.5}}, "row 2: ratio 0.25 does not grow (the point before has 0.25)"},
        {{"a", 128, 0.5, {0.5, 0.5}}, "row 2: context 128 does not grow (the point before has 256)"},
        {{"a", 512, 0.5, {0.5, 0.5}}, "row 1: policy \"a\" at context 256: 1 ratio below 1; at least 2 are needed"},
        {{"a", 256, 1, {1, 0}}, "row 1: policy \"a\" at context 256: 1 ratio below 1; at least 2 are needed"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct retention_point list[] = {first, bad[i].second, other, half};
        refuse(list, 4, bad[i].why);
    }
    const struct retention_point apart[] = {first, other, first};
    refuse(apart, 3, "row 3: the points of policy \"a\" do not stand together");
    refuse(NULL, 0, "no points");
}

/* Of boxes of contexts and ratios, some of which reach beyond what was measured. */
static void retention__is_bounded_by_its_boxes(void **state)
{
    (void)state;
    enum { STEPS = 12 };
    const double from = 128, to = 1400;
    struct dse_retention *r = make();
    struct dse_retained at;
    struct dse_retained_bound b;
    for (int n0 = 0; n0 < STEPS; n0++)
        for (int n1 = n0; n1 < STEPS; n1++)
            for (int r0 = 1; r0 < STEPS; r0++)
                for (int r1 = r0; r1 < STEPS; r1++) {
                    const struct dse_interval n = {from + (to - from) * n0 / STEPS, from + (to - from) * n1 / STEPS},
                                              ratio = {0.1 * r0, 0.1 * r1};
                    const bool any = dse_retention_bound(r, "voting", n, ratio, ratio.hi, &b);
                    for (int i = 0; i < 25; i++) {
                        const int column = i % 5, row = i / 5;
                        const double x = n.lo + (n.hi - n.lo) * column / 4, y = ratio.lo + (ratio.hi - ratio.lo) * row / 4;
                        if (!dse_retention_at(r, "voting", x, y, &at)) continue;
                        assert_true(any && dse_iv_contains(b.mass, at.mass) && dse_iv_contains(b.error, at.error));
                    }
                }
    const struct dse_interval n = dse_iv_of(512), half = dse_iv_of(0.5), half_of_it = dse_iv_of(0.05);
    assert_true(dse_retention_at(r, "voting", 512, 0.5, &at) && dse_retention_bound(r, "voting", n, half, 0.5, &b));
    assert_true(b.mass.hi - b.mass.lo < 1e-11 && b.error.hi - b.error.lo < 1e-11);
    assert_false(dse_retention_bound(r, "voting", n, half_of_it, 0.06, &b));
    assert_true(dse_retention_bound(r, "voting", n, half_of_it, 0.13, &b)); /* what rounds up to 0.125 is known */
    retention_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retention__is_exact_on_its_points),
        cmocka_unit_test(retention__grows_with_the_ratio_and_ends_at_everything),
        cmocka_unit_test(retention__lies_between_the_contexts_measured),
        cmocka_unit_test(retention__says_nothing_where_nothing_was_measured),
        cmocka_unit_test(retention__names_what_it_has),
        cmocka_unit_test(retention__refuses_what_is_no_profile),
        cmocka_unit_test(retention__is_bounded_by_its_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
