/* The kernel of attention against the same sums on the host, in double: one that is fast because it skips work would be a wrong
 * measurement. */
#include "base/xalloc.h"
#include "measure/cuda_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double TOLERANCE = 4e-3; /* of values up to 1: probabilities and results are rounded to fp16 */

static double of_fp16(uint16_t h)
{
    const int exponent = h >> 10 & 31, mantissa = h & 1023;
    const double v = exponent == 31 ? (double)NAN : exponent == 0 ? ldexp(mantissa, -24) : ldexp(1024 + mantissa, exponent - 25);
    return h & 0x8000 ? -v : v;
}

/* Attention of one query head over positions whose rows are `step` apart. */
static void attend(const struct meter_point *p, const uint16_t *q, const uint16_t *k, const uint16_t *v, size_t step, double *ret)
{
    const size_t dim = (size_t)p->head_dim, n = (size_t)p->context;
    double *w = xcalloc(n, sizeof *w), top = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < dim; c++) w[i] += of_fp16(q[c]) * of_fp16(k[i * step + c]);
        w[i] /= sqrt((double)dim);
        top = fmax(top, w[i]);
    }
    for (size_t c = 0; c < dim; c++) ret[c] = 0;
    for (size_t i = 0; i < n; i++) {
        const double share = exp(w[i] - top);
        sum += share;
        for (size_t c = 0; c < dim; c++) ret[c] += share * of_fp16(v[i * step + c]);
    }
    for (size_t c = 0; c < dim; c++) ret[c] /= sum;
    free(w);
}

static uint16_t *fetch(struct cuda_device *d, int buffer, size_t numbers)
{
    uint16_t *list = xcalloc(numbers, sizeof *list);
    if (cuda_ok(d, d->lib.driver.to_host(list, d->buffers[buffer], numbers * sizeof *list), "reading memory of the GPU"))
        return list;
    free(list);
    return NULL;
}

/* Largest difference over all heads of a prepared point; NaN with d->base.reason. */
static double largest_difference(struct cuda_device *d)
{
    const struct meter_point *p = &d->point;
    const size_t rows = (size_t)(p->batch * p->heads), dim = (size_t)p->head_dim, step = (size_t)p->kv_heads * dim;
    const size_t kv = (size_t)(p->batch * p->context) * step;
    double *want = xcalloc(dim, sizeof *want), worst = 0;
    uint16_t *q = fetch(d, 0, rows * dim), *k = fetch(d, 1, kv), *v = fetch(d, 2, kv), *out = fetch(d, 3, rows * dim);
    const bool is_there = q && k && v && out;
    for (size_t r = 0; is_there && r < rows; r++) {
        const size_t b = r / (size_t)p->heads, head = r % (size_t)p->heads / (size_t)(p->heads / p->kv_heads);
        const size_t begin = b * (size_t)p->context * step + head * dim;
        attend(p, q + r * dim, k + begin, v + begin, step, want);
        for (size_t c = 0; c < dim; c++) {
            const double far = fabs(want[c] - of_fp16(out[r * dim + c]));
            if (!(far <= worst)) worst = isnan(far) ? (double)INFINITY : far;
        }
    }
    free(out);
    free(v);
    free(k);
    free(q);
    free(want);
    return is_there ? worst : (double)NAN;
}

bool cuda_check_decode(struct cuda_device *d)
{
    /* With and without splits, full tiles and others, all groups of heads of the plan. */
    static const int64_t cases[][4] = {{2, 333, 8, 2}, {1, 50, 8, 1}, {3, 1, 4, 4}, {1, 2048, 32, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct meter_point p = {.kind = METER_ATTENTION,
                                      .work = METER_DECODE,
                                      .batch = cases[i][0],
                                      .context = cases[i][1],
                                      .heads = cases[i][2],
                                      .kv_heads = cases[i][3],
                                      .head_dim = 128};
        if (cuda_prepare(&d->base, &p) != METER_YES) return false;
        const double far = largest_difference(d);
        if (far <= TOLERANCE) continue;
        if (!isnan(far))
            snprintf(d->base.reason, sizeof d->base.reason, "its kernel is %.3g off at batch %lld, context %lld", far,
                     (long long)p.batch, (long long)p.context);
        return false;
    }
    return true;
}
