/* Measuring surfaces: heads that stand for all, several ends and texts, layers, and known means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "locality_heads.h"
#include "attention/eviction_policies.h"
#include "attention/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- weights and statistics ---------------------------------------------------------------------------------------------- */

static void surface__weighs_layers_by_those_they_stand_for(void **state)
{
    (void)state;
    const int32_t ids[] = {0, 3, 7, 11, 14};
    double w[5];
    surface_layer_weights(ids, 5, 40, w); /* 1 to 4, 5 between two; 6 to 8, 9; 10 to 12; 13 to 39 */
    assert_true(w[0] == 1 && w[1] == 4.5 && w[2] == 4 && w[3] == 3.5 && w[4] == 27);
    const int32_t one[] = {0};
    surface_layer_weights(one, 1, 6, w);
    assert_true(w[0] == 6);
}

static void surface__has_statistics_of_weighed_heads(void **state)
{
    (void)state;
    const double v[] = {4, 1, 3, 2};
    const struct surface_sample of[] = {{1, 0, 0}, {1, 1, 0}, {1, 2, 0}, {5, 3, 0}};
    double s[DSE_QUALITY_STATS];
    surface_stats(v, of, 4, s);
    assert_true(s[DSE_Q_MEAN] == 2.25 && s[DSE_Q_P10] == 1 && s[DSE_Q_P50] == 2 && s[DSE_Q_P90] == 4);
    assert_true(fabs(s[DSE_Q_SD] - sqrt((1.75 * 1.75 + 1.25 * 1.25 + 0.75 * 0.75 + 5 * 0.0625) / 8)) < 1e-15);
    assert_true(fabs(s[DSE_Q_SE] - s[DSE_Q_SD] * sqrt(28) / 8) < 1e-15);
}

/* A head that is measured twice with the same outcome is no second head: the standard error is that of one. A text that moves all
 * heads alike is in the standard error, however many heads there are. */
static void surface__takes_heads_and_ends_as_drawn(void **state)
{
    (void)state;
    const double once[] = {1, 2, 4}, twice[] = {1, 2, 4, 1, 2, 4}, moved[] = {1, 1, 1, 3, 3, 3};
    const struct surface_sample three[] = {{1, 0, 0}, {1, 1, 0}, {1, 2, 0}};
    const struct surface_sample six[] = {{1, 0, 0}, {1, 1, 0}, {1, 2, 0}, {1, 0, 1}, {1, 1, 1}, {1, 2, 1}};
    double a[DSE_QUALITY_STATS], b[DSE_QUALITY_STATS];
    surface_stats(once, three, 3, a);
    surface_stats(twice, six, 6, b);
    for (int i = 0; i < DSE_QUALITY_STATS; i++) assert_true(fabs(a[i] - b[i]) < 1e-15);
    surface_stats(moved, six, 6, b);
    assert_true(b[DSE_Q_MEAN] == 2 && b[DSE_Q_SD] == 1);
    assert_true(fabs(b[DSE_Q_SE] - 1) < 1e-15); /* two texts, 1 to either side: sd with n - 1 is sqrt 2, over sqrt 2 */
}

/* ---- known means --------------------------------------------------------------------------------------------------------- */

static double mean_of(const double *w, const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += w[i] * x[i];
    return sum;
}

/* The minimum is where w = d exp(l z) / sum, l = -(mean / known - 1) / (N tolerance^2), of each known mean. */
static void match__is_the_minimum_that_it_says(void **state)
{
    (void)state;
    enum { KNOWN = 5, SAMPLE = 12 };
    uint64_t seed = 3;
    for (int run = 0; run < 200; run++) {
        double d[SAMPLE], x[KNOWN * SAMPLE], known[KNOWN], w[SAMPLE], sum = 0, whole = 0, expected[SAMPLE], of_expected = 0;
        struct surface_match m;
        for (size_t h = 0; h < SAMPLE; h++) whole += d[h] = 0.2 + test_random(&seed);
        for (size_t i = 0; i < (size_t)KNOWN * SAMPLE; i++) x[i] = 0.1 + test_random(&seed);
        for (size_t k = 0; k < KNOWN; k++) known[k] = 0.4 + 0.4 * test_random(&seed);
        surface_match_heads(d, SAMPLE, x, known, KNOWN, w, &m);
        for (size_t h = 0; h < SAMPLE; h++) {
            double z = 0;
            for (size_t k = 0; k < KNOWN; k++) {
                const double off = mean_of(w, x + k * SAMPLE, SAMPLE) / known[k] - 1;
                z -= off / (m.heads_before * SURFACE_TOLERANCE * SURFACE_TOLERANCE) * (x[k * SAMPLE + h] / known[k] - 1);
            }
            of_expected += expected[h] = d[h] / whole * exp(z);
            sum += w[h];
        }
        assert_true(fabs(sum - 1) < 1e-12);
        for (size_t h = 0; h < SAMPLE; h++) assert_true(w[h] > 0 && fabs(expected[h] / of_expected - w[h]) < 1e-7);
        assert_true(m.mean_after <= m.mean_before + 1e-12 && m.heads_after > 1 && m.heads_after <= SAMPLE + 1e-9);
    }
}

static void match__leaves_alone_what_is_met(void **state)
{
    (void)state;
    const double d[] = {1, 2, 3, 2}, x[] = {1, 2, 3, 4, 7, 7, 7, 7}, met[] = {(1 + 4 + 9 + 8) / 8.0, 7};
    double w[4];
    struct surface_match m;
    surface_match_heads(d, 4, x, met, 2, w, &m);
    for (size_t i = 0; i < 4; i++) assert_true(fabs(w[i] - d[i] / 8) < 1e-14);
    surface_match_heads(d, 4, x, met, 0, w, &m); /* nothing is known */
    for (size_t i = 0; i < 4; i++) assert_true(w[i] == d[i] / 8);
    assert_true(m.known == 0 && m.mean_after == 0);
}

/* What no weights give is approached, and no head is lost. */
static void match__survives_means_beyond_all_heads(void **state)
{
    (void)state;
    const double d[] = {1, 1, 1}, x[] = {1, 2, 3}, beyond[] = {30, 1e-3};
    for (size_t i = 0; i < 2; i++) {
        double w[3];
        struct surface_match m;
        surface_match_heads(d, 3, x, &beyond[i], 1, w, &m);
        for (size_t h = 0; h < 3; h++) assert_true(isfinite(w[h]) && w[h] >= 0);
        assert_true(i == 0 ? mean_of(w, x, 3) > 2.5 : mean_of(w, x, 3) < 1.01);
    }
}

/* A sample of heads that two things move: known means of some outcomes make the others better, too, when the same things move
 * them. */
static void match__makes_better_what_is_like_the_known(void **state)
{
    (void)state;
    enum { ALL = 2000, SAMPLE = 20 };
    uint64_t seed = 11;
    double before = 0, after = 0;
    for (int run = 0; run < 100; run++) {
        double known = 0, other = 0, x[SAMPLE], y[SAMPLE], d[SAMPLE], w[SAMPLE], plain = 0;
        struct surface_match m;
        for (size_t i = 0; i < ALL; i++) {
            const double kind = test_random(&seed), a = 0.2 + kind, b = 0.1 + kind * kind + 0.1 * test_random(&seed);
            known += a / ALL;
            other += b / ALL;
            if (i < SAMPLE) {
                x[i] = a;
                y[i] = b;
                d[i] = 1;
                plain += b / SAMPLE;
            }
        }
        surface_match_heads(d, SAMPLE, x, &known, 1, w, &m);
        before += fabs(plain / other - 1);
        after += fabs(mean_of(w, y, SAMPLE) / other - 1);
    }
    assert_true(after < 0.6 * before);
}

/* ---- measuring ----------------------------------------------------------------------------------------------------------- */

#define POSITIONS ((size_t)160)
#define DIM ((size_t)8)
#define LAYERS ((size_t)2)
#define HEADS ((size_t)2)

/* Heads of a text: the same number gives the same head. */
static bool make_head(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    (void)diags;
    drifting_head(ret, POSITIONS, DIM, 100 * *(const uint64_t *)user + 10 * layer + head);
    ret->layer = layer;
    ret->group = head;
    return true;
}

static struct head_source text(size_t number)
{
    static uint64_t seeds[] = {0, 1, 2};
    return (struct head_source){.layers = LAYERS, .heads = HEADS, .n = POSITIONS, .head = make_head, .user = &seeds[number]};
}

static const struct surface_head heads[] = {{0.1, 0, 0, 0}, {0.1, 0, 1, 0}, {0.4, 5, 2, 0}, {0.4, 5, 3, 0},
                                            {0.1, 0, 0, 1}, {0.1, 0, 1, 1}, {0.4, 5, 2, 1}, {0.4, 5, 3, 1}};

struct asked {
    size_t texts, ends, context;
    bool by_layer;
    const struct surface_known *known;
    size_t n_known;
};

static struct surface_result measure(const struct asked *a)
{
    static const char *const names[] = {"window", "h2o"};
    static const double ratios[] = {0.25, 0.5};
    static struct surface_method methods[3]; /* rows point to them */
    static char none[] = "";
    const struct head_source sources[] = {text(1), text(2)};
    for (size_t i = 0; i < 2; i++) {
        methods[i] = (struct surface_method){.family = SURFACE_EVICTION, .method = names[i], .settings = none, .base = true};
        methods[i].policy.options = eviction_defaults;
        methods[i].policy.options.policy = eviction_policy_find(names[i]);
    }
    methods[2] = (struct surface_method){
        .family = SURFACE_LAD, .method = "lad", .settings = none, .steps = 16, .lad = locality_defaults, .base = true};
    const struct measure_plan plan = {.sources = sources, .n_sources = a->texts, .contexts = &a->context, .n_contexts = 1};
    const struct surface_plan p = {.plan = &plan,
                                   .heads = heads,
                                   .ends = a->ends,
                                   .methods = methods,
                                   .n_methods = 3,
                                   .ratios = ratios,
                                   .n_ratios = 2,
                                   .known = a->known,
                                   .n_known = a->n_known,
                                   .by_layer = a->by_layer};
    struct surface_result r;
    struct diags diags;
    diags_init(&diags);
    assert_true(measure_surface(&p, &r, &diags));
    diags_release(&diags);
    return r;
}

/* Several ends are the mean of as many runs, each at its length; the ends are even around the context. */
static void ends__are_runs_of_their_own(void **state)
{
    (void)state;
    assert_true(surface_end(128, 0, 3) == 112 && surface_end(128, 1, 3) == 128 && surface_end(128, 2, 3) == 144);
    assert_true(surface_end(1000, 0, 1) == 1000 && surface_end(1000, 0, 2) == 875 && surface_end(1000, 1, 2) == 1125);
    struct surface_result all = measure(&(struct asked){.texts = 1, .ends = 3, .context = 128}), one[3];
    for (size_t e = 0; e < 3; e++) one[e] = measure(&(struct asked){.texts = 1, .ends = 1, .context = 112 + 16 * e});
    for (size_t i = 0; i < all.n; i++) {
        double mean = 0;
        for (size_t e = 0; e < 3; e++) {
            const struct surface_row *r = &one[e].rows[i];
            assert_true(r->metric == all.rows[i].metric && r->ratio == all.rows[i].ratio);
            mean += r->stat[DSE_Q_MEAN] / 3;
        }
        if (all.rows[i].metric == DSE_Q_HIT_RATIO) continue; /* pooled: weighed by the active positions of each end */
        assert_true(fabs(all.rows[i].stat[DSE_Q_MEAN] - mean) <= 1e-12 * mean);
        assert_true(all.rows[i].heads == LAYERS * HEADS && all.rows[i].stat[DSE_Q_SE] >= 0);
    }
    for (size_t e = 0; e < 3; e++) surface_result_release(&one[e]);
    surface_result_release(&all);
}

/* Two texts are the mean of both, of as many heads as one has. */
static void texts__are_averaged(void **state)
{
    (void)state;
    struct surface_result both = measure(&(struct asked){.texts = 2, .ends = 1, .context = 96});
    struct surface_result first = measure(&(struct asked){.texts = 1, .ends = 1, .context = 96});
    assert_true(both.n == first.n);
    for (size_t i = 0; i < both.n; i++) {
        assert_true(both.rows[i].heads == first.rows[i].heads);
        if (both.rows[i].metric == DSE_Q_CENTERS) assert_true(both.rows[i].stat[DSE_Q_MEAN] > 0);
    }
    double sum = 0;
    for (size_t h = 0; h < 8; h++) sum += both.weights[h];
    assert_true(fabs(sum - 1) < 1e-15 && fabs(both.weights[2] - 0.2) < 1e-15);
    surface_result_release(&first);
    surface_result_release(&both);
}

/* Layers, weighed as they are in the model's mean, give it. */
static void layers__add_up_to_the_model(void **state)
{
    (void)state;
    struct surface_result r = measure(&(struct asked){.texts = 1, .ends = 2, .context = 96, .by_layer = true});
    size_t models = 0, per_point = 0;
    for (size_t i = 0; i < r.n; i += per_point) {
        assert_true(r.rows[i].layer == -1);
        per_point = 1;
        while (i + per_point < r.n && r.rows[i + per_point].layer == -1) per_point++;
        for (size_t k = 0; k < per_point; k++) {
            const struct surface_row *a = &r.rows[i + per_point + k], *b = &r.rows[i + 2 * per_point + k];
            assert_true(a->layer == 0 && b->layer == 5 && a->metric == r.rows[i + k].metric && b->metric == a->metric);
            assert_true(a->heads == HEADS && r.rows[i + k].heads == LAYERS * HEADS);
            if (a->metric == DSE_Q_HIT_RATIO) continue;
            const double mean = 0.2 * a->stat[DSE_Q_MEAN] + 0.8 * b->stat[DSE_Q_MEAN];
            assert_true(fabs(mean - r.rows[i + k].stat[DSE_Q_MEAN]) <= 1e-12 * mean);
            models++;
        }
        per_point *= 3;
    }
    assert_true(models == 2 * 2 * 2 + 9); /* policies, ratios, metrics; those of LAD but the hit ratio, which is pooled */
    surface_result_release(&r);
}

/* Known means move the weights, and every row with them; a mean that is none of the plan's is not used. */
static void known__means_are_met(void **state)
{
    (void)state;
    const struct asked plain = {.texts = 1, .ends = 1, .context = 96};
    struct surface_result before = measure(&plain);
    const double was = before.rows[0].stat[DSE_Q_MEAN];
    assert_true(before.rows[0].metric == DSE_Q_RETAINED_MASS && before.rows[0].ratio == 0.25);
    double low = was, high = was;
    struct surface_result layers = measure(&(struct asked){.texts = 1, .ends = 1, .context = 96, .by_layer = true});
    for (size_t i = 0; i < layers.n && layers.rows[i].method == layers.rows[0].method && layers.rows[i].ratio == 0.25; i++)
        if (layers.rows[i].metric == DSE_Q_RETAINED_MASS) {
            low = fmin(low, layers.rows[i].stat[DSE_Q_MEAN]);
            high = fmax(high, layers.rows[i].stat[DSE_Q_MEAN]);
        }
    const double asked = was + 0.25 * (high - was > was - low ? high - was : low - was);
    const struct surface_known known[] = {{"window", 96, 0.25, DSE_Q_RETAINED_MASS, asked},
                                          {"quest", 96, 0.25, DSE_Q_RETAINED_MASS, 1}};
    struct asked matched = plain;
    matched.known = known;
    matched.n_known = 2;
    struct surface_result after = measure(&matched);
    assert_true(after.match.known == 1 && before.match.known == 0);
    assert_true(fabs(after.rows[0].stat[DSE_Q_MEAN] - asked) < fabs(was - asked));
    assert_true(after.match.worst_after < after.match.worst_before);
    double mean = 0;
    for (size_t h = 0; h < 4; h++) mean += after.weights[h];
    assert_true(fabs(mean - 1) < 1e-12);
    surface_result_release(&layers);
    surface_result_release(&before);
    surface_result_release(&after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surface__weighs_layers_by_those_they_stand_for),
        cmocka_unit_test(surface__has_statistics_of_weighed_heads),
        cmocka_unit_test(surface__takes_heads_and_ends_as_drawn),
        cmocka_unit_test(match__is_the_minimum_that_it_says),
        cmocka_unit_test(match__leaves_alone_what_is_met),
        cmocka_unit_test(match__survives_means_beyond_all_heads),
        cmocka_unit_test(match__makes_better_what_is_like_the_known),
        cmocka_unit_test(ends__are_runs_of_their_own),
        cmocka_unit_test(texts__are_averaged),
        cmocka_unit_test(layers__add_up_to_the_model),
        cmocka_unit_test(known__means_are_met),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
