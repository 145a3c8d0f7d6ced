/* dse trace extend: quality beyond the contexts that were measured. */
#include "attention/action.h"
#include "attention/extend_trend.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "command/output.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file ------------------------------------------------------------------------------------------------------------- */

/* Quality files beyond the contexts that were measured. Two files in the long format of catalog/quality
 * (docs/explanation/quality.md): one measured on real heads, one on heads that are like them and longer (`dse trace measure`,
 * attention/made_surface.h). A statistic is taken to follow
 *
 *     g(value) = base + slope log(context)          g: the logit of shares, the logarithm of all else
 *
 * The base is that of the measured heads' upper contexts. The slope to a context is the mean of theirs and of the made heads' up to
 * it, weighed by their standard errors, and at most 1 in magnitude (of shares 0.5): what made heads have wrong at every context
 * alike does not matter. A row for each method, settings, ratio and metric and each context is added, of kind `extended`. Its
 * standard error is that of base and slope and, for each octave, what two of three surfaces of the same method and metric are
 * missed by at most within the measured contexts. Spread and percentiles over heads stay empty: nobody measured them. What the file
 * reads on a logit ends where it would reach 1.
 */

/* How well the same does within the measured contexts: rows at the longest, predicted from those of half of it and less. */
struct extend_check {
    const char *metric; /* of the table below */
    size_t n;
    double median, p90, worst; /* of |predicted / measured - 1| */
};
struct extend_report {
    size_t measured, extended, without; /* surfaces; those of them that are extended; those that the made heads do not have */
    double context, from;               /* checked: the longest context that was measured, the longest that it was predicted from */
    struct extend_check *checks;        /* one a metric */
    size_t n_checks;
    char **names; /* the metrics' */
};

/* The most that a metric can be at a context: there are no more centers, or active positions, than positions. */
static double most_of(const char *metric, double context)
{
    static const char *const counts[] = {"centers", "large", "active", "updates"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(metric, counts[i]) == 0) return context;
    return (double)INFINITY;
}

/* ---- misses ---------------------------------------------------------------------------------------------------------------- */

/* How far the same misses within the measured contexts, an octave: |difference of g| of all settings and ratios of a method and
 * metric. */
struct miss {
    const char *method, *metric;
    double *list;
    size_t n;
};
struct misses {
    struct miss *list;
    size_t n;
};

static struct miss *find_miss(const struct misses *m, const struct extend_point *p)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->list[i].method, p->row->cells[EXTEND_METHOD]) == 0 &&
            strcmp(m->list[i].metric, p->row->cells[EXTEND_METRIC]) == 0)
            return &m->list[i];
    return NULL;
}

/* What two of three stay below: a standard deviation that a few wild ones do not make. */
static double missed(const struct misses *m, const struct extend_point *p)
{
    const double share = 0.683;
    const struct miss *found = find_miss(m, p);
    return found ? gsl_stats_quantile_from_sorted_data(found->list, 1, found->n, share) : 0;
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

/* The row of a surface at a context beyond its last point. Nobody knows how heads scatter there: no spread, no percentiles. */
static void add_row(struct text *t, const struct extend_point *last, double mean, double se, double context)
{
    char **cells = last->row->cells;
    add_cell(t, cells[EXTEND_METHOD]);
    text_addf(t, ",%.10g,", context);
    add_cell(t, cells[EXTEND_RATIO]);
    text_add(t, ",");
    add_cell(t, cells[EXTEND_SETTINGS]);
    text_add(t, ",");
    add_cell(t, cells[EXTEND_METRIC]);
    text_addf(t, ",%.6g,%.3g,,,,,", mean, se);
    add_cell(t, cells[EXTEND_HEADS]);
    text_add(t, ",extended\n");
}

/* Is it read on a logit, which has room for nothing from 1 on? */
static bool reads_logit(const struct csv_table *t, const struct extend_point *p)
{
    char *of = xasprintf("%s %s ", p->row->cells[EXTEND_METHOD], p->row->cells[EXTEND_METRIC]);
    bool logit = false;
    for (size_t i = 0; i < t->n_rules && !logit; i++)
        logit = strncmp(t->rules[i].text, of, strlen(of)) == 0 && strstr(t->rules[i].text, "value=logit");
    free(of);
    return logit;
}

/* Add the rows of a surface. False: the made heads do not have it. */
static bool extend(const struct csv_table *table, const struct extend_surfaces *made, const struct extend_point *p, size_t n,
                   const struct misses *misses, const size_t *contexts, size_t n_contexts, struct text *t)
{
    const struct extend_point *last = &p[n - 1];
    const char *metric = last->row->cells[EXTEND_METRIC];
    const bool share = extend_is_share(metric), moves = extend_inside(share, last->value);
    const double miss = missed(misses, last);
    const bool logit = !share && reads_logit(table, last);
    for (size_t c = 0; c < n_contexts; c++) {
        const double context = (double)contexts[c];
        struct extend_at at;
        if (context <= last->context) continue;
        if (!moves) { /* a mass of 1, an error of 0 */
            add_row(t, last, last->value, 0, context);
            continue;
        }
        if (!extend_trend(made, p, n, (double)INFINITY, context, &at)) return false;
        const double mean = fmin(most_of(metric, context), extend_unscaled(share, at.y));
        if (logit && mean >= 1) break;
        const double steep = share ? mean * (1 - mean) : mean;
        add_row(t, last, mean, steep * hypot(at.se, miss * log2(context / last->context)), context);
    }
    return true;
}

/* ---- the check within measured contexts ---------------------------------------------------------------------------------- */

/* By how much a surface's last point, if that is the longest of all, is missed by those of half its context and less: of g, and of
 * the value as a share. False: there is nothing to check. */
static bool check_one(const struct extend_surfaces *made, const struct extend_point *p, size_t n, double longest, double *ret_miss,
                      double *ret_error)
{
    const struct extend_point *last = &p[n - 1];
    const bool share = extend_is_share(last->row->cells[EXTEND_METRIC]);
    struct extend_at at;
    if (n < 2 || last->context < longest || !extend_inside(share, last->value) ||
        !extend_trend(made, p, n - 1, last->context / 2, last->context, &at))
        return false;
    *ret_miss = at.y - extend_scaled(share, last->value);
    *ret_error = fabs(extend_unscaled(share, at.y) / last->value - 1);
    return true;
}

static struct misses find_misses(const struct extend_surfaces *measured, const struct extend_surfaces *made, double longest)
{
    struct misses ret = {.list = xcalloc(measured->n + 1, sizeof *ret.list)};
    for (size_t from = 0, to; from < measured->n; from = to) {
        const struct extend_point *p = &measured->list[from];
        double miss, error;
        to = extend_surface_end(measured, from);
        if (!check_one(made, p, to - from, longest, &miss, &error)) continue;
        struct miss *m = find_miss(&ret, p);
        if (!m) {
            m = &ret.list[ret.n++];
            *m = (struct miss){.method = p->row->cells[EXTEND_METHOD], .metric = p->row->cells[EXTEND_METRIC]};
        }
        m->list = xrealloc(m->list, m->n + 1, sizeof *m->list);
        m->list[m->n++] = fabs(miss);
    }
    for (size_t i = 0; i < ret.n; i++) gsl_sort(ret.list[i].list, 1, ret.list[i].n);
    return ret;
}

static void add_check(struct extend_report *r, const char *metric, double *errors, size_t n)
{
    gsl_sort(errors, 1, n);
    r->names[r->n_checks] = xstrdup(metric);
    r->checks[r->n_checks] = (struct extend_check){r->names[r->n_checks], n, gsl_stats_median_from_sorted_data(errors, 1, n),
                                                   gsl_stats_quantile_from_sorted_data(errors, 1, n, 0.9), errors[n - 1]};
    r->n_checks++;
}

static bool has_check(const struct extend_report *r, const char *metric)
{
    for (size_t i = 0; i < r->n_checks; i++)
        if (strcmp(r->names[i], metric) == 0) return true;
    return false;
}

static void check_all(const struct extend_surfaces *measured, const struct extend_surfaces *made, struct extend_report *r)
{
    double *errors = xcalloc(measured->n + 1, sizeof *errors), miss;
    r->checks = xcalloc(measured->n + 1, sizeof *r->checks);
    r->names = xcalloc(measured->n + 1, sizeof *r->names);
    for (size_t i = 0; i < measured->n; i++) {
        const char *metric = measured->list[i].row->cells[EXTEND_METRIC];
        size_t n = 0;
        if (has_check(r, metric)) continue;
        for (size_t from = 0, to; from < measured->n; from = to) {
            to = extend_surface_end(measured, from);
            if (strcmp(measured->list[from].row->cells[EXTEND_METRIC], metric) != 0) continue;
            n += check_one(made, &measured->list[from], to - from, r->context, &miss, &errors[n]);
        }
        if (n) add_check(r, metric, errors, n);
    }
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
        if (!is_row || strcmp(table->rows[row].cells[EXTEND_KIND], "extended") != 0) {
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

/* Write `to`: the rows of `measured` and the extended ones. Contexts that are not beyond the measured ones of a surface are left
 * out. False with errors. The caller releases the report. */
static bool extend_files(const char *measured, const char *made, const size_t *contexts, size_t n_contexts, const char *to,
                         struct extend_report *ret, struct diags *diags)
{
    struct extend_surfaces real = {0}, like = {0};
    struct misses misses = {0};
    struct text t;
    text_init(&t);
    *ret = (struct extend_report){0};
    bool ok = extend_surfaces_read(&real, measured, false, diags);
    ok = extend_surfaces_read(&like, made, true, diags) && ok;
    if (ok) {
        add_measured(&t, measured, &real.table, diags);
        for (size_t i = 0; i < real.n; i++) ret->context = fmax(ret->context, real.list[i].context);
        ret->from = ret->context / 2;
        misses = find_misses(&real, &like, ret->context);
        check_all(&real, &like, ret);
    }
    for (size_t from = 0, end; ok && from < real.n; from = end) {
        end = extend_surface_end(&real, from);
        bool done = extend(&real.table, &like, &real.list[from], end - from, &misses, contexts, n_contexts, &t);
        ret->measured++;
        ret->extended += done;
        ret->without += !done;
    }
    ok = ok && diags->errors == 0 && (!to || write_text(to, &t, diags));
    for (size_t i = 0; i < misses.n; i++) free(misses.list[i].list);
    free(misses.list);
    text_release(&t);
    extend_surfaces_release(&real);
    extend_surfaces_release(&like);
    return ok;
}

static void extend_report_release(struct extend_report *r)
{
    for (size_t i = 0; i < r->n_checks; i++) free(r->names[i]);
    free(r->names);
    free(r->checks);
    *r = (struct extend_report){0};
}

/* ---- the action ----------------------------------------------------------------------------------------------------------- */

int trace_extend_run(const struct invocation *in)
{
    enum output_format format;
    size_t contexts[TRACE_CONTEXTS_MAX], n;
    if (!output_parse_format(in, &format) || !trace_read_contexts(in, "4096,8192,16384,32768,65536,131072", 1 << 24, contexts, &n))
        return 2;
    struct extend_report r;
    if (extend_files(in->operands[1], in->operands[2], contexts, n, option_get(in, "output"), &r, in->diags)) {
        struct output *o = output_new(
            stdout, format, (const char *const[]){"METRIC", "CONTEXT", "FROM", "POINTS", "MEDIAN ERROR", "P90", "WORST"}, 7);
        for (size_t i = 0; i < r.n_checks; i++) {
            output_text(o, r.checks[i].metric);
            output_f64(o, r.context);
            output_f64(o, r.from);
            output_i64(o, (int64_t)r.checks[i].n);
            output_f64(o, r.checks[i].median);
            output_f64(o, r.checks[i].p90);
            output_f64(o, r.checks[i].worst);
        }
        output_end(o);
        if (format == OUTPUT_TABLE)
            printf(
                "\n%zu surfaces, %zu extended; the made heads lack %zu. The table is the same within what was measured: contexts "
                "up to %g\n"
                "predict %g.\n",
                r.measured, r.extended, r.without, r.from, r.context);
    }
    extend_report_release(&r);
    return 0;
}
