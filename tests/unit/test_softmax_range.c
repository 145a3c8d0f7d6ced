/* The reach of scores: counts against a count by hand, the smallest ranges, and what fp32 partial sums lose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "dse_config.h"
#include "random_head.h"
#include "attention/half.h"
#include "attention/softmax_partial.h"
#include "attention/softmax_range.h"
#include "attention/trace.h"

#include <float.h>
#include <string.h>

enum { N = 200, D = 16 };

static struct diags diags;

static int start(void **state)
{
    (void)state;
    diags_init(&diags);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    diags_release(&diags);
    return 0;
}

static void assert_close(double got, double wanted, double tolerance)
{
    if (fabs(got - wanted) <= tolerance) return;
    print_error("got %.17g, wanted %.17g +- %g\n", got, wanted, tolerance);
    assert_true(false);
}

/* A head of dimension 1 whose score of position i is x[i] at every step. */
static struct head given_scores(const float *x, size_t n)
{
    struct head h;
    head_init(&h, n, 1);
    for (size_t i = 0; i < n; i++) {
        h.q[i] = 1;
        h.k[i] = x[i];
        h.v[i] = (float)i;
    }
    return h;
}

/* ---- counts ------------------------------------------------------------------------------------------------------------------ */

static void count__is_what_one_counts_by_hand(void **state)
{
    (void)state;
    struct head h = given_scores((const float[]){0, 1, 5, 1, -4}, 5);
    struct softmax_range_result r = {0};
    const struct softmax_range range = {.phi = 1, .low = -5, .high = 4}; /* 5 - 1 and -4 - 1 are on the edges: outside */
    assert_true(softmax_range_count(&h, &range, 0, &r, &diags));
    assert_true(r.vectors == 5 && r.scores == 15 && r.min == -4 && r.max == 5);
    softmax_range_finish(&r);
    assert_close(r.recomputed, 3 / 5.0, 0); /* from position 2 on */
    assert_close(r.outside, 4 / 15.0, 1e-16);
    assert_true(r.lengths[0].vectors == 1 && r.lengths[1].vectors == 2 && r.lengths[2].vectors == 2);
    assert_close(r.lengths[1].recomputed, 0.5, 0);
    assert_true(isnan(r.lengths[3].recomputed));
    head_release(&h);
}

static void count__adds_up_over_heads_and_lengths(void **state)
{
    (void)state;
    struct head a = random_head(N, D, 2, 1), b = random_head(N / 2, D, 3, 2);
    const struct softmax_range range = {.phi = 0.5, .low = -5, .high = 6};
    struct softmax_range_result both = {0}, one = {0}, two = {0};
    assert_true(softmax_range_count(&a, &range, 3, &both, &diags) && softmax_range_count(&b, &range, 0, &both, &diags));
    assert_true(softmax_range_count(&a, &range, 3, &one, &diags) && softmax_range_count(&b, &range, 0, &two, &diags));
    assert_true(both.vectors == one.vectors + two.vectors && both.outside == one.outside + two.outside);
    assert_true(both.min == fmin(one.min, two.min) && both.max == fmax(one.max, two.max));
    struct softmax_range_result merged = {0};
    softmax_range_merge(&merged, &(struct softmax_range_result){0});
    softmax_range_merge(&merged, &one);
    softmax_range_merge(&merged, &two);
    assert_memory_equal(&merged, &both, sizeof merged);
    double recomputed = 0, outside = 0;
    size_t vectors = 0, scores = 0;
    for (size_t i = 0; i < SOFTMAX_LENGTHS; i++) {
        recomputed += both.lengths[i].recomputed;
        outside += both.lengths[i].outside;
        vectors += both.lengths[i].vectors;
        scores += both.lengths[i].scores;
    }
    assert_true(recomputed == both.recomputed && outside == both.outside && vectors == both.vectors && scores == both.scores);
    assert_true(both.recomputed > 0 && both.recomputed < (double)both.vectors);
    head_release(&a);
    head_release(&b);
}

/* Independent scores: 1 - (1 - p)^n of the vectors of n scores have one outside. The scores of a step share its query, whose
 * length varies: those outside cluster, and there are fewer such vectors. */
static void count__grows_with_the_length_but_less_than_independent_scores_would(void **state)
{
    (void)state;
    const struct softmax_range range = {.low = -3, .high = 3};
    struct softmax_range_result r = {0};
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct head h = random_head(N, 64, 1, seed + 10);
        assert_true(softmax_range_count(&h, &range, 0, &r, &diags));
        head_release(&h);
    }
    softmax_range_finish(&r);
    const double p = r.outside, short_ones = r.lengths[4].recomputed, long_ones = r.lengths[7].recomputed;
    double independent = 1 - pow(1 - p, 23.5), longer = 1 - pow(1 - p, (128 + N) / 2.0);
    assert_true(short_ones < independent && short_ones > independent / 2);
    assert_true(long_ones < longer && long_ones > longer / 2);
    assert_true(long_ones > 4 * short_ones);
}

static void count__refuses_what_is_no_range_and_no_steps(void **state)
{
    (void)state;
    struct head h = random_head(4, 2, 1, 1), none = {.n = 3};
    struct softmax_range_result r = {0};
    struct softmax_range good = {.low = -1, .high = 1};
    assert_false(softmax_range_count(&h, &(struct softmax_range){.low = 1, .high = 1}, 0, &r, &diags));
    assert_false(softmax_range_count(&h, &(struct softmax_range){.phi = (double)NAN, .low = -1, .high = 1}, 0, &r, &diags));
    assert_false(softmax_range_count(&h, &(struct softmax_range){.low = -1, .high = (double)NAN}, 0, &r, &diags));
    assert_false(softmax_range_count(&h, &good, 4, &r, &diags));
    assert_false(softmax_range_count(&none, &good, 0, &r, &diags));
    assert_true(diags.errors == 5 && r.vectors == 0);
    assert_string_equal(diags.list[0].message, "no range: phi 0, low 1, high 1");
    assert_string_equal(diags.list[3].message, "no steps: the first is 4, the head has 4 positions");
    head_release(&h);
}

/* ---- the spread ---------------------------------------------------------------------------------------------------------- */

static void spread__counts_scores_into_bins(void **state)
{
    (void)state;
    enum { MIDDLE = SOFTMAX_BINS_REACH * SOFTMAX_BINS_PER_UNIT };
    struct head h = given_scores((const float[]){-1.005f, 0.005f, 2.505f, 300, -300}, 5);
    struct softmax_spread s;
    softmax_spread_init(&s);
    assert_true(softmax_spread_add(&s, &h, 4, &diags)); /* the last step: each once */
    assert_int_equal(s.scores, 5);
    assert_true(s.bins[0] == 1 && s.bins[2 * MIDDLE - 1] == 1); /* beyond the ends */
    assert_true(s.bins[MIDDLE - 101] == 1 && s.bins[MIDDLE] == 1 && s.bins[MIDDLE + 250] == 1);
    softmax_spread_release(&s);
    head_release(&h);
}

/* ---- a trained model's heads --------------------------------------------------------------------------------------------- */

/* Of catalog/traces/tinyllama.trace; least and greatest score by an independent implementation in numpy on the same heads, to six
 * digits. */
static const struct {
    size_t layer, head;
    double min, max;
} reference[] = {{0, 0, -4.73317, 5.05272}, {0, 1, -17.2142, 7.2456}, {1, 0, -20.0971, 2.76905}, {1, 1, -22.6299, 2.30017}};
enum { REFERENCES = sizeof reference / sizeof *reference, POSITIONS = 2048 };

static struct head trained_head(size_t i)
{
    struct head h;
    struct trace *t = trace_open(DSE_SOURCE_DATA "/catalog/traces/tinyllama.trace", &diags);
    assert_non_null(t);
    assert_true(trace_head(t, reference[i].layer, reference[i].head, &h, &diags));
    trace_close(t);
    return h;
}

static void trained__heads_reach_as_far_as_the_reference_says(void **state)
{
    (void)state;
    const struct softmax_range llama2 = {.phi = 0, .low = -16.8, .high = 6.5}; /* Sec. 3 of FlashDecoding++ */
    struct softmax_range_result all = {0};
    for (size_t i = 0; i < REFERENCES; i++) {
        struct head h = trained_head(i);
        struct softmax_range_result r = {0};
        assert_true(softmax_range_count(&h, &llama2, 0, &r, &diags));
        softmax_range_merge(&all, &r);
        softmax_range_finish(&r);
        assert_close(r.min, reference[i].min, 1e-4);
        assert_close(r.max, reference[i].max, 1e-4);
        assert_true(r.vectors == POSITIONS && r.scores == (size_t)POSITIONS * (POSITIONS + 1) / 2);
        bool within = r.min > llama2.low && r.max < llama2.high;
        assert_true((r.recomputed == 0) == within && r.recomputed < 0.2);
        head_release(&h);
    }
    /* Outliers come in few vectors, but not as few as published. */
    softmax_range_finish(&all);
    assert_true(all.recomputed > 0.0045);
}

/* The published differences are of fp16 outputs; fp32 partial sums alone are far below them, recomputed or not. */
static void trained__heads_need_no_recomputation_in_fp32(void **state)
{
    (void)state;
    struct head h = trained_head(1);
    h.n = 512; /* the first positions are a head of their own: attention is causal */
    const struct softmax_range none = {.low = -(double)INFINITY, .high = (double)INFINITY}, llama2 = {.low = -16.8, .high = 6.5};
    struct softmax_partial_result r, guarded;
    assert_true(softmax_partial_run(&h, &(struct softmax_partial){none, 64}, 0, &r, &diags));
    assert_true(softmax_partial_run(&h, &(struct softmax_partial){llama2, 64}, 0, &guarded, &diags));
    assert_true(r.lost == 0 && guarded.lost == 0 && r.recomputed == 0 && guarded.recomputed > 0);
    assert_true(r.output_error < 1e-5 && guarded.output_error < 1e-5 && r.weight_error < 1e-5);
    head_release(&h);
}

/* ---- partial sums in fp32 ------------------------------------------------------------------------------------------------ */

static struct softmax_partial_result partial(const struct head *h, double phi, double low, double high, size_t part)
{
    const struct softmax_partial p = {.range = {phi, low, high}, .part = part};
    struct softmax_partial_result r;
    assert_true(softmax_partial_run(h, &p, 0, &r, &diags));
    return r;
}

/* A sum of n fp32 terms is off by at most n half units in the last place; weights are at most 1, values at most 6. */
static void partial__is_as_close_as_fp32_sums_are(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 2, 5);
    const size_t parts[] = {1, 7, 64, N, 1000};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct softmax_partial_result r = partial(&h, 1, -20, 20, parts[i]);
        assert_true(r.vectors == N && r.recomputed == 0 && r.lost == 0 && r.fp16_terms == 0);
        assert_true(r.weight_error > 0 && r.weight_error < N * (double)FLT_EPSILON);
        assert_true(r.output_error < 6 * 2 * N * (double)FLT_EPSILON && r.mean_output_error < r.output_error);
        assert_true(r.within_1e_2 == 1 && r.within_1e_1 == 1);
        struct softmax_partial_result again = partial(&h, 1, 50, 60, parts[i]); /* all of them by the synchronized scheme */
        assert_true(again.recomputed == N && again.output_error < 6 * 2 * N * (double)FLT_EPSILON);
    }
    head_release(&h);
}

/* exp(x - phi) with phi = 0 and phi = 64 ln 2: the same digits, another exponent, but for the rounding of the difference. */
static void partial__does_not_mind_which_phi_while_terms_stay_in_range(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 1, 6);
    for (double phi = -60; phi <= 60; phi += 20) {
        struct softmax_partial_result r = partial(&h, phi, -200, 200, 32);
        assert_true(r.lost == 0 && r.weight_error < 64 * N * (double)FLT_EPSILON);
    }
    head_release(&h);
}

static void partial__loses_vectors_when_the_range_is_wider_than_fp32(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 1, 7);
    struct softmax_partial_result over = partial(&h, -100, -1000, 1000, 32), under = partial(&h, 200, -1000, 1000, 32);
    assert_true(over.lost > N / 2 && over.recomputed == 0); /* exp(100) is beyond fp32 */
    assert_true(under.lost == N && isnan(under.within_1e_1));
    struct softmax_partial_result guarded = partial(&h, -100, -80, 80, 32); /* with the range that fp32 has nothing is lost */
    assert_true(guarded.lost == 0 && guarded.recomputed > N / 2 && guarded.within_1e_1 == 1);
    head_release(&h);
}

static void partial__counts_what_fp16_could_not_hold(void **state)
{
    (void)state;
    struct head h = given_scores((const float[]){11.0f, 11.0f, 11.1f}, 3); /* e^11 is 59874, e^11.1 is 66171 */
    struct softmax_partial_result r = partial(&h, 0, -20, 20, 1), two = partial(&h, 0, -20, 20, 2),
                                  shifted = partial(&h, 1, -20, 20, 2);
    assert_true(r.fp16_terms == 1 && r.fp16_sums == 1);
    assert_true(two.fp16_terms == 1 && two.fp16_sums == 2); /* two terms that fit, whose sum does not */
    assert_true(shifted.fp16_terms == 0 && shifted.fp16_sums == 0);
    head_release(&h);
}

/* Attention of a head with all terms of one vector in one part, held as said: written out once more, in the same order. */
static double plain_error(const struct head *h, int held, double phi)
{
    double sum_of_errors = 0, weights[N], exact[D];
    for (size_t t = 0; t < N; t++) {
        float sum = 0, o[D] = {0};
        double difference = 0, norm = 0;
        head_scores(h, t, weights);
        for (size_t i = 0; i <= t; i++) {
            float term = expf((float)weights[i] - (float)phi);
            if (held != SOFTMAX_FP32) term = half_to_float(half_from_float(term));
            sum += term;
            if (held == SOFTMAX_FP16) sum = half_to_float(half_from_float(sum));
            for (size_t j = 0; j < D; j++) {
                o[j] += term * h->v[i * D + j];
                if (held == SOFTMAX_FP16) o[j] = half_to_float(half_from_float(o[j]));
            }
        }
        head_attention(h, t, weights, exact);
        for (size_t j = 0; j < D; j++) {
            difference += ((double)(o[j] / sum) - exact[j]) * ((double)(o[j] / sum) - exact[j]);
            norm += exact[j] * exact[j];
        }
        sum_of_errors += sqrt(difference / norm);
    }
    return sum_of_errors / N;
}

static void partial__loses_what_its_terms_and_sums_are_held_in(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 1, 11);
    double error[3];
    for (int held = SOFTMAX_FP32; held <= SOFTMAX_FP16; held++) {
        struct softmax_partial p = {.range = {1, -50, 50}, .part = N, .held = held};
        struct softmax_partial_result r;
        assert_true(softmax_partial_run(&h, &p, 0, &r, &diags));
        assert_true(r.steps == N && r.recomputed == 0 && r.lost == 0);
        error[held] = r.attention_error;
        assert_true(fabs(error[held] / plain_error(&h, held, 1) - 1) < 1e-12);
    }
    /* Units of the last place: 2^-24, and 2^-11 of each term, and of every sum. */
    assert_true(error[0] < 1e-6 && error[1] > 1e-5 && error[1] < 0x1p-11 && error[2] > 2 * error[1]);
    struct softmax_partial over = {.range = {-9, -50, 50}, .part = 8, .held = SOFTMAX_FP16}; /* sums above 65504 */
    struct softmax_partial_result r;
    assert_true(softmax_partial_run(&h, &over, 0, &r, &diags));
    assert_true(r.lost > N / 2 && r.steps == N - r.lost);
    head_release(&h);
}

static void partial__refuses_no_steps_no_range_and_no_part(void **state)
{
    (void)state;
    struct head h = random_head(4, 2, 1, 1), none = {.n = 1};
    struct softmax_partial_result r;
    const struct softmax_range range = {.low = -1, .high = 1};
    assert_false(softmax_partial_run(&h, &(struct softmax_partial){.range = range}, 0, &r, &diags));
    assert_false(softmax_partial_run(&h, &(struct softmax_partial){.range = range, .part = 1}, 4, &r, &diags));
    assert_false(softmax_partial_run(&none, &(struct softmax_partial){.range = range, .part = 1}, 0, &r, &diags));
    assert_false(softmax_partial_run(&h, &(struct softmax_partial){.part = 1}, 0, &r, &diags));
    assert_true(diags.errors == 4);
    assert_string_equal(diags.list[0].message, "a partial vector of 0 scores");
    head_release(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(count__is_what_one_counts_by_hand, start, stop),
        cmocka_unit_test_setup_teardown(count__adds_up_over_heads_and_lengths, start, stop),
        cmocka_unit_test_setup_teardown(count__grows_with_the_length_but_less_than_independent_scores_would, start, stop),
        cmocka_unit_test_setup_teardown(count__refuses_what_is_no_range_and_no_steps, start, stop),
        cmocka_unit_test_setup_teardown(spread__counts_scores_into_bins, start, stop),
        cmocka_unit_test_setup_teardown(trained__heads_reach_as_far_as_the_reference_says, start, stop),
        cmocka_unit_test_setup_teardown(trained__heads_need_no_recomputation_in_fp32, start, stop),
        cmocka_unit_test_setup_teardown(partial__is_as_close_as_fp32_sums_are, start, stop),
        cmocka_unit_test_setup_teardown(partial__does_not_mind_which_phi_while_terms_stay_in_range, start, stop),
        cmocka_unit_test_setup_teardown(partial__loses_vectors_when_the_range_is_wider_than_fp32, start, stop),
        cmocka_unit_test_setup_teardown(partial__counts_what_fp16_could_not_hold, start, stop),
        cmocka_unit_test_setup_teardown(partial__loses_what_its_terms_and_sums_are_held_in, start, stop),
        cmocka_unit_test_setup_teardown(partial__refuses_no_steps_no_range_and_no_part, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
