#include "base/xalloc.h"
#include "figure/cloud.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t same_order[] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Uniform in [0, 1), the same in every run. */
static double next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static uint64_t count_points(const struct cloud *c)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->capacity; i++) n += c->slot[i].count;
    return n;
}

static void cloud__keeps_every_distinct_point_of_a_small_set(void **state)
{
    (void)state;
    struct cloud c;
    cloud_init(&c, SIZE_MAX);
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 60; j++) cloud_add(&c, i * 0.125 - 3, 1000 - j, 0);
    assert_int_equal(c.n, 3600);
    struct mark *m = cloud_sorted(&c, same_order);
    for (size_t i = 0; i < 3600; i++) {
        assert_true(m[i].x == (double)(i / 60) * 0.125 - 3);
        assert_true(m[i].y == 941 + (double)(i % 60));
        assert_int_equal(m[i].count, 1);
    }
    free(m);
    cloud_release(&c);
}

static void cloud__keeps_equal_points_once_and_counts_them(void **state)
{
    (void)state;
    struct cloud c;
    cloud_init(&c, SIZE_MAX);
    for (int i = 0; i < 1000; i++) cloud_add(&c, 7, -2.5, 0);
    cloud_add(&c, 0.0, 1, 0);
    cloud_add(&c, -0.0, 1, 0);
    assert_int_equal(c.n, 2);
    assert_int_equal(count_points(&c), 1002);
    cloud_release(&c);
}

static void cloud__keeps_series_apart(void **state)
{
    (void)state;
    struct cloud c;
    cloud_init(&c, SIZE_MAX);
    for (uint32_t s = 0; s < 5; s++) cloud_add(&c, 1, 1, s);
    assert_int_equal(c.n, 5);
    cloud_release(&c);
}

static void cloud__is_bounded_and_counts_every_point(void **state)
{
    (void)state;
    enum { POINTS = 300000, MOST = 20000 };
    struct cloud c;
    cloud_init(&c, MOST);
    uint64_t seed = 1;
    for (int i = 0; i < POINTS; i++) {
        cloud_add(&c, next_random(&seed), next_random(&seed) * 1e6, (uint32_t)i % 3);
        assert_true(c.n <= MOST);
    }
    assert_int_equal(count_points(&c), POINTS);
    assert_int_equal(c.points, POINTS);
    assert_true(c.capacity <= 4 * MOST);
    cloud_release(&c);
}

/* Each point has a mark of its series in the same cell, and there are at least cells / 2 cells over the range. */
static void cloud__moves_no_point_by_more_than_a_cell(void **state)
{
    (void)state;
    enum { POINTS = 3000 };
    static double x[POINTS], y[POINTS];
    for (int round = 0; round < 3; round++) {
        struct cloud c;
        cloud_init(&c, round ? 500 : SIZE_MAX);
        uint64_t seed = (uint64_t)round + 10;
        for (int i = 0; i < POINTS; i++) { /* a range that grows by and by */
            double scale = exp2(20.0 * i / POINTS);
            x[i] = (next_random(&seed) - 0.5) * scale;
            y[i] = 5 + next_random(&seed) * scale;
            cloud_add(&c, x[i], y[i], 0);
        }
        if (round == 2) cloud_thin(&c, 100);
        double cell_x = 1 / c.cells_per_x, cell_y = 1 / c.cells_per_y;
        assert_true(cell_x <= (c.max_x - c.min_x) / (c.cells / 2.0) * (1 + 1e-12));
        assert_true(cell_y <= (c.max_y - c.min_y) / (c.cells / 2.0) * (1 + 1e-12));
        for (int i = 0; i < POINTS; i++) {
            bool found = false;
            for (size_t j = 0; j < c.capacity && !found; j++)
                found = c.slot[j].count && fabs(c.slot[j].x - x[i]) < cell_x && fabs(c.slot[j].y - y[i]) < cell_y;
            assert_true(found);
        }
        cloud_release(&c);
    }
}

static void cloud__takes_any_finite_range(void **state)
{
    (void)state;
    static const double values[] = {0, 1e-308, -1e-300, 5e-324, 1, 1 + 0x1p-52, 1e10, -1e300, 1e300, 3, 1e299};
    enum { N = sizeof values / sizeof values[0] };
    struct cloud c;
    cloud_init(&c, SIZE_MAX);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) cloud_add(&c, values[i], values[j], 0);
    assert_int_equal(count_points(&c), N * N);
    assert_true(c.min_x == -1e300 && c.max_x == 1e300 && c.min_y == -1e300 && c.max_y == 1e300);
    assert_true(c.n >= 9);
    cloud_release(&c);
}

static void cloud__tells_neighbouring_doubles_apart(void **state)
{
    (void)state;
    struct cloud c;
    cloud_init(&c, SIZE_MAX);
    for (int i = 0; i < 100; i++) cloud_add(&c, 1e9 + i * 0x1p-20, 0, 0);
    assert_int_equal(c.n, 100);
    cloud_release(&c);
}

static void cloud_sorted__orders_by_rank_then_x_then_y(void **state)
{
    (void)state;
    static const uint32_t rank[] = {1, 0};
    struct cloud c;
    cloud_init(&c, SIZE_MAX);
    uint64_t seed = 4;
    for (int i = 0; i < 500; i++) cloud_add(&c, floor(next_random(&seed) * 10), next_random(&seed), (uint32_t)i % 2);
    struct mark *m = cloud_sorted(&c, rank);
    for (size_t i = 1; i < c.n; i++) {
        bool later = rank[m[i].series] > rank[m[i - 1].series];
        bool same = m[i].series == m[i - 1].series;
        assert_true(later || (same && (m[i].x > m[i - 1].x || (m[i].x == m[i - 1].x && m[i].y >= m[i - 1].y))));
    }
    free(m);
    cloud_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cloud__keeps_every_distinct_point_of_a_small_set),
        cmocka_unit_test(cloud__keeps_equal_points_once_and_counts_them),
        cmocka_unit_test(cloud__keeps_series_apart),
        cmocka_unit_test(cloud__is_bounded_and_counts_every_point),
        cmocka_unit_test(cloud__moves_no_point_by_more_than_a_cell),
        cmocka_unit_test(cloud__takes_any_finite_range),
        cmocka_unit_test(cloud__tells_neighbouring_doubles_apart),
        cmocka_unit_test(cloud_sorted__orders_by_rank_then_x_then_y),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
