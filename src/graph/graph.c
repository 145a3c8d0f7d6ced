#include "graph/graph.h"

#include "base/xalloc.h"

#include <dse/num.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

void graph_init(struct graph *g)
{
    *g = (struct graph){0};
}

void graph_release(struct graph *g)
{
    free(g->nodes);
    free(g->table);
    *g = (struct graph){0};
}

/* ---- numbers ----------------------------------------------------------------------------------------------------------------- */

static const double whole_below = 0x1p62; /* beyond which every number is whole */

static double ceil_of(double x)
{
    return x >= 0 && x < whole_below ? dse_ceil(x) : ceil(x);
}

static double floor_of(double x)
{
    return x >= 0 && x < whole_below ? dse_floor(x) : floor(x);
}

static double of_angle(enum graph_op op, double a)
{
    switch (op) {
    case GRAPH_SIN: return sin(a);
    case GRAPH_COS: return cos(a);
    case GRAPH_TAN: return tan(a);
    case GRAPH_ASIN: return asin(a);
    case GRAPH_ACOS: return acos(a);
    case GRAPH_ATAN: return atan(a);
    case GRAPH_SINH: return sinh(a);
    case GRAPH_COSH: return cosh(a);
    case GRAPH_TANH: return tanh(a);
    default: return 0;
    }
}

/* A division by zero is infinite, or no number, as every formula of a user has it. */
__attribute__((no_sanitize("undefined"))) double graph_apply(enum graph_op op, double a, double b, double c)
{
    switch (op) {
    case GRAPH_ADD: return a + b;
    case GRAPH_SUB: return a - b;
    case GRAPH_MUL: return a * b;
    case GRAPH_DIV: return a / b;
    case GRAPH_POW: return pow(a, b);
    case GRAPH_LT: return a < b;
    case GRAPH_LE: return a <= b;
    case GRAPH_EQ: return a == b;
    case GRAPH_NE: return a != b;
    case GRAPH_AND: return a != 0 && b != 0;
    case GRAPH_OR: return a != 0 || b != 0;
    case GRAPH_MIN: return b < a ? b : a;
    case GRAPH_MAX: return b > a ? b : a;
    case GRAPH_NEGATE: return -a;
    case GRAPH_CEIL: return ceil_of(a);
    case GRAPH_FLOOR: return floor_of(a);
    case GRAPH_ROUND: return rint(a);
    case GRAPH_ABS: return fabs(a);
    case GRAPH_SQRT: return sqrt(a);
    case GRAPH_EXP: return exp(a);
    case GRAPH_LN: return log(a);
    case GRAPH_LOG2: return log2(a);
    case GRAPH_LOG10: return log10(a);
    case GRAPH_EXPM1: return expm1(a);
    case GRAPH_LOG1P: return log1p(a);
    case GRAPH_NEAREST: return floor(a + 0.5);
    case GRAPH_SIGN: return (a > 0) - (a < 0);
    case GRAPH_KNOWN: return !isnan(a);
    case GRAPH_CHOOSE: return a != 0 ? b : c;
    default: return of_angle(op, a);
    }
}

/* ---- sharing ----------------------------------------------------------------------------------------------------------------- */

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static bool same(const struct graph_node *a, const struct graph_node *b)
{
    if (a->op != b->op || a->n_args != b->n_args || a->element1 != b->element1 || a->what != b->what) return false;
    for (int i = 0; i < a->n_args; i++)
        if (a->args[i] != b->args[i]) return false;
    return bits_of(a->number) == bits_of(b->number);
}

static uint64_t hash_of(const struct graph_node *n)
{
    const uint64_t prime = 0x100000001b3;
    uint64_t h = 0xcbf29ce484222325;
    h = (h ^ n->op) * prime;
    h = (h ^ n->element1) * prime;
    h = (h ^ (uint32_t)n->what) * prime;
    for (int i = 0; i < n->n_args; i++) h = (h ^ (uint32_t)n->args[i]) * prime;
    h = (h ^ bits_of(n->number)) * prime;
    return h ^ (h >> 29);
}

static void put(struct graph *g, int node)
{
    const unsigned mask = (unsigned)g->table_size - 1;
    unsigned at = (unsigned)hash_of(&g->nodes[node]) & mask;
    while (g->table[at] >= 0) at = (at + 1) & mask;
    g->table[at] = node;
}

static void grow(struct graph *g)
{
    enum { FIRST = 64 };
    g->capacity = g->capacity ? 2 * g->capacity : FIRST;
    g->nodes = xrealloc(g->nodes, (size_t)g->capacity, sizeof *g->nodes);
    g->table_size = 2 * g->capacity;
    g->table = xrealloc(g->table, (size_t)g->table_size, sizeof *g->table);
    for (int i = 0; i < g->table_size; i++) g->table[i] = -1;
    for (int i = 0; i < g->n; i++) put(g, i);
}

static int add(struct graph *g, struct graph_node n)
{
    if (g->n == g->capacity) grow(g);
    const unsigned mask = (unsigned)g->table_size - 1;
    for (unsigned at = (unsigned)hash_of(&n) & mask; g->table[at] >= 0; at = (at + 1) & mask)
        if (same(&g->nodes[g->table[at]], &n)) return g->table[at];
    g->nodes[g->n] = n;
    put(g, g->n);
    return g->n++;
}

void graph_trim(struct graph *g)
{
    free(g->table);
    g->table = NULL;
    g->nodes = xrealloc(g->nodes, (size_t)g->n + 1, sizeof *g->nodes);
    g->capacity = g->n;
}

void graph_copy(const struct graph *from, struct graph *ret)
{
    graph_init(ret);
    for (int i = 0; i < from->n; i++) add(ret, from->nodes[i]);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------------------- */

bool graph_is_loop(const struct graph_node *n)
{
    return n->op == GRAPH_TOTAL || n->op == GRAPH_MOST || n->op == GRAPH_LEAST;
}

bool graph_is_constant(const struct graph *g, int node, double *ret)
{
    if (g->nodes[node].op != GRAPH_CONSTANT) return false;
    *ret = g->nodes[node].number;
    return true;
}

int graph_constant(struct graph *g, double x)
{
    return add(g, (struct graph_node){.op = GRAPH_CONSTANT, .number = isnan(x) ? (double)NAN : x});
}

int graph_input(struct graph *g, int what, int element)
{
    return add(g, (struct graph_node){.op = GRAPH_INPUT, .what = what, .element1 = (uint16_t)(element + 1)});
}

int graph_call(struct graph *g, int primitive, const int *args, int n)
{
    struct graph_node node = {.op = GRAPH_CALL, .what = primitive, .n_args = (uint8_t)n};
    for (int i = 0; i < n; i++) node.args[i] = args[i];
    return add(g, node);
}

int graph_result(struct graph *g, int call, int which)
{
    return add(g, (struct graph_node){.op = GRAPH_RESULT, .what = which, .n_args = 1, .args = {call}});
}

int graph_unknown(struct graph *g, int which)
{
    return add(g, (struct graph_node){.op = GRAPH_UNKNOWN, .what = which});
}

int *graph_inner(const struct graph *g)
{
    int *ret = xcalloc((size_t)g->n + 1, sizeof *ret);
    for (int i = 0; i < g->n; i++) {
        const struct graph_node *n = &g->nodes[i];
        ret[i] = n->op == GRAPH_UNKNOWN ? i : -1;
        for (int k = 0; k < n->n_args && n->op != GRAPH_SOLVE; k++)
            if (ret[n->args[k]] >= 0) ret[i] = ret[n->args[k]];
    }
    return ret;
}

static bool needs(const struct graph *g, int node, int what)
{
    bool *is = xcalloc((size_t)node + 1, sizeof *is);
    for (int i = 0; i <= node; i++) {
        is[i] = i == what;
        for (int k = 0; k < g->nodes[i].n_args; k++) is[i] = is[i] || is[g->nodes[i].args[k]];
    }
    const bool ret = is[node];
    free(is);
    return ret;
}

/* A body that does not depend on the unknown is above 0 at all of them, or at none. */
int graph_solve(struct graph *g, int low, int high, int body, int unknown)
{
    if (!needs(g, body, unknown)) return graph_choose(g, graph_make(g, GRAPH_LE, body, graph_constant(g, 0)), high, low);
    return add(g, (struct graph_node){.op = GRAPH_SOLVE, .n_args = 4, .args = {low, high, body, unknown}});
}

int graph_loop(struct graph *g, enum graph_op op, int domain, int body)
{
    return add(g, (struct graph_node){.op = (uint8_t)op, .what = domain, .n_args = 1, .args = {body}});
}

int graph_choose(struct graph *g, int condition, int yes, int no)
{
    double x;
    if (yes == no) return yes;
    if (graph_is_constant(g, condition, &x)) return x != 0 ? yes : no;
    return add(g, (struct graph_node){.op = GRAPH_CHOOSE, .n_args = 3, .args = {condition, yes, no}});
}

/* Of logic one side may say it all: what it gives, or -1. */
static int known_logic(struct graph *g, enum graph_op op, int a, int b)
{
    const int sides[] = {a, b};
    for (int i = 0; i < 2; i++) {
        double x;
        if (!graph_is_constant(g, sides[i], &x)) continue;
        if (op == GRAPH_AND) return x == 0 ? graph_constant(g, 0) : graph_make(g, GRAPH_NE, sides[1 - i], graph_constant(g, 0));
        if (op == GRAPH_OR) return x != 0 ? graph_constant(g, 1) : graph_make(g, GRAPH_NE, sides[1 - i], graph_constant(g, 0));
    }
    return -1;
}

/* One times something is that, to the bit; -1: it is no such product or quotient. */
static int known_factor(const struct graph *g, enum graph_op op, int a, int b)
{
    double x;
    if ((op == GRAPH_MUL || op == GRAPH_DIV) && graph_is_constant(g, b, &x) && x == 1) return a;
    return op == GRAPH_MUL && graph_is_constant(g, a, &x) && x == 1 ? b : -1;
}

/* Does it give 0 or 1 alone? */
static bool is_truth(const struct graph *g, int node)
{
    const int op = g->nodes[node].op;
    return (op >= GRAPH_LT && op <= GRAPH_OR) || op == GRAPH_KNOWN;
}

int graph_make(struct graph *g, enum graph_op op, int a, int b)
{
    const bool two = op < GRAPH_NEGATE;
    double x, y = 0;
    const bool folds = graph_is_constant(g, a, &x) && (!two || graph_is_constant(g, b, &y));
    if (folds) return graph_constant(g, graph_apply(op, x, y, 0));
    int known = known_logic(g, op, a, b);
    if (known < 0) known = known_factor(g, op, a, b);
    if (known >= 0) return known;
    if (two && a == b && (op == GRAPH_MIN || op == GRAPH_MAX)) return a;
    if (op == GRAPH_NE && is_truth(g, a) && graph_is_constant(g, b, &y) && y == 0) return a;
    struct graph_node n = {.op = (uint8_t)op, .n_args = two ? 2 : 1, .args = {a}};
    if (two) n.args[1] = b;
    return add(g, n);
}

enum graph_op graph_op_of(enum formula_operator op, bool *ret_turned)
{
    static const enum graph_op ops[OP_COUNT] = {
        [OP_ADD] = GRAPH_ADD, [OP_SUB] = GRAPH_SUB, [OP_MUL] = GRAPH_MUL, [OP_DIV] = GRAPH_DIV, [OP_POW] = GRAPH_POW,
        [OP_LT] = GRAPH_LT,   [OP_LE] = GRAPH_LE,   [OP_GT] = GRAPH_LT,   [OP_GE] = GRAPH_LE,   [OP_EQ] = GRAPH_EQ,
        [OP_NE] = GRAPH_NE,   [OP_AND] = GRAPH_AND, [OP_OR] = GRAPH_OR,
    };
    *ret_turned = op == OP_GT || op == OP_GE;
    return ops[op];
}

int graph_operator(struct graph *g, enum formula_operator op, int a, int b)
{
    bool turned;
    const enum graph_op is = graph_op_of(op, &turned);
    return graph_make(g, is, turned ? b : a, turned ? a : b);
}
