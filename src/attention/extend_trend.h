/* What extending a quality file is made of (extend_file.h): its rows as points of surfaces, and the trends of these. */
#ifndef DSE_ATTENTION_EXTEND_TREND_H
#define DSE_ATTENTION_EXTEND_TREND_H

#include "config/csv_table.h"

enum extend_column {
    EXTEND_METHOD,
    EXTEND_CONTEXT,
    EXTEND_RATIO,
    EXTEND_SETTINGS,
    EXTEND_METRIC,
    EXTEND_MEAN,
    EXTEND_SE,
    EXTEND_SD,
    EXTEND_P10,
    EXTEND_P50,
    EXTEND_P90,
    EXTEND_HEADS,
    EXTEND_KIND,
    EXTEND_COLUMNS
};

struct extend_point {
    const struct csv_row *row;
    double context, ratio, value;
};

/* Points of one method, settings, ratio and metric are neighbours, by context. */
struct extend_surfaces {
    struct csv_table table;
    struct extend_point *list;
    size_t n;
};

/* Read a quality file; of a `made` one all rows, else those of kind `measured` that are of the whole model, not of a layer. False
 * with errors; release it whatever comes back. */
bool extend_surfaces_read(struct extend_surfaces *s, const char *path, bool made, struct diags *diags);
void extend_surfaces_release(struct extend_surfaces *s);
/* Behind the last point of the surface that begins at `from`. */
size_t extend_surface_end(const struct extend_surfaces *s, size_t from);

/* Scales: shares on a logit, all else on a logarithm. Only what is inside of its scale moves. */
bool extend_is_share(const char *metric);
double extend_scaled(bool share, double v);
double extend_unscaled(bool share, double y);
bool extend_inside(bool share, double v);

/* y = g(value) and its standard error at a context. */
struct extend_at {
    double y, se;
};
/* What n points of a measured surface, of contexts up to `most`, say of a longer context. The base is theirs; the slope is the mean
 * of their own over the upper contexts and of the made heads' from a quarter of the longest of them to this context, weighed by the
 * standard errors. Where made heads are shorter it is theirs as far as they go; where they lack the settings, the mean of those
 * that have the same method, ratio and metric; where a metric of theirs is off its scale, the measured ones' slope, or none. False:
 * the made heads do not have the method, or no point is on the scale. */
bool extend_trend(const struct extend_surfaces *made, const struct extend_point *p, size_t n, double most, double context,
                  struct extend_at *ret);

#endif
