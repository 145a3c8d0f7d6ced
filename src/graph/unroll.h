/* From the graph of a model to that of one list of operators: loops become sums of the numbers of their elements, and what is known
 * of the structure (names, choices) becomes constants. */
#ifndef DSE_GRAPH_UNROLL_H
#define DSE_GRAPH_UNROLL_H

#include "graph/graph.h"

/* Elements are counted through, whatever their domain: 0 .. n_elements - 1. */
struct structure {
    void *object;
    int n_elements, n_domains;
    const int *const *elements; /* by domain: which are in it, in their order */
    const int *n_in;            /* by domain */
    /* Is the input one of the element that a loop is at? */
    bool (*is_of_element)(void *object, int what);
    /* Is the number the same for all points of the structure, and which? `element`: -1 for what is of none. */
    bool (*known)(void *object, int what, int element, double *ret);
};

/* A node of the model's graph at an element, or (-1) at none. */
struct root {
    int node, element;
};

/* Add to `ret` what the roots need; ret_nodes[i]: the node of roots[i] there, -1 where roots[i].node is -1. */
void graph_unroll(const struct graph *model, const struct structure *s, const struct root *roots, int n, struct graph *ret,
                  int *ret_nodes);

#endif
