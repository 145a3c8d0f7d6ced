/* `dse profile --kind surface`: every method at its settings, as rows of a quality file. */
#ifndef DSE_CLI_PROFILE_SURFACE_H
#define DSE_CLI_PROFILE_SURFACE_H

#include "cli/profile_options.h"

/* Measure all policies asked for, LAD's decoding, fixed point and the partial softmax at the settings of `o` and, one at a time, at
 * the values of each --vary. `weights`: of each head. The file's text, behind the comments of `head`, into *ret. False with errors. */
bool profile_surface(const struct invocation *in, const struct profile_options *o, const struct measure_plan *plan,
                     const double *weights, const char *head, struct text *ret);

#endif
