/* SwiftKV's single pass: one exponential as the model's bound says, attention as close as its words allow, overflow counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "dse_config.h"
#include "random_head.h"
#include "attention/single_pass.h"
#include "attention/trace.h"

#include <dse/fixed.h>
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

static struct single_pass_result run(const struct head *h, struct single_pass s, size_t first)
{
    struct single_pass_result r;
    assert_true(single_pass_run(h, &s, first, &r, &diags));
    return r;
}

static struct single_pass bits(int q_frac_bits, int lut_bits)
{
    return (struct single_pass){.q_frac_bits = q_frac_bits, .lut_bits = lut_bits};
}

/* ---- the exponential -------------------------------------------------------------------------------------------------------- */

static void pieces__join_and_fall(void **state)
{
    (void)state;
    for (int64_t lut = 1; lut <= 8; lut++) {
        const int64_t frac = 17, step = (int64_t)1 << (frac - lut), pieces = (int64_t)1 << lut;
        for (int64_t k = 0; k < pieces; k++) {
            struct dse_exp2_piece p = dse_exp2_piece(lut, frac, k);
            int64_t next = k + 1 < pieces ? dse_exp2_piece(lut, frac, k + 1).value : (int64_t)1 << (frac - 1);
            assert_true(p.slope < 0 && dse_exp2_at(p, frac, 0) == p.value);
            assert_in_range(dse_exp2_at(p, frac, step) - next + 2, 0, 4); /* two units of rounding */
            assert_true(dse_exp2_at(p, frac, step / 2) >= next && dse_exp2_at(p, frac, step / 2) <= p.value);
        }
    }
}

/* The chord is off by at most exp((h ln 2)^2 / 8) - 1 of the value (Hoeffding's lemma); then come the rounding of table and
 * result (3 units before the shift, 1 after) and of the argument (half a unit, and one of the product with log2 e). */
static void exponential__is_off_by_the_chord_and_the_word(void **state)
{
    (void)state;
    const int lut[] = {2, 3, 5, 8}, frac[] = {12, 17, 24};
    for (size_t l = 0; l < 4; l++)
        for (size_t f = 0; f < 3; f++) {
            const struct single_pass s = bits(frac[f], lut[l]);
            double unit = exp2(-frac[f]), h = exp2(-lut[l]) * log(2), worst = 0;
            for (double x = -12; x <= 0; x += 0.0137) {
                double error = single_pass_exp(&s, x) - exp(x);
                assert_true(fabs(error) <= exp(x) * (expm1(h * h / 8) + 5 * unit) + 1.5 * unit);
                worst = fmax(worst, error);
            }
            assert_true(single_pass_exp(&s, 0) == 1);
            if (lut[l] == 2) assert_true(worst > h * h / 16); /* the chord shows */
        }
}

/* With words fine enough only the chord is left, (h ln 2)^2 / 8 but for the next order; the word of Q15.17 adds a few of its units.
 */
static void exponential__errs_most_by_the_chord(void **state)
{
    (void)state;
    for (int lut = 2; lut <= 6; lut++) {
        double h = exp2(-lut) * log(2), chord = h * h / 8, unit = exp2(-17);
        struct single_pass fine = bits(24, lut), word = bits(17, lut), exact = bits(17, lut);
        exact.exact_exp = true;
        assert_true(fabs(single_pass_exp_error(&fine) / chord - 1) < 0.02);
        assert_true(single_pass_exp_error(&word) > chord && single_pass_exp_error(&word) < chord + 6 * unit);
        assert_true(single_pass_exp_error(&exact) > 0.4 * unit && single_pass_exp_error(&exact) < unit * 1.0001);
    }
}

static void exponential__vanishes_far_out(void **state)
{
    (void)state;
    const struct single_pass s = single_pass_defaults;
    assert_true(single_pass_exp(&s, -100) == 0 && single_pass_exp(&s, -16000) == 0 && single_pass_exp(&s, -1e9) == 0);
    double before = 1;
    for (double x = 0; x > -14; x -= 1.0 / 64) {
        double now = single_pass_exp(&s, x);
        assert_true(now <= before);
        before = now;
    }
}

/* ---- attention --------------------------------------------------------------------------------------------------------------- */

/* One position: exp(0) = 1, o = v to half a unit. */
static void attention__over_one_position_is_its_value(void **state)
{
    (void)state;
    struct head h = random_head(1, D, 1, 1);
    struct single_pass_result r = run(&h, single_pass_defaults, 0);
    assert_true(r.steps == 1 && r.saturated == 0 && r.worst_error < 0x1p-18 * 4);
    head_release(&h);
}

/* All keys the same: nothing but counting and one division. */
static void attention__over_equal_keys_is_the_mean(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 1, 2);
    for (size_t i = D; i < N * D; i++) h.k[i] = h.k[i % D];
    for (size_t i = 0; i < N * D; i++) h.v[i] = (float)(1 + i / D % 3); /* whole numbers: sums are exact, the division is cut */
    struct single_pass_result r = run(&h, single_pass_defaults, 0);
    assert_true(r.saturated == 0 && r.worst_error < 0x1p-17);
    head_release(&h);
}

static void attention__gets_closer_with_every_bit(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 2, 3);
    double before = 1;
    for (int frac = 8; frac <= 23; frac += 3) { /* a fine table: the words decide */
        double error = run(&h, bits(frac, frac < 12 ? frac : 12), 0).output_error;
        assert_true(error < before / 3);
        before = error;
    }
    before = 1;
    for (int lut = 1; lut <= 6; lut++) { /* fine words: the table decides, a factor of 4 a bit */
        double error = run(&h, bits(23, lut), 0).output_error;
        assert_true(error < before / 3);
        before = error;
    }
    head_release(&h);
}

/* Weights off by a relative e move the output by at most 2 e of the largest value. With fine words that is the chord's error. */
static void attention__is_within_the_bound_of_the_table(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 2, 4);
    for (size_t i = 0; i < N * D; i++) h.v[i] = i % 2 ? 1.0f : (float)(2 + (i / D) % 3); /* positive: |exact| >= 1 */
    for (int lut = 2; lut <= 6; lut++) {
        double step = exp2(-lut) * log(2);
        /* a chain of rescalings multiplies the errors of exp(old - new maximum); few happen after the first positions */
        assert_true(run(&h, bits(22, lut), 0).worst_error < 4 * 4 * step * step / 8 + 1e-4);
    }
    head_release(&h);
}

static void attention__by_an_exact_exponential_is_no_worse(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 2, 5);
    struct single_pass coarse = bits(22, 3), exact = coarse, cut = single_pass_defaults;
    exact.exact_exp = true;
    assert_true(run(&h, exact, 0).output_error < run(&h, coarse, 0).output_error / 10);
    cut.truncate = true; /* a bias of half a unit a product */
    assert_true(run(&h, cut, 0).output_error > run(&h, single_pass_defaults, 0).output_error);
    head_release(&h);
}

/* What falls out of the shift: cut it is a unit of the word at most and never up, rounded half a unit either way. Sums of many
 * small terms, which a flat head has, lose what is cut. */
static void the_shift__is_cut_or_rounded(void **state)
{
    (void)state;
    struct single_pass cut = bits(17, 5), rounded = cut;
    cut.cut_shift = true;
    rounded.cut_shift = false;
    size_t up = 0;
    for (double x = -14; x <= 0; x += 0.0173) {
        double unit = 0x1p-17, a = single_pass_exp(&cut, x), b = single_pass_exp(&rounded, x);
        assert_true(b == a || b == a + unit);
        up += b > a;
    }
    assert_true(up > 300); /* of 810, about half of those that are shifted */
    struct head h = random_head(N, D, 2, 5);
    assert_true(run(&h, rounded, 0).output_error < run(&h, cut, 0).output_error);
    head_release(&h);
}

static void attention__averages_the_lengths(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 2, 6);
    struct single_pass_result r = run(&h, single_pass_defaults, 10);
    double sum = 0, worst = 0;
    size_t steps = 0;
    for (size_t b = 0; b < SINGLE_PASS_LENGTHS; b++) {
        const struct single_pass_at *at = &r.lengths[b];
        assert_true((at->steps == 0) == isnan(at->output_error));
        if (!at->steps) continue;
        steps += at->steps;
        sum += at->output_error * (double)at->steps;
        worst = fmax(worst, at->worst_error);
    }
    assert_true(steps == N - 10 && r.steps == steps && r.lengths[3].steps == 5 && r.lengths[4].steps == 16);
    assert_true(fabs(sum / (double)steps - r.output_error) < 1e-15 && worst == r.worst_error);
    head_release(&h);
}

/* ---- a trained model's heads --------------------------------------------------------------------------------------------- */

/* Layer 5, head 0 of TinyLlama, of the shipped trace: nearly all weight is on the first position, whose value is small. What is
 * left of the output is a sum of many small exponentials, each off by up to a unit of the word whatever its size. So the relative
 * error grows with the length, and more bits behind the point help where a finer table does not. A flat head has a large Z, which
 * wants bits before it. */
static void trained__sinks_make_the_error_grow_with_the_length(void **state)
{
    (void)state;
    struct head sink, flat;
    struct trace *t = trace_open(DSE_SOURCE_DATA "/catalog/traces/tinyllama.trace", &diags);
    assert_non_null(t);
    assert_true(trace_head(t, 1, 0, &sink, &diags) && trace_head(t, 0, 0, &flat, &diags));
    trace_close(t);
    sink.n = flat.n = 512; /* the first positions are a head of their own: attention is causal */
    struct single_pass_result r = run(&sink, single_pass_defaults, 0);
    assert_true(r.saturated == 0 && r.max_abs_score > 10);
    for (size_t b = 5; b < 9; b++) assert_true(r.lengths[b].output_error > 1.2 * r.lengths[b - 1].output_error);
    assert_true(run(&sink, bits(17, 8), 0).output_error > r.output_error / 2);
    assert_true(run(&sink, bits(20, 5), 0).output_error < r.output_error / 3);
    assert_true(r.absolute_error < 1e-3);
    struct single_pass_result even = run(&flat, single_pass_defaults, 0);
    assert_true(even.saturated == 0 && even.lengths[8].output_error < 1.2 * even.lengths[4].output_error);
    assert_true(run(&flat, bits(24, 5), 256).saturated > 200 && run(&sink, bits(23, 5), 0).saturated == 0);
    head_release(&sink);
    head_release(&flat);
}

/* ---- overflow ---------------------------------------------------------------------------------------------------------------- */

static void overflow__of_a_value_counts_the_steps_that_see_it(void **state)
{
    (void)state;
    struct head h = random_head(20, 4, 1, 7);
    h.v[12 * 4] = 20000; /* Q15.17 ends at 16384 */
    assert_true(run(&h, single_pass_defaults, 0).saturated == 8);
    h.v[12 * 4] = 0;
    h.q[5 * 4] = -1e30f;
    h.k[0] = 0; /* the product stays small: only step 5 reads that query */
    for (size_t i = 0; i < 20; i++) h.k[i * 4] = 0;
    assert_true(run(&h, single_pass_defaults, 0).saturated == 1);
    assert_true(run(&h, single_pass_defaults, 6).saturated == 0);
    head_release(&h);
}

/* Equal weights: Z is the length, and leaves a word with 7 bits before the point at 128. */
static void overflow__of_the_denominator_comes_with_the_length(void **state)
{
    (void)state;
    struct head h = random_head(N, 4, 1, 8);
    memset(h.k, 0, N * 4 * sizeof *h.k);
    for (size_t i = 0; i < N * 4; i++) h.v[i] = 0.25f;
    struct single_pass_result r = run(&h, bits(24, 5), 0);
    assert_true(r.saturated == N - 127 && r.lengths[6].worst_error < 1e-6 && r.worst_error > 0.1);
    assert_true(run(&h, bits(23, 5), 0).saturated == 0);
    head_release(&h);
}

static void overflow__of_any_kind_is_counted_and_harmless(void **state)
{
    (void)state;
    const float extremes[] = {INFINITY, -INFINITY, NAN, 3e38f, -3e38f, 16384, -16384};
    for (size_t e = 0; e < sizeof extremes / sizeof *extremes; e++)
        for (int frac = 8; frac <= 24; frac += 8) {
            struct head h = random_head(30, 8, 1e3, e);
            for (size_t i = 0; i < 8; i++) h.q[8 * i] = h.k[8 * (i + 3)] = h.v[8 * (i + 9)] = extremes[e];
            assert_true(run(&h, bits(frac, 5), 0).saturated > 0);
            head_release(&h);
        }
}

static void run__refuses_bits_and_steps_out_of_range(void **state)
{
    (void)state;
    struct head h = random_head(3, 2, 1, 1), none = {.n = 2};
    struct single_pass_result r;
    const struct single_pass bad[] = {bits(7, 5), bits(25, 5), bits(17, 0), bits(17, 13), bits(10, 11)};
    for (size_t i = 0; i < 5; i++) assert_false(single_pass_run(&h, &bad[i], 0, &r, &diags));
    assert_false(single_pass_run(&h, &single_pass_defaults, 3, &r, &diags));
    assert_false(single_pass_run(&none, &single_pass_defaults, 0, &r, &diags));
    assert_true(diags.errors == 7);
    assert_string_equal(diags.list[0].message, "7 bits after the point");
    assert_string_equal(diags.list[4].message, "11 bits of index into the table of the exponential");
    head_release(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pieces__join_and_fall, start, stop),
        cmocka_unit_test_setup_teardown(exponential__is_off_by_the_chord_and_the_word, start, stop),
        cmocka_unit_test_setup_teardown(exponential__errs_most_by_the_chord, start, stop),
        cmocka_unit_test_setup_teardown(exponential__vanishes_far_out, start, stop),
        cmocka_unit_test_setup_teardown(attention__over_one_position_is_its_value, start, stop),
        cmocka_unit_test_setup_teardown(attention__over_equal_keys_is_the_mean, start, stop),
        cmocka_unit_test_setup_teardown(attention__gets_closer_with_every_bit, start, stop),
        cmocka_unit_test_setup_teardown(attention__is_within_the_bound_of_the_table, start, stop),
        cmocka_unit_test_setup_teardown(attention__by_an_exact_exponential_is_no_worse, start, stop),
        cmocka_unit_test_setup_teardown(the_shift__is_cut_or_rounded, start, stop),
        cmocka_unit_test_setup_teardown(attention__averages_the_lengths, start, stop),
        cmocka_unit_test_setup_teardown(trained__sinks_make_the_error_grow_with_the_length, start, stop),
        cmocka_unit_test_setup_teardown(overflow__of_a_value_counts_the_steps_that_see_it, start, stop),
        cmocka_unit_test_setup_teardown(overflow__of_the_denominator_comes_with_the_length, start, stop),
        cmocka_unit_test_setup_teardown(overflow__of_any_kind_is_counted_and_harmless, start, stop),
        cmocka_unit_test_setup_teardown(run__refuses_bits_and_steps_out_of_range, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
