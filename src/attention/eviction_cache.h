/* The cache of eviction.h by itself: which positions it holds. Who leaves is the policy's (eviction_policies.h). It knows
 * probabilities only, no keys or values.
 *
 * A step: eviction_cache_enter, then eviction_cache_score with the probability of every slot, then (unless in a prompt that
 * evicts at its end) eviction_cache_evict; of a policy that chooses, its `choose` instead.
 */
#ifndef DSE_ATTENTION_EVICTION_CACHE_H
#define DSE_ATTENTION_EVICTION_CACHE_H

#include "attention/eviction_policies.h"

struct eviction_cache {
    const struct eviction_options *options; /* the caller's */
    size_t size;                            /* S, of the layer */
    size_t layer;                           /* of the model */
    size_t n;                               /* slots in use */
    uint32_t *position;                     /* of each slot, growing */
    double *score;                          /* of each slot, as the policy counts: votes, a sum of probabilities */
    size_t seen, evicted;
    uint64_t random; /* state of the generator */
};

/* Make a cache that holds `size` of the `positions` positions that will come. */
void eviction_cache_init(struct eviction_cache *c, const struct eviction_options *o, size_t size, size_t positions, uint64_t seed);
void eviction_cache_release(struct eviction_cache *c);
/* Let the next position, `seen`, into the last slot. */
void eviction_cache_enter(struct eviction_cache *c);
/* Does the policy look at the probabilities of the next step? */
bool eviction_cache_scores(const struct eviction_cache *c);
/* Update votes or sums from the probabilities of the slots, which sum up to 1. */
void eviction_cache_score(struct eviction_cache *c, const double *p);
/* Evict positions until `size` are left. */
void eviction_cache_evict(struct eviction_cache *c);
/* Of n values the k largest, the earliest of equal ones: their numbers into ret, growing. `scratch`: n, overwritten. k <= n. */
void eviction_largest(const double *values, size_t n, size_t k, double *scratch, uint32_t *ret);
/* Oracle: hold the `size` + 1 most probable positions of all seen, the earliest of equal ones. p has one value for every position
 * seen; `scratch` as many, overwritten. */
void eviction_cache_choose(struct eviction_cache *c, const double *p, double *scratch);

/* Check that all options make sense for these heads and steps. False with errors. */
bool eviction_check(const struct head *heads, size_t n_heads, const struct eviction_options *options, size_t n_options,
                    size_t first, struct diags *diags);

#endif
