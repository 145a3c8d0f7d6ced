#include "store/left_out.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "store/store_internal.h"
#include "store/tally.h"

#include <stdlib.h>
#include <string.h>

enum { REASONS = 3, NAMES = 4 }; /* that a sentence names; that have a sentence, of an axis */

struct looking {
    const struct db *db;
    int64_t run;
    const char *model;
    const struct tally *tally;
    char *rows; /* " FROM ... WHERE ...": the rows of the tally, a */
    void (*add)(void *user, const char *text);
    void *user;
    struct diags *diags;
};

/* Names that a query gives. */
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

/* Those with the most rows first. */
static int by_rows(const void *a, const void *b)
{
    const struct tally_name *x = a, *y = b;
    return x->rows != y->rows ? (x->rows < y->rows) - (x->rows > y->rows) : strcmp(x->text, y->text);
}

static bool say_name(const struct looking *l, const char *axis, const struct tally_name *name)
{
    char *of = xasprintf(" with %s = %s", axis, name->text), *where = sqlite3_mprintf(" AND a.\"%w\" = %Q", axis, name->text);
    if (!where) out_of_memory(0);
    const bool ok = say_infeasible(l, name->rows, of, where);
    sqlite3_free(where);
    free(of);
    return ok;
}

static bool look_at_axis(const struct looking *l, const struct tally_axis *axis)
{
    struct tally_name *names = xcalloc(axis->n + 1, sizeof *names);
    size_t n = 0;
    bool ok = true;
    for (size_t i = 0; i < axis->n; i++)
        if (!axis->names[i].feasible) names[n++] = axis->names[i];
    qsort(names, n, sizeof *names, by_rows);
    for (size_t i = 0; ok && i < n && i < NAMES; i++) ok = say_name(l, axis->name, &names[i]);
    if (ok && n > NAMES) {
        char *text = xasprintf("the same holds for the rows of %s with %zu more values of %s", l->model, n - NAMES, axis->name);
        l->add(l->user, text);
        free(text);
    }
    free(names);
    return ok;
}

/* Of which names the rows without that objective are, where they are of few: " (gpu = h200-sxm)". */
static bool add_names_without(const struct looking *l, const char *objective, struct text *t)
{
    size_t named = 0;
    for (size_t i = 0; i < l->tally->n_axes; i++) {
        const char *axis = l->tally->axes[i].name;
        char **names,
            *sql = sqlite3_mprintf("SELECT a.\"%w\"%s AND a.status = 'ok' GROUP BY 1 HAVING total(a.\"%w\" IS NOT NULL) = 0"
                                   " LIMIT %d",
                                   axis, l->rows, objective, NAMES);
        size_t n;
        if (!sql) out_of_memory(0);
        const bool ok = read_names(l, sql, &names, &n);
        sqlite3_free(sql);
        for (size_t k = 0; k < n; k++)
            text_addf(t, "%s%s%s", k ? ", " : named ? "; " : " (", k ? "" : axis, k ? "" : " = "), text_add(t, names[k]);
        named += n;
        free_names(names, n);
        if (!ok) return false;
    }
    if (named) text_add(t, ")");
    return true;
}

static bool say_without(const struct looking *l, const char *objective, int64_t rows)
{
    char count[TEXT_NUMBER_MAX];
    struct text t;
    text_init(&t);
    text_addf(&t, "no front has the %s feasible rows of %s without a value of %s", text_count(count, (uint64_t)rows), l->model,
              objective);
    const bool ok = add_names_without(l, objective, &t);
    if (ok) l->add(l->user, t.s);
    text_release(&t);
    return ok;
}

static bool look(const struct looking *l, const char *const *objectives, size_t n_objectives)
{
    const struct tally *t = l->tally;
    bool ok = true;
    if (!t->rows) return true;
    if (!t->feasible) return say_infeasible(l, t->rows, "", "");
    for (size_t i = 0; ok && i < t->n_axes; i++) ok = look_at_axis(l, &t->axes[i]);
    for (size_t i = 0; ok && i < n_objectives; i++)
        if (t->without[i]) ok = say_without(l, objectives[i], t->without[i]);
    return ok;
}

bool left_out_of_front(const struct db *db, int64_t run, const char *model, const struct tally *tally,
                       const char *const *objectives, size_t n_objectives, void (*add)(void *user, const char *text), void *user,
                       struct diags *diags)
{
    struct looking l = {.db = db, .run = run, .model = model, .tally = tally, .add = add, .user = user, .diags = diags};
    l.rows = tally_rows_sql(model, run);
    const bool ok = look(&l, objectives, n_objectives);
    sqlite3_free(l.rows);
    return ok;
}
