#include "graph/unroll.h"

#include "base/xalloc.h"

#include <stdlib.h>

struct unrolling {
    const struct graph *from;
    const struct structure *s;
    struct graph *to;
    bool *needed; /* by node */
    bool *varies; /* is it of the element that a loop is at? */
    bool *at;     /* by varying node and element: is it needed there? */
    int *made;    /* by node; of varying ones by element behind that */
    int *rank;    /* of varying nodes */
    int n_varying;
};

static bool *at_of(const struct unrolling *u, int node, int element)
{
    return &u->at[(size_t)u->rank[node] * (size_t)u->s->n_elements + (size_t)element];
}

static int *made_of(const struct unrolling *u, int node, int element)
{
    if (!u->varies[node]) return &u->made[node];
    return &u->made[(size_t)u->from->n + (size_t)u->rank[node] * (size_t)u->s->n_elements + (size_t)element];
}

static void find_varying(struct unrolling *u)
{
    for (int i = 0; i < u->from->n; i++) {
        const struct graph_node *n = &u->from->nodes[i];
        bool varies = n->op == GRAPH_INPUT && u->s->is_of_element(u->s->object, n->what);
        for (int k = 0; k < n->n_args && !graph_is_loop(n); k++) varies = varies || u->varies[n->args[k]];
        u->varies[i] = varies;
        if (varies) u->rank[i] = u->n_varying++;
    }
}

static void need(const struct unrolling *u, int node, int element)
{
    u->needed[node] = true;
    if (u->varies[node]) *at_of(u, node, element) = true;
}

static void need_body(const struct unrolling *u, const struct graph_node *loop)
{
    for (int e = 0; e < u->s->n_in[loop->what]; e++) need(u, loop->args[0], u->s->elements[loop->what][e]);
}

/* Behind a node that is needed stand those that it needs. */
static void find_needed(const struct unrolling *u)
{
    for (int i = u->from->n - 1; i >= 0; i--) {
        const struct graph_node *n = &u->from->nodes[i];
        if (!u->needed[i]) continue;
        if (graph_is_loop(n)) need_body(u, n);
        for (int k = 0; k < n->n_args && !graph_is_loop(n); k++) {
            if (!u->varies[i]) need(u, n->args[k], -1);
            for (int e = 0; u->varies[i] && e < u->s->n_elements; e++)
                if (*at_of(u, i, e)) need(u, n->args[k], e);
        }
    }
}

static enum graph_op joined_by(const struct graph_node *loop)
{
    return loop->op == GRAPH_TOTAL ? GRAPH_ADD : loop->op == GRAPH_MOST ? GRAPH_MAX : GRAPH_MIN;
}

static int make_loop(const struct unrolling *u, const struct graph_node *n)
{
    int ret = -1;
    for (int e = 0; e < u->s->n_in[n->what]; e++) {
        const int x = *made_of(u, n->args[0], u->s->elements[n->what][e]);
        ret = ret < 0 ? x : graph_make(u->to, joined_by(n), ret, x);
    }
    return ret < 0 ? graph_constant(u->to, 0) : ret;
}

static int make_input(const struct unrolling *u, const struct graph_node *n, int element)
{
    double x;
    if (u->s->known(u->s->object, n->what, element, &x)) return graph_constant(u->to, x);
    return graph_input(u->to, n->what, element);
}

static int make(const struct unrolling *u, int i, int element)
{
    const struct graph_node *n = &u->from->nodes[i];
    int a[GRAPH_ARGUMENTS_MAX] = {0};
    if (graph_is_loop(n)) return make_loop(u, n);
    for (int k = 0; k < n->n_args; k++) a[k] = *made_of(u, n->args[k], element);
    switch (n->op) {
    case GRAPH_CONSTANT: return graph_constant(u->to, n->number);
    case GRAPH_INPUT: return make_input(u, n, element);
    case GRAPH_CALL: return graph_call(u->to, n->what, a, n->n_args);
    case GRAPH_RESULT: return graph_result(u->to, a[0], n->what);
    case GRAPH_CHOOSE: return graph_choose(u->to, a[0], a[1], a[2]);
    case GRAPH_UNKNOWN: return graph_unknown(u->to, n->what);
    case GRAPH_SOLVE: return graph_solve(u->to, a[0], a[1], a[2], a[3]);
    default: return graph_make(u->to, (enum graph_op)n->op, a[0], n->n_args > 1 ? a[1] : a[0]);
    }
}

static void make_all(const struct unrolling *u)
{
    for (int i = 0; i < u->from->n; i++) {
        if (!u->needed[i]) continue;
        if (!u->varies[i]) *made_of(u, i, -1) = make(u, i, -1);
        for (int e = 0; u->varies[i] && e < u->s->n_elements; e++)
            if (*at_of(u, i, e)) *made_of(u, i, e) = make(u, i, e);
    }
}

void graph_unroll(const struct graph *model, const struct structure *s, const struct root *roots, int n, struct graph *ret,
                  int *ret_nodes)
{
    const size_t nodes = (size_t)model->n + 1;
    struct unrolling u = {.from = model,
                          .s = s,
                          .to = ret,
                          .needed = xcalloc(nodes, sizeof *u.needed),
                          .varies = xcalloc(nodes, sizeof *u.varies),
                          .rank = xcalloc(nodes, sizeof *u.rank)};
    find_varying(&u);
    const size_t varying = (size_t)u.n_varying * (size_t)s->n_elements;
    u.at = xcalloc(varying + 1, sizeof *u.at);
    u.made = xcalloc(nodes + varying, sizeof *u.made);
    for (int i = 0; i < n; i++)
        if (roots[i].node >= 0 && (roots[i].element >= 0 || !u.varies[roots[i].node])) need(&u, roots[i].node, roots[i].element);
    find_needed(&u);
    make_all(&u);
    for (int i = 0; i < n; i++) ret_nodes[i] = roots[i].node < 0 ? -1 : *made_of(&u, roots[i].node, roots[i].element);
    free(u.needed);
    free(u.varies);
    free(u.rank);
    free(u.at);
    free(u.made);
}
