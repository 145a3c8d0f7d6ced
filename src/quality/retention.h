/* Building a retention profile from its points; reading one is in <dse/catalog.h>.
 *
 * A profile is made once, by the loader of the catalog, and only read afterwards, from any thread.
 */
#ifndef DSE_QUALITY_RETENTION_H
#define DSE_QUALITY_RETENTION_H

#include "workload/measured.h"
#include "workload/row_fault.h"

#include <stddef.h>

struct retention_point {
    const char *policy;
    double context, ratio;
    struct dse_retained at;
};

enum { RETENTION_RATIOS_MIN = 2 }; /* below 1; with the end at a ratio of 1: the three points of Steffen's method */

/* Make a profile of n points: policy by policy, in each growing contexts, in each of these growing ratios, at least
 * RETENTION_RATIOS_MIN. What is kept at a ratio of 1 (all mass, no error) need not be given. NULL when the points are no profile:
 * then *ret_fault says why, by point and column. The profile starts with its struct dse_entry (name, source and policies are
 * copied); retention_free frees it. */
struct dse_retention *retention_new(const char *name, const char *source, const struct retention_point *points, size_t n,
                                    struct row_fault *ret_fault);
/* Set how the entry was measured. Without this call it counts as measured with the defaults (workload/measured.h). */
void retention_set_measured(struct dse_retention *r, struct dse_measured *m);
void retention_free(struct dse_retention *r);

#endif
