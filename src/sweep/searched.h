/* A sweep with [search] as a run of its database: of each model, and each combination of the values of `per`, one search, and the
 * rows of the points that it has evaluated, or of those that `keep` says.
 *
 * A search that is interrupted stores its front so far, and the next call searches again from the start: it comes to the same
 * points.
 */
#ifndef DSE_SWEEP_SEARCHED_H
#define DSE_SWEEP_SEARCHED_H

#include "sweep/sweep.h"

/* Run it as sweep_run does. */
bool searched_run(const struct sweep_file *s, const struct sweep_options *options, struct sweep_result *ret, struct diags *diags);

#endif
