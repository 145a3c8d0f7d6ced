/* The rows of a front, as SQL gives them. */
#include "cli/front_table_internal.h"

#include "base/hint.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/query_print.h"

#include <stdlib.h>
#include <string.h>

/* Do the names that the file gives stand in SQL as names? Those of dse have no quotes. */
static const char *const ratios[] = {"speedup", "energy_ratio"}; /* what is shown of a run with a baseline */
enum { RATIOS = sizeof ratios / sizeof *ratios };

static bool check_names(const struct printing *p, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strpbrk(names[i], "\"'"))
            return diags_runtime(p->diags, p->request->db, "run %lld has the name %s, which is not a name of dse",
                                 (long long)p->run, names[i]);
    return true;
}

bool front_check_names(const struct printing *p)
{
    return check_names(p, (const char *const *)p->models.s, p->models.n) &&
           check_names(p, (const char *const *)p->axes.s, p->axes.n) &&
           check_names(p, (const char *const *)p->goal.columns, p->goal.n) &&
           check_names(p, (const char *const *)p->goal.per, p->goal.n_per);
}

bool front_check_goal(struct printing *p)
{
    const struct goal *g = &p->goal;
    bool ok = true;
    for (size_t i = 0; i < g->n + g->n_per; i++) {
        const char *name = i < g->n ? g->columns[i] : g->per[i - g->n];
        for (size_t m = 0; m < p->models.n; m++) {
            struct name_list columns = {0};
            bool read = read_columns(p->reader, p->models.s[m], &columns, p->diags);
            ok = read && ok;
            if (read && !name_list_have(&columns, name))
                ok = diags_unknown(p->diags, (struct srcloc){.file = p->request->db}, NULL, name, (const char *const *)columns.s,
                                   columns.n, NULL, "%s has no column \"%s\"", p->models.s[m], name);
            name_list_release(&columns);
        }
    }
    return ok;
}

static bool is_objective(const struct goal *g, const char *column)
{
    for (size_t i = 0; i < g->n; i++)
        if (strcmp(g->columns[i], column) == 0) return true;
    return false;
}

/* A table has the axes of single models in one column: most of its cells would be empty otherwise. */
static bool has_design(const struct printing *p)
{
    return p->own.n > 1 && p->request->format == OUTPUT_TABLE;
}

static void add_own_axes(const struct printing *p, const struct goal *g, const struct name_list *columns, struct text *sql)
{
    for (size_t i = 0; i < p->own.n; i++)
        if (!is_objective(g, p->own.s[i]))
            text_addf(sql, name_list_have(columns, p->own.s[i]) ? ", \"%s\"" : ", NULL AS \"%s\"", p->own.s[i]);
}

/* Add a column that says what each picked row is shown for. */
static void add_shows(const struct printing *p, size_t m, struct text *sql)
{
    if (p->picks.n == 0) return;
    text_add(sql, ", CASE point");
    for (size_t i = 0; i < p->picks.n; i++)
        if (p->picks.rows[i].model == m)
            text_addf(sql, " WHEN %lld THEN '%s'", (long long)p->picks.rows[i].point, p->picks.rows[i].shows);
    text_add(sql, " WHEN -1 THEN '' END AS shows");
}

/* What the budget limits, and how well it is known. */
static void add_loss(const struct goal *g, const struct name_list *columns, struct text *sql)
{
    const char *const names[] = {budget_metrics[g->budget.named], "quality"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!is_objective(g, names[i]))
            text_addf(sql, name_list_have(columns, names[i]) ? ", \"%s\"" : ", NULL AS \"%s\"", names[i]);
}

/* SELECT of one model's rows on the front; an axis that the model does not have is NULL. `points`: a list "(1, 2, 3)", or NULL
 * for all of the stored front. */
static bool add_select(struct printing *p, size_t m, bool stored, const char *points, struct text *sql)
{
    const struct goal *g = &p->goal;
    const char *model = p->models.s[m];
    struct name_list columns = {0};
    bool ok = read_columns(p->reader, model, &columns, p->diags);
    text_addf(sql, "SELECT '%s' AS model", model);
    add_shows(p, m, sql);
    for (size_t i = 0; i < g->n; i++) text_addf(sql, ", \"%s\"", g->columns[i]);
    /* Refined for its own objectives, it has closed forms on the front under others. */
    if (p->refines && p->request->goal) text_add(sql, ", fidelity");
    if (p->lossy) add_loss(g, &columns, sql);
    for (size_t i = 0; p->compared && i < RATIOS; i++)
        if (!is_objective(g, ratios[i])) text_addf(sql, ", \"%s\"", ratios[i]);
    for (size_t i = 0; i < p->shared.n; i++)
        if (!is_objective(g, p->shared.s[i])) text_addf(sql, ", \"%s\"", p->shared.s[i]);
    if (has_design(p))
        add_design(sql, &p->own, &columns);
    else
        add_own_axes(p, g, &columns, sql);
    text_addf(sql, " FROM \"%s%s\" WHERE run = %lld", model, stored ? "_front" : "", (long long)p->run);
    if (points) text_addf(sql, " AND point IN %s", points);
    name_list_release(&columns);
    return ok;
}

void front_list_points(const uint64_t *ids, size_t n, size_t m, struct text *list)
{
    text_add(list, "(");
    for (size_t i = 0; i < n; i++)
        if (ids[i] >> MODEL_SHIFT == m)
            text_addf(list, "%s%llu", list->n > 1 ? "," : "", (unsigned long long)(ids[i] & (((uint64_t)1 << MODEL_SHIFT) - 1)));
    text_add(list, ")");
}

static void list_picks(const struct front_picks *picks, size_t m, struct text *list)
{
    text_add(list, "(");
    for (size_t i = 0; i < picks->n; i++)
        if (picks->rows[i].model == m) text_addf(list, "%s%lld", list->n > 1 ? "," : "", (long long)picks->rows[i].point);
    text_add(list, ")");
}

/* The points of model m that are printed, as SQL in parentheses; nothing: all of the stored front. */
static void add_points(const struct printing *p, const struct front_rows *rows, size_t m, struct text *ret)
{
    if (rows->budget)
        text_addf(ret, "(SELECT point FROM budget_front WHERE run = %lld AND budget = '%s' AND model = '%s')", (long long)p->run,
                  rows->budget, p->models.s[m]);
    else if (!rows->stored)
        front_list_points(rows->ids, rows->n, m, ret);
    else if (p->picks.n)
        list_picks(&p->picks, m, ret);
}

static void add_order(const struct printing *p, size_t limit, struct text *sql)
{
    const struct goal *g = &p->goal;
    text_add(sql, " ORDER BY");
    for (size_t i = 0; i < g->n_per; i++)
        if (name_list_have(&p->shared, g->per[i])) text_addf(sql, " \"%s\",", g->per[i]);
    text_addf(sql, " \"%s\" %s", g->columns[0], g->maximise[0] ? "DESC" : "ASC");
    for (size_t i = 1; i < g->n; i++) text_addf(sql, ", \"%s\" %s", g->columns[i], g->maximise[i] ? "DESC" : "ASC");
    text_add(sql, ", model");
    for (size_t i = 0; i < p->shared.n; i++) text_addf(sql, ", \"%s\"", p->shared.s[i]);
    if (has_design(p)) text_add(sql, ", design");
    for (size_t i = 0; !has_design(p) && i < p->own.n; i++) text_addf(sql, ", \"%s\"", p->own.s[i]);
    if (limit) text_addf(sql, " LIMIT %zu", limit);
}

bool front_print_rows(struct printing *p, const struct front_rows *rows)
{
    struct text sql;
    text_init(&sql);
    bool ok = true;
    for (size_t m = 0; ok && m < p->models.n; m++) {
        struct text points;
        text_init(&points);
        add_points(p, rows, m, &points);
        if (m) text_add(&sql, " UNION ALL ");
        ok = add_select(p, m, rows->stored && !rows->budget, points.n ? points.s : NULL, &sql);
        text_release(&points);
    }
    add_order(p, rows->limit, &sql);
    struct query *q = ok ? query_new(p->reader, sql.s, (struct srcloc){0}, p->diags) : NULL;
    ok = q && query_print(q, p->request->format, stdout, p->diags);
    query_free(q);
    text_release(&sql);
    return ok;
}
