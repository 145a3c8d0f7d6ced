#include "store/db.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <string.h>
#include <sys/stat.h>

/* ---- errors ---------------------------------------------------------------------------------------------------------------- */

/* Has the file that is being written another name at best? */
static bool is_gone(const struct db *db)
{
    struct stat open, there;
    if (db->lock < 0 || fstat(db->lock, &open) != 0) return false;
    return stat(db->path, &there) != 0 || there.st_dev != open.st_dev || there.st_ino != open.st_ino;
}

static bool fail_gone(const struct db *db, struct diags *diags)
{
    return diags_runtime(diags, db->path,
                         "was deleted or replaced by another file while it was written: what was stored in it is lost");
}

bool db_check_kept(const struct db *db, struct diags *diags)
{
    return !is_gone(db) || fail_gone(db, diags);
}

static bool fail_io(const struct db *db, const char *path, struct diags *diags)
{
    int code = sqlite3_system_errno(db->sqlite);
    return diags_runtime(diags, path, "reading or writing failed: %s; what was committed before is kept",
                         code ? strerror(code) : sqlite3_errmsg(db->sqlite));
}

bool db_fail(const struct db *db, const char *path, struct diags *diags)
{
    if (!path) path = db->path;
    if (db->patience && db->patience->ended) {
        char steps[TEXT_NUMBER_MAX];
        db->patience->ended = false;
        return diags_runtime(
            diags, path,
            "a statement gave no row in %s steps of SQLite and was stopped: does a join lack its condition, or a recursion its "
            "end?",
            text_count(steps, db->patience->steps));
    }
    if (is_gone(db)) return fail_gone(db, diags);
    int code = sqlite3_extended_errcode(db->sqlite);
    switch (code & 0xff) {
    case SQLITE_FULL:
        return diags_runtime(diags, path,
                             "the disk is full; what was committed before is kept: make room, and the same command goes on");
    case SQLITE_IOERR: return fail_io(db, path, diags);
    case SQLITE_BUSY: return diags_runtime(diags, path, "is locked: another program is using it; try again when it is done");
    case SQLITE_NOTADB: return diags_runtime(diags, path, "is not a SQLite database; it is left as it is");
    case SQLITE_CORRUPT: return diags_runtime(diags, path, "is damaged: %s", sqlite3_errmsg(db->sqlite));
    case SQLITE_READONLY: return diags_runtime(diags, path, "cannot be written: %s", sqlite3_errmsg(db->sqlite));
    case SQLITE_CANTOPEN:
        return diags_runtime(diags, path, "cannot be opened: %s",
                             sqlite3_system_errno(db->sqlite) ? strerror(sqlite3_system_errno(db->sqlite))
                                                              : sqlite3_errmsg(db->sqlite));
    default: return diags_runtime(diags, path, "%s", sqlite3_errmsg(db->sqlite));
    }
}

/* ---- patience -------------------------------------------------------------------------------------------------------------- */

/* Start the count of steps anew, as a call into SQLite begins. */
static void take_patience(const struct db *db)
{
    if (db->patience) db->patience->left = db->patience->steps;
}

void db_set_patience(const struct db *db, uint64_t steps)
{
    db->patience->steps = db->patience->left = steps;
}

/* ---- statements ------------------------------------------------------------------------------------------------------------ */

static sqlite3_stmt *prepare(const struct db *db, struct diags *diags, char *sql)
{
    sqlite3_stmt *stmt = NULL;
    take_patience(db);
    if (sqlite3_prepare_v2(db->sqlite, sql, -1, &stmt, NULL) != SQLITE_OK) db_fail(db, NULL, diags);
    sqlite3_free(sql);
    return stmt;
}

static char *format(const char *fmt, va_list ap)
{
    char *sql = sqlite3_vmprintf(fmt, ap);
    if (!sql) out_of_memory(0);
    return sql;
}

bool db_exec(const struct db *db, struct diags *diags, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *sql = format(fmt, ap);
    va_end(ap);
    take_patience(db);
    int rc = sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return rc == SQLITE_OK || db_fail(db, NULL, diags);
}

sqlite3_stmt *db_prepare(const struct db *db, struct diags *diags, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *sql = format(fmt, ap);
    va_end(ap);
    return prepare(db, diags, sql);
}

int db_step(const struct db *db, sqlite3_stmt *stmt, struct diags *diags)
{
    take_patience(db);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) return 1;
    if (rc == SQLITE_DONE) return 0;
    db_fail(db, NULL, diags);
    return -1;
}

bool db_run(const struct db *db, sqlite3_stmt *stmt, struct diags *diags)
{
    int rc;
    take_patience(db);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) continue;
    bool ok = rc == SQLITE_DONE || db_fail(db, NULL, diags);
    sqlite3_reset(stmt);
    return ok;
}

bool db_int(const struct db *db, int64_t *ret, struct diags *diags, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *sql = format(fmt, ap);
    va_end(ap);
    sqlite3_stmt *stmt = prepare(db, diags, sql);
    int rc = stmt ? db_step(db, stmt, diags) : -1;
    if (rc >= 0) *ret = rc ? sqlite3_column_int64(stmt, 0) : 0;
    sqlite3_finalize(stmt);
    return rc >= 0;
}

bool db_begin(const struct db *db, struct diags *diags)
{
    return db_exec(db, diags, "BEGIN IMMEDIATE");
}

bool db_end(const struct db *db, bool ok, struct diags *diags)
{
    ok = ok && db_exec(db, diags, "COMMIT");
    /* A full disk or an I/O error may have rolled back by itself. */
    if (!sqlite3_get_autocommit(db->sqlite)) sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
    return ok;
}
