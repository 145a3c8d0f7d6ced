/* What a sweep says of itself before it runs, for the notices of its front (store/notices.h). */
#ifndef DSE_SWEEP_COMPARED_H
#define DSE_SWEEP_COMPARED_H

#include "space/space.h"

/* run.axis_ends: the ends of the axes of numbers with at least three values; lengths of requests are the question, no design.
 * NULL: there are none. The caller frees it. */
char *sweep_axis_ends(const struct sweep_file *s);

/* run.unequal: the parameters that several models have, that the sweep gives to some or none of them, and that have other values
 * in each. Left out are those that only the event level reads, unless the sweep is at event level, what follows from a
 * catalog's entry that is told of itself, and what moves no metric here (space/idle.h). NULL: there are none. The caller frees
 * it. */
char *sweep_unequal_defaults(const struct sweep_file *s, struct space *const *spaces);

#endif
