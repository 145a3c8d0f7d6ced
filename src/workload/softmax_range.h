/* How far scores reach: what FlashDecoding++'s asynchronous softmax lives on. A vector is the scores of one step (over its context). With a
 * unified maximum phi every term is exp(x - phi); a vector with a score outside of (low, high) around phi is computed anew.
 */
#ifndef DSE_WORKLOAD_SOFTMAX_RANGE_H
#define DSE_WORKLOAD_SOFTMAX_RANGE_H

#include "base/diag.h"
#include "workload/head.h"

struct softmax_range {
    double phi, low, high; /* low < x - phi < high */
};

struct softmax_range_result {
    size_t vectors, scores;
    double outside;    /* share of the scores outside */
    double recomputed; /* share of the vectors with a score outside */
    double min, max;   /* of x */
};

/* Count over the steps [first, n) of a head, adding to *ret (zeroed before the first head). */
bool softmax_range_count(const struct head *h, const struct softmax_range *r, size_t first, struct softmax_range_result *ret,
                         struct diags *diags);
/* Finish: counts become shares. */
void softmax_range_finish(struct softmax_range_result *r);

#endif
