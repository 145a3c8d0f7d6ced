/* Fixed-point arithmetic that models and functional experiments share: 2^x by a table and straight lines, SwiftKV's exponential
 * (Eq. 9, Eq. 10).
 *
 * The exponential of x <= 0 is 2^(x log2 e) = 2^-i 2^-f with a whole i >= 0 and f in [0, 1). The first lut_bits of f choose a
 * piece, the others are how far into it: value - slope * delta, in frac_bits fraction bits; 2^-i is a shift.
 */
#ifndef DSE_FIXED_H
#define DSE_FIXED_H

#include <stdbool.h>
#include <stdint.h>

/* One of the 2^lut_bits chords over 2^-f: from 2^-(k h) at f = k h on, h = 2^-lut_bits. Units of 2^-frac_bits, rounded to nearest.
 */
struct dse_exp2_piece {
    int64_t value, slope; /* the slope is negative: a change a unit of f */
};

/* Piece k of 2^lut_bits. Requires 0 <= k < 2^lut_bits, lut_bits <= frac_bits <= 30. Pure. */
struct dse_exp2_piece dse_exp2_piece(int64_t lut_bits, int64_t frac_bits, int64_t k);
/* The piece at `delta` units of 2^-frac_bits behind its left end, rounded down. Requires 0 <= delta <= 2^(frac_bits - lut_bits). */
int64_t dse_exp2_at(struct dse_exp2_piece piece, int64_t frac_bits, int64_t delta);
/* The largest relative error of 2^-x over all x = i / 2^frac_bits in [0, 1), by trying them. `rounded`: table, slopes and
 * result are * kept in frac_bits; else they are doubles. Cost: one exp2 an argument. Requires lut_bits <= frac_bits <= 30. */
double dse_exp2_swept(int64_t lut_bits, int64_t frac_bits, bool rounded);

/* The worst error of (cos, sin) up to so many positions, where each position's angles are made of those before by angle
 * addition in * fixed point: over the head_dim / 2 frequencies of a rotary embedding. 2 at most, where no angle is left. Cost:
 * a few ns a position * and frequency. */
double dse_rotation_drift(int64_t frac_bits, double base, int64_t head_dim, int64_t positions);

#endif
