/* Many points or boxes of a lattice at once, for models that can: what a parameter does not change is computed once for all.
 *
 * One thread has a worker. The numbers are those of check(), estimate() and bound(), to the bit. */
#ifndef DSE_MODEL_MANY_H
#define DSE_MODEL_MANY_H

#include "graph/block.h"
#include "model/registry.h"

/* What the caller knows of the points. All is borrowed until the worker is freed. */
struct many_lattice {
    int n_axes;           /* at most BLOCK_AXES_MAX */
    const uint32_t *axes; /* by parameter, as in the schema: the axes that may set it, before resolve(); bits */
};
/* Points of a block: where they stand on the axes, and their parameters, resolved. */
struct many_points {
    struct block *block;
    const void *(*params)(void *user, int point); /* asked of a few of the points */
    void *user;
    const bool *wanted; /* by metric, as in the schema: which are read; NULL: all. The others are not defined */
};
/* Boxes of a block, whose digits count the intervals of an axis through (graph/boxes.h), and the parameters that enclose the points
 * of each, resolved. */
struct many_boxes {
    struct block *block;
    void (*ends)(void *user, int box, const void **ret_lo, const void **ret_hi); /* asked of some of the boxes */
    void *user;
    const bool *wanted; /* as of points */
    size_t stride;      /* from the floors of a box to those of the next, and the ceilings */
    /* How each parameter moves along the axes (graph/range.h), by its place in the schema; NULL: nobody asks how metrics move. */
    const struct graph_moves *params;
    struct graph_moves *moves; /* of box i, from i * (metrics of the schema + 1): by metric, then whether a point is
                                  feasible by the model, also in what is known of its output */
};

struct many_worker;
struct many {
    struct many_worker *(*worker_new)(const void *object, const struct many_lattice *lattice);
    void (*worker_free)(struct many_worker *w);
    /* reasons[i]: that of check(), or NULL, and then metrics of metrics_size bytes at metrics + i * stride. */
    void (*run)(struct many_worker *w, const struct many_points *points, const char **reasons, void *metrics, size_t stride);
    /* The axes that a parameter depends on behind resolve(), by its place. */
    uint32_t (*of_param)(const struct many_worker *w, size_t offset);
    /* The axes that stand() depends on. */
    uint32_t (*standing)(const struct many_worker *w);
    /* possible[i]: what bound() says of box i, and where it is true its floors and ceilings of what is wanted. */
    void (*bound)(struct many_worker *w, const struct many_boxes *boxes, bool *possible, void *floors, void *ceilings);
    /* How the metrics of one box move, as of many boxes; by another way, for a check: the equations walked as they stand. */
    void (*walk_moves)(const void *object, const void *lo, const void *hi, const struct graph_moves *params,
                       struct graph_moves *ret);
    const void *object;
};

#endif
