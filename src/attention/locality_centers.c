#include "attention/locality_centers.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef float lanes __attribute__((vector_size(16)));
enum { LANES = 4, BLOCK = 2 * LANES };

void locality_centers_init(struct locality_centers *c, size_t d, double collinear)
{
    *c = (struct locality_centers){.d = d, .collinear = collinear};
}

void locality_centers_release(struct locality_centers *c)
{
    free(c->position);
    free(c->inverse_norm);
    free(c->score);
    free(c->cid);
    free(c->dnorm);
    *c = (struct locality_centers){0};
}

static void reserve(struct locality_centers *c)
{
    if (c->positions < c->capacity) return;
    c->capacity = c->capacity ? 2 * c->capacity : 256;
    c->position = xrealloc(c->position, c->capacity, sizeof *c->position);
    c->inverse_norm = xrealloc(c->inverse_norm, c->capacity, sizeof *c->inverse_norm);
    c->score = xrealloc(c->score, c->capacity, sizeof *c->score);
    c->cid = xrealloc(c->cid, c->capacity, sizeof *c->cid);
    c->dnorm = xrealloc(c->dnorm, c->capacity, sizeof *c->dnorm);
}

static lanes load(const float *p)
{
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

static float add_lanes(lanes v)
{
    return (v[0] + v[2]) + (v[1] + v[3]);
}

/* x . a and x . b, reading x once. Two chains of sums each, so that the additions overlap. */
static void dot_both(const float *x, const float *a, const float *b, size_t d, float *ret_a, float *ret_b)
{
    lanes a0 = {0}, a1 = {0}, b0 = {0}, b1 = {0};
    size_t j = 0;
    for (; j + BLOCK <= d; j += BLOCK) {
        lanes x0 = load(x + j), x1 = load(x + j + LANES);
        a0 += x0 * load(a + j);
        a1 += x1 * load(a + j + LANES);
        b0 += x0 * load(b + j);
        b1 += x1 * load(b + j + LANES);
    }
    float sum_a = add_lanes(a0 + a1), sum_b = add_lanes(b0 + b1);
    for (; j < d; j++) {
        sum_a += x[j] * a[j];
        sum_b += x[j] * b[j];
    }
    *ret_a = sum_a;
    *ret_b = sum_b;
}

static double norm_of(const float *k, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += (double)k[j] * (double)k[j];
    return sqrt(sum);
}

void locality_centers_step(struct locality_centers *c, const float *keys, const float *q)
{
    reserve(c);
    const float *key = keys + c->positions * c->d;
    float max_cos = 0; /* times the norm of the key */
    size_t max_center = 0;
    for (size_t i = 0; i < c->n; i++) {
        float cosine;
        dot_both(keys + c->position[i] * c->d, q, key, c->d, &c->score[i], &cosine);
        cosine *= c->inverse_norm[i];
        if (fabsf(cosine) > fabsf(max_cos)) {
            max_cos = cosine;
            max_center = i;
        }
    }
    double norm = norm_of(key, c->d);
    size_t at = c->positions++;
    if (norm > 0 && fabs((double)max_cos) > c->collinear * norm) {
        c->cid[at] = (uint32_t)max_center;
        c->dnorm[at] = (float)(copysign(norm, (double)max_cos) * (double)c->inverse_norm[max_center]);
        return;
    }
    float own, square;
    dot_both(key, q, key, c->d, &own, &square);
    c->position[c->n] = (uint32_t)at;
    c->inverse_norm[c->n] = norm > 0 ? (float)(1 / norm) : 0;
    c->score[c->n] = own;
    c->cid[at] = (uint32_t)c->n++;
    c->dnorm[at] = 1;
}
