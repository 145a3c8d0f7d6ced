/* KV eviction, functionally: a head's tokens are streamed through a cache of fixed size, and a policy says who leaves.
 */
#ifndef DSE_WORKLOAD_EVICTION_H
#define DSE_WORKLOAD_EVICTION_H

#include "base/diag.h"
#include "workload/head.h"

#include <stdint.h>

enum eviction_policy { EVICTION_VOTING, EVICTION_H2O, EVICTION_WINDOW, EVICTION_RANDOM, EVICTION_ORACLE, EVICTION_POLICIES };
extern const char *const eviction_policy_names[]; /* "voting", "h2o", "window", "random", "oracle", NULL */

struct eviction_options {
    enum eviction_policy policy;
    double ratio;         /* the cache holds round(ratio * prompt or n) positions, see size */
    size_t size;          /* or this many; 0: by the ratio of n */
    size_t prompt;        /* tokens of the prompt; 0: all tokens are streamed from an empty cache */
    bool evict_in_prompt; /* stream the prompt through the cache too; else the surplus leaves at its end at once */
    double a, b;          /* voting: threshold a * mean - b * sigma */
    size_t reserved;      /* voting: no votes in the first steps and for these positions */
    size_t sinks;         /* window: positions at the beginning that stay */
    double recent_share;  /* h2o: share of the cache that is the newest positions, protected; 0: accumulated scores alone */
    uint64_t seed;        /* random */
};
extern const struct eviction_options eviction_defaults; /* VEDA's: a 1, b 0.2, R 32; 4 sinks; half recent */

/* Means over the steps [first, n). */
struct eviction_result {
    double retained_mass; /* full-softmax mass on the kept positions */
    double output_error;  /* |o_kept - o_full| / |o_full| */
};

/* One head by itself (every head evicts for itself). False with errors. */
bool eviction_run(const struct head *h, const struct eviction_options *o, size_t first, struct eviction_result *ret,
                  struct diags *diags);
/* The heads of one layer together: one eviction a layer, on probabilities averaged over the heads (as VEDA's hardware does); results of
 * each head. */
bool eviction_run_layer(const struct head *heads, size_t n_heads, const struct eviction_options *o, size_t first,
                        struct eviction_result *ret, struct diags *diags);

#endif
