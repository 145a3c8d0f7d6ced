/* Positions come and go. Slots stay in the order of positions, so that "the earliest" is the first found, and the newest are the
 * last. */
#include "workload/eviction_cache.h"

#include "base/xalloc.h"

#include <gsl/gsl_statistics_double.h>

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
    return c->options->policy->score != NULL;
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

void eviction_cache_choose(struct eviction_cache *c, const double *p, double *scratch)
{
    size_t room = c->size + 1;
    double least = -1; /* of the chosen; all of those above it, and the earliest `equal` of those that have it */
    size_t equal = 0;
    if (c->seen > room) {
        memcpy(scratch, p, c->seen * sizeof *p);
        least = gsl_stats_select(scratch, 1, c->seen, c->seen - room);
        equal = room;
        for (size_t i = 0; i < c->seen; i++) equal -= p[i] > least;
    }
    c->n = 0;
    for (size_t i = 0; i < c->seen; i++) {
        bool not_above = p[i] <= least;
        if (p[i] < least || (not_above && equal == 0)) continue;
        equal -= not_above;
        c->position[c->n++] = (uint32_t)i;
    }
    c->evicted = c->seen - c->n;
}
