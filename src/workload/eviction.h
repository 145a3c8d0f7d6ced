/* KV eviction, functionally: a head's tokens are streamed through a cache of fixed size S, and a policy says who leaves.
 *
 * Step t enters position t, attends over what the cache holds (at most S positions and itself), lets the policy score them by their
 * probabilities (the softmax over the kept positions, as hardware sees it), and evicts until S are left. Two ways to begin:
 * - prompt = 0: all n tokens are streamed from an empty cache, S = round(ratio n);
 * - prompt = P: nothing leaves while the prompt is read, though it is scored; after its last step the surplus leaves at once, by the
 *   policy's own order, and then one position a step. S = round(ratio P). evict_in_prompt: streamed through S positions as well.
 *
 * What is measured at a step: the retained mass, which is the full softmax's mass on the kept positions, and the output error,
 * |o_kept - o_full| / |o_full| with the softmax of o_kept over the kept positions.
 *
 * Policies:
 * - voting: VEDA, Sec. III and Fig. 3. From step `reserved` on every step votes for positions with a probability below T = a / l - b sigma (l
 *   positions, sigma their probabilities' standard deviation); if T <= 0, for the least probable one alone. Most votes leave, the
 *   earliest of several.
 *   A step may vote for one position (T <= 0, the rule in a head with a strong sink) or for none (T below all probabilities). Where the
 *   most votes are then zero, "the earliest" is the sink, and most of the mass leaves with it: at the end of a prompt in many heads that
 *   have a sink, and at times in streaming when heads share. reserve_positions, another reading of "a reserved length is maintained at
 *   the beginning", avoids it.
 * - h2o: the smallest sum of probabilities leaves, the earliest of several; the newest floor(recent_share S) positions never do.
 * - window: the first `sinks` positions and the newest.
 * - random: any position, the newest included, with equal chance.
 * - oracle: keeps everything, attends over the S + 1 most probable positions of this very step. An upper bound on the
 *   retained mass, not a machine; the output error of another policy can be smaller.
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
    bool shared;          /* one eviction for all heads of a layer, by probabilities averaged over them (as VEDA's hardware does) */
    double ratio;         /* of the prompt, or of n without one; in (0, 1] */
    size_t size;          /* or S itself; 0: by the ratio */
    size_t prompt;        /* tokens of the prompt, fewer than n; 0: all tokens are streamed from an empty cache */
    bool evict_in_prompt; /* stream the prompt through the cache too; else the surplus leaves at its end at once */
    double a, b;          /* voting: threshold a * mean - b * sigma */
    size_t reserved;      /* voting: no votes in the first steps */
    bool reserve_positions; /* voting: the first `reserved` positions never leave; needs reserved < S */
    bool below_reserved; /* voting: measure S < reserved all the same: evictions begin before votes, and the sink leaves first. Else
                               an error; the paper has `reserved` as the least S */
    size_t sinks;        /* window: positions at the beginning that stay; fewer than S */
    double recent_share; /* h2o: share of the cache that is the newest positions, protected; 0: accumulated scores alone */
    uint64_t seed;       /* random; the i-th head of a run, or of a profile, draws from seed + i */
};
extern const struct eviction_options eviction_defaults; /* VEDA's: a 1, b 0.2, R 32; 4 sinks; half recent; ratio 0.5, streamed */

/* Means over the steps [first, n). */
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
 * Cost: heads n^2 d / 2 for scores, and for each option and head n S, and (n - first) d min(S, n - S) for its outputs. Memory O(n). */
bool eviction_run_many(const struct head *heads, size_t n_heads, const struct eviction_options *options, size_t n_options,
                       size_t first, struct eviction_result *ret, struct diags *diags);

/* A ratio and a policy over many heads: mean and (population) standard deviation. */
struct eviction_row {
    struct eviction_options options;
    size_t size;  /* S */
    size_t heads; /* so far */
    struct eviction_result mean, sd;
};

/* A table over ratios and policies, filled layer by layer. */
struct eviction_profile {
    struct eviction_row *rows; /* [policy][ratio] */
    size_t n_rows;
    size_t n; /* positions of the heads; 0 before the first */
};

/* A row for each policy and ratio; all else as in `policies`, whose ratio is not used. */
void eviction_profile_init(struct eviction_profile *p, const struct eviction_options *policies, size_t n_policies,
                           const double *ratios, size_t n_ratios);
void eviction_profile_release(struct eviction_profile *p);
/* Measure the heads of one more layer over the steps [first, n). False with errors, the profile unchanged. */
bool eviction_profile_add(struct eviction_profile *p, const struct head *heads, size_t n_heads, size_t first, struct diags *diags);

#endif
