/* Building an attention profile from its points; reading one is in <dse/catalog.h>.
 *
 * A profile is made once, by the loader of the catalog, and only read afterwards, from any thread.
 */
#ifndef DSE_QUALITY_PROFILE_H
#define DSE_QUALITY_PROFILE_H

#include "workload/measured.h"
#include "workload/row_fault.h"

#include <stddef.h>

enum { PROFILE_POINTS_MIN = 3 }; /* Steffen's method wants three points */

/* Make a profile of n points, at least PROFILE_POINTS_MIN, at contexts context[0..n), which must grow. NULL when the points are
 * no profile: then *ret_fault says why, by point and column ("context 512 does not grow"). The profile starts with its struct
 * dse_entry (name and source are copied); the caller frees it with profile_free. */
struct dse_profile *profile_new(const char *name, const char *source, const double *context, const struct dse_locality *points,
                                size_t n, struct row_fault *ret_fault);
/* Add what LAD's decoding loses at the same contexts: n points, as many as the profile has. False when they are none: *ret_fault
 * as above. */
bool profile_add_errors(struct dse_profile *p, const struct dse_locality_error *errors, struct row_fault *ret_fault);
/* Set how the entry was measured. Without this call it counts as measured with the defaults (workload/measured.h). */
void profile_set_measured(struct dse_profile *p, struct dse_measured *m);
void profile_free(struct dse_profile *p);

/* What else a measured profile says of its heads' scores; models do not see it. */
struct profile_scores {
    double false_positive;         /* share of the positions read in vain */
    double top1, top1_plus_top2;   /* probability of a position's most probable interval; of its two */
    double softmax_mse, lines_mse; /* mean squared errors of the weights: in LAD's decoding; of the linear pieces alone */
};
/* Add them: n points, as many as the profile has. False when they are none: *ret_fault as above. */
bool profile_add_scores(struct dse_profile *p, const struct profile_scores *scores, struct row_fault *ret_fault);
bool profile_has_scores(const struct dse_profile *p);
/* The scores of one of the contexts that were measured, without interpolation. False, and *ret untouched, at any other context and
 * for a profile without scores. */
bool profile_scores_at(const struct dse_profile *p, double context, struct profile_scores *ret);
/* The contexts of the points, in ascending order. */
const double *profile_contexts(const struct dse_profile *p, size_t *ret_n);

#endif
