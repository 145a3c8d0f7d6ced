#include "workload/locality_caches.h"

#include "base/xalloc.h"

#include <stdlib.h>

void locality_caches_init(struct locality_caches *c, size_t d)
{
    *c = (struct locality_caches){.d = d};
    c->a = xcalloc(d * d, sizeof *c->a);
    c->b = xcalloc(d, sizeof *c->b);
    c->c = xcalloc(d, sizeof *c->c);
    c->dd = xcalloc(d, sizeof *c->dd);
}

void locality_caches_release(struct locality_caches *c)
{
    free(c->a);
    free(c->b);
    free(c->c);
    free(c->dd);
    *c = (struct locality_caches){0};
}

void locality_caches_add(struct locality_caches *c, const float *k, const float *v, double alpha, double beta)
{
    size_t d = c->d;
    for (size_t i = 0; i < d; i++) {
        double *restrict row = c->a + i * d, factor = alpha * (double)k[i];
        for (size_t j = 0; j < d; j++) row[j] += factor * (double)v[j];
        c->dd[i] += factor;
    }
    for (size_t j = 0; j < d; j++) {
        c->b[j] += alpha * (double)v[j];
        c->c[j] += beta * (double)v[j];
    }
    c->e += alpha;
    c->f += beta;
}

double locality_caches_read(const struct locality_caches *c, const double *q, double m, double *numerator)
{
    size_t d = c->d;
    double denominator = c->f - m * c->e;
    double *restrict sum = numerator;
    for (size_t j = 0; j < d; j++) sum[j] = c->c[j] - m * c->b[j];
    for (size_t i = 0; i < d; i++) {
        const double *row = c->a + i * d, factor = q[i];
        for (size_t j = 0; j < d; j++) sum[j] += factor * row[j];
        denominator += factor * c->dd[i];
    }
    return denominator;
}
