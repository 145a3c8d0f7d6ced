/* Quality entries: CSV files in long format, a row a point and metric (docs/explanation/quality.md). */
#include "config/catalog_internal.h"

#include "base/limits.h"
#include "base/xalloc.h"
#include "config/csv_table.h"
#include "quality/quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const quality_columns[] = {"method", "context", "ratio", "settings", "metric", "mean", "se",
                                              "sd",     "p10",     "p50",   "p90",      "heads",  "kind"};
enum {
    METHOD,
    CONTEXT,
    RATIO,
    SETTINGS,
    METRIC,
    MEAN,
    HEADS = MEAN + DSE_QUALITY_STATS,
    KIND,
    QUALITY_COLUMNS = sizeof quality_columns / sizeof *quality_columns
};
_Static_assert(KIND + 1 == QUALITY_COLUMNS, "every column has its place");

static bool wrong_cell(const struct csv_table *t, size_t row, size_t column, const char *fix, char *why, struct diags *diags)
{
    diags_input(diags, csv_table_cell_loc(t, row, column), t->text, fix, "%s: %s", quality_columns[column], why);
    free(why);
    return false;
}

static bool read_metric(const struct csv_table *t, size_t row, struct quality_point *ret, struct diags *diags)
{
    const char *name = t->rows[row].cells[METRIC];
    ret->metric = quality_metric_find(name);
    if (ret->metric < DSE_QUALITY_METRICS) return true;
    const char *near = text_nearest(name, dse_quality_metric_names, DSE_QUALITY_METRICS);
    return wrong_cell(t, row, METRIC, NULL,
                      near ? xasprintf("there is no \"%s\"; did you mean %s?", name, near) : xasprintf("there is no \"%s\"", name),
                      diags);
}

static bool read_kind(const struct csv_table *t, size_t row, struct quality_point *ret, struct diags *diags)
{
    const char *kind = t->rows[row].cells[KIND];
    ret->extended = strcmp(kind, "extended") == 0;
    if (ret->extended || strcmp(kind, "measured") == 0) return true;
    return wrong_cell(t, row, KIND, NULL, xasprintf("\"%s\" is neither measured nor extended", kind), diags);
}

static bool read_point(const struct csv_table *t, size_t row, const struct dse_measured *head, struct quality_point *ret,
                       struct diags *diags)
{
    *ret = (struct quality_point){.method = t->rows[row].cells[METHOD], .line = t->rows[row].line};
    bool ok = csv_table_number(t, row, CONTEXT, false, &ret->context, diags);
    ok = csv_table_number(t, row, RATIO, false, &ret->ratio, diags) && ok;
    for (size_t i = 0; i < DSE_QUALITY_STATS; i++) ok = csv_table_number(t, row, MEAN + i, i > 0, &ret->stat[i], diags) && ok;
    double heads;
    if (!csv_table_number(t, row, HEADS, true, &heads, diags))
        ok = false;
    else if (heads < 1 || heads != floor(heads))
        ok = wrong_cell(t, row, HEADS, NULL, xasprintf("%s is not a number of heads", t->rows[row].cells[HEADS]), diags);
    for (int i = 0; i < DSE_SETTINGS; i++) ret->setting[i] = measured_value(head, (enum dse_setting)i);
    char *why = measured_read_row(t->rows[row].cells[SETTINGS], ret->setting);
    if (why) ok = wrong_cell(t, row, SETTINGS, NULL, why, diags);
    ok = read_metric(t, row, ret, diags) && ok;
    return read_kind(t, row, ret, diags) && ok;
}

/* "voting attention_error value=log ..." */
static bool read_rule(const struct csv_table *t, const struct csv_rule *rule, char *method, struct quality_said *ret,
                      struct diags *diags)
{
    char *rest, *why = NULL;
    const char *metric = NULL;
    ret->method = strtok_r(method, " \t", &rest);
    if (ret->method) metric = strtok_r(NULL, " \t", &rest);
    ret->metric = metric ? quality_metric_find(metric) : DSE_QUALITY_METRICS;
    if (!metric)
        why = xstrdup("a method and a metric are needed");
    else if (ret->metric == DSE_QUALITY_METRICS)
        why = xasprintf("there is no metric \"%s\"", metric);
    else
        why = quality_rule_read(rest, &ret->rule);
    if (!why) return true;
    diags_input(diags, (struct srcloc){t->file, rule->line, 1}, NULL, "or leave the line out: rules are chosen then", "rule: %s",
                why);
    free(why);
    return false;
}

/* NULL with errors. */
static struct dse_quality *make_quality(const char *name, const struct csv_table *t, struct diags *diags)
{
    struct dse_measured *head = catalog_read_measured(t, diags);
    struct quality_point *points = xcalloc(t->n_rows + 1, sizeof *points);
    struct quality_said *said = xcalloc(t->n_rules + 1, sizeof *said);
    char **texts = xcalloc(t->n_rules + 1, sizeof *texts);
    bool ok = head != NULL;
    for (size_t i = 0; i < t->n_rows && head; i++) ok = read_point(t, i, head, &points[i], diags) && ok;
    for (size_t i = 0; i < t->n_rules; i++) {
        texts[i] = xstrdup(t->rules[i].text);
        ok = read_rule(t, &t->rules[i], texts[i], &said[i], diags) && ok;
    }
    struct row_fault fault = {0};
    struct dse_quality *q = NULL;
    const struct quality_from from = {"quality", name, t->source, head, points, t->n_rows, said, t->n_rules, false};
    if (ok)
        q = quality_new(&from, &fault);
    else
        measured_free(head);
    if (!q && ok) catalog_blame(t, DSE_KIND_QUALITY, name, &fault, diags);
    for (size_t i = 0; i < t->n_rules; i++) free(texts[i]);
    free(texts);
    free(said);
    free(points);
    return q;
}

static struct dse_quality *read_quality(const char *name, const char *path, struct diags *diags)
{
    struct csv_table t;
    struct dse_quality *q =
        csv_table_read(&t, path, quality_columns, QUALITY_COLUMNS, diags) && csv_table_check_rows(&t, CATALOG_ROWS_MAX, diags)
            ? make_quality(name, &t, diags)
            : NULL;
    csv_table_release(&t);
    return q;
}

bool catalog_add_quality(struct catalog *c, const char *name, const char *path, struct diags *diags)
{
    c->reading = catalog_intern(c, path);
    struct dse_quality *q = read_quality(name, path, diags);
    if (q) catalog_add(c, DSE_KIND_QUALITY, (struct dse_entry *)q);
    return q != NULL;
}

/* ---- those that ship --------------------------------------------------------------------------------------------------------- */

/* What a file is read by, in one block: the name, behind it the path. */
static struct dse_quality *read_later(void *user, char **ret_why)
{
    const char *name = user, *path = name + strlen(name) + 1;
    struct diags diags;
    diags_init(&diags);
    struct dse_quality *q = read_quality(name, path, &diags);
    if (!q && diags.n) *ret_why = xasprintf("%s:%d: %s", path, diags.list[0].line, diags.list[0].message);
    diags_release(&diags);
    return q;
}

bool catalog_add_quality_later(struct catalog *c, const char *name, const char *path, struct diags *diags)
{
    c->reading = catalog_intern(c, path);
    char *source = csv_table_read_source(path, diags);
    if (!source) return false;
    const size_t n = strlen(name) + 1, m = strlen(path) + 1;
    char *user = xmalloc(n + m);
    memcpy(user, name, n);
    memcpy(user + n, path, m);
    catalog_add(c, DSE_KIND_QUALITY, (struct dse_entry *)quality_later(name, source, read_later, user));
    free(source);
    return true;
}
