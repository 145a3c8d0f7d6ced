#include "store/whole.h"

#include "base/xalloc.h"
#include "store/digest.h"
#include "store/schema.h"
#include "store/seal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- pages ----------------------------------------------------------------------------------------------------------------- */

/* Is there a log beside the file (WAL)? It may have pages that the file does not have yet. */
static bool has_log(const struct db *db, bool *ret, struct diags *diags)
{
    sqlite3_stmt *stmt = db_prepare(db, diags, "PRAGMA main.journal_mode");
    bool ok = stmt && db_step(db, stmt, diags) > 0;
    *ret = ok && strcmp((const char *)sqlite3_column_text(stmt, 0), "wal") == 0;
    sqlite3_finalize(stmt);
    return ok;
}

bool whole_check_size(const struct db *db, int64_t *ret_bytes, struct diags *diags)
{
    int64_t pages, size;
    bool log;
    struct stat st;
    if (!db_int(db, &pages, diags, "PRAGMA main.page_count") || !db_int(db, &size, diags, "PRAGMA main.page_size") ||
        !has_log(db, &log, diags))
        return false;
    *ret_bytes = pages * size;
    if (log || stat(db->path, &st) != 0 || st.st_size == *ret_bytes) return true;
    return diags_runtime(diags, db->path, "is damaged: it has %lld bytes where its header says %lld", (long long)st.st_size,
                         (long long)*ret_bytes);
}

/* quick_check of one table, or of all when it is NULL. */
static bool check_pages(const struct db *db, const char *table, struct diags *diags)
{
    sqlite3_stmt *stmt =
        table ? db_prepare(db, diags, "PRAGMA main.quick_check(%Q)", table) : db_prepare(db, diags, "PRAGMA main.quick_check(1)");
    int rc = stmt ? db_step(db, stmt, diags) : -1;
    const char *said = rc > 0 ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    bool ok = rc > 0 && said && strcmp(said, "ok") == 0;
    if (rc >= 0 && !ok) diags_runtime(diags, db->path, "is damaged: %s", said ? said : "its pages cannot be checked");
    sqlite3_finalize(stmt);
    return ok;
}

static bool check_small_tables(const struct db *db, struct diags *diags)
{
    static const char *const tables[] = {"run", "front", "column_info", "block"};
    struct model_list models;
    bool ok = model_list_read(db, "main", &models, diags);
    for (size_t i = 0; ok && i < sizeof tables / sizeof *tables; i++) ok = check_pages(db, tables[i], diags);
    for (size_t i = 0; ok && i < models.n; i++) {
        char *fixed = schema_sql("%s_fixed", models.names[i]);
        ok = check_pages(db, fixed, diags);
        free(fixed);
    }
    model_list_release(&models);
    return ok;
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------ */

/* The rows of a model in a run, in the ranges of ids that are the run's, and what the run's blocks and its front say of them. */
static sqlite3_stmt *count_rows(const struct db *db, const char *model, struct diags *diags)
{
    return db_prepare(
        db, diags,
        "SELECT (SELECT count(*) FROM main.\"%w_all\" WHERE id >= f.first_id AND id < f.first_id + f.points),"
        " (SELECT coalesce(sum(b.\"last\" - b.\"first\" + 1), 0) FROM main.block b WHERE b.run = f.run AND b.model = %Q),"
        " (SELECT count(*) FROM main.\"%w_all\" WHERE id > -f.first_id - f.points AND id <= -f.first_id),"
        " (SELECT count(*) FROM main.front p WHERE p.run = f.run AND p.model = %Q),"
        " (SELECT count(*) FROM main.front p JOIN main.\"%w_all\" a ON a.id = f.first_id + p.point WHERE p.run = f.run"
        " AND p.model = %Q  AND p.point >= 0 AND p.point < f.points) FROM main.\"%w_fixed\" f WHERE f.run = ?",
        model, model, model, model, model, model, model);
}

/* Sums over the rows of all models of a run. */
struct counted {
    long long run, rows, refined;
};

/* Count the rows of a model, which are none in a run that does not have it. */
static bool check_model(const struct db *db, const char *model, sqlite3_stmt *stmt, struct counted *c, struct diags *diags)
{
    sqlite3_reset(stmt);
    sqlite3_bind_int64(stmt, 1, c->run);
    int rc = db_step(db, stmt, diags);
    if (rc <= 0) return rc == 0;
    const long long rows = sqlite3_column_int64(stmt, 0), blocks = sqlite3_column_int64(stmt, 1),
                    front = sqlite3_column_int64(stmt, 3), found = sqlite3_column_int64(stmt, 4);
    c->rows += rows;
    c->refined += sqlite3_column_int64(stmt, 2);
    if (rows != blocks)
        return diags_runtime(diags, db->path, "is damaged: run %lld has %lld rows of %s where %lld were stored", c->run, rows,
                             model, blocks);
    return front == found ||
           diags_runtime(diags, db->path, "is damaged: %lld of %lld points of %s on the front of run %lld have no row",
                         front - found, front, model, c->run);
}

/* Run by run, against what was counted when the rows were stored. */
static bool check_runs(const struct db *db, const struct model_list *models, sqlite3_stmt *const *stmts, bool refines,
                       struct diags *diags)
{
    sqlite3_stmt *runs =
        db_prepare(db, diags, "SELECT id, done, %s FROM main.run ORDER BY id", refines ? "coalesce(refined, 0)" : "0");
    int rc = runs ? 1 : -1;
    while (rc > 0 && (rc = db_step(db, runs, diags)) > 0) {
        struct counted c = {.run = sqlite3_column_int64(runs, 0)};
        bool ok = true;
        for (size_t i = 0; ok && i < models->n; i++) ok = check_model(db, models->names[i], stmts[i], &c, diags);
        const long long stored = sqlite3_column_int64(runs, 1) + sqlite3_column_int64(runs, 2);
        if (ok && c.rows + c.refined != stored)
            ok = diags_runtime(diags, db->path, "is damaged: run %lld has %lld rows where %lld were stored", c.run,
                               c.rows + c.refined, stored);
        if (!ok) rc = -1;
    }
    sqlite3_finalize(runs);
    return rc == 0;
}

bool whole_check_rows(const struct db *db, struct diags *diags)
{
    struct model_list models;
    struct column_list run; /* an older dse's does not refine */
    if (!model_list_read(db, "main", &models, diags)) return false;
    bool ok = column_list_read(db, "main", "run", &run, diags);
    sqlite3_stmt **stmts = xcalloc(models.n, sizeof *stmts);
    for (size_t i = 0; ok && i < models.n; i++) ok = (stmts[i] = count_rows(db, models.names[i], diags)) != NULL;
    ok = ok && check_runs(db, &models, stmts, column_list_find(&run, "refined") != SIZE_MAX, diags);
    for (size_t i = 0; i < models.n; i++) sqlite3_finalize(stmts[i]);
    free(stmts);
    column_list_release(&run);
    model_list_release(&models);
    return ok;
}

/* ---- all of it ------------------------------------------------------------------------------------------------------------- */

static bool check(const struct db *db, struct diags *diags)
{
    int64_t bytes;
    enum seal_state seal;
    if (!whole_check_size(db, &bytes, diags) || !seal_check(db, &seal, diags)) return false;
    if (seal == SEAL_INTACT) return true;
    if (seal == SEAL_BROKEN) return diags_runtime(diags, db->path, "is damaged: its bytes are not those that dse wrote");
    const bool small = bytes <= WHOLE_PAGES_MAX;
    bool ok = small ? check_pages(db, NULL, diags) : check_small_tables(db, diags);
    return ok && whole_check_rows(db, diags) && digest_check(db, small || db->lock >= 0, diags);
}

bool whole_check(const struct db *db, struct diags *diags)
{
    int64_t objects;
    if (!db_int(db, &objects, diags, "SELECT count(*) FROM main.sqlite_schema")) return false;
    if (objects == 0) return true;
    if (!db_exec(db, diags, "BEGIN")) return false; /* what is compared is of one moment, whoever writes */
    bool ok = check(db, diags);
    return db_exec(db, diags, "COMMIT") && ok;
}
