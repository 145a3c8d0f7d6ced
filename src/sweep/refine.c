/* Refining a sweep: event level where it matters.
 *
 * In rounds: the front, or that of each budget, as far as it is known; then event level for the points on it that have none or,
 * when all of them have it, for their neighbours. It ends when a round adds nothing: every point of the front, and every feasible
 * neighbour of one, has a row at event level; or when [refine] runs are used up. The front of the sweep is then that of the rows
 * at event level.
 *
 * What a round adds depends on the rows of the closed form and on those of the rounds before, and on nothing else: a run that was
 * killed goes through the same rounds again and finds their rows there already.
 */
#include "analysis/grouped_front.h"
#include "base/xalloc.h"
#include "sweep/sweep_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An id is a point of any of the models, as in goal.c. */
enum { ID_MODEL_SHIFT = 56 };
#define ID_POINT_MASK (((uint64_t)1 << ID_MODEL_SHIFT) - 1)

/* A list of ids. ids_have expects them in ascending order and each once, as ids_sort leaves them. */
struct ids {
    uint64_t *id;
    size_t n, capacity;
};

struct refining {
    struct job *job;
    const struct goal *goal;
    struct evaluator **evaluators; /* one for each space, of the closed form */
    union cell **cells;            /* room for one row of each space */
    struct ids there;              /* the points that have a row at event level */
    struct ids planned;            /* the points of this round and those before */
};

/* ---- ids ----------------------------------------------------------------------------------------------------------------- */

static void ids_add(struct ids *l, uint64_t id)
{
    if (l->n == l->capacity) {
        l->capacity = l->capacity ? 2 * l->capacity : 64;
        l->id = xrealloc(l->id, l->capacity, sizeof *l->id);
    }
    l->id[l->n++] = id;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool ids_have(const struct ids *l, uint64_t id)
{
    return l->n && bsearch(&id, l->id, l->n, sizeof *l->id, by_value);
}

static void ids_sort(struct ids *l)
{
    if (l->n) qsort(l->id, l->n, sizeof *l->id, by_value);
    size_t kept = 0;
    for (size_t i = 0; i < l->n; i++)
        if (i == 0 || l->id[i] != l->id[i - 1]) l->id[kept++] = l->id[i];
    l->n = kept;
}

static void ids_release(struct ids *l)
{
    free(l->id);
    *l = (struct ids){0};
}

/* ---- one round ----------------------------------------------------------------------------------------------------------- */

static bool evaluate_closed_form(const struct refining *r, uint64_t id)
{
    size_t m = (size_t)(id >> ID_MODEL_SHIFT);
    struct row row;
    return evaluator_run(r->evaluators[m], id & ID_POINT_MASK, 1, r->cells[m], &row) && row_is_within(&row);
}

/* The neighbours of a point on the front that are not planned. */
static void add_neighbours(const struct refining *r, uint64_t id, struct ids *wanted)
{
    uint64_t near[SPACE_NEIGHBOURS_MAX];
    size_t n = space_neighbours(r->job->spaces[id >> ID_MODEL_SHIFT], id & ID_POINT_MASK, near);
    for (size_t i = 0; i < n; i++) {
        uint64_t other = (id & ~ID_POINT_MASK) | near[i];
        if (!ids_have(&r->planned, other)) ids_add(wanted, other);
    }
}

/* Its feasible neighbours, ascending, as long as there are runs left. */
static void want_neighbours(const struct refining *r, const struct ids *front, uint64_t left, struct ids *wanted)
{
    struct ids near = {0};
    for (size_t i = 0; i < front->n; i++) add_neighbours(r, front->id[i], &near);
    ids_sort(&near);
    for (size_t i = 0; i < near.n && wanted->n < left; i++)
        if (evaluate_closed_form(r, near.id[i])) ids_add(wanted, near.id[i]);
    ids_release(&near);
}

/* Add to `planned` what the front asks for: the points on it, else their neighbours. Those of points that will have left the
 * front by the next round would be in vain. Returns how many were added. */
static size_t plan(struct refining *r, const struct ids *front)
{
    uint64_t left = r->job->sweep->refine_runs - r->planned.n;
    struct ids wanted = {0};
    for (size_t i = 0; i < front->n && wanted.n < left; i++)
        if (!ids_have(&r->planned, front->id[i])) ids_add(&wanted, front->id[i]);
    if (wanted.n == 0 && r->job->sweep->refine_neighbours) want_neighbours(r, front, left, &wanted);
    size_t added = wanted.n;
    for (size_t i = 0; i < wanted.n; i++) ids_add(&r->planned, wanted.id[i]);
    ids_sort(&r->planned);
    ids_release(&wanted);
    return added;
}

/* The planned points of space m that have no row yet, as ranges. The caller frees it. */
static struct range *missing(const struct refining *r, size_t m, size_t *ret_n)
{
    struct range *ranges = NULL;
    *ret_n = 0;
    for (size_t i = 0; i < r->planned.n; i++) {
        uint64_t id = r->planned.id[i], point = id & ID_POINT_MASK;
        if (id >> ID_MODEL_SHIFT != m || ids_have(&r->there, id)) continue;
        if (*ret_n && ranges[*ret_n - 1].last + 1 == point) {
            ranges[*ret_n - 1].last = point;
            continue;
        }
        ranges = xrealloc(ranges, *ret_n + 1, sizeof *ranges);
        ranges[(*ret_n)++] = (struct range){point, point};
    }
    return ranges;
}

static bool simulate_planned(struct refining *r)
{
    struct job *job = r->job;
    uint64_t done = 0;
    for (size_t i = 0; i < r->planned.n; i++) done += ids_have(&r->there, r->planned.id[i]);
    char name[48];
    snprintf(name, sizeof name, "event level, round %d", job->result->rounds);
    sweep_phase(job, name, r->planned.n, done);
    bool ok = true;
    for (size_t m = 0; ok && m < job->n_spaces && !job->result->interrupted; m++) {
        size_t n;
        struct range *ranges = missing(r, m, &n);
        if (n) ok = sweep_simulate(job, m, ranges, n, true);
        free(ranges);
    }
    for (size_t i = 0; i < r->planned.n; i++) ids_add(&r->there, r->planned.id[i]);
    ids_sort(&r->there);
    return ok;
}

/* ---- all of them --------------------------------------------------------------------------------------------------------- */

static bool find_there(struct refining *r)
{
    for (size_t m = 0; m < r->job->n_spaces; m++) {
        size_t n;
        uint64_t *points = store_refined(r->job->store, m, &n, r->job->diags);
        if (!points) return false;
        for (size_t i = 0; i < n; i++) ids_add(&r->there, (uint64_t)m << ID_MODEL_SHIFT | points[i]);
        free(points);
    }
    return true;
}

/* What became of the front of the closed form, and whether the last fronts are refined throughout. */
static void sum_up(const struct refining *r, const struct ids *before, const struct ids *front, const struct ids *all)
{
    struct sweep_result *result = r->job->result;
    result->refined = r->planned.n;
    result->front_before = before->n;
    for (size_t i = 0; i < front->n; i++) result->front_stayed += ids_have(before, front->id[i]);
    for (size_t i = 0; i < all->n; i++) result->front_unrefined += !ids_have(&r->planned, all->id[i]);
}

/* The front while a sweep is refined.
 *
 * Event level is slower than the closed form nearly everywhere. Beside rows at event level the closed form of every other point
 * would look better than it is, and what is far behind the front would have to be carried out to show that it is. So a point
 * without event level is taken to change by the most favourable factor, objective by objective, that was seen in its group: among
 * the points of its model that share its front. What it leaves out would be on the front only if it changed more favourably than
 * all of those.
 */

/* What the planned points of a model with one group changed by: event level over closed form, the best of each objective. */
struct change {
    uint64_t model;
    const char *group;
    char *owned;                         /* the group, of those in a list */
    double factor[SWEEP_OBJECTIVES_MAX]; /* 0: none known */
};

struct changes {
    struct change *list; /* sorted by model and group once all are known */
    size_t n;
};

static int by_group(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->model != y->model) return (x->model > y->model) - (x->model < y->model);
    return strcmp(x->group, y->group);
}

static void changes_release(struct changes *c)
{
    for (size_t i = 0; i < c->n; i++) free(c->list[i].owned);
    free(c->list);
}

/* Join the changes of single points into one for each group: the best of them. */
static void changes_join(struct changes *c, const struct goal *g)
{
    if (c->n) qsort(c->list, c->n, sizeof *c->list, by_group);
    size_t kept = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (kept == 0 || by_group(&c->list[kept - 1], &c->list[i]) != 0) {
            c->list[kept++] = c->list[i];
            continue;
        }
        for (size_t k = 0; k < g->n; k++) {
            double *best = &c->list[kept - 1].factor[k], f = c->list[i].factor[k];
            if (f > 0 && (*best == 0 || (g->maximise[k] ? f > *best : f < *best))) *best = f;
        }
        free(c->list[i].owned);
    }
    c->n = kept;
}

struct scan {
    const struct refining *refining;
    struct grouped_front *fronts[BUDGETS_MAX]; /* of each budget */
    size_t n;
    struct changes changes;
    uint64_t model;
    double *corrected;
};

/* ---- rows at event level ------------------------------------------------------------------------------------------------- */

static void add_change(struct scan *s, uint64_t id, const double *values, const char *group)
{
    const struct refining *r = s->refining;
    double closed[SWEEP_OBJECTIVES_MAX];
    struct change c = {.model = s->model, .owned = xstrdup(group)};
    c.group = c.owned;
    evaluate_closed_form(r, id);
    goal_values(r->goal, r->job->spaces[s->model], r->cells[s->model], closed);
    for (size_t k = 0; k < r->goal->n; k++) {
        double f = values[k] / closed[k];
        if (values[k] > 0 && closed[k] > 0 && isfinite(f)) c.factor[k] = f;
    }
    s->changes.list = xrealloc(s->changes.list, s->changes.n + 1, sizeof c);
    s->changes.list[s->changes.n++] = c;
}

/* Add a row to the front of every budget that it keeps. */
static void add_to_fronts(const struct scan *s, const struct scan_row *row, uint64_t id, const double *values)
{
    const unsigned fronts = goal_fronts(s->refining->goal, row);
    for (size_t i = 0; i < s->n; i++)
        if (fronts & 1u << i) grouped_front_add(s->fronts[i], row->group, id, values);
}

/* Is the row within the loosest budget? */
static bool is_within(const struct scan *s, const struct scan_row *row)
{
    return goal_fronts(s->refining->goal, row) & 1u;
}

static void add_event_row(void *user, const struct scan_row *row)
{
    struct scan *s = user;
    uint64_t id = s->model << ID_MODEL_SHIFT | row->point;
    if (!is_within(s, row) || !ids_have(&s->refining->planned, id)) return;
    add_to_fronts(s, row, id, row->values);
    add_change(s, id, row->values, row->group);
}

/* ---- the others ---------------------------------------------------------------------------------------------------------- */

static void add_closed_row(void *user, const struct scan_row *row)
{
    struct scan *s = user;
    const struct refining *r = s->refining;
    uint64_t id = s->model << ID_MODEL_SHIFT | row->point;
    if (!is_within(s, row) || ids_have(&r->planned, id)) return;
    struct change key = {.model = s->model, .group = row->group};
    const struct change *c = s->changes.n ? bsearch(&key, s->changes.list, s->changes.n, sizeof key, by_group) : NULL;
    for (size_t k = 0; k < r->goal->n; k++)
        s->corrected[k] = c && c->factor[k] > 0 ? row->values[k] * c->factor[k] : row->values[k];
    add_to_fronts(s, row, id, s->corrected);
}

static bool scan_rows(struct scan *s, enum store_rows rows, void (*visit)(void *, const struct scan_row *))
{
    const struct refining *r = s->refining;
    const struct goal *g = r->goal;
    const struct scan_columns columns = goal_columns(g);
    bool ok = true;
    for (s->model = 0; ok && s->model < r->job->n_spaces; s->model++)
        ok = store_scan(r->job->store, s->model, rows, &columns, visit, s, r->job->diags);
    return ok;
}

/* Close the fronts: the points of the loosest budget's, and those of any. */
static void take_fronts(struct scan *s, struct ids *loosest, struct ids *all)
{
    loosest->n = all->n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t *ids;
        const size_t n = grouped_front_finish(s->fronts[i], &ids, NULL);
        for (size_t k = 0; k < n; k++) ids_add(all, ids[k]);
        for (size_t k = 0; i == 0 && k < n; k++) ids_add(loosest, ids[k]);
    }
    ids_sort(loosest);
    ids_sort(all);
}

static bool find_fronts(const struct refining *r, struct ids *loosest, struct ids *all)
{
    double corrected[SWEEP_OBJECTIVES_MAX];
    struct scan s = {.refining = r, .n = r->goal->budget.n > 1 ? r->goal->budget.n : 1, .corrected = corrected};
    for (size_t i = 0; i < s.n; i++) s.fronts[i] = grouped_front_new((int)r->goal->n, r->goal->maximise);
    bool ok = scan_rows(&s, STORE_REFINED, add_event_row);
    changes_join(&s.changes, r->goal);
    ok = ok && scan_rows(&s, STORE_FIRST, add_closed_row);
    if (ok) take_fronts(&s, loosest, all);
    for (size_t i = 0; i < s.n; i++) grouped_front_free(s.fronts[i]);
    changes_release(&s.changes);
    return ok;
}

static bool run_rounds(struct refining *r)
{
    struct ids front = {0}, before = {0}, all = {0};
    bool ok = find_there(r), more = true;
    while (ok && more && !r->job->result->interrupted) {
        ok = find_fronts(r, &front, &all);
        if (r->job->result->rounds == 0)
            for (size_t i = 0; ok && i < front.n; i++) ids_add(&before, front.id[i]);
        more = ok && plan(r, &all) > 0;
        if (!more) break;
        r->job->result->rounds++;
        ok = simulate_planned(r);
        if (sweep_interrupted(r->job)) r->job->result->interrupted = true;
    }
    if (ok) sum_up(r, &before, &front, &all);
    ids_release(&front);
    ids_release(&before);
    ids_release(&all);
    return ok;
}

bool sweep_refine(struct job *job, const struct goal *goal)
{
    struct refining r = {.job = job,
                         .goal = goal,
                         .evaluators = xcalloc(job->n_spaces, sizeof(struct evaluator *)),
                         .cells = xcalloc(job->n_spaces, sizeof(union cell *))};
    for (size_t m = 0; m < job->n_spaces; m++) {
        size_t columns;
        space_columns(job->spaces[m], &columns);
        r.evaluators[m] = evaluator_new(job->spaces[m], FIDELITY_CLOSED_FORM, NULL);
        r.cells[m] = xcalloc(columns, sizeof(union cell));
    }
    bool ok = run_rounds(&r);
    for (size_t m = 0; m < job->n_spaces; m++) {
        evaluator_free(r.evaluators[m]);
        free(r.cells[m]);
    }
    free(r.evaluators);
    free(r.cells);
    ids_release(&r.there);
    ids_release(&r.planned);
    return ok;
}
