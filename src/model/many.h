/* Many points of a lattice at once, for models that can: what a parameter does not change is computed once for all of them.
 *
 * One thread has a worker. The numbers are those of check() and estimate(), to the bit. */
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
    const void *object;
};

#endif
