/* The front of a stream against the front of the same points at once. */
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
#include "base/xalloc.h"
#include "front_points.h"

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
    enum { N = 4000 };
    static const size_t buffers[] = {1, 300, 1024, 100000};
    static const bool minimise[FRONT_OBJECTIVES_MAX] = {false};
    uint8_t *keep = xmalloc(N);
    for (int m = 1; m <= 5; m++)
        for (int shape = 0; shape < SHAPES; shape++) {
            double *values = points_new((enum shape)shape, 12, N, m);
            front_compute(values, N, m, keep);
            for (size_t b = m < 4 ? 0 : 1; b < sizeof buffers / sizeof *buffers; b++) {
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
    const double values[] = {1, 1, (double)NAN, 0, 0, (double)NAN, -5, (double)NAN, 2, 0};
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

/* The buffer has grown with the front when points come that dominate all of it. */
static void front__of_a_stream_may_shrink(void **state)
{
    (void)state;
    enum { N = 3000 };
    static const bool minimise[2] = {false};
    double *values = xmalloc(2 * N * sizeof *values);
    uint8_t *keep = xmalloc(N);
    uint64_t random = 6;
    for (size_t i = 0; i < N; i++) {
        values[2 * i] = uniform(&random) - (i == 1000 || i == 2000 ? (double)i : 0);
        values[2 * i + 1] = i == 1000 || i == 2000 ? values[2 * i] : 1 - values[2 * i] - (i > 2000 ? 3000 : 0);
    }
    front_compute(values, N, 2, keep);
    for (size_t buffer = 1; buffer < 200; buffer = buffer * 3 + 1) {
        struct front *f = front_new_sized(2, minimise, buffer);
        stream_points(f, values, N, 2, 0);
        expect_front(f, values, keep, N, 2, 0);
        front_free(f);
    }
    free(keep);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(front__of_a_stream_is_the_front_of_the_batch),
        cmocka_unit_test(front__maximises_what_it_is_told_to),
        cmocka_unit_test(front__gives_ids_in_ascending_order),
        cmocka_unit_test(front__does_not_consider_nan),
        cmocka_unit_test(front__goes_on_after_finish),
        cmocka_unit_test(front__without_points_is_empty),
        cmocka_unit_test(front__of_a_stream_outgrows_its_buffer),
        cmocka_unit_test(front__of_a_stream_may_shrink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
