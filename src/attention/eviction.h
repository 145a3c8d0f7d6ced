/* KV eviction, functionally: a head's tokens are streamed through a cache of fixed size S, and a policy says who leaves.
 *
 * Step t enters position t, attends over what the cache holds (at most S positions and itself), lets the policy score them by their
 * probabilities (the softmax over the kept positions, as hardware sees it), and evicts until S are left. Two ways to begin:
 * - prompt = 0: all n tokens are streamed from an empty cache, S = round(ratio n);
 * - prompt = P: nothing leaves while the prompt is read, though it is scored; after its last step the surplus leaves at once, by
 *   the policy's own order, and then one position a step. S = round(ratio P). evict_in_prompt: streamed through S positions as
 *   well.
 *
 * What is measured at a step: the retained mass, which is the full softmax's mass on the kept positions, and the output error,
 * |o_kept - o_full| / |o_full| with the softmax of o_kept over the kept positions.
 *
 * A head with q of some steps alone is measured at those, by policies that look at none of the others: all that do not count.
 *
 * Policies are the rows of eviction_policies.c.
 */
#ifndef DSE_ATTENTION_EVICTION_H
#define DSE_ATTENTION_EVICTION_H

#include "attention/head.h"
#include "attention/kv_format.h"
#include "base/diag.h"
#include "workload/eviction_traits.h"

#include <dse/desc.h>

#include <stdint.h>

struct eviction_policy; /* eviction_policies.h */

/* Who decides, of a policy that is not `shared`: every head for itself, or the heads that share keys and values (head.group) as
 * one, by their mean probabilities, as a cache of grouped queries must. Where every head has keys of its own it is the same. */
enum eviction_decides { EVICTION_BY_HEAD, EVICTION_BY_GROUP };

struct eviction_options {
    const struct eviction_policy *policy;
    bool shared;          /* one eviction for all heads of a layer, by probabilities averaged over them (as VEDA's hardware does) */
    int32_t decides;      /* enum eviction_decides */
    double ratio;         /* of the prompt, or of n without one; in (0, 1] */
    size_t size;          /* or S itself; 0: by the ratio */
    size_t prompt;        /* tokens of the prompt, fewer than n; 0: all tokens are streamed from an empty cache */
    bool evict_in_prompt; /* stream the prompt through the cache too; else the surplus leaves at its end at once */
    double threshold_a, threshold_b; /* voting: threshold_a * mean - threshold_b * sigma */
    int64_t reserved_length;         /* voting: no votes in the first steps */
    bool reserve_positions;          /* voting: the first reserved_length positions never leave; needs reserved_length < S */
    /* voting: measure an S < reserved_length, too, where evictions begin before votes and the sink leaves first. Without this it
     * is an error, as reserved_length is the least S of the paper. */
    bool below_reserved;
    int64_t sinks;       /* window: positions at the beginning that stay; fewer than S */
    double recent_share; /* h2o: share of the cache that is the newest positions, protected; 0: accumulated scores alone */
    int64_t observed;    /* snapkv, pyramidkv: last steps of the prompt, by whose probabilities it is selected; they stay */
    int64_t pool;        /* snapkv, pyramidkv: neighbours that are pooled; odd; 1: none */
    int32_t pooling;     /* enum eviction_pooling */
    double beta;         /* pyramidkv: the last layer keeps 1/beta of the mean, but for the observed positions */
    int64_t layers;      /* pyramidkv: of the model */
    int64_t page;        /* quest: positions of a page */
    /* What the cache holds keys and values in; 16 bits: as they are. In few bits, what a step attends to and decides by is rounded,
     * a prompt's too, and compared with exact attention; bounds of pages are of exact keys. All options of a run have the same. */
    struct kv_format format;
    int64_t seed; /* random; the i-th head of a run, or of a profile, draws from seed + i */
};
extern const struct eviction_options eviction_defaults; /* VEDA's: a 1, b 0.2, R 32; 4 sinks; half recent; ratio 0.5, streamed.
                                                          SnapKV's: 32 observed, the largest of 7; pages of 16 */
/* The options that `dse profile` sets by name. */
extern const struct dse_param eviction_params[];

/* Means over the steps [first, n), those that have q. */
struct eviction_result {
    double retained_mass; /* full-softmax mass on the kept positions */
    double output_error;  /* |o_kept - o_full| / |o_full|; steps with o_full = 0 do not count */
};

/* S: the positions that the cache holds between steps, for a head of n positions. */
size_t eviction_size(const struct eviction_options *o, size_t n);

/* One head by itself. False with errors: a ratio outside of (0, 1], an S of 0, `first` beyond n, reserved beyond S, ... */
bool eviction_run(const struct head *h, const struct eviction_options *o, size_t first, struct eviction_result *ret,
                  struct diags *diags);
/* The heads of one layer together: as o says, with `shared` on; results of each head. */
bool eviction_run_layer(const struct head *heads, size_t n_heads, const struct eviction_options *o, size_t first,
                        struct eviction_result *ret, struct diags *diags);
/* Many options over the heads of a layer: full attention is computed once and shared by all. ret[i * n_heads + j] is options[i] on
 * heads[j]. Nothing is returned when one of them is wrong. All heads have the same n and d.
 * Cost: heads n^2 d / 2 for scores, and for each option and head n S, and (n - first) d min(S, n - S) for its outputs. Memory O(n).
 */
bool eviction_run_many(const struct head *heads, size_t n_heads, const struct eviction_options *options, size_t n_options,
                       size_t first, struct eviction_result *ret, struct diags *diags);

#endif
