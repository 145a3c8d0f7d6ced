#include <dse/fixed.h>

#include <math.h>

/* The ends of a piece before rounding: 2^-(k h) and the slope. */
static void chord_of(int64_t lut_bits, int64_t k, double *ret_value, double *ret_slope)
{
    double h = 1 / (double)((int64_t)1 << lut_bits);
    *ret_value = exp2(-(double)k * h);
    *ret_slope = (exp2(-(double)(k + 1) * h) - *ret_value) / h;
}

struct dse_exp2_piece dse_exp2_piece(int64_t lut_bits, int64_t frac_bits, int64_t k)
{
    double value, slope, one = (double)((int64_t)1 << frac_bits);
    chord_of(lut_bits, k, &value, &slope);
    return (struct dse_exp2_piece){.value = llround(value * one), .slope = llround(slope * one)};
}

int64_t dse_exp2_at(struct dse_exp2_piece piece, int64_t frac_bits, int64_t delta)
{
    return piece.value + ((piece.slope * delta) >> frac_bits); /* >> rounds down: gcc and clang shift the sign in */
}

double dse_exp2_swept(int64_t lut_bits, int64_t frac_bits, bool rounded)
{
    int64_t entries = (int64_t)1 << lut_bits, steps = (int64_t)1 << (frac_bits - lut_bits);
    double scale = (double)((int64_t)1 << frac_bits), h = 1 / (double)entries, worst = 0;
    for (int64_t k = 0; k < entries; k++) {
        struct dse_exp2_piece piece = dse_exp2_piece(lut_bits, frac_bits, k);
        double value, slope;
        chord_of(lut_bits, k, &value, &slope);
        for (int64_t i = 0; i < steps; i++) {
            double delta = (double)i / scale;
            double y = rounded ? (double)dse_exp2_at(piece, frac_bits, i) / scale : value + slope * delta;
            double error = fabs(y * exp2((double)k * h + delta) - 1);
            if (error > worst) worst = error;
        }
    }
    return worst;
}

/* ---- rotations ----------------------------------------------------------------------------------------------------------- */

enum { NO_ANGLE_LEFT = 2 }; /* the distance of opposite directions */
enum { RESYNC = 64 };       /* positions that the reference goes by angle addition in doubles: exact to 1e-13 */

/* One frequency: angle addition in fixed point against the angle itself. */
static double drift(int64_t frac_bits, double theta, int64_t positions)
{
    const int64_t one = (int64_t)1 << frac_bits, half = one / 2;
    const double scale = 1 / (double)one, exact_cos = cos(theta), exact_sin = sin(theta);
    const int64_t step_cos = llround(exact_cos * (double)one), step_sin = llround(exact_sin * (double)one);
    int64_t c = one, s = 0;
    double x = 1, y = 0, worst = 0; /* the reference; the square of the error */
    for (int64_t n = 1; n <= positions; n++) {
        int64_t next_c = (c * step_cos - s * step_sin + half) >> frac_bits;
        s = (s * step_cos + c * step_sin + half) >> frac_bits;
        c = next_c;
        if (c > 2 * one || c < -2 * one || s > 2 * one || s < -2 * one) return NO_ANGLE_LEFT;
        double next_x = x * exact_cos - y * exact_sin;
        y = y * exact_cos + x * exact_sin;
        x = next_x;
        if (n % RESYNC == 0) {
            x = cos(theta * (double)n);
            y = sin(theta * (double)n);
        }
        double dx = (double)c * scale - x, dy = (double)s * scale - y, error = dx * dx + dy * dy;
        if (error > worst) worst = error;
    }
    return fmin(sqrt(worst), NO_ANGLE_LEFT);
}

double dse_rotation_drift(int64_t frac_bits, double base, int64_t head_dim, int64_t positions)
{
    double worst = 0;
    for (int64_t i = 0; i < head_dim / 2; i++) {
        double theta = pow(base, -2 * (double)i / (double)head_dim);
        worst = fmax(worst, drift(frac_bits, theta, positions));
    }
    return worst;
}
