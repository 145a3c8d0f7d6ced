/* SwiftKV's single-pass attention in its number formats (Sec. III, Eq. 5 to 10): every key and value is looked at once, with the
 * maximum so far; words of 32 bits in fixed point, the exponential by a table and straight lines (<dse/fixed.h>).
 *
 *     s = q . k / sqrt(d)
 *     s <= m:  b = exp(s - m),  Z = Z + b,      Y = Y + b v
 *     s >  m:  a = exp(m - s),  Z = a Z + 1,    Y = a Y + v,   m = s
 *     at the end o = Y / Z
 *
 * Every value is a word of 32 bits, q_frac_bits of them behind the point: queries, keys and values on the way in (rounded to
 * nearest), each product (Sec. IV-B: FXP32 x FXP32 gives FXP32), sums, Z, Y and the output. A value that does not fit is held at
 * the nearest one that does.
 */
#ifndef DSE_ATTENTION_SINGLE_PASS_H
#define DSE_ATTENTION_SINGLE_PASS_H

#include "attention/head.h"
#include "base/diag.h"

struct single_pass {
    int q_frac_bits; /* 17; 8 to 24 */
    int lut_bits;    /* 5: 32 pieces; 1 to 12, at most q_frac_bits */
    bool truncate;   /* products are cut (rounded down) instead of rounded to nearest */
    bool cut_shift;  /* the shift of the exponential by its whole powers of two cuts what falls out instead of rounding it */
    bool exact_exp;  /* the exponential correctly rounded to the word, instead of table and lines: what the table costs */
};
extern const struct single_pass single_pass_defaults; /* Q15.17, 5 bits, products rounded, the shift cut (as a shifter does) */

enum { SINGLE_PASS_LENGTHS = 32 };

struct single_pass_at {
    size_t steps;
    double output_error, worst_error; /* as below; NaN without steps */
};

struct single_pass_result {
    size_t steps;
    double output_error; /* |o - exact| / |exact|, mean over the steps whose exact output is not 0 */
    double worst_error;
    double absolute_error;                              /* largest |o - exact| of an element, over all steps */
    double max_abs_score;                               /* of the exact scores */
    size_t saturated;                                   /* steps in which a value left the range of 32 bits */
    struct single_pass_at lengths[SINGLE_PASS_LENGTHS]; /* number b: contexts of 2^b to 2^(b+1) - 1 positions */
};

/* Steps [first, n) of a head, those that have q, against exact attention. False with errors: no steps, d of 0 or above 65536, bits
 * out of range. Cost: a few ns a position and element, twice that of exact attention. */
bool single_pass_run(const struct head *h, const struct single_pass *s, size_t first, struct single_pass_result *ret,
                     struct diags *diags);

/* The exponential of x <= 0, rounded to a word on the way in, as the words of single_pass_run have it: table, lines and shift.
 * Requires options in range. Builds its table on each call: for tests and tables, not for loops. */
double single_pass_exp(const struct single_pass *s, double x);

/* The largest relative error of that exponential over every word of one octave, -ln 2 < x <= 0: of table and lines, and of what
 * the words round. Below the octave the lines are the same and the word of the result is rounded the more. */
double single_pass_exp_error(const struct single_pass *s);

#endif
