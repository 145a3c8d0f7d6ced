/* analysis/front_pick.h */
#include "analysis/front_pick.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = 101, ROOM = 200 };
static const bool less_more[] = {false, true};

/* A quarter of a circle from (0, 0) to (1, 1), of less x and more y: its middle is nearest to (0, 1). */
static void arc(double *values, size_t *group, size_t n, size_t g)
{
    for (size_t i = 0; i < n; i++) {
        double a = (double)i / (double)(n - 1);
        values[2 * i] = 1 - cos(a * M_PI / 2);
        values[2 * i + 1] = sin(a * M_PI / 2);
        group[i] = g;
    }
}

static void pick__knee_and_extremes_come_first(void **state)
{
    (void)state;
    double values[2 * POINTS];
    size_t group[POINTS];
    struct picked p[ROOM];
    arc(values, group, POINTS, 0);
    assert_int_equal(front_pick(values, group, POINTS, 1, 2, less_more, 1, p), 1);
    assert_true(p[0].knee && p[0].point == 50 && p[0].extremes == 0);
    assert_int_equal(front_pick(values, group, POINTS, 1, 2, less_more, 3, p), 3);
    assert_true(p[0].point == 0 && p[0].extremes == 1 && !p[0].knee);
    assert_true(p[1].point == 50 && p[1].knee);
    assert_true(p[2].point == POINTS - 1 && p[2].extremes == 2 && !p[2].knee);
}

static void pick__others_are_spread_along_the_front(void **state)
{
    (void)state;
    double values[2 * POINTS];
    size_t group[POINTS];
    struct picked p[ROOM];
    arc(values, group, POINTS, 0);
    size_t n = front_pick(values, group, POINTS, 1, 2, less_more, 10, p);
    assert_int_equal(n, 10);
    for (size_t i = 1; i < n; i++) assert_true(p[i].point > p[i - 1].point && p[i].point - p[i - 1].point <= 26);
    assert_int_equal(front_pick(values, group, POINTS, 1, 2, less_more, ROOM, p), POINTS);
    for (size_t i = 0; i < POINTS; i++) assert_int_equal(p[i].point, i);
}

static void pick__every_front_has_its_share(void **state)
{
    (void)state;
    double values[5 * 2 * 7];
    size_t group[5 * 7], seen[5] = {0};
    struct picked p[ROOM];
    for (size_t g = 0; g < 5; g++) arc(values + 14 * g, group + 7 * g, 7, g);
    assert_int_equal(front_pick(values, group, 35, 5, 2, less_more, 15, p), 15);
    for (size_t i = 0; i < 15; i++) {
        assert_true(p[i].knee || p[i].extremes);
        seen[group[p[i].point]]++;
    }
    for (size_t g = 0; g < 5; g++) assert_int_equal(seen[g], 3);
    assert_int_equal(front_pick(values, group, 35, 5, 2, less_more, 2, p), 2);
    assert_true(p[0].knee && p[1].knee && group[p[0].point] == 0 && group[p[1].point] == 2);
}

/* A front of one point is all at once; equal values are no reason to pick two. */
static void pick__one_point_may_be_all(void **state)
{
    (void)state;
    struct picked p[ROOM];
    assert_int_equal(front_pick((double[]){3, 4}, (size_t[]){0}, 1, 1, 2, less_more, 9, p), 1);
    assert_true(p[0].knee && p[0].extremes == 3);
    assert_int_equal(front_pick((double[]){3, 4, 3, 4, 3, 4}, (size_t[]){0, 0, 0}, 3, 1, 2, less_more, 2, p), 2);
    assert_true(p[0].knee && p[0].extremes == 3 && !p[1].knee && p[1].extremes == 0);
    assert_int_equal(front_pick(NULL, NULL, 0, 0, 2, less_more, 9, p), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pick__knee_and_extremes_come_first),
        cmocka_unit_test(pick__others_are_spread_along_the_front),
        cmocka_unit_test(pick__every_front_has_its_share),
        cmocka_unit_test(pick__one_point_may_be_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
