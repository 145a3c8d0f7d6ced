/* LAD's decoder against slow direct counts and sums, step by step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "complaints.h"
#include "locality_heads.h"
#include "attention/locality_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- a slow LAD ------------------------------------------------------------------------------------------------------------- */

/* Knows every interval of every step, and recounts. */
struct slow {
    const struct head *h;
    struct dse_pieces pieces;
    size_t recent;
    size_t *interval; /* [step][position] */
    size_t *mode;     /* of each position, after the steps so far */
    double *score;    /* of the newest step */
    double maximum;
};

static void slow_init(struct slow *s, const struct head *h, const struct locality_options *o)
{
    *s = (struct slow){.h = h, .recent = o->recent};
    dse_pieces_init(&s->pieces, o->edges, o->intervals);
    if (o->lines) s->pieces = *o->lines;
    s->interval = xcalloc(h->n * h->n, sizeof *s->interval);
    s->mode = xcalloc(h->n, sizeof *s->mode);
    s->score = xcalloc(h->n, sizeof *s->score);
}

static void slow_release(struct slow *s)
{
    free(s->interval);
    free(s->mode);
    free(s->score);
}

static size_t interval_of(const struct dse_pieces *p, double x)
{
    for (size_t i = 0; i + 1 < p->n; i++)
        if (x <= p->edge[i]) return i;
    return p->n - 1;
}

/* The scores and intervals of step t; the modes are still those of before. */
static void slow_look(struct slow *s, size_t t)
{
    head_scores(s->h, t, s->score);
    s->maximum = s->score[0];
    for (size_t i = 1; i <= t; i++) s->maximum = fmax(s->maximum, s->score[i]);
    for (size_t i = 0; i <= t; i++) s->interval[t * s->h->n + i] = interval_of(&s->pieces, s->score[i] - s->maximum);
}

/* The mode of position i after step t, recounted from its first step on. It stays when another is as frequent. */
static size_t slow_mode(const struct slow *s, size_t t, size_t i, size_t before)
{
    size_t count[LOCALITY_INTERVALS_MAX] = {0}, best = before;
    for (size_t step = i; step <= t; step++) count[s->interval[step * s->h->n + i]]++;
    for (size_t k = 0; k < s->pieces.n; k++)
        if (count[k] > count[best]) best = k;
    return best;
}

/* J, U and hits of step t against the decoder's; then the modes move on. Before the second step of a position its mode is 0. */
static void slow_check_sets(struct slow *s, size_t t, const struct locality_step *step, const bool *before, bool *now)
{
    size_t active = 0, updates = 0, kept = 0, large = 0;
    size_t cached = t + 1 > s->recent ? t + 1 - s->recent : 0;
    assert_int_equal(step->cached, cached);
    for (size_t i = 0; i <= t; i++) {
        size_t interval = s->interval[t * s->h->n + i], mode = s->mode[i], next = slow_mode(s, t, i, mode);
        now[i] = i < cached && interval != mode;
        large += i < cached && mode + 2 >= s->pieces.n;
        if (now[i]) {
            assert_true(active < step->n_active);
            const struct locality_active *a = &step->active[active++];
            assert_int_equal(a->position, i);
            assert_int_equal(a->interval, interval);
            assert_int_equal(a->mode, mode);
            assert_int_equal(a->updated, next != mode);
            assert_int_equal(a->kept, before[i]);
            kept += before[i];
            updates += next != mode;
        } else if (i < cached) {
            assert_int_equal(next, mode); /* U is in J: Sec. III-C */
        }
        s->mode[i] = next;
    }
    assert_int_equal(step->n_active, active);
    assert_int_equal(step->updates, updates);
    assert_int_equal(step->n_kept, kept);
    assert_int_equal(step->large, large);
}

/* Eq. 3, position by position. */
static double slow_attend(const struct slow *s, size_t t, double *output)
{
    double denominator = 0;
    memset(output, 0, s->h->d * sizeof *output);
    for (size_t i = 0; i <= t; i++) {
        size_t p = s->interval[t * s->h->n + i];
        double weight = s->pieces.slope[p] * (s->score[i] - s->maximum) + s->pieces.offset[p];
        denominator += weight;
        for (size_t j = 0; j < s->h->d; j++) output[j] += weight * (double)s->h->v[i * s->h->d + j];
    }
    for (size_t j = 0; j < s->h->d; j++) output[j] /= denominator;
    return denominator;
}

static void assert_near(double got, double want, double scale)
{
    if (!(fabs(got - want) <= 1e-11 * scale)) fail_msg("%.17g is not %.17g", got, want);
}

/* Eq. 5 after step t: the caches are the sums over the cached positions with the coefficients of their modes. */
static void slow_check_caches(const struct slow *s, const struct locality *l)
{
    const struct head *h = s->h;
    size_t d = h->d;
    double e = 0, f = 0, *sums = xcalloc(d * (d + 3), sizeof *sums), *b = sums + d * d, *c = b + d, *dd = c + d;
    for (size_t i = 0; i < l->cached; i++) {
        double slope = s->pieces.slope[s->mode[i]], offset = s->pieces.offset[s->mode[i]];
        const float *k = h->k + i * d, *v = h->v + i * d;
        for (size_t x = 0; x < d; x++) {
            for (size_t y = 0; y < d; y++) sums[x * d + y] += slope * (double)k[x] * (double)v[y];
            b[x] += slope * (double)v[x];
            c[x] += offset * (double)v[x];
            dd[x] += slope * (double)k[x];
        }
        e += slope;
        f += offset;
    }
    for (size_t x = 0; x < d * d; x++) assert_near(l->caches.a[x], sums[x], 10);
    for (size_t x = 0; x < d; x++) {
        assert_near(l->caches.b[x], b[x], 10);
        assert_near(l->caches.c[x], c[x], 10);
        assert_near(l->caches.dd[x], dd[x], 10);
    }
    assert_near(l->caches.e, e, 10);
    assert_near(l->caches.f, f, 10);
    free(sums);
}

/* Decode a head with exact intervals beside the slow LAD: sets, sums and caches agree in every step. */
static void check_every_step(const struct head *h, const struct locality_options *options)
{
    struct locality_options o = *options;
    o.exact_scores = true;
    struct diags diags;
    diags_init(&diags);
    struct locality *l = locality_new(h->d, &o, &diags);
    assert_non_null(l);
    struct slow s;
    slow_init(&s, h, &o);
    double *output = xcalloc(h->d, sizeof *output), *want = xcalloc(h->d, sizeof *want);
    bool *before = xcalloc(h->n, sizeof *before), *now = xcalloc(h->n, sizeof *now);
    size_t active = 0, updates = 0;
    for (size_t t = 0; t < h->n; t++) {
        struct locality_step step;
        locality_step(l, h->q + t * h->d, h->k + t * h->d, h->v + t * h->d, output, &step);
        slow_look(&s, t);
        slow_check_sets(&s, t, &step, before, now);
        double denominator = slow_attend(&s, t, want);
        assert_near(step.denominator, denominator, denominator);
        assert_true(denominator > 0);
        for (size_t j = 0; j < h->d; j++) assert_near(output[j], want[j], 10);
        slow_check_caches(&s, l);
        memcpy(before, now, h->n * sizeof *now);
        active += step.n_active;
        updates += step.updates;
    }
    if (h->n > 100) assert_true(active > h->n && updates > 10); /* the head has something to find */
    free(before);
    free(now);
    free(output);
    free(want);
    slow_release(&s);
    locality_free(l);
    diags_release(&diags);
}

static void steps__are_the_direct_sum_of_the_pieces_with_any_dimension(void **state)
{
    (void)state;
    static const size_t dimensions[] = {1, 5, 24, 64};
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++) {
        struct head h;
        drifting_head(&h, 150, dimensions[i], 11 + i);
        check_every_step(&h, &locality_defaults);
        head_release(&h);
    }
}

static void steps__count_exactly_when_scores_are_equal_and_on_edges(void **state)
{
    (void)state;
    struct head h;
    integer_head(&h, 200, 16, 3);
    check_every_step(&h, &locality_defaults);
    head_release(&h);
    integer_head(&h, 200, 4, 4);
    check_every_step(&h, &locality_defaults);
    head_release(&h);
}

static void steps__hold_with_other_pieces_and_fewer_newest(void **state)
{
    (void)state;
    struct locality_options three = {.intervals = 3, .edges = {-4, -1.5, 0}, .recent = 1, .collinear = 0.98};
    struct locality_options sixteen = {.intervals = 16, .recent = 7, .collinear = 0.5};
    for (size_t i = 0; i < 16; i++) sixteen.edges[i] = (double)i - 15;
    struct head h;
    drifting_head(&h, 150, 12, 5);
    check_every_step(&h, &three);
    check_every_step(&h, &sixteen);
    head_release(&h);
}

static void steps__hold_with_fitted_lines(void **state)
{
    (void)state;
    struct head h;
    drifting_head(&h, 150, 16, 6);
    struct diags diags;
    diags_init(&diags);
    struct dse_pieces lines;
    assert_true(locality_fit(&h, &locality_defaults, &lines, &diags));
    expect_silence(&diags);
    struct locality_options o = locality_defaults;
    o.lines = &lines;
    check_every_step(&h, &o);
    head_release(&h);
}

static void steps__of_a_short_head_cache_nothing(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 17; n++) {
        struct head h;
        drifting_head(&h, n, 8, n);
        check_every_step(&h, &locality_defaults);
        head_release(&h);
    }
}

/* ---- through centers -------------------------------------------------------------------------------------------------------- */

static struct locality_result run(const struct head *h, const struct locality_options *o, size_t first)
{
    struct locality_result r;
    struct diags diags;
    diags_init(&diags);
    bool ok = locality_run(h, o, first, &r, &diags);
    if (!ok) diags_print(&diags, stderr, false);
    assert_true(ok);
    diags_release(&diags);
    return r;
}

static void one_position__is_its_own_value(void **state)
{
    (void)state;
    struct head h;
    drifting_head(&h, 1, 8, 9);
    for (int exact = 0; exact < 2; exact++) {
        struct locality_options o = locality_defaults;
        o.exact_scores = exact;
        struct locality_result r = run(&h, &o, 0);
        assert_true(r.output_error < 1e-15 && r.softmax_mse < 1e-30 && r.failed <= 0);
        assert_true(r.at.centers == 1 && r.active_with_recent == 1 && r.at.active <= 0 && r.top1 <= 0);
    }
    head_release(&h);
}

static void centers__that_are_exact_change_nothing(void **state)
{
    (void)state;
    struct head h;
    clustered_head(&h, 300, 16, 6, 0, 21);
    struct locality_options by_centers = locality_defaults, exact = locality_defaults;
    exact.exact_scores = true;
    struct locality_result a = run(&h, &by_centers, 0), b = run(&h, &exact, 0);
    assert_true(a.centers_at_end == 6);
    assert_true(b.at.active > 10 && b.at.updates > 0.1);
    assert_true(a.missed + a.in_vain <= 2.0 / 300); /* a score on an edge but for rounding, at most */
    assert_true(fabs(a.at.active - b.at.active) <= 2.0 / 300);
    assert_true(fabs(a.output_error - b.output_error) <= 1e-4 * b.output_error);
    head_release(&h);
}

static void centers__that_are_coarse_miss_positions_and_cost_accuracy(void **state)
{
    (void)state;
    struct head h;
    clustered_head(&h, 300, 16, 6, 0.5f, 22);
    struct locality_options fine = locality_defaults, coarse = locality_defaults, exact = locality_defaults;
    coarse.collinear = 0.9;
    exact.exact_scores = true;
    exact.collinear = 0.9;
    struct locality_result f = run(&h, &fine, 0), c = run(&h, &coarse, 0), e = run(&h, &exact, 0);
    assert_true(c.centers_at_end < f.centers_at_end && f.centers_at_end < 300);
    assert_true(c.missed > f.missed && c.in_vain > 0);
    assert_true(c.output_error > e.output_error && c.softmax_mse > e.softmax_mse);
    assert_true(e.missed > 0); /* with exact scores: what the centers would have missed */
    head_release(&h);
}

/* What the lines do to softmax does not depend on the centers; with exact scores it is all there is. */
static void lines__are_the_error_that_exact_scores_leave(void **state)
{
    (void)state;
    struct head h;
    clustered_head(&h, 300, 16, 6, 0.5f, 25);
    struct locality_options coarse = locality_defaults, exact = locality_defaults;
    coarse.collinear = 0.9;
    exact.exact_scores = true;
    struct locality_result c = run(&h, &coarse, 100), e = run(&h, &exact, 100);
    assert_true(c.lines_mse > 0 && fabs(c.lines_mse / e.lines_mse - 1) < 1e-12);
    assert_true(fabs(e.softmax_mse / e.lines_mse - 1) < 1e-9);
    assert_true(c.softmax_mse > 1.01 * c.lines_mse);
    head_release(&h);
}

/* |J| = truly active - missed + found in vain, as long as the counters are the same: in the first step with an error. */
static void false_shares__add_up(void **state)
{
    (void)state;
    struct head h;
    clustered_head(&h, 60, 16, 3, 0.5f, 23);
    struct locality_options coarse = locality_defaults, exact;
    coarse.collinear = 0.5;
    coarse.recent = 2;
    exact = coarse;
    exact.exact_scores = true;
    struct locality_result c = {0}, e = {0};
    size_t n = h.n;
    for (h.n = 3; h.n < n && c.missed + c.in_vain == 0; h.n++) {
        c = run(&h, &coarse, h.n - 1);
        e = run(&h, &exact, h.n - 1);
    }
    assert_true(c.missed + c.in_vain > 0);
    assert_true(fabs(c.at.active - (e.at.active - c.missed + c.in_vain)) < 1e-12);
    assert_true(fabs(c.missed - e.missed) + fabs(c.in_vain - e.in_vain) < 1e-12);
    head_release(&h);
}

static void run__measures_without_changing_what_is_decoded(void **state)
{
    (void)state;
    struct head h;
    clustered_head(&h, 200, 16, 8, 0.15f, 24);
    struct locality_options o = locality_defaults;
    o.collinear = 0.9;
    struct diags diags;
    diags_init(&diags);
    struct locality *l = locality_new(h.d, &o, &diags);
    double output[16], active = 0, updates = 0, kept = 0;
    for (size_t t = 0; t < h.n; t++) {
        struct locality_step s;
        locality_step(l, h.q + t * h.d, h.k + t * h.d, h.v + t * h.d, output, &s);
        active += (double)s.n_active;
        updates += (double)s.updates;
        kept += (double)s.n_kept;
    }
    struct locality_result r = run(&h, &o, 0);
    assert_near(r.at.active, active / 200, 100);
    assert_near(r.at.updates, updates / 200, 100);
    assert_near(r.kept, kept / 200, 100);
    locality_free(l);
    diags_release(&diags);
    head_release(&h);
}

static void more_pieces__bring_the_output_nearer_to_exact_attention(void **state)
{
    (void)state;
    struct head h;
    drifting_head(&h, 200, 16, 25);
    struct locality_options five = locality_defaults, sixteen = locality_defaults;
    five.exact_scores = sixteen.exact_scores = true;
    sixteen.intervals = 16;
    for (size_t i = 0; i < 16; i++) sixteen.edges[i] = -14.0 * (double)((15 - i) * (16 - i)) / 240;
    struct locality_result few = run(&h, &five, 100), many = run(&h, &sixteen, 100);
    assert_true(many.softmax_mse < few.softmax_mse / 20);
    assert_true(many.output_error < few.output_error / 4);
    head_release(&h);
}

static void profile_point__counts_the_newest(void **state)
{
    (void)state;
    struct locality_result r = {
        .at = {.centers = 90, .large = 5, .active = 20, .updates = 2, .hit_ratio = 0.5}, .active_with_recent = 36, .kept = 12};
    struct dse_locality p = locality_profile_point(&r, 16);
    assert_true(p.active == 36 && p.updates == 3 && p.centers == 90 && p.large == 5);
    assert_near(p.hit_ratio, 27.0 / 36, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps__are_the_direct_sum_of_the_pieces_with_any_dimension),
        cmocka_unit_test(steps__count_exactly_when_scores_are_equal_and_on_edges),
        cmocka_unit_test(steps__hold_with_other_pieces_and_fewer_newest),
        cmocka_unit_test(steps__hold_with_fitted_lines),
        cmocka_unit_test(steps__of_a_short_head_cache_nothing),
        cmocka_unit_test(one_position__is_its_own_value),
        cmocka_unit_test(centers__that_are_exact_change_nothing),
        cmocka_unit_test(centers__that_are_coarse_miss_positions_and_cost_accuracy),
        cmocka_unit_test(lines__are_the_error_that_exact_scores_leave),
        cmocka_unit_test(false_shares__add_up),
        cmocka_unit_test(run__measures_without_changing_what_is_decoded),
        cmocka_unit_test(more_pieces__bring_the_output_nearer_to_exact_attention),
        cmocka_unit_test(profile_point__counts_the_newest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
