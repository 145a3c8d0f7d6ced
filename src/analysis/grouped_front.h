/* A front for each of many groups of points: for each workload, say. Points of different groups do not dominate each other. */
#ifndef DSE_ANALYSIS_GROUPED_FRONT_H
#define DSE_ANALYSIS_GROUPED_FRONT_H

#include "analysis/front.h"

struct grouped_front;

/* The same as front_new, for a front in each group. */
struct grouped_front *grouped_front_new(int m, const bool *maximise);
void grouped_front_free(struct grouped_front *g);
/* The same as front_add, for the group of that key ("" if there is only one). */
void grouped_front_add(struct grouped_front *g, const char *key, uint64_t id, const double *values);
/* The ids on the fronts of all groups, ascending; the array belongs to g. Returns how many. *ret_hypervolume (may be NULL): the
 * share that a front dominates of the box between the best and the worst of each objective over all points of its group, the mean
 * over the groups; NaN for one objective, and where it would take long (above three objectives with thousands of points). */
size_t grouped_front_finish(struct grouped_front *g, const uint64_t **ret_ids, double *ret_hypervolume);
size_t grouped_front_groups(const struct grouped_front *g);

#endif
