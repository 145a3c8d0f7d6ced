/* The policies of KV eviction as rows: what machines see of each. What a policy does to a cache is the row of the same name in
 * attention/eviction_policies.c. All lists of policies (`dse profile --policies`, values of models' parameters, tests) are made of
 * these rows. */
#ifndef DSE_WORKLOAD_EVICTION_TRAITS_H
#define DSE_WORKLOAD_EVICTION_TRAITS_H

#include <dse/catalog.h>
#include <dse/eviction.h>

/* A machine adds values of its parameter in this order: a policy that machines have goes behind all that they have already. The
 * first is the default of `dse profile`. */
enum eviction_which {
    EVICTION_VOTING,
    EVICTION_VOTING_HEAD,
    EVICTION_H2O,
    EVICTION_H2O_ACCUMULATE,
    EVICTION_WINDOW,
    EVICTION_RANDOM,
    EVICTION_ORACLE,
    EVICTION_SNAPKV,
    EVICTION_PYRAMIDKV,
    EVICTION_QUEST,
    EVICTION_POLICIES
};

struct eviction_row {
    struct dse_eviction traits; /* per_head: also how a profile measures it */
    bool machine;               /* a value of models' parameters; else only measured, for comparison */
};
extern const struct eviction_row eviction_rows[EVICTION_POLICIES];
/* All names, NULL behind the last. */
const char *const *eviction_policy_names(void);

/* How SnapKV makes clusters of neighbours: the largest of them, or their mean with zeros beyond the ends. */
enum eviction_pooling { EVICTION_POOL_MAX, EVICTION_POOL_MEAN };
extern const char *const eviction_pooling_names[]; /* "max", "mean", NULL */

/* The smallest cache that has room for the positions that a policy holds apart: `sinks`, the last `observed`, or one page. */
static inline int64_t eviction_least(const struct dse_eviction *e, int64_t sinks, int64_t observed, int64_t page)
{
    return e->paged ? page : e->selects ? observed + 1 : dse_eviction_depends(e, DSE_SET_SINKS) ? sinks + 1 : 1;
}

#endif
