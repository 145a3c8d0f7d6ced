/* What every row must satisfy, whatever the model and the fidelity: metrics are finite, but for those that may be NULL; shares of
 * a peak are at most 1; the parts of a breakdown are what they claim to be and add up to the metrics. A model that breaks it has
 * a bug: its numbers are an error, never a row.
 */
#ifndef DSE_MODEL_ROW_CHECK_H
#define DSE_MODEL_ROW_CHECK_H

#include <dse/model.h>

/* What the rows of one model are checked for. It is made once and never changes. */
struct row_check;
struct row_check *row_check_new(const struct dse_model *m);
void row_check_free(struct row_check *c);
const struct dse_model *row_check_model(const struct row_check *c);

/* NULL, or what these metrics break: "dram_utilization is 1.25, and a share of the peak is at most 1". The caller frees it.
 * breakdown may be NULL. About a nanosecond a metric where all is well. */
char *row_check_run(const struct row_check *c, const void *metrics, const struct dse_breakdown *breakdown);

#endif
