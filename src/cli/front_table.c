#include "cli/front_table_internal.h"

#include "base/hint.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/notices_print.h"
#include "cli/query_print.h"

#include <stdlib.h>
#include <string.h>

/* Call `each` with every row's first two columns as texts. */
static bool each_row(struct printing *p, void (*each)(void *user, const char *a, const char *b), void *user, const char *sql)
{
    struct query *q = query_new(p->reader, sql, (struct srcloc){0}, p->diags);
    int status = q ? 1 : -1;
    while (status > 0 && (status = query_step(q, p->diags)) > 0)
        each(user, query_text(q, 0), query_columns(q) > 1 ? query_text(q, 1) : NULL);
    query_free(q);
    return status == 0;
}

/* ---- the run ------------------------------------------------------------------------------------------------------------- */

/* Its objectives cannot be read, or not all its points are there, which is no error. */
static bool check_run(const struct printing *p, const char *objectives, const char *status)
{
    if (strcmp(status, "done") != 0)
        diags_warn(p->diags, (struct srcloc){.file = p->request->db}, NULL,
                   "run %lld is not done (%s): this front has only its points so far; the same command as before continues the run",
                   (long long)p->run, status);
    return p->goal.n ||
           diags_runtime(p->diags, p->request->db, "run %lld has unreadable objectives \"%s\"", (long long)p->run, objectives);
}

/* The run's id, objectives, axes, and whether it has a baseline, which an older dse did not know of. */
static bool find_run(struct printing *p)
{
    p->run = reader_show_run(p->reader, p->request->run, p->diags);
    struct name_list columns = {0};
    if (!p->run || !read_columns(p->reader, "run", &columns, p->diags)) return false;
    char *sql = xasprintf("SELECT objectives, axes, %s, fidelity = 'refine', status FROM run WHERE id = %lld",
                          name_list_have(&columns, "baseline") ? "baseline" : "NULL", (long long)p->run);
    name_list_release(&columns);
    struct query *q = query_new(p->reader, sql, (struct srcloc){0}, p->diags);
    bool ok = q && query_step(q, p->diags) > 0;
    if (ok) {
        p->compared = query_type(q, 2) != CELL_NULL;
        p->refines = query_i64(q, 3) != 0;
        const char *objectives = query_text(q, 0), *status = query_text(q, 4);
        if (!objectives || !goal_parse(&p->goal, objectives)) goal_release(&p->goal);
        ok = check_run(p, objectives ? objectives : "", status ? status : "");
        char *axes = xstrdup(query_text(q, 1) ? query_text(q, 1) : ""), *rest;
        for (char *name = strtok_r(axes, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) name_list_add(&p->axes, name);
        free(axes);
    }
    query_free(q);
    free(sql);
    return ok;
}

/* Find the models of the run whose front is printed. */
static bool find_models(struct printing *p)
{
    struct name_list all = {0};
    bool ok = read_models(p->reader, p->run, &all, p->diags);
    for (size_t i = 0; ok && i < all.n; i++)
        if (!p->request->model || strcmp(p->request->model, all.s[i]) == 0) name_list_add(&p->models, all.s[i]);
    name_list_release(&all);
    if (ok && p->models.n == 0)
        ok = diags_input(p->diags, (struct srcloc){.file = p->request->db}, NULL, NULL, "run %lld has no model %s",
                         (long long)p->run, p->request->model ? p->request->model : "at all");
    return ok;
}

/* Has the run a budget, and feasible rows that lose information? */
static bool find_lossy(struct printing *p)
{
    bool ok = true;
    for (size_t m = 0; ok && p->goal.budget.n && !p->lossy && m < p->models.n; m++) {
        struct name_list columns = {0};
        ok = read_columns(p->reader, p->models.s[m], &columns, p->diags);
        const bool judged = ok && name_list_have(&columns, "quality");
        name_list_release(&columns);
        if (!judged) continue;
        char *sql = xasprintf("SELECT EXISTS(SELECT 1 FROM \"%s\" WHERE run = %lld AND status = 'ok' AND quality NOT IN ('exact',"
                              " 'rounded'))",
                              p->models.s[m], (long long)p->run);
        struct query *q = query_new(p->reader, sql, (struct srcloc){0}, p->diags);
        ok = q && query_step(q, p->diags) > 0;
        p->lossy = ok && query_i64(q, 0) != 0;
        query_free(q);
        free(sql);
    }
    return ok;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

/* ---- summary ------------------------------------------------------------------------------------------------------------- */

struct found_summary {
    char *points, *hypervolume;
};

static void take_summary(void *user, const char *a, const char *b)
{
    struct found_summary *f = user;
    f->points = xstrdup(a);
    f->hypervolume = b ? xstrdup(b) : NULL;
}

/* Which rows are shown, if not all, and how to see the others. */
static void say_shown(const struct printing *p, uint64_t points)
{
    char shown[TEXT_NUMBER_MAX], all[TEXT_NUMBER_MAX], fronts[TEXT_NUMBER_MAX];
    if (p->picks.n) {
        text_count(fronts, p->picks.fronts);
        terminal_say(stderr, "front: %s of %s points are shown, knees and extremes of %s%s first; all: dse pareto %s",
                     text_count(shown, p->picks.n), text_count(all, points), p->picks.fronts > 1 ? fronts : "the",
                     p->picks.fronts > 1 ? " fronts" : " front", p->request->db);
    } else if (p->request->limit && points > p->request->limit) {
        terminal_say(stderr, "front: the first %s rows are shown; all are in the view %s_front",
                     text_count(shown, p->request->limit), p->models.n > 1 ? "comparison" : p->models.s[0]);
    }
}

/* How many points the stored front has, and what it dominates. */
static bool print_summary(struct printing *p)
{
    const struct goal *g = &p->goal;
    struct found_summary found = {0};
    char *sql = xasprintf("SELECT (SELECT count(*) FROM front WHERE run = r.id),"
                          " CASE WHEN hypervolume IS NOT NULL THEN printf('%%.4f', hypervolume) END FROM run AS r WHERE id = %lld",
                          (long long)p->run);
    bool ok = each_row(p, take_summary, &found, sql);
    if (ok && found.points) {
        char count[TEXT_NUMBER_MAX], *goal = goal_text(g);
        unsigned long long n = strtoull(found.points, NULL, 10);
        terminal_say(stderr, "front: %s points, %s", text_count(count, n), goal);
        if (found.hypervolume)
            terminal_say(stderr, "front: hypervolume %s of the box between the worst and the best of each objective%s",
                         found.hypervolume, g->n_per ? ", mean over the fronts" : "");
        say_shown(p, n);
        free(goal);
    }
    free(found.points);
    free(found.hypervolume);
    free(sql);
    return ok;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------------- */

/* Print the run's own front as it is stored. */
static bool print_stored(struct printing *p)
{
    const struct front_request *r = p->request;
    bool ok = front_check_goal(p) &&
              (!r->pick || front_picks_read(p->reader, p->run, &p->models, &p->goal, r->limit, &p->picks, p->diags));
    if (p->picks.n == p->picks.points) front_picks_release(&p->picks); /* all have room */
    ok = ok && front_print_rows(p, &(struct front_rows){.stored = true, .limit = r->limit});
    ok = ok && (!r->summary || print_summary(p));
    front_picks_release(&p->picks); /* of this front alone */
    return ok && front_print_others(p) && (!r->summary || notices_print_stored(p->reader, p->run, p->diags));
}

bool front_table_print(const struct front_request *request, struct diags *diags)
{
    struct printing p = {.request = request, .diags = diags, .reader = reader_open(request->db, diags)};
    bool ok = p.reader && find_run(&p) && find_models(&p);
    ok = ok && front_find_budget(&p);
    if (ok && request->goal) front_take_asked(&p);
    ok = ok && front_check_names(&p) && find_lossy(&p) && split_axes(p.reader, &p.models, &p.axes, &p.shared, &p.own, diags);
    if (ok) ok = request->goal ? front_print_new_goal(&p) : p.front ? front_print_budget(&p) : print_stored(&p);
    front_picks_release(&p.picks);
    name_list_release(&p.models);
    name_list_release(&p.axes);
    name_list_release(&p.shared);
    name_list_release(&p.own);
    goal_release(&p.goal);
    reader_close(p.reader);
    return ok;
}
