/* LAD's decoding, functionally exact: what the accelerator computes, step by step, on a head's q, k and v, and the statistics
 * that its cost depends on. Sec. II to IV of the LAD paper; Eq. 4 to 6; Algorithm 1.
 *
 * exp on (-inf, 0] is replaced by linear pieces (dse/linear_exp.h). The piece that a position's score was in most often is its
 * mode. Six sums over all positions with the coefficients of their modes (A..F, locality_caches.h) stand for the cache; each step
 * corrects the positions that are outside of their mode: the active set J. A position changes its mode when another piece's count
 * becomes larger: the update set U. The newest `recent` positions are outside of the caches and computed one by one.
 *
 * Which positions are active is found from scores by way of directional centers (locality_centers.h), exact only for the set M:
 * positions whose mode is one of the two pieces nearest 0. A position outside of its mode that is not found (false negative) is
 * computed with the line of its mode, and counted for it; one that is found in vain (false positive) is read and corrected by 0.
 * The maximum is that of the scores known then: exact for M and the newest, approximate for the others. With exact_scores all are
 * exact.
 *
 * Step by step: locality_new, locality_step for every position from the first on, locality_free. Over a whole head: locality_run,
 * which is built on it and measures against exact attention.
 */
#ifndef DSE_ATTENTION_LOCALITY_H
#define DSE_ATTENTION_LOCALITY_H

#include "attention/head.h"
#include "base/diag.h"

#include <dse/catalog.h>
#include <dse/linear_exp.h>

enum { LOCALITY_INTERVALS_MAX = DSE_PIECES_MAX };

struct locality_options {
    size_t intervals;                     /* 3 to 16 */
    double edges[LOCALITY_INTERVALS_MAX]; /* right edges on score - maximum, growing, the last is 0; the first piece is 0 */
    size_t recent;                        /* newest positions that are always active; at least 1 */
    double collinear;                     /* |cos| above it: one center for both (Algorithm 1); 0 to 1 */
    bool exact_scores;                    /* know every interval exactly, instead of through centers and dnorm */
    const struct dse_pieces *lines;       /* slopes and offsets of the pieces, borrowed by locality_new; NULL: dse_pieces_init's */
};
extern const struct locality_options locality_defaults; /* the five intervals of Sec. II-B, 16, 0.98 */

struct locality;

/* A decoder of one head with keys and values of d elements. NULL with errors (d of 0, edges that do not grow). */
struct locality *locality_new(size_t d, const struct locality_options *o, struct diags *diags);
void locality_free(struct locality *l);

/* One position of the set J of active positions. */
struct locality_active {
    size_t position;
    double score;       /* exact */
    unsigned interval;  /* it is in */
    unsigned mode;      /* before the step: equal to interval for a false positive */
    bool kept, updated; /* was active in the step before; is in U: its mode is `interval` from now on */
};

/* What one step did. Sizes are of its sets; J, M and U hold none of the newest positions. */
struct locality_step {
    size_t positions;                     /* with the new one */
    size_t cached;                        /* in the caches: positions 0..cached-1, all but the newest */
    size_t centers, large, updates;       /* |C| with the new key, |M|, |U| */
    const struct locality_active *active; /* J by position; valid until the next step */
    size_t n_active, n_kept;              /* |J|; of it, those that were active in the step before */
    double maximum;                       /* m of Eq. 3 */
    double denominator;                   /* of Eq. 4 */
};

/* Decode one token: its q, k and v (after rotary embedding, d each, finite and at most LOCALITY_VALUE_MAX in magnitude) to its
 * output. When wrong intervals leave no positive denominator, the output is zeros. ret may be NULL. */
#define LOCALITY_VALUE_MAX 1e15
void locality_step(struct locality *l, const float *q, const float *k, const float *v, double *output, struct locality_step *ret);

/* What one head gives, means over the steps [first, n) that were asked for. */
struct locality_result {
    struct dse_locality at; /* |C|, |M|, |J|, |U|, hit ratio; J without the `recent` newest. The hit ratio is the mean of |J and J
                                  before| / |J| over the steps with a J, 0 when none has one */
    double active_with_recent; /* |J| with them */
    double kept;               /* |J and J before| */
    double steps_with_active;  /* share of the steps with a J */
    double centers_at_end;     /* |C| after the last step */
    double top1, top2; /* probability of the most and second most probable interval of a position over all its steps, mean over the
                          positions that are in the caches in the last step */
    double missed, in_vain;                /* positions outside of their mode not found by way of the centers; found, but inside */
    double false_negative, false_positive; /* the same as shares of the cached positions */
    double output_error;                   /* |o - exact| / |exact| */
    double softmax_mse;                    /* mean squared error of the weights */
    double lines_mse;                      /* that of softmax with the lines alone: every score known, in its right interval */
    double failed;                         /* share of the steps without a positive denominator; their output is 0 */
};

/* Decode the whole head and average over the steps from `first` on. With exact_scores, intervals, counters and output are exact
 * and the false shares say what the centers would have got wrong in each step. False with errors (d of 0, no steps, edges that do
 * not grow, values that are not finite). */
bool locality_run(const struct head *h, const struct locality_options *o, size_t first, struct locality_result *ret,
                  struct diags *diags);

/* Decode the whole head; what each of the steps from `first` on did, into ret[0 .. n - first), counted as in a profile: the
 * newest positions are active and the one that leaves them is an update. Their means are those of locality_profile_point from the
 * first step on that has more positions than `recent`. Errors as locality_run. */
bool locality_record(const struct head *h, const struct locality_options *o, size_t first, struct dse_recorded *ret,
                     struct diags *diags);

/* The lines that are nearest to exp in the mean square over the scores of this head, of all steps, for options.lines.
 * dse_pieces_init's are those for scores that are spread evenly over each interval. GSL's weighted fit of 128 bins an interval. */
bool locality_fit(const struct head *h, const struct locality_options *o, struct dse_pieces *ret, struct diags *diags);

/* Do these options make sense; has the head steps from `first` on, and finite values? False with an error. */
bool locality_check(size_t d, const struct locality_options *o, struct diags *diags);
bool locality_check_head(const struct head *h, size_t first, struct diags *diags);

/* The result as a point of an attention profile (dse/catalog.h, catalog/profiles/): the newest positions count as active, the one
 * that leaves them counts as an update, and the hit ratio is over all of them. */
struct dse_locality locality_profile_point(const struct locality_result *r, size_t recent);

#endif
