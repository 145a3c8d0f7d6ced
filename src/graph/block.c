#include "graph/block.h"

#include "base/xalloc.h"
#include "graph/block_order.h"
#include "graph/solve.h"

#include <dse/num.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- code -------------------------------------------------------------------------------------------------------------------- */

struct block_node {
    int32_t group;
    bool is_kept; /* its numbers stay from one run to the next: those of a table from its first combination on */
    double **v;   /* numbers; of a call, of each of its answers */
    double *one;  /* where the shape has one combination alone */
};

/* Nodes that depend on the same axes. */
struct block_group {
    uint32_t axes;
    struct block_table *table; /* NULL: too many combinations for one */
    const struct block_shape *shape;
    bool is_known; /* its nodes that are kept have the numbers of this block already */
    const struct block *block;
    uint64_t serial; /* of the block that they are of */
};

/* A SOLVE, which is run point by point. */
struct block_solve {
    struct solve_body body;
    struct program program;
    double *v; /* numbers of the graph */
};

struct block_code {
    const struct graph *g;
    struct slots slots; /* where there is a SOLVE */
    struct block_solve *solves;
    int n_solves;
    struct block_order order;
    struct block_node *nodes;
    double **v, *one; /* of all nodes */
    struct block_group *groups;
    int n_groups;
    struct block_sides sides;
    bool is_begun;            /* it has run */
    struct block_rooms rooms; /* of BLOCK_POINTS_MAX numbers */
    struct block_places_kept places;
};

/* The program has all that does not depend on the unknown. */
static void add_solve(struct block_code *c, int node)
{
    int *inner = graph_inner(c->g);
    bool *made = xcalloc((size_t)c->g->n + 1, sizeof *made);
    if (!c->slots.of) slots_make(c->g, &c->slots);
    for (int i = 0; i < c->g->n; i++) made[i] = i != node && inner[i] < 0;
    c->solves = xrealloc(c->solves, (size_t)c->n_solves + 1, sizeof *c->solves);
    struct block_solve *s = &c->solves[c->n_solves++];
    solve_body_make(c->g, node, &s->body);
    program_make(c->g, &c->slots, &node, 1, made, &s->program);
    s->v = slots_numbers(&c->slots, c->g);
    free(inner);
    free(made);
}

static void release_solves(struct block_code *c)
{
    for (int i = 0; i < c->n_solves; i++) {
        solve_body_release(&c->solves[i].body);
        program_release(&c->solves[i].program);
        free(c->solves[i].v);
    }
    free(c->solves);
    slots_release(&c->slots);
}

static int find_group(struct block_code *c, uint32_t axes)
{
    for (int i = 0; i < c->n_groups; i++)
        if (c->groups[i].axes == axes) return i;
    c->groups[c->n_groups].axes = axes;
    return c->n_groups++;
}

static void make_nodes(struct block_code *c)
{
    const size_t all = (size_t)c->g->n + 1;
    size_t n = 0, at = 0;
    for (int i = 0; i < c->g->n; i++) n += (size_t)block_results(&c->g->nodes[i]);
    c->nodes = xcalloc(all, sizeof *c->nodes);
    c->groups = xcalloc(all, sizeof *c->groups);
    c->v = xcalloc(n + 1, sizeof *c->v);
    c->one = xcalloc(n + 1, sizeof *c->one);
    for (int i = 0; i < c->g->n; i++) {
        c->nodes[i] = (struct block_node){.group = -1, .v = c->v + at, .one = c->one + at};
        at += (size_t)block_results(&c->g->nodes[i]);
    }
}

struct block_code *block_code_new(const struct graph *g, const int *roots, int n, const struct block_axes *axes)
{
    struct block_code *c = xcalloc(1, sizeof *c);
    c->g = g;
    c->rooms.size = BLOCK_POINTS_MAX * sizeof(double);
    block_order_make(g, roots, n, axes, &c->order);
    make_nodes(c);
    for (int i = 0; i < c->order.n; i++) {
        const int node = c->order.list[i];
        c->nodes[node].group = find_group(c, c->order.axes[node]);
        if (g->nodes[node].op == GRAPH_SOLVE) add_solve(c, node);
    }
    return c;
}

/* Nodes that are read where others are not computed are kept: by a SOLVE, and of a block that lasts by nodes of other axes. */
static void keep_nodes(struct block_code *c, bool is_lasting)
{
    int *inner = graph_inner(c->g);
    for (int i = 0; i < c->g->n; i++) {
        const struct graph_node *n = &c->g->nodes[i];
        if (c->order.last[i] < 0) continue;
        if (c->order.last[i] == c->g->n) c->nodes[block_holder(c->g, i)].is_kept = true;
        for (int k = 0; k < n->n_args && n->op != GRAPH_RESULT; k++) {
            const bool solves = n->op == GRAPH_SOLVE || inner[i] >= 0;
            if (solves || (is_lasting && c->order.axes[n->args[k]] != c->order.axes[i]))
                c->nodes[block_holder(c->g, n->args[k])].is_kept = true;
        }
    }
    for (int i = 0; i < c->g->n; i++) c->nodes[i].is_kept = c->nodes[block_holder(c->g, i)].is_kept;
    free(inner);
}

static bool is_room(const struct block_node *n, int k)
{
    return n->v[k] && n->v[k] != &n->one[k];
}

static void let_go(struct block_code *c, int node)
{
    struct block_node *n = &c->nodes[node];
    const struct graph_node *of = &c->g->nodes[node];
    if (of->op == GRAPH_RESULT) return; /* its numbers are the call's */
    for (int k = 0; k < block_results(of); k++)
        if (is_room(n, k)) block_rooms_give(&c->rooms, n->v[k]);
    for (int k = 0; k < block_results(of); k++) n->v[k] = NULL;
}

void block_code_free(struct block_code *c)
{
    if (!c) return;
    for (int i = 0; i < c->order.n; i++) let_go(c, c->order.list[i]);
    for (int i = 0; i < c->n_groups; i++) block_table_free(c->groups[i].table);
    release_solves(c);
    block_rooms_release(&c->rooms);
    block_order_release(&c->order);
    block_sides_release(&c->sides);
    free(c->groups);
    free(c->nodes);
    free(c->v);
    free(c->one);
    free(c);
}

/* ---- running ----------------------------------------------------------------------------------------------------------------- */

BLOCK_WIDE static void spread(double x, int n, double *restrict to)
{
    _Pragma("omp simd") for (int i = 0; i < n; i++) to[i] = x;
}

static void gather_any(const double *restrict from, const uint16_t *restrict at, int n, double *restrict to)
{
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        const double a = from[at[i]], b = from[at[i + 1]], c = from[at[i + 2]], d = from[at[i + 3]];
        to[i] = a;
        to[i + 1] = b;
        to[i + 2] = c;
        to[i + 3] = d;
    }
    for (; i < n; i++) to[i] = from[at[i]];
}

BLOCK_WIDE static void gather(const double *restrict from, const struct block_places *p, int n, double *restrict to)
{
    for (int i = 0; i < n; i += BLOCK_CHUNK) {
        const double *next = from + p->at[i];
        /* NOLINTBEGIN(bugprone-branch-clone): it sees no difference between two loops of a pragma */
        switch (p->run[i / BLOCK_CHUNK]) {
        case RUN_SAME: _Pragma("omp simd") for (int k = 0; k < BLOCK_CHUNK; k++) to[i + k] = *next; break;
        case RUN_NEXT: _Pragma("omp simd") for (int k = 0; k < BLOCK_CHUNK; k++) to[i + k] = next[k]; break;
        default: gather_any(from, p->at + i, n - i < BLOCK_CHUNK ? n - i : BLOCK_CHUNK, to + i); break;
        }
        /* NOLINTEND(bugprone-branch-clone) */
    }
}

static const struct block_shape *shape_of(const struct block_code *c, int node)
{
    return c->groups[c->nodes[node].group].shape;
}

/* Numbers of the combinations that are new. */
static double *new_ones(const struct block_code *c, int node, int k)
{
    const struct block_node *n = &c->nodes[node];
    return n->v[k] + (n->is_kept ? shape_of(c, node)->from : 0);
}

/* The numbers of an argument at the new combinations of a shape: as they stand, or gathered into `to`. */
static const double *argument(struct block_code *c, int node, const struct block_shape *s, double *to)
{
    const struct block_shape *from = shape_of(c, node);
    const double *v = c->nodes[node].v[0];
    if (from == s) return new_ones(c, node, 0);
    if (from->n == 1)
        spread(v[0], block_new_ones(s), to);
    else
        gather(v, block_places(&c->places, from, s), block_new_ones(s), to);
    return to;
}

#define EACH(value) \
    _Pragma("omp simd") for (int i = 0; i < n; i++) r[i] = value; \
    break

/* A division by zero is infinite, or no number. */
__attribute__((no_sanitize("undefined"))) static void divide(int n, const double *restrict a, const double *restrict b,
                                                             double *restrict r)
{
    _Pragma("omp simd") for (int i = 0; i < n; i++) r[i] = a[i] / b[i];
}

BLOCK_WIDE static void operate(enum graph_op op, int n, const double *restrict a, const double *restrict b,
                               const double *restrict c, double *restrict r)
{
    /* NOLINTBEGIN(bugprone-branch-clone): it sees no difference between two loops of a pragma */
    switch (op) {
    case GRAPH_ADD: EACH(a[i] + b[i]);
    case GRAPH_SUB: EACH(a[i] - b[i]);
    case GRAPH_MUL: EACH(a[i] * b[i]);
    case GRAPH_DIV: divide(n, a, b, r); break;
    case GRAPH_LT: EACH(a[i] < b[i] ? 1.0 : 0.0);
    case GRAPH_LE: EACH(a[i] <= b[i] ? 1.0 : 0.0);
    case GRAPH_EQ: EACH(a[i] == b[i] ? 1.0 : 0.0);
    case GRAPH_NE: EACH(a[i] != b[i] ? 1.0 : 0.0);
    case GRAPH_MIN: EACH(b[i] < a[i] ? b[i] : a[i]);
    case GRAPH_MAX: EACH(b[i] > a[i] ? b[i] : a[i]);
    case GRAPH_AND: EACH(a[i] != 0 && b[i] != 0 ? 1.0 : 0.0);
    case GRAPH_OR: EACH(a[i] != 0 || b[i] != 0 ? 1.0 : 0.0);
    case GRAPH_KNOWN: EACH(a[i] == a[i] ? 1.0 : 0.0);
    case GRAPH_NEGATE: EACH(-a[i]);
    case GRAPH_SQRT: EACH(sqrt(a[i]));
    case GRAPH_CEIL: EACH(ceil(a[i]));
    case GRAPH_FLOOR: EACH(floor(a[i]));
    case GRAPH_CHOOSE: EACH(a[i] != 0 ? b[i] : c[i]);
    default:
        for (int i = 0; i < n; i++) r[i] = graph_apply(op, a[i], b[i], c[i]);
    }
    /* NOLINTEND(bugprone-branch-clone) */
}

/* What a primitive reads of a point besides its arguments. */
static unsigned reads_of(const struct primitive *p)
{
    bool entries = false;
    for (int k = 0; k < PRIMITIVE_ARGUMENTS_MAX && p->arguments[k]; k++) entries = entries || *p->arguments[k] == '@';
    return entries ? BLOCK_PARAMS : p->groups;
}

static void call(struct block_code *c, int node, const struct block_source *source)
{
    const struct graph_node *n = &c->g->nodes[node];
    const struct block_shape *s = shape_of(c, node);
    const struct primitive *p = &primitives[n->what];
    double gathered[GRAPH_ARGUMENTS_MAX][BLOCK_POINTS_MAX], *to[PRIMITIVE_RESULTS_MAX];
    const double *args[GRAPH_ARGUMENTS_MAX];
    for (int k = 0; k < n->n_args; k++) args[k] = argument(c, n->args[k], s, gathered[k]);
    for (int k = 0; k < p->n_results; k++) to[k] = new_ones(c, node, k);
    const unsigned groups = reads_of(p);
    for (int i = 0; i < block_new_ones(s); i++) {
        double a[GRAPH_ARGUMENTS_MAX] = {0}, ret[PRIMITIVE_RESULTS_MAX];
        const struct groups g = source->groups(source->object, groups, s->point_of[i]);
        for (int k = 0; k < n->n_args; k++) a[k] = args[k][i];
        p->of(&g, a, ret);
        for (int k = 0; k < p->n_results; k++) to[k][i] = ret[k]; /* NOLINT(clang-analyzer-core.NullDereference): there are rooms */
    }
}

/* The number of a node that is kept, at a point. */
static double number_at(const struct block_code *c, int node, int point)
{
    return c->nodes[node].v[0][shape_of(c, node)->of_point[point]];
}

static void solve(struct block_code *c, int node, const struct block_source *source)
{
    const struct graph_node *n = &c->g->nodes[node];
    const struct block_shape *shape = shape_of(c, node);
    const struct block_solve *s = c->solves;
    double *to = new_ones(c, node, 0);
    while (s->body.node != node) s++;
    for (int i = 0; i < block_new_ones(shape); i++) {
        const int point = shape->point_of[i];
        const struct groups g = source->groups(source->object, s->body.reads_params ? BLOCK_PARAMS : s->body.groups, point);
        for (int k = 0; k < 2; k++) s->v[c->slots.of[n->args[k]]] = number_at(c, n->args[k], point);
        for (int k = 0; k < s->body.n_outside; k++) {
            const int outside = s->body.outside[k];
            s->v[c->slots.of[outside]] = number_at(c, outside, point);
        }
        program_run(&s->program, s->v, &g);
        to[i] = s->v[c->slots.of[node]];
    }
}

/* Room for the numbers of a node. */
static void take_rooms(struct block_code *c, int node)
{
    const struct block_group *g = &c->groups[c->nodes[node].group];
    struct block_node *n = &c->nodes[node];
    const int space = !n->is_kept ? block_new_ones(g->shape) : g->table ? g->table->size : g->shape->n;
    for (int k = 0; k < block_results(&c->g->nodes[node]); k++) {
        if (space == 1) {
            if (is_room(n, k)) block_rooms_give(&c->rooms, n->v[k]);
            n->v[k] = &n->one[k];
        } else if (!is_room(n, k))
            n->v[k] = n->is_kept && g->table ? xmalloc((size_t)space * sizeof(double)) : block_rooms_take(&c->rooms);
    }
}

/* Does some point take the side? Of a condition that has its numbers. */
static bool is_taken(void *object, int condition, bool yes)
{
    const struct block_code *c = object;
    const struct block_node *n = &c->nodes[condition];
    const struct block_shape *s = shape_of(c, condition);
    const int all = n->is_kept ? s->n : block_new_ones(s);
    bool ret = false;
    for (int i = 0; i < all && !ret; i++) ret = (n->v[0][i] != 0) == yes;
    return ret;
}

static void compute(struct block_code *c, int node, const struct block_source *source)
{
    const struct graph_node *n = &c->g->nodes[node];
    const struct block_shape *s = shape_of(c, node);
    double gathered[3][BLOCK_POINTS_MAX];
    const double *args[3] = {NULL};
    if (n->op == GRAPH_RESULT) {
        c->nodes[node].v[0] = c->nodes[n->args[0]].v[n->what];
        return;
    }
    take_rooms(c, node);
    double *to = new_ones(c, node, 0);
    switch (n->op) {
    case GRAPH_CONSTANT: to[0] = n->number; return;
    case GRAPH_INPUT: source->input(source->object, s, n->what, n->element1 - 1, to); return;
    case GRAPH_CALL: call(c, node, source); return;
    case GRAPH_SOLVE: solve(c, node, source); return;
    default: break;
    }
    for (int k = 0; k < n->n_args; k++) args[k] = c->nodes[n->args[k]].v[0] ? argument(c, n->args[k], s, gathered[k]) : NULL;
    for (int k = n->n_args; k < 3; k++) args[k] = args[0];
    for (int k = 1; k < 3; k++)
        if (!args[k]) args[k] = args[3 - k]; /* of a choice whose other side all points take */
    operate((enum graph_op)n->op, block_new_ones(s), args[0], args[1], args[2], to);
}

/* What is kept is computed for all points, since those of a later run may take it. */
static void find_sides(struct block_code *c)
{
    int *kept = xcalloc((size_t)c->order.n + 1, sizeof *kept), n = 0;
    for (int i = 0; i < c->order.n; i++)
        if (c->nodes[c->order.list[i]].is_kept) kept[n++] = c->order.list[i];
    block_sides_make(c->g, &c->order, 0, kept, n, &c->sides);
    free(kept);
}

static void begin(struct block_code *c, const struct block *b)
{
    if (c->is_begun) return;
    for (int i = 0; i < c->n_groups; i++) c->groups[i].table = block_table_new(b, c->groups[i].axes);
    keep_nodes(c, b->is_lasting);
    find_sides(c);
    c->is_begun = true;
}

static void find_shape(struct block_group *g, struct block *b)
{
    if (g->table) {
        g->shape = block_table_shape(g->table, b);
        g->is_known = block_new_ones(g->shape) == 0;
        return;
    }
    g->shape = block_shape(b, g->axes & block_varying(b));
    g->is_known = g->block == b && block_is_unchanged(b, g->axes, g->serial);
    g->block = b;
    g->serial = b->serial;
}

void block_run(struct block_code *c, struct block *b, const struct block_source *source)
{
    begin(c, b);
    for (int i = 0; i < c->n_groups; i++) find_shape(&c->groups[i], b);
    block_sides_begin(&c->sides);
    for (int i = 0; i < c->order.n; i++) {
        const int node = c->order.list[i];
        const struct graph_node *n = &c->g->nodes[node];
        if (c->groups[c->nodes[node].group].is_known) continue;
        if (block_is_taken(&c->sides, c->sides.of[node], is_taken, c))
            compute(c, node, source);
        else
            c->nodes[node].v[0] = NULL;
        for (int k = 0; k < n->n_args && n->op != GRAPH_RESULT; k++) {
            const int arg = block_holder(c->g, n->args[k]);
            if (c->order.last[arg] == node && !c->nodes[arg].is_kept) let_go(c, arg);
        }
    }
}

const double *block_numbers(const struct block_code *c, int node, const struct block_shape **ret_shape)
{
    *ret_shape = shape_of(c, node);
    return c->nodes[node].v[0];
}
