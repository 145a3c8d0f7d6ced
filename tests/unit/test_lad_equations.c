/* The equations of the LAD model that no metric shows: the error of softmax against samples, and what must agree with the metrics.
 */
#include "lad_test.h"

#include <dse/linear_exp.h>
#include <dse/units.h>

static void assert_near(double a, double b, double relative)
{
    if (fabs(a - b) <= relative * fmax(fabs(a), fabs(b))) return;
    fail_msg("%.17g is not %.17g", a, b);
}

/* ---- the error of softmax -------------------------------------------------------------------------------------------------- */

enum { SAMPLES = 400, PIECE_POINTS = 4000, EDGES = 5 };

/* The edges of Sec. II-B; the pieces by sums over many points. */
static const double edges[EDGES] = {-10, -6, -3, -1, 0};

static void fit_piece(double from, double to, double *ret_slope, double *ret_offset)
{
    double x = 0, y = 0, xx = 0, xy = 0, n = PIECE_POINTS;
    for (int i = 0; i < PIECE_POINTS; i++) {
        double at = from + (to - from) * (i + 0.5) / n;
        x += at / n;
        y += exp(at) / n;
        xx += at * at / n;
        xy += at * exp(at) / n;
    }
    *ret_slope = (xy - x * y) / (xx - x * x);
    *ret_offset = y - *ret_slope * x;
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 12) + 0.5) / 4503599627370496.0;
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(2 * M_PI * uniform(state));
}

static double approximate(const double *slope, const double *offset, double x)
{
    for (int i = EDGES - 2; i >= 0; i--)
        if (x > edges[i]) return slope[i] * x + offset[i];
    return 0;
}

/* Mean over samples of n scores each. */
static double sampled_mse(int n, double sd)
{
    double slope[EDGES - 1], offset[EDGES - 1], sum = 0, *score = xcalloc((size_t)n, sizeof *score);
    uint64_t state = 7;
    for (int i = 0; i < EDGES - 1; i++) fit_piece(edges[i], edges[i + 1], &slope[i], &offset[i]);
    for (int s = 0; s < SAMPLES; s++) {
        double most = -1e9, z = 0, y = 0;
        for (int i = 0; i < n; i++) most = fmax(most, score[i] = sd * normal(&state));
        for (int i = 0; i < n; i++) z += exp(score[i] - most), y += approximate(slope, offset, score[i] - most);
        for (int i = 0; i < n; i++) sum += pow(exp(score[i] - most) / z - approximate(slope, offset, score[i] - most) / y, 2) / n;
    }
    free(score);
    return sum / SAMPLES;
}

static void softmax__error_is_that_of_random_samples(void **state)
{
    (void)state;
    static const int contexts[] = {128, 512, 2048};
    static const double deviations[] = {0.5, 1.7, 3};
    for (size_t n = 0; n < 3; n++)
        for (size_t d = 0; d < 3; d++) {
            double ours = dse_softmax_pieces_mse(5, contexts[n], deviations[d]), theirs = sampled_mse(contexts[n], deviations[d]);
            print_message("%d scores, deviation %.1f: %.3g, sampled %.3g\n", contexts[n], deviations[d], ours, theirs);
            assert_near(ours, theirs, 0.12);
        }
}

static void softmax__of_one_score_has_no_error(void **state)
{
    (void)state;
    assert_true(fabs(dse_softmax_pieces_mse(5, 1, 2)) < 1e-15);
}

static void softmax__gets_better_with_every_interval(void **state)
{
    (void)state;
    for (int64_t intervals = 3; intervals <= 16; intervals++)
        assert_true(dse_softmax_pieces_mse(intervals, 1024, 1.7) < dse_softmax_pieces_mse(intervals - 1, 1024, 1.7));
}

/* ---- against the metrics ------------------------------------------------------------------------------------------------- */

static void equations__of_a_tile_are_those_of_the_chip(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    p.tiles = 9;
    p.clock_ghz = 1.3;
    struct lad_equations q = lad_equate(&p);
    struct lad_metrics m = estimate(&p);
    assert_near((q.tile_dynamic_mw + q.tile_static_mw) * 9, m.chip_power_w * DSE_MW_PER_W, 1e-12);
    assert_near(q.sram_area_mm2, m.sram_area_share * m.tile_area_mm2, 1e-12);
    assert_true(q.sram_dynamic_mw < q.tile_dynamic_mw && q.sram_static_mw < q.tile_static_mw);
    assert_true(q.compute_area_share > 0 && q.compute_area_share < 1 && q.compute_power_share < 1);
}

/* Eq. 7 is linear: its stages are the inputs times the coefficients, and d / V_a of AC. */
static void equations__of_eq_7_give_the_stages(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    p.local.active_cv = 0;
    struct lad_equations q = lad_equate(&p);
    struct lad_metrics m = estimate(&p);
    struct dse_locality at = dse_profile_at(p.local.profile, 2048);
    at.centers *= p.local.center_scale;
    at.large *= p.local.center_scale;
    assert_near(m.apid_cycles, 2048 * q.apid_position_cycles, 1e-12);
    assert_near(m.md_cycles, at.active * q.md_active_cycles, 1e-12);
    assert_near(m.eas_cycles, at.centers * q.eas_center_cycles + 2048 * q.eas_position_cycles + at.large / 2, 1e-12);
    assert_near(m.ac_cycles, 128.0 / 3 + at.active * q.ac_active_cycles + at.updates * q.ac_update_cycles, 1e-12);
}

static void equations__of_the_workload_do_not_count_the_newest(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    double share = lad_equate(&p).mode_share;
    assert_near(share, 1 - (dse_profile_at(p.local.profile, 2048).active - 16) / 2048, 1e-12);
    p.local.recent = 100; /* measured with 16 */
    assert_true(isnan(lad_equate(&p).mode_share) && isnan(lad_equate(&p).repeat_share));
}

static void equations__have_no_value_outside_of_the_data(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    p.workload.context = 64; /* the profile starts at 128 */
    p.sram_mib = 60;         /* the table ends at 16 */
    struct lad_equations q = lad_equate(&p);
    assert_true(isnan(q.mode_share) && isnan(q.repeat_share) && isnan(q.tile_dynamic_mw) && isnan(q.compute_area_share));
    assert_true(q.softmax_mse > 0 && q.cache_elements > 0);
}

static void centers__are_scaled_and_never_more_than_positions(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    double one = estimate(&p).centers;
    p.local.center_scale = 2.5 * f.defaults.local.center_scale;
    assert_near(estimate(&p).centers, 2.5 * one, 1e-12);
    p.local.center_scale = 1000;
    p.sram_mib = 16;
    assert_near(estimate(&p).centers, 2 * 2048, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax__error_is_that_of_random_samples),
        cmocka_unit_test(softmax__of_one_score_has_no_error),
        cmocka_unit_test(softmax__gets_better_with_every_interval),
        cmocka_unit_test(equations__of_a_tile_are_those_of_the_chip),
        cmocka_unit_test(equations__of_eq_7_give_the_stages),
        cmocka_unit_test(equations__of_the_workload_do_not_count_the_newest),
        cmocka_unit_test(equations__have_no_value_outside_of_the_data),
        cmocka_unit_test(centers__are_scaled_and_never_more_than_positions),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
