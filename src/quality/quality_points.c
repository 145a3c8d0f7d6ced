/* Rows of a quality file: what each may say, and their order. */
#include "quality/quality_internal.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Metrics that are shares. The others are at most the context, or an error. */
static bool is_share(enum dse_quality_metric m)
{
    return m == DSE_Q_RETAINED_MASS || m == DSE_Q_HIT_RATIO || (m >= DSE_Q_FALSE_NEGATIVE && m < DSE_QUALITY_METRICS);
}

static const double LEAST_RATIO = 1e-9, LARGEST = 1e9; /* beyond these a spline through the points need not be a number */

static bool check_mean(const struct quality_point *p, size_t row, struct row_fault *ret)
{
    const char *name = dse_quality_metric_names[p->metric];
    const double mean = p->stat[DSE_Q_MEAN];
    double most = is_share(p->metric) ? 1 : p->metric == DSE_Q_ATTENTION_ERROR ? LARGEST : p->context;
    if (!(mean >= 0 && mean <= most))
        return row_fault(ret, row, "mean", "%s %g is outside of 0 to %g%s", name, mean, most,
                         !is_share(p->metric) && p->metric != DSE_Q_ATTENTION_ERROR ? " (its context)" : "");
    return true;
}

bool quality_check_point(const struct quality_point *p, size_t row, struct row_fault *ret)
{
    if (!*p->method) return row_fault(ret, row, "method", "there is no method");
    if (!isfinite(p->context) || p->context <= 0)
        return row_fault(ret, row, "context", "context %g is not a positive number", p->context);
    if (!(p->ratio > 0 && p->ratio <= 1)) return row_fault(ret, row, "ratio", "ratio %g is not above 0 and at most 1", p->ratio);
    if (p->ratio < LEAST_RATIO) return row_fault(ret, row, "ratio", "ratio %g is below %g", p->ratio, LEAST_RATIO);
    if (!check_mean(p, row, ret)) return false;
    const double *s = p->stat;
    for (int i = DSE_Q_SE; i <= DSE_Q_SD; i++)
        if (s[i] < 0 || s[i] > LARGEST)
            return row_fault(ret, row, dse_quality_stat_names[i], "%s %g is outside of 0 to %g", dse_quality_stat_names[i], s[i],
                             LARGEST);
    for (int i = DSE_Q_P10; i <= DSE_Q_P90; i++) {
        if (s[i] < 0 || s[i] > LARGEST)
            return row_fault(ret, row, dse_quality_stat_names[i], "%s %g is outside of 0 to %g", dse_quality_stat_names[i], s[i],
                             LARGEST);
        if (i > DSE_Q_P10 && s[i] < s[i - 1])
            return row_fault(ret, row, dse_quality_stat_names[i], "%s %g is below %s %g", dse_quality_stat_names[i], s[i],
                             dse_quality_stat_names[i - 1], s[i - 1]);
    }
    return true;
}

static int compare(double a, double b)
{
    return a < b ? -1 : a > b;
}

int quality_compare_settings(const double *a, const double *b)
{
    for (size_t i = 0; i < DSE_SETTINGS; i++)
        if (a[i] != b[i]) return compare(a[i], b[i]);
    return 0;
}

/* By method, settings, context, ratio, metric; 0: the same point. */
static int compare_points(const struct placed *a, const struct placed *b)
{
    int c = a->method < b->method ? -1 : a->method > b->method;
    if (c == 0) c = quality_compare_settings(a->p->setting, b->p->setting);
    if (c == 0) c = compare(a->p->context, b->p->context);
    if (c == 0) c = compare(a->p->ratio, b->p->ratio);
    return c ? c : (int)a->p->metric - (int)b->p->metric;
}

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int c = compare_points(x, y);
    return c ? c : x->row < y->row ? -1 : x->row > y->row;
}

struct placed *quality_sort(const struct quality_point *points, size_t n)
{
    struct placed *rows = xcalloc(n + 1, sizeof *rows);
    const char **methods = NULL;
    size_t n_methods = 0;
    for (size_t i = 0; i < n; i++) {
        size_t m = 0;
        while (m < n_methods && strcmp(methods[m], points[i].method) != 0) m++;
        if (m == n_methods) {
            methods = xrealloc(methods, n_methods + 1, sizeof *methods);
            methods[n_methods++] = points[i].method;
        }
        rows[i] = (struct placed){&points[i], i, m};
    }
    free(methods);
    qsort(rows, n, sizeof *rows, compare_placed);
    return rows;
}

bool quality_refuse_twice(const struct placed *rows, size_t n, struct row_fault *ret)
{
    for (size_t i = 1; i < n; i++) {
        const struct quality_point *p = rows[i].p;
        if (compare_points(&rows[i - 1], &rows[i]) != 0) continue;
        char *of = rows[i - 1].p->line ? xasprintf("line %d", rows[i - 1].p->line) : xasprintf("row %zu", rows[i - 1].row + 1);
        row_fault(ret, rows[i].row, "method", "%s of %s at context %g, ratio %g stands in %s already",
                  dse_quality_metric_names[p->metric], p->method, p->context, p->ratio, of);
        free(of);
        return false;
    }
    return true;
}
