/* Internal to src/space: what a model says of many boxes of a space. One thread has one. */
#ifndef DSE_SPACE_MANY_BOXES_H
#define DSE_SPACE_MANY_BOXES_H

#include "space/bounds.h"
#include "space/space_internal.h"

/* The model's bound of one box; of what it does not say, nothing is known. False: nothing in it can be built. */
bool box_bound(const struct space *sp, const void *lo, const void *hi, void *floor, void *ceiling);

struct boxes_at_work;
struct boxes_at_work *boxes_at_work_new(const struct space *sp, const struct bounds_lattice *l);
void boxes_at_work_free(struct boxes_at_work *w);
/* Does the model bound them at once? */
bool boxes_are_at_once(const struct boxes_at_work *w);
/* As bounds_many. `moved`: also how metrics move. */
void boxes_at_work_run(struct boxes_at_work *w, const uint32_t *const *lo, const uint32_t *const *hi, size_t n, const bool *wanted,
                       bool moved);
/* By metric of the model, then of whether a point is feasible by it (model/many.h). */
const struct graph_moves *boxes_at_work_moves(const struct boxes_at_work *w, size_t i);
/* What box_bound says of box i, and its bounds. */
bool boxes_at_work_possible(struct boxes_at_work *w, size_t i, void **ret_floor, void **ret_ceiling);
/* The parameters that enclose it. */
void boxes_at_work_ends(void *w, int i, const void **ret_lo, const void **ret_hi);

#endif
