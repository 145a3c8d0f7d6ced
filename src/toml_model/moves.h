/* Internal to src/toml_model: how metrics move over a box (graph/range.h), for blocks of boxes and for the walk. */
#ifndef DSE_TOML_MODEL_MOVES_H
#define DSE_TOML_MODEL_MOVES_H

#include "toml_model/internal.h"

/* How inputs move that are not one number all over a box, and along which axes any parameter of a group does; of the workload's
 * those of requests, too. `params`: how each parameter moves, by its place in the schema. */
struct input_moves {
    struct graph_moves *inputs;
    uint32_t groups[GROUPS];
    uint32_t standing; /* what is known of the output follows from these: [quality] of a sweep may refuse a point by it */
};
void input_moves_make(const struct toml_model *m, const struct graph_moves *params, struct input_moves *ret);
void input_moves_release(struct input_moves *i);

/* A box: its equations' ranges, with their moves. */
struct box_moves {
    const struct toml_model *m;
    const struct input_moves *inputs;
    const struct dse_workload_part *part; /* NULL: without the group workload */
    void *object;
    struct graph_range (*at)(void *object, int equation);
};
/* By metric (of those that are wanted; NULL: all), and behind the last one whether a point can be built. */
void moves_of_metrics(const struct box_moves *b, const bool *wanted, struct graph_moves *ret);

#endif
