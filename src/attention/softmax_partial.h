/* FlashDecoding++'s asynchronous softmax, carried out (Sec. 3, Eq. 4): attention of every step of a head in fp32, partial vector
 * by partial vector, against exact attention. A partial vector adds exp(x - phi) and exp(x - phi) v by itself; what it added is
 * added up at the end. A vector with a score outside of the range is computed with the synchronized scheme: every partial vector
 * with the maximum so far, earlier ones rescaled (FlashAttention).
 *
 * Scores are exact before they become fp32: what is measured is the softmax, not the product of queries and keys.
 */
#ifndef DSE_ATTENTION_SOFTMAX_PARTIAL_H
#define DSE_ATTENTION_SOFTMAX_PARTIAL_H

#include "attention/head.h"
#include "attention/softmax_range.h"
#include "base/diag.h"

/* In what the terms exp(x - phi) and the sums of them and of their values are held. Scores, exponentials and the division are fp32
 * in all of them. */
enum softmax_held {
    SOFTMAX_FP32,
    SOFTMAX_MIXED, /* terms in fp16, sums in fp32: fp16 matrix units that add up in fp32 */
    SOFTMAX_FP16,  /* every sum is rounded to fp16, too */
};
extern const char *const softmax_held_names[]; /* "fp32", "mixed", "fp16", NULL */

struct softmax_partial {
    struct softmax_range range;
    size_t part;  /* scores in a partial vector */
    int32_t held; /* enum softmax_held */
};

/* Differences are absolute, as the paper's (Sec. 6.2: 99.7 % of the outputs below 1e-2, all below 1e-1, in fp16). */
struct softmax_partial_result {
    size_t vectors, recomputed;
    size_t lost;         /* vectors whose sum came out 0 or not finite: the range let them through; in no difference below */
    size_t fp16_terms;   /* vectors with a term exp(x - phi) above 65504 = e^11.09, what fp16 holds */
    size_t fp16_sums;    /* vectors with a partial sum above it: why partial sums are fp32 */
    double weight_error; /* largest difference of a weight */
    double output_error; /* largest difference of an element of the output */
    double mean_output_error;
    size_t steps;                    /* vectors that are not lost and whose exact output is not 0 */
    double attention_error;          /* |o - exact| / |exact|, mean over them; NaN without any */
    double within_1e_2, within_1e_1; /* shares of the elements of the output that differ by less */
};

/* Steps [first, n) of a head. False with an error: no steps, no range, partial vectors of 0. Cost: as exact attention. */
bool softmax_partial_run(const struct head *h, const struct softmax_partial *p, size_t first, struct softmax_partial_result *ret,
                         struct diags *diags);

#endif
