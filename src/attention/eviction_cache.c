/* Positions come and go. Slots stay in the order of positions, so that "the earliest" is the first found, and the newest are the
 * last. */
#include "attention/eviction_cache.h"

#include "base/xalloc.h"

#include <gsl/gsl_statistics_double.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

void eviction_cache_init(struct eviction_cache *c, const struct eviction_options *o, size_t size, size_t positions, uint64_t seed)
{
    *c = (struct eviction_cache){.options = o, .size = size, .random = seed};
    c->position = xcalloc(positions, sizeof *c->position);
    c->score = xcalloc(positions, sizeof *c->score);
}

void eviction_cache_release(struct eviction_cache *c)
{
    free(c->position);
    free(c->score);
    *c = (struct eviction_cache){0};
}

void eviction_cache_enter(struct eviction_cache *c)
{
    c->position[c->n] = (uint32_t)c->seen++;
    c->score[c->n++] = 0;
}

bool eviction_cache_scores(const struct eviction_cache *c)
{
    const struct eviction_options *o = c->options;
    if (!o->policy->score) return false;
    return !o->policy->select || (c->seen < o->prompt && c->seen + (size_t)o->observed >= o->prompt);
}

void eviction_cache_score(struct eviction_cache *c, const double *p)
{
    if (c->options->policy->score) c->options->policy->score(c, p);
}

void eviction_cache_evict(struct eviction_cache *c)
{
    for (; c->n > c->size; c->n--, c->evicted++) {
        size_t slot = c->options->policy->leave(c), after = c->n - slot - 1;
        memmove(c->position + slot, c->position + slot + 1, after * sizeof *c->position);
        memmove(c->score + slot, c->score + slot + 1, after * sizeof *c->score);
    }
}

void eviction_largest(const double *values, size_t n, size_t k, double *scratch, uint32_t *ret)
{
    double least = -INFINITY; /* of the chosen; all of those above it, and the earliest `equal` of those that have it */
    size_t equal = k, chosen = 0;
    if (k == 0) return;
    if (n > k) {
        memcpy(scratch, values, n * sizeof *values);
        least = gsl_stats_select(scratch, 1, n, n - k);
        for (size_t i = 0; i < n; i++) equal -= values[i] > least;
    }
    for (size_t i = 0; i < n; i++) {
        bool above = values[i] > least;
        if (!above && (values[i] < least || equal == 0)) continue;
        equal -= n > k && !above;
        ret[chosen++] = (uint32_t)i;
    }
}

void eviction_cache_choose(struct eviction_cache *c, const double *p, double *scratch)
{
    c->n = c->seen > c->size ? c->size + 1 : c->seen;
    eviction_largest(p, c->seen, c->n, scratch, c->position);
    c->evicted = c->seen - c->n;
}
