/* Fixed-point arithmetic of SwiftKV: products on DSPs (E1), the exponential (E12, E13), the rotary embedding (E14, E15). */
#include "swiftkv.h"

#include <dse/fixed.h>
#include <math.h>

/* ---- products -------------------------------------------------------------------------------------------------------------- */

enum { PORT_WIDE = 27, PORT_NARROW = 18 }; /* DSP48E2: AMD UG579 */

/* Pieces that a signed number is cut into for a port: the top one is signed, the others lose the sign bit. */
static int64_t pieces(int64_t bits, int64_t port)
{
    return bits <= port ? 1 : 1 + (bits - port + port - 2) / (port - 1);
}

double swiftkv_product_dsps(int64_t a_bits, int64_t b_bits)
{
    int64_t straight = pieces(a_bits, PORT_WIDE) * pieces(b_bits, PORT_NARROW);
    int64_t crossed = pieces(a_bits, PORT_NARROW) * pieces(b_bits, PORT_WIDE);
    return (double)(straight < crossed ? straight : crossed);
}

/* ---- exponential ----------------------------------------------------------------------------------------------------------- */

static const double ln2 = 0.693147180559945309417;

/* On every step of width h the chord over 2^x is (1 + y (2^h - 1)) / 2^(y h) of it at share y of the step, whatever the step: one
 * maximum serves all. There 1 + y (2^h - 1) = (2^h - 1) / (h ln 2). */
double swiftkv_exp_error(int64_t lut_bits)
{
    double h = 1 / (double)((int64_t)1 << lut_bits);
    double rise = exp2(h) - 1, top = rise / (h * ln2);
    return top * exp2(-h * (top - 1) / rise) - 1;
}

double swiftkv_exp_estimate(int64_t lut_bits)
{
    double h = 1 / (double)((int64_t)1 << lut_bits);
    return h * ln2 * h * ln2 / 8;
}

/* The fraction is in (-1, 0] (Eq. 9): 2^-x for x = i / 2^q_frac_bits. */
double swiftkv_exp_swept(int64_t lut_bits, int64_t q_frac_bits, bool rounded)
{
    int64_t entries = (int64_t)1 << lut_bits, steps = (int64_t)1 << (q_frac_bits - lut_bits);
    double scale = (double)((int64_t)1 << q_frac_bits), h = 1 / (double)entries, worst = 0;
    for (int64_t k = 0; k < entries; k++) {
        struct dse_exp2_piece piece = dse_exp2_piece(lut_bits, q_frac_bits, k);
        double value, slope;
        dse_exp2_chord(lut_bits, k, &value, &slope);
        for (int64_t i = 0; i < steps; i++) {
            double delta = (double)i / scale;
            double y = rounded ? (double)dse_exp2_at(piece, q_frac_bits, i) / scale : value + slope * delta;
            double error = fabs(y * exp2((double)k * h + delta) - 1);
            if (error > worst) worst = error;
        }
    }
    return worst;
}

/* ---- rotary embedding ------------------------------------------------------------------------------------------------------- */

enum { NO_ANGLE_LEFT = 2 }; /* the distance of opposite directions */

/* Constants and results are each off by half a unit in the last place at most, in both components: an update adds at most twice
 * that, and stretches what was there by the error of the constant. */
double swiftkv_rope_bound(int64_t q_frac_bits, double positions)
{
    double each = sqrt(0.5) / (double)((int64_t)1 << q_frac_bits);
    double growth = positions * log1p(each);
    if (growth > 1) return NO_ANGLE_LEFT;
    double bound = 2 * expm1(growth);
    return bound < NO_ANGLE_LEFT ? bound : NO_ANGLE_LEFT;
}

enum { RESYNC = 64 }; /* positions that the reference goes by angle addition in doubles: exact to 1e-13 */

/* One frequency: Eq. 11 in fixed point against the angle itself. */
static double drift(int64_t q_frac_bits, double theta, int64_t positions)
{
    const int64_t one = (int64_t)1 << q_frac_bits, half = one / 2;
    const double scale = 1 / (double)one, exact_cos = cos(theta), exact_sin = sin(theta);
    const int64_t step_cos = llround(exact_cos * (double)one), step_sin = llround(exact_sin * (double)one);
    int64_t c = one, s = 0;
    double x = 1, y = 0, worst = 0; /* the reference; the square of the error */
    for (int64_t n = 1; n <= positions; n++) {
        int64_t next_c = (c * step_cos - s * step_sin + half) >> q_frac_bits;
        s = (s * step_cos + c * step_sin + half) >> q_frac_bits;
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

double swiftkv_rope_simulated(int64_t q_frac_bits, double base, int64_t head_dim, int64_t positions)
{
    double worst = 0;
    for (int64_t i = 0; i < head_dim / 2; i++) {
        double theta = pow(base, -2 * (double)i / (double)head_dim);
        worst = fmax(worst, drift(q_frac_bits, theta, positions));
    }
    return worst;
}
