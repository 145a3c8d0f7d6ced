/* Kept sets of any method, from a CSV: which positions a step reads, for each layer and head. So a method that dse does not know is
 * measured without code (measure_kept).
 *
 *     layer,head,step,kept
 *     0,0,511,0-3 17 480-511
 *
 * Layers and heads are the model's, as the trace numbers them. A step is the position whose query it is, from 0, so `kept` has
 * positions from 0 to step, growing: single ones and ranges, both ends included. What is not in it is not read, the step's own
 * position as well. Rows come in any order; every head of the trace has the same steps. Lines that begin with '#' are comments.
 */
#ifndef DSE_ATTENTION_KEPT_SETS_H
#define DSE_ATTENTION_KEPT_SETS_H

#include "attention/trace.h"
#include "base/diag.h"

#include <stdint.h>

struct kept_range {
    uint32_t first, last;
};

struct kept_sets;

/* Read a file for a trace. NULL with an error at its line and column: no such layer, head or step in the trace, a step twice, a
 * step that one head has and another has not, positions of the future, or that do not grow. Free with kept_sets_free. */
struct kept_sets *kept_sets_read(const char *path, const struct trace_info *info, struct diags *diags);
void kept_sets_free(struct kept_sets *k);

/* The steps that every head has, growing. */
const uint32_t *kept_sets_steps(const struct kept_sets *k, size_t *ret_n);
/* What the head (counted within the trace) of a layer (the model's number) reads at the i-th step. Valid as long as k. NULL when
 * the file has no such head. */
const struct kept_range *kept_sets_at(const struct kept_sets *k, size_t layer, size_t head, size_t i, size_t *ret_n);

#endif
