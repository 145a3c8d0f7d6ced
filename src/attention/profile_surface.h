/* `dse profile --kind surface`: every method at its settings, as rows of a quality file. */
#ifndef DSE_ATTENTION_PROFILE_SURFACE_H
#define DSE_ATTENTION_PROFILE_SURFACE_H

#include "attention/profile_options.h"
#include "attention/surface.h"

/* Measure all policies asked for, LAD's decoding, fixed point and the partial softmax at the settings of `o` and at the values of
 * each --vary. p has the plan and its heads; the rest is filled from `o`. The file's text, behind the comments of `head`, into
 * *ret. False with errors. */
bool profile_surface(const struct invocation *in, const struct profile_options *o, struct surface_plan *p, const char *head,
                     struct text *ret);

#endif
