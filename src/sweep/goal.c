#include "sweep/goal.h"

#include "analysis/grouped_front.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void goal_init(struct goal *g)
{
    *g = (struct goal){0};
    budget_init(&g->budget);
}

void goal_release(struct goal *g)
{
    for (size_t i = 0; i < g->n; i++) free(g->columns[i]);
    for (size_t i = 0; i < g->n_per; i++) free(g->per[i]);
    free(g->per);
    goal_init(g);
}

bool goal_add(struct goal *g, const char *column, bool maximise)
{
    if (g->n == SWEEP_OBJECTIVES_MAX) return false;
    g->columns[g->n] = xstrdup(column);
    g->maximise[g->n++] = maximise;
    return true;
}

void goal_add_per(struct goal *g, const char *parameter)
{
    g->per = xrealloc(g->per, g->n_per + 1, sizeof(char *));
    g->per[g->n_per++] = xstrdup(parameter);
}

void goal_of_sweep(struct goal *g, const struct sweep_file *s)
{
    goal_init(g);
    for (size_t i = 0; i < s->n_objectives; i++) goal_add(g, s->objectives[i].column, s->objectives[i].maximise);
    for (size_t i = 0; i < s->n_per; i++) goal_add_per(g, s->per[i]);
    g->budget = s->budget;
}

char *goal_text(const struct goal *g)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < g->n; i++) text_addf(&t, "%s%s %s", i ? ", " : "", g->maximise[i] ? "max" : "min", g->columns[i]);
    for (size_t i = 0; i < g->n_per; i++) text_addf(&t, "%s%s", i ? ", " : " per ", g->per[i]);
    budget_add_within(&g->budget, &t);
    return text_detach(&t);
}

bool goal_parse(struct goal *g, const char *text)
{
    goal_init(g);
    char *copy = xstrdup(text), *rest = copy;
    bool ok = true, per = false;
    char *words = NULL, *first;
    while (ok && (first = strtok_r(rest, ", ", &words)) != NULL) {
        rest = NULL;
        if (strcmp(first, "per") == 0) {
            per = true;
        } else if (strcmp(first, "within") == 0) {
            ok = budget_parse(&g->budget, words);
            *words = '\0';
        } else if (per) {
            goal_add_per(g, first);
        } else {
            char *column = strtok_r(NULL, ", ", &words);
            bool max = strcmp(first, "max") == 0;
            ok = column && (max || strcmp(first, "min") == 0) && goal_add(g, column, max);
        }
    }
    free(copy);
    return ok && g->n > 0;
}

void goal_values(const struct goal *g, const struct space *sp, const union cell *cells, double *ret)
{
    size_t n;
    const struct column *columns = space_columns(sp, &n);
    for (size_t i = 0; i < g->n; i++) {
        size_t c = space_column(sp, g->columns[i]);
        if (c == SIZE_MAX)
            ret[i] = (double)NAN;
        else if (columns[c].type == DSE_TYPE_I64)
            ret[i] = cells[c].i64 == INT64_MIN ? (double)NAN : (double)cells[c].i64;
        else
            ret[i] = cells[c].f64;
    }
}

/* ---- the front ----------------------------------------------------------------------------------------------------------- */

/* A point of any of the models, as one id of the common front. */
enum { MODEL_SHIFT = 56 };

enum { FRONTS_MAX = BUDGETS_MAX + 1 }; /* of the budgets, and behind them that of what is unknown */

struct scan {
    const struct goal *goal;
    struct grouped_front *fronts[FRONTS_MAX];
    size_t n, unknown; /* how many fronts; points whose loss is unknown */
    uint64_t model;
};

struct scan_columns goal_columns(const struct goal *g)
{
    return (struct scan_columns){.values = (const char *const *)g->columns,
                                 .n_values = g->n,
                                 .group = (const char *const *)g->per,
                                 .n_group = g->n_per,
                                 .known = budget_metrics,
                                 .n_known = BUDGET_METRICS};
}

unsigned goal_fronts(const struct goal *g, const struct scan_row *row)
{
    struct budget_row r = {.quality = row->quality};
    memcpy(r.value, row->known, sizeof r.value);
    memcpy(r.has, row->has, sizeof r.has);
    return budget_fronts(&g->budget, &r);
}

static void add_point(void *user, const struct scan_row *row)
{
    struct scan *scan = user;
    const unsigned fronts = goal_fronts(scan->goal, row);
    const uint64_t id = scan->model << MODEL_SHIFT | row->point;
    scan->unknown += fronts == BUDGET_UNKNOWN;
    for (size_t i = 0; i < scan->n; i++)
        if (fronts & (i < scan->goal->budget.n || i == 0 ? 1u << i : BUDGET_UNKNOWN))
            grouped_front_add(scan->fronts[i], row->group, id, row->values);
}

/* Store a front, of all models: that of the run, or that of one of its budgets. */
static bool store_fronts(struct store *st, const char *budget, const uint64_t *ids, size_t n, struct diags *diags)
{
    uint64_t *points = xmalloc(n * sizeof *points);
    size_t at = 0;
    bool ok = true;
    for (size_t m = 0; ok && m < store_models(st); m++) {
        size_t k = 0;
        for (; at < n && ids[at] >> MODEL_SHIFT == m; at++) points[k++] = ids[at] & (((uint64_t)1 << MODEL_SHIFT) - 1);
        ok = budget ? store_budget_front(st, budget, m, points, k, diags) : store_front(st, m, points, k, diags);
    }
    free(points);
    return ok;
}

/* Store the front of the run, and those of its budgets. */
static bool store_all(struct store *st, const struct scan *scan, size_t *ret_n, struct diags *diags)
{
    const struct budget *b = &scan->goal->budget;
    bool ok = true;
    for (size_t i = 0; ok && i < scan->n; i++) {
        char name[TEXT_NUMBER_MAX];
        const uint64_t *ids;
        double hypervolume;
        const bool is_unknown = i > 0 && i == b->n;
        const size_t n = grouped_front_finish(scan->fronts[i], &ids, i == 0 ? &hypervolume : NULL);
        if (i == 0) *ret_n = n;
        if (i == 0) ok = store_fronts(st, NULL, ids, n, diags) && store_hypervolume(st, hypervolume, diags);
        if (ok && (is_unknown ? scan->unknown > 0 : b->n > 1)) ok = store_fronts(st, budget_name(b, i, name), ids, n, diags);
    }
    return ok;
}

/* Find out whether the run has rows that a refinement added. */
static bool is_refined(struct store *st, bool *ret, struct diags *diags)
{
    *ret = false;
    for (size_t m = 0; m < store_models(st) && !*ret; m++) {
        size_t n;
        uint64_t *points = store_refined(st, m, &n, diags);
        if (!points) return false;
        *ret = n > 0;
        free(points);
    }
    return true;
}

bool goal_front(struct store *st, const struct goal *g, size_t *ret_n, struct diags *diags)
{
    bool refined;
    if (!is_refined(st, &refined, diags)) return false;
    struct scan scan = {.goal = g, .n = g->budget.n ? g->budget.n + 1 : 1};
    const struct scan_columns columns = goal_columns(g);
    for (size_t i = 0; i < scan.n; i++) scan.fronts[i] = grouped_front_new((int)g->n, g->maximise);
    bool ok = true;
    for (; ok && scan.model < store_models(st); scan.model++)
        ok = store_scan(st, scan.model, refined ? STORE_REFINED : STORE_FIRST, &columns, add_point, &scan, diags);
    ok = ok && store_all(st, &scan, ret_n, diags) &&
         store_notices(st, (const char *const *)g->columns, g->n, (const char *const *)g->per, g->n_per, diags);
    for (size_t i = 0; i < scan.n; i++) grouped_front_free(scan.fronts[i]);
    return ok;
}
