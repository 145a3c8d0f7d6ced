/* A graph for many points of a lattice at once.
 *
 * The points of a block differ along some axes. A node depends on a few of them, and has one number for each combination of their
 * values that is among the points: one for the block where it depends on none, a table along an axis, and so on, up to one for each
 * point. So nothing is computed twice that an axis does not change, and a loop over numbers has no decisions in it. Each number is
 * the one that program.h gives at that point, to the bit. */
#ifndef DSE_GRAPH_BLOCK_H
#define DSE_GRAPH_BLOCK_H

#include "graph/graph.h"
#include "graph/primitive.h"

enum { BLOCK_POINTS_MAX = 1024, BLOCK_AXES_MAX = 32, BLOCK_TABLE_MAX = 4096 };

/* The combinations of values of some axes that are among the points. */
struct block_shape {
    uint32_t axes;                       /* 1 << axis, or-ed */
    int n, from;                         /* of a table, those before `from` are of earlier blocks; else it is 0 */
    uint16_t of_point[BLOCK_POINTS_MAX]; /* which one a point has */
    uint16_t point_of[BLOCK_POINTS_MAX]; /* a point that has number from + i */
    uint64_t stamp;                      /* the same stamp of the same shape: nothing has changed */
};
_Static_assert(BLOCK_POINTS_MAX <= UINT16_MAX + 1 && BLOCK_TABLE_MAX <= INT16_MAX + 1, "a combination has two bytes");
/* How many of them are of this block. */
static inline int block_new_ones(const struct block_shape *s)
{
    return s->n - s->from;
}

/* Points: where each stands on each axis. */
struct block {
    int n, n_axes;
    bool is_lasting;              /* a digit is the same value in all blocks, and nothing else differs between them */
    int32_t size[BLOCK_AXES_MAX]; /* digits are below */
    int32_t at[BLOCK_AXES_MAX][BLOCK_POINTS_MAX];
    struct block_shape **shapes; /* that were asked for */
    int n_shapes, capacity;
    uint32_t varying;
    int32_t spread[BLOCK_AXES_MAX];
    bool is_spread_known;
    int32_t (*last)[BLOCK_POINTS_MAX]; /* where they stood before; by axis */
    int last_n;
    uint64_t serial, n_changed, changed[BLOCK_AXES_MAX]; /* of this block, and of the last one that had other points */
};
void block_init(struct block *b);
void block_release(struct block *b);
/* The points have been told anew: forget what was made of the last ones. */
void block_begin(struct block *b);
/* Stand the points on an axis by what they have there: their digits count the different keys through. */
void block_number(struct block *b, int axis, const int64_t *keys);
/* Axes that no point of the block differs in do not count. It may have more axes than asked for. Valid until the next begin. */
const struct block_shape *block_shape(struct block *b, uint32_t axes);
uint32_t block_varying(struct block *b);
/* Do the points of a lasting block stand on these axes as they did in block number `serial`, and since? */
bool block_is_unchanged(const struct block *b, uint32_t axes, uint64_t serial);

/* Combinations of values of few axes, of which the whole lattice has not many: they are numbered as they are met first, in all
 * blocks, so that what follows from one is computed once. */
struct block_table {
    struct block_shape shape; /* in the block at hand */
    int size;                 /* of all combinations */
    int16_t *of_key;          /* by digits; -1: not met */
    const struct block *block;
    uint64_t serial;
};
/* NULL: the block does not last, or there are more than BLOCK_TABLE_MAX. */
struct block_table *block_table_new(const struct block *b, uint32_t axes);
void block_table_free(struct block_table *t);
/* Once for each block. Valid until the next one. */
const struct block_shape *block_table_shape(struct block_table *t, const struct block *b);

/* Where numbers come from. All is asked at points of the block. */
struct block_source {
    void *object;
    /* The input at each of the shape's combinations that are new. */
    void (*input)(void *object, const struct block_shape *s, int what, int element, double *ret);
    /* The groups of a point, of which a primitive reads these (1 << enum group, or-ed): those of any that has the same. With
     * BLOCK_PARAMS it reads other parameters, too. */
    struct groups (*groups)(void *object, unsigned groups, int point);
};
#define BLOCK_PARAMS (1u << 31)

/* What a graph needs for its roots, and the axes that each node depends on. These say it of what is read; `of_reference` of a
 * parameter that names an entry, by its place. */
struct block_code;
struct block_axes {
    void *object;
    uint32_t (*of_input)(void *object, int what, int element);
    uint32_t (*of_groups)(void *object, unsigned groups);
    uint32_t (*of_reference)(void *object, size_t place);
};
struct block_code *block_code_new(const struct graph *g, const int *roots, int n, const struct block_axes *axes);
void block_code_free(struct block_code *c);

/* Compute the roots at the points of a block. */
void block_run(struct block_code *c, struct block *b, const struct block_source *source);
/* The numbers of a root, and their shape. Valid until the next run. */
const double *block_numbers(const struct block_code *c, int node, const struct block_shape **ret_shape);

#endif
