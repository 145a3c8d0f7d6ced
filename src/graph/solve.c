#include "graph/solve.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

/* ---- points ------------------------------------------------------------------------------------------------------------------ */

static const double near_enough = 1e-14;

/* Two numbers with the root between them, and f there: below 0 or 0, and above 0. */
struct bracket {
    double low, high, below, above;
};

/* f at x is y: x is one of the ends now. The other end counts half if it stayed twice. */
static void narrow(struct bracket *b, double x, double y, int *side)
{
    if (y > 0) {
        b->high = x;
        b->above = y;
        if (*side > 0) b->below /= 2;
    } else {
        b->low = x;
        b->below = y;
        if (*side < 0) b->above /= 2;
    }
    *side = y > 0 ? 1 : -1;
}

double solve_root(double low, double high, double (*f)(void *object, double x), void *object)
{
    enum { FALSI_MAX = 60, STEPS_MAX = 140 };
    struct bracket b = {.low = low, .high = high};
    int side = 0;
    if (!(low < high)) return low == high ? low : (double)NAN;
    b.above = f(object, high);
    if (b.above <= 0) return high;
    b.below = f(object, low);
    if (b.below >= 0) return low;
    if (isnan(b.above) || isnan(b.below)) return (double)NAN;
    for (int i = 0; i < STEPS_MAX && b.below < 0 && b.high - b.low > near_enough * fmax(fabs(b.low), fabs(b.high)); i++) {
        const double half = b.low + (b.high - b.low) / 2, falsi = (b.low * b.above - b.high * b.below) / (b.above - b.below),
                     x = i < FALSI_MAX && falsi > b.low && falsi < b.high ? falsi : half;
        if (!(x > b.low && x < b.high)) break; /* there is no number between them */
        narrow(&b, x, f(object, x), &side);
    }
    return b.low;
}

/* ---- boxes ------------------------------------------------------------------------------------------------------------------- */

/* One number at all points; the sign of a zero does not matter here. */
static bool is_single(struct graph_range a)
{
    return !a.none && a.lo == a.hi;
}

/* Is f one number, or none, wherever it is asked? Then the box is a point. */
struct as_point {
    struct graph_range (*f)(void *object, double x);
    void *object;
    bool is;
};

static double at_point(void *object, double x)
{
    struct as_point *p = object;
    const struct graph_range y = p->f(p->object, x);
    p->is = p->is && (is_single(y) || range_is_nothing(y));
    return range_is_nothing(y) ? (double)NAN : y.lo;
}

/* Numbers between which an end of the root lies: below the first no root is, and the second is none of those (or the other way
 * round, above); f's ends there: below 0 and above. */
struct end {
    double low, high, below, above;
    int side;
};

static double middle_of(const struct end *e)
{
    const double falsi = (e->low * e->above - e->high * e->below) / (e->above - e->below), half = e->low + (e->high - e->low) / 2;
    return falsi > e->low && falsi < e->high ? falsi : half;
}

static void end_at(struct end *e, double x, double y)
{
    if (!(x > e->low && x < e->high)) return;
    struct bracket b = {e->low, e->high, e->below, e->above};
    narrow(&b, x, y, &e->side);
    *e = (struct end){b.low, b.high, b.below, b.above, e->side};
}

/* The range of the root: f is surely below 0 below it, and surely above 0 above it. The wider end is closed in on as long as it is
 * wide beside what lies between both. */
static void close_in(struct end *least, struct end *most, struct graph_range (*f)(void *object, double x), void *object)
{
    enum { TRIED = 40 };
    const double share = 0.05;
    for (int i = 0; i < TRIED; i++) {
        const double l = least->high - least->low, m = most->high - most->low, wide = fmax(l, m),
                     apart = fmax(0, most->low - least->high);
        if (!(wide > share * apart) || wide <= near_enough * fmax(fabs(least->low), fabs(most->high))) break;
        const double x = i % 4 == 3 ? (l >= m ? least->low + l / 2 : most->low + m / 2) : middle_of(l >= m ? least : most);
        const struct graph_range y = f(object, x);
        if (y.none || isnan(y.lo) || isnan(y.hi)) break;
        end_at(least, x, y.hi < 0 ? y.hi : fmax(y.hi, 1e-300));
        end_at(most, x, y.lo > 0 ? y.lo : fmin(y.lo, -1e-300));
    }
}

struct graph_range solve_range(struct graph_range low, struct graph_range high, struct graph_range (*f)(void *object, double x),
                               void *object)
{
    struct as_point p = {f, object, (is_single(low) || range_is_nothing(low)) && (is_single(high) || range_is_nothing(high))};
    if (p.is) {
        const double none = (double)NAN,
                     x = solve_root(is_single(low) ? low.lo : none, is_single(high) ? high.lo : none, at_point, &p);
        if (p.is) return range_of(x);
    }
    const double from = low.lo, to = fmax(low.hi, high.hi);
    if (low.none || high.none || !(from <= to) || !isfinite(from) || !isfinite(to)) return range_unknown;
    const struct graph_range y[2] = {f(object, from), f(object, to)};
    struct end below = {from, to, y[0].hi, y[1].hi, 0}, above = {from, to, y[0].lo, y[1].lo, 0};
    if (!(y[0].hi < 0)) below.high = from; /* the root may be the least number */
    if (y[1].hi < 0) below.low = below.high = to;
    if (!(y[1].lo > 0)) above.low = to;
    if (y[0].lo > 0) above.low = above.high = from;
    if (!y[0].none && !y[1].none) close_in(&below, &above, f, object);
    const double slack = 4 * near_enough * fmax(fabs(from), fabs(to)), lo = below.low - slack, hi = above.high + slack;
    const bool none = y[0].none || y[1].none || low.hi > high.lo;
    const double least = fmin(fmax(lo, from), high.lo), most = fmax(fmin(hi, to), low.hi); /* the ends themselves may be it */
    return (struct graph_range){least, most, none, least <= 0 && most >= 0};
}

/* ---- of a graph -------------------------------------------------------------------------------------------------------------- */

static void add_reads(const struct primitive *p, struct solve_body *ret)
{
    ret->groups |= p->groups;
    for (int k = 0; k < PRIMITIVE_ARGUMENTS_MAX && p->arguments[k]; k++) ret->reads_params |= *p->arguments[k] == '@';
}

void solve_body_make(const struct graph *g, int node, struct solve_body *ret)
{
    const int body = g->nodes[node].args[2], unknown = g->nodes[node].args[3];
    int *inner = graph_inner(g);
    bool *needed = xcalloc((size_t)g->n + 1, sizeof *needed);
    *ret = (struct solve_body){.node = node,
                               .list = xcalloc((size_t)g->n + 1, sizeof *ret->list),
                               .outside = xcalloc((size_t)g->n + 1, sizeof *ret->outside)};
    needed[body] = true;
    for (int i = body; i >= 0; i--)
        for (int k = 0; needed[i] && inner[i] == unknown && k < g->nodes[i].n_args; k++) needed[g->nodes[i].args[k]] = true;
    for (int i = 0; i <= body; i++) {
        if (!needed[i] || i == unknown) continue;
        if (inner[i] == unknown)
            ret->list[ret->n++] = i;
        else
            ret->outside[ret->n_outside++] = i;
        if (inner[i] == unknown && g->nodes[i].op == GRAPH_CALL) add_reads(&primitives[g->nodes[i].what], ret);
    }
    free(inner);
    free(needed);
}

void solve_body_release(struct solve_body *s)
{
    free(s->list);
    free(s->outside);
    *s = (struct solve_body){0};
}

struct solving {
    const struct solve_body *s;
    const struct graph *g;
    const int32_t *slot;
    const struct groups_box *groups;
    unsigned same;
    struct graph_range *r;
};

static void call(const struct solving *at, const struct graph_node *n, struct graph_range *ret)
{
    const struct primitive *p = &primitives[n->what];
    struct graph_range a[GRAPH_ARGUMENTS_MAX] = {{0}};
    bool single = (p->groups & ~at->same) == 0;
    for (int k = 0; k < n->n_args; k++) {
        a[k] = at->r[at->slot[n->args[k]]];
        single = single && range_is_exact(a[k]);
    }
    if (single)
        primitive_at(p, &at->groups->lo, a, ret);
    else
        p->bound(at->groups, a, ret);
}

static struct graph_range body_at(void *object, double x)
{
    const struct solving *at = object;
    const struct graph_node *solve = &at->g->nodes[at->s->node];
    struct graph_range *r = at->r;
    r[at->slot[solve->args[3]]] = range_of(x);
    for (int i = 0; i < at->s->n; i++) {
        const int node = at->s->list[i];
        const struct graph_node *n = &at->g->nodes[node];
        if (n->op == GRAPH_RESULT) continue; /* it stands where the call put it */
        if (n->op == GRAPH_CALL) {
            call(at, n, &r[at->slot[node]]);
            continue;
        }
        const struct graph_range a = r[at->slot[n->args[0]]], b = n->n_args > 1 ? r[at->slot[n->args[1]]] : a;
        r[at->slot[node]] = range_apply((enum graph_op)n->op, a, b, n->n_args > 2 ? r[at->slot[n->args[2]]] : a);
    }
    return r[at->slot[solve->args[2]]];
}

struct graph_range solve_body_range(const struct solve_body *s, const struct graph *g, const struct slots *slots,
                                    const struct groups_box *groups, unsigned same, struct graph_range *r)
{
    struct solving at = {s, g, slots->of, groups, same, r};
    const struct graph_node *n = &g->nodes[s->node];
    return solve_range(r[slots->of[n->args[0]]], r[slots->of[n->args[1]]], body_at, &at);
}
