#include "store/run_rows.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "store/reader.h"
#include "store/schema.h"

#include <stdlib.h>
#include <string.h>

struct run_rows {
    const struct reader *reader;
    sqlite3_stmt *stmt;
    int64_t first_id;
    bool there; /* on a row */
    struct run_cell *cells;
    struct text texts; /* of the row's texts and blobs, each closed by NUL */
    char number[64];   /* the text of a number */
};

/* ---- cells ----------------------------------------------------------------------------------------------------------------- */

/* A row has some 70 cells, and asking a statement for each costs more than reading them from the file: sqlite3_column_double and
 * its like begin and end a call of the connection. The arguments of a function cost nothing of the kind, so that the statement
 * hands its columns to one: run_row_cells(rows, FIRST, cell FIRST, ...), as often as one call takes so many. */
#define CELLS_FUNCTION "run_row_cells"
#define CELLS_POINTER "dse_run_rows"

static void take_bytes(struct run_rows *rows, struct run_cell *c, const void *bytes, int n)
{
    c->bytes = n;
    c->i64 = (int64_t)rows->texts.n;
    if (n > 0) text_add_bytes(&rows->texts, bytes, (size_t)n);
    text_add_bytes(&rows->texts, "", 1);
}

static void take_cell(struct run_rows *rows, struct run_cell *c, sqlite3_value *v)
{
    const void *bytes;
    *c = (struct run_cell){.type = CELL_NULL};
    switch (sqlite3_value_type(v)) {
    case SQLITE_FLOAT:
        c->type = CELL_REAL;
        c->f64 = sqlite3_value_double(v);
        break;
    case SQLITE_INTEGER:
        c->type = CELL_INTEGER;
        c->i64 = sqlite3_value_int64(v);
        c->f64 = (double)c->i64;
        break;
    case SQLITE_TEXT:
        c->type = CELL_TEXT;
        bytes = sqlite3_value_text(v);
        take_bytes(rows, c, bytes, sqlite3_value_bytes(v));
        break;
    case SQLITE_BLOB:
        c->type = CELL_BLOB;
        bytes = sqlite3_value_blob(v);
        take_bytes(rows, c, bytes, sqlite3_value_bytes(v));
        break;
    default: break;
    }
}

static void take_cells(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    struct run_rows *rows = argc > 1 ? sqlite3_value_pointer(argv[0], CELLS_POINTER) : NULL;
    if (!rows) {
        sqlite3_result_error(context, CELLS_FUNCTION " is for dse alone", -1);
        return;
    }
    struct run_cell *c = rows->cells + sqlite3_value_int64(argv[1]);
    for (int i = 2; i < argc; i++) take_cell(rows, c++, argv[i]);
}

static bool have_function(struct reader *r, struct diags *diags)
{
    if (r->takes_cells) return true;
    r->takes_cells = sqlite3_create_function_v2(r->db.sqlite, CELLS_FUNCTION, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL, take_cells,
                                                NULL, NULL, NULL) == SQLITE_OK;
    return r->takes_cells || db_fail(&r->db, NULL, diags);
}

/* ---- the statement --------------------------------------------------------------------------------------------------------- */

struct reader *reader_open_again(const struct reader *r, struct diags *diags)
{
    struct reader *again = xcalloc(1, sizeof *again);
    if (db_open_unchecked(&again->db, r->db.path, diags)) return again;
    free(again);
    return NULL;
}

/* The columns, as many to a call of the function as it takes. */
static void add_columns(struct text *t, const struct db *db, const struct view_columns *v, const char *const *columns, size_t n)
{
    const size_t most = (size_t)sqlite3_limit(db->sqlite, SQLITE_LIMIT_FUNCTION_ARG, -1) - 2;
    for (size_t i = 0; i < n; i++) {
        char *expression;
        if (!view_column_expression(v, columns[i], &expression)) expression = xstrdup("NULL");
        if (i % most == 0) text_addf(t, "%s, " CELLS_FUNCTION "(?2, %zu", i ? ")" : "", i);
        text_addf(t, ", %s", expression);
        free(expression);
    }
    if (n) text_add(t, ")");
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
    add_columns(&t, db, &v, columns, n);
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
    rows->cells = xcalloc(n + 1, sizeof *rows->cells);
    text_init(&rows->texts);
    bool refines;
    char *sql = NULL;
    bool ok = have_function(r, diags) && schema_model_refines(&r->db, model, &refines, diags) &&
              db_int(&r->db, &rows->first_id, diags, "SELECT first_id FROM \"%w_fixed\" WHERE run = %lld", model, (long long)run) &&
              (sql = rows_sql(&r->db, model, run, refines, columns, n, diags)) != NULL &&
              (sqlite3_prepare_v2(r->db.sqlite, sql, -1, &rows->stmt, NULL) == SQLITE_OK || db_fail(&r->db, NULL, diags)) &&
              (sqlite3_bind_pointer(rows->stmt, 2, rows, CELLS_POINTER, NULL) == SQLITE_OK || n == 0);
    free(sql);
    if (ok) return rows;
    run_rows_free(rows);
    return NULL;
}

void run_rows_free(struct run_rows *rows)
{
    if (!rows) return;
    sqlite3_finalize(rows->stmt);
    text_release(&rows->texts);
    free(rows->cells);
    free(rows);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------ */

uint64_t run_rows_point(const struct run_rows *rows)
{
    return (uint64_t)(sqlite3_column_int64(rows->stmt, 0) - rows->first_id);
}

int run_rows_next(struct run_rows *rows, struct diags *diags)
{
    rows->texts.n = 0;
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

const struct run_cell *run_rows_cells(const struct run_rows *rows)
{
    return rows->cells;
}

enum cell_type run_rows_type(const struct run_rows *rows, size_t i)
{
    return rows->cells[i].type;
}

double run_rows_f64(const struct run_rows *rows, size_t i)
{
    return rows->cells[i].f64;
}

const char *run_rows_text(struct run_rows *rows, size_t i)
{
    const struct run_cell *c = &rows->cells[i];
    if (c->type == CELL_NULL) return NULL;
    if (c->type == CELL_TEXT || c->type == CELL_BLOB) return rows->texts.s + c->i64;
    if (c->type == CELL_INTEGER)
        sqlite3_snprintf(sizeof rows->number, rows->number, "%lld", (long long)c->i64);
    else
        sqlite3_snprintf(sizeof rows->number, rows->number, "%!.15g", c->f64);
    return rows->number;
}
