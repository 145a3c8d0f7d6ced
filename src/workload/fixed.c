#include <dse/fixed.h>

#include <math.h>

void dse_exp2_chord(int64_t lut_bits, int64_t k, double *ret_value, double *ret_slope)
{
    double h = 1 / (double)((int64_t)1 << lut_bits);
    *ret_value = exp2(-(double)k * h);
    *ret_slope = (exp2(-(double)(k + 1) * h) - *ret_value) / h;
}

struct dse_exp2_piece dse_exp2_piece(int64_t lut_bits, int64_t frac_bits, int64_t k)
{
    double value, slope, one = (double)((int64_t)1 << frac_bits);
    dse_exp2_chord(lut_bits, k, &value, &slope);
    return (struct dse_exp2_piece){.value = llround(value * one), .slope = llround(slope * one)};
}

int64_t dse_exp2_at(struct dse_exp2_piece piece, int64_t frac_bits, int64_t delta)
{
    return piece.value + ((piece.slope * delta) >> frac_bits); /* >> rounds down: gcc and clang shift the sign in */
}
