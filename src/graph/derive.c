#include "graph/derive.h"

#include "base/xalloc.h"
#include "graph/primitive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a node whose derivative is 0. */
enum { ZERO = -1 };

struct deriving {
    struct graph *g;
    unsigned flags;
    int *of; /* by node: its derivative, or ZERO */
};

/* ---- nodes that may be zero -------------------------------------------------------------------------------------------------- */

static int number(const struct deriving *d, double x)
{
    return graph_constant(d->g, x);
}

static int one(const struct deriving *d, enum graph_op op, int a)
{
    return graph_make(d->g, op, a, a);
}

static int minus(const struct deriving *d, int a)
{
    return a == ZERO ? ZERO : one(d, GRAPH_NEGATE, a);
}

static int plus(const struct deriving *d, int a, int b)
{
    if (a == ZERO || b == ZERO) return a == ZERO ? b : a;
    return graph_make(d->g, GRAPH_ADD, a, b);
}

/* rate * x, rate / x: of a rate that may be zero. */
static int times(const struct deriving *d, int rate, int x)
{
    return rate == ZERO ? ZERO : graph_make(d->g, GRAPH_MUL, rate, x);
}

static int over(const struct deriving *d, int rate, int x)
{
    return rate == ZERO ? ZERO : graph_make(d->g, GRAPH_DIV, rate, x);
}

static int either(const struct deriving *d, int condition, int yes, int no)
{
    if (yes == ZERO && no == ZERO) return ZERO;
    return graph_choose(d->g, condition, yes == ZERO ? number(d, 0) : yes, no == ZERO ? number(d, 0) : no);
}

/* ---- operations -------------------------------------------------------------------------------------------------------------- */

/* a^b: by b only where a is above 0, since at 0 it is flat. */
static int of_power(const struct deriving *d, int node, int a, int b)
{
    struct graph *g = d->g;
    int ret = ZERO;
    if (d->of[a] != ZERO) {
        const int less = graph_make(g, GRAPH_POW, a, graph_make(g, GRAPH_SUB, b, number(d, 1)));
        ret = times(d, d->of[a], graph_make(g, GRAPH_MUL, b, less));
    }
    if (d->of[b] == ZERO) return ret;
    const int by_power = times(d, d->of[b], graph_make(g, GRAPH_MUL, node, one(d, GRAPH_LN, a)));
    return plus(d, ret, either(d, graph_make(g, GRAPH_LT, number(d, 0), a), by_power, ZERO));
}

/* 1 + sign * x * x */
static int one_and_square(const struct deriving *d, double sign, int x)
{
    const int square = graph_make(d->g, GRAPH_MUL, x, x);
    return graph_make(d->g, sign > 0 ? GRAPH_ADD : GRAPH_SUB, number(d, 1), square);
}

static int of_angle(const struct deriving *d, enum graph_op op, int node, int a)
{
    const int rate = d->of[a];
    switch (op) {
    case GRAPH_SIN: return times(d, rate, one(d, GRAPH_COS, a));
    case GRAPH_COS: return minus(d, times(d, rate, one(d, GRAPH_SIN, a)));
    case GRAPH_TAN: return times(d, rate, one_and_square(d, 1, node));
    case GRAPH_ASIN: return over(d, rate, one(d, GRAPH_SQRT, one_and_square(d, -1, a)));
    case GRAPH_ACOS: return minus(d, over(d, rate, one(d, GRAPH_SQRT, one_and_square(d, -1, a))));
    case GRAPH_ATAN: return over(d, rate, one_and_square(d, 1, a));
    case GRAPH_SINH: return times(d, rate, one(d, GRAPH_COSH, a));
    case GRAPH_COSH: return times(d, rate, one(d, GRAPH_SINH, a));
    case GRAPH_TANH: return times(d, rate, one_and_square(d, -1, node));
    default: return ZERO;
    }
}

static int of_one(const struct deriving *d, enum graph_op op, int node, int a)
{
    const int rate = d->of[a];
    switch (op) {
    case GRAPH_NEGATE: return minus(d, rate);
    case GRAPH_ABS: return either(d, graph_make(d->g, GRAPH_LT, a, number(d, 0)), minus(d, rate), rate);
    case GRAPH_SQRT: return over(d, rate, graph_make(d->g, GRAPH_MUL, number(d, 2), node));
    case GRAPH_EXP: return times(d, rate, node);
    case GRAPH_EXPM1: return times(d, rate, one(d, GRAPH_EXP, a));
    case GRAPH_LN: return over(d, rate, a);
    case GRAPH_LOG1P: return over(d, rate, graph_make(d->g, GRAPH_ADD, a, number(d, 1)));
    case GRAPH_LOG2: return over(d, rate, graph_make(d->g, GRAPH_MUL, a, number(d, log(2))));
    case GRAPH_LOG10: return over(d, rate, graph_make(d->g, GRAPH_MUL, a, number(d, log(10))));
    case GRAPH_CEIL:
    case GRAPH_FLOOR:
    case GRAPH_ROUND:
    case GRAPH_NEAREST: return d->flags & DERIVE_THROUGH_STEPS ? rate : ZERO;
    default: return of_angle(d, op, node, a);
    }
}

/* ---- primitives -------------------------------------------------------------------------------------------------------------- */

/* The answer with another argument k. */
static int answer_at(const struct deriving *d, const struct graph_node *call, int which, int k, int argument)
{
    int args[GRAPH_ARGUMENTS_MAX];
    memcpy(args, call->args, sizeof args);
    args[k] = argument;
    return graph_result(d->g, graph_call(d->g, call->what, args, call->n_args), which);
}

/* The one of two slopes that is a number, or else the flatter. */
static int flatter(const struct deriving *d, int up, int down)
{
    struct graph *g = d->g;
    const int is_flatter = graph_make(g, GRAPH_LT, one(d, GRAPH_ABS, down), one(d, GRAPH_ABS, up));
    return graph_choose(g, one(d, GRAPH_KNOWN, up), graph_choose(g, is_flatter, down, up), down);
}

static int slope_between(const struct deriving *d, int low, int high, int from, int to)
{
    return graph_make(d->g, GRAPH_DIV, graph_make(d->g, GRAPH_SUB, high, low), graph_make(d->g, GRAPH_SUB, to, from));
}

/* The slope of the answer in argument k. */
static int of_argument(const struct deriving *d, int result, int k)
{
    struct graph *g = d->g;
    const int which = g->nodes[result].what;
    const struct graph_node call = g->nodes[g->nodes[result].args[0]];
    const bool is_node = strcmp(primitives[call.what].arguments[k], "m") == 0;
    const double share = is_node ? 0x1p-10 : 0x1p-17, least = 0x1p-60, alike = 0x1p-10;
    const int a = call.args[k], size = one(d, GRAPH_ABS, a),
              step = graph_make(g, GRAPH_MAX, graph_make(g, GRAPH_MUL, size, number(d, share)), number(d, least)),
              to = graph_make(g, GRAPH_ADD, a, step), from = graph_make(g, GRAPH_SUB, a, step),
              high = answer_at(d, &call, which, k, to), low = answer_at(d, &call, which, k, from),
              up = slope_between(d, result, high, a, to), down = slope_between(d, low, result, from, a),
              apart = one(d, GRAPH_ABS, graph_make(g, GRAPH_SUB, up, down)),
              sum = graph_make(g, GRAPH_ADD, one(d, GRAPH_ABS, up), one(d, GRAPH_ABS, down)),
              is_smooth = graph_make(g, GRAPH_LE, apart, graph_make(g, GRAPH_MUL, sum, number(d, alike)));
    return graph_choose(g, is_smooth, slope_between(d, low, high, from, to), flatter(d, up, down));
}

static int of_result(const struct deriving *d, int result)
{
    const struct graph_node call = d->g->nodes[d->g->nodes[result].args[0]];
    int ret = ZERO;
    if (d->flags & DERIVE_CALLS_FLAT) return ZERO;
    for (int k = 0; k < call.n_args; k++)
        if (d->of[call.args[k]] != ZERO) ret = plus(d, ret, times(d, d->of[call.args[k]], of_argument(d, result, k)));
    return ret;
}

/* ---- SOLVE ------------------------------------------------------------------------------------------------------------------- */

/* The node with the unknown of a SOLVE in place of itself. */
static int at_root(struct graph *g, int node, int unknown, int solve)
{
    int *inner = graph_inner(g), *to = xcalloc((size_t)g->n + 1, sizeof *to), ret = node;
    if (node != ZERO && inner[node] == unknown) {
        for (int i = 0; i <= node; i++) {
            const struct graph_node n = g->nodes[i];
            int a[GRAPH_ARGUMENTS_MAX] = {0};
            to[i] = i == unknown ? solve : i;
            if (inner[i] != unknown || i == unknown) continue;
            for (int k = 0; k < n.n_args; k++) a[k] = to[n.args[k]];
            to[i] = n.op == GRAPH_CALL     ? graph_call(g, n.what, a, n.n_args)
                    : n.op == GRAPH_RESULT ? graph_result(g, a[0], n.what)
                    : n.op == GRAPH_CHOOSE ? graph_choose(g, a[0], a[1], a[2])
                                           : graph_make(g, (enum graph_op)n.op, a[0], n.n_args > 1 ? a[1] : a[0]);
        }
        ret = to[node];
    }
    free(inner);
    free(to);
    return ret;
}

/* Where it is an end, it moves with that; else as the theorem of implicit functions has it. */
static int of_solve(const struct deriving *d, int i)
{
    struct graph *g = d->g;
    const struct graph_node n = g->nodes[i];
    const int low = n.args[0], high = n.args[1], body = n.args[2], unknown = n.args[3];
    int by_unknown, inside = ZERO;
    graph_derive(g, &body, 1, unknown, d->flags, &by_unknown);
    if (d->of[body] != ZERO && by_unknown != ZERO)
        inside = minus(d, over(d, at_root(g, d->of[body], unknown, i), at_root(g, by_unknown, unknown, i)));
    const int at_low = either(d, graph_make(g, GRAPH_EQ, i, low), d->of[low], inside);
    return either(d, graph_make(g, GRAPH_EQ, i, high), d->of[high], at_low);
}

/* ---- all of it --------------------------------------------------------------------------------------------------------------- */

static int of_node(const struct deriving *d, int i)
{
    struct graph *g = d->g;
    const struct graph_node n = g->nodes[i];
    const int a = n.args[0], b = n.args[1];
    switch (n.op) {
    case GRAPH_RESULT: return of_result(d, i);
    case GRAPH_ADD: return plus(d, d->of[a], d->of[b]);
    case GRAPH_SUB: return plus(d, d->of[a], minus(d, d->of[b]));
    case GRAPH_MUL: return plus(d, times(d, d->of[a], b), times(d, d->of[b], a));
    case GRAPH_DIV: return plus(d, over(d, d->of[a], b), minus(d, over(d, times(d, d->of[b], i), b)));
    case GRAPH_POW: return of_power(d, i, a, b);
    case GRAPH_MIN: return either(d, graph_make(g, GRAPH_LT, b, a), d->of[b], d->of[a]);
    case GRAPH_MAX: return either(d, graph_make(g, GRAPH_LT, a, b), d->of[b], d->of[a]);
    case GRAPH_CHOOSE: return either(d, a, d->of[b], d->of[n.args[2]]);
    case GRAPH_SOLVE: return of_solve(d, i);
    default: return n.op >= GRAPH_NEGATE && n.n_args == 1 ? of_one(d, (enum graph_op)n.op, i, a) : ZERO;
    }
}

/* Nodes that the roots need and that depend on `by`. The caller frees it. */
static bool *find_moving(const struct graph *g, const int *roots, int n, int by)
{
    bool *needed = xcalloc((size_t)g->n + 1, sizeof *needed), *ret = xcalloc((size_t)g->n + 1, sizeof *ret);
    for (int i = 0; i < n; i++)
        if (roots[i] >= 0) needed[roots[i]] = true;
    for (int i = g->n - 1; i >= 0; i--)
        for (int k = 0; needed[i] && k < g->nodes[i].n_args; k++) needed[g->nodes[i].args[k]] = true;
    for (int i = 0; i < g->n; i++) {
        ret[i] = i == by;
        for (int k = 0; needed[i] && k < g->nodes[i].n_args; k++) ret[i] = ret[i] || ret[g->nodes[i].args[k]];
    }
    free(needed);
    return ret;
}

void graph_derive(struct graph *g, const int *roots, int n, int by, unsigned flags, int *ret)
{
    const int before = g->n;
    bool *moving = find_moving(g, roots, n, by);
    struct deriving d = {g, flags, xcalloc((size_t)before + 1, sizeof *d.of)};
    for (int i = 0; i < before; i++) {
        d.of[i] = ZERO;
        if (moving[i]) d.of[i] = i == by ? number(&d, 1) : of_node(&d, i);
    }
    for (int i = 0; i < n; i++) ret[i] = roots[i] < 0 ? ZERO : d.of[roots[i]];
    free(moving);
    free(d.of);
}
