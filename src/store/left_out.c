#include "store/left_out.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "store/store_internal.h"

#include <stdlib.h>
#include <string.h>

enum { REASONS = 3, NAMES = 4 }; /* that a sentence names; that have a sentence, of an axis */

struct looking {
    const struct db *db;
    int64_t run;
    const char *model;
    char *rows; /* " FROM ... WHERE ...": the rows of the model, a; of a point that has two, the first */
    void (*add)(void *user, const char *text);
    void *user;
    struct diags *diags;
};

/* Names of columns of the model's rows that a query gives: names of axes whose values are texts, or those of `wanted` that there
 * are. */
static bool read_names(const struct looking *l, const char *sql, char ***ret, size_t *ret_n)
{
    sqlite3_stmt *stmt = db_prepare(l->db, l->diags, "%s", sql);
    int rc = stmt ? 1 : -1;
    *ret = NULL;
    *ret_n = 0;
    while (rc > 0 && (rc = db_step(l->db, stmt, l->diags)) > 0) {
        *ret = xrealloc(*ret, *ret_n + 1, sizeof **ret);
        (*ret)[(*ret_n)++] = xstrdup((const char *)sqlite3_column_text(stmt, 0));
    }
    sqlite3_finalize(stmt);
    return rc == 0;
}

static void free_names(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++) free(names[i]);
    free(names);
}

/* The axes of the run that hold names in this model. */
static bool read_name_axes(const struct looking *l, char ***ret, size_t *ret_n)
{
    char *sql =
        sqlite3_mprintf("SELECT c.name FROM run, pragma_table_info(%Q || '_all') c WHERE run.id = %lld AND c.type = 'TEXT' AND"
                        " instr(', ' || run.axes || ',', ', ' || c.name || ',')",
                        l->model, (long long)l->run);
    if (!sql) out_of_memory(0);
    const bool ok = read_names(l, sql, ret, ret_n);
    sqlite3_free(sql);
    return ok;
}

/* Why rows are infeasible, the most frequent reasons first, each with its number: "; 20 weights do not fit". `where` is SQL. */
static bool add_reasons(const struct looking *l, const char *where, struct text *t)
{
    sqlite3_stmt *stmt = db_prepare(l->db, l->diags, "SELECT count(*), a.reason%s%s GROUP BY 2 ORDER BY 1 DESC, 2", l->rows, where);
    int rc = stmt ? 1 : -1, n = 0;
    int64_t others = 0;
    char count[TEXT_NUMBER_MAX];
    while (rc > 0 && (rc = db_step(l->db, stmt, l->diags)) > 0) {
        const char *reason = (const char *)sqlite3_column_text(stmt, 1);
        if (n++ >= REASONS)
            others += sqlite3_column_int64(stmt, 0);
        else
            text_addf(t, "%s %s of them: %s", n > 1 ? ";" : "", text_count(count, (uint64_t)sqlite3_column_int64(stmt, 0)),
                      reason ? reason : "no reason given");
    }
    if (others) text_addf(t, "; %s: other reasons", text_count(count, (uint64_t)others));
    sqlite3_finalize(stmt);
    return rc == 0;
}

/* One sentence about rows of which none is feasible. `of` says which of the model's, `where` is that in SQL. */
static bool say_infeasible(const struct looking *l, int64_t rows, const char *of, const char *where)
{
    char count[TEXT_NUMBER_MAX];
    struct text t;
    text_init(&t);
    text_addf(&t, "none of the %s rows of %s%s is feasible, so no front has any of them:", text_count(count, (uint64_t)rows),
              l->model, of);
    const bool ok = add_reasons(l, where, &t);
    if (ok) l->add(l->user, t.s);
    text_release(&t);
    return ok;
}

static bool look_at_axis(const struct looking *l, const char *axis)
{
    sqlite3_stmt *stmt =
        db_prepare(l->db, l->diags, "SELECT a.\"%w\", count(*)%s GROUP BY 1 HAVING total(a.status = 'ok') = 0 ORDER BY 2 DESC, 1",
                   axis, l->rows);
    int rc = stmt ? 1 : -1;
    size_t more = 0, said = 0;
    bool ok = true;
    while (ok && rc > 0 && (rc = db_step(l->db, stmt, l->diags)) > 0) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        if (!name || said == NAMES) {
            more += name != NULL;
            continue;
        }
        said++;
        char *of = xasprintf(" with %s = %s", axis, name), *where = sqlite3_mprintf(" AND a.\"%w\" = %Q", axis, name);
        if (!where) out_of_memory(0);
        ok = say_infeasible(l, sqlite3_column_int64(stmt, 1), of, where);
        sqlite3_free(where);
        free(of);
    }
    sqlite3_finalize(stmt);
    if (ok && more) {
        char *text = xasprintf("the same holds for the rows of %s with %zu more values of %s", l->model, more, axis);
        l->add(l->user, text);
        free(text);
    }
    return ok && rc == 0;
}

/* Of which names the rows without that objective are, where they are of few: " (gpu = h200-sxm)". */
static bool add_names_without(const struct looking *l, const char *objective, char *const *axes, size_t n_axes, struct text *t)
{
    size_t named = 0;
    for (size_t i = 0; i < n_axes; i++) {
        char **names,
            *sql = sqlite3_mprintf("SELECT a.\"%w\"%s AND a.status = 'ok' GROUP BY 1 HAVING total(a.\"%w\" IS NOT NULL) = 0"
                                   " LIMIT %d",
                                   axes[i], l->rows, objective, NAMES);
        size_t n;
        if (!sql) out_of_memory(0);
        const bool ok = read_names(l, sql, &names, &n);
        sqlite3_free(sql);
        for (size_t k = 0; k < n; k++)
            text_addf(t, "%s%s%s", k ? ", " : named ? "; " : " (", k ? "" : axes[i], k ? "" : " = "), text_add(t, names[k]);
        named += n;
        free_names(names, n);
        if (!ok) return false;
    }
    if (named) text_add(t, ")");
    return true;
}

static bool look_at_objective(const struct looking *l, const char *objective, char *const *axes, size_t n_axes)
{
    int64_t there, without;
    if (!db_int(l->db, &there, l->diags, "SELECT count(*) FROM pragma_table_info(%Q || '_all') WHERE name = %Q", l->model,
                objective))
        return false;
    if (!there) return true;
    if (!db_int(l->db, &without, l->diags, "SELECT count(*)%s AND a.status = 'ok' AND a.\"%w\" IS NULL", l->rows, objective))
        return false;
    if (!without) return true;
    char count[TEXT_NUMBER_MAX];
    struct text t;
    text_init(&t);
    text_addf(&t, "no front has the %s feasible rows of %s without a value of %s", text_count(count, (uint64_t)without), l->model,
              objective);
    const bool ok = add_names_without(l, objective, axes, n_axes, &t);
    if (ok) l->add(l->user, t.s);
    text_release(&t);
    return ok;
}

static bool look(const struct looking *l, const char *const *objectives, size_t n_objectives)
{
    int64_t rows, feasible;
    if (!db_int(l->db, &rows, l->diags, "SELECT count(*)%s", l->rows) ||
        !db_int(l->db, &feasible, l->diags, "SELECT count(*)%s AND a.status = 'ok'", l->rows))
        return false;
    if (!rows) return true;
    if (!feasible) return say_infeasible(l, rows, "", "");
    char **axes;
    size_t n;
    bool ok = read_name_axes(l, &axes, &n);
    for (size_t i = 0; ok && feasible < rows && i < n; i++) ok = look_at_axis(l, axes[i]);
    for (size_t i = 0; ok && i < n_objectives; i++) ok = look_at_objective(l, objectives[i], axes, n);
    free_names(axes, n);
    return ok;
}

bool left_out_of_front(const struct db *db, int64_t run, const char *model, const char *const *objectives, size_t n_objectives,
                       void (*add)(void *user, const char *text), void *user, struct diags *diags)
{
    struct looking l = {.db = db, .run = run, .model = model, .add = add, .user = user, .diags = diags};
    l.rows = sqlite3_mprintf(" FROM \"%w_fixed\" f CROSS JOIN \"%w_all\" a WHERE f.run = %lld AND a.id >= f.first_id"
                             " AND a.id < f.first_id + f.points",
                             model, model, (long long)run);
    if (!l.rows) out_of_memory(0);
    const bool ok = look(&l, objectives, n_objectives);
    sqlite3_free(l.rows);
    return ok;
}
