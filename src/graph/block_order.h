/* Internal to src/graph: what blocks of points and of boxes share: which nodes are computed, and for how long they are kept. */
#ifndef DSE_GRAPH_BLOCK_ORDER_H
#define DSE_GRAPH_BLOCK_ORDER_H

#include "graph/block.h"

/* Nodes that some roots need. */
struct block_order {
    int *list, n;   /* in an order in which they can be computed */
    uint32_t *axes; /* by node: those that it depends on */
    int *last;      /* by node: which reads it last; a root is never let go */
};
void block_order_make(const struct graph *g, const int *roots, int n, const struct block_axes *axes, struct block_order *ret);
void block_order_release(struct block_order *o);

/* How many numbers a node has of its own. */
static inline int block_results(const struct graph_node *n)
{
    return n->op == GRAPH_CALL ? primitives[n->what].n_results : 1;
}

/* Whose room the numbers of a node stand in: those of an answer in the call's. */
static inline int block_holder(const struct graph *g, int node)
{
    return g->nodes[node].op == GRAPH_RESULT ? g->nodes[node].args[0] : node;
}

/* Rooms of one size, handed out and given back. */
struct block_rooms {
    size_t size;
    void **free;
    int n, capacity;
};
void *block_rooms_take(struct block_rooms *r);
void block_rooms_give(struct block_rooms *r, void *room);
/* All have been given back. */
void block_rooms_release(struct block_rooms *r);

#endif
