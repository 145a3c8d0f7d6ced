/* Heads that stand for all heads of a model: how much each of them counts, and statistics over them.
 *
 * Weights come in two steps. A stored layer counts as the layers that it stands for. Where means over all heads of the model are
 * known at some points (they need q, k and v of all heads once, but no file of them), the weights are then moved as little as it
 * takes to meet these: calibration of a sample, as surveys have it (Deville and Saerndal, "Calibration Estimators in Survey
 * Sampling", JASA 1992), with the entropy as the distance and known means that may be missed by a tolerance.
 */
#ifndef DSE_ATTENTION_SURFACE_HEADS_H
#define DSE_ATTENTION_SURFACE_HEADS_H

#include <dse/quality.h>

#include <stddef.h>
#include <stdint.h>

/* A head of a plan's sources. */
struct surface_head {
    double weight; /* above 0 */
    int32_t layer; /* of the model; -1: of none */
    size_t head;   /* the same number: the same head of the model, on another text; below the number of heads of all sources */
    size_t text;   /* likewise */
};

/* How many of a model's layers each of n stored ones stands for: those nearest to it, half of those that are as near to two. Layer
 * 0 stands for itself alone: its attention is unlike that of any other. ids: the stored layers, in any order; all below
 * `layers`. */
void surface_layer_weights(const int32_t *ids, size_t n, size_t layers, double *ret);

/* A number that was measured: its weight, whose it is, and at which end of which text. Heads and ends count from 0, below n of
 * all. */
struct surface_sample {
    double weight;
    size_t head, end;
};
/* Statistics of n numbers: mean; standard deviation and percentiles (the smallest number that at least that share of the weight
 * lies at or below) over all of them; standard error of the mean. The last takes heads as drawn at random, and ends likewise: the
 * variance of the mean over heads, each averaged over its ends, sd^2 sum w^2 / (sum w)^2, and where there is more than one end that
 * over ends, each averaged over its heads, with n / (n - 1) for so few. */
void surface_stats(const double *v, const struct surface_sample *of, size_t n, double ret[DSE_QUALITY_STATS]);

/* How well means over all heads are met, before and after. */
struct surface_match {
    size_t known;                     /* means that were used */
    double heads_before, heads_after; /* how many heads of one weight have as small a standard error: (sum w)^2 / sum w^2 */
    double mean_before, mean_after;   /* of |mean / known - 1| */
    double worst_before, worst_after;
};
/* Weights w of n heads near the given ones d, both made to sum up to 1, which minimise
 *
 *     N sum w log(w / d) + sum over known (mean_w / known - 1)^2 / (2 SURFACE_TOLERANCE^2),   N = (sum d)^2 / sum d^2
 *
 * x: [known][head]; known: above 0. The minimum is unique, and all weights stay above 0. */
#define SURFACE_TOLERANCE 0.05
void surface_match_heads(const double *d, size_t n, const double *x, const double *known, size_t n_known, double *ret,
                         struct surface_match *ret_match);

#endif
