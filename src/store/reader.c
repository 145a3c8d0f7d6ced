#include "store/query.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "store/reader.h"
#include "store/schema.h"
#include "store/sql_hint.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct query {
    const struct reader *reader;
    sqlite3_stmt *stmt;
};

struct reader *reader_open(const char *path, struct diags *diags)
{
    struct reader *r = xcalloc(1, sizeof *r);
    bool ok = path ? db_open_reader(&r->db, path, diags) && schema_show_run(&r->db, SCHEMA_NEWEST_HERE, diags)
                   : db_open_memory(&r->db, diags);
    if (ok) return r;
    reader_close(r);
    return NULL;
}

void reader_close(struct reader *r)
{
    if (!r) return;
    db_close(&r->db);
    free(r);
}

void reader_set_patience(struct reader *r, uint64_t steps)
{
    db_set_patience(&r->db, steps);
}

/* ---- which run ------------------------------------------------------------------------------------------------------------- */

/* Say what runs there are instead of the one that was wanted. */
static bool no_run(const struct reader *r, int64_t wanted, struct diags *diags)
{
    sqlite3_stmt *stmt =
        db_prepare(&r->db, diags, "SELECT (SELECT min(id) FROM run), id, status FROM run ORDER BY id DESC LIMIT 1");
    int rc = stmt ? db_step(&r->db, stmt, diags) : -1;
    if (rc == 0) {
        diags_runtime(diags, r->db.path, "has no run: `dse sweep` makes one");
    } else if (rc > 0) {
        const long long first = sqlite3_column_int64(stmt, 0), last = sqlite3_column_int64(stmt, 1);
        const char *status = (const char *)sqlite3_column_text(stmt, 2);
        if (wanted)
            diags_runtime(diags, r->db.path, "has no run %lld; its runs are %lld to %lld", (long long)wanted, first, last);
        else
            diags_runtime(diags, r->db.path, "run %lld is not done (%s): the same command as before continues the run", last,
                          status ? status : "no status");
    }
    sqlite3_finalize(stmt);
    return false;
}

int64_t reader_show_run(struct reader *r, int64_t wanted, struct diags *diags)
{
    int64_t run;
    bool ok = wanted ? db_int(&r->db, &run, diags, "SELECT id FROM run WHERE id = %lld", (long long)wanted)
                     : db_int(&r->db, &run, diags, "SELECT max(id) FROM run WHERE status = 'done'");
    ok = ok && (run || no_run(r, wanted, diags)) && schema_show_run(&r->db, run, diags);
    return ok ? run : 0;
}

/* ---- names and strings ----------------------------------------------------------------------------------------------------- */

/* Between two quotes; one that stands in it is written twice. */
static void add_quoted(struct text *sql, const char *s, char quote)
{
    text_add_bytes(sql, &quote, 1);
    for (; *s; s++) {
        if (*s == quote) text_add_bytes(sql, &quote, 1);
        text_add_bytes(sql, s, 1);
    }
    text_add_bytes(sql, &quote, 1);
}

void sql_add_name(struct text *sql, const char *name)
{
    add_quoted(sql, name, '"');
}

void sql_add_string(struct text *sql, const char *s)
{
    add_quoted(sql, s, '\'');
}

/* ---- where an error stands ------------------------------------------------------------------------------------------------- */

/* The place of byte `offset` of SQL that begins at loc; columns count bytes, as everywhere. */
static struct srcloc place(struct srcloc loc, const char *sql, size_t offset)
{
    if (loc.line < 1) loc.line = 1;
    if (loc.column < 1) loc.column = 1;
    for (size_t i = 0; i < offset && sql[i]; i++) {
        if (sql[i] == '\n') {
            loc.line++;
            loc.column = 1;
        } else {
            loc.column++;
        }
    }
    return loc;
}

/* The SQL moved to where it stands in its file, so that a diagnostic quotes the right line with the caret under the right place. */
static char *as_in_file(struct srcloc loc, const char *sql)
{
    struct text t;
    text_init(&t);
    for (int i = 1; i < loc.line; i++) text_add(&t, "\n");
    for (int i = 1; i < loc.column; i++) text_add(&t, " ");
    text_add(&t, sql);
    return text_detach(&t);
}

/* An error about the SQL at byte `offset`, or about all of it when offset is negative. */
static bool fail_at(struct srcloc loc, const char *sql, int offset, const char *hint, const char *message, struct diags *diags)
{
    char *text = as_in_file(loc, sql);
    diags_input(diags, place(loc, sql, offset > 0 ? (size_t)offset : 0), text, hint, "%s", message);
    free(text);
    return false;
}

/* ---- preparing ------------------------------------------------------------------------------------------------------------- */

/* Is there anything in s but space, semicolons and comments? */
static bool has_statement(const char *s)
{
    for (; *s; s++) {
        if (isspace((unsigned char)*s) || *s == ';') continue;
        if (s[0] == '-' && s[1] == '-') {
            s += strcspn(s, "\n");
            if (!*s) return false;
        } else if (s[0] == '/' && s[1] == '*') {
            const char *end = strstr(s + 2, "*/");
            if (!end) return false;
            s = end + 1;
        } else {
            return true;
        }
    }
    return false;
}

static bool fail_prepare(const struct reader *r, const char *sql, struct srcloc loc, struct diags *diags)
{
    int code = sqlite3_errcode(r->db.sqlite) & 0xff;
    if (code != SQLITE_ERROR && code != SQLITE_RANGE && code != SQLITE_TOOBIG) return db_fail(&r->db, NULL, diags);
    const int offset = sqlite3_error_offset(r->db.sqlite);
    char *message = xstrdup(sqlite3_errmsg(r->db.sqlite)), *hint = sql_hint(r->db.sqlite, sql, message);
    fail_at(loc, sql, offset, hint, message, diags);
    free(hint);
    free(message);
    return false;
}

/* One statement that only reads. The database is open read-only; this also keeps out what writes elsewhere (ATTACH creates
 * files). */
static bool check_statement(sqlite3_stmt *stmt, const char *sql, const char *tail, struct srcloc loc, struct diags *diags)
{
    const char *hint = "one SELECT";
    if (!stmt) return fail_at(loc, sql, -1, hint, "there is no statement in the query", diags);
    if (has_statement(tail)) {
        while (isspace((unsigned char)*tail) || *tail == ';') tail++;
        return fail_at(loc, sql, (int)(tail - sql), hint, "a query is one statement; here begins a second", diags);
    }
    if (!sqlite3_stmt_readonly(stmt) || sqlite3_column_count(stmt) == 0)
        return fail_at(loc, sql, -1, hint, "a query only reads; this statement does not", diags);
    if (sqlite3_bind_parameter_count(stmt) > 0)
        return fail_at(loc, sql, -1, "write the value into the query", "the query has a parameter (? or :name) without a value",
                       diags);
    return true;
}

struct query *query_new(struct reader *r, const char *sql, struct srcloc loc, struct diags *diags)
{
    struct query *q = xcalloc(1, sizeof *q);
    q->reader = r;
    const char *tail = sql;
    int rc = sqlite3_prepare_v2(r->db.sqlite, sql, -1, &q->stmt, &tail);
    bool ok = rc == SQLITE_OK ? check_statement(q->stmt, sql, tail, loc, diags) : fail_prepare(r, sql, loc, diags);
    if (ok) return q;
    query_free(q);
    return NULL;
}

void query_free(struct query *q)
{
    if (!q) return;
    sqlite3_finalize(q->stmt);
    free(q);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------ */

int query_columns(const struct query *q)
{
    return sqlite3_column_count(q->stmt);
}

const char *query_column_name(const struct query *q, int i)
{
    const char *name = sqlite3_column_name(q->stmt, i);
    if (!name) out_of_memory(0);
    return name;
}

int query_step(struct query *q, struct diags *diags)
{
    return db_step(&q->reader->db, q->stmt, diags);
}

enum cell_type query_type(const struct query *q, int i)
{
    switch (sqlite3_column_type(q->stmt, i)) {
    case SQLITE_INTEGER: return CELL_INTEGER;
    case SQLITE_FLOAT: return CELL_REAL;
    case SQLITE_TEXT: return CELL_TEXT;
    case SQLITE_BLOB: return CELL_BLOB;
    default: return CELL_NULL;
    }
}

double query_f64(const struct query *q, int i)
{
    enum cell_type type = query_type(q, i);
    return type == CELL_REAL || type == CELL_INTEGER ? sqlite3_column_double(q->stmt, i) : (double)NAN;
}

int64_t query_i64(const struct query *q, int i)
{
    return sqlite3_column_int64(q->stmt, i);
}

const char *query_text(const struct query *q, int i)
{
    return (const char *)sqlite3_column_text(q->stmt, i);
}

/* ---- column_info ----------------------------------------------------------------------------------------------------------- */

bool reader_column_info(struct reader *r, const char *column, char **ret_unit, char **ret_doc, int *ret_direction)
{
    /* Any SQLite file can be read: one without column_info knows nothing about its columns, which is no error. */
    static const char sql[] =
        "SELECT unit, doc, direction FROM column_info WHERE column_name = ?1 COLLATE NOCASE"
        " ORDER BY table_name = 'comparison', table_name NOT IN (SELECT name FROM sqlite_schema WHERE type = 'view'), table_name"
        " LIMIT 1";
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(r->db.sqlite, sql, -1, &stmt, NULL) != SQLITE_OK) return false;
    sqlite3_bind_text(stmt, 1, column, -1, SQLITE_STATIC);
    bool found = sqlite3_step(stmt) == SQLITE_ROW;
    if (found) {
        const char *unit = (const char *)sqlite3_column_text(stmt, 0), *doc = (const char *)sqlite3_column_text(stmt, 1);
        *ret_unit = xstrdup(unit ? unit : "");
        *ret_doc = xstrdup(doc ? doc : "");
        *ret_direction = sqlite3_column_int(stmt, 2);
    }
    sqlite3_finalize(stmt);
    return found;
}
