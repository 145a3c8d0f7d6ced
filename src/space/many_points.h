/* Internal to src/space: points of a space that are evaluated at once (model/many.h). One thread has one. */
#ifndef DSE_SPACE_MANY_POINTS_H
#define DSE_SPACE_MANY_POINTS_H

#include "model/many.h"
#include "space/space_internal.h"

struct many_at_work;
enum { MANY_POINTS_MIN = 8 }; /* fewer are evaluated one by one */

/* NULL: the model cannot, or the space has too many axes. */
struct many_at_work *many_at_work_new(const struct space *sp);
void many_at_work_free(struct many_at_work *w);

/* So many points, from `first` on, at these digits of the grid (NULL: a sample's); run. `wanted`: by metric, as struct many_points;
 * it lives as long as w. */
void many_at_work_run(struct many_at_work *w, uint64_t first, size_t n, const uint64_t *digits, const bool *wanted);
/* The same of any points of a grid, by their numbers, which stay until the next run. */
void many_at_work_run_points(struct many_at_work *w, const uint64_t *points, size_t n, const bool *wanted);
/* The parameters of point i, resolved. */
const void *many_at_work_params(struct many_at_work *w, size_t i);
/* Its cells of parameters, which stand first in a row. Returns how many there are. */
size_t many_at_work_cells(struct many_at_work *w, size_t i, union cell *cells);
/* Why check() refuses point i, or NULL and its metrics. */
const char *many_at_work_reason(const struct many_at_work *w, size_t i);
void *many_at_work_metrics(const struct many_at_work *w, size_t i);
/* A number below n that is the same for points of which stand() says the same. */
size_t many_at_work_standing(struct many_at_work *w, size_t i);

#endif
