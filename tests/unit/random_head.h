/* Heads of independent numbers, for tests of what measures attention: reproducible, and with a known spread of the scores. */
#ifndef RANDOM_HEAD_H
#define RANDOM_HEAD_H

#include "attention/head.h"

#include <math.h>
#include <stdint.h>

/* Roughly normal, of standard deviation 1: twelve uniform numbers. */
static inline double random_normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(*state >> 11) * 0x1p-53;
    }
    return sum;
}

/* Scores have mean 0 and a standard deviation of about score_sd; values one of 1. */
static inline struct head random_head(size_t n, size_t d, double score_sd, uint64_t seed)
{
    struct head h;
    head_init(&h, n, d);
    double each = sqrt(score_sd);
    for (size_t i = 0; i < n * d; i++) {
        h.q[i] = (float)(each * random_normal(&seed));
        h.k[i] = (float)(each * random_normal(&seed));
        h.v[i] = (float)random_normal(&seed);
    }
    return h;
}

#endif
