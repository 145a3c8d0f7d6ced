/* Who leaves. Slots stay in the order of positions, so that "the earliest" is the first found, and the newest are the last. */
#include "workload/eviction_cache.h"

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
    return c->options->policy == EVICTION_VOTING || c->options->policy == EVICTION_H2O;
}

static size_t slot_of_least(const double *v, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (v[i] < v[best]) best = i;
    return best;
}

static size_t slot_of_most(const double *v, size_t from, size_t n)
{
    size_t best = from;
    for (size_t i = from + 1; i < n; i++)
        if (v[i] > v[best]) best = i;
    return best;
}

/* Standard deviation of n probabilities around their mean. Four sums, so that it is not one chain of additions. */
static double deviation(const double *p, size_t n, double mean)
{
    double s[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t j = 0; j < 4; j++) s[j] += (p[i + j] - mean) * (p[i + j] - mean);
    for (; i < n; i++) s[0] += (p[i] - mean) * (p[i] - mean);
    return sqrt((s[0] + s[1] + s[2] + s[3]) / (double)n);
}

/* Lines 1 to 5 of Fig. 3. */
static void vote(struct eviction_cache *c, const double *p)
{
    if (c->seen <= c->options->reserved) return;
    double mean = 1 / (double)c->n;
    double threshold = c->options->a * mean - c->options->b * deviation(p, c->n, mean);
    if (threshold <= 0) {
        c->score[slot_of_least(p, c->n)]++;
        return;
    }
    for (size_t i = 0; i < c->n; i++) c->score[i] += p[i] < threshold ? 1 : 0;
}

void eviction_cache_score(struct eviction_cache *c, const double *p)
{
    if (c->options->policy == EVICTION_VOTING) vote(c, p);
    if (c->options->policy == EVICTION_H2O)
        for (size_t i = 0; i < c->n; i++) c->score[i] += p[i];
}

/* A slot of n, by splitmix64: the same on every machine. The upper half of the product of 32 bits and n; its bias is below n / 2^32. */
static size_t random_slot(struct eviction_cache *c)
{
    uint64_t z = c->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (size_t)((z >> 32) * c->n >> 32);
}

/* Slots of the first `reserved` positions. Those never leave, so they are the first slots. */
static size_t reserved_slots(const struct eviction_cache *c)
{
    return c->options->reserve_positions ? c->options->reserved : 0;
}

static size_t slot_to_leave(struct eviction_cache *c)
{
    switch (c->options->policy) {
    case EVICTION_VOTING: return slot_of_most(c->score, reserved_slots(c), c->n);
    case EVICTION_H2O: return slot_of_least(c->score, c->n - (size_t)(c->options->recent_share * (double)c->size));
    case EVICTION_WINDOW: return c->options->sinks;
    case EVICTION_RANDOM: return random_slot(c);
    case EVICTION_ORACLE:
    case EVICTION_POLICIES: break;
    }
    abort(); /* the oracle evicts nobody: a bug of the caller */
}

void eviction_cache_evict(struct eviction_cache *c)
{
    for (; c->n > c->size; c->n--, c->evicted++) {
        size_t slot = slot_to_leave(c), after = c->n - slot - 1;
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
