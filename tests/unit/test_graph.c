/* Random graphs: a program for one point gives what a plain walk gives, to the bit, ranges hold all points of their box and move as
 * their points do, and boxes of a block have the ranges that each has by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "graph/boxes.h"
#include "graph/program.h"
#include "graph/range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 5, NODES = 60, POINTS = 40, GRAPHS = 4000 };

static uint64_t state = 88172645463325252u;

static uint64_t random_u64(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int below(int n)
{
    return (int)(random_u64() % (uint64_t)n);
}

static double random_number(void)
{
    static const double odd[] = {0, 1, -1, 2, 0.5, 3, -2, 1e3, 1e-3, -0.0};
    return below(4) == 0 ? odd[below(10)] : ((double)(random_u64() >> 11) * 0x1p-53 - 0.3) * 8;
}

static int random_node(struct graph *g)
{
    const int n = g->n, a = below(n), b = below(n);
    const enum graph_op op = (enum graph_op)(GRAPH_ADD + below(GRAPH_CHOOSE - GRAPH_ADD + 1));
    switch (below(8)) {
    case 0: return graph_constant(g, random_number());
    case 1: return graph_choose(g, a, b, below(n));
    default: return op == GRAPH_CHOOSE ? graph_choose(g, a, b, below(n)) : graph_make(g, op, a, b);
    }
}

static void random_graph(struct graph *g)
{
    graph_init(g);
    for (int i = 0; i < INPUTS; i++) graph_input(g, i, -1);
    for (int i = 0; i < NODES; i++) random_node(g);
}

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

/* Each input grows along an axis of its own, but for one that falls. */
enum { FALLING = 1 };
static struct graph_moves moves_of_input(int what)
{
    return what == FALLING ? (struct graph_moves){0, 1u << what} : (struct graph_moves){1u << what, 0};
}

static struct graph_range input_range(int what, double lo, double hi)
{
    struct graph_range r = {lo, hi, false, signbit(lo) || signbit(hi)};
    if (!range_is_exact(r)) r.moves = moves_of_input(what);
    return r;
}

static void ranges(const struct graph *g, const double *lo, const double *hi, struct graph_range *r)
{
    const struct graph_range zero = range_of(0);
    for (int i = 0; i < g->n; i++) {
        const struct graph_node *n = &g->nodes[i];
        if (n->op == GRAPH_CONSTANT)
            r[i] = range_of(n->number);
        else if (n->op == GRAPH_INPUT)
            r[i] = input_range(n->what, lo[n->what], hi[n->what]);
        else
            r[i] = range_moved((enum graph_op)n->op, r[n->args[0]], n->n_args > 1 ? r[n->args[1]] : zero,
                               n->n_args > 2 ? r[n->args[2]] : zero);
    }
}

static bool same(double a, double b)
{
    return (a == b && signbit(a) == signbit(b)) || (isnan(a) && isnan(b));
}

static void program__gives_what_a_walk_gives(void **unused)
{
    (void)unused;
    for (int trial = 0; trial < GRAPHS; trial++) {
        struct graph g;
        struct slots s;
        struct program first, second;
        double v[INPUTS + NODES + 1], inputs[INPUTS];
        random_graph(&g);
        slots_make(&g, &s);
        double *slots = slots_numbers(&s, &g);
        bool made[INPUTS + NODES + 1] = {false};
        const int roots[] = {g.n - 1, below(g.n), -1, below(g.n)}, more[] = {below(g.n), below(g.n)};
        program_make(&g, &s, roots, 4, made, &first);
        program_make(&g, &s, more, 2, made, &second);
        for (int p = 0; p < POINTS; p++) {
            for (int i = 0; i < INPUTS; i++) slots[s.of[i]] = inputs[i] = random_number();
            program_run(&first, slots, NULL);
            walk(&g, inputs, v);
            for (int i = 0; i < 4; i++)
                if (roots[i] >= 0) assert_true(same(slots[s.of[roots[i]]], v[roots[i]]));
            program_run(&second, slots, NULL);
            for (int i = 0; i < 2; i++) assert_true(same(slots[s.of[more[i]]], v[more[i]]));
        }
        free(slots);
        program_release(&first);
        program_release(&second);
        slots_release(&s);
        graph_release(&g);
    }
}

static void assert_in(const struct graph *g, const struct graph_range *r, const double *v)
{
    for (int i = 0; i < g->n; i++) {
        if (isnan(v[i]) ? !r[i].none : !(r[i].lo <= v[i] && v[i] <= r[i].hi))
            fail_msg("op %d gives %.17g, not in [%.17g, %.17g]%s", g->nodes[i].op, v[i], r[i].lo, r[i].hi,
                     r[i].none ? " or none" : "");
    }
}

static void range__holds_all_points_of_its_box(void **unused)
{
    (void)unused;
    for (int trial = 0; trial < GRAPHS; trial++) {
        struct graph g;
        struct graph_range r[INPUTS + NODES + 1];
        double v[INPUTS + NODES + 1], lo[INPUTS], hi[INPUTS], inputs[INPUTS];
        random_graph(&g);
        for (int i = 0; i < INPUTS; i++) {
            const double a = random_number(), b = below(3) == 0 ? a : random_number();
            lo[i] = fmin(a, b);
            hi[i] = fmax(a, b);
        }
        ranges(&g, lo, hi, r);
        for (int p = 0; p < POINTS; p++) {
            for (int i = 0; i < INPUTS; i++) {
                const double t = (double)(random_u64() >> 11) * 0x1p-53;
                inputs[i] = p == 0 ? lo[i] : p == 1 ? hi[i] : fmin(hi[i], lo[i] + t * (hi[i] - lo[i]));
            }
            walk(&g, inputs, v);
            assert_in(&g, r, v);
        }
        graph_release(&g);
    }
}

static double between(double lo, double hi)
{
    const double t = below(4) == 0 ? below(2) : (double)(random_u64() >> 11) * 0x1p-53;
    return fmin(hi, fmax(lo, lo + t * (hi - lo)));
}

/* What a node does from one point to another that differs in one input. */
static void assert_moves(const struct graph *g, const struct graph_range *r, const double *from, const double *to, uint32_t axis)
{
    for (int i = 0; i < g->n; i++) {
        const bool up = r[i].moves.up & axis, down = r[i].moves.down & axis, none = isnan(from[i]) != isnan(to[i]);
        if ((up && down) || (isnan(from[i]) && isnan(to[i]))) continue;
        if (none || (!up && to[i] > from[i]) || (!down && to[i] < from[i]))
            fail_msg("op %d goes from %.17g to %.17g; up %d down %d", g->nodes[i].op, from[i], to[i], up, down);
    }
}

static void range__moves_as_its_points_do(void **unused)
{
    (void)unused;
    long known = 0, all = 0;
    for (int trial = 0; trial < GRAPHS; trial++) {
        struct graph g;
        struct graph_range r[INPUTS + NODES + 1];
        double v[INPUTS + NODES + 1], later[INPUTS + NODES + 1], lo[INPUTS], hi[INPUTS], inputs[INPUTS];
        const bool positive = below(3) > 0;
        random_graph(&g);
        for (int i = 0; i < INPUTS; i++) {
            const double a = random_number(), b = below(4) == 0 ? a : a + (below(2) ? 1 : 0.01) * random_number();
            lo[i] = positive ? fmin(fabs(a), fabs(b)) : fmin(a, b);
            hi[i] = positive ? fmax(fabs(a), fabs(b)) : fmax(a, b);
        }
        ranges(&g, lo, hi, r);
        for (int i = 0; i < g.n; i++) all += moves_all(r[i].moves) != 0, known += r[i].moves.up != r[i].moves.down;
        for (int p = 0; p < POINTS; p++) {
            const int what = below(INPUTS);
            for (int i = 0; i < INPUTS; i++) inputs[i] = between(lo[i], hi[i]);
            const double x = inputs[what], y = between(lo[what], hi[what]);
            inputs[what] = what == FALLING ? fmax(x, y) : fmin(x, y);
            walk(&g, inputs, v);
            inputs[what] = what == FALLING ? fmin(x, y) : fmax(x, y);
            walk(&g, inputs, later);
            assert_moves(&g, r, v, later, 1u << what);
        }
        graph_release(&g);
    }
    assert_true(known > all / 10);
    print_message("%ld of %ld moving nodes have axes along which they move in one direction\n", known, all);
}

/* But for what zeros of unknown signs are divided by. */
static void range__of_a_point_is_its_number(void **unused)
{
    (void)unused;
    int exact = 0, all = 0;
    for (int trial = 0; trial < GRAPHS; trial++) {
        struct graph g;
        struct graph_range r[INPUTS + NODES + 1];
        double v[INPUTS + NODES + 1], inputs[INPUTS];
        random_graph(&g);
        for (int i = 0; i < INPUTS; i++) inputs[i] = random_number();
        walk(&g, inputs, v);
        ranges(&g, inputs, inputs, r);
        assert_in(&g, r, v);
        for (int i = 0; i < g.n; i++) exact += r[i].lo == r[i].hi || range_is_nothing(r[i]), all++;
        graph_release(&g);
    }
    assert_true(exact > 0.9 * all);
    print_message("%d of %d exact\n", exact, all);
}

/* What is no number beside infinite ones: a range of 0 and 1 for one point of them once turned a walk into another answer. */
static void range__of_a_comparison_is_what_it_is(void **unused)
{
    (void)unused;
    const double numbers[] = {(double)NAN, -(double)INFINITY, -1, 0, 2, (double)INFINITY};
    enum { N = sizeof numbers / sizeof *numbers };
    for (int op = GRAPH_LT; op <= GRAPH_OR; op++)
        for (int i = 0; i < N * N; i++) {
            const double a = numbers[i / N], b = numbers[i % N], is = graph_apply((enum graph_op)op, a, b, 0);
            const struct graph_range r = range_apply((enum graph_op)op, range_of(a), range_of(b), range_of(0));
            if (r.lo != is || r.hi != is || r.none) fail_msg("%g, %g by operation %d: %g to %g, not %g", a, b, op, r.lo, r.hi, is);
        }
}

/* ---- blocks of boxes --------------------------------------------------------------------------------------------------------- */

/* Each input has an axis of its own, and a few intervals on it. */
struct few {
    struct block block;
    double lo[INPUTS][BOXES_MAX], hi[INPUTS][BOXES_MAX]; /* by interval */
};

static uint32_t axis_of_input(void *object, int what, int element)
{
    (void)object;
    (void)element;
    return 1u << what;
}

static void read_input(void *object, const struct block_shape *s, int what, int element, struct graph_range *ret)
{
    (void)element;
    const struct few *f = object;
    for (int i = 0; i < s->n; i++) {
        const int32_t at = f->block.at[what][s->point_of[i]];
        const double lo = f->lo[what][at], hi = f->hi[what][at];
        ret[i] = (struct graph_range){lo, hi, false, signbit(lo) || signbit(hi)};
    }
}

static struct graph_moves read_moves(void *object, int what, int element)
{
    (void)object;
    (void)element;
    return moves_of_input(what);
}

/* Of most graphs all numbers are at least 0: those have loops of their own. */
static void draw_boxes(struct few *f)
{
    const bool positive = below(3) > 0;
    f->block.n = 1 + below(below(2) ? 8 : BOXES_MAX);
    f->block.n_axes = INPUTS;
    for (int a = 0; a < INPUTS; a++) {
        const int intervals = 1 + below(below(2) ? 3 : BOXES_MAX);
        for (int i = 0; i < intervals; i++) {
            const double x = random_number(), y = below(3) == 0 ? x : random_number();
            f->lo[a][i] = positive ? fmin(fabs(x), fabs(y)) : fmin(x, y);
            f->hi[a][i] = positive ? fmax(fabs(x), fabs(y)) : fmax(x, y);
        }
        f->block.size[a] = intervals;
        for (int i = 0; i < f->block.n; i++) f->block.at[a][i] = below(intervals);
    }
    block_begin(&f->block);
}

static void assert_same_range(const struct graph *g, int node, struct graph_range a, struct graph_range b)
{
    if (!same(a.lo, b.lo) || !same(a.hi, b.hi) || a.none != b.none || a.minus_zero != b.minus_zero)
        fail_msg("op %d gives [%.17g, %.17g] %d %d in a block, and [%.17g, %.17g] %d %d by itself", g->nodes[node].op, a.lo, a.hi,
                 a.none, a.minus_zero, b.lo, b.hi, b.none, b.minus_zero);
}

static void assert_same_moves(const struct graph *g, int node, struct graph_moves a, struct graph_moves b)
{
    if (a.up != b.up || a.down != b.down)
        fail_msg("op %d moves by %x %x in a block, and by %x %x by itself", g->nodes[node].op, a.up, a.down, b.up, b.down);
}

static void boxes__have_the_ranges_of_each_by_itself(void **unused)
{
    (void)unused;
    static struct few f;
    static struct graph_range r[INPUTS + NODES + 1];
    block_init(&f.block);
    for (int trial = 0; trial < GRAPHS / 4; trial++) {
        struct graph g;
        random_graph(&g);
        const int roots[] = {g.n - 1, below(g.n), below(g.n), -1, g.n - 2, g.n - 3};
        struct boxes_code *c = boxes_code_new(&g, roots, 6, &(struct block_axes){.of_input = axis_of_input});
        for (int again = 0; again < 2; again++) {
            draw_boxes(&f);
            boxes_run(c, &f.block, &(struct boxes_source){&f, read_input, NULL, again ? read_moves : NULL, NULL});
            for (int box = 0; box < f.block.n; box++) {
                double lo[INPUTS], hi[INPUTS];
                for (int a = 0; a < INPUTS; a++) lo[a] = f.lo[a][f.block.at[a][box]], hi[a] = f.hi[a][f.block.at[a][box]];
                ranges(&g, lo, hi, r);
                for (int k = 0; k < 6; k++)
                    if (roots[k] >= 0) assert_same_range(&g, roots[k], boxes_range(c, roots[k], box), r[roots[k]]);
                for (int k = 0; again && k < 6; k++)
                    if (roots[k] >= 0) assert_same_moves(&g, roots[k], boxes_moves(c, roots[k], box), r[roots[k]].moves);
            }
        }
        boxes_code_free(c);
        graph_release(&g);
    }
    block_release(&f.block);
}

static void graph__makes_the_same_node_once(void **unused)
{
    (void)unused;
    struct graph g;
    graph_init(&g);
    const int x = graph_input(&g, 0, -1), y = graph_input(&g, 1, -1);
    const int sum = graph_make(&g, GRAPH_ADD, x, y);
    assert_int_equal(graph_make(&g, GRAPH_ADD, x, y), sum);
    assert_int_equal(graph_input(&g, 1, -1), y);
    assert_int_not_equal(graph_input(&g, 1, 0), y);
    assert_int_equal(graph_make(&g, GRAPH_MUL, sum, graph_constant(&g, 1)), sum);
    assert_int_equal(graph_make(&g, GRAPH_MUL, graph_constant(&g, 2), graph_constant(&g, 3)), graph_constant(&g, 6));
    assert_int_equal(graph_choose(&g, graph_constant(&g, 0), x, y), y);
    assert_int_equal(graph_make(&g, GRAPH_AND, x, graph_constant(&g, 0)), graph_constant(&g, 0));
    graph_release(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graph__makes_the_same_node_once),      cmocka_unit_test(program__gives_what_a_walk_gives),
        cmocka_unit_test(range__holds_all_points_of_its_box),   cmocka_unit_test(range__of_a_point_is_its_number),
        cmocka_unit_test(range__of_a_comparison_is_what_it_is), cmocka_unit_test(boxes__have_the_ranges_of_each_by_itself),
        cmocka_unit_test(range__moves_as_its_points_do),
    };
    return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
