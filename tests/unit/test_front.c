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
#include "analysis/stairs.h"
#include "base/xalloc.h"

/* --- points --- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(2685821657736338717);
}

static double uniform(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    const double u = 1 - uniform(state), v = uniform(state);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

enum shape {
    UNIFORM,
    SPHERE,
    PLANE,
    TIES,
    FEW_TIES,
    DUPLICATES,
    ALL_EQUAL,
    CORRELATED,
    SKEWED,
    SPECIAL,
    CHAIN,
    LONG_STAIRS,
    SHAPES
};

static void on_sphere(uint64_t *random, double *v, int m)
{
    double sum = 0;
    for (int j = 0; j < m; j++) v[j] = fabs(normal(random));
    for (int j = 0; j < m; j++) sum += v[j] * v[j];
    for (int j = 0; j < m; j++) v[j] = 1 - v[j] / sqrt(sum);
}

static void draw(enum shape shape, uint64_t *random, double *v, int m, size_t i, size_t n)
{
    static const double special[] = {-INFINITY, -1e300, -1, -5e-324, -0.0, 0.0, 5e-324, 1, 1e300, INFINITY};
    const double common = uniform(random);
    double sum = 0;
    for (int j = 0; j < m; j++) {
        switch (shape) {
        case TIES: v[j] = floor(8 * uniform(random)); break;
        case FEW_TIES: v[j] = floor((double)n / 3 * uniform(random)) / 1024; break;
        case ALL_EQUAL: v[j] = 0.25; break;
        case CORRELATED: v[j] = common + 0.01 * uniform(random); break;
        case SKEWED: v[j] = exp(200 * normal(random)); break;
        case SPECIAL: v[j] = special[next_random(random) % (sizeof special / sizeof *special)]; break;
        case CHAIN: v[j] = (double)(i % (n / 2 + 1)); break;
        default: v[j] = uniform(random);
        }
    }
    if (shape == SPHERE || shape == DUPLICATES) on_sphere(random, v, m);
    if (shape == PLANE)
        for (int j = 0; j < m; j++) v[j] = floor(16 * v[j]);
    if (shape == PLANE || shape == LONG_STAIRS)
        for (int j = 1; j < m; j++) sum += v[j];
    if (shape == PLANE) v[0] = -sum;
    if (shape == LONG_STAIRS && m > 1) v[m - 1] = -v[m - 2];
}

static double *points_new(enum shape shape, uint64_t seed, size_t n, int m)
{
    double *values = xmalloc(n * (size_t)m * sizeof *values);
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (size_t i = 0; i < n; i++) draw(shape, &random, values + i * (size_t)m, m, i, n);
    if (shape == DUPLICATES)
        for (size_t i = 0; i < n; i++) memcpy(values + i * (size_t)m, values + i / 10 * (size_t)m, (size_t)m * sizeof *values);
    return values;
}

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

/* --- the definition --- */

static bool dominates(const double *a, const double *b, int m)
{
    bool better = false;
    for (int j = 0; j < m; j++) {
        if (a[j] > b[j]) return false;
        better |= a[j] < b[j];
    }
    return better;
}

static void front_by_definition(const double *values, size_t n, int m, uint8_t *keep)
{
    for (size_t i = 0; i < n; i++) {
        keep[i] = 1;
        for (size_t k = 0; k < n && keep[i]; k++) keep[i] = !dominates(values + k * (size_t)m, values + i * (size_t)m, m);
    }
}

static size_t count_kept(const uint8_t *keep, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += keep[i];
    return count;
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
    enum { N = 20000 };
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
    enum { N = 20000 };
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
    enum { N = 20000 };
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
                values[N * (size_t)m + i] = values[i] + 1 > values[i] ? values[i] + 1 : (double)INFINITY;
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
    enum { N = 4096 };
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

/* --- streams --- */

static void stream_points(struct front *f, const double *values, size_t n, int m, uint64_t first_id)
{
    for (size_t i = 0; i < n; i++) front_add(f, first_id + i, values + i * (size_t)m);
}

static void expect_front(struct front *f, const double *values, const uint8_t *keep, size_t n, int m, uint64_t first_id)
{
    const uint64_t *ids;
    const double *kept_values;
    const size_t kept = front_finish(f, &ids, &kept_values);
    size_t k = 0;
    assert_int_equal(kept, count_kept(keep, n));
    for (size_t i = 0; i < n; i++) {
        if (!keep[i]) continue;
        assert_int_equal(ids[k], first_id + i);
        assert_memory_equal(kept_values + k * (size_t)m, values + i * (size_t)m, (size_t)m * sizeof *values);
        k++;
    }
}

static void front__of_a_stream_is_the_front_of_the_batch(void **state)
{
    (void)state;
    enum { N = 6000 };
    static const size_t buffers[] = {1, 7, 300, 1024, 100000};
    static const bool minimise[FRONT_OBJECTIVES_MAX] = {false};
    uint8_t *keep = xmalloc(N);
    for (int m = 1; m <= 5; m++)
        for (int shape = 0; shape < SHAPES; shape++) {
            double *values = points_new((enum shape)shape, 12, N, m);
            front_compute(values, N, m, keep);
            for (size_t b = m < 4 ? 0 : 2; b < sizeof buffers / sizeof *buffers; b++) {
                struct front *f = front_new_sized(m, minimise, buffers[b]);
                stream_points(f, values, N, m, 1000);
                expect_front(f, values, keep, N, m, 1000);
                front_free(f);
            }
            free(values);
        }
    free(keep);
}

static void front__maximises_what_it_is_told_to(void **state)
{
    (void)state;
    enum { N = 5000 };
    static const bool maximise[] = {true, false, true};
    double *values = points_new(UNIFORM, 13, N, 3), *negated = xmalloc(3 * N * sizeof *negated);
    uint8_t *keep = xmalloc(N);
    for (size_t i = 0; i < 3 * N; i++) negated[i] = maximise[i % 3] ? -values[i] : values[i];
    front_compute(negated, N, 3, keep);
    struct front *f = front_new_sized(3, maximise, 512);
    stream_points(f, values, N, 3, 0);
    expect_front(f, values, keep, N, 3, 0);
    front_free(f);
    free(keep);
    free(negated);
    free(values);
}

static void front__gives_ids_in_ascending_order(void **state)
{
    (void)state;
    enum { N = 3000 };
    static const bool minimise[3] = {false};
    double *values = points_new(SPHERE, 14, N, 3);
    struct front *f = front_new_sized(3, minimise, 64);
    for (size_t i = 0; i < N; i++) front_add(f, (uint64_t)(N - i) << 40, values + 3 * i);
    const uint64_t *ids;
    const double *kept;
    assert_int_equal(front_finish(f, &ids, &kept), N);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(ids[i], (uint64_t)(i + 1) << 40);
        assert_memory_equal(kept + 3 * i, values + 3 * (N - 1 - i), 3 * sizeof *values);
    }
    front_free(f);
    free(values);
}

static void front__does_not_consider_nan(void **state)
{
    (void)state;
    static const bool minimise[2] = {false};
    const double values[] = {1, 1, NAN, 0, 0, NAN, -5, NAN, 2, 0};
    const uint8_t keep[] = {1, 0, 0, 0, 1};
    struct front *f = front_new(2, minimise);
    stream_points(f, values, 5, 2, 0);
    expect_front(f, values, keep, 5, 2, 0);
    front_free(f);
}

static void front__goes_on_after_finish(void **state)
{
    (void)state;
    static const bool maximise[2] = {true, true};
    const double values[] = {1, 1, 2, 0, 2, 2};
    const uint8_t first[] = {1, 1, 0}, all[] = {0, 0, 1};
    struct front *f = front_new(2, maximise);
    stream_points(f, values, 2, 2, 0);
    expect_front(f, values, first, 2, 2, 0);
    front_add(f, 2, values + 4);
    expect_front(f, values, all, 3, 2, 0);
    front_free(f);
}

static void front__without_points_is_empty(void **state)
{
    (void)state;
    static const bool minimise[3] = {false};
    const uint64_t *ids;
    const double *values;
    struct front *f = front_new(3, minimise);
    assert_int_equal(front_finish(f, &ids, &values), 0);
    front_free(f);
    front_free(NULL);
}

/* More points than the buffer of front_new holds, most of them good enough to pass at first: each is better than most before it. */
static void front__of_a_stream_outgrows_its_buffer(void **state)
{
    (void)state;
    enum { N = FRONT_BUFFER_POINTS + FRONT_BUFFER_POINTS / 4 };
    static const bool minimise[2] = {false};
    double *values = xmalloc(2 * (size_t)N * sizeof *values);
    uint8_t *keep = xmalloc(N);
    uint64_t random = 5;
    for (size_t i = 0; i < N; i++) {
        values[2 * i] = uniform(&random);
        values[2 * i + 1] = 1 - values[2 * i] - floor((double)i / 1e5);
    }
    front_compute(values, N, 2, keep);
    assert_true(count_kept(keep, N) > 10000);
    struct front *f = front_new(2, minimise);
    stream_points(f, values, N, 2, 0);
    expect_front(f, values, keep, N, 2, 0);
    front_free(f);
    free(keep);
    free(values);
}

/* --- the parts --- */

static void order__sorts_any_keys_stably(void **state)
{
    (void)state;
    enum { N = 30000 };
    uint64_t *keys = xmalloc(N * sizeof *keys), *scratch = xmalloc(2 * N * sizeof *scratch), random = 9;
    uint32_t *order = xmalloc(N * sizeof *order);
    for (int bits = 0; bits <= 64; bits += 4)
        for (size_t n = 1; n <= N; n = n * 3 + 1) {
            for (size_t i = 0; i < n; i++) {
                const uint64_t r = next_random(&random);
                keys[i] = bits ? r >> (64 - bits) : 42;
                if (bits > 32 && r % 3) keys[i] = keys[i] & 0xff0000ff; /* long runs of one prefix */
            }
            order_identity(order, n);
            order_sort((struct order_column){.keys = keys}, order, n, scratch, NULL);
            for (size_t i = 1; i < n; i++) {
                const uint64_t a = keys[order[i - 1]], b = keys[order[i]];
                assert_true(a < b || (a == b && order[i - 1] < order[i]));
            }
        }
    free(order);
    free(scratch);
    free(keys);
}

static void order__keys_order_as_the_numbers_do(void **state)
{
    (void)state;
    static const double rising[] = {-INFINITY, -1.7e308, -1, -2.3e-308, -5e-324, 0, 5e-324, 2.3e-308, 1, 1.7e308, INFINITY};
    for (size_t i = 1; i < sizeof rising / sizeof *rising; i++) assert_true(order_key(rising[i - 1]) < order_key(rising[i]));
    assert_int_equal(order_key(-0.0), order_key(0.0));
}

static void order__ranks_are_dense(void **state)
{
    (void)state;
    const uint64_t keys[] = {7, 3, 7, 900, 3};
    const uint32_t expected[] = {2, 1, 2, 3, 1};
    uint32_t order[5], rank[5];
    uint64_t scratch[10];
    order_identity(order, 5);
    assert_int_equal(order_sort((struct order_column){.keys = keys}, order, 5, scratch, rank), 3);
    assert_memory_equal(rank, expected, sizeof rank);
}

static void stairs__finds_neighbours_as_a_scan_does(void **state)
{
    (void)state;
    static const size_t sizes[] = {2, 64, 65, 4096, 4097, 20000};
    uint64_t random = 3;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t n = sizes[k];
        uint8_t *member = xcalloc(n, 1);
        struct stairs s;
        stairs_init(&s, n);
        member[0] = member[n - 1] = 1;
        stairs_insert(&s, 0);
        stairs_insert(&s, n - 1);
        for (int step = 0; step < 3000; step++) {
            const size_t i = next_random(&random) % n;
            size_t before = i, after = i + 1;
            while (!member[before]) before--;
            assert_int_equal(stairs_at_or_before(&s, i), before);
            while (after < n && !member[after]) after++;
            if (after < n) assert_int_equal(stairs_after(&s, i), after);
            if (i == 0 || i == n - 1) continue;
            member[i] = step % 400 < 200;
            if (member[i])
                stairs_insert(&s, i);
            else
                stairs_remove(&s, i);
        }
        stairs_release(&s);
        free(member);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order__sorts_any_keys_stably),
        cmocka_unit_test(order__keys_order_as_the_numbers_do),
        cmocka_unit_test(order__ranks_are_dense),
        cmocka_unit_test(stairs__finds_neighbours_as_a_scan_does),
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
        cmocka_unit_test(front__of_a_stream_is_the_front_of_the_batch),
        cmocka_unit_test(front__maximises_what_it_is_told_to),
        cmocka_unit_test(front__gives_ids_in_ascending_order),
        cmocka_unit_test(front__does_not_consider_nan),
        cmocka_unit_test(front__goes_on_after_finish),
        cmocka_unit_test(front__without_points_is_empty),
        cmocka_unit_test(front__of_a_stream_outgrows_its_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
