/* solve(): roots that are known, ends, steps and what is no number; ranges over boxes; derivatives against the theorem of implicit
 * functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "graph/derive.h"
#include "graph/solve.h"
#include "space/random_point.h"

#include <math.h>
#include <stdlib.h>

/* ---- functions of C ----------------------------------------------------------------------------------------------------- */

struct cubic {
    double at, step; /* the root; a jump there */
    int asked;
};

static double cubic(void *object, double x)
{
    struct cubic *c = object;
    const double d = x - c->at;
    c->asked++;
    return d * d * d + d + (x > c->at ? c->step : -c->step);
}

static void roots__are_found_to_the_last_digits(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 1000; i++) {
        struct cubic c = {.at = ldexp(random_uniform(&seed) - 0.5, (int)(30 * random_uniform(&seed)) - 15)};
        const double low = c.at - 3 * random_uniform(&seed) - 1e-3, high = c.at + 2 * random_uniform(&seed) + 1e-3,
                     x = solve_root(low, high, cubic, &c);
        if (fabs(x - c.at) > 4e-14 * fmax(fabs(low), fabs(high))) fail_msg("%.17g, not %.17g", x, c.at);
        assert_true(c.asked < 100);
    }
}

static void steps__are_met_from_below(void **state)
{
    (void)state;
    struct cubic c = {.at = 0.75, .step = 2};
    const double x = solve_root(0, 4, cubic, &c);
    assert_true(x <= 0.75 && x > 0.75 - 1e-13);
    assert_true(cubic(&c, x) <= 0);
}

static void ends__are_taken_where_nothing_changes_its_sign(void **state)
{
    (void)state;
    struct cubic c = {.at = 1};
    assert_true(solve_root(2, 3, cubic, &c) == 2);
    assert_true(solve_root(-3, 0.5, cubic, &c) == 0.5);
    assert_true(solve_root(0.5, 0.5, cubic, &c) == 0.5);
    assert_true(isnan(solve_root(2, 1, cubic, &c)));
    assert_true(isnan(solve_root((double)NAN, 1, cubic, &c)));
    c.at = (double)NAN;
    assert_true(isnan(solve_root(0, 1, cubic, &c)));
}

/* ---- graphs ------------------------------------------------------------------------------------------------------------- */

enum { LOW, HIGH, FACTOR, INPUTS };

/* x^2 * FACTOR - 3 from LOW to HIGH; its body has a choice of which one side alone is right. */
static int make_root(struct graph *g)
{
    const int low = graph_input(g, LOW, -1), high = graph_input(g, HIGH, -1), factor = graph_input(g, FACTOR, -1),
              x = graph_unknown(g, 0), square = graph_make(g, GRAPH_MUL, x, x),
              wide = graph_make(g, GRAPH_MUL, square, graph_make(g, GRAPH_MUL, factor, graph_constant(g, 1))),
              linear = graph_make(g, GRAPH_SUB, x, graph_constant(g, 100)),
              body = graph_choose(g, graph_make(g, GRAPH_LE, graph_constant(g, 0), x),
                                  graph_make(g, GRAPH_SUB, wide, graph_constant(g, 3)), linear);
    return graph_solve(g, low, high, body, x);
}

static double run(const struct graph *g, int root, const double *inputs)
{
    struct slots s;
    struct program p;
    slots_make(g, &s);
    program_make(g, &s, &root, 1, NULL, &p);
    double *v = slots_numbers(&s, g);
    for (int i = 0; i < g->n; i++)
        if (g->nodes[i].op == GRAPH_INPUT) v[s.of[i]] = inputs[g->nodes[i].what];
    program_run(&p, v, NULL);
    const double ret = v[s.of[root]];
    free(v);
    program_release(&p);
    slots_release(&s);
    return ret;
}

static void graphs__solve_and_differentiate(void **state)
{
    (void)state;
    struct graph g;
    graph_init(&g);
    const int root = make_root(&g), by[INPUTS] = {graph_input(&g, LOW, -1), graph_input(&g, HIGH, -1), graph_input(&g, FACTOR, -1)};
    int slope[INPUTS];
    for (int i = 0; i < INPUTS; i++) graph_derive(&g, &root, 1, by[i], 0, &slope[i]);
    for (double factor = 0.25; factor < 40; factor *= 1.5) {
        const double inputs[INPUTS] = {-4, 2.5, factor}, x = fmin(sqrt(3 / factor), 2.5);
        const bool is_end = sqrt(3 / factor) >= 2.5;
        assert_true(fabs(run(&g, root, inputs) - x) < 1e-12);
        assert_true(fabs(run(&g, slope[FACTOR], inputs) - (is_end ? 0 : -x / (2 * factor))) < 1e-10);
        assert_true(run(&g, slope[HIGH], inputs) == (is_end ? 1 : 0));
        assert_true(run(&g, slope[LOW], inputs) == 0);
    }
    graph_release(&g);
}

static void bodies__without_the_number_are_a_choice(void **state)
{
    (void)state;
    struct graph g;
    graph_init(&g);
    const int low = graph_input(&g, LOW, -1), high = graph_input(&g, HIGH, -1), x = graph_unknown(&g, 0),
              root = graph_solve(&g, low, high, graph_input(&g, FACTOR, -1), x);
    assert_int_equal(g.nodes[root].op, GRAPH_CHOOSE);
    assert_true(run(&g, root, (double[]){1, 2, -1}) == 2);
    assert_true(run(&g, root, (double[]){1, 2, 1}) == 1);
    graph_release(&g);
}

/* ---- boxes -------------------------------------------------------------------------------------------------------------- */

static struct graph_range range_of_ends(double a, double b)
{
    return (struct graph_range){fmin(a, b), fmax(a, b), false, false};
}

static struct graph_range at_box(const struct graph *g, int root, const struct graph_range *inputs)
{
    struct slots s;
    struct solve_body body;
    slots_make(g, &s);
    solve_body_make(g, root, &body);
    struct graph_range *r = calloc((size_t)s.n + 1, sizeof *r);
    assert_non_null(r);
    for (int i = 0; i < g->n; i++) {
        const struct graph_node *n = &g->nodes[i];
        if (n->op == GRAPH_INPUT) r[s.of[i]] = inputs[n->what];
        if (n->op == GRAPH_CONSTANT) r[s.of[i]] = range_of(n->number);
    }
    const struct graph_range ret = solve_body_range(&body, g, &s, NULL, ~0U, r);
    free(r);
    solve_body_release(&body);
    slots_release(&s);
    return ret;
}

/* Points of a box are within its range, which is no more than a hundredth wider than it must be. */
static void boxes__hold_the_roots_of_their_points(void **state)
{
    (void)state;
    enum { BOXES = 300, POINTS = 20 };
    uint64_t seed = 5;
    struct graph g;
    graph_init(&g);
    const int root = make_root(&g);
    for (int i = 0; i < BOXES; i++) {
        struct graph_range inputs[INPUTS] = {range_of_ends(-3 * random_uniform(&seed), -3 * random_uniform(&seed)),
                                             range_of_ends(1 + 3 * random_uniform(&seed), 1 + 3 * random_uniform(&seed)),
                                             range_of_ends(0.1 + 4 * random_uniform(&seed), 0.1 + 4 * random_uniform(&seed))};
        const struct graph_range r = at_box(&g, root, inputs);
        const double least = fmin(sqrt(3 / inputs[FACTOR].hi), inputs[HIGH].lo),
                     most = fmin(sqrt(3 / inputs[FACTOR].lo), inputs[HIGH].hi);
        assert_true(r.lo <= least && r.hi >= most && !r.none);
        assert_true(r.lo > 0.99 * least && r.hi < 1.01 * most);
        for (int k = 0; k < POINTS; k++) {
            double at[INPUTS];
            for (int j = 0; j < INPUTS; j++) at[j] = inputs[j].lo + random_uniform(&seed) * (inputs[j].hi - inputs[j].lo);
            const double x = run(&g, root, at);
            if (x < r.lo || x > r.hi) fail_msg("%.17g is not from %.17g to %.17g", x, r.lo, r.hi);
            const struct graph_range single[INPUTS] = {range_of(at[0]), range_of(at[1]), range_of(at[2])},
                                     s = at_box(&g, root, single);
            assert_true(range_is_exact(s) && s.lo == x);
        }
    }
    graph_release(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots__are_found_to_the_last_digits),
        cmocka_unit_test(steps__are_met_from_below),
        cmocka_unit_test(ends__are_taken_where_nothing_changes_its_sign),
        cmocka_unit_test(graphs__solve_and_differentiate),
        cmocka_unit_test(bodies__without_the_number_are_a_choice),
        cmocka_unit_test(boxes__hold_the_roots_of_their_points),
    };
    return cmocka_run_group_tests_name("solve", tests, NULL, NULL);
}
