#include "graph/block.h"

#include "base/xalloc.h"

#include <dse/num.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes ------------------------------------------------------------------------------------------------------------------ */

void block_init(struct block *b)
{
    b->n = b->n_axes = b->n_shapes = b->capacity = 0;
    b->shapes = NULL;
}

void block_release(struct block *b)
{
    for (int i = 0; i < b->capacity; i++) free(b->shapes[i]);
    free(b->shapes);
    block_init(b);
}

void block_begin(struct block *b)
{
    b->n_shapes = 0;
}

static bool varies(const struct block *b, int axis)
{
    for (int i = 1; i < b->n; i++)
        if (b->at[axis][i] != b->at[axis][0]) return true;
    return false;
}

uint32_t block_varying(const struct block *b)
{
    uint32_t ret = 0;
    for (int a = 0; a < b->n_axes; a++)
        if (varies(b, a)) ret |= 1u << a;
    return ret;
}

/* Each point by itself. */
static void fill_all(const struct block *b, struct block_shape *s)
{
    s->n = b->n;
    for (int i = 0; i < b->n; i++) s->of_point[i] = s->point_of[i] = i;
}

/* Combinations are found by a number that counts them through; where there are too many of these, each point stands for itself. */
static void fill(const struct block *b, struct block_shape *s)
{
    enum { COUNTED = 4096 };
    int16_t table[COUNTED];
    int32_t key[BLOCK_POINTS_MAX] = {0};
    int64_t all = 1;
    for (int a = 0; a < b->n_axes; a++) {
        if (!(s->axes >> a & 1)) continue;
        all *= b->size[a];
        if (all > COUNTED) {
            fill_all(b, s);
            return;
        }
        for (int i = 0; i < b->n; i++) key[i] = key[i] * b->size[a] + b->at[a][i];
    }
    memset(table, 0xff, (size_t)all * sizeof *table);
    s->n = 0;
    for (int i = 0; i < b->n; i++) {
        if (table[key[i]] < 0) {
            s->point_of[s->n] = i;
            table[key[i]] = (int16_t)s->n++;
        }
        s->of_point[i] = table[key[i]];
    }
    if (s->n == b->n) fill_all(b, s);
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
    uint32_t axes;
    int last; /* node that reads it last; a root is never let go */
    const struct block_shape *shape;
    double *v[PRIMITIVE_RESULTS_MAX];  /* numbers; of a call, of each of its answers */
    double one[PRIMITIVE_RESULTS_MAX]; /* where the shape has one combination alone */
};

struct block_code {
    const struct graph *g;
    int *order, n; /* nodes that are needed */
    struct block_node *nodes;
    double **rooms; /* of BLOCK_POINTS_MAX numbers; the first n_free are free */
    int n_free, n_rooms;
};

static int results_of(const struct graph_node *n)
{
    return n->op == GRAPH_CALL ? primitives[n->what].n_results : 1;
}

static uint32_t axes_of_call(const struct block_code *c, const struct graph_node *n, const struct block_axes *axes)
{
    const struct primitive *p = &primitives[n->what];
    uint32_t ret = axes->of_groups(axes->object, p->groups);
    for (int k = 0; k < n->n_args; k++)
        if (*p->arguments[k] == '@') ret |= axes->of_reference(axes->object, (size_t)c->g->nodes[n->args[k]].number);
    return ret;
}

static uint32_t axes_of(const struct block_code *c, const struct graph_node *n, const struct block_axes *axes)
{
    if (n->op == GRAPH_INPUT) return axes->of_input(axes->object, n->what, n->element1 - 1);
    uint32_t ret = n->op == GRAPH_CALL ? axes_of_call(c, n, axes) : 0;
    for (int k = 0; k < n->n_args; k++) ret |= c->nodes[n->args[k]].axes;
    return ret;
}

struct block_code *block_code_new(const struct graph *g, const int *roots, int n, const struct block_axes *axes)
{
    struct block_code *c = xcalloc(1, sizeof *c);
    bool *needed = xcalloc((size_t)g->n + 1, sizeof *needed);
    c->g = g;
    c->nodes = xcalloc((size_t)g->n + 1, sizeof *c->nodes);
    c->order = xcalloc((size_t)g->n + 1, sizeof *c->order);
    for (int i = 0; i < g->n; i++) c->nodes[i].last = -1;
    for (int i = 0; i < n; i++)
        if (roots[i] >= 0) needed[roots[i]] = true, c->nodes[roots[i]].last = g->n;
    for (int i = g->n - 1; i >= 0; i--)
        for (int k = 0; needed[i] && k < g->nodes[i].n_args; k++) {
            const int arg = g->nodes[i].args[k], by = g->nodes[i].op == GRAPH_RESULT ? c->nodes[i].last : i;
            needed[arg] = true;
            c->nodes[arg].last = c->nodes[arg].last < by ? by : c->nodes[arg].last;
        }
    for (int i = 0; i < g->n; i++) {
        if (!needed[i]) continue;
        c->nodes[i].axes = axes_of(c, &g->nodes[i], axes);
        c->order[c->n++] = i;
    }
    free(needed);
    return c;
}

/* ---- rooms ------------------------------------------------------------------------------------------------------------------- */

/* Rooms in use stand behind the free ones, in any order: they are handed back by putting them in front. */
static double *take_room(struct block_code *c)
{
    if (c->n_free > 0) return c->rooms[--c->n_free];
    return xmalloc(BLOCK_POINTS_MAX * sizeof(double));
}

static void give_room(struct block_code *c, double *room)
{
    if (c->n_free == c->n_rooms) {
        c->n_rooms = c->n_rooms ? 2 * c->n_rooms : 64;
        c->rooms = xrealloc(c->rooms, (size_t)c->n_rooms, sizeof *c->rooms);
        for (int i = c->n_free; i < c->n_rooms; i++) c->rooms[i] = NULL;
    }
    c->rooms[c->n_free++] = room;
}

static void let_go(struct block_code *c, int node)
{
    struct block_node *n = &c->nodes[node];
    const struct graph_node *of = &c->g->nodes[node];
    if (of->op == GRAPH_RESULT) return; /* its numbers are the call's */
    for (int k = 0; k < results_of(of); k++)
        if (n->v[k] && n->v[k] != &n->one[k]) give_room(c, n->v[k]);
    for (int k = 0; k < results_of(of); k++) n->v[k] = NULL;
}

void block_code_free(struct block_code *c)
{
    if (!c) return;
    for (int i = 0; i < c->n; i++) let_go(c, c->order[i]);
    for (int i = 0; i < c->n_free; i++) free(c->rooms[i]);
    free(c->rooms);
    free(c->nodes);
    free(c->order);
    free(c);
}

/* ---- running ----------------------------------------------------------------------------------------------------------------- */

/* The numbers of an argument at the combinations of a shape: as they stand, or gathered into `to`. */
static const double *argument(const struct block_code *c, int node, const struct block_shape *s, double *to)
{
    const struct block_node *n = &c->nodes[node];
    if (n->shape == s) return n->v[0];
    if (n->shape->n == 1) {
        for (int i = 0; i < s->n; i++) to[i] = n->v[0][0];
        return to;
    }
    for (int i = 0; i < s->n; i++) to[i] = n->v[0][n->shape->of_point[s->point_of[i]]];
    return to;
}

#define EACH(value) \
    for (int i = 0; i < n; i++) r[i] = value; \
    break

/* A division by zero is infinite, or no number. */
__attribute__((no_sanitize("undefined"))) static void
operate(enum graph_op op, int n, const double *restrict a, const double *restrict b, const double *restrict c, double *restrict r)
{
    switch (op) {
    case GRAPH_ADD: EACH(a[i] + b[i]);
    case GRAPH_SUB: EACH(a[i] - b[i]);
    case GRAPH_MUL: EACH(a[i] * b[i]);
    case GRAPH_DIV: EACH(a[i] / b[i]);
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
    case GRAPH_CHOOSE: EACH(a[i] != 0 ? b[i] : c[i]);
    default: EACH(graph_apply(op, a[i], b[i], c[i]));
    }
}

static void call(struct block_code *c, int node, const struct block_source *source)
{
    const struct graph_node *n = &c->g->nodes[node];
    struct block_node *to = &c->nodes[node];
    const struct primitive *p = &primitives[n->what];
    double gathered[GRAPH_ARGUMENTS_MAX][BLOCK_POINTS_MAX];
    const double *args[GRAPH_ARGUMENTS_MAX];
    for (int k = 0; k < n->n_args; k++) args[k] = argument(c, n->args[k], to->shape, gathered[k]);
    for (int i = 0; i < to->shape->n; i++) {
        double a[GRAPH_ARGUMENTS_MAX] = {0}, ret[PRIMITIVE_RESULTS_MAX];
        const struct groups g = source->groups(source->object, p->groups, to->shape->point_of[i]);
        for (int k = 0; k < n->n_args; k++) a[k] = args[k][i];
        p->of(&g, a, ret);
        for (int k = 0; k < p->n_results; k++) to->v[k][i] = ret[k];
    }
}

static void compute(struct block_code *c, int node, const struct block_source *source)
{
    const struct graph_node *n = &c->g->nodes[node];
    struct block_node *to = &c->nodes[node];
    double gathered[3][BLOCK_POINTS_MAX];
    const double *args[3] = {NULL};
    for (int k = 0; k < results_of(n) && n->op != GRAPH_RESULT; k++) to->v[k] = to->shape->n == 1 ? &to->one[k] : take_room(c);
    switch (n->op) {
    case GRAPH_CONSTANT: to->v[0][0] = n->number; return;
    case GRAPH_INPUT: source->input(source->object, to->shape, n->what, n->element1 - 1, to->v[0]); return;
    case GRAPH_CALL: call(c, node, source); return;
    case GRAPH_RESULT: to->v[0] = c->nodes[n->args[0]].v[n->what]; return;
    default: break;
    }
    for (int k = 0; k < n->n_args; k++) args[k] = argument(c, n->args[k], to->shape, gathered[k]);
    for (int k = n->n_args; k < 3; k++) args[k] = args[0];
    operate((enum graph_op)n->op, to->shape->n, args[0], args[1], args[2], to->v[0]);
}

/* Whose room the numbers of a node stand in. */
static int holder(const struct block_code *c, int node)
{
    const struct graph_node *n = &c->g->nodes[node];
    return n->op == GRAPH_RESULT ? n->args[0] : node;
}

void block_run(struct block_code *c, struct block *b, const struct block_source *source)
{
    const uint32_t varying = block_varying(b);
    const struct block_shape *last = NULL;
    uint32_t axes = 0;
    for (int i = 0; i < c->n; i++) let_go(c, c->order[i]); /* of the last run */
    for (int i = 0; i < c->n; i++) {
        const int node = c->order[i];
        const struct graph_node *n = &c->g->nodes[node];
        if (!last || c->nodes[node].axes != axes) last = block_shape(b, c->nodes[node].axes & varying);
        axes = c->nodes[node].axes;
        c->nodes[node].shape = last;
        compute(c, node, source);
        for (int k = 0; k < n->n_args && n->op != GRAPH_RESULT; k++) {
            const int arg = holder(c, n->args[k]);
            if (c->nodes[arg].last == node) let_go(c, arg);
        }
    }
}

const double *block_numbers(const struct block_code *c, int node, const struct block_shape **ret_shape)
{
    *ret_shape = c->nodes[node].shape;
    return c->nodes[node].v[0];
}
