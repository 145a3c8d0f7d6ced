#include "store/run_rows.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "store/reader.h"
#include "store/schema.h"

#include <stdlib.h>

struct run_rows {
    const struct reader *reader;
    sqlite3_stmt *stmt;
    int64_t first_id;
    bool there; /* on a row */
};

struct reader *reader_open_again(const struct reader *r, struct diags *diags)
{
    struct reader *again = xcalloc(1, sizeof *again);
    if (db_open_unchecked(&again->db, r->db.path, diags)) return again;
    free(again);
    return NULL;
}

/* "SELECT <id of the point's row>, <columns> FROM ... WHERE <id> >= ?1 ...": the row that every point has is `base`. */
static char *rows_sql(const struct db *db, const char *model, int64_t run, bool refines, const char *const *columns, size_t n,
                      struct diags *diags)
{
    struct view_columns v;
    if (!view_columns_read(db, model, &v, diags)) return NULL;
    const char *base = refines ? "b" : "a";
    struct text t;
    text_init(&t);
    text_addf(&t, "SELECT %s.id", base);
    for (size_t i = 0; i < n; i++) {
        char *expression;
        if (!view_column_expression(&v, columns[i], &expression)) expression = xstrdup("NULL");
        text_addf(&t, ", %s", expression);
        free(expression);
    }
    view_columns_release(&v);
    char *from = schema_sql(" FROM \"%w_fixed\" f CROSS JOIN \"%w_all\" %s", model, model, base),
         *finest = schema_sql(" CROSS JOIN \"%w_all\" a", model),
         *where = schema_sql(" WHERE f.run = %lld AND %s.id >= ?1 AND %s.id < f.first_id + f.points", (long long)run, base, base),
         *is_finest = schema_sql(" AND a.id = coalesce((SELECT e.id FROM \"%w_all\" e WHERE e.id = -b.id), b.id)", model);
    text_addf(&t, "%s%s%s%s ORDER BY %s.id", from, refines ? finest : "", where, refines ? is_finest : "", base);
    free(from);
    free(finest);
    free(where);
    free(is_finest);
    return text_detach(&t);
}

struct run_rows *run_rows_new(struct reader *r, const char *model, int64_t run, const char *const *columns, size_t n,
                              struct diags *diags)
{
    struct run_rows *rows = xcalloc(1, sizeof *rows);
    rows->reader = r;
    bool refines;
    char *sql = NULL;
    bool ok = schema_model_refines(&r->db, model, &refines, diags) &&
              db_int(&r->db, &rows->first_id, diags, "SELECT first_id FROM \"%w_fixed\" WHERE run = %lld", model, (long long)run) &&
              (sql = rows_sql(&r->db, model, run, refines, columns, n, diags)) != NULL &&
              (sqlite3_prepare_v2(r->db.sqlite, sql, -1, &rows->stmt, NULL) == SQLITE_OK || db_fail(&r->db, NULL, diags));
    free(sql);
    if (ok) return rows;
    run_rows_free(rows);
    return NULL;
}

void run_rows_free(struct run_rows *rows)
{
    if (!rows) return;
    sqlite3_finalize(rows->stmt);
    free(rows);
}

uint64_t run_rows_point(const struct run_rows *rows)
{
    return (uint64_t)(sqlite3_column_int64(rows->stmt, 0) - rows->first_id);
}

int run_rows_next(struct run_rows *rows, struct diags *diags)
{
    const int rc = db_step(&rows->reader->db, rows->stmt, diags);
    rows->there = rc > 0;
    return rc;
}

int run_rows_at(struct run_rows *rows, uint64_t point, struct diags *diags)
{
    if (rows->there) {
        const uint64_t at = run_rows_point(rows);
        if (at == point) return 1;
        if (at + 1 == point) return run_rows_next(rows, diags);
    }
    sqlite3_reset(rows->stmt);
    sqlite3_bind_int64(rows->stmt, 1, rows->first_id + (int64_t)point);
    return run_rows_next(rows, diags);
}

enum cell_type run_rows_type(const struct run_rows *rows, size_t i)
{
    switch (sqlite3_column_type(rows->stmt, (int)i + 1)) {
    case SQLITE_INTEGER: return CELL_INTEGER;
    case SQLITE_FLOAT: return CELL_REAL;
    case SQLITE_TEXT: return CELL_TEXT;
    case SQLITE_BLOB: return CELL_BLOB;
    default: return CELL_NULL;
    }
}

double run_rows_f64(const struct run_rows *rows, size_t i)
{
    return sqlite3_column_double(rows->stmt, (int)i + 1);
}

const char *run_rows_text(const struct run_rows *rows, size_t i)
{
    return (const char *)sqlite3_column_text(rows->stmt, (int)i + 1);
}
