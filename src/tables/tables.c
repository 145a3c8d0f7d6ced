#include "sql/sql.h"
#include "tables/tables_internal.h"

#include <stdlib.h>
#include <string.h>

static const struct computed_table *const all[] = {
    &table_column_info,      &table_claim,       &table_metric,      &table_breakdown,
    &table_timeline,         &table_resource,    &table_note,        &table_equation,
    &table_dram_efficiency,  &table_profile,     &table_retention,   &table_exp_error,
    &table_interval_map,     &table_score_stats, &table_score_share, &table_measured,
    &table_measured_regimes, &table_task_quality};
enum { TABLES = sizeof all / sizeof *all };

struct tables *tables_new(const struct catalog *catalog)
{
    struct tables *t = xcalloc(1, sizeof *t);
    t->catalog = catalog;
    return t;
}

void tables_free(struct tables *t)
{
    if (!t) return;
    answered_claims_free(t->claims);
    answered_rows_free(t->measured);
    free(t);
}

static int add_models(sqlite3 *db, void *t)
{
    struct sql_models *models = sql_models_new(((const struct tables *)t)->catalog);
    const int rc = sql_register(db, models);
    sql_models_release(models);
    return rc;
}

bool tables_attach(struct tables *t, struct reader *r, struct diags *diags)
{
    if (!reader_add(r, add_models, t, diags)) return false;
    for (size_t i = 0; i < TABLES; i++)
        if (!reader_add_table(r, all[i], t, diags)) return false;
    return true;
}

const struct computed_table *tables_at(size_t i)
{
    return i < TABLES ? all[i] : NULL;
}
