/* Fronts under other objectives than the run's own, computed of the rows that are stored. */
#include "cli/front_table_internal.h"

#include "analysis/grouped_front.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/notices_print.h"

#include <stdlib.h>
#include <string.h>

static void text_objective(const struct printing *p, const char *column)
{
    diags_input(p->diags, (struct srcloc){.file = p->request->db}, NULL,
                "an objective is a column of numbers, such as tokens_per_s",
                "%s holds names, not numbers, so it cannot be an objective", column);
}

void front_take_asked(struct printing *p)
{
    const struct goal *asked = p->request->goal;
    struct goal g;
    goal_init(&g);
    for (size_t i = 0; i < asked->n; i++) goal_add(&g, asked->columns[i], asked->maximise[i]);
    const struct goal *per = asked->n_per || p->request->one_front ? asked : &p->goal;
    for (size_t i = 0; i < per->n_per; i++) goal_add_per(&g, per->per[i]);
    p->per_of_run = per != asked && per->n_per;
    g.budget = p->goal.budget;
    goal_release(&p->goal);
    p->goal = g;
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------ */

/* The columns of a query over a model's rows: point, objectives, quality, what budgets limit, `per`. */
struct columns {
    size_t quality, known, per;
    bool has[BUDGET_METRICS];
};

/* A column that not all tables have. */
static bool add_optional(struct text *sql, const struct name_list *columns, const char *name)
{
    const bool has = name_list_have(columns, name);
    text_addf(sql, has ? ", \"%s\"" : ", NULL AS \"%s\"", name);
    return has;
}

static char *select_rows(const struct printing *p, size_t m, const struct name_list *all, struct columns *ret)
{
    const struct goal *g = &p->goal;
    struct text sql;
    text_init(&sql);
    text_add(&sql, "SELECT point");
    for (size_t i = 0; i < g->n; i++) text_addf(&sql, ", \"%s\"", g->columns[i]);
    *ret = (struct columns){.quality = 1 + g->n, .known = 2 + g->n, .per = 2 + g->n + BUDGET_METRICS};
    add_optional(&sql, all, "quality");
    for (int i = 0; i < BUDGET_METRICS; i++) ret->has[i] = add_optional(&sql, all, budget_metrics[i]);
    for (size_t i = 0; i < g->n_per; i++) text_addf(&sql, ", \"%s\"", g->per[i]);
    text_addf(&sql, " FROM \"%s\" WHERE status = 'ok' AND run = %lld", p->models.s[m], (long long)p->run);
    return text_detach(&sql);
}

/* The values of the objectives; false, with an error, where one is a text. */
static bool read_values(const struct printing *p, const struct query *q, double *ret)
{
    for (size_t i = 0; i < p->goal.n; i++) {
        ret[i] = query_f64(q, (int)i + 1);
        if (query_type(q, (int)i + 1) == CELL_TEXT) return text_objective(p, p->goal.columns[i]), false;
    }
    return true;
}

static void read_group(const struct goal *g, const struct query *q, const struct columns *c, struct text *ret)
{
    ret->n = 0;
    for (size_t i = 0; i < g->n_per; i++) {
        const char *s = query_text(q, (int)(c->per + i));
        if (s) text_add(ret, s);
        text_add_bytes(ret, "\x1f", 1);
    }
}

static unsigned read_fronts(const struct goal *g, const struct query *q, const struct columns *c)
{
    double known[BUDGET_METRICS];
    for (int i = 0; i < BUDGET_METRICS; i++) known[i] = query_f64(q, (int)c->known + i);
    return goal_fronts(g, &(struct scan_row){.known = known, .has = c->has, .quality = query_text(q, (int)c->quality)});
}

/* What is made of the rows: the front that is asked for, and how many rows there are whose loss is unknown. */
struct made {
    struct grouped_front *front;
    unsigned bit; /* of budget_fronts */
    uint64_t unknown;
};

static bool scan_model(struct printing *p, size_t m, struct made *to)
{
    struct name_list all = {0};
    struct columns c;
    if (!read_columns(p->reader, p->models.s[m], &all, p->diags)) return false;
    char *sql = select_rows(p, m, &all, &c);
    struct text group;
    text_init(&group);
    struct query *q = query_new(p->reader, sql, (struct srcloc){0}, p->diags);
    int status = q ? 1 : -1;
    while (status > 0 && (status = query_step(q, p->diags)) > 0) {
        double values[SWEEP_OBJECTIVES_MAX];
        if (!read_values(p, q, values)) status = -1;
        if (status < 0) break;
        const unsigned fronts = read_fronts(&p->goal, q, &c);
        to->unknown += fronts == BUDGET_UNKNOWN;
        if (!(fronts & to->bit)) continue;
        read_group(&p->goal, q, &c, &group);
        grouped_front_add(to->front, p->goal.n_per ? group.s : "", (uint64_t)m << MODEL_SHIFT | (uint64_t)query_i64(q, 0), values);
    }
    query_free(q);
    free(sql);
    text_release(&group);
    name_list_release(&all);
    return status == 0;
}

/* ---- the front ------------------------------------------------------------------------------------------------------------- */

/* What there is to know of the front of `ids`. */
static bool print_notices(struct printing *p, const uint64_t *ids, size_t n)
{
    const struct goal *g = &p->goal;
    char **points = xcalloc(p->models.n, sizeof(char *));
    for (size_t m = 0; m < p->models.n; m++) {
        struct text list;
        text_init(&list);
        front_list_points(ids, n, m, &list);
        points[m] = text_detach(&list);
    }
    struct notice_front front = {.models = (const char *const *)p->models.s,
                                 .points = (const char *const *)points,
                                 .n_models = p->models.n,
                                 .per = (const char *const *)g->per,
                                 .n_per = g->n_per,
                                 .objectives = (const char *const *)g->columns,
                                 .n_objectives = g->n};
    bool ok = notices_print(p->reader, p->run, &front, p->diags);
    for (size_t m = 0; m < p->models.n; m++) free(points[m]);
    free(points);
    return ok;
}

static void say_goal(const struct printing *p, size_t points, uint64_t unknown)
{
    struct goal only = p->goal; /* borrows its names */
    if (p->front) only.budget = budget_only(&p->goal.budget, p->front);
    char count[TEXT_NUMBER_MAX], *goal = goal_text(&only);
    terminal_say(stderr, "front: %s points, %s%s", text_count(count, points), goal,
                 p->per_of_run ? ", as in the run (--per none: one front of all)" : "");
    if (unknown && p->front < p->goal.budget.n)
        terminal_say(stderr, "front: %s rows whose loss nobody measured are left out (--front unknown shows a front of their own)",
                     text_count(count, unknown));
    free(goal);
}

bool front_print_new_goal(struct printing *p)
{
    const struct goal *g = &p->goal;
    struct made made = {.front = grouped_front_new((int)g->n, g->maximise),
                        .bit = p->front > 0 && p->front == g->budget.n ? BUDGET_UNKNOWN : 1u << p->front};
    bool ok = front_check_goal(p);
    for (size_t m = 0; ok && m < p->models.n; m++) ok = scan_model(p, m, &made);
    if (ok) {
        const uint64_t *ids;
        size_t n = grouped_front_finish(made.front, &ids, NULL);
        ok = front_print_rows(p, &(struct front_rows){.ids = ids, .n = n, .limit = p->request->limit});
        if (ok) say_goal(p, n, made.unknown);
        ok = ok && print_notices(p, ids, n);
    }
    grouped_front_free(made.front);
    return ok;
}
