#include "store/stream.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "store/store_internal.h"

#include <stdlib.h>
#include <string.h>

const char stream_tables_sql[] =
    "CREATE TABLE IF NOT EXISTS main.evaluated(run INTEGER NOT NULL, model TEXT NOT NULL, status TEXT NOT NULL, reason TEXT,"
    " points INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS main.streamed(run INTEGER NOT NULL, model TEXT NOT NULL, next INTEGER NOT NULL,"
    " points BLOB NOT NULL, PRIMARY KEY(run, model)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS main.streamed_block(run INTEGER NOT NULL, model TEXT NOT NULL, \"first\" INTEGER NOT NULL,"
    " \"last\" INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL, points INTEGER NOT NULL,"
    " PRIMARY KEY(run, model, \"first\", status, reason)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS main.streamed_part(run INTEGER NOT NULL, model TEXT NOT NULL, points BLOB NOT NULL,"
    " PRIMARY KEY(run, model, points)) WITHOUT ROWID;";

void stream_state_release(struct stream_state *s)
{
    for (size_t i = 0; i < s->n_counts; i++) free(s->counts[i].reason);
    free(s->counts);
    free(s->points);
    *s = (struct stream_state){0};
}

/* ---- reading ---------------------------------------------------------------------------------------------------------------- */

static bool damaged(const struct store *st, struct diags *diags)
{
    return diags_runtime(diags, st->db.path, "the stored stream of run %lld is not valid; --fresh starts anew", (long long)st->run);
}

static bool read_points(const struct store *st, const struct store_model *model, sqlite3_stmt *stmt, struct stream_state *ret,
                        struct diags *diags)
{
    const int64_t next = sqlite3_column_int64(stmt, 0);
    const uint8_t *bytes = sqlite3_column_blob(stmt, 1);
    const size_t size = (size_t)sqlite3_column_bytes(stmt, 1);
    if (next < 0 || (uint64_t)next > model->points || size % sizeof(uint64_t) != 0) return damaged(st, diags);
    ret->next = (uint64_t)next;
    ret->n = size / sizeof(uint64_t);
    ret->points = xcalloc(ret->n, sizeof *ret->points);
    for (size_t i = 0; i < size; i++) ret->points[i / sizeof(uint64_t)] |= (uint64_t)bytes[i] << i % sizeof(uint64_t) * 8;
    for (size_t i = 0; i < ret->n; i++)
        if (ret->points[i] >= ret->next) return damaged(st, diags);
    return true;
}

static bool read_counts(const struct store *st, const struct store_model *model, struct stream_state *ret, struct diags *diags)
{
    sqlite3_stmt *stmt = db_prepare(&st->db, diags, "SELECT reason, points FROM main.evaluated WHERE run = %lld AND model = %Q",
                                    (long long)st->run, model->name);
    int rc = stmt ? 1 : -1;
    while (rc > 0 && (rc = db_step(&st->db, stmt, diags)) > 0) {
        const char *reason = (const char *)sqlite3_column_text(stmt, 0);
        ret->counts = xrealloc(ret->counts, ret->n_counts + 1, sizeof *ret->counts);
        ret->counts[ret->n_counts++] =
            (struct stream_count){reason ? xstrdup(reason) : NULL, (uint64_t)sqlite3_column_int64(stmt, 1)};
    }
    sqlite3_finalize(stmt);
    return rc == 0;
}

static bool read_state(const struct store *st, const struct store_model *model, struct stream_state *ret, struct diags *diags)
{
    sqlite3_stmt *stmt = db_prepare(&st->db, diags, "SELECT next, points FROM main.streamed WHERE run = %lld AND model = %Q",
                                    (long long)st->run, model->name);
    const int rc = stmt ? db_step(&st->db, stmt, diags) : -1;
    bool ok = rc >= 0;
    if (rc > 0) ok = read_points(st, model, stmt, ret, diags) && read_counts(st, model, ret, diags);
    sqlite3_finalize(stmt);
    uint64_t counted = 0;
    for (size_t i = 0; ok && i < ret->n_counts; i++) counted += ret->counts[i].points;
    return ok && (counted <= ret->next || damaged(st, diags));
}

/* ---- writing ---------------------------------------------------------------------------------------------------------------- */

/* Remove the rows of the model, which are stored when all is evaluated, and were not all stored then. */
static bool remove_rows(const struct store *st, const struct store_model *model, struct diags *diags)
{
    const long long run = (long long)st->run, first = (long long)model->first_id;
    return db_exec(&st->db, diags, "DELETE FROM main.\"%w_all\" WHERE id >= %lld AND id < %lld", model->name, first,
                   first + (long long)model->points) &&
           db_exec(&st->db, diags, "DELETE FROM main.block WHERE run = %lld AND model = %Q", run, model->name) &&
           db_exec(&st->db, diags, "UPDATE main.run SET done = 0, feasible = 0 WHERE id = %lld", run);
}

bool store_stream_begin(struct store *st, size_t m, struct stream_state *ret, struct diags *diags)
{
    struct store_model *model = &st->models[m];
    *ret = (struct stream_state){0};
    bool ok = db_begin(&st->db, diags) && db_exec(&st->db, diags, "%s", stream_tables_sql) && remove_rows(st, model, diags);
    return store_end_rows(st, model, 0, ok, diags) && read_state(st, model, ret, diags);
}

/* Run a statement with parameters for status, reason and points for each count; finalizes it. */
static bool run_with_counts(const struct store *st, sqlite3_stmt *stmt, const struct stream_state *s, const char *no_reason,
                            struct diags *diags)
{
    bool ok = stmt != NULL;
    for (size_t i = 0; ok && i < s->n_counts; i++) {
        const struct stream_count *c = &s->counts[i];
        sqlite3_bind_text(stmt, 1, c->reason ? "infeasible" : "ok", -1, SQLITE_STATIC);
        sqlite3_bind_text(stmt, 2, c->reason ? c->reason : no_reason, -1, SQLITE_STATIC);
        sqlite3_bind_int64(stmt, 3, (int64_t)c->points);
        ok = db_run(&st->db, stmt, diags);
    }
    sqlite3_finalize(stmt);
    return ok;
}

static bool write_counts(const struct store *st, const struct store_model *model, const struct stream_state *s, struct diags *diags)
{
    return run_with_counts(
        st, db_prepare(&st->db, diags, "INSERT INTO main.evaluated VALUES(%lld, %Q, ?, ?, ?)", (long long)st->run, model->name), s,
        NULL, diags);
}

/* Run a statement whose parameter is the blob of points; finalizes it. */
static bool run_with_points(const struct store *st, sqlite3_stmt *stmt, const struct stream_state *s, struct diags *diags)
{
    const size_t size = s->n * sizeof(uint64_t);
    uint8_t *bytes = xmalloc(size ? size : 1);
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(s->points[i / sizeof(uint64_t)] >> i % sizeof(uint64_t) * 8);
    if (stmt) sqlite3_bind_blob64(stmt, 1, bytes, size, SQLITE_STATIC);
    const bool ok = stmt && db_run(&st->db, stmt, diags);
    sqlite3_finalize(stmt);
    free(bytes);
    return ok;
}

static bool write_points(const struct store *st, const struct store_model *model, const struct stream_state *s, struct diags *diags)
{
    return run_with_points(st,
                           db_prepare(&st->db, diags, "INSERT OR REPLACE INTO main.streamed VALUES(%lld, %Q, %lld, ?)",
                                      (long long)st->run, model->name, (long long)s->next),
                           s, diags);
}

bool store_stream_save(struct store *st, size_t m, const struct stream_state *s, struct diags *diags)
{
    const struct store_model *model = &st->models[m];
    bool ok =
        db_begin(&st->db, diags) &&
        db_exec(&st->db, diags, "DELETE FROM main.evaluated WHERE run = %lld AND model = %Q", (long long)st->run, model->name) &&
        write_counts(st, model, s, diags) && write_points(st, model, s, diags);
    return store_end(st, ok, diags);
}

bool store_stream_save_block(struct store *st, size_t m, struct range block, const struct stream_state *s, struct diags *diags)
{
    const char *model = st->models[m].name;
    const long long run = (long long)st->run, first = (long long)block.first, last = (long long)block.last;
    bool ok =
        db_begin(&st->db, diags) && db_exec(&st->db, diags, "%s", stream_tables_sql) &&
        db_exec(&st->db, diags, "DELETE FROM main.streamed_part WHERE run = %lld AND model = %Q", run, model) &&
        run_with_counts(st,
                        db_prepare(&st->db, diags,
                                   "INSERT OR REPLACE INTO main.streamed_block VALUES(%lld, %Q, %lld, %lld, ?, ?, ?)", run, model,
                                   first, last),
                        s, "", diags) &&
        run_with_points(st, db_prepare(&st->db, diags, "INSERT INTO main.streamed_part VALUES(%lld, %Q, ?)", run, model), s, diags);
    return store_end(st, ok, diags);
}

bool store_stream_end(struct store *st, struct diags *diags)
{
    bool ok = db_begin(&st->db, diags) && db_exec(&st->db, diags, "DELETE FROM main.streamed WHERE run = %lld", (long long)st->run);
    return store_end(st, ok, diags);
}
