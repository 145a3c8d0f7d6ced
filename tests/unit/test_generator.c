/* Synthetic attention: its scores have the moments that were asked for; a head is a pure function of its parameters. */
#include "complaints.h"
#include "desc/schema.h"
#include "attention/generator.h"
#include "attention/locality.h"
#include "attention/score_stats.h"

#include <gsl/gsl_rng.h>

#include <math.h>
#include <stdlib.h>

/* Nothing but a level of 0 everywhere: a test adds what it looks at. */
static struct generator plain(int64_t n, int64_t d)
{
    return (struct generator){.seed = 7, .n = n, .d = d, .settle_steps = 1, .recency_steps = 1, .cluster_growth = 1};
}

static struct head make(const struct generator *g, uint64_t number)
{
    struct diags diags;
    diags_init(&diags);
    struct head h;
    if (!generator_head(g, number, &h, &diags)) {
        diags_print(&diags, stderr, false);
        fail_msg("no head was made");
    }
    diags_release(&diags);
    return h;
}

static bool same_bytes(const struct head *a, const struct head *b)
{
    size_t size = a->n * a->d * sizeof(float);
    return memcmp(a->q, b->q, size) == 0 && memcmp(a->k, b->k, size) == 0 && memcmp(a->v, b->v, size) == 0;
}

static void expect_near(const char *what, double got, double want, double error)
{
    if (fabs(got - want) <= error) return;
    fail_msg("%s: %g, wanted %g +- %g", what, got, want, error);
}

/* ---- a pure function ----------------------------------------------------------------------------------------------------- */

static void generator__makes_the_same_head_again(void **state)
{
    (void)state;
    struct generator g = generator_defaults;
    g.n = 100;
    struct head a = make(&g, 3), b = make(&g, 3), other = make(&g, 4);
    assert_true(same_bytes(&a, &b));
    for (size_t i = 0; i < 3; i++) {
        const float *x = i == 0 ? a.q : i == 1 ? a.k : a.v, *y = i == 0 ? other.q : i == 1 ? other.k : other.v;
        assert_memory_not_equal(x, y, a.n * a.d * sizeof *x);
    }
    g.seed++;
    struct head reseeded = make(&g, 3);
    assert_false(same_bytes(&a, &reseeded));
    head_release(&a);
    head_release(&b);
    head_release(&other);
    head_release(&reseeded);
}

static void generator__begins_a_longer_head_with_the_shorter(void **state)
{
    (void)state;
    struct generator g = generator_defaults;
    g.n = 50;
    struct head a = make(&g, 0);
    g.n = 120;
    struct head b = make(&g, 0);
    assert_true(same_bytes(&a, &b));
    head_release(&a);
    head_release(&b);
}

/* Streams of their own: what a parameter does not touch stays. */
/* All positions are made whichever steps have q. */
static void generator__makes_q_of_some_steps_alone(void **state)
{
    (void)state;
    const int32_t steps[] = {0, 3, 99, 199};
    struct generator g = generator_defaults;
    g.n = 200;
    g.d = 32;
    struct head all = make(&g, 5), some;
    struct diags diags;
    diags_init(&diags);
    assert_true(generator_head_sampled(&g, 5, steps, 4, &some, &diags));
    assert_memory_equal(all.k, some.k, all.n * all.d * sizeof(float));
    assert_memory_equal(all.v, some.v, all.n * all.d * sizeof(float));
    assert_int_equal(some.n_steps, 4);
    for (size_t i = 0; i < 4; i++)
        assert_memory_equal(head_query(&all, (size_t)steps[i]), head_query(&some, (size_t)steps[i]), all.d * sizeof(float));
    assert_null(head_query(&some, 1));
    head_release(&all);
    head_release(&some);
    diags_release(&diags);
}

static void generator__leaves_alone_what_a_parameter_does_not_touch(void **state)
{
    (void)state;
    struct generator g = generator_defaults;
    g.n = 80;
    struct head a = make(&g, 0);
    g.noise_sd *= 2;
    g.level_sd *= 2;
    struct head b = make(&g, 0);
    size_t size = a.n * a.d * sizeof *a.q;
    assert_memory_equal(a.q, b.q, size);
    assert_memory_equal(a.v, b.v, size);
    assert_memory_not_equal(a.k, b.k, size);
    head_release(&a);
    head_release(&b);
}

/* ---- moments ------------------------------------------------------------------------------------------------------------- */

static void generator__gives_levels_their_mean_and_deviation(void **state)
{
    (void)state;
    enum { N = 4000 };
    struct generator g = plain(N, 16);
    g.level_sd = 2.5;
    g.level_offset = -5;
    struct head h = make(&g, 0);
    double *scores = calloc(N, sizeof *scores), sum = 0, squares = 0;
    head_scores(&h, N - 1, scores);
    for (size_t i = 0; i < N; i++) sum += scores[i];
    for (size_t i = 0; i < N; i++) squares += (scores[i] - sum / N) * (scores[i] - sum / N);
    expect_near("mean", sum / N, -5, 4 * 2.5 / sqrt(N));
    expect_near("deviation", sqrt(squares / N), 2.5, 4 * 2.5 / sqrt(2.0 * N));
    free(scores);
    head_release(&h);
}

/* All positions hear the same query, so there are about as many independent series as dimensions of noise: 63 of 128. */
static void generator__makes_noise_that_is_ar1(void **state)
{
    (void)state;
    enum { N = 1200, WATCHED = 400 };
    struct generator g = plain(N, 128);
    g.noise_sd = 1.5;
    g.rho = 0.9;
    struct head h = make(&g, 0);
    double *scores = calloc(N, sizeof *scores), *before = calloc(N, sizeof *before), squares = 0, products = 0;
    for (size_t t = WATCHED; t < N; t++) {
        head_scores(&h, t, scores);
        for (size_t i = 0; i < WATCHED; i++) {
            squares += scores[i] * scores[i];
            products += scores[i] * before[i];
            before[i] = scores[i];
        }
    }
    double variance = squares / ((N - WATCHED) * WATCHED);
    double independent = 63 * (N - WATCHED) * (1 - 0.81) / (1 + 0.81);
    expect_near("variance", variance, 2.25, 2.25 * 4 * sqrt(2 / independent));
    expect_near("correlation", products / squares, 0.9, 0.01);
    free(before);
    free(scores);
    head_release(&h);
}

static void generator__lets_noise_settle(void **state)
{
    (void)state;
    enum { N = 1100 };
    struct generator g = plain(N, 64);
    g.noise_sd = 2;
    g.noise_decay = 0.5;
    g.settle_steps = 100;
    struct head h = make(&g, 0);
    double *scores = calloc(N, sizeof *scores), early = 0, late = 0;
    for (size_t t = 100; t < N; t++) {
        head_scores(&h, t, scores);
        for (size_t i = 0; i < 100; i++) {
            if (t < 300) early += scores[i] * scores[i] * (1 + (double)t / 100) / (200 * 100);
            if (t >= 900) late += scores[i] * scores[i] * (1 + (double)t / 100) / (200 * 100);
        }
    }
    expect_near("early variance, unsettled", early, 4, 4 * 4 * sqrt(2.0 / (200 * 31)));
    expect_near("late variance, unsettled", late, 4, 4 * 4 * sqrt(2.0 / (200 * 31)));
    free(scores);
    head_release(&h);
}

static void generator__gives_sinks_their_mass(void **state)
{
    (void)state;
    struct generator g = plain(200, 8);
    g.level_offset = -3;
    g.sinks = 4;
    g.sink_gain = 5;
    struct head h = make(&g, 0);
    double weights[200];
    for (size_t t = 10; t < 200; t += 63) {
        head_attention(&h, t, weights, NULL);
        double mass = weights[0] + weights[1] + weights[2] + weights[3];
        expect_near("mass", mass, 4 * exp(5) / (4 * exp(5) + (double)t - 3), 1e-5);
    }
    head_release(&h);
}

static void generator__makes_the_share_of_heavy_hitters(void **state)
{
    (void)state;
    enum { N = 4000 };
    struct generator g = plain(N, 4);
    g.heavy_share = 0.05;
    g.heavy_gain = 6;
    struct head h = make(&g, 0);
    double *scores = calloc(N, sizeof *scores), heavy = 0;
    head_scores(&h, N - 1, scores);
    for (size_t i = 0; i < N; i++) {
        bool is = scores[i] > 3;
        expect_near("level", scores[i], is ? 6 : 0, 1e-4);
        heavy += is;
    }
    expect_near("share", heavy / N, 0.05, 4 * sqrt(0.05 * 0.95 / N));
    free(scores);
    head_release(&h);
}

static void generator__favours_the_newest(void **state)
{
    (void)state;
    enum { N = 2000, OLD = 200 };
    struct generator g = plain(N, 128);
    g.recency_gain = 2;
    g.recency_steps = 10;
    struct head h = make(&g, 0);
    double *scores = calloc(N, sizeof *scores), mean[3] = {0}, old = 0;
    for (size_t t = OLD; t < N; t++) {
        head_scores(&h, t, scores);
        for (size_t a = 0; a < 3; a++) mean[a] += scores[t - 10 * a] / (N - OLD);
        old += scores[t - OLD] * scores[t - OLD] / (N - OLD);
    }
    for (size_t a = 0; a < 3; a++) expect_near("gain", mean[a], 2 * exp(-(double)a), 0.15);
    expect_near("deviation of old scores", sqrt(old), 2 / sqrt(63), 0.08);
    free(scores);
    head_release(&h);
}

static void generator__moves_all_scores_of_a_step_together(void **state)
{
    (void)state;
    enum { N = 2000 };
    struct generator g = plain(N, 8);
    g.level_sd = 2;
    g.step_sd = 1.5;
    struct head h = make(&g, 0);
    double *scores = calloc(N, sizeof *scores), apart = 0, sum = 0, squares = 0;
    for (size_t t = 1; t < N; t++) {
        head_scores(&h, t, scores);
        if (t == 1) apart = scores[1] - scores[0];
        expect_near("distance", scores[1] - scores[0], apart, 1e-4);
        sum += scores[0] / (N - 1);
        squares += scores[0] * scores[0] / (N - 1);
    }
    expect_near("deviation", sqrt(squares - sum * sum), 1.5, 4 * 1.5 / sqrt(2.0 * N));
    free(scores);
    head_release(&h);
}

static void generator__draws_values_of_variance_1(void **state)
{
    (void)state;
    struct generator g = plain(500, 20);
    struct head h = make(&g, 0);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < 10000; i++) {
        sum += (double)h.v[i];
        squares += (double)h.v[i] * (double)h.v[i];
    }
    expect_near("mean", sum / 10000, 0, 4 / sqrt(10000));
    expect_near("variance", squares / 10000, 1, 4 * sqrt(2.0 / 10000));
    head_release(&h);
}

/* ---- directions of keys -------------------------------------------------------------------------------------------------- */

/* Directional centers that Algorithm 1 leaves of head `number`. */
static double centers(const struct generator *g, uint64_t number)
{
    struct head h = make(g, number);
    struct diags diags;
    diags_init(&diags);
    struct locality_result r;
    assert_true(locality_run(&h, &locality_defaults, h.n - 1, &r, &diags));
    head_release(&h);
    return r.centers_at_end;
}

/* E K(n + 1) = E K(n) + (start + growth E K(n)) / (start + n): the Pitman-Yor process. Between heads K varies by about 60 %. */
static void generator__seats_keys_in_clusters_that_algorithm_1_finds(void **state)
{
    (void)state;
    enum { HEADS = 20 };
    struct generator g = plain(0, 64);
    g.level_sd = 2;
    g.level_offset = -5;
    g.noise_sd = 1;
    g.cluster_start = 0.3;
    g.cluster_growth = 0.5;
    double mean[2] = {0}, expected[2] = {0};
    for (size_t k = 0; k < 2; k++) {
        g.n = k ? 1024 : 64;
        for (uint64_t i = 0; i < HEADS; i++) mean[k] += centers(&g, i) / HEADS;
        expected[k] = 1;
        for (int64_t n = 1; n < g.n; n++) expected[k] += (0.3 + 0.5 * expected[k]) / (0.3 + (double)n);
        expect_near("centers", mean[k], expected[k], 4 * 0.6 * expected[k] / sqrt(HEADS));
    }
    assert_true(mean[1] / 1024 < mean[0] / 64 / 2);
}

static void generator__gives_every_key_its_direction_when_asked(void **state)
{
    (void)state;
    struct generator g = plain(150, 64);
    g.noise_sd = 1;
    assert_true(centers(&g, 0) == 150);
    g.cluster_growth = 0; /* and start 0: all in one */
    assert_true(centers(&g, 0) == 1);
}

/* ---- statistics ---------------------------------------------------------------------------------------------------------- */

static void score_stats__agree_with_locality(void **state)
{
    (void)state;
    struct generator g = generator_defaults;
    g.n = 600;
    g.noise_sd = 2;
    struct head h = make(&g, 1);
    struct score_stats s[2] = {{.n = 300}, {.n = 600}};
    score_stats_run(&h, -16.8, 6.5, s, 2);
    struct locality_options o = locality_defaults;
    o.exact_scores = true;
    struct locality_result r;
    struct diags diags;
    diags_init(&diags);
    assert_true(locality_run(&h, &o, h.n - SCORE_STATS_STEPS, &r, &diags));
    expect_near("top 1", s[1].top1, r.top1, 1e-3);
    expect_near("top 2", s[1].top2, r.top2, 1e-3);
    expect_near("active", s[1].active, r.at.active, 0.01 * r.at.active);
    expect_near("hit ratio", s[1].hit, r.at.hit_ratio, 2e-3);
    assert_true(r.at.active > 1 && r.at.hit_ratio > 0.1 && r.top2 > 0.01); /* there was something to agree on */
    assert_true(s[0].n == 300 && s[0].top1 > 0 && fabs(s[0].top1 - s[1].top1) > 1e-9);
    head_release(&h);
}

static void score_stats__count_what_is_out_of_range(void **state)
{
    (void)state;
    enum { N = 400 };
    struct generator g = plain(N, 16);
    g.step_sd = 2;
    struct head h = make(&g, 0);
    double scores[N];
    uint64_t outside = 0, steps = 0;
    for (size_t t = 0; t < N; t++) {
        head_scores(&h, t, scores);
        bool out = !(scores[0] > -3 && scores[0] < 4); /* all are alike */
        outside += out ? t + 1 : 0;
        steps += out;
    }
    struct score_stats s = {.n = N};
    score_stats_run(&h, -3, 4, &s, 1);
    assert_true(steps > 5);
    expect_near("inside", s.inside, 1 - (double)outside / (N * (N + 1) / 2.0), 1e-12);
    expect_near("recomputed", s.recomputed, (double)steps / N, 1e-12);
    head_release(&h);
}

/* ---- ranges -------------------------------------------------------------------------------------------------------------- */

static void generator__names_the_parameter_that_is_out_of_range(void **state)
{
    (void)state;
    struct schema rows;
    schema_init_params(&rows, generator_params);
    assert_true(rows.n == 25);
    struct head untouched = {.n = 77};
    for (size_t i = 0; i < rows.n; i++) {
        const struct field *f = &rows.fields[i];
        for (size_t k = 0; k < 3; k++) {
            struct generator g = generator_defaults;
            struct value v = {.f64 = k == 0 ? f->min - 1 : k == 1 ? f->max + 1 : (double)NAN};
            if (f->type == DSE_TYPE_I64) v.i64 = k == 0 ? (int64_t)f->min - 1 : (int64_t)f->max + 1;
            field_set(f, &g, v);
            struct diags diags;
            diags_init(&diags);
            assert_false(generator_head(&g, 0, &untouched, &diags));
            assert_true(untouched.n == 77);
            expect_complaint(&diags, 0, 0, f->name);
        }
    }
    schema_release(&rows);
}

/* Parameters anywhere in their ranges, ends included: all values finite, and so are the weights. */
static void generator__is_finite_everywhere_in_range(void **state)
{
    (void)state;
    enum { N_MAX = 48 };
    static const int64_t dims[] = {1, 2, 3, 4, 5, 16, 33};
    gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
    struct schema rows;
    schema_init_params(&rows, generator_params);
    for (size_t trial = 0; trial < 400; trial++) {
        struct generator g;
        for (size_t i = 0; i < rows.n; i++) {
            const struct field *f = &rows.fields[i];
            unsigned long way = gsl_rng_uniform_int(r, 4);
            double x = way == 0 ? f->min : way == 1 ? f->max : f->min + gsl_rng_uniform(r) * (f->max - f->min);
            field_set(f, &g, f->type == DSE_TYPE_I64 ? (struct value){.i64 = (int64_t)x} : (struct value){.f64 = x});
        }
        g.n = trial % 5 ? 1 + (int64_t)gsl_rng_uniform_int(r, N_MAX) : 1;
        g.d = dims[gsl_rng_uniform_int(r, sizeof dims / sizeof *dims)];
        struct head h = make(&g, trial);
        for (size_t i = 0; i < h.n * h.d; i++)
            if (!isfinite(h.q[i]) || !isfinite(h.k[i]) || !isfinite(h.v[i])) fail_msg("trial %zu: element %zu", trial, i);
        double weights[N_MAX], sum = 0;
        head_attention(&h, h.n - 1, weights, NULL);
        for (size_t i = 0; i < h.n; i++) sum += weights[i];
        expect_near("sum of weights", sum, 1, 1e-9);
        head_release(&h);
    }
    schema_release(&rows);
    gsl_rng_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator__makes_the_same_head_again),
        cmocka_unit_test(generator__begins_a_longer_head_with_the_shorter),
        cmocka_unit_test(generator__makes_q_of_some_steps_alone),
        cmocka_unit_test(generator__leaves_alone_what_a_parameter_does_not_touch),
        cmocka_unit_test(generator__gives_levels_their_mean_and_deviation),
        cmocka_unit_test(generator__makes_noise_that_is_ar1),
        cmocka_unit_test(generator__lets_noise_settle),
        cmocka_unit_test(generator__gives_sinks_their_mass),
        cmocka_unit_test(generator__makes_the_share_of_heavy_hitters),
        cmocka_unit_test(generator__favours_the_newest),
        cmocka_unit_test(generator__moves_all_scores_of_a_step_together),
        cmocka_unit_test(generator__draws_values_of_variance_1),
        cmocka_unit_test(generator__seats_keys_in_clusters_that_algorithm_1_finds),
        cmocka_unit_test(generator__gives_every_key_its_direction_when_asked),
        cmocka_unit_test(score_stats__agree_with_locality),
        cmocka_unit_test(score_stats__count_what_is_out_of_range),
        cmocka_unit_test(generator__names_the_parameter_that_is_out_of_range),
        cmocka_unit_test(generator__is_finite_everywhere_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
