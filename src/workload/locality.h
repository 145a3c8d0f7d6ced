/* LAD's decoding, functionally exact: what the accelerator computes, step by step, on a head's q, k and v, and the statistics that its
 * cost depends on. Sec. II to IV of the LAD paper; Eq. 4 to 6; Algorithm 1.
 *
 * exp on (-inf, 0] is replaced by linear pieces. The piece that a position's score is in most often is its mode. Six sums over all positions
 * with the coefficients of their modes (A..F) stand for the cache; each step corrects the positions that are outside of their mode.
 */
#ifndef DSE_WORKLOAD_LOCALITY_H
#define DSE_WORKLOAD_LOCALITY_H

#include "base/diag.h"
#include "workload/head.h"

#include <dse/catalog.h>

enum { LOCALITY_INTERVALS_MAX = 16 };

struct locality_options {
    size_t intervals;                     /* 3 to 16 */
    double edges[LOCALITY_INTERVALS_MAX]; /* right edges on score - maximum, growing, the last is 0; the first piece is 0 */
    size_t recent;                        /* newest positions that are always active */
    double collinear;                     /* |cos| above it: one center for both (Algorithm 1) */
    bool exact_scores;                    /* know every interval exactly, instead of through centers and dnorm */
};
extern const struct locality_options locality_defaults; /* the five intervals of Sec. II-B, 16, 0.98 */

/* What one head gives, means over the steps [first, n) that were asked for. */
struct locality_result {
    struct dse_locality at; /* |C|, |M|, |J|, |U|, hit ratio; J without the `recent` newest, which active_with_recent has */
    double active_with_recent;
    double top1, top2;                     /* probability of the most and second most probable interval of a position */
    double false_negative, false_positive; /* share of the positions classed wrongly */
    double output_error;                   /* |o - exact| / |exact|, mean */
    double softmax_mse;                    /* mean squared error of the weights */
};

/* Decode the whole head and average over the steps from `first` on. False with errors (d of 0, no steps, edges that do not grow). */
bool locality_run(const struct head *h, const struct locality_options *o, size_t first, struct locality_result *ret,
                  struct diags *diags);

#endif
