/* Writing rows: SQLite pulls them from a table-valued source, the module below, whose cursor pulls blocks from a row_source.
 *
 * The columns of the source are id, run, point, status, reason, fidelity and a row's cells, in that order. It can be read only
 * while store_write runs.
 */
#include "store/store_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

enum { ID, RUN, POINT, STATUS, REASON, FIDELITY }; /* as in schema_leading */

struct rows_table {
    sqlite3_vtab base;
    struct store_model *model;
};

struct rows_cursor {
    sqlite3_vtab_cursor base;
    const struct row_block *block; /* NULL at the end */
    size_t i;                      /* row of the block */
};

static struct store_model *model_of(sqlite3_vtab_cursor *cursor)
{
    return ((struct rows_table *)cursor->pVtab)->model;
}

/* ---- the module ------------------------------------------------------------------------------------------------------------ */

static int rows_connect(sqlite3 *sqlite, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
    (void)argc, (void)argv, (void)error;
    struct store_model *model = aux;
    struct text t;
    text_init(&t);
    text_add(&t, "CREATE TABLE x(id, run, point, status, reason, fidelity");
    for (size_t i = 0; i < model->n_columns; i++) text_addf(&t, ", c%zu", i);
    text_add(&t, ")");
    int rc = sqlite3_declare_vtab(sqlite, t.s);
    text_release(&t);
    if (rc != SQLITE_OK) return rc;
    struct rows_table *table = xcalloc(1, sizeof *table);
    table->model = model;
    *ret = &table->base;
    return SQLITE_OK;
}

static int rows_disconnect(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

static int rows_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedCost = 1e6;
    info->estimatedRows = 1000000;
    return SQLITE_OK;
}

static int rows_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
    (void)table;
    struct rows_cursor *cursor = xcalloc(1, sizeof *cursor);
    *ret = &cursor->base;
    return SQLITE_OK;
}

static int rows_close(sqlite3_vtab_cursor *cursor)
{
    free(cursor);
    return SQLITE_OK;
}

static int pull(struct rows_cursor *cursor)
{
    struct store_model *model = model_of(&cursor->base);
    cursor->i = 0;
    cursor->block = source_next(model);
    return model->source.wrong ? SQLITE_ERROR : SQLITE_OK;
}

static int rows_filter(sqlite3_vtab_cursor *base, int index, const char *text, int argc, sqlite3_value **argv)
{
    (void)index, (void)text, (void)argc, (void)argv;
    return pull((struct rows_cursor *)base);
}

static int rows_next(sqlite3_vtab_cursor *base)
{
    struct rows_cursor *cursor = (struct rows_cursor *)base;
    return ++cursor->i < cursor->block->n ? SQLITE_OK : pull(cursor);
}

static int rows_eof(sqlite3_vtab_cursor *base)
{
    return !((struct rows_cursor *)base)->block;
}

static int rows_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
    const struct rows_cursor *cursor = (struct rows_cursor *)base;
    *ret = model_of(base)->first_id + (int64_t)(cursor->block->first + cursor->i);
    return SQLITE_OK;
}

/* Give SQLite the value of a cell. A cell that is not set stays NULL. */
static void give_cell(sqlite3_context *context, enum dse_type type, union cell cell)
{
    if (type == DSE_TYPE_F64) {
        if (!isnan(cell.f64)) sqlite3_result_double(context, cell.f64);
    } else if (type != DSE_TYPE_I64) {
        if (cell.text) sqlite3_result_text(context, cell.text, -1, SQLITE_STATIC);
    } else if (cell.i64 != INT64_MIN) {
        sqlite3_result_int64(context, cell.i64);
    }
}

static int rows_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct rows_cursor *cursor = (struct rows_cursor *)base;
    const struct store_model *model = model_of(base);
    const struct row_block *block = cursor->block;
    if (column >= SCHEMA_LEADING) {
        size_t c = (size_t)column - SCHEMA_LEADING;
        give_cell(context, model->types[c], block->cells[cursor->i * model->n_columns + c]);
        return SQLITE_OK;
    }
    const char *reason = block->rows[cursor->i].reason;
    int64_t point = (int64_t)(block->first + cursor->i);
    switch (column) {
    case ID: sqlite3_result_int64(context, model->first_id + point); break;
    case RUN: sqlite3_result_int64(context, model->run); break;
    case POINT: sqlite3_result_int64(context, point); break;
    case STATUS: sqlite3_result_text(context, reason ? "infeasible" : "ok", reason ? 10 : 2, SQLITE_STATIC); break;
    case REASON:
        if (reason) sqlite3_result_text(context, reason, -1, SQLITE_STATIC);
        break;
    case FIDELITY:
        sqlite3_result_text(context, store_row_fidelity(model->at_events, &block->rows[cursor->i]), -1, SQLITE_STATIC);
        break;
    default: break;
    }
    return SQLITE_OK;
}

static const sqlite3_module rows_module = {
    .iVersion = 1,
    .xConnect = rows_connect, /* xCreate NULL: the table exists by the module's name alone */
    .xBestIndex = rows_best_index,
    .xDisconnect = rows_disconnect,
    .xOpen = rows_open,
    .xClose = rows_close,
    .xFilter = rows_filter,
    .xNext = rows_next,
    .xEof = rows_eof,
    .xColumn = rows_column,
    .xRowid = rows_rowid,
};

/* ---- writing --------------------------------------------------------------------------------------------------------------- */

bool source_prepare(struct store *st, size_t m, const struct store_table *t, struct diags *diags)
{
    struct store_model *model = &st->models[m];
    struct text names;
    text_init(&names);
    model->n_columns = t->n_columns;
    model->types = xcalloc(t->n_columns, sizeof *model->types);
    digest_row_init(&model->digest, t->columns, t->n_columns);
    for (size_t i = 0; i < SCHEMA_LEADING; i++) text_addf(&names, "%s%s", i ? ", " : "", schema_leading[i]);
    for (size_t i = 0; i < t->n_columns; i++) {
        model->types[i] = t->columns[i].type;
        text_addf(&names, ", \"%s\"", t->columns[i].name);
    }
    char *module = xasprintf("dse_rows_%zu", m);
    bool ok = sqlite3_create_module(st->db.sqlite, module, &rows_module, model) == SQLITE_OK || db_fail(&st->db, NULL, diags);
    if (ok)
        model->insert = db_prepare(&st->db, diags, "INSERT INTO \"%w_all\"(%s) SELECT * FROM \"%w\"", t->model, names.s, module);
    ok = model->insert && points_prepare(st, model, names.s, diags);
    free(module);
    text_release(&names);
    if (!ok) return false;
    size_t errors = diags->errors;
    model->encoder = encoder_new(&st->db, t, model, diags);
    return diags->errors == errors;
}

static bool write_progress(struct store *st, const struct store_model *model, uint64_t first, uint64_t last, struct diags *diags)
{
    sqlite3_bind_text(st->block, 1, model->name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(st->block, 2, (int64_t)first);
    sqlite3_bind_int64(st->block, 3, (int64_t)last);
    sqlite3_bind_int64(st->count, 1, (int64_t)(last - first + 1));
    sqlite3_bind_int64(st->count, 2, (int64_t)model->source.feasible);
    return db_run(&st->db, st->block, diags) && db_run(&st->db, st->count, diags) &&
           digest_write(&st->db, st->run, model->name, model->hash + model->source.digest, diags);
}

static bool write_rows(struct store *st, const struct store_model *model, uint64_t first, struct diags *diags)
{
    const struct source *s = &model->source;
    sqlite3_stmt *stmt = s->encoded ? st->transfer : model->insert;
    bool ok = sqlite3_step(stmt) == SQLITE_DONE;
    if (s->wrong)
        ok = diags_runtime(diags, st->db.path, "%s", s->wrong);
    else if (s->ended)
        ok = diags_runtime(diags, st->db.path,
                           "rows of %s ended at point %llu; those up to %llu were due and nothing of them is stored", model->name,
                           (unsigned long long)s->next, (unsigned long long)s->end - 1);
    else if (!ok)
        db_fail(&st->db, NULL, diags);
    else
        ok = store_check_inserted(st, model, s->next - first, diags);
    sqlite3_reset(stmt);
    return ok;
}

bool store_write(struct store *st, size_t m, uint64_t first, uint64_t last, row_source source, void *user, struct diags *diags)
{
    struct store_model *model = &st->models[m];
    struct source *s = &model->source;
    *s = (struct source){.pull = source, .user = user, .next = first, .end = last + 1};
    s->ahead = source(user);
    s->encoded = s->ahead && s->ahead->pages;
    bool ok = !s->encoded || transfer_begin(st, m, diags);
    ok = ok && db_begin(&st->db, diags);
    ok = ok && write_rows(st, model, first, diags) && write_progress(st, model, first, last, diags);
    ok = db_end(&st->db, ok, diags);
    if (ok) model->hash += s->digest;
    free(s->wrong);
    *s = (struct source){0};
    return ok;
}
