/* SwiftKV's single-pass attention in its number formats: fixed point with q_frac_bits, exponential by table and interpolation.
 */
#ifndef DSE_WORKLOAD_SINGLE_PASS_H
#define DSE_WORKLOAD_SINGLE_PASS_H

#include "base/diag.h"
#include "workload/head.h"

struct single_pass {
    int q_frac_bits, lut_bits; /* 17, 5 */
};

struct single_pass_result {
    double output_error; /* |o - exact| / |exact|, mean over the steps */
    double worst_error;
    double max_abs_score;
    size_t saturated; /* steps in which a value left the range of 32 bits */
};

/* Steps [first, n) of a head against exact attention. */
bool single_pass_run(const struct head *h, const struct single_pass *s, size_t first, struct single_pass_result *ret,
                     struct diags *diags);

#endif
