/* space/sampler.h and the points that a space makes of it. */
#include "bed.h"

#include <gsl/gsl_qrng.h>

static struct sampler *sampler(enum sample_method method, uint64_t points, uint64_t seed, bool scramble, size_t axes)
{
    const struct sample_section s = {.method = method, .points = points, .seed = seed, .scramble = scramble};
    return sampler_new(&s, axes, UINT64_MAX);
}

/* ---- sequences -------------------------------------------------------------------------------------------------------------- */

static void follows_gsl(enum sample_method method, const gsl_qrng_type *type, uint64_t skipped, double tolerance)
{
    enum { AXES = 12, POINTS = 5000 };
    struct sampler *s = sampler(method, POINTS, 1, false, AXES);
    gsl_qrng *q = gsl_qrng_alloc(type, AXES);
    for (uint64_t i = 1; i < POINTS; i++) {
        double x[AXES];
        gsl_qrng_get(q, x);
        for (size_t a = 0; a < AXES; a++)
            if (fabs(x[a] - sampler_at(s, i + skipped, a)) > tolerance)
                fail_msg("point %d, axis %zu: %.17g, not %.17g", (int)i, a, sampler_at(s, i + skipped, a), x[a]);
    }
    gsl_qrng_free(q);
    sampler_free(s);
}

static void sobol__is_gsls_from_any_point_on(void **state)
{
    (void)state;
    follows_gsl(SAMPLE_SOBOL, gsl_qrng_sobol, 0, 0);
}

static void halton__is_gsls_from_any_point_on(void **state)
{
    (void)state;
    follows_gsl(SAMPLE_HALTON, gsl_qrng_halton, 0, 1e-14);
}

/* Points in each of n equal slices of an axis. */
static void assert_slices(const struct sampler *s, size_t axis, uint64_t points, size_t n, uint64_t least, uint64_t most)
{
    uint64_t *count = xcalloc(n, sizeof *count);
    for (uint64_t i = 0; i < points; i++) {
        const double x = sampler_at(s, i, axis);
        assert_true(x >= 0 && x < 1);
        count[(size_t)(x * (double)n + 1e-9)]++; /* a third of a Halton axis is no double */
    }
    for (size_t k = 0; k < n; k++)
        if (count[k] < least || count[k] > most) fail_msg("axis %zu, slice %zu: %d points", axis, k, (int)count[k]);
    free(count);
}

static void sobol__has_a_point_in_every_slice_scrambled_or_not(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct sampler *s = sampler(SAMPLE_SOBOL, 1024, seed, seed > 0, 20);
        for (size_t a = 0; a < 20; a++) assert_slices(s, a, 1024, 1024, 1, 1);
        sampler_free(s);
    }
}

/* The first two axes are a (0, 2)-sequence: any split of 2^k points into 2^j by 2^(k - j) boxes has one in each. */
static void sobol__fills_the_boxes_of_two_axes(void **state)
{
    (void)state;
    enum { K = 8 };
    struct sampler *s = sampler(SAMPLE_SOBOL, 1 << K, 9, true, 2);
    for (int j = 0; j <= K; j++) {
        bool there[1 << K] = {false};
        for (uint64_t i = 0; i < 1 << K; i++) {
            const int x = (int)(sampler_at(s, i, 0) * (1 << j)), y = (int)(sampler_at(s, i, 1) * (1 << (K - j)));
            const int box = x << (K - j) | y;
            assert_false(there[box]);
            there[box] = true;
        }
    }
    sampler_free(s);
}

static void halton__fills_the_slices_of_its_primes(void **state)
{
    (void)state;
    static const size_t primes[] = {2, 3, 5, 7, 11, 13};
    for (int scrambled = 0; scrambled < 2; scrambled++) {
        struct sampler *s = sampler(SAMPLE_HALTON, 3000, 5, scrambled, 6);
        for (size_t a = 0; a < 6; a++) {
            const size_t square = primes[a] * primes[a];
            assert_slices(s, a, 10 * square, square, 10, 10);
        }
        sampler_free(s);
    }
}

static void lhs__has_one_point_in_every_slice(void **state)
{
    (void)state;
    static const uint64_t points[] = {1, 2, 3, 10, 97, 1000};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        struct sampler *s = sampler(SAMPLE_LHS, points[i], 3, false, 5);
        for (size_t a = 0; a < 5; a++) assert_slices(s, a, points[i], (size_t)points[i], 1, 1);
        sampler_free(s);
    }
}

/* Of independent or well scrambled axes the correlation of n points is about n^-1/2. */
static void samples__have_axes_that_do_not_follow_each_other(void **state)
{
    (void)state;
    enum { POINTS = 4096, AXES = 10 };
    for (enum sample_method m = SAMPLE_SOBOL; m < SAMPLE_METHODS; m++) {
        struct sampler *s = sampler(m, POINTS, 11, m == SAMPLE_SOBOL || m == SAMPLE_HALTON, AXES);
        for (size_t a = 0; a < AXES; a++)
            for (size_t b = 0; b < a; b++) {
                double sum = 0;
                for (uint64_t i = 0; i < POINTS; i++) sum += (sampler_at(s, i, a) - 0.5) * (sampler_at(s, i, b) - 0.5);
                const double correlation = 12 * sum / POINTS;
                if (fabs(correlation) > 5.0 / 64) fail_msg("%s, axes %zu and %zu: %.3f", sample_names[m], a, b, correlation);
            }
        sampler_free(s);
    }
}

static void samples__go_by_their_seed(void **state)
{
    (void)state;
    for (enum sample_method m = SAMPLE_SOBOL; m < SAMPLE_METHODS; m++) {
        const bool scrambled = m == SAMPLE_SOBOL || m == SAMPLE_HALTON;
        struct sampler *s[3];
        for (uint64_t k = 0; k < 3; k++) s[k] = sampler(m, 100, 1 + k % 2, scrambled, 3);
        int same = 0;
        for (uint64_t i = 0; i < 100; i++) {
            assert_true(sampler_at(s[0], i, 1) == sampler_at(s[2], i, 1));
            same += sampler_at(s[0], i, 1) == sampler_at(s[1], i, 1);
        }
        assert_true(same < 10);
        for (int k = 0; k < 3; k++) sampler_free(s[k]);
    }
}

static void random__goes_through_a_grid_without_coming_twice(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 2, 3, 17, 64, 1000, 4097};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        const struct sample_section section = {.method = SAMPLE_RANDOM, .points = counts[k], .seed = 7};
        struct sampler *s = sampler_new(&section, 2, counts[k]);
        uint8_t *there = xcalloc(counts[k], 1);
        uint64_t in_place = 0;
        assert_true(sampler_is_distinct(s));
        for (uint64_t i = 0; i < counts[k]; i++) {
            const uint64_t at = sampler_index(s, i);
            assert_true(at < counts[k] && !there[at]);
            there[at] = 1;
            in_place += at == i;
        }
        if (counts[k] > 100) assert_true(in_place < 10);
        free(there);
        sampler_free(s);
    }
}

/* ---- spaces ------------------------------------------------------------------------------------------------------------------ */

#define PARAMS \
    "[params]\nllm = 'llama2-7b'\ntiles = [2, 4, 8]\nsram_mib = { from = 1, to = 4, continuous = true }\n" \
    "bandwidth_gbs = { from = 256, to = 2048, continuous = true, scale = 'log' }\npipeline = ['exact', 'eq7']\n" \
    "[objectives]\ntokens_per_s = 'max'\n"

static void space__a_sample_lies_within_its_axes(void **state)
{
    (void)state;
    static const char *const methods[] = {"sobol", "halton", "lhs", "random"};
    for (size_t k = 0; k < 4; k++) {
        char *text = xasprintf(PARAMS "[sample]\nmethod = '%s'\npoints = 600\nseed = 2\n", methods[k]);
        struct bed *b = open_bed_in(catalog_data_dir(), "'lad'", text);
        struct rows whole = rows_of(b, 0, 600, false), parts = rows_of(b, 0, 7, true);
        assert_int_equal(whole.n, 600);
        assert_true(space_is_sample(whole.space));
        double below = 0, tiles = 0;
        for (size_t i = 0; i < whole.n; i++) {
            const double sram = number(&whole, i, "sram_mib"), bandwidth = number(&whole, i, "bandwidth_gbs");
            assert_true(sram >= 1 && sram <= 4 && bandwidth >= 256 && bandwidth <= 2048);
            below += bandwidth < sqrt(256.0 * 2048);
            tiles += number(&whole, i, "tiles") == 4;
            assert_true(sram == number(&parts, i, "sram_mib")); /* no matter where it begins */
            const double one = number(&whole, i, "tokens_per_s"), other = number(&parts, i, "tokens_per_s");
            assert_memory_equal(&one, &other, sizeof one); /* NaN where it is infeasible */
        }
        assert_in_range((int)below, 300 - 60, 300 + 60);
        assert_in_range((int)tiles, 200 - 60, 200 + 60);
        uint64_t neighbours[SPACE_NEIGHBOURS_MAX];
        assert_int_equal(space_neighbours(whole.space, 5, neighbours), 0);
        rows_release(&whole);
        rows_release(&parts);
        close_bed(b);
        free(text);
    }
}

static uint64_t hash_of(const char *params, const char *sample)
{
    char *text = xasprintf("%s\n%s", params, sample);
    struct bed *b = open_bed_in(catalog_data_dir(), "'lad'", text);
    struct space *sp = space_new(b->sweep, 0, 1000000, &b->diags);
    assert_non_null(sp);
    const uint64_t h = space_hash(sp);
    space_free(sp);
    close_bed(b);
    free(text);
    return h;
}

static void space__another_sample_is_another_space(void **state)
{
    (void)state;
    static const char *const samples[] = {
        "[sample]\nmethod = 'sobol'\npoints = 100\n",  "[sample]\nmethod = 'sobol'\npoints = 100\nscramble = false\n",
        "[sample]\nmethod = 'sobol'\npoints = 101\n",  "[sample]\nmethod = 'sobol'\npoints = 100\nseed = 1\n",
        "[sample]\nmethod = 'halton'\npoints = 100\n",
    };
    enum { N = sizeof samples / sizeof *samples };
    uint64_t h[N];
    for (size_t i = 0; i < N; i++) {
        h[i] = hash_of(PARAMS, samples[i]);
        for (size_t k = 0; k < i; k++) assert_int_not_equal(h[i], h[k]);
    }
    assert_int_equal(h[0], hash_of(PARAMS, "[sample]\npoints = 100\nseed = 0\nmethod = 'sobol'\n"));
    const char *fixed = "[params]\nsram_mib = [1, 2]\n[objectives]\ntokens_per_s = 'max'\n[sample]\nmethod = 'lhs'\npoints = 2\n";
    const char *free_axis = "[params]\nsram_mib = { from = 1, to = 2, continuous = true }\n[objectives]\ntokens_per_s = 'max'\n"
                            "[sample]\nmethod = 'lhs'\npoints = 2\n";
    assert_int_not_equal(hash_of(fixed, ""), hash_of(free_axis, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sobol__is_gsls_from_any_point_on),
        cmocka_unit_test(halton__is_gsls_from_any_point_on),
        cmocka_unit_test(sobol__has_a_point_in_every_slice_scrambled_or_not),
        cmocka_unit_test(sobol__fills_the_boxes_of_two_axes),
        cmocka_unit_test(halton__fills_the_slices_of_its_primes),
        cmocka_unit_test(lhs__has_one_point_in_every_slice),
        cmocka_unit_test(samples__have_axes_that_do_not_follow_each_other),
        cmocka_unit_test(samples__go_by_their_seed),
        cmocka_unit_test(random__goes_through_a_grid_without_coming_twice),
        cmocka_unit_test(space__a_sample_lies_within_its_axes),
        cmocka_unit_test(space__another_sample_is_another_space),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    registry_release();
    return failed;
}
