#include "attention/profile_means.h"

#include "base/xalloc.h"
#include "quality/quality.h"

#include <stdlib.h>
#include <string.h>

enum { METHOD, CONTEXT, RATIO, METRIC, MEAN };
static const char *const columns[] = {"method", "context", "ratio", "metric", "mean"};

static bool wrong(const struct csv_table *t, size_t row, size_t column, char *why, struct diags *diags)
{
    diags_input(diags, csv_table_cell_loc(t, row, column), t->text, NULL, "%s: %s", columns[column], why);
    free(why);
    return false;
}

static bool is_twice(const struct profile_means *m, size_t row)
{
    const struct surface_known *a = &m->known[row];
    for (size_t i = 0; i < row; i++) {
        const struct surface_known *b = &m->known[i];
        if (a->metric == b->metric && a->context == b->context && a->ratio == b->ratio && strcmp(a->method, b->method) == 0)
            return true;
    }
    return false;
}

static bool read_row(struct profile_means *m, size_t row, struct diags *diags)
{
    const struct csv_table *t = &m->table;
    struct surface_known *to = &m->known[row];
    const char *metric = t->rows[row].cells[METRIC];
    *to = (struct surface_known){.method = t->rows[row].cells[METHOD], .metric = quality_metric_find(metric)};
    bool ok = csv_table_number(t, row, CONTEXT, false, &to->context, diags);
    ok = csv_table_number(t, row, RATIO, false, &to->ratio, diags) && ok;
    ok = csv_table_number(t, row, MEAN, false, &to->mean, diags) && ok;
    if (ok && !(to->mean > 0))
        ok = wrong(t, row, MEAN, xasprintf("%s is not above 0; deviations are shares of it", t->rows[row].cells[MEAN]), diags);
    if (to->metric == DSE_QUALITY_METRICS) {
        const char *near = text_nearest(metric, dse_quality_metric_names, DSE_QUALITY_METRICS);
        return wrong(t, row, METRIC,
                     near ? xasprintf("there is no \"%s\"; did you mean %s?", metric, near)
                          : xasprintf("there is no \"%s\"", metric),
                     diags);
    }
    if (ok && is_twice(m, row)) ok = wrong(t, row, METHOD, xstrdup("the point and metric stand there twice"), diags);
    return ok;
}

bool profile_means_read(struct profile_means *ret, const char *path, struct diags *diags)
{
    *ret = (struct profile_means){0};
    if (!csv_table_read(&ret->table, path, columns, sizeof columns / sizeof *columns, diags)) return false;
    ret->n = ret->table.n_rows;
    ret->known = xcalloc(ret->n + 1, sizeof *ret->known);
    bool ok = true;
    for (size_t i = 0; i < ret->n; i++) ok = read_row(ret, i, diags) && ok;
    return ok;
}

void profile_means_release(struct profile_means *m)
{
    csv_table_release(&m->table);
    free(m->known);
}
