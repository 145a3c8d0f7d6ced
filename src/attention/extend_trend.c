#include "attention/extend_trend.h"

#include "base/xalloc.h"
#include "workload/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[EXTEND_COLUMNS] = {"method", "context", "ratio", "settings", "metric", "mean", "se",
                                                    "sd",     "p10",     "p50",   "p90",      "heads",  "kind"};
/* Contexts that tell: of slopes, and of bases of shares, which scatter and hardly move, three octaves; of bases of all else one. */
static const double long_span = 8, short_span = 2;

/* ---- scales -------------------------------------------------------------------------------------------------------------- */

bool extend_is_share(const char *metric)
{
    static const char *const shares[] = {"retained_mass", "hit_ratio",      "false_negative", "false_positive",
                                         "top1",          "top1_plus_top2", "recomputed",     "read_share"};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        if (strcmp(metric, shares[i]) == 0) return true;
    return false;
}

double extend_scaled(bool share, double v)
{
    return share ? log(v / (1 - v)) : log(v);
}

double extend_unscaled(bool share, double y)
{
    return share ? 1 / (1 + exp(-y)) : exp(y);
}

/* Is v inside of the scale? A mass of 1 or an error of 0 is none that moves. */
bool extend_inside(bool share, double v)
{
    return v > 0 && (!share || v < 1);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

static int by_surface(const void *a, const void *b)
{
    const struct extend_point *x = a, *y = b;
    static const enum extend_column keys[] = {EXTEND_METHOD, EXTEND_SETTINGS, EXTEND_METRIC};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int order = strcmp(x->row->cells[keys[i]], y->row->cells[keys[i]]);
        if (order) return order;
    }
    if (x->ratio != y->ratio) return x->ratio < y->ratio ? -1 : 1;
    return x->context < y->context ? -1 : x->context > y->context;
}

static bool same_surface(const struct extend_point *a, const struct extend_point *b)
{
    return strcmp(a->row->cells[EXTEND_METHOD], b->row->cells[EXTEND_METHOD]) == 0 &&
           strcmp(a->row->cells[EXTEND_SETTINGS], b->row->cells[EXTEND_SETTINGS]) == 0 &&
           strcmp(a->row->cells[EXTEND_METRIC], b->row->cells[EXTEND_METRIC]) == 0 && a->ratio == b->ratio;
}

static bool read_point(const struct csv_table *t, size_t row, struct extend_point *ret, struct diags *diags)
{
    ret->row = &t->rows[row];
    if (!csv_table_number(t, row, EXTEND_CONTEXT, false, &ret->context, diags) ||
        !csv_table_number(t, row, EXTEND_RATIO, true, &ret->ratio, diags) ||
        !csv_table_number(t, row, EXTEND_MEAN, false, &ret->value, diags))
        return false;
    if (isnan(ret->ratio)) ret->ratio = 1;
    return ret->context >= 1 || diags_input(diags, csv_table_cell_loc(t, row, EXTEND_CONTEXT), t->text, NULL,
                                            "context: %s is below 1", ret->row->cells[EXTEND_CONTEXT]);
}

/* Of one layer alone? It has few heads, and made heads are of the whole model. */
static bool is_of_layer(const struct csv_row *row)
{
    double setting[DSE_SETTINGS];
    setting[DSE_SET_LAYER] = -1;
    free(measured_read_row(row->cells[EXTEND_SETTINGS], setting));
    return setting[DSE_SET_LAYER] >= 0;
}

bool extend_surfaces_read(struct extend_surfaces *s, const char *path, bool made, struct diags *diags)
{
    *s = (struct extend_surfaces){0};
    if (!csv_table_read(&s->table, path, columns, EXTEND_COLUMNS, diags)) return false;
    bool ok = true;
    s->list = xcalloc(s->table.n_rows + 1, sizeof *s->list);
    for (size_t i = 0; i < s->table.n_rows; i++) {
        if (!made && strcmp(s->table.rows[i].cells[EXTEND_KIND], "extended") == 0)
            continue; /* of an earlier time: they are made anew */
        if (!made && is_of_layer(&s->table.rows[i])) continue;
        ok = read_point(&s->table, i, &s->list[s->n++], diags) && ok;
    }
    if (ok && s->n == 0)
        ok = diags_input(diags, csv_table_header_loc(&s->table), s->table.text, NULL, "there are no measured rows");
    qsort(s->list, s->n, sizeof *s->list, by_surface);
    return ok;
}

void extend_surfaces_release(struct extend_surfaces *s)
{
    free(s->list);
    csv_table_release(&s->table);
}

size_t extend_surface_end(const struct extend_surfaces *s, size_t from)
{
    size_t to = from + 1;
    while (to < s->n && same_surface(&s->list[from], &s->list[to])) to++;
    return to;
}

/* ---- slopes and bases ---------------------------------------------------------------------------------------------------- */

/* g(value) = y at log(context) = x, its standard error; and the slope from there, with its own. */
struct trend {
    double x, y, y_se, slope, slope_se;
};

/* The line through points of contexts up to `most` and from 1 / span of the longest on, with the slope as given (NaN: by least
 * squares). False: none of them can be on the scale. */
static bool find_trend(const struct extend_point *p, size_t n, double most, double span, double slope, struct trend *ret)
{
    const bool share = extend_is_share(p->row->cells[EXTEND_METRIC]);
    double longest = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, squares = 0, count = 0;
    for (size_t i = 0; i < n; i++)
        if (p[i].context <= most) longest = p[i].context;
    for (size_t i = 0; i < n; i++) {
        if (p[i].context > most || p[i].context * span < longest || !extend_inside(share, p[i].value)) continue;
        double x = log(p[i].context), y = extend_scaled(share, p[i].value);
        count++;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    if (count < 1) return false;
    *ret = (struct trend){.x = sx / count, .y = sy / count, .slope = slope};
    double spread = sxx - sx * sx / count;
    if (isnan(slope)) {
        if (count < 2 || spread <= 0) return false;
        ret->slope = (sxy - sx * sy / count) / spread;
    }
    for (size_t i = 0; i < n; i++) {
        if (p[i].context > most || p[i].context * span < longest || !extend_inside(share, p[i].value)) continue;
        double off = extend_scaled(share, p[i].value) - ret->y - ret->slope * (log(p[i].context) - ret->x);
        squares += off * off;
    }
    ret->y_se = count > 1 ? sqrt(squares / (count - 1) / count) : 0;
    ret->slope_se = isnan(slope) && count > 2 ? sqrt(squares / (count - 2) / spread) : 0;
    return true;
}

static double trend_at(const struct trend *t, double context)
{
    return t->y + t->slope * (log(context) - t->x);
}

/* The slope of made heads up to the context `to`, or their longest below it: a line from a quarter of `from` on, as two contexts
 * alone scatter. */
static bool slope_between(const struct extend_point *p, size_t n, double from, double to, struct trend *ret)
{
    const double before = 4;
    double longest = 0;
    for (size_t i = 0; i < n; i++)
        if (p[i].context <= to) longest = p[i].context;
    return longest > 0 && find_trend(p, n, to, longest / fmin(from, longest) * before, (double)NAN, ret);
}

/* The made heads' slope for a measured surface: of the same method, settings, ratio and metric; else the mean of those that differ
 * in settings alone. False: the made heads have none. */
static bool find_slope(const struct extend_surfaces *made, const struct extend_point *p, double from, double to, double *ret,
                       double *ret_se)
{
    double sum = 0, squares = 0, n = 0;
    for (size_t at = 0, end; at < made->n; at = end) {
        const struct extend_point *m = &made->list[at];
        struct trend t;
        end = extend_surface_end(made, at);
        bool alike = strcmp(m->row->cells[EXTEND_METHOD], p->row->cells[EXTEND_METHOD]) == 0 &&
                     strcmp(m->row->cells[EXTEND_METRIC], p->row->cells[EXTEND_METRIC]) == 0 && fabs(m->ratio - p->ratio) < 1e-9;
        if (!alike || !slope_between(m, end - at, from, to, &t)) continue;
        if (strcmp(m->row->cells[EXTEND_SETTINGS], p->row->cells[EXTEND_SETTINGS]) == 0) {
            *ret = t.slope;
            *ret_se = t.slope_se;
            return true;
        }
        sum += t.slope;
        squares += t.slope_se * t.slope_se;
        n++;
    }
    if (n < 1) return false;
    *ret = sum / n;
    *ret_se = sqrt(squares / n);
    return true;
}

static bool has_method(const struct extend_surfaces *s, const char *method)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->list[i].row->cells[EXTEND_METHOD], method) == 0) return true;
    return false;
}

bool extend_trend(const struct extend_surfaces *made, const struct extend_point *p, size_t n, double most, double context,
                  struct extend_at *ret)
{
    const double least = 0.02; /* no line through so few points is known better */
    const bool share = extend_is_share(p->row->cells[EXTEND_METRIC]);
    double slope, se, longest = p->context;
    struct trend own, t;
    if (!has_method(made, p->row->cells[EXTEND_METHOD])) return false;
    for (size_t i = 0; i < n; i++)
        if (p[i].context <= most) longest = p[i].context;
    if (!find_slope(made, p, longest, context, &slope, &se)) {
        slope = 0;
        se = 1;
    }
    se = hypot(se, least);
    if (find_trend(p, n, most, long_span, (double)NAN, &own) && own.slope_se > 0) {
        double own_se = hypot(own.slope_se, least), w = 1 / (se * se), own_w = 1 / (own_se * own_se);
        slope = (w * slope + own_w * own.slope) / (w + own_w);
        se = sqrt(1 / (w + own_w));
    }
    const double steepest = share ? 0.5 : 1; /* nothing grows faster than the positions */
    if (!find_trend(p, n, most, share ? long_span : short_span, fmin(fmax(slope, -steepest), steepest), &t)) return false;
    *ret = (struct extend_at){trend_at(&t, context), hypot(t.y_se, se * (log(context) - t.x))};
    return true;
}
