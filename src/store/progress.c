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

static bool insert_front(struct store *st, const struct store_model *model, const uint64_t *points, size_t n, struct diags *diags)
{
    sqlite3_stmt *stmt =
        db_prepare(&st->db, diags, "INSERT INTO front(run, model, point) VALUES(%lld, %Q, ?)", (long long)st->run, model->name);
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
              db_exec(&st->db, diags, "DELETE FROM front WHERE run = %lld AND model = %Q", (long long)st->run, model->name) &&
              insert_front(st, model, points, n, diags);
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

/* "a.point, <value>, ..., <group>, ..."; NULL, with an error, when there is no such column. */
static char *scan_list(const struct store *st, const struct store_model *model, const struct scan_columns *columns,
                       struct diags *diags)
{
    struct view_columns v;
    if (!view_columns_read(&st->db, model->name, &v, diags)) return NULL;
    struct text t;
    text_init(&t);
    text_add(&t, "a.point");
    bool ok = add_columns(st, model, &v, columns->values, columns->n_values, &t, diags);
    ok = add_columns(st, model, &v, columns->group, columns->n_group, &t, diags) && ok;
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

static bool visit_rows(const struct store *st, sqlite3_stmt *stmt, const struct scan_columns *columns,
                       void (*visit)(void *user, uint64_t point, const double *values, const char *group), void *user,
                       struct diags *diags)
{
    double *values = xmalloc(columns->n_values * sizeof *values);
    struct text group;
    text_init(&group);
    int rc;
    while ((rc = db_step(&st->db, stmt, diags)) > 0) {
        for (size_t i = 0; i < columns->n_values; i++) {
            int type = sqlite3_column_type(stmt, (int)i + 1);
            values[i] = type == SQLITE_FLOAT || type == SQLITE_INTEGER ? sqlite3_column_double(stmt, (int)i + 1) : (double)NAN;
        }
        if (columns->n_group) read_group(stmt, columns, &group);
        visit(user, (uint64_t)sqlite3_column_int64(stmt, 0), values, group.s);
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
                void (*visit)(void *user, uint64_t point, const double *values, const char *group), void *user, struct diags *diags)
{
    const struct store_model *model = &st->models[m];
    char *list = scan_list(st, model, columns, diags);
    if (!list) return false;
    char *from = scan_rows(st, model, rows);
    sqlite3_stmt *stmt = db_prepare(&st->db, diags, "SELECT %s%s AND f.run = %lld AND a.status = 'ok'%s", list, from,
                                    (long long)st->run, rows == STORE_REFINED ? " ORDER BY a.id DESC" : "");
    free(from);
    free(list);
    bool ok = stmt && visit_rows(st, stmt, columns, visit, user, diags);
    sqlite3_finalize(stmt);
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
