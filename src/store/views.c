/* The views of a model, made from the columns its tables have.
 *
 *     CREATE VIEW lad AS SELECT a.run, a.point, ..., f.llm AS llm, a.tiles AS tiles, coalesce(a.sram_mib, f.sram_mib) AS sram_mib, ...
 *         FROM lad_fixed f CROSS JOIN lad_all a
 *         WHERE a.id >= f.first_id AND a.id < f.first_id + f.points AND f.run IN (<the newest run of each sweep>)
 *
 * CROSS JOIN keeps SQLite to that order: for each of the few newest runs, one scan over its range of ids, which never touches
 * the rows of other runs and looks nothing up per row. Where a run refines, the row at event level of the row with id n is that with
 * id -n, and a view has to look whether it is there:
 *
 *     ... FROM lad_fixed f CROSS JOIN lad_all b CROSS JOIN lad_all a WHERE b.id >= f.first_id AND b.id < f.first_id + f.points
 *         AND a.id = coalesce((SELECT e.id FROM lad_all e WHERE e.id = -b.id), b.id) AND ...
 */
#include "store/schema.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

bool schema_model_refines(const struct db *db, const char *model, bool *ret, struct diags *diags)
{
    int64_t there;
    bool ok = db_int(db, &there, diags,
                     "SELECT EXISTS(SELECT 1 FROM main.\"%w_fixed\" n JOIN main.run r ON r.id = n.run WHERE r.fidelity = 'refine')",
                     model);
    *ret = ok && there;
    return ok;
}

char *view_rows(const char *model, bool refines, bool front)
{
    char *finest = sql_text("a.id = coalesce((SELECT e.id FROM \"%w_all\" e WHERE e.id = -%s), %s)", model,
                            front ? "(f.first_id + p.point)" : "b.id", front ? "f.first_id + p.point" : "b.id");
    char *sql;
    if (front)
        sql =
            sql_text(" FROM \"%w_fixed\" f CROSS JOIN front p CROSS JOIN \"%w_all\" a WHERE p.run = f.run AND p.model = %Q AND %s",
                     model, model, model, refines ? finest : "a.id = f.first_id + p.point");
    else if (refines)
        sql = sql_text(" FROM \"%w_fixed\" f CROSS JOIN \"%w_all\" b CROSS JOIN \"%w_all\" a WHERE b.id >= f.first_id"
                       " AND b.id < f.first_id + f.points AND %s",
                       model, model, model, finest);
    else
        sql = sql_text(" FROM \"%w_fixed\" f CROSS JOIN \"%w_all\" a WHERE a.id >= f.first_id AND a.id < f.first_id + f.points",
                       model, model);
    free(finest);
    return sql;
}

/* "f.run IN (<the newest run of each sweep>)". */
static char *newest_runs(const char *model)
{
    return sql_text("f.run IN (SELECT max(n.run) FROM \"%w_fixed\" n JOIN run r ON r.id = n.run GROUP BY r.sweep)", model);
}

/* ---- both rows of a point side by side -------------------------------------------------------------------------------------- */

/* What a view over the two rows has for a metric or derived column: a is the row of the closed form, e that at event level. */
static void add_both(struct text *t, const char *name, const char *type)
{
    char *both = sql_text(", a.\"%w\" AS \"%w_closed\", e.\"%w\" AS \"%w_event\"", name, name, name, name);
    char *ratio = sql_text(", e.\"%w\" / a.\"%w\" AS \"%w_ratio\"", name, name, name);
    text_add(t, both);
    if (strcasecmp(type, schema_sql_type(DSE_TYPE_F64)) == 0) text_add(t, ratio);
    free(both);
    free(ratio);
}

/* The parameters under their names, then what differs. */
static char *refined_columns(const struct view_columns *v)
{
    struct text t;
    text_init(&t);
    text_add(&t, "a.run AS run, a.point AS point, e.status AS status_event, e.reason AS reason_event");
    for (size_t i = SCHEMA_FIXED_LEADING; i < v->fixed.n; i++) add_column(&t, v, v->fixed.names[i]);
    for (size_t i = SCHEMA_LEADING; i < v->all.n; i++)
        if (column_list_find(&v->fixed, v->all.names[i]) == SIZE_MAX) add_both(&t, v->all.names[i], v->all.types[i]);
    return text_detach(&t);
}

/* Described by what the model's columns say. */
static bool describe_refined(const struct db *db, const char *model, const char *view, struct diags *diags)
{
    return db_exec(
        db, diags,
        "DELETE FROM main.column_info WHERE table_name = %Q;"
        "INSERT INTO main.column_info VALUES(%Q, 'status_event', '', 'ok, or infeasible at event level', 0),"
        " (%Q, 'reason_event', '', 'why the point is infeasible at event level', 0);"
        "INSERT INTO main.column_info SELECT %Q, c.column_name || suffix,"
        " CASE suffix WHEN '_ratio' THEN '' ELSE c.unit END, c.doc || what,"
        " CASE suffix WHEN '_ratio' THEN 0 ELSE c.direction END FROM main.column_info c JOIN (SELECT '' AS suffix, '' AS what"
        "  UNION ALL SELECT '_closed', ', closed form' UNION ALL SELECT '_event', ', event level'"
        "  UNION ALL SELECT '_ratio', ': event level over closed form')"
        " WHERE c.table_name = %Q AND c.column_name NOT IN ('status', 'reason')"
        " AND c.column_name || suffix IN (SELECT name FROM pragma_table_info(%Q))",
        view, view, view, view, model, view);
}

static bool create_refined(const struct db *db, const char *model, const struct view_columns *v, const char *newest,
                           struct diags *diags)
{
    char *columns = refined_columns(v), *view = xasprintf("%s_refined", model);
    char *sql = sql_text("CREATE VIEW \"%w\" AS SELECT %s FROM \"%w_fixed\" f CROSS JOIN \"%w_all\" e CROSS JOIN \"%w_all\" a"
                         " WHERE e.id > -f.first_id - f.points AND e.id <= -f.first_id AND a.id = -e.id AND %s",
                         view, columns, model, model, model, newest);
    bool changed = false, ok = schema_create_view(db, view, sql, &changed, diags);
    ok = ok && (!changed || describe_refined(db, model, view, diags));
    free(view);
    free(columns);
    return ok;
}

/* ---- all of them ------------------------------------------------------------------------------------------------------------ */

static bool create_rows(const struct db *db, const char *model, const struct view_columns *v, bool refines, bool front,
                        const char *newest, struct diags *diags)
{
    char *columns = column_texts(v), *view = xasprintf("%s%s", model, front ? "_front" : ""),
         *rows = view_rows(model, refines, front);
    bool changed, ok = schema_create_view(
                      db, view, sql_text("CREATE VIEW \"%w\" AS SELECT %s%s AND %s", view, columns, rows, newest), &changed, diags);
    free(rows);
    free(view);
    free(columns);
    return ok;
}

bool schema_create_views(const struct db *db, const char *model, struct diags *diags)
{
    struct view_columns v;
    bool refines;
    if (!schema_model_refines(db, model, &refines, diags) || !view_columns_read(db, model, &v, diags)) return false;
    char *newest = newest_runs(model);
    bool ok = create_rows(db, model, &v, refines, false, newest, diags) &&
              create_rows(db, model, &v, refines, true, newest, diags) &&
              (!refines || create_refined(db, model, &v, newest, diags));
    free(newest);
    view_columns_release(&v);
    return ok;
}
