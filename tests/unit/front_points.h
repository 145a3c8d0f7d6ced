/* Points for the tests of fronts, and what a front is by its definition. */
#ifndef DSE_TESTS_FRONT_POINTS_H
#define DSE_TESTS_FRONT_POINTS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/front.h"
#include "base/xalloc.h"

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(2685821657736338717);
}

static inline double uniform(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

static inline double normal(uint64_t *state)
{
    const double u = 1 - uniform(state), v = uniform(state);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

enum shape {
    UNIFORM,
    SPHERE,
    PLANE,
    TIES,
    FEW_TIES,
    DUPLICATES,
    ALL_EQUAL,
    CORRELATED,
    SKEWED,
    SPECIAL,
    CHAIN,
    LONG_STAIRS,
    SHAPES
};

static inline void on_sphere(uint64_t *random, double *v, int m)
{
    double sum = 0;
    for (int j = 0; j < m; j++) v[j] = fabs(normal(random));
    for (int j = 0; j < m; j++) sum += v[j] * v[j];
    for (int j = 0; j < m; j++) v[j] = 1 - v[j] / sqrt(sum);
}

static inline void draw(enum shape shape, uint64_t *random, double *v, int m, size_t i, size_t n)
{
    static const double special[] = {-1e300, -1, -5e-324, -0.0, 0.0, 5e-324, 1, 1e300};
    const double common = uniform(random);
    double sum = 0;
    for (int j = 0; j < m; j++) {
        switch (shape) {
        case TIES: v[j] = floor(8 * uniform(random)); break;
        case FEW_TIES: v[j] = floor((double)n / 3 * uniform(random)) / 1024; break;
        case ALL_EQUAL: v[j] = 0.25; break;
        case CORRELATED: v[j] = common + 0.01 * uniform(random); break;
        case SKEWED: v[j] = exp(200 * normal(random)); break;
        case SPECIAL: v[j] = special[next_random(random) % (sizeof special / sizeof *special)]; break;
        case CHAIN: v[j] = (double)(i % (n / 2 + 1)); break;
        default: v[j] = uniform(random);
        }
    }
    if (shape == SPHERE || shape == DUPLICATES) on_sphere(random, v, m);
    if (shape == PLANE)
        for (int j = 0; j < m; j++) v[j] = floor(16 * v[j]);
    if (shape == PLANE || shape == LONG_STAIRS)
        for (int j = 1; j < m; j++) sum += v[j];
    if (shape == PLANE) v[0] = -sum;
    if (shape == LONG_STAIRS && m > 1) v[m - 1] = -v[m - 2];
}

static inline double *points_new(enum shape shape, uint64_t seed, size_t n, int m)
{
    double *values = xmalloc(n * (size_t)m * sizeof *values);
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (size_t i = 0; i < n; i++) draw(shape, &random, values + i * (size_t)m, m, i, n);
    if (shape == DUPLICATES)
        for (size_t i = 0; i < n; i++) memcpy(values + i * (size_t)m, values + i / 10 * (size_t)m, (size_t)m * sizeof *values);
    return values;
}

static inline bool dominates(const double *a, const double *b, int m)
{
    bool better = false;
    for (int j = 0; j < m; j++) {
        if (a[j] > b[j]) return false;
        better |= a[j] < b[j];
    }
    return better;
}

static inline void front_by_definition(const double *values, size_t n, int m, uint8_t *keep)
{
    for (size_t i = 0; i < n; i++) {
        keep[i] = 1;
        for (size_t k = 0; k < n && keep[i]; k++) keep[i] = !dominates(values + k * (size_t)m, values + i * (size_t)m, m);
    }
}

static inline size_t count_kept(const uint8_t *keep, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += keep[i];
    return count;
}

#endif
