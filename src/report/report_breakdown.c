/* Where time and energy of the points of the front go: the run does not store it, so they are carried out anew, in closed form. */
#include "report/report_data.h"

#include "base/xalloc.h"
#include "model/breakdown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The run's sweep, read again. */
struct again {
    struct catalog *catalog;
    struct sweep_file *sweep;
    struct space **spaces;
};

static bool read_again(struct again *a, const struct report_run *r)
{
    struct diags quiet; /* what cannot be carried out anew is left out */
    diags_init(&quiet);
    a->catalog = catalog_new(catalog_data_dir(), &quiet);
    if (a->catalog && r->sweep_text)
        a->sweep = sweep_file_read_text(r->sweep, r->sweep_text, strlen(r->sweep_text), a->catalog, catalog_data_dir(), &quiet);
    bool ok = a->sweep && quiet.errors == 0;
    if (ok) a->spaces = xcalloc(a->sweep->n_models, sizeof *a->spaces);
    for (size_t i = 0; ok && i < a->sweep->n_models; i++) ok = (a->spaces[i] = space_new(a->sweep, i, UINT64_MAX, &quiet)) != NULL;
    diags_release(&quiet);
    return ok;
}

static void forget(struct again *a)
{
    for (size_t i = 0; a->spaces && i < a->sweep->n_models; i++) space_free(a->spaces[i]);
    free(a->spaces);
    sweep_file_free(a->sweep);
    catalog_free(a->catalog);
}

static const struct space *space_of(const struct again *a, const char *model)
{
    for (size_t i = 0; i < a->sweep->n_models; i++)
        if (!model || strcmp(a->sweep->bindings[i]->model->desc->name, model) == 0) return a->spaces[i];
    return NULL;
}

/* The parts of a point, or null when it is not the one that was stored: the models or the catalog have changed since. */
static void add_point(struct text *t, const struct space *sp, uint64_t point, double latency_us)
{
    const struct model *m = space_model(sp);
    void *params = xcalloc(1, m->desc->params_size), *metrics = xcalloc(1, m->desc->metrics_size);
    struct dse_breakdown breakdown = {0};
    bool ok = point < space_count(sp);
    if (ok) space_point(sp, point, params);
    ok = ok && !(m->desc->check && m->desc->check(params));
    if (ok) m->desc->estimate(params, metrics, &breakdown);
    const struct field *latency = schema_find(&m->metrics, "latency_us");
    if (ok && latency && !isnan(latency_us)) ok = fabs(field_number(latency, metrics) - latency_us) <= 1e-9 * fabs(latency_us);
    if (!ok) text_add(t, "null");
    for (int i = 0; ok && i < breakdown.n; i++) {
        struct part_row row = breakdown_row(m, metrics, &breakdown, i);
        text_add(t, i ? ",[" : "[[");
        json_string(t, row.part);
        text_addf(t, ",%d,", row.depth);
        json_number(t, row.time_us);
        text_add(t, ",");
        json_number(t, row.dram_mib);
        text_add(t, ",");
        json_number(t, row.energy_mj);
        text_add(t, ",");
        json_string(t, row.bound);
        text_add(t, "]");
    }
    if (ok) text_add(t, breakdown.n ? "]" : "null");
    free(params);
    free(metrics);
}

void report_breakdowns(const struct report_run *r, const char *front_sql, struct text *ret)
{
    struct again a = {0};
    struct diags quiet;
    diags_init(&quiet);
    text_add(ret, "[");
    /* Of a row at event level the closed form's parts would be another point's. */
    char *sql =
        xasprintf("SELECT f.point, %s, %s FROM (%s) AS f JOIN \"%s\" AS m USING (point) WHERE m.run = %lld%s",
                  r->compares_models ? "f.model" : "NULL", "CASE WHEN m.fidelity = 'closed-form' THEN m.latency_us ELSE -1 END",
                  front_sql, r->table, (long long)r->id, r->compares_models ? " AND m.model = f.model" : "");
    struct query *q = read_again(&a, r) && !a.sweep->averages ? query_new(r->reader, sql, (struct srcloc){0}, &quiet) : NULL;
    for (int i = 0; q && i < REPORT_BREAKDOWNS_MAX && query_step(q, &quiet) > 0; i++) {
        const struct space *sp = space_of(&a, query_text(q, 1));
        if (i) text_add(ret, ",");
        if (sp)
            add_point(ret, sp, (uint64_t)query_i64(q, 0), query_f64(q, 2));
        else
            text_add(ret, "null");
    }
    text_add(ret, "]");
    query_free(q);
    free(sql);
    forget(&a);
    diags_release(&quiet);
}
