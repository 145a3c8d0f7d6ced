/* What the tables of a connection share, and the table of a model: its columns and its plans. */
#include "sql/sql_internal.h"

#include <stdlib.h>
#include <string.h>

struct sql_models {
    int holders;
    const struct catalog *catalog;
    struct catalog *own;
};

struct sql_models *sql_models_new(const struct catalog *catalog)
{
    struct sql_models *m = xcalloc(1, sizeof *m);
    m->holders = 1;
    m->catalog = catalog;
    return m;
}

static struct sql_models *sql_models_hold(struct sql_models *m)
{
    m->holders++;
    return m;
}

void sql_models_release(struct sql_models *m)
{
    if (!m || --m->holders) return;
    catalog_free(m->own);
    free(m);
}

/* The catalog, or NULL with *ret_error (sqlite3_malloc). */
static const struct catalog *sql_catalog(struct sql_models *m, char **ret_error)
{
    if (m->catalog) return m->catalog;
    struct diags diags;
    diags_init(&diags);
    m->catalog = m->own = catalog_open(&diags);
    if (m->own)
        diags_release(&diags);
    else
        *ret_error = sql_error(&diags);
    return m->catalog;
}

/* ---- columns ----------------------------------------------------------------------------------------------------------------- */

static const char *sql_type(const struct field *f)
{
    return f->type == DSE_TYPE_F64 ? "REAL" : f->type == DSE_TYPE_I64 ? "INTEGER" : "TEXT";
}

static int declare(sqlite3 *db, const struct model *m)
{
    struct text t;
    text_init(&t);
    text_add(&t, "CREATE TABLE x(");
    for (size_t i = 0; i < m->metrics.n; i++)
        text_addf(&t, "\"%s\" %s, ", m->metrics.fields[i].name, sql_type(&m->metrics.fields[i]));
    text_add(&t, "status TEXT, reason TEXT, quality TEXT, beyond TEXT");
    for (size_t i = 0; i < m->params.n; i++)
        text_addf(&t, ", \"%s\" %s HIDDEN", m->params.fields[i].name, sql_type(&m->params.fields[i]));
    text_add(&t, ", fidelity TEXT HIDDEN, max_points REAL HIDDEN)");
    int rc = sqlite3_declare_vtab(db, t.s);
    text_release(&t);
    return rc == SQLITE_OK ? sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY) : rc;
}

/* What a module is of. */
struct module {
    struct sql_models *models;
    const struct model *model;
};

static int connect(sqlite3 *db, const struct module *module, sqlite3_vtab **ret, char **error)
{
    const struct catalog *catalog = sql_catalog(module->models, error);
    if (!catalog) return SQLITE_ERROR;
    struct diags diags;
    diags_init(&diags);
    struct binding *defaults = binding_new(module->model, catalog, catalog_data_dir(), &diags);
    if (!defaults) {
        *error = sql_error(&diags);
        return SQLITE_ERROR;
    }
    diags_release(&diags);
    const int rc = declare(db, module->model);
    if (rc != SQLITE_OK) {
        binding_free(defaults);
        return rc;
    }
    struct model_table *t = xcalloc(1, sizeof *t);
    t->models = sql_models_hold(module->models);
    t->model = module->model;
    t->defaults = defaults;
    t->n_metrics = module->model->metrics.n;
    t->n_params = module->model->params.n;
    t->first_hidden = t->n_metrics + SAID;
    *ret = &t->base;
    return SQLITE_OK;
}

static int model_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
    (void)argc, (void)argv;
    struct plain_numbers numbers;
    plain_numbers_begin(&numbers);
    const int rc = connect(db, aux, ret, error);
    plain_numbers_end(&numbers);
    return rc;
}

static int model_disconnect(sqlite3_vtab *base)
{
    struct model_table *t = (struct model_table *)base;
    binding_free(t->defaults);
    sql_models_release(t->models);
    free(t);
    return SQLITE_OK;
}

/* ---- plans ------------------------------------------------------------------------------------------------------------------- */

/* What a query says of one hidden column: constraints by their index, or -1. */
struct use {
    int value, lower, upper;
    bool all, later; /* chosen from all; a value that is not known yet */
};

static bool is_lower(int op)
{
    return op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
}

static bool is_upper(int op)
{
    return op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
}

/* Note constraint i; ranged: of a whole number. */
static void note_use(struct use *u, const sqlite3_index_info *info, int i, bool number)
{
    const int op = info->aConstraint[i].op;
    const bool usable = info->aConstraint[i].usable;
    if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_IS) {
        if (!usable)
            u->later = true;
        else if (u->value < 0)
            u->value = i;
    } else if (op == SQLITE_INDEX_CONSTRAINT_ISNULL) {
        return; /* never */
    } else if (number && is_lower(op)) {
        if (usable && u->lower < 0) u->lower = i;
    } else if (number && is_upper(op)) {
        if (usable && u->upper < 0) u->upper = i;
    } else {
        u->all = true;
    }
}

static struct use *find_uses(const struct model_table *t, const sqlite3_index_info *info)
{
    struct use *uses = xcalloc(t->n_params + ASKED, sizeof *uses);
    for (size_t i = 0; i < t->n_params + ASKED; i++) uses[i] = (struct use){.value = -1, .lower = -1, .upper = -1};
    for (int i = 0; i < info->nConstraint; i++) {
        const int op = info->aConstraint[i].op, column = info->aConstraint[i].iColumn;
        if (op == SQLITE_INDEX_CONSTRAINT_LIMIT || op == SQLITE_INDEX_CONSTRAINT_OFFSET || column < (int)t->first_hidden) continue;
        const size_t k = (size_t)column - t->first_hidden;
        note_use(&uses[k], info, i, k >= t->n_params || field_is_number(&t->model->params.fields[k]));
    }
    return uses;
}

/* A plan while it is made. */
struct making {
    sqlite3_index_info *info;
    struct text text;
    int arguments;
};

static void add_step(struct making *m, size_t number, enum plan_how how, int constraint)
{
    text_addf(&m->text, "%zu%c", number, (char)how);
    if (constraint < 0) return;
    m->info->aConstraintUsage[constraint].argvIndex = ++m->arguments;
    m->info->aConstraintUsage[constraint].omit = 1;
}

/* Add the steps of one hidden column; returns about how many values it has. */
static double plan_column(struct making *m, size_t number, const struct use *u, bool is_param)
{
    enum { SOME = 10 };
    if (u->value >= 0) {
        const bool list = is_param && sqlite3_libversion_number() >= 3038000 && sqlite3_vtab_in(m->info, u->value, -1);
        if (list) sqlite3_vtab_in(m->info, u->value, 1);
        add_step(m, number, list ? PLAN_LIST : PLAN_VALUE, u->value);
        return list ? SOME : 1;
    }
    if (!is_param) return 1;
    if (u->lower >= 0)
        add_step(m, number, m->info->aConstraint[u->lower].op == SQLITE_INDEX_CONSTRAINT_GT ? PLAN_ABOVE : PLAN_FROM, u->lower);
    if (u->upper >= 0)
        add_step(m, number, m->info->aConstraint[u->upper].op == SQLITE_INDEX_CONSTRAINT_LT ? PLAN_BELOW : PLAN_TO, u->upper);
    if (u->lower >= 0 || u->upper >= 0) return SOME;
    if (!u->all) return 1;
    add_step(m, number, PLAN_ALL, -1);
    return SOME;
}

/* All that a query says of parameters is taken, but for what SQLite chooses from all values. A plan in which a value is not
 * known yet, since it comes from a table behind this one, leaves the parameter at its default: it is the last that SQLite shall
 * take. */
static int model_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const double later_cost = 1e15;
    const struct model_table *t = (const struct model_table *)base;
    struct use *uses = find_uses(t, info);
    struct making m = {.info = info};
    text_init(&m.text);
    double rows = 1, cost = 0;
    for (size_t i = 0; i < t->n_params + ASKED; i++) {
        rows *= plan_column(&m, i, &uses[i], i < t->n_params);
        if (uses[i].later && uses[i].value < 0 && uses[i].lower < 0 && uses[i].upper < 0) cost = later_cost;
    }
    info->idxStr = sqlite3_mprintf("%s", m.text.s);
    info->needToFreeIdxStr = 1;
    info->estimatedRows = (sqlite3_int64)(rows < 1e9 ? rows : 1e9);
    info->estimatedCost = cost + rows;
    text_release(&m.text);
    free(uses);
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- the module -------------------------------------------------------------------------------------------------------------- */

const sqlite3_module model_module = {
    .iVersion = 1,
    .xConnect = model_connect, /* xCreate NULL: the table is there by the module's name alone */
    .xBestIndex = model_best_index,
    .xDisconnect = model_disconnect,
    .xOpen = model_open,
    .xClose = model_close,
    .xFilter = model_filter,
    .xNext = model_next,
    .xEof = model_eof,
    .xColumn = model_column,
    .xRowid = model_rowid,
};

static void free_module(void *module)
{
    sql_models_release(((struct module *)module)->models);
    free(module);
}

static int sql_register_model(sqlite3 *db, struct sql_models *models, const struct model *model)
{
    char *names[] = {xstrdup(model->desc->name), xasprintf("%s_model", model->desc->name)};
    int rc = SQLITE_OK;
    for (size_t i = 0; i < 2; i++) {
        struct module *m = xcalloc(1, sizeof *m);
        *m = (struct module){sql_models_hold(models), model};
        if (rc == SQLITE_OK)
            rc = sqlite3_create_module_v2(db, names[i], &model_module, m, free_module);
        else
            free_module(m);
        free(names[i]);
    }
    return rc;
}

int sql_register(sqlite3 *db, struct sql_models *models)
{
    size_t n;
    const struct model *all = registry_models(&n);
    int rc = sql_register_pareto(db);
    if (rc == SQLITE_OK) rc = sql_register_aggregates(db);
    for (size_t i = 0; i < n && rc == SQLITE_OK; i++) rc = sql_register_model(db, models, &all[i]);
    return rc;
}
