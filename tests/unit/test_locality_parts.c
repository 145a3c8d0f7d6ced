/* The parts of LAD's decoder by themselves: pieces of exp, directional centers, caches; and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "complaints.h"
#include "locality_heads.h"
#include "attention/locality_state.h"

#include <gsl/gsl_fit.h>
#include <stdlib.h>

/* ---- pieces ----------------------------------------------------------------------------------------------------------------- */

static void pieces__are_the_least_squares_of_gsl(void **state)
{
    (void)state;
    enum { SAMPLES = 20000 };
    const struct locality_options *o = &locality_defaults;
    struct dse_pieces p;
    dse_pieces_init(&p, o->edges, o->intervals);
    assert_true(p.n == 5 && p.slope[0] == 0 && p.offset[0] == 0);
    double *x = xcalloc(SAMPLES, sizeof *x), *y = xcalloc(SAMPLES, sizeof *y);
    for (size_t i = 1; i < p.n; i++) {
        for (size_t s = 0; s < SAMPLES; s++) {
            x[s] = p.edge[i - 1] + (p.edge[i] - p.edge[i - 1]) * ((double)s + 0.5) / SAMPLES;
            y[s] = exp(x[s]);
        }
        double offset, slope, c00, c01, c11, sum;
        gsl_fit_linear(x, 1, y, 1, SAMPLES, &offset, &slope, &c00, &c01, &c11, &sum);
        assert_true(fabs(p.slope[i] - slope) < 1e-7 * slope);
        assert_true(fabs(p.offset[i] - offset) < 1e-7 * offset);
    }
    free(x);
    free(y);
}

static void pieces__own_their_right_edge(void **state)
{
    (void)state;
    struct dse_pieces p;
    dse_pieces_init(&p, locality_defaults.edges, locality_defaults.intervals);
    for (size_t i = 0; i + 1 < p.n; i++) {
        assert_int_equal(dse_pieces_find(&p, p.edge[i]), i);
        assert_int_equal(dse_pieces_find(&p, nextafter(p.edge[i], 1)), i + 1);
    }
    assert_int_equal(dse_pieces_find(&p, -(double)INFINITY), 0);
    assert_int_equal(dse_pieces_find(&p, 0), 4);
    assert_int_equal(dse_pieces_find(&p, 3), 4);
    assert_true(dse_pieces_exp(&p, -20) == 0);
}

/* Sum over all scores of a head of (piece - exp)^2, the first piece left out. */
static double squared_error(const struct head *h, const struct dse_pieces *p)
{
    double *score = xcalloc(h->n, sizeof *score), sum = 0;
    for (size_t t = 0; t < h->n; t++) {
        head_scores(h, t, score);
        double max = score[0];
        for (size_t i = 1; i <= t; i++) max = fmax(max, score[i]);
        for (size_t i = 0; i <= t; i++) {
            double x = score[i] - max, error = dse_pieces_exp(p, x) - exp(x);
            if (x > p->edge[0]) sum += error * error;
        }
    }
    free(score);
    return sum;
}

static void fit__is_the_best_line_for_the_scores_of_the_head(void **state)
{
    (void)state;
    struct head h;
    drifting_head(&h, 150, 16, 31);
    struct diags diags;
    diags_init(&diags);
    struct dse_pieces even, fitted;
    dse_pieces_init(&even, locality_defaults.edges, locality_defaults.intervals);
    assert_true(locality_fit(&h, &locality_defaults, &fitted, &diags));
    expect_silence(&diags);
    double best = squared_error(&h, &fitted);
    assert_true(best < 0.9 * squared_error(&h, &even));
    assert_true(fitted.slope[0] == 0 && fitted.offset[0] == 0);
    for (size_t i = 1; i < fitted.n; i++)
        for (int change = 0; change < 4; change++) {
            struct dse_pieces other = fitted;
            double *moved = change < 2 ? &other.slope[i] : &other.offset[i];
            *moved *= change % 2 ? 1.02 : 0.98;
            assert_true(squared_error(&h, &other) > best);
        }
    head_release(&h);
}

static void fit__leaves_pieces_without_scores_as_they_are(void **state)
{
    (void)state;
    struct head h;
    head_init(&h, 20, 4); /* all scores are 0: one place in the last piece, none in the others */
    struct diags diags;
    diags_init(&diags);
    struct dse_pieces even, fitted;
    dse_pieces_init(&even, locality_defaults.edges, locality_defaults.intervals);
    assert_true(locality_fit(&h, &locality_defaults, &fitted, &diags));
    for (size_t i = 0; i < even.n; i++) assert_true(fitted.slope[i] == even.slope[i] && fitted.offset[i] == even.offset[i]);
    h.q[5] = (float)NAN;
    assert_false(locality_fit(&h, &locality_defaults, &fitted, &diags));
    expect_complaint(&diags, 0, 0, "q: position 1, element 1 is nan");
    head_release(&h);
}

/* ---- centers ---------------------------------------------------------------------------------------------------------------- */

enum { DIM = 3 };

static void take_keys(struct locality_centers *c, double collinear, const float (*keys)[DIM], size_t n)
{
    const float q[DIM] = {1, 2, 3};
    locality_centers_init(c, DIM, collinear);
    for (size_t i = 0; i < n; i++) locality_centers_step(c, keys[0], q);
}

static void centers__stand_for_parallel_and_opposite_keys(void **state)
{
    (void)state;
    static const float keys[][DIM] = {{1, 0, 0}, {0, 2, 0}, {4, 0, 0}, {-0.5f, 0, 0}, {0, -6, 0}};
    struct locality_centers c;
    take_keys(&c, 0.98, keys, 5);
    assert_int_equal(c.n, 2);
    static const uint32_t cid[] = {0, 1, 0, 0, 1};
    static const float dnorm[] = {1, 1, 4, -0.5f, -3};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(c.cid[i], cid[i]);
        assert_true(c.dnorm[i] == dnorm[i]);
    }
    assert_true(c.position[0] == 0 && c.position[1] == 1);
    assert_true(c.score[0] == 1 && c.score[1] == 4);
    locality_centers_release(&c);
}

static void centers__split_at_the_threshold(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2)
        for (int above = 0; above < 2; above++) {
            double cosine = sign * (above ? 0.9801 : 0.9799);
            const float keys[][DIM] = {{2, 0, 0}, {(float)cosine, (float)sqrt(1 - cosine * cosine), 0}};
            struct locality_centers c;
            take_keys(&c, 0.98, keys, 2);
            assert_int_equal(c.n, above ? 1 : 2);
            assert_true(fabsf(c.dnorm[1] - (above ? 0.5f * (float)sign : 1)) < 1e-6f);
            locality_centers_release(&c);
        }
}

static void centers__that_are_equally_near_leave_it_to_the_oldest(void **state)
{
    (void)state;
    static const float keys[][DIM] = {{1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {-1, 1, 0}};
    struct locality_centers c;
    take_keys(&c, 0.5, keys, 4);
    assert_int_equal(c.n, 2);
    assert_true(c.cid[2] == 0 && c.cid[3] == 0 && c.dnorm[3] < 0);
    locality_centers_release(&c);
}

static void centers__of_keys_of_zeros_stand_for_nothing_else(void **state)
{
    (void)state;
    static const float keys[][DIM] = {{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 0, 0}};
    struct locality_centers c;
    take_keys(&c, 0, keys, 4);
    assert_int_equal(c.n, 4);
    for (size_t i = 0; i < 4; i++) assert_true(c.cid[i] == i && c.dnorm[i] == 1);
    locality_centers_release(&c);
}

/* ---- caches ----------------------------------------------------------------------------------------------------------------- */

static void caches__give_back_the_lines_of_their_positions(void **state)
{
    (void)state;
    const float k[] = {1, -2, 3}, v[] = {0.5f, 4, -1};
    const double q[] = {2, 1, 0.5}, slope = 0.25, offset = 0.75, m = 3; /* q . k = 1.5 */
    struct locality_caches c;
    locality_caches_init(&c, DIM);
    locality_caches_add(&c, k, v, slope, offset);
    double numerator[DIM], weight = slope * (1.5 - m) + offset;
    assert_true(locality_caches_read(&c, q, m, numerator) == weight);
    for (size_t j = 0; j < DIM; j++) assert_true(numerator[j] == weight * (double)v[j]);
    locality_caches_add(&c, k, v, -slope, -offset);
    assert_true(locality_caches_read(&c, q, m, numerator) == 0);
    locality_caches_release(&c);
}

/* ---- bad input -------------------------------------------------------------------------------------------------------------- */

static void refuse(const struct head *h, const struct locality_options *o, size_t first, const char *part)
{
    struct diags diags;
    struct locality_result r;
    diags_init(&diags);
    assert_false(locality_run(h, o, first, &r, &diags));
    expect_complaint(&diags, 0, 0, part);
}

static void run__refuses_options_that_make_no_sense(void **state)
{
    (void)state;
    struct head h;
    drifting_head(&h, 4, 4, 1);
    struct locality_options o = locality_defaults;
    o.intervals = 2;
    refuse(&h, &o, 0, "intervals: 2 is outside of 3 to 16");
    o.intervals = 17;
    refuse(&h, &o, 0, "intervals: 17 is outside of 3 to 16");
    o = locality_defaults;
    o.edges[2] = -6;
    refuse(&h, &o, 0, "edge 3: -6 does not grow from -6");
    o.edges[2] = (double)NAN;
    refuse(&h, &o, 0, "edge 3: nan is not finite");
    o = locality_defaults;
    o.edges[4] = 0.5;
    refuse(&h, &o, 0, "edge 5: the last edge is 0, not 0.5");
    o = locality_defaults;
    o.recent = 0;
    refuse(&h, &o, 0, "recent: at least the newest position is always active, not 0");
    o = locality_defaults;
    o.collinear = 1.5;
    refuse(&h, &o, 0, "collinear: 1.5 is not a cosine of 0 to 1");
    o.collinear = (double)NAN;
    refuse(&h, &o, 0, "collinear: nan is not a cosine");
    head_release(&h);
}

static void run__refuses_heads_without_steps_or_with_bad_values(void **state)
{
    (void)state;
    struct head h;
    drifting_head(&h, 4, 4, 1);
    refuse(&h, &locality_defaults, 4, "no steps: the first is 4, and the head has 4 positions");
    h.k[2 * 4 + 1] = (float)NAN;
    refuse(&h, &locality_defaults, 0, "k: position 2, element 1 is nan");
    h.k[2 * 4 + 1] = -2e15f;
    refuse(&h, &locality_defaults, 0, "k: position 2, element 1 is -2e+15");
    h.k[2 * 4 + 1] = 0;
    h.v[15] = (float)INFINITY;
    refuse(&h, &locality_defaults, 0, "v: position 3, element 3 is inf");
    h.n = 0;
    refuse(&h, &locality_defaults, 0, "no steps");
    h.d = 0;
    refuse(&h, &locality_defaults, 0, "a head of dimension 0");
    head_release(&h);
}

static void run__survives_the_largest_values_and_heads_of_zeros(void **state)
{
    (void)state;
    for (int large = 0; large < 2; large++) {
        struct head h;
        head_init(&h, 40, 8);
        for (size_t i = 0; large && i < 40 * 8; i++) h.q[i] = h.k[i] = h.v[i] = (i / 8 + i) % 2 ? 1e15f : -1e15f;
        struct locality_result r;
        struct diags diags;
        diags_init(&diags);
        assert_true(locality_run(&h, &locality_defaults, 0, &r, &diags));
        expect_silence(&diags);
        assert_true(isfinite(r.output_error) && isfinite(r.softmax_mse) && r.at.active <= 40);
        if (!large) assert_true(r.output_error == 0 && r.softmax_mse < 1e-30 && r.at.centers == 20.5);
        head_release(&h);
    }
}

/* Five are those of Sec. II-B to the last bit; any number grows from -10 to 0 in steps that get shorter. */
static void pieces__have_edges_that_get_shorter_towards_0(void **state)
{
    (void)state;
    double edges[DSE_PIECES_MAX];
    dse_pieces_edges(edges, locality_defaults.intervals);
    assert_memory_equal(edges, locality_defaults.edges, locality_defaults.intervals * sizeof *edges);
    for (size_t n = 2; n <= DSE_PIECES_MAX; n++) {
        dse_pieces_edges(edges, n);
        assert_true(edges[0] == -10 && edges[n - 1] == 0 && !signbit(edges[n - 1]));
        for (size_t i = 1; i < n; i++) {
            double width = edges[i] - edges[i - 1];
            assert_true(width > 0 && (i == 1 || width < edges[i - 1] - edges[i - 2]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces__are_the_least_squares_of_gsl),
        cmocka_unit_test(pieces__own_their_right_edge),
        cmocka_unit_test(fit__is_the_best_line_for_the_scores_of_the_head),
        cmocka_unit_test(fit__leaves_pieces_without_scores_as_they_are),
        cmocka_unit_test(centers__stand_for_parallel_and_opposite_keys),
        cmocka_unit_test(centers__split_at_the_threshold),
        cmocka_unit_test(centers__that_are_equally_near_leave_it_to_the_oldest),
        cmocka_unit_test(centers__of_keys_of_zeros_stand_for_nothing_else),
        cmocka_unit_test(caches__give_back_the_lines_of_their_positions),
        cmocka_unit_test(run__refuses_options_that_make_no_sense),
        cmocka_unit_test(run__refuses_heads_without_steps_or_with_bad_values),
        cmocka_unit_test(run__survives_the_largest_values_and_heads_of_zeros),
        cmocka_unit_test(pieces__have_edges_that_get_shorter_towards_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
