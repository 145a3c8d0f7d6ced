#include "store/tally.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "store/store_internal.h"

#include <stdlib.h>
#include <string.h>

char *tally_rows_sql(const char *model, int64_t run)
{
    char *ret = sqlite3_mprintf(" FROM \"%w_fixed\" f CROSS JOIN \"%w_all\" a WHERE f.run = %lld AND a.id >= f.first_id"
                                " AND a.id < f.first_id + f.points",
                                model, model, (long long)run);
    if (!ret) out_of_memory(0);
    return ret;
}

/* The axes of the run that hold names in this model. */
static bool read_axes(const struct db *db, int64_t run, const char *model, struct tally *t, struct diags *diags)
{
    sqlite3_stmt *stmt =
        db_prepare(db, diags,
                   "SELECT c.name FROM run, pragma_table_info(%Q || '_all') c WHERE run.id = %lld AND c.type = 'TEXT' AND"
                   " instr(', ' || run.axes || ',', ', ' || c.name || ',')",
                   model, (long long)run);
    int rc = stmt ? 1 : -1;
    while (rc > 0 && (rc = db_step(db, stmt, diags)) > 0) {
        t->axes = xrealloc(t->axes, t->n_axes + 1, sizeof *t->axes);
        t->axes[t->n_axes++] = (struct tally_axis){.name = xstrdup((const char *)sqlite3_column_text(stmt, 0))};
    }
    sqlite3_finalize(stmt);
    return rc == 0;
}

enum { NAMES_MAX = 1024 }; /* of an axis; a file with more of them was made to take time */

static struct tally_name *name_of(struct tally_axis *axis, const char *text)
{
    if (axis->last < axis->n && strcmp(axis->names[axis->last].text, text) == 0) return &axis->names[axis->last];
    for (axis->last = 0; axis->last < axis->n; axis->last++)
        if (strcmp(axis->names[axis->last].text, text) == 0) return &axis->names[axis->last];
    if (axis->n == NAMES_MAX) return NULL;
    axis->names = xrealloc(axis->names, axis->n + 1, sizeof *axis->names);
    axis->names[axis->n] = (struct tally_name){.text = xstrdup(text)};
    return &axis->names[axis->n++];
}

/* The columns are status, reason, names of the axes, objectives. */
static void count_row(struct tally *t, sqlite3_stmt *stmt, size_t n_objectives)
{
    const char *status = (const char *)sqlite3_column_text(stmt, 0);
    const bool feasible = status && strcmp(status, "ok") == 0;
    const char *reason = feasible ? NULL : (const char *)sqlite3_column_text(stmt, 1);
    t->rows++;
    t->feasible += feasible;
    t->over_budget += reason && strcmp(reason, "over budget") == 0;
    for (size_t i = 0; i < t->n_axes; i++) {
        const char *text = (const char *)sqlite3_column_text(stmt, 2 + (int)i);
        struct tally_name *name = text ? name_of(&t->axes[i], text) : NULL;
        if (name) name->rows++;
        if (name) name->feasible += feasible;
    }
    for (size_t i = 0; i < n_objectives && feasible; i++)
        t->without[i] += sqlite3_column_type(stmt, 2 + (int)(t->n_axes + i)) == SQLITE_NULL;
}

/* "status, reason, ..."; an objective that the model does not have is 0. */
static bool list_columns(const struct db *db, const char *model, const char *const *objectives, size_t n, const struct tally *t,
                         char **ret, struct diags *diags)
{
    sqlite3_str *sql = sqlite3_str_new(db->sqlite);
    bool ok = true;
    sqlite3_str_appendall(sql, "a.status, a.reason");
    for (size_t i = 0; i < t->n_axes; i++) sqlite3_str_appendf(sql, ", a.\"%w\"", t->axes[i].name);
    for (size_t i = 0; ok && i < n; i++) {
        int64_t there;
        ok =
            db_int(db, &there, diags, "SELECT count(*) FROM pragma_table_info(%Q || '_all') WHERE name = %Q", model, objectives[i]);
        sqlite3_str_appendf(sql, ok && there ? ", a.\"%w\"" : ", 0", objectives[i]);
    }
    *ret = sqlite3_str_finish(sql);
    if (!*ret) out_of_memory(0);
    return ok;
}

bool tally_read(const struct db *db, int64_t run, const char *model, const char *const *objectives, size_t n_objectives,
                struct tally *ret, struct diags *diags)
{
    char *columns = NULL, *rows = tally_rows_sql(model, run);
    *ret = (struct tally){.without = xcalloc(n_objectives + 1, sizeof *ret->without)};
    const bool ok =
        read_axes(db, run, model, ret, diags) && list_columns(db, model, objectives, n_objectives, ret, &columns, diags);
    sqlite3_stmt *stmt = ok ? db_prepare(db, diags, "SELECT %s%s", columns, rows) : NULL;
    int rc = stmt ? 1 : -1;
    while (rc > 0 && (rc = db_step(db, stmt, diags)) > 0) count_row(ret, stmt, n_objectives);
    sqlite3_finalize(stmt);
    sqlite3_free(columns);
    sqlite3_free(rows);
    return rc == 0;
}

void tally_release(struct tally *t)
{
    for (size_t i = 0; i < t->n_axes; i++) {
        for (size_t k = 0; k < t->axes[i].n; k++) free(t->axes[i].names[k].text);
        free(t->axes[i].names);
        free(t->axes[i].name);
    }
    free(t->axes);
    free(t->without);
}
