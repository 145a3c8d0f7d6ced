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
/* Put those first that depend on no axis, and keep them for good: whose number some node reads that does depend on one, or
 * none. Returns how many there are. */
int block_order_fix(const struct graph *g, struct block_order *o);
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

/* Where the combinations of a shape are among those of another one, which has some of its axes. */
struct block_places {
    const struct block_shape *from, *to;
    uint16_t at[BLOCK_POINTS_MAX];
};
enum { BLOCK_PLACES = 64 };
/* By a number of the two shapes; forgotten where they are no longer the same. */
struct block_places_kept {
    struct block_places of[BLOCK_PLACES];
};
static inline void block_places_forget(struct block_places_kept *k)
{
    for (int i = 0; i < BLOCK_PLACES; i++) k->of[i].from = NULL;
}
static inline const uint16_t *block_places(struct block_places_kept *k, const struct block_shape *from,
                                           const struct block_shape *to)
{
    struct block_places *p = &k->of[(((uintptr_t)from >> 6) * 31 + ((uintptr_t)to >> 6)) % BLOCK_PLACES];
    if (p->from == from && p->to == to) return p->at;
    p->from = from;
    p->to = to;
    for (int i = 0; i < block_new_ones(to); i++) p->at[i] = from->of_point[to->point_of[i]];
    return p->at;
}

/* Loops over numbers are compiled for wider machines, too. Not for the sanitizer of races: what chooses between them runs before
 * the sanitizer has begun, and calls into it. */
#if defined __x86_64__ && defined __linux__ && !defined __SANITIZE_THREAD__
#define BLOCK_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define BLOCK_WIDE
#endif

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
