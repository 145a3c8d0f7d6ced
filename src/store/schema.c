#include "store/schema.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "model/names.h"
#include "store/db.h"
#include "store/digest.h"
#include "store/seal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const schema_leading[SCHEMA_LEADING] = {"id", "run", "point", "status", "reason", "fidelity"};
static const char *const leading_docs[SCHEMA_LEADING] = {
    "row of the table: the run's first id plus the point; negative where event level was added to a closed form",
    "run that evaluated the point; see table run",
    "index of the point in its space",
    "ok, or infeasible",
    "why the point is infeasible",
    "closed-form or event-level",
};

/* The columns of MODEL_fixed that stand in front of the parameters. */
static const char *const fixed_leading[SCHEMA_FIXED_LEADING] = {"run", "first_id", "points"};

static const char common_sql[] =
    "CREATE TABLE IF NOT EXISTS run(id INTEGER PRIMARY KEY, sweep TEXT NOT NULL, sweep_text TEXT NOT NULL, hash TEXT NOT NULL,"
    " version TEXT NOT NULL, git_commit TEXT NOT NULL, models TEXT NOT NULL, axes TEXT NOT NULL, objectives TEXT NOT NULL,"
    " seed INTEGER, fidelity TEXT NOT NULL, shard TEXT, host TEXT, started TEXT NOT NULL, ended TEXT,"
    " planned INTEGER NOT NULL, done INTEGER NOT NULL, feasible INTEGER NOT NULL, hypervolume REAL, status TEXT NOT NULL, baseline"
    " TEXT,"
    " refined INTEGER, requests TEXT, axis_ends TEXT, unequal TEXT, notices TEXT, method TEXT, catalog TEXT, digests INTEGER);"
    "CREATE TABLE IF NOT EXISTS front(run INTEGER NOT NULL, model TEXT NOT NULL, point INTEGER NOT NULL,"
    " PRIMARY KEY(run, model, point)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS budget_front(run INTEGER NOT NULL, budget TEXT NOT NULL, model TEXT NOT NULL,"
    " point INTEGER NOT NULL, PRIMARY KEY(run, budget, model, point)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS column_info(table_name TEXT NOT NULL, column_name TEXT NOT NULL, unit TEXT NOT NULL,"
    " doc TEXT NOT NULL, direction INTEGER NOT NULL, PRIMARY KEY(table_name, column_name)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS block(run INTEGER NOT NULL, model TEXT NOT NULL, \"first\" INTEGER NOT NULL,"
    " \"last\" INTEGER NOT NULL, PRIMARY KEY(run, model, \"first\")) WITHOUT ROWID;";

static const char digest_sql[] =
    "CREATE TABLE IF NOT EXISTS main.digest(run INTEGER NOT NULL, of TEXT NOT NULL, hash INTEGER NOT NULL,"
    " PRIMARY KEY(run, of)) WITHOUT ROWID;";

const char *const schema_run_tables[] = {"run",
                                         "front",
                                         "budget_front",
                                         "block",
                                         "evaluated",
                                         "streamed",
                                         "streamed_block",
                                         "streamed_part",
                                         "certificate",
                                         "certificate_space",
                                         "certificate_place",
                                         "certificate_box",
                                         NULL};

const char *schema_run_column(const char *table)
{
    return strcmp(table, "run") == 0 ? "id" : "run";
}

bool schema_has_table(const struct db *db, const char *schema, const char *table, bool *ret, struct diags *diags)
{
    int64_t n;
    const bool ok =
        db_int(db, &n, diags, "SELECT count(*) FROM \"%w\".sqlite_schema WHERE type = 'table' AND name = %Q", schema, table);
    *ret = ok && n > 0;
    return ok;
}

const char *schema_sql_type(enum dse_type type)
{
    switch (type) {
    case DSE_TYPE_F64: return "REAL";
    case DSE_TYPE_I64: return "INTEGER";
    default: return "TEXT";
    }
}

/* ---- columns of a table ---------------------------------------------------------------------------------------------------- */

bool column_list_read(const struct db *db, const char *schema, const char *table, struct column_list *ret, struct diags *diags)
{
    *ret = (struct column_list){0};
    sqlite3_stmt *stmt = db_prepare(db, diags, "SELECT name, type FROM pragma_table_info(%Q, %Q) ORDER BY cid", table, schema);
    int rc = stmt ? 1 : -1;
    while (rc > 0 && (rc = db_step(db, stmt, diags)) > 0) {
        ret->names = xrealloc(ret->names, ret->n + 1, sizeof(char *));
        ret->types = xrealloc(ret->types, ret->n + 1, sizeof(char *));
        ret->names[ret->n] = xstrdup((const char *)sqlite3_column_text(stmt, 0));
        ret->types[ret->n++] = xstrdup((const char *)sqlite3_column_text(stmt, 1));
    }
    sqlite3_finalize(stmt);
    if (rc < 0) column_list_release(ret);
    return rc == 0;
}

void column_list_release(struct column_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->names[i]);
        free(l->types[i]);
    }
    free(l->names);
    free(l->types);
    *l = (struct column_list){0};
}

size_t column_list_find(const struct column_list *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcasecmp(l->names[i], name) == 0) return i;
    return SIZE_MAX;
}

/* ---- models ---------------------------------------------------------------------------------------------------------------- */

bool model_list_read(const struct db *db, const char *schema, struct model_list *ret, struct diags *diags)
{
    *ret = (struct model_list){0};
    sqlite3_stmt *stmt = db_prepare(db, diags,
                                    "SELECT substr(f.name, 1, length(f.name) - 6) AS model FROM \"%w\".sqlite_schema f"
                                    " WHERE f.type = 'table' AND f.name LIKE '%%\\_fixed' ESCAPE '\\' AND EXISTS(SELECT 1 FROM"
                                    " \"%w\".sqlite_schema a WHERE a.type = 'table' AND a.name = model || '_all') ORDER BY model",
                                    schema, schema);
    int rc = stmt ? 1 : -1;
    while (rc > 0 && (rc = db_step(db, stmt, diags)) > 0) {
        ret->names = xrealloc(ret->names, ret->n + 1, sizeof(char *));
        ret->names[ret->n++] = xstrdup((const char *)sqlite3_column_text(stmt, 0));
    }
    sqlite3_finalize(stmt);
    if (rc < 0) model_list_release(ret);
    return rc == 0;
}

void model_list_release(struct model_list *l)
{
    for (size_t i = 0; i < l->n; i++) free(l->names[i]);
    free(l->names);
    *l = (struct model_list){0};
}

char *schema_sql(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = sqlite3_vmprintf(fmt, ap);
    va_end(ap);
    if (!s) out_of_memory(0);
    char *copy = xstrdup(s);
    sqlite3_free(s);
    return copy;
}

/* ---- names ----------------------------------------------------------------------------------------------------------------- */

static bool is_among(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(name, list[i]) == 0) return true;
    return false;
}

static bool check_name(const struct store_table *t, const char *name, bool is_param, struct diags *diags)
{
    if (is_among(name, schema_leading, SCHEMA_LEADING) || (is_param && is_among(name, fixed_leading, SCHEMA_FIXED_LEADING)))
        return diags_input(diags, (struct srcloc){0}, NULL, "choose another name",
                           "%s: \"%s\" is the name of a column that every table of results has", t->model, name);
    return true;
}

bool schema_check_names(const struct store_table *t, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < t->n_params; i++) ok = check_name(t, t->params[i].name, true, diags) && ok;
    for (size_t i = 0; i < t->n_columns; i++) {
        const char *name = t->columns[i].name;
        if (t->columns[i].role == COLUMN_PARAM) continue;
        ok = check_name(t, name, false, diags) && ok;
        bool twice = false;
        for (size_t k = 0; k < t->n_params && !twice; k++) twice = strcasecmp(name, t->params[k].name) == 0;
        for (size_t k = 0; k < i && !twice; k++) twice = strcasecmp(name, t->columns[k].name) == 0;
        if (twice)
            ok = diags_input(diags, (struct srcloc){0}, NULL, "names of columns must differ in more than upper and lower case",
                             "%s: two columns are named \"%s\"", t->model, name);
    }
    return ok;
}

/* ---- tables ---------------------------------------------------------------------------------------------------------------- */

/* Add columns to table `run` that the first version did not have. */
static bool complete_run(const struct db *db, struct diags *diags)
{
    struct column_list run;
    if (!column_list_read(db, "main", "run", &run, diags)) return false;
    bool ok = schema_add_column(db, "run", &run, "baseline", "TEXT", diags) &&
              schema_add_column(db, "run", &run, "refined", "INTEGER", diags) &&
              schema_add_column(db, "run", &run, "requests", "TEXT", diags) &&
              schema_add_column(db, "run", &run, "axis_ends", "TEXT", diags) &&
              schema_add_column(db, "run", &run, "unequal", "TEXT", diags) &&
              schema_add_column(db, "run", &run, "notices", "TEXT", diags) &&
              schema_add_column(db, "run", &run, "method", "TEXT", diags) &&
              schema_add_column(db, "run", &run, "catalog", "TEXT", diags) &&
              schema_add_column(db, "run", &run, "digests", "INTEGER", diags);
    column_list_release(&run);
    return ok;
}

bool schema_create_common(const struct db *db, struct diags *diags)
{
    int64_t id;
    if (!db_int(db, &id, diags, "PRAGMA application_id")) return false;
    if (id == DB_APPLICATION_ID) return complete_run(db, diags) && db_exec(db, diags, "%s%s", seal_sql, digest_sql);
    return db_exec(db, diags, "%s%s%s", common_sql, seal_sql, digest_sql) &&
           db_exec(db, diags, "PRAGMA application_id=%d; PRAGMA user_version=%d", DB_APPLICATION_ID, DB_VERSION);
}

/* Two models of one database: the tables and views of one are not those of the other. Where both are loaded, one of them is
 * refused then. */
static bool check_apart(const struct db *db, const char *model, struct diags *diags)
{
    struct model_list models;
    bool ok = model_list_read(db, "main", &models, diags);
    for (size_t i = 0; i < models.n; i++) {
        const char *other = models.names[i];
        if (name_ending(model, other) || name_ending(other, model))
            ok = diags_input(diags, (struct srcloc){.file = db->path}, NULL, "a database of its own: -o FILE",
                             "the file has results of model %s, and tables of model %s cannot stand beside them", other, model);
    }
    model_list_release(&models);
    return ok;
}

bool schema_create_bare(const struct db *db, const char *model, struct diags *diags)
{
    return check_apart(db, model, diags) &&
           db_exec(db, diags,
                   "CREATE TABLE IF NOT EXISTS main.\"%w_all\"(id INTEGER PRIMARY KEY, run INTEGER, point INTEGER, status TEXT,"
                   " reason TEXT, fidelity TEXT);"
                   "CREATE TABLE IF NOT EXISTS main.\"%w_fixed\"(run INTEGER PRIMARY KEY, first_id INTEGER NOT NULL,"
                   " points INTEGER NOT NULL)",
                   model, model);
}

bool schema_add_column(const struct db *db, const char *table, const struct column_list *l, const char *name, const char *type,
                       struct diags *diags)
{
    if (column_list_find(l, name) != SIZE_MAX) return true;
    return db_exec(db, diags, "ALTER TABLE main.\"%w\" ADD COLUMN \"%w\" %s", table, name, type);
}

static bool create_all(const struct db *db, const struct store_table *t, struct diags *diags)
{
    char *table = xasprintf("%s_all", t->model);
    struct column_list l;
    bool ok = column_list_read(db, "main", table, &l, diags);
    for (size_t i = 0; ok && i < t->n_columns; i++)
        ok = schema_add_column(db, table, &l, t->columns[i].name, schema_sql_type(t->columns[i].type), diags);
    column_list_release(&l);
    free(table);
    return ok;
}

static bool create_fixed(const struct db *db, const struct store_table *t, struct diags *diags)
{
    char *table = xasprintf("%s_fixed", t->model);
    struct column_list l;
    bool ok = column_list_read(db, "main", table, &l, diags);
    for (size_t i = 0; ok && i < t->n_params; i++)
        ok = schema_add_column(db, table, &l, t->params[i].name, schema_sql_type(t->params[i].type), diags);
    column_list_release(&l);
    free(table);
    return ok;
}

bool schema_create_model(const struct db *db, const struct store_table *t, struct diags *diags)
{
    return schema_create_bare(db, t->model, diags) && create_all(db, t, diags) && create_fixed(db, t, diags);
}

/* ---- column_info ----------------------------------------------------------------------------------------------------------- */

static bool describe(const struct db *db, sqlite3_stmt *stmt, const char *name, const char *unit, const char *doc, int direction,
                     struct diags *diags)
{
    sqlite3_bind_text(stmt, 2, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 3, unit, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 4, doc, -1, SQLITE_STATIC);
    sqlite3_bind_int(stmt, 5, direction);
    return db_run(db, stmt, diags);
}

static int direction(enum dse_better better)
{
    return better == DSE_LESS ? -1 : better == DSE_MORE ? 1 : 0;
}

bool schema_describe(const struct db *db, const struct store_table *t, struct diags *diags)
{
    sqlite3_stmt *stmt = db_prepare(db, diags, "INSERT OR REPLACE INTO column_info VALUES(?, ?, ?, ?, ?)");
    if (!stmt) return false;
    sqlite3_bind_text(stmt, 1, t->model, -1, SQLITE_STATIC);
    bool ok = true;
    for (size_t i = 1; ok && i < SCHEMA_LEADING; i++) ok = describe(db, stmt, schema_leading[i], "", leading_docs[i], 0, diags);
    for (size_t i = 0; ok && i < t->n_params; i++)
        ok = describe(db, stmt, t->params[i].name, t->params[i].unit, t->params[i].doc, 0, diags);
    for (size_t i = 0; ok && i < t->n_columns; i++) {
        const struct column *c = &t->columns[i];
        if (c->role != COLUMN_PARAM) ok = describe(db, stmt, c->name, c->unit, c->doc, direction(c->better), diags);
    }
    sqlite3_finalize(stmt);
    return ok;
}
