/* The views over all models of a database.
 *
 *     CREATE VIEW comparison AS SELECT 'lad' AS model, a.run AS run, ..., f.llm AS llm, a.tokens_per_s AS tokens_per_s, ... FROM
 *         lad_fixed f CROSS JOIN lad_all a WHERE <ids of the run> AND f.run IN (<the newest run of each sweep>)
 *         UNION ALL SELECT 'veda' AS model, ...
 *
 * A run of a sweep that a newer run follows is not in it, even for a model that the newer one left out: what stands side by side
 * was evaluated together. Only the models of those runs decide about columns.
 */
#include "store/over_budget.h"
#include "store/schema.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "config/budget.h"
#include "model/ratios.h"
#include "model/served.h"
#include "store/db.h"

#include <dse/workload.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
