#include "config/extend_file.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "config/csv_table.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum column { METHOD, CONTEXT, RATIO, SETTINGS, METRIC, MEAN, SE, SD, P10, P50, P90, HEADS, KIND, COLUMNS };
static const char *const columns[COLUMNS] = {"method", "context", "ratio", "settings", "metric", "mean", "se",
                                             "sd",     "p10",     "p50",   "p90",      "heads",  "kind"};
/* Contexts that tell: of slopes, and of bases of shares, which scatter and hardly move, three octaves; of bases of all else one. */
static const double long_span = 8, short_span = 2;

struct point {
    const struct csv_row *row;
    double context, ratio, value;
};

/* Points of one method, settings, ratio and metric, by context, are neighbours. */
struct surfaces {
    struct csv_table table;
    struct point *list;
    size_t n;
};

/* ---- scales -------------------------------------------------------------------------------------------------------------- */

static bool is_share(const char *metric)
{
    static const char *const shares[] = {"retained_mass", "hit_ratio",      "false_negative", "false_positive",
                                         "top1",          "top1_plus_top2", "recomputed",     "read_share"};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        if (strcmp(metric, shares[i]) == 0) return true;
    return false;
}

/* The most that a metric can be at a context: there are no more centers, or active positions, than positions. */
static double most_of(const char *metric, double context)
{
    static const char *const counts[] = {"centers", "large", "active", "updates"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(metric, counts[i]) == 0) return context;
    return (double)INFINITY;
}

static double scaled(bool share, double v)
{
    return share ? log(v / (1 - v)) : log(v);
}

static double unscaled(bool share, double y)
{
    return share ? 1 / (1 + exp(-y)) : exp(y);
}

/* Is v inside of the scale? A mass of 1 or an error of 0 is none that moves. */
static bool inside(bool share, double v)
{
    return v > 0 && (!share || v < 1);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

static int by_surface(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    static const enum column keys[] = {METHOD, SETTINGS, METRIC};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int order = strcmp(x->row->cells[keys[i]], y->row->cells[keys[i]]);
        if (order) return order;
    }
    if (x->ratio != y->ratio) return x->ratio < y->ratio ? -1 : 1;
    return x->context < y->context ? -1 : x->context > y->context;
}

static bool same_surface(const struct point *a, const struct point *b)
{
    return strcmp(a->row->cells[METHOD], b->row->cells[METHOD]) == 0 &&
           strcmp(a->row->cells[SETTINGS], b->row->cells[SETTINGS]) == 0 &&
           strcmp(a->row->cells[METRIC], b->row->cells[METRIC]) == 0 && a->ratio == b->ratio;
}

static bool read_point(const struct csv_table *t, size_t row, struct point *ret, struct diags *diags)
{
    ret->row = &t->rows[row];
    if (!csv_table_number(t, row, CONTEXT, false, &ret->context, diags) ||
        !csv_table_number(t, row, RATIO, true, &ret->ratio, diags) || !csv_table_number(t, row, MEAN, false, &ret->value, diags))
        return false;
    if (isnan(ret->ratio)) ret->ratio = 1;
    return ret->context >= 1 || diags_input(diags, csv_table_cell_loc(t, row, CONTEXT), t->text, NULL, "context: %s is below 1",
                                            ret->row->cells[CONTEXT]);
}

static bool surfaces_read(struct surfaces *s, const char *path, struct diags *diags)
{
    *s = (struct surfaces){0};
    if (!csv_table_read(&s->table, path, columns, COLUMNS, diags)) return false;
    bool ok = true;
    s->list = xcalloc(s->table.n_rows + 1, sizeof *s->list);
    for (size_t i = 0; i < s->table.n_rows; i++) {
        if (strcmp(s->table.rows[i].cells[KIND], "extended") == 0) continue; /* of an earlier time: they are made anew */
        ok = read_point(&s->table, i, &s->list[s->n++], diags) && ok;
    }
    if (ok && s->n == 0)
        ok = diags_input(diags, csv_table_header_loc(&s->table), s->table.text, NULL, "there are no measured rows");
    qsort(s->list, s->n, sizeof *s->list, by_surface);
    return ok;
}

static void surfaces_release(struct surfaces *s)
{
    free(s->list);
    csv_table_release(&s->table);
}

static size_t surface_end(const struct surfaces *s, size_t from)
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

/* The line through points [from, to) of contexts up to `most` and from an eighth of the longest on, with the slope as given
 * (NaN: by least squares). False: none of them can be on the scale. */
static bool find_trend(const struct point *p, size_t n, double most, double slope, double slope_se, struct trend *ret)
{
    const bool share = is_share(p->row->cells[METRIC]);
    const double span = share || isnan(slope) ? long_span : short_span;
    double longest = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, squares = 0, count = 0;
    for (size_t i = 0; i < n; i++)
        if (p[i].context <= most) longest = p[i].context;
    for (size_t i = 0; i < n; i++) {
        if (p[i].context > most || p[i].context * span < longest || !inside(share, p[i].value)) continue;
        double x = log(p[i].context), y = scaled(share, p[i].value);
        count++;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    if (count < 1) return false;
    *ret = (struct trend){.x = sx / count, .y = sy / count, .slope = slope, .slope_se = slope_se};
    double spread = sxx - sx * sx / count;
    if (isnan(slope)) {
        if (count < 2 || spread <= 0) return false;
        ret->slope = (sxy - sx * sy / count) / spread;
    }
    for (size_t i = 0; i < n; i++) {
        if (p[i].context > most || p[i].context * span < longest || !inside(share, p[i].value)) continue;
        double off = scaled(share, p[i].value) - ret->y - ret->slope * (log(p[i].context) - ret->x);
        squares += off * off;
    }
    ret->y_se = count > 1 ? sqrt(squares / (count - 1) / count) : 0;
    if (isnan(slope)) ret->slope_se = count > 2 ? sqrt(squares / (count - 2) / spread) : 0;
    return true;
}

/* The made heads' slope for a measured surface: of the same method, settings, ratio and metric; else the mean of those that differ in
 * settings alone. False: the made heads have none. */
static bool find_slope(const struct surfaces *made, const struct point *p, double *ret, double *ret_se)
{
    double sum = 0, squares = 0, n = 0;
    for (size_t from = 0, to; from < made->n; from = to) {
        const struct point *m = &made->list[from];
        struct trend t;
        to = surface_end(made, from);
        bool alike = strcmp(m->row->cells[METHOD], p->row->cells[METHOD]) == 0 &&
                     strcmp(m->row->cells[METRIC], p->row->cells[METRIC]) == 0 && fabs(m->ratio - p->ratio) < 1e-9;
        if (!alike || !find_trend(m, to - from, (double)INFINITY, (double)NAN, 0, &t)) continue;
        if (strcmp(m->row->cells[SETTINGS], p->row->cells[SETTINGS]) == 0) {
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

static bool has_method(const struct surfaces *s, const char *method)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->list[i].row->cells[METHOD], method) == 0) return true;
    return false;
}

/* The trend of measured points up to the context `most`: its base is theirs, its slope the mean of theirs and the made heads', weighed by
 * their standard errors. Where made heads have no slope of a metric that may be 0, it is the measured ones', or none. False: the
 * made heads do not have the method, or no point is on the scale. */
static bool find_both(const struct surfaces *made, const struct point *p, size_t n, double most, struct trend *ret)
{
    const double least = 0.02; /* no line through so few points is known better */
    double slope, se;
    struct trend own;
    if (!has_method(made, p->row->cells[METHOD])) return false;
    if (!find_slope(made, p, &slope, &se)) {
        slope = 0;
        se = 1;
    }
    se = hypot(se, least);
    if (find_trend(p, n, most, (double)NAN, 0, &own) && own.slope_se > 0) {
        double own_se = hypot(own.slope_se, least), w = 1 / (se * se), own_w = 1 / (own_se * own_se);
        slope = (w * slope + own_w * own.slope) / (w + own_w);
        se = sqrt(1 / (w + own_w));
    }
    double steepest = is_share(p->row->cells[METRIC]) ? 0.5 : 1; /* nothing grows faster than the positions */
    return find_trend(p, n, most, fmin(fmax(slope, -steepest), steepest), se, ret);
}

static double trend_at(const struct trend *t, double context)
{
    return t->y + t->slope * (log(context) - t->x);
}

static double trend_se(const struct trend *t, double context)
{
    return hypot(t->y_se, t->slope_se * (log(context) - t->x));
}

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

static void add_cell(struct text *t, const char *s)
{
    bool quoted = strpbrk(s, ",\"\n") != NULL;
    text_add(t, quoted ? "\"" : "");
    for (; *s; s++) {
        text_add_bytes(t, s, 1);
        if (*s == '"') text_add(t, "\"");
    }
    text_add(t, quoted ? "\"" : "");
}

/* A statistic of the last measured row, moved with the mean on its scale; empty stays empty. */
static void add_moved(struct text *t, const char *cell, bool share, double by, double most)
{
    double v;
    text_add(t, ",");
    if (!*cell || !text_parse_f64(cell, &v)) return;
    text_addf(t, "%.6g", fmin(most, inside(share, v) ? unscaled(share, scaled(share, v) + by) : v));
}

/* The row of a surface at a context beyond its last point. */
static void add_row(struct text *t, const struct point *last, const struct trend *trend, double context)
{
    char **cells = last->row->cells;
    bool share = is_share(cells[METRIC]), moves = inside(share, last->value);
    double most = most_of(cells[METRIC], context);
    double y = moves ? trend_at(trend, context) : 0, mean = fmin(most, moves ? unscaled(share, y) : last->value);
    double by = moves ? y - scaled(share, last->value) : 0;
    double steep = share ? mean * (1 - mean) : mean, se = moves ? steep * trend_se(trend, context) : 0, sd;
    add_cell(t, cells[METHOD]);
    text_addf(t, ",%.10g,", context);
    add_cell(t, cells[RATIO]);
    text_add(t, ",");
    add_cell(t, cells[SETTINGS]);
    text_add(t, ",");
    add_cell(t, cells[METRIC]);
    text_addf(t, ",%.6g,%.3g,", mean, se);
    double was = share ? last->value * (1 - last->value) : last->value;
    if (text_parse_f64(cells[SD], &sd)) text_addf(t, "%.6g", moves ? sd * steep / was : sd);
    for (size_t c = P10; c <= P90; c++) add_moved(t, cells[c], share, by, most);
    text_add(t, ",");
    add_cell(t, cells[HEADS]);
    text_add(t, ",extended\n");
}

/* Add the rows of a surface. False: the made heads do not have it. */
static bool extend(const struct surfaces *made, const struct point *p, size_t n, const double *contexts, size_t n_contexts,
                   struct text *t)
{
    const struct point *last = &p[n - 1];
    struct trend trend = {0};
    bool moves = inside(is_share(last->row->cells[METRIC]), last->value);
    if (moves && !find_both(made, p, n, (double)INFINITY, &trend)) return false;
    for (size_t c = 0; c < n_contexts; c++)
        if (contexts[c] > last->context) add_row(t, last, &trend, contexts[c]);
    return true;
}

/* ---- the check within measured contexts ---------------------------------------------------------------------------------- */

static void add_check(struct extend_report *r, const char *metric, double *errors, size_t n)
{
    gsl_sort(errors, 1, n);
    r->names[r->n_checks] = xstrdup(metric);
    r->checks[r->n_checks] =
        (struct extend_check){r->names[r->n_checks], n, gsl_stats_median_from_sorted_data(errors, 1, n), errors[n - 1]};
    r->n_checks++;
}

/* |predicted / measured - 1| of a surface's last point, from those of half its context and less; NaN: there is nothing to check. */
static double check_one(const struct surfaces *made, const struct point *p, size_t n, double longest)
{
    const struct point *last = &p[n - 1];
    bool share = is_share(last->row->cells[METRIC]);
    struct trend t;
    if (last->context < longest || !inside(share, last->value) || !find_both(made, p, n - 1, last->context / 2, &t))
        return (double)NAN;
    return fabs(unscaled(share, trend_at(&t, last->context)) / last->value - 1);
}

static void check_all(const struct surfaces *measured, const struct surfaces *made, struct extend_report *r)
{
    double *errors = xcalloc(measured->n + 1, sizeof *errors);
    const char **metrics = xcalloc(measured->n + 1, sizeof *metrics);
    size_t n_metrics = 0;
    for (size_t i = 0; i < measured->n; i++) {
        const char *metric = measured->list[i].row->cells[METRIC];
        size_t k = 0;
        while (k < n_metrics && strcmp(metrics[k], metric) != 0) k++;
        if (k == n_metrics) metrics[n_metrics++] = metric;
        r->context = fmax(r->context, measured->list[i].context);
    }
    r->from = r->context / 2;
    r->checks = xcalloc(n_metrics + 1, sizeof *r->checks);
    r->names = xcalloc(n_metrics + 1, sizeof *r->names);
    for (size_t k = 0; k < n_metrics; k++) {
        size_t n = 0;
        for (size_t from = 0, to; from < measured->n; from = to) {
            to = surface_end(measured, from);
            if (strcmp(measured->list[from].row->cells[METRIC], metrics[k]) != 0) continue;
            double error = check_one(made, &measured->list[from], to - from, r->context);
            if (!isnan(error)) errors[n++] = error;
        }
        if (n) add_check(r, metrics[k], errors, n);
    }
    free(metrics);
    free(errors);
}

/* ---- the file ------------------------------------------------------------------------------------------------------------ */

/* The lines of a file but those of kind extended, as they are. */
static void add_measured(struct text *t, const char *path, const struct csv_table *table, struct diags *diags)
{
    char *all;
    if (!text_read_file(path, (size_t)1 << 30, &all, NULL, diags)) return;
    size_t row = 0; /* rows are in the order of lines */
    int line = 0;
    for (const char *s = all; *s;) {
        size_t n = strcspn(s, "\n");
        line++;
        while (row < table->n_rows && table->rows[row].line < line) row++;
        bool is_row = row < table->n_rows && table->rows[row].line == line;
        if (!is_row || strcmp(table->rows[row].cells[KIND], "extended") != 0) {
            text_add_bytes(t, s, n);
            text_add(t, "\n");
        }
        s += n + (s[n] == '\n');
    }
    free(all);
}

static bool write_text(const char *to, const struct text *t, struct diags *diags)
{
    struct file *f = file_begin(to, diags);
    if (!f) return false;
    file_put(f, t->s, t->n);
    return file_commit(f, diags);
}

bool extend_files(const char *measured, const char *made, const double *contexts, size_t n_contexts, const char *to,
                  struct extend_report *ret, struct diags *diags)
{
    struct surfaces real = {0}, like = {0};
    struct text t;
    text_init(&t);
    *ret = (struct extend_report){0};
    bool ok = surfaces_read(&real, measured, diags);
    ok = surfaces_read(&like, made, diags) && ok;
    if (ok) add_measured(&t, measured, &real.table, diags);
    for (size_t from = 0, end; ok && from < real.n; from = end) {
        end = surface_end(&real, from);
        bool done = extend(&like, &real.list[from], end - from, contexts, n_contexts, &t);
        ret->measured++;
        ret->extended += done;
        ret->without += !done;
    }
    if (ok) check_all(&real, &like, ret);
    ok = ok && diags->errors == 0 && (!to || write_text(to, &t, diags));
    text_release(&t);
    surfaces_release(&real);
    surfaces_release(&like);
    return ok;
}

void extend_report_release(struct extend_report *r)
{
    for (size_t i = 0; i < r->n_checks; i++) free(r->names[i]);
    free(r->names);
    free(r->checks);
    *r = (struct extend_report){0};
}
