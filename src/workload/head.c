#include "workload/head.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

void head_init(struct head *h, size_t n, size_t d)
{
    *h = (struct head){.n = n, .d = d};
    h->q = xcalloc(n * d, sizeof *h->q);
    h->k = xcalloc(n * d, sizeof *h->k);
    h->v = xcalloc(n * d, sizeof *h->v);
}

void head_release(struct head *h)
{
    free(h->q);
    free(h->k);
    free(h->v);
    *h = (struct head){0};
}

void head_scores(const struct head *h, size_t t, double *scores)
{
    const float *q = h->q + t * h->d;
    double scale = 1 / sqrt((double)h->d);
    for (size_t i = 0; i <= t; i++) {
        const float *k = h->k + i * h->d;
        double sum = 0;
        for (size_t j = 0; j < h->d; j++) sum += (double)q[j] * (double)k[j];
        scores[i] = sum * scale;
    }
}

void head_attention(const struct head *h, size_t t, double *weights, double *output)
{
    head_scores(h, t, weights);
    double max = weights[0], sum = 0;
    for (size_t i = 1; i <= t; i++) max = weights[i] > max ? weights[i] : max;
    for (size_t i = 0; i <= t; i++) sum += weights[i] = exp(weights[i] - max);
    for (size_t i = 0; i <= t; i++) weights[i] /= sum;
    for (size_t j = 0; output && j < h->d; j++) output[j] = 0;
    for (size_t i = 0; output && i <= t; i++)
        for (size_t j = 0; j < h->d; j++) output[j] += weights[i] * (double)h->v[i * h->d + j];
}
