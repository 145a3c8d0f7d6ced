/* Heads for tests of the decoder: random ones whose scores drift from step to step, ones of small integers whose scores are exact
 * and often equal, ones whose keys are few directions. */
#ifndef LOCALITY_HEADS_H
#define LOCALITY_HEADS_H

#include "attention/head.h"

#include <math.h>
#include <stdint.h>

/* A small generator of its own, so that the tests do not change with a library's. Uniform in [0, 1). */
static inline double test_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static inline float test_normal(uint64_t *state)
{
    double u = 1 - test_random(state), angle = 2 * M_PI * test_random(state);
    return (float)(sqrt(-2 * log(u)) * cos(angle));
}

/* Queries follow an AR(1) process around a mean; keys are normal; scores reach over all of the five intervals. */
static inline void drifting_head(struct head *h, size_t n, size_t d, uint64_t seed)
{
    head_init(h, n, d);
    for (size_t j = 0; j < d; j++) {
        float mean = test_normal(&seed), noise = 0;
        for (size_t t = 0; t < n; t++) {
            noise = 0.9f * noise + 0.4f * test_normal(&seed);
            h->q[t * d + j] = 2 * mean + noise;
            h->k[t * d + j] = 1.3f * test_normal(&seed);
            h->v[t * d + j] = test_normal(&seed);
        }
    }
}

/* Integers from -2 to 2; with a d of 4, 16 or 64 every score is exact, and many are on an edge. Queries change one element a step.
 */
static inline void integer_head(struct head *h, size_t n, size_t d, uint64_t seed)
{
    head_init(h, n, d);
    for (size_t i = 0; i < n * d; i++) {
        h->q[i] = i < d ? (float)floor(5 * test_random(&seed)) - 2 : h->q[i - d];
        h->k[i] = (float)floor(5 * test_random(&seed)) - 2;
        h->v[i] = test_normal(&seed);
    }
    for (size_t t = 1; t < n; t++) {
        size_t changed = (size_t)(test_random(&seed) * (double)d);
        float value = (float)floor(5 * test_random(&seed)) - 2;
        for (size_t later = t; later < n; later++) h->q[later * d + changed] = value;
    }
}

/* A drifting head whose keys are `directions` directions times a length, plus `spread` of noise. With a spread of 0 the lengths
 * are powers of two, so that a center's score times dnorm is exact. */
static inline void clustered_head(struct head *h, size_t n, size_t d, size_t directions, float spread, uint64_t seed)
{
    drifting_head(h, n, d, seed);
    for (size_t t = directions; t < n; t++) {
        size_t from = (size_t)(test_random(&seed) * (double)directions);
        float length = ldexpf(test_random(&seed) < 0.5 ? -1 : 1, -(int)(4 * test_random(&seed)));
        for (size_t j = 0; j < d; j++) h->k[t * d + j] = length * (h->k[from * d + j] + spread * test_normal(&seed));
    }
}

#endif
