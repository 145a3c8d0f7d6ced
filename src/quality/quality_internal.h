/* The inside of a quality entry, shared by quality.c (building), quality_at.c, quality_bound.c and quality_rule.c. */
#ifndef DSE_QUALITY_QUALITY_INTERNAL_H
#define DSE_QUALITY_QUALITY_INTERNAL_H

#include "quality/quality.h"

enum { SCALES = 3 }; /* of enum dse_quality_scale */

/* A context of a sheet. */
struct curve {
    double context, across[SCALES]; /* of the context, as numbers on each scale; the logit is not used */
    double *ratio, *along[SCALES];  /* n of each, growing */
    size_t n;
    bool extended;
    double *value; /* [(metric's column * DSE_QUALITY_STATS + stat) * n + i] */
    double *y;     /* [column * n + i]: means as the rule takes them */
    double *slope; /* of y over along[], of rules with a cubic */
};

/* Everything that was measured at one value of each setting. */
struct sheet {
    double setting[DSE_SETTINGS];
    struct curve *curves; /* contexts grow */
    size_t n;
};

/* A setting of which several values were measured. */
struct axis {
    enum dse_setting setting;
    double *value, *at; /* n, growing; at: as they are interpolated */
    size_t n;
    bool exact, logarithmic; /* exact: nothing lies between two values */
};

enum { AXES_MAX = 12, GRID_MAX = 1 << 16 };
_Static_assert(DSE_SETTINGS <= 32, "settings are bits of an unsigned");

struct dse_quality_surface {
    char *method;
    int column[DSE_QUALITY_METRICS]; /* -1: no such metric */
    size_t n_columns;
    struct dse_quality_rule rule[DSE_QUALITY_METRICS];
    struct sheet *sheets;
    size_t n;
    double fixed[DSE_SETTINGS]; /* of settings without an axis */
    unsigned varies;
    struct axis axes[AXES_MAX];
    size_t n_axes;
    int32_t *grid;   /* a sheet at each combination of the axes' values, the first axis fastest; -1: none */
    bool has_ratios; /* else 1 is the only one */
    char *no_context, *no_ratio, *no_mix, *unlike[DSE_SETTINGS];
};

struct dse_quality {
    struct dse_entry entry;
    char *name, *source; /* owned; entry borrows them */
    struct dse_measured *measured;
    struct dse_quality_surface *surfaces;
    size_t n;
    char *no_method;
    struct quality_later *later; /* of quality_later: the rest is empty, and in quality_whole(); or NULL */
};
/* The entry with all that it has: itself, or what it was read to be. Every function that looks into an entry begins with it. */
const struct dse_quality *quality_whole(const struct dse_quality *q);

/* A row in the order of surfaces. */
struct placed {
    const struct quality_point *p;
    size_t row, method; /* method: in the order of the file */
};
/* Has the point numbers that a surface can have? */
bool quality_check_point(const struct quality_point *p, size_t row, struct row_fault *ret);
/* n points by method, settings, context, ratio and metric. The caller frees them. */
struct placed *quality_sort(const struct quality_point *points, size_t n);
/* No two of them the same? */
bool quality_refuse_twice(const struct placed *rows, size_t n, struct row_fault *ret);
int quality_compare_settings(const double *a, const double *b);

/* A metric at a ratio of 1 of a method with ratios: 1, 0, or NaN when nothing follows from it. */
double quality_at_one(enum dse_quality_metric m, enum dse_quality_stat stat);
/* A setting's value as rows have it: keys and values of more than 16 bits are like 16. */
double quality_setting(enum dse_setting s, double value);

/* A value on a scale, and back. */
double quality_scaled(int32_t scale, double v);
double quality_unscaled(int32_t scale, double u);
/* Can all values of the metric be taken so? */
bool quality_scale_fits(const struct dse_quality_surface *s, enum dse_quality_metric m, int32_t scale);
/* Has a surface with ratios a point at a ratio of 1, whose logit is none? */
bool quality_has_one(const struct dse_quality_surface *s);
/* Make y and slope of the curves by the rule. */
void quality_set_rule(struct dse_quality_surface *s, enum dse_quality_metric m, const struct dse_quality_rule *rule);

/* Steffen's slopes of n points, and the cubic between two: the formulas, in the order of GSL's. */
void quality_slopes(const double *x, const double *y, size_t n, double *ret);
/* n points at x: lines or Steffen's cubic. x within x[0] to x[n - 1]. */
double quality_between(const double *x, const double *y, size_t n, int32_t curve, double at);

/* The sheets around a query's settings: fills n and corner[].sheet and .weight. Why there are none, or NULL. */
const char *quality_find_sheets(const struct dse_quality_surface *s, const struct dse_quality_query *query,
                                struct dse_quality_place *ret);

/* A statistic of a curve, as the rule takes it, at a ratio (and its values on the scales) within the curve. *ret_raw: the number
 * measured, where it was; else NaN. */
double quality_on_curve(const struct dse_quality_surface *s, const struct curve *c, enum dse_quality_metric m,
                        enum dse_quality_stat stat, double ratio, const double along[SCALES], double *ret_raw);
/* The largest i with x[i] <= at; x[0] <= at. */
static inline size_t quality_below(const double *x, size_t n, double at)
{
    size_t i = 0;
    while (i + 1 < n && x[i + 1] <= at) i++;
    return i;
}

#endif
