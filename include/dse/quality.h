/* Measured quality of lossy techniques: surfaces over context, ratio and the technique's own settings.
 *
 * A quality entry (`quality = "codellama-13b"`, catalog/quality/NAME.csv, docs/explanation/quality.md) holds a surface for each
 * method that was measured on a model's heads: a KV eviction policy ("voting", "h2o"), LAD's decoding ("lad"), a partial softmax,
 * fixed point, a format of the cache. A surface has the metrics of enum dse_quality_metric, each with mean, standard error, spread
 * and percentiles over heads, which count as the layers that they stand for.
 *
 * Reading is in two steps: dse_quality_find looks a point up, once; dse_quality_at and dse_quality_mean then read any metric there.
 * At points that were measured the value is the one in the file, to the last digit. Between them it is interpolated by the rule
 * that had the least leave-one-out error (struct dse_quality_rule). Outside of what was measured there is no value, and a sentence
 * says why. All functions are pure, thread-safe and without allocation; sentences live as long as the entry.
 */
#ifndef DSE_QUALITY_H
#define DSE_QUALITY_H

#include <dse/catalog.h>
#include <dse/interval.h>

#include <stdbool.h>
#include <stdint.h>

struct dse_quality;
struct dse_quality_surface;

enum dse_quality_metric {
    DSE_Q_RETAINED_MASS,   /* of the full softmax, on the positions that are read; 1 where all are */
    DSE_Q_ATTENTION_ERROR, /* |o - exact| / |exact|; 0 where all positions are read */
    DSE_Q_CENTERS,         /* LAD, of struct dse_locality: |C| */
    DSE_Q_LARGE,           /* |M| */
    DSE_Q_ACTIVE,          /* |J|, with the newest positions */
    DSE_Q_UPDATES,         /* |U| */
    DSE_Q_HIT_RATIO,
    DSE_Q_FALSE_NEGATIVE, /* shares of the positions classified wrongly by way of the centers */
    DSE_Q_FALSE_POSITIVE,
    DSE_Q_TOP1, /* probability of a position's most probable interval of exp; of its two */
    DSE_Q_TOP1_PLUS_TOP2,
    DSE_Q_RECOMPUTED, /* partial softmax: share of the vectors that are computed anew */
    DSE_Q_READ_SHARE, /* of the positions held, that a step reads */
    DSE_QUALITY_METRICS
};
extern const char *const dse_quality_metric_names[]; /* "retained_mass", "attention_error", "centers", ..., NULL */

/* What is known of a metric at a point. */
enum dse_quality_stat { DSE_Q_MEAN, DSE_Q_SE, DSE_Q_SD, DSE_Q_P10, DSE_Q_P50, DSE_Q_P90, DSE_QUALITY_STATS };
extern const char *const dse_quality_stat_names[]; /* "mean", "se", "sd", "p10", "p50", "p90", NULL */

/* ---- the entry ----------------------------------------------------------------------------------------------------------- */

/* The LLM that was measured is this one? False when the file names none. */
bool dse_quality_on(const struct dse_quality *q, const struct dse_llm *llm);
/* The i-th method's surface, or NULL behind the last; the surface of a method, or NULL. */
const struct dse_quality_surface *dse_quality_surface_at(const struct dse_quality *q, size_t i);
const struct dse_quality_surface *dse_quality_method(const struct dse_quality *q, const char *method);
const char *dse_surface_method(const struct dse_quality_surface *s);
bool dse_surface_has(const struct dse_quality_surface *s, enum dse_quality_metric m);
/* Smallest and largest context; *ret_measured: the largest that is measured, not extended. */
void dse_surface_contexts(const struct dse_quality_surface *s, double *ret_min, double *ret_max, double *ret_measured);
/* Smallest and largest ratio at any context. */
void dse_surface_ratios(const struct dse_quality_surface *s, double *ret_min, double *ret_max);
/* Smallest and largest value of a setting; the same: it holds for this one only. */
void dse_surface_settings(const struct dse_quality_surface *s, enum dse_setting setting, double *ret_min, double *ret_max);
/* How many layers have rows of their own (setting `layer`). */
size_t dse_surface_layers(const struct dse_quality_surface *s);

/* Entries of older files answer the same queries: policies of a retention profile as methods, an attention profile as "lad". They
 * belong to the entry; an attention profile whose errors are no numbers up to 1e9 has none (NULL). */
const struct dse_quality *dse_retention_quality(const struct dse_retention *r);
const struct dse_quality *dse_profile_quality(const struct dse_profile *p);

/* How a metric of a method is interpolated. Values v as g(v): themselves, log(v) or logit(v). Over the logarithm of the context a
 * straight line or Steffen's monotone cubic, over the ratio (itself, its logarithm, its logit) likewise; over settings lines, in
 * their logarithm where they are sizes. */
enum dse_quality_scale { DSE_Q_PLAIN, DSE_Q_LOG, DSE_Q_LOGIT };
extern const char *const dse_quality_scale_names[]; /* "plain", "log", "logit", NULL */
enum dse_quality_curve { DSE_Q_LINE, DSE_Q_CUBIC };
extern const char *const dse_quality_curve_names[]; /* "line", "cubic", NULL */
struct dse_quality_rule {
    int32_t value, ratio;              /* enum dse_quality_scale */
    int32_t context;                   /* likewise: of the context; DSE_Q_LOG but for older files */
    int32_t over_context, over_ratio;  /* enum dse_quality_curve */
    double context_error, ratio_error; /* median of |left out / measured - 1| where a context, or a ratio, is left out; NaN: no
                                          point lies between two others */
    double setting_error;              /* the same of settings */
    double worst_error;                /* the largest of all. Errors are of rows of the model: a layer has few heads */
};
/* NULL when the surface has no such metric. */
const struct dse_quality_rule *dse_surface_rule(const struct dse_quality_surface *s, enum dse_quality_metric m);

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

struct dse_quality_query {
    const char *method;
    double context; /* positions that were seen */
    double ratio;   /* of these, that are kept or read; 1 for methods without one */
    /* The point's settings: bits 1u << enum dse_setting say which are given, each with its value (of a choice: its index). A
     * setting that is not given is not asked for where the surface was measured at one value of it; else it is what a file without
     * a word on it means (enum dse_setting). */
    unsigned given;
    double setting[DSE_SETTINGS];
};

enum { DSE_QUALITY_CORNERS = 8 }; /* three settings between two measured values each */

/* A point found. Its fields are dse_quality_find's and dse_quality_at's alone. */
struct dse_quality_place {
    const struct dse_quality_surface *surface;
    double context, ratio;
    double along[3], across[3]; /* ratio, and context, on each scale */
    bool whole;                 /* everything is read: a ratio of 1 or more of a method with ratios */
    bool extended;              /* rests on rows that were extended beyond measured contexts */
    int32_t n;
    struct {
        const void *sheet;
        double weight;
        int32_t low, high; /* the contexts below and above; the same: it was measured at this one */
    } corner[DSE_QUALITY_CORNERS];
};

/* Find the point. NULL, and *ret is filled; else the sentence that says why there is no value: another method, setting, context or
 * ratio than those measured. A ratio stands for all that round to the same whole number of positions: up to half a position below
 * the smallest measured it is still known. About 50 to 100 ns. */
const char *dse_quality_find(const struct dse_quality *q, const struct dse_quality_query *query, struct dse_quality_place *ret);

struct dse_quality_value {
    double stat[DSE_QUALITY_STATS]; /* by enum dse_quality_stat; NaN where the file does not say */
    bool extended;                  /* not measured, but extended from shorter contexts */
};
/* A metric at a point found. False, and *ret untouched, when the method has no such metric. */
bool dse_quality_at(const struct dse_quality_place *p, enum dse_quality_metric m, struct dse_quality_value *ret);
/* One statistic alone; NaN when there is none. */
double dse_quality_stat(const struct dse_quality_place *p, enum dse_quality_metric m, enum dse_quality_stat stat);
static inline double dse_quality_mean(const struct dse_quality_place *p, enum dse_quality_metric m)
{
    return dse_quality_stat(p, m, DSE_Q_MEAN);
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

struct dse_quality_box {
    const char *method;
    struct dse_interval context, ratio;
    unsigned given; /* as in a query */
    double lo[DSE_SETTINGS], hi[DSE_SETTINGS];
};
/* An interval that holds the statistic at every point of the box which dse_quality_find finds; false: it finds none, or the metric
 * is not known. Sound to the last digit; tight to rounding where context, ratio and settings are single values or the rule is a
 * line over the context. */
bool dse_quality_bound(const struct dse_quality *q, const struct dse_quality_box *box, enum dse_quality_metric m,
                       enum dse_quality_stat stat, struct dse_interval *ret);

#endif
