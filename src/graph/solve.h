/* Where a function that grows is 0.
 *
 * Points and boxes of a graph, blocks of both and the walk of a certificate ask here, so that all find the same number. A function
 * may have steps: what is found is then the last number below the step. */
#ifndef DSE_GRAPH_SOLVE_H
#define DSE_GRAPH_SOLVE_H

#include "graph/primitive.h"
#include "graph/program.h"
#include "graph/range.h"

/* The x from low to high at which f(x), which grows with x, is just no more than 0, to 14 digits; low where it is above 0
 * everywhere, high where nowhere. Not a number where an end is none, or f at an end. Regula falsi by the Illinois algorithm, and
 * halves where that takes too long. */
double solve_root(double low, double high, double (*f)(void *object, double x), void *object);

/* The same over a box: f(x) is the range over the box at one x. */
struct graph_range solve_range(struct graph_range low, struct graph_range high, struct graph_range (*f)(void *object, double x),
                               void *object);

/* ---- of a graph -------------------------------------------------------------------------------------------------------------- */

/* What stands between a SOLVE and its unknown. */
struct solve_body {
    int node;                /* the SOLVE */
    int *list, n;            /* nodes that depend on the unknown, in an order in which they can be computed */
    int *outside, n_outside; /* nodes that these read and that do not depend on it */
    unsigned groups;         /* that their primitives read */
    bool reads_params;       /* and other parameters */
};
void solve_body_make(const struct graph *g, int node, struct solve_body *ret);
void solve_body_release(struct solve_body *s);

/* The SOLVE over a box. `r`: ranges by slot; those outside of the body are there. `same`: groups that are the same at both ends. */
struct graph_range solve_body_range(const struct solve_body *s, const struct graph *g, const struct slots *slots,
                                    const struct groups_box *groups, unsigned same, struct graph_range *r);

#endif
