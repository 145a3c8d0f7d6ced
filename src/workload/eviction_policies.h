/* A policy as a row: what machines see of it (dse/eviction.h), and what it does to a cache. A new one is a row of
 * eviction_policies.c and the functions it names; all lists of policies (`dse profile --policies`, values of models' parameters,
 * tests) are made of the rows. */
#ifndef DSE_WORKLOAD_EVICTION_POLICIES_H
#define DSE_WORKLOAD_EVICTION_POLICIES_H

#include "workload/eviction.h"

#include <dse/eviction.h>

struct eviction_cache;

struct eviction_policy {
    struct dse_eviction traits; /* per_head: also how a profile measures it */
    const char *alias;          /* another name for it that is understood, or NULL */
    bool machine;               /* a value of models' parameters; else only measured, for comparison */
    /* Count the probabilities of the slots, which sum up to 1. NULL: it does not look at them. */
    void (*score)(struct eviction_cache *c, const double *p);
    /* One of these three; with `leave`, `choose` holds at a step what has stayed, so that a run need not follow it step by step.
     * The slot that leaves. Slots are in the order of positions. */
    size_t (*leave)(struct eviction_cache *c);
    /* Once, when the prompt ends: hold what stays of it. The slots are its positions; `score` was called in the last `observed`
     * steps alone; `scratch` has room for each position. */
    void (*select)(struct eviction_cache *c, double *scratch);
    /* Hold what is best at this very step, out of all positions seen; p has one value for each, or (traits.paged) the bound of
     * each page's scores; `scratch` room for as many. */
    void (*choose)(struct eviction_cache *c, const double *p, double *scratch);
    /* False with an error where options make no sense for a cache of `size` positions; NULL: they all do. */
    bool (*check)(const struct eviction_options *o, size_t size, struct diags *diags);
    /* The smallest cache that has room for what it holds apart; NULL: 1. */
    size_t (*least)(const struct eviction_options *o);
    /* S of a layer, where that is not the same for all; NULL: it is. */
    size_t (*budget)(const struct eviction_options *o, size_t size, size_t layer);
};

/* Closed by a row without a name. The first is the default. */
extern const struct eviction_policy eviction_policies[];
/* The policy of this name or alias, or NULL. */
const struct eviction_policy *eviction_policy_find(const char *name);
/* All names, NULL behind the last. */
const char *const *eviction_policy_names(void);
/* Do the options have what the policy cannot be measured without: a prompt, the number of layers? NULL, or what is missing. */
const char *eviction_policy_lacks(const struct eviction_policy *p, const struct eviction_options *o, bool has_prompt);

#endif
