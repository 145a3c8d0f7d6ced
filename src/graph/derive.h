/* Derivatives of numbers of a graph by one of its inputs or constants, as more nodes of the same graph.
 *
 * They are exact at a point where the graph is smooth: sums, products, powers, roots, logarithms and functions of angles have the
 * derivative of the textbook. A choice has that of the side that is taken, and so have min, max and abs; where both sides are
 * equal, it is the side that the operation gives. Comparisons, logic, signs and what rounds (ceil, floor, round) have 0.
 *
 * A primitive is a function in C and has no closed derivative. Its answers are differenced in each argument: over a step of 2^-17
 * of the argument to both sides (2^-10 for a node in metres, which primitives round). Where the two sides differ, the answer has a
 * corner or a step there, and the flatter side counts. What a primitive reads of the groups of a point does not count.
 *
 * A constant is one node wherever it stands. Whoever wants two places apart makes them inputs. The graph has no loops: unroll.h. */
#ifndef DSE_GRAPH_DERIVE_H
#define DSE_GRAPH_DERIVE_H

#include "graph/graph.h"

enum {
    DERIVE_THROUGH_STEPS = 1 << 0, /* what rounds has the derivative of what it rounds */
    DERIVE_CALLS_FLAT = 1 << 1     /* primitives have 0: what differs then rests on a difference */
};

/* ret[i]: the node of the derivative of roots[i] by the node `by`, an INPUT or a CONSTANT; -1 where it is 0 at all points, or where
 * roots[i] is -1. */
void graph_derive(struct graph *g, const int *roots, int n, int by, unsigned flags, int *ret);

#endif
