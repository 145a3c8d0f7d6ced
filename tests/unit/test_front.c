/* Pareto fronts against the definition, and against what must hold for any front. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/front.h"
#include "analysis/front_internal.h"
#include "analysis/order.h"
#include "base/xalloc.h"
#include "front_points.h"

static void shuffle(double *values, size_t n, int m, uint32_t *place)
{
    uint64_t random = 77;
    double copy[FRONT_OBJECTIVES_MAX];
    const size_t bytes = (size_t)m * sizeof *values;
    order_identity(place, n);
    for (size_t i = n; i > 1; i--) {
        const size_t k = next_random(&random) % i;
        double *a = values + (i - 1) * (size_t)m, *b = values + k * (size_t)m;
        memcpy(copy, a, bytes);
        memcpy(a, b, bytes);
        memcpy(b, copy, bytes);
        const uint32_t swap = place[i - 1];
        place[i - 1] = place[k];
        place[k] = swap;
    }
}

static void expect_same(const uint8_t *got, const uint8_t *expected, size_t n, const char *what, int shape, size_t size, int m)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != expected[i])
            fail_msg("%s: shape %d, %zu points, %d objectives: point %zu: got %d, expected %d", what, shape, size, m, i, got[i],
                     expected[i]);
}

static void check_definition(enum shape shape, uint64_t seed, size_t n, int m)
{
    double *values = points_new(shape, seed, n, m);
    uint8_t *keep = xmalloc(n), *expected = xmalloc(n);
    memset(keep, 7, n);
    const size_t kept = front_compute(values, n, m, keep);
    front_by_definition(values, n, m, expected);
    expect_same(keep, expected, n, "definition", (int)shape, n, m);
    assert_int_equal(kept, count_kept(expected, n));
    free(expected);
    free(keep);
    free(values);
}

/* --- tests --- */

static void front__is_the_definition_for_small_sets(void **state)
{
    (void)state;
    for (int m = 1; m <= 6; m++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (size_t n = 1; n <= 60; n += 1 + n / 7) check_definition((enum shape)shape, n, n, m);
}

static void front__is_the_definition_for_larger_sets(void **state)
{
    (void)state;
    for (int m = 1; m <= 6; m++)
        for (int shape = 0; shape < SHAPES; shape++) {
            check_definition((enum shape)shape, 1, 300, m);
            check_definition((enum shape)shape, 2, 1500, m);
        }
}

static void front__is_the_definition_up_to_sixteen_objectives(void **state)
{
    (void)state;
    for (int m = 7; m <= FRONT_OBJECTIVES_MAX; m += 3)
        for (int shape = 0; shape < SHAPES; shape++) check_definition((enum shape)shape, 5, 600, m);
}

static void front__of_nothing_is_nothing(void **state)
{
    (void)state;
    for (int m = 1; m <= FRONT_OBJECTIVES_MAX; m++) assert_int_equal(front_compute(NULL, 0, m, NULL), 0);
}

static void front__keeps_equal_points(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 1, 2, 3, 1, 2, 4, 0, 9, 9, 1, 2, 3};
    const uint8_t expected[] = {1, 1, 0, 1, 1};
    uint8_t keep[5];
    assert_int_equal(front_compute(values, 5, 3, keep), 4);
    assert_memory_equal(keep, expected, 5);
    for (int m = 1; m <= 6; m++) {
        double *equal = points_new(ALL_EQUAL, 1, 5000, m);
        uint8_t all[5000];
        assert_int_equal(front_compute(equal, 5000, m, all), 5000);
        free(equal);
    }
}

static void front__takes_negative_zero_for_zero(void **state)
{
    (void)state;
    const double values[] = {0.0, -0.0, -0.0, 0.0, 0.0, 5e-324};
    const uint8_t expected[] = {1, 1, 0};
    uint8_t keep[3];
    assert_int_equal(front_compute(values, 3, 2, keep), 2);
    assert_memory_equal(keep, expected, 3);
}

static void front__does_not_depend_on_the_order_of_points(void **state)
{
    (void)state;
    enum { N = 6000 };
    uint8_t *keep = xmalloc(N), *shuffled = xmalloc(N), *expected = xmalloc(N);
    uint32_t *place = xmalloc(N * sizeof *place);
    for (int m = 2; m <= 5; m++)
        for (int shape = 0; shape < SHAPES; shape++) {
            double *values = points_new((enum shape)shape, 3, N, m);
            front_compute(values, N, m, keep);
            shuffle(values, N, m, place);
            front_compute(values, N, m, shuffled);
            for (size_t i = 0; i < N; i++) expected[i] = keep[place[i]];
            expect_same(shuffled, expected, N, "shuffled", shape, N, m);
            free(values);
        }
    free(place);
    free(expected);
    free(shuffled);
    free(keep);
}

static void front__does_not_depend_on_the_order_of_objectives(void **state)
{
    (void)state;
    enum { N = 6000 };
    uint8_t *keep = xmalloc(N), *turned = xmalloc(N);
    for (int m = 2; m <= 5; m++)
        for (int shape = 0; shape < SHAPES; shape++) {
            double *values = points_new((enum shape)shape, 4, N, m);
            front_compute(values, N, m, keep);
            for (size_t i = 0; i < N; i++) {
                double *v = values + i * (size_t)m;
                const double first = v[0];
                memmove(v, v + 1, (size_t)(m - 1) * sizeof *v);
                v[m - 1] = first;
            }
            front_compute(values, N, m, turned);
            expect_same(turned, keep, N, "objectives turned", shape, N, m);
            free(values);
        }
    free(turned);
    free(keep);
}

static void front__of_a_front_is_itself(void **state)
{
    (void)state;
    enum { N = 6000 };
    uint8_t *keep = xmalloc(N);
    for (int m = 1; m <= 5; m++)
        for (int shape = 0; shape < SHAPES; shape++) {
            double *values = points_new((enum shape)shape, 6, N, m);
            const size_t n = front_compute(values, N, m, keep);
            assert_true(n > 0);
            size_t k = 0;
            for (size_t i = 0; i < N; i++)
                if (keep[i]) memmove(values + k++ * (size_t)m, values + i * (size_t)m, (size_t)m * sizeof *values);
            assert_int_equal(front_compute(values, n, m, keep), n);
            free(values);
        }
    free(keep);
}

static void front__of_a_sphere_is_all_of_it(void **state)
{
    (void)state;
    enum { N = 20000 };
    uint8_t *keep = xmalloc(N);
    for (int m = 2; m <= 4; m++) {
        double *values = points_new(SPHERE, 8, N, m);
        assert_int_equal(front_compute(values, N, m, keep), N);
        free(values);
    }
    free(keep);
}

static void front__ignores_dominated_points(void **state)
{
    (void)state;
    enum { N = 4000 };
    uint8_t *keep = xmalloc(2 * N), *expected = xmalloc(2 * N);
    for (int m = 1; m <= 5; m++)
        for (int shape = 0; shape < SHAPES; shape++) {
            double *values = points_new((enum shape)shape, 9, N, m);
            values = xrealloc(values, 2 * N * (size_t)m, sizeof *values);
            front_compute(values, N, m, expected);
            for (size_t i = 0; i < N * (size_t)m; i++) /* worse by one in every objective, or just as bad at infinity */
                values[N * (size_t)m + i] = values[i] + 1 > values[i] ? values[i] + 1 : HUGE_VAL;
            for (size_t i = 0; i < N; i++) {
                double *v = values + (N + i) * (size_t)m;
                expected[N + i] = expected[i] && !dominates(values + i * (size_t)m, v, m); /* a point at infinity in all */
            }
            front_compute(values, 2 * N, m, keep);
            expect_same(keep, expected, 2 * N, "dominated points", shape, N, m);
            free(values);
        }
    free(expected);
    free(keep);
}

static void front__divide_agrees_with_the_sweep_of_three(void **state)
{
    (void)state;
    enum { N = 5000 };
    uint8_t *keep = xmalloc(N), *expected = xmalloc(N);
    for (int shape = 0; shape < SHAPES; shape++) {
        double *three = points_new((enum shape)shape, 10, N, 3), *five = xmalloc(N * 5 * sizeof *five);
        for (size_t i = 0; i < N; i++) { /* objectives that say the same twice add nothing */
            const double *v = three + 3 * i;
            const double doubled[] = {v[2], v[0], v[1], v[0], v[2]};
            memcpy(five + 5 * i, doubled, sizeof doubled);
        }
        front_compute(three, N, 3, expected);
        front_compute(five, N, 5, keep);
        expect_same(keep, expected, N, "five of three", shape, N, 5);
        free(five);
        free(three);
    }
    free(expected);
    free(keep);
}

static void front__pruning_keeps_the_whole_front(void **state)
{
    (void)state;
    enum { N = 2000 };
    uint8_t *expected = xmalloc(N), *left = xmalloc(N);
    for (int m = 2; m <= 5; m++)
        for (int shape = 0; shape < SHAPES; shape++) {
            double *values = points_new((enum shape)shape, 11, N, m);
            size_t n;
            front_by_definition(values, N, m, expected);
            uint32_t *index = front_prune(values, N, m, &n);
            memset(left, 0, N);
            if (!index) assert_int_equal(n, N);
            for (size_t i = 0; i < n; i++) {
                assert_true(!index || i == 0 || index[i] > index[i - 1]);
                left[index ? index[i] : i] = 1;
            }
            for (size_t i = 0; i < N; i++) assert_true(left[i] || !expected[i]);
            if (shape == UNIFORM) assert_true(n < N / 2);
            free(index);
            free(values);
        }
    free(left);
    free(expected);
}

/* Many points: too many for the definition, but a front is right if every other point is dominated by one of it, and none of it is.
 */
/* What has no end in an objective is no design. */
static void front__has_no_point_at_infinity(void **state)
{
    (void)state;
    struct front *f = front_new(2, (const bool[]){true, false});
    front_add(f, 0, (const double[]){HUGE_VAL, 1});
    front_add(f, 1, (const double[]){5, -HUGE_VAL});
    front_add(f, 2, (const double[]){5, 1});
    front_add(f, 3, (const double[]){NAN, 1});
    front_add(f, 4, (const double[]){1, HUGE_VAL});
    const uint64_t *ids;
    const double *values;
    assert_int_equal(front_finish(f, &ids, &values), 1);
    assert_int_equal(ids[0], 2);
    front_free(f);
}

static void front__of_many_points_dominates_all_others(void **state)
{
    (void)state;
    enum { N = 70000 };
    static const enum shape shapes[] = {UNIFORM, TIES, CORRELATED, SKEWED};
    uint8_t *keep = xmalloc(N);
    uint32_t *front = xmalloc(N * sizeof *front);
    for (int m = 2; m <= 4; m++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            double *values = points_new(shapes[s], 15, N, m);
            const size_t n = front_compute(values, N, m, keep);
            size_t k = 0;
            assert_int_equal(n, count_kept(keep, N));
            for (size_t i = 0; i < N; i++)
                if (keep[i]) front[k++] = (uint32_t)i;
            for (size_t i = 0; i < N; i++) {
                bool dominated = false;
                for (size_t f = 0; f < n && !dominated; f++)
                    dominated = dominates(values + front[f] * (size_t)m, values + i * (size_t)m, m);
                assert_int_equal(keep[i], !dominated);
            }
            free(values);
        }
    free(front);
    free(keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(front__is_the_definition_for_small_sets),
        cmocka_unit_test(front__is_the_definition_for_larger_sets),
        cmocka_unit_test(front__is_the_definition_up_to_sixteen_objectives),
        cmocka_unit_test(front__of_nothing_is_nothing),
        cmocka_unit_test(front__keeps_equal_points),
        cmocka_unit_test(front__takes_negative_zero_for_zero),
        cmocka_unit_test(front__does_not_depend_on_the_order_of_points),
        cmocka_unit_test(front__does_not_depend_on_the_order_of_objectives),
        cmocka_unit_test(front__of_a_front_is_itself),
        cmocka_unit_test(front__of_a_sphere_is_all_of_it),
        cmocka_unit_test(front__ignores_dominated_points),
        cmocka_unit_test(front__divide_agrees_with_the_sweep_of_three),
        cmocka_unit_test(front__pruning_keeps_the_whole_front),
        cmocka_unit_test(front__has_no_point_at_infinity),
        cmocka_unit_test(front__of_many_points_dominates_all_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
