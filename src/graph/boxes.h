/* A graph for many boxes of a lattice at once: block.h for intervals.
 *
 * A box lies between two places on each axis. The intervals of an axis that are among the boxes are counted through, and a block's
 * digits are these numbers. So two boxes with the same interval on all axes that a node depends on share its range. Each range is
 * the one that range_apply and the primitives give for that box by itself, to the bit, and moves as range_moved says. */
#ifndef DSE_GRAPH_BOXES_H
#define DSE_GRAPH_BOXES_H

#include "graph/block.h"

enum { BOXES_MAX = 256 }; /* of a block */

/* Where ranges come from. All is asked at boxes of the block. */
struct boxes_source {
    void *object;
    /* The input at each of the shape's combinations. */
    void (*input)(void *object, const struct block_shape *s, int what, int element, struct graph_range *ret);
    /* The groups of a box, of which a primitive reads these (1 << enum group, or-ed). True: they are the same at both ends. */
    bool (*groups)(void *object, unsigned groups, int box, struct groups_box *ret);
    /* How the input moves, and along which axes any of the groups. NULL: nobody asks how ranges move. */
    struct graph_moves (*moves)(void *object, int what, int element);
    uint32_t (*moves_of_group)(void *object, enum group g);
};

/* What a graph needs for its roots. Whatever depends on no axis is the same in all runs. */
struct boxes_code;
struct boxes_code *boxes_code_new(const struct graph *g, const int *roots, int n, const struct block_axes *axes);
void boxes_code_free(struct boxes_code *c);

/* Compute the roots over the boxes of a block. */
void boxes_run(struct boxes_code *c, struct block *b, const struct boxes_source *source);
/* A root over a box, or (its shape's) combination of boxes. Valid until the next run. */
struct graph_range boxes_range(const struct boxes_code *c, int node, int box);
/* How it moves over a box, of a run that was asked for it. */
struct graph_moves boxes_moves(const struct boxes_code *c, int node, int box);
const struct block_shape *boxes_shape(const struct boxes_code *c, int node);
struct graph_range boxes_range_of(const struct boxes_code *c, int node, int combination);

#endif
