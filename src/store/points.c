/* Rows that come one by one: those of points that stand by themselves, and those at event level that a refinement adds beside the
 * closed form's. */
#include "store/store_internal.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "model/fidelity.h"

#include <stdlib.h>

void store_bind_cell(sqlite3_stmt *stmt, int i, enum dse_type type, union cell cell)
{
    if (type == DSE_TYPE_F64)
        sqlite3_bind_double(stmt, i, cell.f64); /* NaN becomes NULL */
    else if (type != DSE_TYPE_I64)
        sqlite3_bind_text(stmt, i, cell.text, -1, SQLITE_STATIC);
    else if (cell.i64 != INT64_MIN)
        sqlite3_bind_int64(stmt, i, cell.i64);
}

const char *store_row_fidelity(bool at_events, const struct row *row)
{
    return fidelity_of_row(at_events ? FIDELITY_EVENT_LEVEL : FIDELITY_CLOSED_FORM, row->is_measured);
}

bool points_prepare(const struct store *st, struct store_model *model, const char *names, struct diags *diags)
{
    struct text marks;
    text_init(&marks);
    for (size_t i = 0; i < SCHEMA_LEADING + model->n_columns; i++) text_add(&marks, i ? ", ?" : "?");
    model->one = db_prepare(&st->db, diags, "INSERT INTO \"%w_all\"(%s) VALUES(%s)", model->name, names, marks.s);
    text_release(&marks);
    return model->one != NULL;
}

static bool insert_row(const struct store *st, const struct store_model *model, int64_t id, uint64_t point, bool at_events,
                       const union cell *cells, const struct row *row, struct diags *diags)
{
    sqlite3_stmt *stmt = model->one; /* parameters from 1 on, as in schema_leading */
    sqlite3_clear_bindings(stmt);
    sqlite3_bind_int64(stmt, 1, id);
    sqlite3_bind_int64(stmt, 2, model->run);
    sqlite3_bind_int64(stmt, 3, (int64_t)point);
    sqlite3_bind_text(stmt, 4, row->reason ? "infeasible" : "ok", -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 5, row->reason, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 6, store_row_fidelity(at_events, row), -1, SQLITE_STATIC);
    for (size_t i = 0; i < model->n_columns; i++) store_bind_cell(stmt, SCHEMA_LEADING + 1 + (int)i, model->types[i], cells[i]);
    return db_run(&st->db, stmt, diags) && store_check_inserted(st, model, 1, diags);
}

bool store_check_inserted(const struct store *st, const struct store_model *model, uint64_t n, struct diags *diags)
{
    const uint64_t there = (uint64_t)sqlite3_changes64(st->db.sqlite);
    return there == n ||
           diags_runtime(diags, st->db.path,
                         "took %llu of %llu rows of %s: something in it, which dse did not put there, keeps rows out (a "
                         "trigger?)",
                         (unsigned long long)there, (unsigned long long)n, model->name);
}

bool store_end(struct store *st, bool ok, struct diags *diags)
{
    ok = ok && digest_update(&st->db, st->run, diags);
    return db_end(&st->db, ok, diags);
}

bool store_end_rows(struct store *st, struct store_model *model, uint64_t hash, bool ok, struct diags *diags)
{
    ok = ok && digest_write(&st->db, st->run, model->name, hash, diags);
    ok = store_end(st, ok, diags);
    if (ok) model->hash = hash;
    return ok;
}

/* ---- points that stand by themselves ----------------------------------------------------------------------------------------- */

/* Note the points first to last, which follow each other, as done. */
static bool note_block(struct store *st, const struct store_model *model, uint64_t first, uint64_t last, uint64_t feasible,
                       struct diags *diags)
{
    sqlite3_bind_text(st->block, 1, model->name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(st->block, 2, (int64_t)first);
    sqlite3_bind_int64(st->block, 3, (int64_t)last);
    sqlite3_bind_int64(st->count, 1, (int64_t)(last - first + 1));
    sqlite3_bind_int64(st->count, 2, (int64_t)feasible);
    return db_run(&st->db, st->block, diags) && db_run(&st->db, st->count, diags);
}

bool store_write_points(struct store *st, size_t m, const uint64_t *points, const union cell *cells, const struct row *rows,
                        size_t n, struct diags *diags)
{
    struct store_model *model = &st->models[m];
    if (!db_begin(&st->db, diags)) return false;
    bool ok = true;
    uint64_t hash = model->hash;
    for (size_t i = 0, first = 0, feasible = 0; ok && i < n; i++) {
        ok = insert_row(st, model, model->first_id + (int64_t)points[i], points[i], model->at_events, cells + i * model->n_columns,
                        &rows[i], diags);
        hash += digest_row_of(&model->digest, points[i], model->at_events, cells + i * model->n_columns, &rows[i]);
        feasible += !rows[i].reason;
        if (i + 1 < n && points[i + 1] == points[i] + 1) continue;
        ok = ok && note_block(st, model, points[first], points[i], feasible, diags);
        first = i + 1;
        feasible = 0;
    }
    return store_end_rows(st, model, hash, ok, diags);
}

bool store_plan_done(struct store *st, struct diags *diags)
{
    bool ok =
        db_begin(&st->db, diags) && db_exec(&st->db, diags, "UPDATE run SET planned = done WHERE id = %lld", (long long)st->run);
    return store_end(st, ok, diags);
}

/* ---- rows beside others ------------------------------------------------------------------------------------------------------ */

bool store_write_refined(struct store *st, size_t m, const uint64_t *points, const union cell *cells, const struct row *rows,
                         size_t n, struct diags *diags)
{
    struct store_model *model = &st->models[m];
    if (!db_begin(&st->db, diags)) return false;
    bool ok = true;
    uint64_t hash = model->hash;
    for (size_t i = 0; ok && i < n; i++) {
        ok = insert_row(st, model, -(model->first_id + (int64_t)points[i]), points[i], true, cells + i * model->n_columns, &rows[i],
                        diags);
        hash += digest_row_of(&model->digest, points[i], true, cells + i * model->n_columns, &rows[i]);
    }
    ok = ok && db_exec(&st->db, diags, "UPDATE run SET refined = refined + %lld WHERE id = %lld", (long long)n, (long long)st->run);
    return store_end_rows(st, model, hash, ok, diags);
}

uint64_t *store_refined(struct store *st, size_t m, size_t *ret_n, struct diags *diags)
{
    const struct store_model *model = &st->models[m];
    uint64_t *points = xcalloc(1, sizeof *points);
    size_t capacity = 1;
    *ret_n = 0;
    sqlite3_stmt *stmt = db_prepare(&st->db, diags,
                                    "SELECT a.point FROM \"%w_fixed\" f CROSS JOIN \"%w_all\" a WHERE f.run = %lld"
                                    " AND a.id > -f.first_id - f.points AND a.id <= -f.first_id ORDER BY a.id DESC",
                                    model->name, model->name, (long long)st->run);
    int rc = stmt ? 1 : -1;
    while (rc > 0 && (rc = db_step(&st->db, stmt, diags)) > 0) {
        if (*ret_n == capacity) {
            capacity *= 2;
            points = xrealloc(points, capacity, sizeof *points);
        }
        points[(*ret_n)++] = (uint64_t)sqlite3_column_int64(stmt, 0);
    }
    sqlite3_finalize(stmt);
    if (rc == 0) return points;
    free(points);
    return NULL;
}
