/* Building a recording from its rows; reading one is in <dse/catalog.h>.
 *
 * A recording is made once, by the loader of the catalog, and only read afterwards, from any thread.
 */
#ifndef DSE_QUALITY_RECORDING_H
#define DSE_QUALITY_RECORDING_H

#include "workload/measured.h"
#include "workload/row_fault.h"

#include <stddef.h>

/* A step of a head. `step` counts the positions with the new one: the last step of each context is the context. */
struct recording_row {
    double context, head, step;
    struct dse_recorded at;
};

/* Make a recording of n rows: context by context, growing; in each all heads, numbered from 0; of each head the same number of
 * steps, one after the other, the last at the context. NULL when the rows are none: then *ret_fault says why, by row and column.
 * The recording starts with its struct dse_entry (name and source are copied); recording_free frees it. */
struct dse_recording *recording_new(const char *name, const char *source, const struct recording_row *rows, size_t n,
                                    struct row_fault *ret_fault);
/* Set how the entry was measured. Without this call it counts as measured with the defaults (workload/measured.h). */
void recording_set_measured(struct dse_recording *r, struct dse_measured *m);
void recording_free(struct dse_recording *r);

#endif
