/* Synthetic attention: heads whose scores behave as published, from a seed. GSL's distributions.
 *
 * The score of position i at step t is, but for the rounding of float,
 *
 *     sinks:   level_offset + sink_gain + sink(t)                                + recency(t - i) + step(t)
 *     others:  norm(i) (level(c) + noise_sd settled(t) z(t) . direction(c)) + jitter + recency(t - i) + step(t)
 *
 *     c             cluster of i: keys of a cluster have the same direction, so they rise and fall together;
 *                   norm(i) tells them apart
 *     level(c)      normal: level_offset, level_sd; plus heavy_gain for the share heavy_share of the clusters
 *     norm(i)       lognormal, mean 1, deviation of its logarithm norm_sd
 *     z(t)          AR(1) vector of unit variance and correlation rho from step to step; direction(c) is a unit vector. The share
 *                   fast_share of its variance is drawn anew at each step
 *     settled(t)    (1 + t / settle_steps) ^ -noise_decay: the longer the context, the steadier the query
 *     jitter        what the key's own deviation from its cluster makes: cluster_noise of its length, in a random direction
 *     recency(age)  recency_gain exp(-age / recency_steps), by a context that wanders and that keys remember. Few dimensions
 *                   remember many positions: scores of old positions wander by about recency_gain / sqrt(d / 2) with it
 *                   And -recency_power log(age), by pairs of elements that turn with the position, as the rotary embedding's: at
 *                   a fixed share of the context it is the same for short and long contexts, but for a constant. They take the
 *                   place of the context, and have recency_gain as well
 *     sink(t)       sink_growth log(1 + t) + AR(1) of sink_sd and rho: sinks that keep their share of a growing context
 *     step(t)       AR(1), step_sd and rho: an offset that all scores of the step share (correlated tails)
 *
 * q and k are vectors that have these scores. Dimension 0 carries levels, 1 the offsets of steps, the others noise and recency in
 * turn, from 2 on; with fewer than four dimensions the last of these are missing, with one all but the levels. In dimension 1 and
 * in those of recency keys are short and queries long, so that they do not turn the keys. Elements of v are normal with variance
 * 1.
 *
 * Clusters are seated by a Pitman-Yor process: a key opens a new cluster with probability (cluster_start + cluster_growth K) /
 * (cluster_start + i), K clusters so far, and otherwise joins one, the larger the likelier. Their number grows like n ^
 * cluster_growth, sizes have a power law. Growth 1: every key has a direction of its own, as in the real traces (reference:
 * docs/reference/trace-file.md).
 *
 * A longer head begins with the shorter one of the same seed. Random numbers: gsl_rng_mt19937, one stream a purpose, each seeded
 * with 32 bits of a hash (splitmix64) of seed, head and purpose: the same on every machine, but for the last bit of libm's
 * functions.
 */
#ifndef DSE_ATTENTION_GENERATOR_H
#define DSE_ATTENTION_GENERATOR_H

#include "attention/head.h"
#include "base/diag.h"

#include <dse/desc.h>

struct generator {
    int64_t seed;
    int64_t n, d;
    double level_sd;     /* of the clusters' score levels */
    double level_offset; /* mean level */
    double norm_sd;      /* of the logarithm of the keys' lengths */
    double rho, noise_sd;
    double noise_decay, settle_steps;
    int64_t sinks;
    double sink_gain; /* sinks score level_offset + sink_gain */
    double recency_gain, recency_steps;
    double heavy_share, heavy_gain;
    double step_sd;
    double cluster_start, cluster_growth, cluster_noise;
    double fast_share, recency_power, sink_growth, sink_sd, sink_value;
};
extern const struct generator
    generator_defaults; /* fitted to the published anchors (dse trace fit): docs/reference/trace-file.md */

/* A row for every field: its name, range and meaning. */
extern const struct dse_param generator_params[];

/* False with an error for every parameter that is out of its range. */
bool generator_check(const struct generator *g, struct diags *diags);
/* Make head number `head` of the generator: a pure function of (generator, head). False with errors of generator_check; *ret is
 * then untouched. The caller releases it. */
bool generator_head(const struct generator *g, uint64_t head, struct head *ret, struct diags *diags);
/* The same head with q of n_steps growing steps alone, each below g->n, which must outlive it: all that a long context has room
 * for. */
bool generator_head_sampled(const struct generator *g, uint64_t head, const int32_t *steps, size_t n_steps, struct head *ret,
                            struct diags *diags);

#endif
