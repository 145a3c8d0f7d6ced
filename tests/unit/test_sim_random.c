/* Random streams: known values, uniformity, independence, moments. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <gsl/gsl_cdf.h>

#include "sim/sim.h"

static struct dse_random stream(uint64_t seed, uint64_t purpose)
{
    struct dse_sim *sim = sim_new(NULL);
    dse_sim_seed(sim, seed);
    const struct dse_random r = dse_sim_random(sim, purpose);
    sim_free(sim);
    return r;
}

/* Chance of a statistic as large as this, or larger, under chi-squared with n - 1 degrees of freedom. */
static double chance(const uint64_t *count, size_t n, double expected)
{
    double chi2 = 0;
    for (size_t i = 0; i < n; i++) chi2 += ((double)count[i] - expected) * ((double)count[i] - expected) / expected;
    return gsl_cdf_chisq_Q(chi2, (double)n - 1);
}

/* Neither too uneven nor too even to be true. */
static void assert_even(const uint64_t *count, size_t n, double expected)
{
    const double p = chance(count, n, expected);
    assert_true(p > 1e-4 && p < 1 - 1e-4);
}

static void random__is_xoshiro256(void **state)
{
    (void)state;
    /* state 1, 2, 3, 4: the first outputs, as the authors' C code (prng.di.unimi.it/xoshiro256starstar.c) gives them */
    static const uint64_t expected[] = {11520,
                                        0,
                                        1509978240,
                                        UINT64_C(1215971899390074240),
                                        UINT64_C(1216172134540287360),
                                        UINT64_C(607988272756665600),
                                        UINT64_C(16172922978634559625),
                                        UINT64_C(8476171486693032832)};
    struct dse_random r = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) assert_true(dse_random_u64(&r) == expected[i]);
}

static void random__streams_are_the_same_each_time_and_differ_by_seed_and_purpose(void **state)
{
    (void)state;
    enum { N = 64 };
    uint64_t first[N];
    for (uint64_t i = 0; i < N; i++) {
        struct dse_random a = stream(i / 8, i % 8), b = stream(i / 8, i % 8);
        first[i] = dse_random_u64(&a);
        assert_true(first[i] == dse_random_u64(&b));
        for (uint64_t j = 0; j < i; j++) assert_true(first[i] != first[j]);
    }
    /* 1, 2 is not 2, 1 and the caller's seed goes before the model's */
    struct dse_sim *sim = sim_new(&(struct sim_options){.seed_given = true, .seed = 3});
    dse_sim_seed(sim, 99);
    struct dse_random r = dse_sim_random(sim, 5);
    assert_true(dse_random_u64(&r) == first[3 * 8 + 5]);
    sim_free(sim);
}

static void random__bits_of_neighbouring_streams_are_independent(void **state)
{
    (void)state;
    /* over streams of purposes 0, 1, 2, ... of one seed, and seeds 0, 1, 2, ... of one purpose: the top byte of the first number */
    for (int by_seed = 0; by_seed < 2; by_seed++) {
        uint64_t count[256] = {0};
        for (uint64_t i = 0; i < 25600; i++) {
            struct dse_random r = by_seed ? stream(i, 7) : stream(7, i);
            count[dse_random_u64(&r) >> 56]++;
        }
        assert_even(count, 256, 100);
    }
}

static void random__uniform_numbers_are_even_alone_and_in_pairs(void **state)
{
    (void)state;
    enum { N = 1 << 20, CELLS = 1 << 10 };
    static uint64_t one[CELLS], two[CELLS];
    struct dse_random r = stream(1, 1);
    double before = dse_random_uniform(&r);
    for (int i = 0; i < N; i++) {
        const double u = dse_random_uniform(&r);
        assert_true(u >= 0 && u < 1);
        one[(size_t)(u * CELLS)]++;
        two[(size_t)(u * 32) * 32 + (size_t)(before * 32)]++;
        before = u;
    }
    assert_even(one, CELLS, (double)N / CELLS);
    assert_even(two, CELLS, (double)N / CELLS);
}

static void random__below_is_without_bias(void **state)
{
    (void)state;
    struct dse_random r = stream(2, 0);
    static const uint64_t bounds[] = {2, 3, 7, 100, 1000};
    for (size_t b = 0; b < 5; b++) {
        uint64_t count[1000] = {0};
        for (uint64_t i = 0; i < 500 * bounds[b]; i++) count[dse_random_below(&r, bounds[b])]++;
        assert_even(count, bounds[b], 500);
    }
    for (int i = 0; i < 100; i++) assert_int_equal(dse_random_below(&r, 1), 0);
    /* With 3/4 of 2^64 a bound, taking the remainder would make the first third twice as likely as the rest. */
    const uint64_t large = UINT64_C(3) << 62;
    uint64_t thirds[3] = {0};
    for (int i = 0; i < 30000; i++) {
        const uint64_t v = dse_random_below(&r, large);
        assert_true(v < large);
        thirds[v / (large / 3)]++;
    }
    assert_even(thirds, 3, 10000);
}

static void random__normal_numbers_follow_the_normal_distribution(void **state)
{
    (void)state;
    enum { N = 1 << 20, CELLS = 512 };
    static uint64_t count[CELLS];
    struct dse_random r = stream(3, 0);
    double sum = 0, squares = 0, fourths = 0;
    for (int i = 0; i < N; i++) {
        const double x = dse_random_normal(&r);
        sum += x;
        squares += x * x;
        fourths += x * x * x * x;
        count[(size_t)(gsl_cdf_ugaussian_P(x) * CELLS)]++;
    }
    assert_even(count, CELLS, (double)N / CELLS);
    /* within four standard errors: of the mean 1, of the second moment sqrt(2), of the fourth sqrt(96), each over sqrt(N) */
    assert_true(fabs(sum / N) < 4 / sqrt(N));
    assert_true(fabs(squares / N - 1) < 4 * sqrt(2.0 / N));
    assert_true(fabs(fourths / N - 3) < 4 * sqrt(96.0 / N));
}

/* The polar method with the library's logarithm gives the same numbers but for rounding. */
static void random__normal_numbers_are_as_exact_as_doubles(void **state)
{
    (void)state;
    struct dse_random r = stream(4, 0), again = r;
    for (int i = 0; i < 100000; i++) {
        double u, square;
        do {
            u = 2 * dse_random_uniform(&again) - 1;
            const double v = 2 * dse_random_uniform(&again) - 1;
            square = u * u + v * v;
        } while (square >= 1 || square == 0);
        const double expected = u * sqrt(-2 * log(square) / square);
        assert_true(fabs(dse_random_normal(&r) - expected) <= 1e-15 * fabs(expected));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random__is_xoshiro256),
        cmocka_unit_test(random__streams_are_the_same_each_time_and_differ_by_seed_and_purpose),
        cmocka_unit_test(random__bits_of_neighbouring_streams_are_independent),
        cmocka_unit_test(random__uniform_numbers_are_even_alone_and_in_pairs),
        cmocka_unit_test(random__below_is_without_bias),
        cmocka_unit_test(random__normal_numbers_follow_the_normal_distribution),
        cmocka_unit_test(random__normal_numbers_are_as_exact_as_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
