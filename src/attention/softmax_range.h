/* How far scores reach: what FlashDecoding++'s asynchronous softmax lives on (Sec. 3). A vector is the scores of one step (over
 * its context). With a unified maximum phi every term is exp(x - phi), and partial vectors need not wait for each other's
 * maximum; a vector with a score outside of (low, high) around phi is computed anew, with the maximum.
 *
 * Two ways to ask:
 * - softmax_range_count: one range, every score compared with it. Finished by softmax_range_finish.
 * - softmax_spread: a histogram of the scores.
 *
 * Both take the time of the scores: n^2 d / 2 multiply-adds a head.
 */
#ifndef DSE_ATTENTION_SOFTMAX_RANGE_H
#define DSE_ATTENTION_SOFTMAX_RANGE_H

#include "attention/head.h"
#include "base/diag.h"

#include <stdint.h>

struct softmax_range {
    double phi, low, high; /* low < x - phi < high; either may be infinite */
};

/* The range of Llama-2 7B: -16.8 < x < 6.5 holds for more than 99.99 % of the scores (Sec. 3, Fig. 4). */
extern const struct softmax_range softmax_range_llama2_7b;

enum { SOFTMAX_LENGTHS = 32 };
/* Vectors are counted by length: number b has those of 2^b to 2^(b+1) - 1 scores. Requires length > 0. */
size_t softmax_length_class(size_t length);

struct softmax_range_share {
    size_t vectors, scores;
    double outside;    /* share of the scores outside */
    double recomputed; /* share of the vectors with a score outside */
};

struct softmax_range_result {
    size_t vectors, scores;
    double outside, recomputed; /* as in softmax_range_share, over all lengths */
    double min, max;            /* of x */
    struct softmax_range_share lengths[SOFTMAX_LENGTHS];
};

/* Count over the steps [first, n) of a head, adding to *ret (zeroed before the first head). False with an error, and *ret as it
 * was: no steps, low is not below high, phi is not finite. */
bool softmax_range_count(const struct head *h, const struct softmax_range *r, size_t first, struct softmax_range_result *ret,
                         struct diags *diags);
/* Add what was counted elsewhere. Neither of the two must be finished. */
void softmax_range_merge(struct softmax_range_result *to, const struct softmax_range_result *from);
/* Turn counts into shares, which are NaN for a length without vectors. */
void softmax_range_finish(struct softmax_range_result *r);

/* ---- the spread of many vectors --------------------------------------------------------------------------------------------- */

struct softmax_spread {
    uint64_t *bins; /* of scores, SOFTMAX_BINS_PER_UNIT in one unit; scores beyond the ends are in the last bins */
    uint64_t scores;
};
enum { SOFTMAX_BINS_PER_UNIT = 100, SOFTMAX_BINS_REACH = 256 }; /* -256 to 256 */

void softmax_spread_init(struct softmax_spread *s);
void softmax_spread_release(struct softmax_spread *s);
/* Add the steps [first, n) of a head. False with an error, and nothing added, when there are none. */
bool softmax_spread_add(struct softmax_spread *s, const struct head *h, size_t first, struct diags *diags);

#endif
