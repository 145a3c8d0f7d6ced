#include "graph/block.h"

#include "base/xalloc.h"
#include "graph/block_order.h"
#include "graph/solve.h"

#include <dse/num.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes ------------------------------------------------------------------------------------------------------------------ */

void block_init(struct block *b)
{
    b->n = b->n_axes = b->n_shapes = b->capacity = 0;
    b->is_varying_known = false;
    b->shapes = NULL;
}

void block_release(struct block *b)
{
    for (int i = 0; i < b->capacity; i++) free(b->shapes[i]);
    free(b->shapes);
    block_init(b);
}

enum { COUNTED = 4096 }; /* keys that have a table */

/* Number the keys, which are below `all`, in the order of the points: `of` each, and the first that has each. Returns how many
 * there are. */
static int number_counted(const int64_t *key, int n, int64_t all, int32_t *of, int32_t *first)
{
    int16_t table[COUNTED];
    int ret = 0;
    memset(table, 0xff, (size_t)all * sizeof *table);
    for (int i = 0; i < n; i++) {
        if (table[key[i]] < 0) {
            first[ret] = i;
            table[key[i]] = (int16_t)ret++;
        }
        of[i] = table[key[i]];
    }
    return ret;
}

/* The same of any keys. */
static int number_hashed(const int64_t *key, int n, int32_t *of, int32_t *first)
{
    enum { SLOTS = 2 * BLOCK_POINTS_MAX };
    int16_t table[SLOTS];
    int ret = 0;
    memset(table, 0xff, sizeof table);
    for (int i = 0; i < n; i++) {
        size_t slot = (uint64_t)key[i] * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (SLOTS - 1);
        while (table[slot] >= 0 && key[first[table[slot]]] != key[i]) slot = (slot + 1) & (SLOTS - 1);
        if (table[slot] < 0) {
            first[ret] = i;
            table[slot] = (int16_t)ret++;
        }
        of[i] = table[slot];
    }
    return ret;
}

void block_begin(struct block *b)
{
    b->n_shapes = 0;
    b->is_varying_known = false;
}

void block_number(struct block *b, int axis, const int64_t *keys)
{
    int32_t first[BLOCK_POINTS_MAX];
    b->size[axis] = number_hashed(keys, b->n, b->at[axis], first);
    b->is_varying_known = false;
}

static bool varies(const struct block *b, int axis)
{
    for (int i = 1; i < b->n; i++)
        if (b->at[axis][i] != b->at[axis][0]) return true;
    return false;
}

uint32_t block_varying(struct block *b)
{
    if (b->is_varying_known) return b->varying;
    b->varying = 0;
    for (int a = 0; a < b->n_axes; a++)
        if (varies(b, a)) b->varying |= 1u << a;
    b->is_varying_known = true;
    return b->varying;
}

/* The shape of the most of these axes, and of no others, that was asked for before this one; or NULL. */
static const struct block_shape *part_of(const struct block *b, const struct block_shape *s)
{
    const struct block_shape *ret = NULL;
    for (int i = 0; i < b->n_shapes && b->shapes[i] != s; i++) {
        const uint32_t axes = b->shapes[i]->axes;
        if ((axes & ~s->axes) == 0 && (!ret || __builtin_popcount(axes) > __builtin_popcount(ret->axes))) ret = b->shapes[i];
    }
    return ret;
}

/* Combinations are found by a number that counts them through, from those of a shape that is known. Where there are too many of
 * these, those of the axes so far that are there are numbered anew. */
static void fill(const struct block *b, struct block_shape *s)
{
    const int64_t most = b->n < COUNTED / 16 ? 16 * b->n : COUNTED;
    const struct block_shape *part = part_of(b, s);
    int64_t key[BLOCK_POINTS_MAX] = {0}, all = part ? part->n : 1;
    for (int i = 0; i < b->n && part; i++) key[i] = part->of_point[i];
    for (int a = 0; a < b->n_axes; a++) {
        if (!((s->axes & ~(part ? part->axes : 0)) >> a & 1)) continue;
        if (all > most) {
            all = number_hashed(key, b->n, s->of_point, s->point_of);
            for (int i = 0; i < b->n; i++) key[i] = s->of_point[i];
        }
        all *= b->size[a];
        for (int i = 0; i < b->n; i++) key[i] = key[i] * b->size[a] + b->at[a][i];
    }
    s->n =
        all > most ? number_hashed(key, b->n, s->of_point, s->point_of) : number_counted(key, b->n, all, s->of_point, s->point_of);
}

const struct block_shape *block_shape(struct block *b, uint32_t axes)
{
    for (int i = 0; i < b->n_shapes; i++)
        if (b->shapes[i]->axes == axes) return b->shapes[i];
    if (b->n_shapes == b->capacity) {
        b->shapes = xrealloc(b->shapes, (size_t)b->capacity + 1, sizeof *b->shapes);
        b->shapes[b->capacity++] = xcalloc(1, sizeof **b->shapes);
    }
    struct block_shape *s = b->shapes[b->n_shapes++];
    s->axes = axes;
    fill(b, s);
    return s;
}

/* ---- code -------------------------------------------------------------------------------------------------------------------- */

struct block_node {
    const struct block_shape *shape;
    double *v[PRIMITIVE_RESULTS_MAX];  /* numbers; of a call, of each of its answers */
    double one[PRIMITIVE_RESULTS_MAX]; /* where the shape has one combination alone */
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

struct block_code *block_code_new(const struct graph *g, const int *roots, int n, const struct block_axes *axes)
{
    struct block_code *c = xcalloc(1, sizeof *c);
    c->g = g;
    c->nodes = xcalloc((size_t)g->n + 1, sizeof *c->nodes);
    c->rooms.size = BLOCK_POINTS_MAX * sizeof(double);
    block_order_make(g, roots, n, axes, &c->order);
    for (int i = 0; i < c->order.n; i++)
        if (g->nodes[c->order.list[i]].op == GRAPH_SOLVE) add_solve(c, c->order.list[i]);
    return c;
}

static void let_go(struct block_code *c, int node)
{
    struct block_node *n = &c->nodes[node];
    const struct graph_node *of = &c->g->nodes[node];
    if (of->op == GRAPH_RESULT) return; /* its numbers are the call's */
    for (int k = 0; k < block_results(of); k++)
        if (n->v[k] && n->v[k] != &n->one[k]) block_rooms_give(&c->rooms, n->v[k]);
    for (int k = 0; k < block_results(of); k++) n->v[k] = NULL;
}

void block_code_free(struct block_code *c)
{
    if (!c) return;
    for (int i = 0; i < c->order.n; i++) let_go(c, c->order.list[i]);
    release_solves(c);
    block_rooms_release(&c->rooms);
    block_order_release(&c->order);
    free(c->nodes);
    free(c);
}

/* ---- running ----------------------------------------------------------------------------------------------------------------- */

BLOCK_WIDE static void spread(double x, int n, double *restrict to)
{
    _Pragma("omp simd") for (int i = 0; i < n; i++) to[i] = x;
}

BLOCK_WIDE static void gather(const double *restrict from, const uint16_t *restrict at, int n, double *restrict to)
{
    _Pragma("omp simd") for (int i = 0; i < n; i++) to[i] = from[at[i]];
}

/* The numbers of an argument at the combinations of a shape: as they stand, or gathered into `to`. */
static const double *argument(struct block_code *c, int node, const struct block_shape *s, double *to)
{
    const struct block_node *n = &c->nodes[node];
    if (n->shape == s) return n->v[0];
    if (n->shape->n == 1) {
        spread(n->v[0][0], s->n, to);
        return to;
    }
    gather(n->v[0], block_places(&c->places, n->shape, s), s->n, to);
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
    struct block_node *to = &c->nodes[node];
    const struct primitive *p = &primitives[n->what];
    double gathered[GRAPH_ARGUMENTS_MAX][BLOCK_POINTS_MAX];
    const double *args[GRAPH_ARGUMENTS_MAX];
    for (int k = 0; k < n->n_args; k++) args[k] = argument(c, n->args[k], to->shape, gathered[k]);
    const unsigned groups = reads_of(p);
    for (int i = 0; i < to->shape->n; i++) {
        double a[GRAPH_ARGUMENTS_MAX] = {0}, ret[PRIMITIVE_RESULTS_MAX];
        const struct groups g = source->groups(source->object, groups, to->shape->point_of[i]);
        for (int k = 0; k < n->n_args; k++) a[k] = args[k][i];
        p->of(&g, a, ret);
        for (int k = 0; k < p->n_results; k++) to->v[k][i] = ret[k];
    }
}

/* The number of a node at a point. */
static double number_at(const struct block_code *c, int node, int point)
{
    const struct block_node *n = &c->nodes[node];
    return n->v[0][n->shape->of_point[point]];
}

static void solve(struct block_code *c, int node, const struct block_source *source)
{
    const struct graph_node *n = &c->g->nodes[node];
    const struct block_node *to = &c->nodes[node];
    const struct block_solve *s = c->solves;
    while (s->body.node != node) s++;
    for (int i = 0; i < to->shape->n; i++) {
        const int point = to->shape->point_of[i];
        const struct groups g = source->groups(source->object, s->body.reads_params ? BLOCK_PARAMS : s->body.groups, point);
        for (int k = 0; k < 2; k++) s->v[c->slots.of[n->args[k]]] = number_at(c, n->args[k], point);
        for (int k = 0; k < s->body.n_outside; k++) {
            const int outside = s->body.outside[k];
            s->v[c->slots.of[outside]] = number_at(c, outside, point);
        }
        program_run(&s->program, s->v, &g);
        to->v[0][i] = s->v[c->slots.of[node]];
    }
}

static void compute(struct block_code *c, int node, const struct block_source *source)
{
    const struct graph_node *n = &c->g->nodes[node];
    struct block_node *to = &c->nodes[node];
    double gathered[3][BLOCK_POINTS_MAX];
    const double *args[3] = {NULL};
    for (int k = 0; k < block_results(n) && n->op != GRAPH_RESULT; k++)
        to->v[k] = to->shape->n == 1 ? &to->one[k] : block_rooms_take(&c->rooms);
    switch (n->op) {
    case GRAPH_CONSTANT: to->v[0][0] = n->number; return;
    case GRAPH_INPUT: source->input(source->object, to->shape, n->what, n->element1 - 1, to->v[0]); return;
    case GRAPH_CALL: call(c, node, source); return;
    case GRAPH_SOLVE: solve(c, node, source); return;
    case GRAPH_RESULT: to->v[0] = c->nodes[n->args[0]].v[n->what]; return;
    default: break;
    }
    for (int k = 0; k < n->n_args; k++) args[k] = argument(c, n->args[k], to->shape, gathered[k]);
    for (int k = n->n_args; k < 3; k++) args[k] = args[0];
    operate((enum graph_op)n->op, to->shape->n, args[0], args[1], args[2], to->v[0]);
}

void block_run(struct block_code *c, struct block *b, const struct block_source *source)
{
    const uint32_t varying = block_varying(b);
    const struct block_shape *last = NULL;
    uint32_t axes = 0;
    block_places_forget(&c->places);
    for (int i = 0; i < c->order.n; i++) let_go(c, c->order.list[i]); /* of the last run */
    for (int i = 0; i < c->order.n; i++) {
        const int node = c->order.list[i];
        const struct graph_node *n = &c->g->nodes[node];
        if (!last || c->order.axes[node] != axes) last = block_shape(b, c->order.axes[node] & varying);
        axes = c->order.axes[node];
        c->nodes[node].shape = last;
        compute(c, node, source);
        for (int k = 0; k < n->n_args && n->op != GRAPH_RESULT; k++) {
            const int arg = block_holder(c->g, n->args[k]);
            if (c->order.last[arg] == node) let_go(c, arg);
        }
    }
}

const double *block_numbers(const struct block_code *c, int node, const struct block_shape **ret_shape)
{
    *ret_shape = c->nodes[node].shape;
    return c->nodes[node].v[0];
}
