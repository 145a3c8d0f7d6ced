#include "store/computed.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "store/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------------------------------------ */

struct computed_cell {
    enum cell_type type;
    union {
        double f64;
        int64_t i64;
        size_t text; /* offset */
    };
};

struct computed_rows {
    struct computed_cell *cells;
    size_t n, capacity;
    struct text texts; /* one behind the other, each with its NUL */
};

static struct computed_cell *add_cell(struct computed_rows *r, enum cell_type type)
{
    if (r->n == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 64;
        r->cells = xrealloc(r->cells, r->capacity, sizeof *r->cells);
    }
    r->cells[r->n] = (struct computed_cell){.type = type};
    return &r->cells[r->n++];
}

void computed_f64(struct computed_rows *r, double v)
{
    add_cell(r, isnan(v) ? CELL_NULL : CELL_REAL)->f64 = v;
}

void computed_i64(struct computed_rows *r, int64_t v)
{
    add_cell(r, CELL_INTEGER)->i64 = v;
}

void computed_text(struct computed_rows *r, const char *s)
{
    struct computed_cell *cell = add_cell(r, s ? CELL_TEXT : CELL_NULL);
    if (!s) return;
    cell->text = r->texts.n;
    text_add_bytes(&r->texts, s, strlen(s) + 1);
}

/* ---- the module ------------------------------------------------------------------------------------------------------------ */

struct module {
    const struct computed_table *table;
    void *context;
    size_t n_columns, n_arguments;
};

struct computed_vtab {
    sqlite3_vtab base;
    const struct module *module;
};

struct computed_cursor {
    sqlite3_vtab_cursor base;
    struct computed_rows rows;
    char *args[COMPUTED_ARGUMENTS_MAX];
    size_t row;
};

static const struct module *module_of(const sqlite3_vtab *table)
{
    return ((const struct computed_vtab *)table)->module;
}

static size_t count(const char *const *names)
{
    size_t n = 0;
    while (names[n]) n++;
    return n;
}

static int table_connect(sqlite3 *sqlite, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
    (void)argc, (void)argv, (void)error;
    const struct module *m = aux;
    struct text t;
    text_init(&t);
    text_add(&t, "CREATE TABLE x(");
    for (size_t i = 0; i < m->n_columns; i++) text_addf(&t, "%s\"%s\"", i ? ", " : "", m->table->columns[i]);
    for (size_t i = 0; i < m->n_arguments; i++)
        text_addf(&t, ", \"_%s\" HIDDEN", m->table->arguments[i]); /* not to be taken for a column of another table */
    text_add(&t, ")");
    int rc = sqlite3_declare_vtab(sqlite, t.s);
    text_release(&t);
    if (rc == SQLITE_OK) rc = sqlite3_vtab_config(sqlite, SQLITE_VTAB_DIRECTONLY);
    if (rc != SQLITE_OK) return rc;
    struct computed_vtab *table = xcalloc(1, sizeof *table);
    table->module = m;
    *ret = &table->base;
    return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

/* The arguments that the plan gives: bit i of idxNum for argument i, handed to table_filter in the order of the bits. A plan in
 * which one is there but not yet known is refused; a plan without it leaves it out. */
static int table_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct module *m = module_of(base);
    int found[COMPUTED_ARGUMENTS_MAX];
    for (size_t i = 0; i < COMPUTED_ARGUMENTS_MAX; i++) found[i] = -1;
    for (int i = 0; i < info->nConstraint; i++) {
        int argument = info->aConstraint[i].iColumn - (int)m->n_columns;
        if (argument < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (!info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
        found[argument] = i;
    }
    int n = 0;
    for (size_t i = 0; i < m->n_arguments; i++) {
        if (found[i] < 0) continue;
        info->idxNum |= 1 << i;
        info->aConstraintUsage[found[i]].argvIndex = ++n;
        info->aConstraintUsage[found[i]].omit = 1;
    }
    info->estimatedCost = 1e4;
    info->estimatedRows = 100;
    return SQLITE_OK;
}

static int table_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
    (void)table;
    struct computed_cursor *cursor = xcalloc(1, sizeof *cursor);
    *ret = &cursor->base;
    return SQLITE_OK;
}

static void forget(struct computed_cursor *c)
{
    free(c->rows.cells);
    text_release(&c->rows.texts);
    c->rows = (struct computed_rows){0};
    text_init(&c->rows.texts);
    for (size_t i = 0; i < COMPUTED_ARGUMENTS_MAX; i++) {
        free(c->args[i]);
        c->args[i] = NULL;
    }
    c->row = 0;
}

static int table_close(sqlite3_vtab_cursor *base)
{
    struct computed_cursor *c = (struct computed_cursor *)base;
    forget(c);
    free(c);
    return SQLITE_OK;
}

static int fail(sqlite3_vtab *table, const char *name, const char *message)
{
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s(): %s", name, message);
    return SQLITE_ERROR;
}

static int table_filter(sqlite3_vtab_cursor *base, int index, const char *text, int argc, sqlite3_value **argv)
{
    (void)text;
    struct computed_cursor *c = (struct computed_cursor *)base;
    const struct module *m = module_of(base->pVtab);
    forget(c);
    for (size_t i = 0, k = 0; i < m->n_arguments && k < (size_t)argc; i++) {
        if (!(index & 1 << i)) continue;
        const char *value = (const char *)sqlite3_value_text(argv[k++]);
        c->args[i] = value ? xstrdup(value) : NULL;
    }
    for (size_t i = 0; i < m->table->required; i++) {
        if (c->args[i]) continue;
        char *message = xasprintf("the argument %s is missing", m->table->arguments[i]);
        int rc = fail(base->pVtab, m->table->name, message);
        free(message);
        return rc;
    }
    char *error = NULL;
    if (m->table->fill(m->context, (const char *const *)c->args, &c->rows, &error)) return SQLITE_OK;
    int rc = fail(base->pVtab, m->table->name, error ? error : "failed");
    free(error);
    return rc;
}

static int table_next(sqlite3_vtab_cursor *base)
{
    ((struct computed_cursor *)base)->row++;
    return SQLITE_OK;
}

static int table_eof(sqlite3_vtab_cursor *base)
{
    const struct computed_cursor *c = (const struct computed_cursor *)base;
    return c->row * module_of(base->pVtab)->n_columns >= c->rows.n;
}

static int table_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct computed_cursor *c = (const struct computed_cursor *)base;
    const struct module *m = module_of(base->pVtab);
    if ((size_t)column >= m->n_columns) {
        const char *argument = c->args[(size_t)column - m->n_columns];
        if (argument) sqlite3_result_text(context, argument, -1, SQLITE_TRANSIENT);
        return SQLITE_OK;
    }
    const struct computed_cell *cell = &c->rows.cells[c->row * m->n_columns + (size_t)column];
    switch (cell->type) {
    case CELL_INTEGER: sqlite3_result_int64(context, cell->i64); break;
    case CELL_REAL: sqlite3_result_double(context, cell->f64); break;
    case CELL_TEXT: sqlite3_result_text(context, c->rows.texts.s + cell->text, -1, SQLITE_TRANSIENT); break;
    default: break;
    }
    return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)((const struct computed_cursor *)base)->row;
    return SQLITE_OK;
}

static const sqlite3_module computed_module = {
    .iVersion = 1,
    .xConnect = table_connect, /* xCreate NULL: the table exists by the module's name alone */
    .xBestIndex = table_best_index,
    .xDisconnect = table_disconnect,
    .xOpen = table_open,
    .xClose = table_close,
    .xFilter = table_filter,
    .xNext = table_next,
    .xEof = table_eof,
    .xColumn = table_column,
    .xRowid = table_rowid,
};

bool reader_add_table(struct reader *r, const struct computed_table *table, void *context, struct diags *diags)
{
    struct module *m = xcalloc(1, sizeof *m);
    *m = (struct module){
        .table = table, .context = context, .n_columns = count(table->columns), .n_arguments = count(table->arguments)};
    if (sqlite3_create_module_v2(r->db.sqlite, table->name, &computed_module, m, free) == SQLITE_OK) return true;
    return db_fail(&r->db, NULL, diags);
}

bool reader_add(struct reader *r, int (*add)(struct sqlite3 *db, void *context), void *context, struct diags *diags)
{
    return add(r->db.sqlite, context) == SQLITE_OK || db_fail(&r->db, NULL, diags);
}
