/* Building an attention profile from its points; reading one is in <dse/catalog.h>.
 *
 * A profile is made once, by the loader of the catalog, and only read afterwards, from any thread.
 */
#ifndef DSE_WORKLOAD_PROFILE_H
#define DSE_WORKLOAD_PROFILE_H

#include <dse/catalog.h>

#include <stddef.h>

/* Make a profile of n points at contexts context[0..n), which must grow. NULL when the points are no profile: then *ret_why says why,
 * naming the point ("point 3: context 512 does not grow"), and the caller frees it. The profile starts with its struct dse_entry (name
 * and source are copied); the caller frees it with profile_free. */
struct dse_profile *profile_new(const char *name, const char *source, const double *context, const struct dse_locality *points,
                                size_t n, char **ret_why);
/* Add what LAD's decoding loses at the same contexts: n points, as many as the profile has. False when they are none: *ret_why as above. */
bool profile_add_errors(struct dse_profile *p, const struct dse_locality_error *errors, char **ret_why);
void profile_free(struct dse_profile *p);

#endif
