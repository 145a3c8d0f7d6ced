#include "attention/head.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

void head_init_sampled(struct head *h, size_t n, size_t d, const int32_t *steps, size_t n_steps)
{
    *h = (struct head){.n = n, .d = d, .n_steps = steps ? n_steps : n, .steps = steps};
    h->q = xcalloc(h->n_steps * d, sizeof *h->q);
    h->k = xcalloc(n * d, sizeof *h->k);
    h->v = xcalloc(n * d, sizeof *h->v);
}

void head_init(struct head *h, size_t n, size_t d)
{
    head_init_sampled(h, n, d, NULL, n);
}

void head_release(struct head *h)
{
    free(h->q);
    free(h->k);
    free(h->v);
    *h = (struct head){0};
}

bool head_whole(const struct head *h)
{
    return !h->steps;
}

const float *head_query(const struct head *h, size_t t)
{
    if (!h->steps) return t < h->n ? h->q + t * h->d : NULL;
    size_t low = 0, high = h->n_steps; /* the first step that is not before t */
    while (low < high) {
        size_t mid = (low + high) / 2;
        if ((size_t)h->steps[mid] < t)
            low = mid + 1;
        else
            high = mid;
    }
    return low < h->n_steps && (size_t)h->steps[low] == t ? h->q + low * h->d : NULL;
}

void head_scores(const struct head *h, size_t t, double *scores)
{
    const float *q = head_query(h, t);
    double scale = 1 / sqrt((double)h->d);
    size_t i = 0, d = h->d;
    for (; i + 3 <= t; i += 4) { /* four keys at a time: their sums do not wait for each other; the same sums as one by one */
        const float *k = h->k + i * d, *k1 = k + d, *k2 = k1 + d, *k3 = k2 + d;
        double sum = 0, sum1 = 0, sum2 = 0, sum3 = 0;
        for (size_t j = 0; j < d; j++) {
            double x = (double)q[j];
            sum += x * (double)k[j];
            sum1 += x * (double)k1[j];
            sum2 += x * (double)k2[j];
            sum3 += x * (double)k3[j];
        }
        scores[i] = sum * scale;
        scores[i + 1] = sum1 * scale;
        scores[i + 2] = sum2 * scale;
        scores[i + 3] = sum3 * scale;
    }
    for (; i <= t; i++) {
        const float *k = h->k + i * d;
        double sum = 0;
        for (size_t j = 0; j < d; j++) sum += (double)q[j] * (double)k[j];
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
