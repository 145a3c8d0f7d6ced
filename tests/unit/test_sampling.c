/* Positions and lengths that stand for ranges: weights, exactness, and what is beyond the longest. */
#include <dse/sampling.h>

#include <math.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t seed = 7;
static int64_t below(int64_t bound)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)bound);
}

static double power(double x, int k)
{
    double y = 1;
    while (k-- > 0) y *= x;
    return y;
}

static void positions__are_of_the_range_and_exact_for_polynomials(void **state)
{
    (void)state;
    for (int trial = 0; trial < 2000; trial++) {
        int64_t from = below(5000), to = from + below(trial % 2 ? 20 : 3000), want = 1 + below(DSE_POSITIONS_MAX);
        int64_t node[DSE_POSITIONS_MAX];
        double weight[DSE_POSITIONS_MAX];
        size_t n = dse_positions(from, to, want, node, weight);
        assert_true(n >= 1 && n <= (size_t)want);
        for (size_t i = 0; i < n; i++) {
            assert_true(node[i] >= from && node[i] <= to);
            if (i > 0) assert_true(node[i] > node[i - 1]);
        }
        double half = fmax(1, (double)(to - from) / 2), middle = (double)(from + to) / 2;
        for (int k = 0; k < (int)n && k <= 5; k++) {
            double mean = 0, sum = 0;
            for (int64_t x = from; x <= to; x++) mean += power(((double)x - middle) / half, k) / (double)(to - from + 1);
            for (size_t i = 0; i < n; i++) sum += weight[i] * power(((double)node[i] - middle) / half, k);
            if (fabs(sum - mean) > 1e-8)
                fail_msg("%lld..%lld, %zu nodes, x^%d: %.12g, not %.12g", (long long)from, (long long)to, n, k, sum, mean);
        }
    }
}

/* What a head takes: a fixed part and a part for each position. */
static void lengths__are_exact_for_straight_lines_however_long(void **state)
{
    (void)state;
    for (int trial = 0; trial < 500; trial++) {
        struct dse_lengths l = {0};
        int64_t from = 1 + below(3000), to = from + below(4000), longest = dse_longest(below(100000), 1 + below(16));
        dse_lengths_add(&l, from, to, 2 + below(DSE_POSITIONS_MAX - 1), longest, 0.75);
        double sum = 0, mean = 0, weights = 0;
        for (size_t i = 0; i < l.n; i++) {
            assert_true(l.at[i].positions >= 1 && l.at[i].positions <= longest);
            weights += l.at[i].weight;
            sum += l.at[i].weight * (17 + 2.5 * (double)l.at[i].positions);
        }
        for (int64_t x = from; x <= to; x++) mean += 0.75 * (17 + 2.5 * (double)x) / (double)(to - from + 1);
        assert_true(l.n <= DSE_LENGTHS_MAX);
        assert_true(fabs(weights - 0.75) < 1e-9);
        assert_true(fabs(sum - mean) < 1e-7 * mean);
    }
}

static void longest__keeps_the_rows(void **state)
{
    (void)state;
    assert_true(dse_longest(0, 8) == INT64_MAX);
    assert_int_equal(dse_longest(65536, 8), 4096);
    assert_true(dse_longest(1, 8) >= 64); /* never so short that a pipeline does not fill */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions__are_of_the_range_and_exact_for_polynomials),
        cmocka_unit_test(lengths__are_exact_for_straight_lines_however_long),
        cmocka_unit_test(longest__keeps_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
