/* The front while a sweep is refined.
 *
 * Event level is slower than the closed form nearly everywhere. Beside rows at event level the closed form of every other point
 * would look better than it is, and what is far behind the front would have to be carried out to show that it is. So a point
 * without event level is taken to change by the most favourable factor, objective by objective, that was seen in its group: among
 * the points of its model that share its front. What it leaves out would be on the front only if it changed more favourably than
 * all of those.
 */
#include "sweep/refine_internal.h"

#include "analysis/grouped_front.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    struct grouped_front *front;
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
    refine_closed_form(r, id);
    goal_values(r->goal, r->job->spaces[s->model], r->cells[s->model], closed);
    for (size_t k = 0; k < r->goal->n; k++) {
        double f = values[k] / closed[k];
        if (values[k] > 0 && closed[k] > 0 && isfinite(f)) c.factor[k] = f;
    }
    s->changes.list = xrealloc(s->changes.list, s->changes.n + 1, sizeof c);
    s->changes.list[s->changes.n++] = c;
}

/* Is the row within the loosest budget, whose front is refined? */
static bool is_within(const struct scan *s, const struct scan_row *row)
{
    return goal_fronts(s->refining->goal, row) & 1u;
}

static void add_event_row(void *user, const struct scan_row *row)
{
    struct scan *s = user;
    uint64_t id = s->model << ID_MODEL_SHIFT | row->point;
    if (!is_within(s, row) || !ids_have(&s->refining->planned, id)) return;
    grouped_front_add(s->front, row->group, id, row->values);
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
    grouped_front_add(s->front, row->group, id, s->corrected);
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

bool refine_front(const struct refining *r, struct ids *ret)
{
    double corrected[SWEEP_OBJECTIVES_MAX];
    struct scan s = {.refining = r, .front = grouped_front_new((int)r->goal->n, r->goal->maximise), .corrected = corrected};
    bool ok = scan_rows(&s, STORE_REFINED, add_event_row);
    changes_join(&s.changes, r->goal);
    ok = ok && scan_rows(&s, STORE_FIRST, add_closed_row);
    ret->n = 0;
    if (ok) {
        const uint64_t *ids;
        size_t n = grouped_front_finish(s.front, &ids, NULL);
        for (size_t i = 0; i < n; i++) ids_add(ret, ids[i]);
        ids_sort(ret);
    }
    grouped_front_free(s.front);
    changes_release(&s.changes);
    return ok;
}
