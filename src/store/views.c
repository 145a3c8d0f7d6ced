/* The views of a model, made from the columns its tables have.
 *
 *     CREATE VIEW lad AS SELECT a.run, a.point, ..., f.llm AS llm, a.tiles AS tiles, coalesce(a.sram_mib, f.sram_mib) AS sram_mib, ...
 *         FROM lad_fixed f CROSS JOIN lad_all a
 *         WHERE a.id >= f.first_id AND a.id < f.first_id + f.points AND f.run IN (<the newest run of each sweep>)
 *
 * CROSS JOIN keeps SQLite to that order: for each of the few newest runs, one scan over its range of ids, which never touches
 * the rows of other runs and looks nothing up per row.
 */
#include "store/schema.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

/* ---- a column as an expression --------------------------------------------------------------------------------------------- */

static bool find_mixed(const struct db *db, const char *model, struct view_columns *v, struct diags *diags)
{
    v->mixed = xcalloc(v->fixed.n, sizeof *v->mixed);
    for (size_t i = SCHEMA_FIXED_LEADING; i < v->fixed.n; i++) {
        if (column_list_find(&v->all, v->fixed.names[i]) == SIZE_MAX) continue;
        int64_t fixed;
        if (!db_int(db, &fixed, diags, "SELECT EXISTS(SELECT 1 FROM main.\"%w_fixed\" WHERE \"%w\" IS NOT NULL)", model,
                    v->fixed.names[i]))
            return false;
        v->mixed[i] = fixed != 0;
    }
    return true;
}

bool view_columns_read(const struct db *db, const char *model, struct view_columns *ret, struct diags *diags)
{
    *ret = (struct view_columns){0};
    char *all = xasprintf("%s_all", model), *fixed = xasprintf("%s_fixed", model);
    bool ok = column_list_read(db, "main", all, &ret->all, diags) && column_list_read(db, "main", fixed, &ret->fixed, diags) &&
              find_mixed(db, model, ret, diags);
    free(all);
    free(fixed);
    if (!ok) view_columns_release(ret);
    return ok;
}

void view_columns_release(struct view_columns *v)
{
    column_list_release(&v->all);
    column_list_release(&v->fixed);
    free(v->mixed);
    *v = (struct view_columns){0};
}

/* Formatted by SQLite, freed with free(). */
static char *sql_text(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = sqlite3_vmprintf(fmt, ap);
    va_end(ap);
    if (!s) abort(); /* out of memory, as in xalloc */
    char *copy = xstrdup(s);
    sqlite3_free(s);
    return copy;
}

bool view_column_expression(const struct view_columns *v, const char *name, char **ret)
{
    size_t a = column_list_find(&v->all, name), f = column_list_find(&v->fixed, name);
    if (f < SCHEMA_FIXED_LEADING && a == SIZE_MAX) f = SIZE_MAX; /* first_id, points */
    if (a == SIZE_MAX && f == SIZE_MAX) return false;
    if (a == SIZE_MAX)
        *ret = sql_text("f.\"%w\"", name);
    else if (f != SIZE_MAX && v->mixed[f])
        *ret = sql_text("coalesce(a.\"%w\", f.\"%w\")", name, name);
    else
        *ret = sql_text("a.\"%w\"", name);
    return true;
}

/* ---- the views ------------------------------------------------------------------------------------------------------------- */

static void add_column(struct text *t, const struct view_columns *v, const char *name)
{
    char *expression;
    if (!view_column_expression(v, name, &expression)) return;
    char *as = sql_text(" AS \"%w\"", name);
    text_addf(t, "%s%s%s", t->n ? ", " : "", expression, as);
    free(expression);
    free(as);
}

/* Every column under its own name: those every model has, parameters, then the rest. */
static char *column_texts(const struct view_columns *v)
{
    struct text t;
    text_init(&t);
    for (size_t i = 1; i < SCHEMA_LEADING; i++) add_column(&t, v, schema_leading[i]);
    for (size_t i = SCHEMA_FIXED_LEADING; i < v->fixed.n; i++) add_column(&t, v, v->fixed.names[i]);
    for (size_t i = SCHEMA_LEADING; i < v->all.n; i++)
        if (column_list_find(&v->fixed, v->all.names[i]) == SIZE_MAX) add_column(&t, v, v->all.names[i]);
    return text_detach(&t);
}

bool schema_create_view(const struct db *db, const char *name, char *sql, bool *changed, struct diags *diags)
{
    sqlite3_stmt *stmt = db_prepare(db, diags, "SELECT sql FROM main.sqlite_schema WHERE type = 'view' AND name = %Q", name);
    int rc = stmt ? db_step(db, stmt, diags) : -1;
    bool same = rc > 0 && strcmp((const char *)sqlite3_column_text(stmt, 0), sql) == 0;
    sqlite3_finalize(stmt);
    if (rc >= 0 && !same) *changed = true;
    bool ok = rc >= 0 && (same || db_exec(db, diags, "DROP VIEW IF EXISTS main.\"%w\"; %s", name, sql));
    free(sql);
    return ok;
}

bool schema_create_views(const struct db *db, const char *model, struct diags *diags)
{
    struct view_columns v;
    if (!view_columns_read(db, model, &v, diags)) return false;
    char *columns = column_texts(&v), *front = xasprintf("%s_front", model);
    char *newest = sql_text("f.run IN (SELECT max(n.run) FROM \"%w_fixed\" n JOIN run r ON r.id = n.run GROUP BY r.sweep)", model);
    char *plain = sql_text("CREATE VIEW \"%w\" AS SELECT %s FROM \"%w_fixed\" f CROSS JOIN \"%w_all\" a"
                           " WHERE a.id >= f.first_id AND a.id < f.first_id + f.points AND %s",
                           model, columns, model, model, newest);
    char *joined = sql_text("CREATE VIEW \"%w\" AS SELECT %s FROM \"%w_fixed\" f CROSS JOIN front p CROSS JOIN \"%w_all\" a"
                            " WHERE p.run = f.run AND p.model = %Q AND a.id = f.first_id + p.point AND %s",
                            front, columns, model, model, model, newest);
    bool changed, ok = schema_create_view(db, model, plain, &changed, diags);
    ok = schema_create_view(db, front, joined, &changed, diags) && ok;
    free(newest);
    free(front);
    free(columns);
    view_columns_release(&v);
    return ok;
}
