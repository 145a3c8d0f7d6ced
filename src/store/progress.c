/* What a run still lacks, its front, its values, its end. */
#include "store/store_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

/* ---- what is missing ------------------------------------------------------------------------------------------------------- */

struct range_list {
    struct range *ranges;
    size_t n;
};

static void add_range(struct range_list *l, uint64_t first, uint64_t last)
{
    l->ranges = xrealloc(l->ranges, l->n + 1, sizeof *l->ranges);
    l->ranges[l->n++] = (struct range){first, last};
}

struct range *store_missing(struct store *st, size_t m, uint64_t shard_first, uint64_t shard_end, size_t *ret_n,
                            struct diags *diags)
{
    struct range_list missing = {0};
    uint64_t next = shard_first; /* everything before is done or noted as missing */
    sqlite3_stmt *stmt =
        db_prepare(&st->db, diags, "SELECT \"first\", \"last\" FROM block WHERE run = %lld AND model = %Q ORDER BY 1",
                   (long long)st->run, st->models[m].name);
    int rc = stmt ? 1 : -1;
    while (rc > 0 && (rc = db_step(&st->db, stmt, diags)) > 0) {
        uint64_t first = (uint64_t)sqlite3_column_int64(stmt, 0), end = (uint64_t)sqlite3_column_int64(stmt, 1) + 1;
        if (first > shard_end) first = shard_end;
        if (next < first) add_range(&missing, next, first - 1);
        if (end > next) next = end;
    }
    if (rc == 0 && next < shard_end) add_range(&missing, next, shard_end - 1);
    sqlite3_finalize(stmt);
    *ret_n = rc == 0 ? missing.n : 0;
    return missing.ranges;
}

/* ---- the front ------------------------------------------------------------------------------------------------------------- */

/* Run a statement, which is finalized, with each point as its parameter. */
static bool insert_points(struct store *st, sqlite3_stmt *stmt, const uint64_t *points, size_t n, struct diags *diags)
{
    bool ok = stmt != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        sqlite3_bind_int64(stmt, 1, (int64_t)points[i]);
        ok = db_run(&st->db, stmt, diags);
    }
    sqlite3_finalize(stmt);
    return ok;
}

bool store_front(struct store *st, size_t m, const uint64_t *points, size_t n, struct diags *diags)
{
    const struct store_model *model = &st->models[m];
    bool ok = db_begin(&st->db, diags) &&
              db_exec(&st->db, diags,
                      "DELETE FROM front WHERE run = %lld AND model = %Q; DELETE FROM budget_front WHERE run = %lld AND model = %Q",
                      (long long)st->run, model->name, (long long)st->run, model->name) &&
              insert_points(st,
                            db_prepare(&st->db, diags, "INSERT INTO front(run, model, point) VALUES(%lld, %Q, ?)",
                                       (long long)st->run, model->name),
                            points, n, diags);
    return store_end(st, ok, diags);
}

bool store_budget_front(struct store *st, const char *budget, size_t m, const uint64_t *points, size_t n, struct diags *diags)
{
    bool ok =
        db_begin(&st->db, diags) &&
        insert_points(st,
                      db_prepare(&st->db, diags, "INSERT INTO budget_front(run, budget, model, point) VALUES(%lld, %Q, %Q, ?)",
                                 (long long)st->run, budget, st->models[m].name),
                      points, n, diags);
    return store_end(st, ok, diags);
}

bool store_hypervolume(struct store *st, double hypervolume, struct diags *diags)
{
    if (!db_begin(&st->db, diags)) return false;
    sqlite3_stmt *stmt = db_prepare(&st->db, diags, "UPDATE run SET hypervolume = ? WHERE id = %lld", (long long)st->run);
    if (stmt) sqlite3_bind_double(stmt, 1, hypervolume); /* NaN becomes NULL */
    bool ok = stmt && db_run(&st->db, stmt, diags);
    sqlite3_finalize(stmt);
    return store_end(st, ok, diags);
}

/* ---- values ---------------------------------------------------------------------------------------------------------------- */

/* ", <expression>" for each column asked for; false, with an error, when there is no such column. */
static bool add_columns(const struct store *st, const struct store_model *model, const struct view_columns *v,
                        const char *const *names, size_t n, struct text *t, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        char *expression;
        if (!view_column_expression(v, names[i], &expression)) {
            ok = diags_runtime(diags, st->db.path, "%s has no column \"%s\"", model->name, names[i]);
            continue;
        }
        text_addf(t, ", %s", expression);
        free(expression);
    }
    return ok;
}

/* ", <expression>" for a column that may be absent: ", NULL". Is it there? */
static bool add_known(const struct view_columns *v, const char *name, struct text *t)
{
    char *expression;
    const bool has = view_column_expression(v, name, &expression);
    text_addf(t, ", %s", has ? expression : "NULL");
    if (has) free(expression);
    return has;
}

/* "a.point, <value>, ..., <group>, ..., <quality>, <known>, ..."; NULL, with an error, when there is no such column. Sets `has` of
 * each known one. */
static char *scan_list(const struct store *st, const struct store_model *model, const struct scan_columns *columns, bool *has,
                       struct diags *diags)
{
    struct view_columns v;
    if (!view_columns_read(&st->db, model->name, &v, diags)) return NULL;
    struct text t;
    text_init(&t);
    text_add(&t, "a.point");
    bool ok = add_columns(st, model, &v, columns->values, columns->n_values, &t, diags);
    ok = add_columns(st, model, &v, columns->group, columns->n_group, &t, diags) && ok;
    add_known(&v, "quality", &t);
    for (size_t i = 0; i < columns->n_known; i++) has[i] = add_known(&v, columns->known[i], &t);
    view_columns_release(&v);
    if (ok) return text_detach(&t);
    text_release(&t);
    return NULL;
}

/* The texts of the group's columns, one behind the other. */
static void read_group(sqlite3_stmt *stmt, const struct scan_columns *columns, struct text *ret)
{
    ret->n = 0;
    for (size_t i = 0; i < columns->n_group; i++) {
        const char *s = (const char *)sqlite3_column_text(stmt, (int)(1 + columns->n_values + i));
        if (s) text_add(ret, s);
        text_add_bytes(ret, "\x1f", 1);
    }
}

/* n numbers from column `first` on. */
static void read_numbers(sqlite3_stmt *stmt, size_t first, size_t n, double *ret)
{
    for (size_t i = 0; i < n; i++) {
        const int at = (int)(first + i), type = sqlite3_column_type(stmt, at);
        ret[i] = type == SQLITE_FLOAT || type == SQLITE_INTEGER ? sqlite3_column_double(stmt, at) : (double)NAN;
    }
}

static bool visit_rows(const struct store *st, sqlite3_stmt *stmt, const struct scan_columns *columns, const bool *has,
                       void (*visit)(void *user, const struct scan_row *row), void *user, struct diags *diags)
{
    const size_t quality = 1 + columns->n_values + columns->n_group;
    double *values = xcalloc(columns->n_values + columns->n_known + 1, sizeof *values), *known = values + columns->n_values;
    struct text group;
    text_init(&group);
    int rc;
    while ((rc = db_step(&st->db, stmt, diags)) > 0) {
        read_numbers(stmt, 1, columns->n_values, values);
        read_numbers(stmt, quality + 1, columns->n_known, known);
        if (columns->n_group) read_group(stmt, columns, &group);
        visit(user, &(struct scan_row){.point = (uint64_t)sqlite3_column_int64(stmt, 0),
                                       .values = values,
                                       .group = group.s,
                                       .known = known,
                                       .has = has,
                                       .quality = (const char *)sqlite3_column_text(stmt, (int)quality)});
    }
    text_release(&group);
    free(values);
    return rc == 0;
}

/* " FROM <tables> WHERE <which rows>", as view_rows. The caller frees it. */
static char *scan_rows(const struct store *st, const struct store_model *model, enum store_rows rows)
{
    if (rows == STORE_REFINED)
        return xasprintf(" FROM \"%s_fixed\" f CROSS JOIN \"%s_all\" a WHERE a.id > -f.first_id - f.points AND a.id <= -f.first_id",
                         model->name, model->name);
    return view_rows(model->name, st->refines && rows == STORE_FINEST, false);
}

bool store_scan(struct store *st, size_t m, enum store_rows rows, const struct scan_columns *columns,
                void (*visit)(void *user, const struct scan_row *row), void *user, struct diags *diags)
{
    const struct store_model *model = &st->models[m];
    bool *has = xcalloc(columns->n_known + 1, sizeof *has);
    char *list = scan_list(st, model, columns, has, diags);
    if (!list) {
        free(has);
        return false;
    }
    char *from = scan_rows(st, model, rows);
    sqlite3_stmt *stmt = db_prepare(&st->db, diags, "SELECT %s%s AND f.run = %lld AND a.status = 'ok'%s", list, from,
                                    (long long)st->run, rows == STORE_REFINED ? " ORDER BY a.id DESC" : "");
    free(from);
    free(list);
    bool ok = stmt && visit_rows(st, stmt, columns, has, visit, user, diags);
    sqlite3_finalize(stmt);
    free(has);
    return ok;
}

/* ---- the end --------------------------------------------------------------------------------------------------------------- */

bool store_finish(struct store *st, const char *status, struct diags *diags)
{
    if (!db_check_kept(&st->db, diags) || !db_begin(&st->db, diags)) return false;
    bool ok =
        db_exec(&st->db, diags, "UPDATE run SET status = %Q, ended = strftime('%%Y-%%m-%%dT%%H:%%M:%%SZ', 'now') WHERE id = %lld",
                status, (long long)st->run);
    return store_end(st, ok, diags);
}
