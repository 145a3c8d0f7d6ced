/* A head at one step, shared by all caches that look at it: scores, weights, exact output; and the outputs of what the caches keep.
 *
 * Scores are relative to the step's largest, so that a weight is exp(score) and the mass of some positions is the sum of their
 * weights over the sum of all.
 */
#ifndef DSE_ATTENTION_EVICTION_VIEW_H
#define DSE_ATTENTION_EVICTION_VIEW_H

#include "attention/eviction_cache.h"

struct eviction_view {
    const struct head *head;
    double *keys;   /* d x n: keys by element, so that scores of many positions are computed at a time */
    double *values; /* n x d */
    double *score;  /* of positions 0..t, minus the largest */
    double *weight; /* exp of it */
    double total;   /* sum of the weights */
    double *output; /* sum of weight * value: not divided by total */
    double norm;    /* |output| / total */
    double *kept;   /* weights of the slots of the cache that was gathered last */
    double kept_total;
};

void eviction_view_init(struct eviction_view *v, const struct head *h);
void eviction_view_release(struct eviction_view *v);
/* Look at step t; with the output if it is measured. */
void eviction_view_step(struct eviction_view *v, size_t t, bool measured);
/* Weights of the slots of a cache into v->kept. Returns the retained mass. */
double eviction_view_gather(struct eviction_view *v, const struct eviction_cache *c);

/* What a cache keeps of one view. */
struct eviction_output {
    double mass;
    double error; /* |o_kept - o_full| / |o_full|; 0 where o_full is */
    /* The sum of weight * value of `n` rows, those kept or (then the output is the rest) those evicted. */
    double *sum;    /* d */
    uint32_t *rows; /* as many as there are positions */
    size_t n, added;
    bool evicted;
    double total; /* of the kept weights */
};

void eviction_output_init(struct eviction_output *o, size_t n, size_t d);
void eviction_output_release(struct eviction_output *o);
/* Find out what a cache keeps of a view whose step is measured. */
void eviction_output_begin(struct eviction_output *o, struct eviction_view *v, const struct eviction_cache *c);
/* Finish n outputs of a view, whose errors are against the output of `exact`: the same view, or one of the same step with other
 * keys and values. All go over the values together, so that these are fetched once. What one is does not depend on which
 * others there are. */
void eviction_outputs_finish(struct eviction_output *o, size_t n, const struct eviction_view *v, const struct eviction_view *exact);

#endif
