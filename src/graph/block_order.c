#include "graph/block_order.h"

#include "base/xalloc.h"

#include <stdlib.h>

/* ---- order ------------------------------------------------------------------------------------------------------------------- */

static uint32_t axes_of_call(const struct graph *g, const struct graph_node *n, const struct block_axes *axes)
{
    const struct primitive *p = &primitives[n->what];
    uint32_t ret = axes->of_groups(axes->object, p->groups);
    for (int k = 0; k < n->n_args; k++)
        if (*p->arguments[k] == '@') ret |= axes->of_reference(axes->object, (size_t)g->nodes[n->args[k]].number);
    return ret;
}

static uint32_t axes_of(const struct graph *g, const struct block_order *o, const struct graph_node *n,
                        const struct block_axes *axes)
{
    if (n->op == GRAPH_INPUT) return axes->of_input(axes->object, n->what, n->element1 - 1);
    uint32_t ret = n->op == GRAPH_CALL ? axes_of_call(g, n, axes) : 0;
    for (int k = 0; k < n->n_args; k++) ret |= o->axes[n->args[k]];
    return ret;
}

void block_order_make(const struct graph *g, const int *roots, int n, const struct block_axes *axes, struct block_order *ret)
{
    bool *needed = xcalloc((size_t)g->n + 1, sizeof *needed);
    int *inner = graph_inner(g);
    *ret = (struct block_order){.list = xcalloc((size_t)g->n + 1, sizeof *ret->list),
                                .axes = xcalloc((size_t)g->n + 1, sizeof *ret->axes),
                                .last = xcalloc((size_t)g->n + 1, sizeof *ret->last)};
    for (int i = 0; i < g->n; i++) ret->last[i] = -1;
    for (int i = 0; i < n; i++)
        if (roots[i] >= 0) needed[roots[i]] = true, ret->last[roots[i]] = g->n;
    for (int i = g->n - 1; i >= 0; i--)
        for (int k = 0; needed[i] && k < g->nodes[i].n_args; k++) {
            const bool is_passed = g->nodes[i].op == GRAPH_RESULT || inner[i] >= 0; /* its reader is whoever reads it */
            const int arg = g->nodes[i].args[k], by = is_passed ? ret->last[i] : i;
            needed[arg] = true;
            ret->last[arg] = ret->last[arg] < by ? by : ret->last[arg];
        }
    for (int i = 0; i < g->n; i++) {
        if (!needed[i]) continue;
        ret->axes[i] = axes_of(g, ret, &g->nodes[i], axes);
        if (inner[i] < 0) ret->list[ret->n++] = i;
    }
    free(inner);
    free(needed);
}

int block_order_fix(const struct graph *g, struct block_order *o)
{
    int *list = xcalloc((size_t)o->n + 1, sizeof *list), fixed = 0, n = 0;
    for (int i = 0; i < o->n; i++)
        if (o->axes[o->list[i]] == 0) list[fixed++] = o->list[i];
    for (int i = 0; i < o->n; i++)
        if (o->axes[o->list[i]] != 0) list[fixed + n++] = o->list[i];
    for (int i = 0; i < fixed; i++) o->last[list[i]] = g->n;
    free(o->list);
    o->list = list;
    return fixed;
}

void block_order_release(struct block_order *o)
{
    free(o->list);
    free(o->axes);
    free(o->last);
    *o = (struct block_order){0};
}

/* ---- sides of choices -------------------------------------------------------------------------------------------------------- */

enum { UNREAD = -2 };

static int find_side(struct block_sides *s, int outer, int condition, bool yes)
{
    for (int i = 0; i < s->n; i++)
        if (s->list[i].condition == condition && s->list[i].outer == outer && s->list[i].yes == yes) return i;
    s->list = xrealloc(s->list, (size_t)s->n + 1, sizeof *s->list);
    s->list[s->n] = (struct block_side){.condition = condition, .outer = outer, .yes = yes};
    return s->n++;
}

/* The node is read on that side: on the innermost one that all its readers are on. An inner side stands behind its outer one. */
static void read_on(struct block_sides *s, int node, int side)
{
    int a = s->of[node] == UNREAD ? side : s->of[node], b = side;
    while (a != b) *(a > b ? &a : &b) = s->list[a > b ? a : b].outer;
    s->of[node] = a;
}

/* What a node reads is read on its side; of a choice on the sides of that. A SOLVE has all that its body reads. */
static void read_from(const struct graph *g, struct block_sides *s, int node, bool is_inner)
{
    const struct graph_node *n = &g->nodes[node];
    for (int k = 0; k < n->n_args; k++) {
        const bool is_side = n->op == GRAPH_CHOOSE && k > 0 && !is_inner;
        read_on(s, n->args[k], is_side ? find_side(s, s->of[node], n->args[0], k == 1) : s->of[node]);
    }
}

void block_sides_make(const struct graph *g, const struct block_order *o, int fixed, const int *roots, int n,
                      struct block_sides *ret)
{
    int *place = xcalloc((size_t)g->n + 1, sizeof *place), *inner = graph_inner(g);
    *ret = (struct block_sides){.of = xcalloc((size_t)g->n + 1, sizeof *ret->of)};
    for (int i = 0; i < g->n; i++) ret->of[i] = UNREAD;
    for (int i = 0; i < o->n; i++) place[o->list[i]] = 1 + i;
    for (int i = 0; i < n; i++)
        if (roots[i] >= 0) ret->of[roots[i]] = -1;
    for (int i = g->n - 1; i >= 0; i--) {
        if (ret->of[i] == UNREAD) continue;
        if (place[i] > 0 && place[i] <= fixed) ret->of[i] = -1;
        for (int s = ret->of[i]; s >= 0 && place[i] > 0; s = ret->list[s].outer)
            if (place[ret->list[s].condition] >= place[i]) ret->of[i] = ret->list[s].outer; /* it is not known in time */
        read_from(g, ret, i, inner[i] >= 0);
    }
    free(place);
    free(inner);
}

void block_sides_release(struct block_sides *s)
{
    free(s->list);
    free(s->of);
    *s = (struct block_sides){0};
}

void block_sides_begin(struct block_sides *s)
{
    for (int i = 0; i < s->n; i++) s->list[i].is_known = false;
}

bool block_is_taken(struct block_sides *s, int side, bool (*takes)(void *object, int condition, bool yes), void *object)
{
    struct block_side *at = side >= 0 ? &s->list[side] : NULL;
    if (!at) return true;
    if (!at->is_known) at->is_taken = block_is_taken(s, at->outer, takes, object) && takes(object, at->condition, at->yes);
    at->is_known = true;
    return at->is_taken;
}

/* ---- rooms ------------------------------------------------------------------------------------------------------------------- */

void *block_rooms_take(struct block_rooms *r)
{
    return r->n > 0 ? r->free[--r->n] : xmalloc(r->size);
}

void block_rooms_give(struct block_rooms *r, void *room)
{
    if (r->n == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 64;
        r->free = xrealloc(r->free, (size_t)r->capacity, sizeof *r->free);
    }
    r->free[r->n++] = room;
}

void block_rooms_release(struct block_rooms *r)
{
    for (int i = 0; i < r->n; i++) free(r->free[i]);
    free(r->free);
    *r = (struct block_rooms){.size = r->size};
}

/* ---- places ------------------------------------------------------------------------------------------------------------------ */

BLOCK_WIDE static enum block_run run_of(const uint16_t *at)
{
    uint16_t other = 0, apart = 0;
    _Pragma("omp simd reduction(|: other, apart)") for (int i = 0; i < BLOCK_CHUNK; i++)
    {
        other |= (uint16_t)(at[i] ^ at[0]);
        apart |= (uint16_t)(at[i] ^ (at[0] + i));
    }
    return !other ? RUN_SAME : !apart ? RUN_NEXT : RUN_ANY;
}

static void fill(struct block_places *p)
{
    const int n = block_new_ones(p->to);
    for (int i = 0; i < n; i++) p->at[i] = p->from->of_point[p->to->point_of[i]];
    for (int i = 0; i < n; i += BLOCK_CHUNK)
        p->run[i / BLOCK_CHUNK] = (uint8_t)(i + BLOCK_CHUNK <= n ? run_of(p->at + i) : RUN_ANY);
}

const struct block_places *block_places(struct block_places_kept *k, const struct block_shape *from, const struct block_shape *to)
{
    struct block_places *p = &k->of[(((uintptr_t)from >> 6) * 31 + ((uintptr_t)to >> 6)) % BLOCK_PLACES];
    if (p->from == from && p->to == to && p->from_stamp == from->stamp && p->to_stamp == to->stamp) return p;
    p->from = from;
    p->to = to;
    p->from_stamp = from->stamp;
    p->to_stamp = to->stamp;
    fill(p);
    return p;
}
