/* Numbers in fixed point. */
#include "graph/primitive_internal.h"

#include <dse/fixed.h>
#include <dse/linear_exp.h>

static bool is_whole(double x, double least, double most)
{
    return x >= least && x <= most && x == floor(x);
}

/* Of a table of 2^a[0] lines, in a[1] fraction bits: before rounding, and with it. */
POINT(exp2_swept)
{
    enum { BITS_MOST = 24 };
    (void)g;
    const bool ok = is_whole(a[0], 0, BITS_MOST) && is_whole(a[1], a[0], BITS_MOST);
    for (int i = 0; i < 2; i++) ret[i] = ok ? dse_exp2_swept((int64_t)a[0], (int64_t)a[1], i == 1) : (double)NAN;
}

/* In a[0] fraction bits, of the angles of the base a[1] over a[2] elements, after a[3] positions. */
POINT(rotation)
{
    const double bits = 24, elements = 1e5, positions = 1e7;
    (void)g;
    const bool ok = is_whole(a[0], 1, bits) && a[1] > 1 && is_whole(a[2], 0, elements) && is_whole(a[3], 0, positions);
    ret[0] = ok ? dse_rotation_drift((int64_t)a[0], a[1], (int64_t)a[2], (int64_t)a[3]) : (double)NAN;
}

/* Of a[0] intervals, a[1] scores of deviation a[2]. */
POINT(softmax_pieces)
{
    (void)g;
    const bool ok = is_whole(a[0], 2, DSE_PIECES_MAX) && is_whole(a[1], 1, positions_most) && a[2] > 0;
    ret[0] = ok ? dse_softmax_pieces_mse((int64_t)a[0], a[1], a[2]) : (double)NAN;
}
