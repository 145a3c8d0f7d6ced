/* Internal to src/search: what boxes that are still open can add to a front. */
#ifndef DSE_SEARCH_MISSING_H
#define DSE_SEARCH_MISSING_H

#include "search/archive.h"

/* The hypervolume that points with the costs of the boxes, n of them, would add to that of the archive's members, as a share of the
 * box between the best and the worst of each objective over these. NaN: unknown, where a cost of a box is -INFINITY or a side of
 * that box is 0, or where it would take long (four objectives and more, and many points). */
double missing_hypervolume(const struct archive *a, size_t objectives, const double *const *boxes, size_t n);

#endif
