/* The fronts of a run's budgets, and that of the points whose loss nobody measured. */
#include "cli/front_table_internal.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* How many points a front of a budget has, or of the models that are printed. A run of an older dse has none. */
static bool count_points(struct printing *p, const char *budget, uint64_t *ret)
{
    *ret = 0;
    bool ok = true;
    for (size_t m = 0; ok && m < p->models.n; m++) {
        char *sql = xasprintf("SELECT count(*) FROM budget_front WHERE run = %lld AND budget = '%s' AND model = '%s'",
                              (long long)p->run, budget, p->models.s[m]);
        struct query *q = query_new(p->reader, sql, (struct srcloc){0}, p->diags);
        ok = q && query_step(q, p->diags) > 0;
        if (ok) *ret += (uint64_t)query_i64(q, 0);
        query_free(q);
        free(sql);
    }
    return ok;
}

static bool same_budget(const char *asked, const char *name)
{
    double a, b;
    return strcmp(asked, name) == 0 || (text_parse_f64(asked, &a) && text_parse_f64(name, &b) && a == b);
}

bool front_find_budget(struct printing *p)
{
    const struct budget *b = &p->goal.budget;
    const char *asked = p->request->front;
    char names[BUDGETS_MAX + 1][TEXT_NUMBER_MAX];
    const char *list[BUDGETS_MAX + 1];
    for (size_t i = 0; asked && i <= b->n && b->n; i++) {
        list[i] = budget_name(b, i, names[i]);
        if (same_budget(asked, list[i])) return p->front = i, true;
    }
    if (!asked) return true;
    return diags_unknown(p->diags, (struct srcloc){.file = p->request->db}, NULL, asked, list, b->n ? b->n + 1 : 0,
                         b->n ? "the budgets of its sweep, and unknown" : "its sweep has no budgets",
                         "run %lld has no front \"%s\"", (long long)p->run, asked);
}

bool front_print_budget(struct printing *p)
{
    char name[TEXT_NUMBER_MAX], count[TEXT_NUMBER_MAX];
    const char *budget = budget_name(&p->goal.budget, p->front, name);
    uint64_t n;
    if (!front_check_goal(p) || !count_points(p, budget, &n)) return false;
    if (!front_print_rows(p, &(struct front_rows){.stored = true, .budget = budget, .limit = p->request->limit})) return false;
    if (!p->request->summary) return true;
    struct goal only = p->goal; /* borrows its names */
    only.budget = budget_only(&p->goal.budget, p->front);
    char *goal = goal_text(&only);
    terminal_say(stderr, "front: %s points of the front %s, %s", text_count(count, n), budget, goal);
    free(goal);
    return true;
}

/* "front: within 0.03 12 points (dse pareto DB --front 0.03)" for each budget but the loosest. */
static bool say_tighter(struct printing *p)
{
    const struct budget *b = &p->goal.budget;
    bool ok = true;
    for (size_t i = 1; ok && i < b->n; i++) {
        char name[TEXT_NUMBER_MAX], count[TEXT_NUMBER_MAX];
        const char *budget = budget_name(b, i, name);
        uint64_t n;
        ok = count_points(p, budget, &n);
        if (ok)
            terminal_say(stderr, "front: %s points %s %s %s (dse pareto %s --front %s)", text_count(count, n),
                         budget_metrics[b->named], budget_is_least(b->named) ? "at least" : "at most", budget, p->request->db,
                         budget);
    }
    return ok;
}

/* The front of what is unknown: its rows under a heading in a table, else how to have them. */
static bool print_unknown(struct printing *p)
{
    enum { ROWS = 8 };
    static const char budget[] = "unknown";
    char count[TEXT_NUMBER_MAX];
    uint64_t n;
    if (!count_points(p, budget, &n)) return false;
    if (n == 0) return true;
    const size_t most = p->request->pick ? ROWS : p->request->limit;
    if (p->request->format == OUTPUT_TABLE) {
        printf("\n"
               "A separate front of points whose loss nobody measured\n");
        if (!front_print_rows(p, &(struct front_rows){.stored = true, .budget = budget, .limit = most})) return false;
    }
    if (p->request->summary && (p->request->format != OUTPUT_TABLE || (most && n > most)))
        terminal_say(stderr,
                     "front: %s points whose loss nobody measured have a front of their own (dse pareto %s --front unknown)",
                     text_count(count, n), p->request->db);
    return true;
}

bool front_print_others(struct printing *p)
{
    if (p->goal.budget.n == 0) return true;
    return print_unknown(p) && (!p->request->summary || say_tighter(p));
}
