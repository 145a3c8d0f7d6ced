#include "attention/locality_caches.h"

#include "base/xalloc.h"

#include <stdlib.h>

void locality_caches_init(struct locality_caches *c, size_t d)
{
    *c = (struct locality_caches){.d = d};
    c->a = xcalloc(d * d, sizeof *c->a);
    c->b = xcalloc(d, sizeof *c->b);
    c->c = xcalloc(d, sizeof *c->c);
    c->dd = xcalloc(d, sizeof *c->dd);
    c->value = xcalloc(d, sizeof *c->value);
}

void locality_caches_release(struct locality_caches *c)
{
    free(c->a);
    free(c->b);
    free(c->c);
    free(c->dd);
    free(c->value);
    *c = (struct locality_caches){0};
}

void locality_caches_add(struct locality_caches *c, const float *k, const float *v, double alpha, double beta)
{
    size_t d = c->d;
    double *value = c->value;
    for (size_t j = 0; j < d; j++) {
        value[j] = (double)v[j];
        c->b[j] += alpha * value[j];
        c->c[j] += beta * value[j];
    }
    for (size_t i = 0; i < d; i++) {
        double *restrict row = c->a + i * d, factor = alpha * (double)k[i];
        for (size_t j = 0; j < d; j++) row[j] += factor * value[j];
        c->dd[i] += factor;
    }
    c->e += alpha;
    c->f += beta;
}

double locality_caches_read(const struct locality_caches *c, const double *q, double m, double *numerator)
{
    size_t d = c->d, i = 0;
    double denominator = c->f - m * c->e;
    double *restrict sum = numerator;
    for (size_t j = 0; j < d; j++) sum[j] = c->c[j] - m * c->b[j];
    for (; i + 4 <= d; i += 4) { /* four rows at once: the sums are read and written a fourth as often */
        const double *a0 = c->a + i * d, *a1 = a0 + d, *a2 = a1 + d, *a3 = a2 + d;
        for (size_t j = 0; j < d; j++) sum[j] += (q[i] * a0[j] + q[i + 1] * a1[j]) + (q[i + 2] * a2[j] + q[i + 3] * a3[j]);
    }
    for (; i < d; i++)
        for (size_t j = 0; j < d; j++) sum[j] += q[i] * c->a[i * d + j];
    for (i = 0; i < d; i++) denominator += q[i] * c->dd[i];
    return denominator;
}
