/* Head kinds: what is fitted to a head makes heads with its statistics; features are what they say. */
#include "base/xalloc.h"
#include "complaints.h"
#include "random_head.h"
#include "samples.h"
#include "attention/head_kinds.h"

#include <math.h>
#include <stdlib.h>

static void near_to(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%g is not %g within %g", a, b, tolerance);
}

/* A head of the generator with the make of real ones: a sink, heavy hitters, scores that fall with the logarithm of the age. */
static struct generator realistic(void)
{
    struct generator g = generator_defaults;
    g.n = 512;
    g.d = 128;
    g.norm_sd = g.noise_decay = g.cluster_noise = g.recency_gain = 0;
    g.cluster_growth = 1;
    g.sinks = 1;
    g.level_offset = 0;
    g.level_sd = 0.8;
    g.heavy_share = 0.02;
    g.heavy_gain = 3;
    g.noise_sd = 0.8;
    g.rho = 0.9;
    g.fast_share = 0.3;
    g.recency_power = 0.5;
    g.sink_gain = 2;
    g.sink_growth = 0.8;
    g.sink_sd = 0.5;
    g.sink_value = 0.1;
    return g;
}

static struct head make(const struct generator *g, uint64_t number)
{
    struct diags d;
    diags_init(&d);
    struct head h;
    assert_true(generator_head(g, number, &h, &d));
    expect_silence(&d);
    return h;
}

static void features__of_equal_scores_are_shares_of_positions(void **state)
{
    (void)state;
    enum { N = 512 };
    struct head h;
    head_init(&h, N, 4); /* all scores are 0 */
    struct head_features f = head_features(&h, N);
    double first = 0, newest = 0, half = 0, tenth = 0, steps = 0;
    for (size_t t = N / 2; t < N; t += 8, steps++) {
        double n = (double)t + 1;
        first += 1 / n;
        newest += HEAD_NEWEST / n;
        half += (n - floor(n / 2)) / n;
        tenth += floor(n / 10) / n;
    }
    near_to(f.first_mass, first / steps, 1e-12);
    near_to(f.newest_mass, newest / steps, 1e-12);
    near_to(f.half_mass, half / steps, 1e-12);
    near_to(f.tenth_mass, tenth / steps, 1e-12);
    near_to(f.step_correlation, 0, 0);
    near_to(f.active_share, 0, 0);
    assert_true(isnan(f.hit_ratio));
    assert_int_equal(head_kind_of(&f), HEAD_BROAD);
    head_release(&h);
}

static void features__tell_kinds_apart(void **state)
{
    (void)state;
    assert_int_equal(head_kind_of(&(struct head_features){.first_mass = 0.6, .newest_mass = 0.3}), HEAD_SINK);
    assert_int_equal(head_kind_of(&(struct head_features){.first_mass = 0.2, .newest_mass = 0.3}), HEAD_LOCAL);
    assert_int_equal(head_kind_of(&(struct head_features){.first_mass = 0.2, .newest_mass = 0.1, .tenth_mass = 0.9}), HEAD_SPARSE);
    assert_int_equal(head_kind_of(&(struct head_features){.first_mass = 0.2, .newest_mass = 0.1, .tenth_mass = 0.4}), HEAD_BROAD);
}

/* The score of a position is the sum of the parts that the header names, whatever dimension they are in. */
static void generator__scores_fall_with_the_logarithm_of_the_age(void **state)
{
    (void)state;
    struct generator g = realistic();
    g.level_sd = g.heavy_gain = g.noise_sd = g.sink_sd = g.step_sd = 0;
    g.d = 512; /* many pairs that turn */
    struct head h = make(&g, 0);
    double *x = xcalloc((size_t)g.n, sizeof *x), near = 0, far = 0;
    for (size_t t = 256; t < 512; t++) {
        head_scores(&h, t, x);
        for (size_t a = 8; a < 16; a++) near += x[t - a] / 8 / 256;
        for (size_t a = 128; a < 256; a++) far += x[t - a] / 128 / 256;
    }
    near_to(near - far, g.recency_power * log(16), 0.25); /* four octaves */
    g.recency_power = 0;
    head_release(&h);
    h = make(&g, 0);
    head_scores(&h, 300, x);
    near_to(x[0] - x[5], g.sink_gain + g.sink_growth * log1p(300), 1e-4);
    head_release(&h);
    free(x);
}

static void generator__draws_a_share_of_the_noise_at_each_step(void **state)
{
    (void)state;
    struct generator g = realistic();
    g.level_sd = g.heavy_gain = g.step_sd = g.recency_power = g.sink_sd = g.sink_growth = 0;
    for (int fast = 0; fast < 2; fast++) {
        g.fast_share = fast;
        struct head h = make(&g, 1);
        struct head_features f = head_features(&h, (size_t)g.n);
        near_to(f.step_correlation, fast ? 0 : g.rho, 0.05);
        head_release(&h);
    }
}

static void fit__makes_a_head_like_the_one_it_was_given(void **state)
{
    (void)state;
    struct generator g = realistic();
    for (uint64_t i = 0; i < 3; i++) {
        g.recency_power = 0.2 * (double)i;
        g.sink_gain = 1 + (double)i;
        struct head h = make(&g, i);
        struct head_component c = head_component_fit(&h, 512, 7);
        if (i < (uint64_t)samples(1, 3)) {
            struct head_component again = head_component_fit(&h, 512, 7);
            assert_memory_equal(&c.g, &again.g, sizeof c.g);
        }
        near_to(c.made.first_mass, c.real.first_mass, 0.1);
        near_to(c.made.newest_mass, c.real.newest_mass, 0.1);
        near_to(c.made.tenth_mass, c.real.tenth_mass, 0.05);
        near_to(c.made.step_correlation, c.real.step_correlation, 0.08);
        near_to(c.made.active_share / c.real.active_share, 1, 0.3);
        struct head made;
        head_component_make(&c, 3, 300, &made);
        assert_int_equal(made.n, 300);
        head_release(&made);
        head_release(&h);
    }
}

static void fit__stays_within_ranges_whatever_the_head(void **state)
{
    (void)state;
    enum { N = 256 };
    for (int extreme = 0; extreme < 3; extreme++) {
        struct head h;
        head_init(&h, N, 8);
        uint64_t seed = 3;
        for (size_t i = 0; i < N * 8 && extreme; i++) {
            h.q[i] = (float)((extreme == 2 ? 300 : 1e-3) * random_normal(&seed));
            h.k[i] = (float)((extreme == 2 ? 300 : 1e-3) * random_normal(&seed));
        }
        struct head_component c = head_component_fit(&h, N, 1);
        struct diags d;
        diags_init(&d);
        assert_true(generator_check(&c.g, &d));
        expect_silence(&d);
        for (size_t i = 0; i + 1 < HEAD_FEATURES; i++) assert_true(isfinite(head_feature(&c.made, i)));
        head_release(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features__of_equal_scores_are_shares_of_positions),
        cmocka_unit_test(features__tell_kinds_apart),
        cmocka_unit_test(generator__scores_fall_with_the_logarithm_of_the_age),
        cmocka_unit_test(generator__draws_a_share_of_the_noise_at_each_step),
        cmocka_unit_test(fit__makes_a_head_like_the_one_it_was_given),
        cmocka_unit_test(fit__stays_within_ranges_whatever_the_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
