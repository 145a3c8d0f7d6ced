/* Measuring quality surfaces: methods at many settings, contexts and ratios over the heads of traces, which count as the layers that
 * they stand for. What comes out are the rows of a quality file (docs/quality.md).
 *
 * Work is split into (layer, context, method, head) and done by OpenMP's threads, the longest first; results do not depend on how
 * many there are.
 */
#ifndef DSE_WORKLOAD_SURFACE_H
#define DSE_WORKLOAD_SURFACE_H

#include "workload/kv_format.h"
#include "workload/measure.h"

#include <dse/quality.h>

enum surface_family { SURFACE_EVICTION, SURFACE_LAD, SURFACE_FIXED, SURFACE_PARTIAL, SURFACE_FORMAT };

#define SURFACE_ENDS_MAX ((size_t)1024)

/* A method at one value of each of its settings. */
struct surface_method {
    enum surface_family family;
    const char *method;
    char *settings; /* of its rows: "intervals=16"; owned by who made it */
    size_t steps;   /* that are measured, up to each context; 0: its second half, at most SURFACE_ENDS_MAX */
    struct retention_policy policy;
    struct locality_options lad;
    struct single_pass fixed;
    struct softmax_partial partial;
    struct kv_format format;
};

struct surface_row {
    const struct surface_method *method;
    size_t context;
    double ratio;
    enum dse_quality_metric metric;
    double stat[DSE_QUALITY_STATS];
};

/* Measure. Contexts are the plan's, its steps are not used; `weights` has a number above 0 for each head of all sources, layer by
 * layer. Rows by method, context, ratio and metric in *ret, which the caller frees. A cache that is too small for a policy has no row.
 * Mean and spread weigh heads; the hit ratio weighs them by their active positions, too, as traffic does. The standard error takes
 * heads as drawn at random: sd / sqrt((sum w)^2 / sum w^2). False with errors. */
bool measure_surface(const struct measure_plan *p, const double *weights, const struct surface_method *methods, size_t n_methods,
                     const double *ratios, size_t n_ratios, struct surface_row **ret, size_t *ret_n, struct diags *diags);

/* What a method's family is measured in: how many metrics, and which. */
size_t surface_metrics(const struct surface_method *m, const enum dse_quality_metric **ret);
/* Measure a method that is no policy on the steps of a head from `first` on that have q: a value for each of its metrics. */
bool surface_run_head(const struct surface_method *m, const struct head *h, size_t first, double *ret, struct diags *diags);

/* How many of a model's layers each of n stored ones stands for: those nearest to it, half of those that are as near to two. Layer 0
 * stands for itself alone: its attention is unlike that of any other. ids: the stored layers, in any order; all below `layers`. */
void surface_layer_weights(const int32_t *ids, size_t n, size_t layers, double *ret);

/* Statistics of n numbers with weights: mean, standard error, standard deviation, percentiles (the smallest number that at least
 * that share of the weight lies at or below). */
void surface_stats(const double *v, const double *weights, size_t n, double ret[DSE_QUALITY_STATS]);

#endif
