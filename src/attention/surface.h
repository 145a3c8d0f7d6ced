/* Measuring quality surfaces: methods at many settings, contexts and ratios over the heads of traces, which stand for all of the
 * model's (surface_heads.h). What comes out are the rows of a quality file (docs/explanation/quality.md).
 *
 * Work is split into (layer, context, end, method, head) and done by OpenMP's threads, the longest first; results do not depend on
 * how many there are.
 */
#ifndef DSE_ATTENTION_SURFACE_H
#define DSE_ATTENTION_SURFACE_H

#include "attention/kv_format.h"
#include "attention/measure.h"
#include "attention/surface_heads.h"

#include <dse/quality.h>

enum surface_family { SURFACE_EVICTION, SURFACE_LAD, SURFACE_FIXED, SURFACE_PARTIAL, SURFACE_FORMAT };

#define SURFACE_STEPS_MAX ((size_t)1024)

/* A method at one value of each of its settings. */
struct surface_method {
    enum surface_family family;
    const char *method;
    char *settings; /* of its rows: "intervals=16"; owned by who made it */
    bool base;      /* at the settings that do not vary: where means are known, and layers have rows */
    size_t steps;   /* that are measured, up to each context; 0: its second half, at most SURFACE_STEPS_MAX */
    struct retention_policy policy;
    struct locality_options lad;
    struct single_pass fixed;
    struct softmax_partial partial;
    struct kv_format format;
};

/* A mean over all heads of the model, of a base method. */
struct surface_known {
    const char *method;
    double context, ratio;
    enum dse_quality_metric metric;
    double mean; /* above 0 */
};

struct surface_plan {
    const struct measure_plan *plan;  /* sources and contexts; its steps are not used */
    const struct surface_head *heads; /* of all sources, layer by layer: measure_heads of them */
    size_t ends;                      /* of each context, at least 1: surface_end */
    const struct surface_method *methods;
    size_t n_methods;
    const double *ratios;
    size_t n_ratios;
    const struct surface_known *known; /* that weights are matched to; NULL: none */
    size_t n_known;
    bool by_layer; /* rows of each layer, too */
};

struct surface_row {
    const struct surface_method *method;
    int32_t layer; /* -1: of the model */
    size_t context;
    double ratio;
    enum dse_quality_metric metric;
    double stat[DSE_QUALITY_STATS];
    size_t heads; /* of the model, that were measured */
};

struct surface_result {
    struct surface_row *rows; /* by method, context, ratio, layer and metric */
    size_t n;
    double *weights; /* of the heads, as they count in the end; they sum up to 1 */
    struct surface_match match;
};

/* What a method's family is measured in: how many metrics, and which. */
size_t surface_metrics(const struct surface_method *m, const enum dse_quality_metric **ret);
/* Measure a method that is no policy on the steps of a head from `first` on that have q: a value for each of its metrics. */
bool surface_run_head(const struct surface_method *m, const struct head *h, size_t first, double *ret, struct diags *diags);

/* Where a context is measured when it has several ends: evenly from 7/8 to 9/8 of it, so that their mean is at the context. end:
 * from 0. A single end is at the context. */
size_t surface_end(size_t context, size_t end, size_t ends);

/* Measure. A cache that is too small for a policy has no row. Every end is a run of its own, from the text's first position on: a
 * cache of that length, LAD from the start. Mean and spread weigh heads; the hit ratio weighs them by their active positions, too,
 * as traffic does. The standard error is surface_stats'. Of a layer, heads count alike. False with errors; else
 * surface_result_release. */
bool measure_surface(const struct surface_plan *p, struct surface_result *ret, struct diags *diags);
void surface_result_release(struct surface_result *r);

#endif
