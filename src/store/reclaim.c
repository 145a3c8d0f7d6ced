/* Searches that were killed: what they had stored is of no use, for a search begins anew. The file is locked, so that a run that
 * says it is running has nobody who runs it. */
#include "store/store_internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* The rows of one model, and what holds their ids. */
static bool drop_model(const struct db *db, const char *model, int64_t run, struct diags *diags)
{
    char *first = schema_sql("(SELECT first_id FROM main.\"%w_fixed\" WHERE run = %lld)", model, (long long)run);
    char *points = schema_sql("(SELECT points FROM main.\"%w_fixed\" WHERE run = %lld)", model, (long long)run);
    const bool ok = db_exec(db, diags,
                            "DELETE FROM main.\"%w_all\" WHERE id >= %s AND id < %s + %s;"
                            "DELETE FROM main.\"%w_all\" WHERE id > -%s - %s AND id <= -%s;"
                            "DELETE FROM main.\"%w_fixed\" WHERE run = %lld",
                            model, first, first, points, model, first, points, first, model, (long long)run);
    free(first);
    free(points);
    return ok;
}

static bool drop_run(const struct db *db, const struct model_list *models, int64_t run, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; ok && i < models->n; i++) ok = drop_model(db, models->names[i], run, diags);
    for (const char *const *t = schema_run_tables; ok && *t; t++) {
        bool there;
        ok = schema_has_table(db, "main", *t, &there, diags) &&
             (!there ||
              db_exec(db, diags, "DELETE FROM main.\"%w\" WHERE \"%w\" = %lld", *t, schema_run_column(*t), (long long)run));
    }
    return ok && db_exec(db, diags, "DELETE FROM main.digest WHERE run = %lld", (long long)run);
}

/* The oldest run of this search that was killed, and its rows; 0: there is none. */
static bool find_killed(const struct db *db, const struct run_info *info, int64_t *ret_run, int64_t *ret_rows, struct diags *diags)
{
    sqlite3_stmt *stmt = db_prepare(db, diags,
                                    "SELECT id, done FROM main.run WHERE sweep = %Q AND hash = '%016" PRIx64
                                    "' AND shard IS %Q AND status = 'running' ORDER BY id LIMIT 1",
                                    info->sweep, info->hash, info->shard);
    const int rc = stmt ? db_step(db, stmt, diags) : -1;
    *ret_run = rc > 0 ? sqlite3_column_int64(stmt, 0) : 0;
    *ret_rows = rc > 0 ? sqlite3_column_int64(stmt, 1) : 0;
    sqlite3_finalize(stmt);
    return rc >= 0;
}

bool store_reclaim(const struct db *db, const struct run_info *info, struct diags *diags)
{
    struct model_list models;
    int64_t run, rows;
    bool ok = model_list_read(db, "main", &models, diags);
    while ((ok = ok && find_killed(db, info, &run, &rows, diags)) && run) {
        ok = drop_run(db, &models, run, diags);
        if (ok)
            diags_note(diags, (struct srcloc){.file = db->path}, NULL,
                       "run %lld, a search that was killed, was removed with its %lld rows: a search starts from its beginning",
                       (long long)run, (long long)rows);
    }
    model_list_release(&models);
    return ok;
}
