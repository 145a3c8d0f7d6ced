/* pareto(QUERY, OBJECTIVES): the rows of a query that no other row of it dominates.
 *
 * As a function each row is one text of JSON; CREATE VIRTUAL TABLE temp.NAME USING pareto(QUERY, OBJECTIVES) has the columns of the
 * query. The query runs twice: once for the objectives, once for the rows of the front, so that no rows are kept.
 */
#include "sql/sql_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pareto_table {
    sqlite3_vtab base;
    sqlite3 *db;
    char *query, *objectives; /* of a table that was created; else NULL */
};

enum { NUMBER, ROW, QUERY, OBJECTIVES }; /* columns of the function */

struct pareto_cursor {
    sqlite3_vtab_cursor base;
    sqlite3_stmt *stmt;
    uint64_t *ids; /* of the front: numbers of rows of the query, ascending */
    size_t n, at;
    uint64_t next; /* row of the query */
};

static int fail(sqlite3_vtab *table, char *error)
{
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("pareto(): %s", error);
    sqlite3_free(error);
    return SQLITE_ERROR;
}

/* ---- the table --------------------------------------------------------------------------------------------------------------- */

/* One statement that reads. */
static sqlite3_stmt *prepare(sqlite3 *db, const char *query, char **ret_error)
{
    sqlite3_stmt *stmt = NULL;
    const char *tail = "";
    if (!query || sqlite3_prepare_v2(db, query, -1, &stmt, &tail) != SQLITE_OK)
        *ret_error = sqlite3_mprintf("%s", query ? sqlite3_errmsg(db) : "the query is missing");
    else if (!stmt || !sqlite3_stmt_readonly(stmt) || sqlite3_column_count(stmt) == 0 || tail[strspn(tail, " \t\n;")])
        *ret_error = sqlite3_mprintf("the first argument is one SELECT");
    else
        return stmt;
    sqlite3_finalize(stmt);
    return NULL;
}

/* An argument of CREATE VIRTUAL TABLE without its quotes. The caller frees it. */
static char *unquoted(const char *s)
{
    const char quote = *s == '\'' || *s == '"' ? *s : '\0';
    char *ret = xstrdup(quote ? s + 1 : s), *to = ret;
    for (const char *from = ret; quote && *from; from++) {
        if (*from == quote && *++from != quote) break;
        *to++ = *from;
    }
    if (quote) *to = '\0';
    return ret;
}

/* The columns of the query, each once; further ones of a name are left to its number. */
static int declare(sqlite3 *db, sqlite3_stmt *stmt)
{
    struct text t;
    text_init(&t);
    text_add(&t, "CREATE TABLE x(");
    for (int i = 0; i < sqlite3_column_count(stmt); i++) {
        char *name = sqlite3_mprintf("%s\"%w\"", i ? ", " : "", sqlite3_column_name(stmt, i));
        text_add(&t, name);
        sqlite3_free(name);
    }
    text_add(&t, ")");
    const int rc = sqlite3_declare_vtab(db, t.s);
    text_release(&t);
    return rc;
}

static int pareto_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
    (void)aux;
    enum { OWN = 3 }; /* arguments of SQLite's own before those of the table */
    struct pareto_table *t = xcalloc(1, sizeof *t);
    t->db = db;
    *ret = &t->base;
    if (argc <= OWN) {
        const int rc =
            sqlite3_declare_vtab(db, "CREATE TABLE x(nr INTEGER, \"row\" TEXT, _query TEXT HIDDEN, _objectives TEXT HIDDEN)");
        return rc == SQLITE_OK ? sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY) : rc;
    }
    t->query = unquoted(argv[OWN]);
    t->objectives = xstrdup(argc > OWN + 1 ? argv[OWN + 1] : "");
    char *bare = unquoted(t->objectives);
    free(t->objectives);
    t->objectives = bare;
    sqlite3_stmt *stmt = prepare(db, t->query, error);
    int rc = stmt ? declare(db, stmt) : SQLITE_ERROR;
    if (rc == SQLITE_OK) rc = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    sqlite3_finalize(stmt);
    if (rc == SQLITE_OK) return rc;
    free(t->query);
    free(t->objectives);
    free(t);
    *ret = NULL;
    return rc;
}

static int pareto_disconnect(sqlite3_vtab *base)
{
    struct pareto_table *t = (struct pareto_table *)base;
    free(t->query);
    free(t->objectives);
    free(t);
    return SQLITE_OK;
}

static int pareto_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    int found[2] = {-1, -1};
    info->estimatedCost = 1e6;
    info->estimatedRows = 100;
    if (((struct pareto_table *)base)->query) return SQLITE_OK;
    for (int i = 0; i < info->nConstraint; i++) {
        const int k = info->aConstraint[i].iColumn - QUERY;
        if (k < 0 || k > 1 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (!info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
        found[k] = i;
    }
    if (found[0] < 0 || found[1] < 0) return fail(base, sqlite3_mprintf("a query and its objectives are needed"));
    for (int k = 0; k < 2; k++) {
        info->aConstraintUsage[found[k]].argvIndex = k + 1;
        info->aConstraintUsage[found[k]].omit = 1;
    }
    return SQLITE_OK;
}

/* ---- objectives -------------------------------------------------------------------------------------------------------------- */

struct objectives {
    int m, column[FRONT_OBJECTIVES_MAX];
    bool maximise[FRONT_OBJECTIVES_MAX];
};

static bool add_objective(struct objectives *o, sqlite3_stmt *stmt, const char *word, size_t n, char **ret_error)
{
    const bool is_max = n > 4 && strncmp(word, "max ", 4) == 0, is_min = n > 4 && strncmp(word, "min ", 4) == 0;
    const char *name = word + 4 + (n > 4 ? strspn(word + 4, " ") : 0);
    size_t length = n > 4 ? n - (size_t)(name - word) : 0;
    while (length && name[length - 1] == ' ') length--;
    if (o->m == FRONT_OBJECTIVES_MAX || !(is_max || is_min)) {
        *ret_error = sqlite3_mprintf("\"%.*s\" is no objective: for example, 'max tokens_per_s, min area_mm2'", (int)n, word);
        return false;
    }
    for (int i = 0; i < sqlite3_column_count(stmt); i++) {
        const char *column = sqlite3_column_name(stmt, i);
        if (strlen(column) != length || sqlite3_strnicmp(column, name, (int)length) != 0) continue;
        o->maximise[o->m] = is_max;
        o->column[o->m++] = i;
        return true;
    }
    *ret_error = sqlite3_mprintf("the query has no column \"%.*s\"", (int)length, name);
    return false;
}

/* "max tokens_per_s, min area_mm2" */
static bool read_objectives(struct objectives *o, sqlite3_stmt *stmt, const char *text, char **ret_error)
{
    *o = (struct objectives){0};
    for (const char *s = text ? text : ""; *s;) {
        s += strspn(s, " ,");
        const size_t n = strcspn(s, ",");
        if (n && !add_objective(o, stmt, s, n, ret_error)) return false;
        s += n;
    }
    if (!o->m) *ret_error = sqlite3_mprintf("there are no objectives: for example, 'max tokens_per_s, min area_mm2'");
    return o->m > 0;
}

/* Find the rows of the front by running the query. */
static bool find_front(struct pareto_cursor *c, const struct objectives *o, sqlite3 *db, char **ret_error)
{
    struct front *front = front_new(o->m, o->maximise);
    double values[FRONT_OBJECTIVES_MAX];
    int rc;
    for (uint64_t i = 0; (rc = sqlite3_step(c->stmt)) == SQLITE_ROW; i++) {
        for (int k = 0; k < o->m; k++) {
            const int type = sqlite3_column_type(c->stmt, o->column[k]);
            values[k] = type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_double(c->stmt, o->column[k]) : (double)NAN;
        }
        front_add(front, i, values);
    }
    if (rc == SQLITE_DONE) {
        const uint64_t *ids;
        const double *kept;
        c->n = front_finish(front, &ids, &kept);
        c->ids = xcalloc(c->n, sizeof *c->ids);
        memcpy(c->ids, ids, c->n * sizeof *c->ids);
    } else {
        *ret_error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
    }
    front_free(front);
    sqlite3_reset(c->stmt);
    return rc == SQLITE_DONE;
}

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

static int pareto_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
    (void)table;
    struct pareto_cursor *c = xcalloc(1, sizeof *c);
    *ret = &c->base;
    return SQLITE_OK;
}

static void forget(struct pareto_cursor *c)
{
    sqlite3_finalize(c->stmt);
    free(c->ids);
    *c = (struct pareto_cursor){.base = c->base};
}

static int pareto_close(sqlite3_vtab_cursor *base)
{
    struct pareto_cursor *c = (struct pareto_cursor *)base;
    forget(c);
    free(c);
    return SQLITE_OK;
}

/* Step to the row of the front at hand. */
static int step_to(struct pareto_cursor *c)
{
    while (c->at < c->n && c->next <= c->ids[c->at]) {
        if (sqlite3_step(c->stmt) != SQLITE_ROW)
            return fail(c->base.pVtab, sqlite3_mprintf("the query has other rows when it runs again"));
        c->next++;
    }
    return SQLITE_OK;
}

static int pareto_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc, sqlite3_value **argv)
{
    (void)number, (void)plan;
    struct pareto_cursor *c = (struct pareto_cursor *)base;
    const struct pareto_table *t = (const struct pareto_table *)base->pVtab;
    const bool given = !t->query && argc == 2;
    const char *query = given ? (const char *)sqlite3_value_text(argv[0]) : t->query;
    const char *objectives = given ? (const char *)sqlite3_value_text(argv[1]) : t->objectives;
    struct objectives o;
    char *error = NULL;
    forget(c);
    c->stmt = prepare(t->db, query, &error);
    if (!c->stmt || !read_objectives(&o, c->stmt, objectives, &error) || !find_front(c, &o, t->db, &error))
        return fail(base->pVtab, error);
    return step_to(c);
}

static int pareto_next(sqlite3_vtab_cursor *base)
{
    struct pareto_cursor *c = (struct pareto_cursor *)base;
    c->at++;
    return step_to(c);
}

static int pareto_eof(sqlite3_vtab_cursor *base)
{
    const struct pareto_cursor *c = (const struct pareto_cursor *)base;
    return c->at >= c->n;
}

static void add_json_value(struct text *t, sqlite3_stmt *stmt, int i)
{
    char buf[TEXT_NUMBER_MAX];
    const double v = sqlite3_column_double(stmt, i);
    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_INTEGER: text_addf(t, "%lld", (long long)sqlite3_column_int64(stmt, i)); break;
    case SQLITE_FLOAT: text_add(t, isinf(v) ? v > 0 ? "1e999" : "-1e999" : text_number(buf, v)); break;
    case SQLITE_NULL: text_add(t, "null"); break;
    default: text_add_json(t, (const char *)sqlite3_column_text(stmt, i)); break;
    }
}

static void result_json(sqlite3_context *context, sqlite3_stmt *stmt)
{
    struct text t;
    text_init(&t);
    for (int i = 0; i < sqlite3_column_count(stmt); i++) {
        text_add(&t, i ? "," : "{");
        text_add_json(&t, sqlite3_column_name(stmt, i));
        text_add(&t, ":");
        add_json_value(&t, stmt, i);
    }
    text_add(&t, "}");
    sqlite3_result_text(context, t.s, (int)t.n, SQLITE_TRANSIENT);
    text_release(&t);
}

static int pareto_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct pareto_cursor *c = (const struct pareto_cursor *)base;
    if (((const struct pareto_table *)base->pVtab)->query)
        sqlite3_result_value(context, sqlite3_column_value(c->stmt, column));
    else if (column == NUMBER)
        sqlite3_result_int64(context, (sqlite3_int64)c->at + 1);
    else if (column == ROW)
        result_json(context, c->stmt);
    return SQLITE_OK;
}

static int pareto_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)((const struct pareto_cursor *)base)->at;
    return SQLITE_OK;
}

static const sqlite3_module pareto_module = {
    .iVersion = 1,
    .xCreate = pareto_connect, /* the same as xConnect: a table by the module's name alone, too */
    .xConnect = pareto_connect,
    .xBestIndex = pareto_best_index,
    .xDisconnect = pareto_disconnect,
    .xDestroy = pareto_disconnect,
    .xOpen = pareto_open,
    .xClose = pareto_close,
    .xFilter = pareto_filter,
    .xNext = pareto_next,
    .xEof = pareto_eof,
    .xColumn = pareto_column,
    .xRowid = pareto_rowid,
};

int sql_register_pareto(sqlite3 *db)
{
    return sqlite3_create_module(db, "pareto", &pareto_module, NULL);
}
