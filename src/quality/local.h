/* Inside src/quality: LAD's decoding as a group of shared parameters (dse/local.h). */
#ifndef DSE_QUALITY_LOCAL_H
#define DSE_QUALITY_LOCAL_H

#include <dse/local.h>

/* The place of the point on its surface at this context; `all`: under its bits and scores, too, which errors depend on. NULL, or
 * why it has none. */
const char *local_find(const struct dse_local_of *o, double context, bool all, struct dse_quality_place *ret);

#endif
