/* Synthetic attention: heads whose scores behave as published, from a seed. GSL's distributions.
 *
 * Every position has a score level of its own; over the steps its score wanders around it as an AR(1) process; the first positions are
 * sinks; the newest score higher (recency); a few are heavy hitters; a step's scores share an offset (correlated tails). Keys have
 * clusters of directions, so that LAD's Algorithm 1 has centers to find. q, k and v are made so that the scores come out.
 */
#ifndef DSE_WORKLOAD_GENERATOR_H
#define DSE_WORKLOAD_GENERATOR_H

#include "base/diag.h"
#include "workload/head.h"

#include <stdint.h>

struct generator {
    uint64_t seed;
    size_t n, d;
    double level_sd;      /* of the positions' score levels */
    double level_offset;  /* mean level */
    double rho, noise_sd; /* AR(1): correlation from step to step, standard deviation */
    size_t sinks;
    double sink_gain;                   /* added to the score of the first `sinks` positions */
    double recency_gain, recency_steps; /* gain * exp(-age / steps) */
    double heavy_share, heavy_gain;     /* heavy hitters */
    double step_sd;                     /* of the offset that all scores of a step share */
    size_t clusters;                    /* directions of keys; 0: none */
    double cluster_noise;
};
extern const struct generator generator_defaults; /* fitted to the published anchors: docs/traces.md */

/* Make head number `head` of the generator: a pure function of (generator, head). False with an error when a parameter is out of range. */
bool generator_head(const struct generator *g, uint64_t head, struct head *ret, struct diags *diags);

#endif
