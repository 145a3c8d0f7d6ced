/* What a policy does to a cache, as a row. A new one is a row of workload/eviction_traits.c, which says what machines see of it,
 * and one of eviction_policies.c with the functions it names. */
#ifndef DSE_ATTENTION_EVICTION_POLICIES_H
#define DSE_ATTENTION_EVICTION_POLICIES_H

#include "attention/eviction.h"

struct eviction_cache;

struct eviction_policy {
    const struct dse_eviction *traits; /* its row of workload/eviction_traits.c; NULL: the end of the table */
    const char *alias;                 /* another name for it that is understood, or NULL */
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
    /* The smallest cache that has room for what it holds apart; NULL: as eviction_least says of the traits. */
    size_t (*least)(const struct eviction_options *o);
    /* S of a layer, where that is not the same for all; NULL: it is. */
    size_t (*budget)(const struct eviction_options *o, size_t size, size_t layer);
};

/* By enum eviction_which, closed by a row without traits. */
extern const struct eviction_policy eviction_policies[];
/* The policy of this name or alias, or NULL. */
const struct eviction_policy *eviction_policy_find(const char *name);
/* The smallest cache that has room for what the policy holds apart. */
size_t eviction_policy_least(const struct eviction_options *o);
/* Do the options have what the policy cannot be measured without: a prompt, the number of layers? NULL, or what is missing. */
const char *eviction_policy_lacks(const struct eviction_policy *p, const struct eviction_options *o, bool has_prompt);

#endif
