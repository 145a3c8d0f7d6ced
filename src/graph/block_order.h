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

/* A side of a choice, inside of another one or of none (-1). */
struct block_side {
    int condition, outer;
    bool yes;
    bool is_known, is_taken; /* in the run at hand */
};
/* What is read on a side alone is computed where something takes it. */
struct block_sides {
    struct block_side *list;
    int n, *of; /* by node: -1: it is read outside of choices, too */
};
/* Of nodes behind the first `fixed` of the order; those are computed whatever is taken. */
void block_sides_make(const struct graph *g, const struct block_order *o, int fixed, const int *roots, int n,
                      struct block_sides *ret);
void block_sides_release(struct block_sides *s);
/* Forget what the last run took. */
void block_sides_begin(struct block_sides *s);
/* `takes`: asked of a condition that was computed, and is kept until its choice is made. */
bool block_is_taken(struct block_sides *s, int side, bool (*takes)(void *object, int condition, bool yes), void *object);

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

/* Where the combinations of a shape are among those of another one, which has some of its axes: CHUNK of them at a time, of which
 * in a grid most follow each other, or are the same. */
enum { BLOCK_CHUNK = 16, BLOCK_CHUNKS = BLOCK_POINTS_MAX / BLOCK_CHUNK };
enum block_run { RUN_ANY, RUN_SAME, RUN_NEXT };
struct block_places {
    const struct block_shape *from, *to;
    uint64_t from_stamp, to_stamp;
    uint16_t at[BLOCK_POINTS_MAX];
    uint8_t run[BLOCK_CHUNKS]; /* enum block_run; behind the last whole chunk: RUN_ANY */
};
enum { BLOCK_PLACES = 64 };
/* By a number of the two shapes. */
struct block_places_kept {
    struct block_places of[BLOCK_PLACES];
};
const struct block_places *block_places(struct block_places_kept *k, const struct block_shape *from, const struct block_shape *to);

/* Loops over numbers are compiled for wider machines, too. Not for the sanitizer of races: what chooses between them runs before
 * the sanitizer has begun, and calls into it. */
#if defined __x86_64__ && defined __linux__ && !defined __SANITIZE_THREAD__
#define BLOCK_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
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
