/* Internal to src/sweep: rows of single points of a run that does not store all. */
#ifndef DSE_SWEEP_KEPT_H
#define DSE_SWEEP_KEPT_H

#include "sweep/sweep_internal.h"

/* Sort the points of space m, and store the row of each, once, evaluated on all threads. Counts them in result->done. */
bool sweep_store_points(struct job *job, size_t m, uint64_t *points, size_t n);

#endif
