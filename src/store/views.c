/* The views of a model, made from the columns its tables have.
 *
 *     CREATE VIEW lad AS SELECT a.run, a.point, ..., f.llm AS llm, a.tiles AS tiles, coalesce(a.sram_mib, f.sram_mib) AS
 *     sram_mib, ...
 *         FROM lad_fixed f CROSS JOIN lad_all a
 *         WHERE a.id >= f.first_id AND a.id < f.first_id + f.points AND f.run IN (<the newest run of each sweep>)
 *
 * CROSS JOIN keeps SQLite to that order: for each of the few newest runs, one scan over its range of ids, which never touches the
 * rows of other runs and looks nothing up per row. Where a run refines, the row at event level of the row with id n is that with
 * id -n, and a view has to look whether it is there:
 *
 *     ... FROM lad_fixed f CROSS JOIN lad_all b CROSS JOIN lad_all a WHERE b.id >= f.first_id AND b.id < f.first_id + f.points
 *         AND a.id = coalesce((SELECT e.id FROM lad_all e WHERE e.id = -b.id), b.id) AND ...
 */
#include "base/text.h"
#include "base/xalloc.h"
#include "config/budget.h"
#include "model/ratios.h"
#include "model/served.h"
#include "store/db.h"
#include "store/over_budget.h"
#include "store/schema.h"

#include <dse/workload.h>
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

bool view_column_expression(const struct view_columns *v, const char *name, char **ret)
{
    size_t a = column_list_find(&v->all, name), f = column_list_find(&v->fixed, name);
    if (f < SCHEMA_FIXED_LEADING && a == SIZE_MAX) f = SIZE_MAX; /* first_id, points */
    if (a == SIZE_MAX && f == SIZE_MAX) return false;
    if (a == SIZE_MAX)
        *ret = schema_sql("f.\"%w\"", name);
    else if (f != SIZE_MAX && v->mixed[f])
        *ret = schema_sql("coalesce(a.\"%w\", f.\"%w\")", name, name);
    else
        *ret = schema_sql("a.\"%w\"", name);
    return true;
}

/* ---- the views ------------------------------------------------------------------------------------------------------------- */

static void add_column(struct text *t, const struct view_columns *v, const char *name)
{
    char *expression;
    if (!view_column_expression(v, name, &expression)) return;
    char *as = schema_sql(" AS \"%w\"", name);
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

/* Is the view of the file what the statement makes? */
static bool is_view(const struct db *db, const char *name, const char *sql, bool *ret, struct diags *diags)
{
    sqlite3_stmt *stmt = db_prepare(db, diags, "SELECT sql FROM main.sqlite_schema WHERE type = 'view' AND name = %Q", name);
    int rc = stmt ? db_step(db, stmt, diags) : -1;
    const char *there = rc > 0 ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    *ret = there && strcmp(there, sql) == 0;
    sqlite3_finalize(stmt);
    return rc >= 0;
}

/* Create view `name` AS `select`, which is freed, unless it is that already; else *changed is set. */
static bool schema_create_view(const struct db *db, const char *name, int64_t run, char *select, bool *changed, struct diags *diags)
{
    char *sql = schema_sql("CREATE %sVIEW \"%w\" AS %s", run ? "TEMP " : "", name, select);
    bool same = false, ok = run || is_view(db, name, sql, &same, diags);
    if (ok && !same) {
        *changed = true;
        ok = db_exec(db, diags, "DROP VIEW IF EXISTS %s.\"%w\"; %s", run ? "temp" : "main", name, sql);
    }
    free(sql);
    free(select);
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
    char *finest = schema_sql("a.id = coalesce((SELECT e.id FROM \"%w_all\" e WHERE e.id = -%s), %s)", model,
                              front ? "(f.first_id + p.point)" : "b.id", front ? "f.first_id + p.point" : "b.id");
    char *sql;
    if (front)
        sql = schema_sql(
            " FROM \"%w_fixed\" f CROSS JOIN front p CROSS JOIN \"%w_all\" a WHERE p.run = f.run AND p.model = %Q AND %s", model,
            model, model, refines ? finest : "a.id = f.first_id + p.point");
    else if (refines)
        sql = schema_sql(" FROM \"%w_fixed\" f CROSS JOIN \"%w_all\" b CROSS JOIN \"%w_all\" a WHERE b.id >= f.first_id"
                         " AND b.id < f.first_id + f.points AND %s",
                         model, model, model, finest);
    else
        sql = schema_sql(" FROM \"%w_fixed\" f CROSS JOIN \"%w_all\" a WHERE a.id >= f.first_id AND a.id < f.first_id + f.points",
                         model, model);
    free(finest);
    return sql;
}

/* "f.run IN (<the newest run of each sweep>)", or that it is the one of the id. */
static char *which_runs(const char *model, int64_t run)
{
    if (run > 0) return schema_sql("f.run = %lld", (long long)run);
    return schema_sql("f.run IN (SELECT max(n.run) FROM \"%w_fixed\" n JOIN run r ON r.id = n.run GROUP BY r.sweep)", model);
}

/* ---- both rows of a point side by side -------------------------------------------------------------------------------------- */

/* What a view over the two rows has for a metric or derived column: a is the row of the closed form, e that at event level. */
static void add_both(struct text *t, const char *name, const char *type)
{
    char *both = schema_sql(", a.\"%w\" AS \"%w_closed\", e.\"%w\" AS \"%w_event\"", name, name, name, name);
    char *ratio = schema_sql(", e.\"%w\" / a.\"%w\" AS \"%w_ratio\"", name, name, name);
    text_add(t, both);
    if (strcasecmp(type, schema_sql_type(DSE_TYPE_F64)) == 0) text_add(t, ratio);
    free(both);
    free(ratio);
}

/* The columns of MODEL_refined as SQL: the parameters under their own names, then what differs between the fidelities. */
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

/* Describe the columns of MODEL_refined by what the model's columns say. */
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
        " AND c.column_name || suffix IN (SELECT name FROM pragma_table_info(%Q))"
        /* Eviction, which stands beside eviction_ratio. */
        " AND (suffix = '' OR c.column_name NOT IN (SELECT name FROM pragma_table_info(%Q)))",
        view, view, view, view, model, view, view);
}

/* What the views of a model are made of. */
struct making {
    const struct db *db;
    const char *model;
    int64_t run;
    struct view_columns columns;
    bool refines;
    char *which; /* condition on the run */
};

static bool create_refined(const struct making *m, struct diags *diags)
{
    char *columns = refined_columns(&m->columns), *view = xasprintf("%s_refined", m->model);
    char *select = schema_sql("SELECT %s FROM \"%w_fixed\" f CROSS JOIN \"%w_all\" e CROSS JOIN \"%w_all\" a"
                              " WHERE e.id > -f.first_id - f.points AND e.id <= -f.first_id AND a.id = -e.id AND %s",
                              columns, m->model, m->model, m->model, m->which);
    bool changed = false, ok = schema_create_view(m->db, view, m->run, select, &changed, diags);
    ok = ok && (!changed || m->run || describe_refined(m->db, m->model, view, diags));
    free(view);
    free(columns);
    return ok;
}

/* ---- all of them ------------------------------------------------------------------------------------------------------------ */

static bool create_rows(const struct making *m, bool front, struct diags *diags)
{
    char *columns = column_texts(&m->columns), *view = xasprintf("%s%s", m->model, front ? "_front" : ""),
         *rows = view_rows(m->model, m->refines, front);
    bool changed,
        ok = schema_create_view(m->db, view, m->run, schema_sql("SELECT %s%s AND %s", columns, rows, m->which), &changed, diags);
    free(rows);
    free(view);
    free(columns);
    return ok;
}

bool schema_create_views(const struct db *db, const char *model, int64_t run, struct diags *diags)
{
    struct making m = {.db = db, .model = model, .run = run};
    if (!schema_model_refines(db, model, &m.refines, diags) || !view_columns_read(db, model, &m.columns, diags)) return false;
    m.which = which_runs(model, run);
    bool ok = create_rows(&m, false, diags) && create_rows(&m, true, diags) && (!m.refines || create_refined(&m, diags));
    free(m.which);
    view_columns_release(&m.columns);
    return ok;
}

bool schema_show_run(const struct db *db, int64_t run, struct diags *diags)
{
    struct model_list models;
    bool ok = model_list_read(db, "main", &models, diags);
    for (size_t i = 0; ok && i < models.n; i++) ok = schema_create_views(db, models.names[i], run, diags);
    model_list_release(&models);
    return ok && schema_create_comparison(db, run, false, diags);
}

/* The views over all models of a database.
 *
 *     CREATE VIEW comparison AS SELECT 'lad' AS model, a.run AS run, ..., f.llm AS llm, a.tokens_per_s AS tokens_per_s, ... FROM
 *         lad_fixed f CROSS JOIN lad_all a WHERE <ids of the run> AND f.run IN (<the newest run of each sweep>)
 *         UNION ALL SELECT 'veda' AS model, ...
 *
 * A run of a sweep that a newer run follows is not in it, even for a model that the newer one left out: what stands side by side
 * was evaluated together. Only the models of those runs decide about columns.
 */

struct compared {
    char *model;
    struct view_columns columns;
    bool refines;
};

struct comparison {
    const struct db *db;
    struct diags *diags;
    int64_t run; /* SCHEMA_NEWEST or that one */
    char *which; /* condition on the run */
    struct compared *models;
    size_t n_models;
    const char **names; /* of columns, behind `model`; borrowed from tables and lists */
    size_t n_names;
};

/* ---- models ------------------------------------------------------------------------------------------------------------ */

static bool add_model(struct comparison *c, const char *model)
{
    int64_t there;
    if (!db_int(c->db, &there, c->diags, "SELECT EXISTS(SELECT 1 FROM main.\"%w_fixed\" f WHERE %s)", model, c->which))
        return false;
    if (!there) return true;
    struct compared new = {0};
    if (!schema_model_refines(c->db, model, &new.refines, c->diags) || !view_columns_read(c->db, model, &new.columns, c->diags))
        return false;
    new.model = xstrdup(model);
    c->models = xrealloc(c->models, c->n_models + 1, sizeof *c->models);
    c->models[c->n_models++] = new;
    return true;
}

static bool find_models(struct comparison *c)
{
    struct model_list models;
    bool ok = model_list_read(c->db, "main", &models, c->diags);
    for (size_t i = 0; ok && i < models.n; i++) ok = add_model(c, models.names[i]);
    model_list_release(&models);
    return ok;
}

/* ---- columns ----------------------------------------------------------------------------------------------------------- */

/* How many models have a column of that name? */
static size_t models_with(const struct comparison *c, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_models; i++) {
        char *expression;
        if (!view_column_expression(&c->models[i].columns, name, &expression)) continue;
        free(expression);
        n++;
    }
    return n;
}

/* Add a column, once, that at least so many models have. */
static void add_name(struct comparison *c, const char *name, size_t at_least)
{
    for (size_t i = 0; i < c->n_names; i++)
        if (strcasecmp(c->names[i], name) == 0) return;
    if (models_with(c, name) < at_least) return;
    c->names = xrealloc(c->names, c->n_names + 1, sizeof(char *));
    c->names[c->n_names++] = name;
}

static void add_params(struct comparison *c, const struct dse_param *table)
{
    for (; table->type != DSE_TYPE_END; table++) add_name(c, table->name, 1);
}

static void add_metrics(struct comparison *c, const struct dse_metric *table)
{
    for (; table->type != DSE_TYPE_END; table++) add_name(c, table->name, 1);
}

/* The workload, other parameters of all models, common metrics, ratios, other columns of all models. What is declared for all
 * models is there when one has it, and NULL for the others. */
static void find_names(struct comparison *c)
{
    const struct view_columns *first = &c->models[0].columns;
    for (size_t i = 1; i < SCHEMA_LEADING; i++) add_name(c, schema_leading[i], 1);
    add_params(c, dse_workload_params);
    add_params(c, dse_request_params);
    add_name(c, "requests", 1);
    for (size_t i = SCHEMA_FIXED_LEADING; i < first->fixed.n; i++) add_name(c, first->fixed.names[i], c->n_models);
    add_metrics(c, dse_common_metrics);
    add_metrics(c, ratio_metrics);
    add_metrics(c, served_metrics);
    for (size_t i = SCHEMA_LEADING; i < first->all.n; i++) add_name(c, first->all.names[i], c->n_models);
    for (int m = 0; budget_metrics[m]; m++) add_name(c, budget_metrics[m], 1);
}

/* ---- the views --------------------------------------------------------------------------------------------------------- */

/* Append a text that SQLite has formatted, and free it. */
static void add_sql(struct text *t, char *sql)
{
    text_add(t, sql);
    free(sql);
}

/* What a model without the metric loses in it: nothing in rows that are exact, but for formats, and else nobody knows what. */
static char *loss_of(const struct compared *m, const char *name)
{
    char *quality, *ret = NULL;
    for (int i = 0; budget_metrics[i]; i++) {
        if (strcmp(budget_metrics[i], name) != 0 || !view_column_expression(&m->columns, "quality", &quality)) continue;
        ret = exact_loss_sql(quality, (enum budget_metric)i);
        free(quality);
    }
    return ret ? ret : xstrdup("NULL");
}

static void add_select(const struct comparison *c, const struct compared *m, bool front, struct text *sql)
{
    add_sql(sql, schema_sql("SELECT %Q AS model", m->model));
    for (size_t i = 0; i < c->n_names; i++) {
        char *expression;
        bool there = view_column_expression(&m->columns, c->names[i], &expression);
        if (!there) expression = loss_of(m, c->names[i]);
        add_sql(sql, schema_sql(", %s AS \"%w\"", expression, c->names[i]));
        free(expression);
    }
    char *rows = view_rows(m->model, m->refines, front);
    text_addf(sql, "%s AND %s", rows, c->which);
    free(rows);
}

static bool create(const struct comparison *c, const char *name, bool front, bool *changed)
{
    struct text select;
    text_init(&select);
    for (size_t i = 0; i < c->n_models; i++) {
        if (i) text_add(&select, " UNION ALL ");
        add_select(c, &c->models[i], front, &select);
    }
    return schema_create_view(c->db, name, c->run, text_detach(&select), changed, c->diags);
}

/* Add a quoted name to a list: "'a', 'b'". */
static void add_quoted(struct text *list, const char *name)
{
    add_sql(list, schema_sql("%s%Q", list->n ? ", " : "", name));
}

/* Columns are described as the models describe them; where they do so differently, each with its name. */
static bool describe(const struct comparison *c)
{
    struct text models, names;
    text_init(&models);
    text_init(&names);
    for (size_t i = 0; i < c->n_models; i++) add_quoted(&models, c->models[i].model);
    for (size_t i = 0; i < c->n_names; i++) add_quoted(&names, c->names[i]);
    bool ok = db_exec(c->db, c->diags,
                      "DELETE FROM main.column_info WHERE table_name = 'comparison';"
                      "INSERT INTO main.column_info VALUES('comparison', 'model', '', 'model of the row', 0);"
                      "INSERT INTO main.column_info SELECT 'comparison', column_name, max(unit), CASE count(DISTINCT doc)"
                      " WHEN 1 THEN max(doc) ELSE group_concat(table_name || ': ' || doc, '; ') END, max(direction)"
                      " FROM main.column_info WHERE table_name IN (%s) AND column_name IN (%s) GROUP BY column_name",
                      models.s, names.s);
    text_release(&models);
    text_release(&names);
    return ok;
}

bool schema_create_comparison(const struct db *db, int64_t run, bool columns_described, struct diags *diags)
{
    struct comparison c = {.db = db, .diags = diags, .run = run};
    c.which =
        run > 0 ? schema_sql("f.run = %lld", (long long)run) : schema_sql("f.run IN (SELECT max(id) FROM run GROUP BY sweep)");
    bool ok = find_models(&c), changed = columns_described;
    if (ok && c.n_models > 0) {
        find_names(&c);
        ok = create(&c, "comparison", false, &changed) && create(&c, "comparison_front", true, &changed) &&
             (!changed || run || describe(&c));
    }
    for (size_t i = 0; i < c.n_models; i++) {
        view_columns_release(&c.models[i].columns);
        free(c.models[i].model);
    }
    free(c.models);
    free(c.names);
    free(c.which);
    return ok;
}
