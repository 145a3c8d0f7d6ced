/* What the tests of eviction on heads share: random heads, and a policy's options. */
#ifndef EVICTION_TEST_H
#define EVICTION_TEST_H

#include "attention/eviction_cache.h"

#include <gsl/gsl_randist.h>

enum { N = 60, D = 7, HEADS = 3 };

static inline void random_heads(struct head *h, size_t count, size_t n, size_t d, double gain)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t c = 0; c < count; c++) {
        head_init(&h[c], n, d);
        for (size_t i = 0; i < n * d; i++) {
            h[c].q[i] = (float)(gain * gsl_ran_gaussian(rng, 1));
            h[c].k[i] = (float)gsl_ran_gaussian(rng, 1);
            h[c].v[i] = (float)gsl_ran_gaussian(rng, 1);
        }
    }
    gsl_rng_free(rng);
}

static inline void release_heads(struct head *h, size_t count)
{
    for (size_t c = 0; c < count; c++) head_release(&h[c]);
}

static inline struct eviction_options options(const char *policy, size_t size)
{
    struct eviction_options o = eviction_defaults;
    o.policy = eviction_policy_find(policy);
    o.size = size;
    o.reserved_length = 4;
    o.sinks = 2;
    o.observed = 3;
    o.pool = 3;
    o.layers = 4;
    o.page = 4;
    return o;
}

#endif
