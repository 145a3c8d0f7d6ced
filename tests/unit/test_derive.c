/* Derivatives of random graphs against central differences, and what is said of corners and steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "graph/derive.h"
#include "graph/program.h"
#include "space/random_point.h"

#include <math.h>
#include <stdlib.h>

enum { INPUTS = 4, NODES = 30, GRAPHS = 3000, MOST_NODES = 4000 };

static uint64_t seed = 7;

static int below(int n)
{
    return (int)(random_uniform(&seed) * n);
}

static int random_node(struct graph *g)
{
    static const enum graph_op ops[] = {GRAPH_ADD,  GRAPH_SUB,   GRAPH_MUL,     GRAPH_DIV,   GRAPH_POW,  GRAPH_MIN,   GRAPH_MAX,
                                        GRAPH_LT,   GRAPH_AND,   GRAPH_OR,      GRAPH_ABS,   GRAPH_SQRT, GRAPH_EXP,   GRAPH_LN,
                                        GRAPH_LOG2, GRAPH_LOG10, GRAPH_SIN,     GRAPH_COS,   GRAPH_TAN,  GRAPH_ASIN,  GRAPH_ACOS,
                                        GRAPH_ATAN, GRAPH_SINH,  GRAPH_COSH,    GRAPH_TANH,  GRAPH_CEIL, GRAPH_FLOOR, GRAPH_ROUND,
                                        GRAPH_SIGN, GRAPH_KNOWN, GRAPH_NEAREST, GRAPH_NEGATE};
    const int a = below(g->n), b = below(g->n);
    if (below(8) == 0) return graph_constant(g, 4 * random_uniform(&seed) - 1);
    if (below(10) == 0) return graph_choose(g, a, b, below(g->n));
    return graph_make(g, ops[below(sizeof ops / sizeof *ops)], a, b);
}

/* The numbers of a graph whose inputs are told. */
static void walk(const struct graph *g, const double *inputs, double *v)
{
    for (int i = 0; i < g->n; i++) {
        const struct graph_node *n = &g->nodes[i];
        if (n->op == GRAPH_CONSTANT)
            v[i] = n->number;
        else if (n->op == GRAPH_INPUT)
            v[i] = inputs[n->what];
        else
            v[i] = graph_apply((enum graph_op)n->op, v[n->args[0]], v[n->args[n->n_args > 1]], v[n->args[n->n_args > 2 ? 2 : 0]]);
    }
}

static double difference(const struct graph *g, int root, const double *inputs, int by, double step, double *v)
{
    double moved[INPUTS], high;
    for (int i = 0; i < INPUTS; i++) moved[i] = inputs[i];
    moved[by] = inputs[by] + step;
    walk(g, moved, v);
    high = v[root];
    moved[by] = inputs[by] - step;
    walk(g, moved, v);
    return (high - v[root]) / (2 * step);
}

/* Where two steps agree there is neither a corner nor a pole nor too much rounding. Returns whether it was compared. */
static bool compare(const struct graph *g, int root, int derivative, const double *inputs, int by)
{
    static double v[MOST_NODES];
    const double d = difference(g, root, inputs, by, 0x1p-16, v), same = difference(g, root, inputs, by, 0x1p-18, v);
    walk(g, inputs, v);
    if (!isfinite(v[root]) || !isfinite(d) || fabs(d - same) > 1e-7 * fabs(d) || fabs(v[root]) > 1e4 * fabs(d)) return false;
    const double is = derivative < 0 ? 0 : v[derivative];
    if (!(fabs(is - d) <= 1e-6 * fabs(d))) fail_msg("the derivative is %.17g, and the difference %.17g", is, d);
    return true;
}

static void derivatives__are_central_differences(void **unused)
{
    (void)unused;
    int compared = 0;
    for (int trial = 0; trial < GRAPHS; trial++) {
        struct graph g;
        double inputs[INPUTS];
        graph_init(&g);
        for (int i = 0; i < INPUTS; i++) inputs[i] = 0.2 + 2 * random_uniform(&seed), graph_input(&g, i, -1);
        for (int i = 0; i < NODES; i++) random_node(&g);
        const int root = g.n - 1, by = below(INPUTS);
        int derivative;
        graph_derive(&g, &root, 1, graph_input(&g, by, -1), 0, &derivative);
        assert_true(g.n <= MOST_NODES);
        compared += compare(&g, root, derivative, inputs, by);
        graph_release(&g);
    }
    print_message("%d of %d graphs\n", compared, GRAPHS);
    assert_true(compared > GRAPHS / 8);
}

/* The derivative of a root by input 0, where that is x, and input 1 is 2. */
static double slope_at(struct graph *g, int root, unsigned flags, double x)
{
    static double v[MOST_NODES];
    int derivative;
    graph_derive(g, &root, 1, graph_input(g, 0, -1), flags, &derivative);
    walk(g, (double[]){x, 2}, v);
    return derivative < 0 ? 0 : v[derivative];
}

static void steps__are_flat_unless_they_are_left_out(void **unused)
{
    (void)unused;
    static const enum graph_op steps[] = {GRAPH_CEIL, GRAPH_FLOOR, GRAPH_ROUND, GRAPH_NEAREST};
    struct graph g;
    graph_init(&g);
    const int x = graph_input(&g, 0, -1), three = graph_constant(&g, 3), inner = graph_make(&g, GRAPH_MUL, x, three);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const int root = graph_make(&g, GRAPH_ADD, graph_make(&g, steps[i], inner, inner), x);
        assert_true(slope_at(&g, root, 0, 1.1) == 1);
        assert_true(slope_at(&g, root, DERIVE_THROUGH_STEPS, 1.1) == 4);
    }
    graph_release(&g);
}

static void corners__have_the_slope_of_the_side_that_is_taken(void **unused)
{
    (void)unused;
    struct graph g;
    graph_init(&g);
    const int x = graph_input(&g, 0, -1), y = graph_input(&g, 1, -1), square = graph_make(&g, GRAPH_MUL, x, x);
    const int most = graph_make(&g, GRAPH_MAX, square, y), least = graph_make(&g, GRAPH_MIN, square, y);
    const int chosen = graph_choose(&g, graph_make(&g, GRAPH_LT, x, y), square, y);
    assert_true(slope_at(&g, most, 0, 1) == 0 && slope_at(&g, most, 0, 3) == 6);
    assert_true(slope_at(&g, least, 0, 1) == 2 && slope_at(&g, least, 0, 3) == 0);
    assert_true(slope_at(&g, chosen, 0, 1) == 2 && slope_at(&g, chosen, 0, 3) == 0);
    assert_true(slope_at(&g, graph_make(&g, GRAPH_MAX, x, y), 0, 2) == 1); /* the first, unless the second is more */
    assert_true(slope_at(&g, graph_make(&g, GRAPH_MAX, y, x), 0, 2) == 0);
    assert_true(slope_at(&g, graph_make(&g, GRAPH_ABS, x, x), 0, -3) == -1);
    graph_release(&g);
}

static void constants__have_derivatives_like_inputs(void **unused)
{
    (void)unused;
    static double v[MOST_NODES];
    struct graph g;
    graph_init(&g);
    const int x = graph_input(&g, 0, -1), k = graph_constant(&g, 5);
    const int roots[] = {graph_make(&g, GRAPH_MUL, graph_make(&g, GRAPH_MUL, k, x), k), x, -1};
    int derivatives[3];
    graph_derive(&g, roots, 3, k, 0, derivatives);
    walk(&g, (double[]){7, 0}, v);
    assert_true(v[derivatives[0]] == 2 * 5 * 7);
    assert_int_equal(derivatives[1], -1);
    assert_int_equal(derivatives[2], -1);
    graph_release(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives__are_central_differences),
        cmocka_unit_test(steps__are_flat_unless_they_are_left_out),
        cmocka_unit_test(corners__have_the_slope_of_the_side_that_is_taken),
        cmocka_unit_test(constants__have_derivatives_like_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
