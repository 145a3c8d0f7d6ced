#include "search/walk.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct walker {
    const struct walk_frame *frame;
    struct evaluator **evaluators;
    struct bounds **bounds;
    bool **costs, **guides; /* by space: what is wanted of bounds; NULL: not asked yet */
    struct walk *walks[WALKS_MAX];
    struct walk_counts counts;
    struct box_log *log;
    const char *error;
};

double walk_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- boxes ----------------------------------------------------------------------------------------------------------------- */

struct box *box_new(const struct walk_frame *f)
{
    struct box *b = xcalloc(1, box_bytes(f));
    for (size_t j = 0; j < f->objectives; j++) b->costs[j] = -INFINITY;
    return b;
}

void walk_result_release(struct walk_result *r)
{
    for (size_t i = 0; i < r->n_left; i++) free(r->left[i]);
    free(r->left);
    free(r->costs);
    free(r->at);
    *r = (struct walk_result){0};
}

/* ---- logging --------------------------------------------------------------------------------------------------------------- */

void walker_log_box(struct walker *w, uint32_t space, const uint32_t *lo, const uint32_t *hi, const struct probe *p)
{
    const struct walk_frame *f = w->frame;
    w->counts.boxes[p->end]++;
    if (p->end != BOX_OPEN) w->counts.closed += (double)lattice_volume(f->lattices[space], lo, hi);
    if (!w->log) return;
    double best[FRONT_OBJECTIVES_MAX];
    for (size_t j = 0; j < f->objectives; j++) best[j] = f->maximise[j] ? -p->costs[j] : p->costs[j];
    const struct certificate_box box = {.space = space,
                                        .end = p->end,
                                        .constraint = p->constraint,
                                        .by = p->by,
                                        .along = p->along,
                                        .than = p->than,
                                        .lo = lo,
                                        .hi = hi,
                                        .best = p->end == BOX_DOMINATED || p->end == BOX_OPEN ? best : NULL};
    box_log_add(w->log, &box);
}

/* ---- bounding -------------------------------------------------------------------------------------------------------------- */

static double best_of(struct bounds *b, size_t column, bool maximise)
{
    const struct dse_interval i = bounds_column(b, column);
    const double best = maximise ? -i.hi : i.lo;
    return isnan(best) ? -(double)INFINITY : best;
}

static void read_guides(struct walker *w, uint32_t space, struct probe *p)
{
    const struct walk_guides *g = &w->frame->guides[space];
    for (size_t k = 0; k < g->n; k++) p->guides[k] = best_of(w->bounds[space], g->columns[k], g->maximise[k]);
}

/* What the bounds say of box i of those that were bounded last. */
static void read_costs(struct walker *w, uint32_t space, size_t i, struct probe *p)
{
    const struct walk_frame *f = w->frame;
    size_t constraint = 0;
    const enum bounds_of of = bounds_take(w->bounds[space], i, &constraint);
    p->end = of == BOUNDS_SOME ? BOX_OPEN : of == BOUNDS_IMPOSSIBLE ? BOX_IMPOSSIBLE : BOX_REFUSED;
    p->constraint = of == BOUNDS_REFUSED ? (uint32_t)constraint : 0;
    for (size_t j = 0; j < f->objectives && of == BOUNDS_SOME; j++)
        p->costs[j] = best_of(w->bounds[space], f->columns[space][j], f->maximise[j]);
    if (of == BOUNDS_SOME && !walker_is_at_once(w, space)) read_guides(w, space, p);
}

/* Boxes of a space whose bounds are needed, of one kind. */
struct asked {
    uint32_t space;
    enum ask_kind kind;
    const uint32_t *lo[BOUNDS_MANY_MAX], *hi[BOUNDS_MANY_MAX];
    struct probe *to[BOUNDS_MANY_MAX];
    size_t n;
};

static const bool *wanted_of(struct walker *w, const struct asked *a)
{
    const struct walk_guides *g = &w->frame->guides[a->space];
    const bool guides = a->kind == ASK_GUIDES;
    bool **ret = guides ? &w->guides[a->space] : &w->costs[a->space];
    const size_t *columns = guides ? g->columns : w->frame->columns[a->space];
    if (!*ret) *ret = bounds_wanted(w->bounds[a->space], columns, guides ? g->n : w->frame->objectives);
    return *ret;
}

static struct graph_moves better(struct walker *w, uint32_t space)
{
    const struct walk_frame *f = w->frame;
    return bounds_better(w->bounds[space], f->columns[space], f->maximise, f->objectives);
}

struct graph_moves walker_better(struct walker *w, uint32_t space, const uint32_t *lo, const uint32_t *hi)
{
    const struct asked a = {.space = space, .kind = ASK_MOVES};
    size_t constraint;
    bounds_many_moved(w->bounds[space], &lo, &hi, 1, wanted_of(w, &a));
    w->counts.bounds++;
    return bounds_take(w->bounds[space], 0, &constraint) == BOUNDS_SOME ? better(w, space) : moves_any(~0u);
}

static void answer(struct walker *w, struct asked *a)
{
    size_t constraint;
    if (a->n == 0) return;
    (a->kind == ASK_MOVES ? bounds_many_moved : bounds_many)(w->bounds[a->space], a->lo, a->hi, a->n, wanted_of(w, a));
    for (size_t i = 0; i < a->n; i++) {
        if (a->kind != ASK_GUIDES)
            read_costs(w, a->space, i, a->to[i]);
        else if (bounds_take(w->bounds[a->space], i, &constraint) == BOUNDS_SOME)
            read_guides(w, a->space, a->to[i]);
        if (a->kind == ASK_MOVES && a->to[i]->end == BOX_OPEN) a->to[i]->better = better(w, a->space);
    }
    if (a->kind != ASK_GUIDES) w->counts.bounds += a->n;
    a->n = 0;
}

/* Answer what the walk asks, if it is of this kind; later, while there is room. */
static void collect(struct walker *w, struct walk *k, struct asked *a)
{
    if (k->now->space != a->space || k->asks_for != a->kind) return;
    for (size_t i = 0; i < k->n_asks; i++) {
        if (a->n == BOUNDS_MANY_MAX) answer(w, a);
        a->lo[a->n] = k->asks[i].lo;
        a->hi[a->n] = k->asks[i].hi;
        a->to[a->n++] = k->asks[i].to;
    }
    k->n_asks = 0;
}

/* Answer what these walks ask, all boxes of one kind together. */
static void answer_all(struct walker *w, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct walk *k = w->walks[i];
        if (k->n_asks == 0) continue;
        struct asked a = {.space = k->now->space, .kind = k->asks_for};
        for (size_t j = i; j < n; j++) collect(w, w->walks[j], &a);
        answer(w, &a);
    }
}

bool walker_bound(struct walker *w, struct box *b)
{
    const uint32_t *lo = box_lo(b), *hi = box_hi(w->frame, b);
    struct probe p = {.end = BOX_OPEN};
    bounds_many(w->bounds[b->space], &lo, &hi, 1, NULL);
    w->counts.bounds++;
    read_costs(w, b->space, 0, &p);
    memcpy(b->costs, p.costs, w->frame->objectives * sizeof *b->costs);
    return p.end == BOX_OPEN;
}

/* ---- points ---------------------------------------------------------------------------------------------------------------- */

bool walker_evaluate_all(struct walker *w, uint32_t space, const uint64_t *points, size_t n, double *costs, bool *ret_there)
{
    const struct walk_frame *f = w->frame;
    double violations[WALKER_POINTS_MAX];
    w->counts.evaluations += n;
    if (!evaluator_probe_many(w->evaluators[space], points, n, f->columns[space], f->objectives, costs, violations)) {
        w->error = evaluator_error(w->evaluators[space]);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        double *of_point = costs + i * f->objectives;
        ret_there[i] = violations[i] <= 0;
        for (size_t j = 0; j < f->objectives; j++) {
            ret_there[i] = ret_there[i] && isfinite(of_point[j]);
            if (f->maximise[j]) of_point[j] = -of_point[j];
        }
    }
    return true;
}

bool walker_evaluate(struct walker *w, uint32_t space, uint64_t point, double *costs)
{
    bool there;
    return walker_evaluate_all(w, space, &point, 1, costs, &there) && there;
}

/* ---- walks ----------------------------------------------------------------------------------------------------------------- */

void walker_run(struct walker *w, struct box *const *b, size_t n, size_t boxes, struct walk_result *ret)
{
    bool goes_on[WALKS_MAX], any = true;
    for (size_t i = 0; i < n; i++) {
        if (!w->walks[i]) w->walks[i] = walk_new(w);
        walk_begin(w->walks[i], b[i], boxes, &ret[i]);
        goes_on[i] = true;
    }
    while (any) {
        any = false;
        for (size_t i = 0; i < n; i++) {
            goes_on[i] = goes_on[i] && walk_step(w->walks[i]);
            any = any || goes_on[i];
        }
        answer_all(w, n);
    }
}

static void end_box(struct walker *w, struct box *b, struct probe *p)
{
    memcpy(p->costs, b->costs, sizeof p->costs);
    walker_log_box(w, b->space, box_lo(b), box_hi(w->frame, b), p);
}

void walker_leave(struct walker *w, struct box *b)
{
    end_box(w, b, &(struct probe){.end = BOX_OPEN});
}

void walker_close(struct walker *w, struct box *b, struct lattice_point by)
{
    end_box(w, b, &(struct probe){.end = BOX_DOMINATED, .by = by});
}

static void enclose(const void *l, const uint32_t *lo, const uint32_t *hi, void *lo_params, void *hi_params)
{
    lattice_enclose(l, lo, hi, lo_params, hi_params);
}

struct walker *walker_new(const struct walk_frame *f)
{
    struct walker *w = xcalloc(1, sizeof *w);
    size_t *axes = xcalloc(f->n_spaces, sizeof *axes);
    w->frame = f;
    w->evaluators = xcalloc(f->n_spaces, sizeof(struct evaluator *));
    w->bounds = xcalloc(f->n_spaces, sizeof(struct bounds *));
    w->costs = xcalloc(f->n_spaces, sizeof(bool *));
    w->guides = xcalloc(f->n_spaces, sizeof(bool *));
    for (size_t s = 0; s < f->n_spaces; s++) {
        axes[s] = lattice_axes(f->lattices[s]);
        w->evaluators[s] = evaluator_new(f->spaces[s], FIDELITY_CLOSED_FORM, NULL);
        w->bounds[s] = bounds_new(f->spaces[s]);
        bounds_set_lattice(w->bounds[s], &(struct bounds_lattice){f->lattices[s], enclose, lattice_moves(f->lattices[s])});
    }
    w->log = box_log_new(axes, f->n_spaces, f->objectives, f->keep_boxes);
    free(axes);
    return w;
}

void walker_free(struct walker *w)
{
    if (!w) return;
    for (size_t s = 0; s < w->frame->n_spaces; s++) {
        evaluator_free(w->evaluators[s]);
        bounds_free(w->bounds[s]);
        free(w->costs[s]);
        free(w->guides[s]);
    }
    for (size_t i = 0; i < WALKS_MAX; i++) walk_free(w->walks[i]);
    box_log_free(w->log);
    free(w->evaluators);
    free(w->bounds);
    free(w->costs);
    free(w->guides);
    free(w);
}

const struct walk_frame *walker_frame(const struct walker *w)
{
    return w->frame;
}

bool walker_is_at_once(const struct walker *w, uint32_t space)
{
    return bounds_are_at_once(w->bounds[space]);
}

bool walker_knows_moves(const struct walker *w, uint32_t space)
{
    return bounds_are_at_once(w->bounds[space]) && lattice_moves(w->frame->lattices[space]);
}

size_t walker_width(const struct walker *w)
{
    for (uint32_t s = 0; s < w->frame->n_spaces; s++)
        if (walker_is_at_once(w, s)) return WALKS_MAX;
    return 1;
}

struct bounds *walker_bounds(struct walker *w, size_t space)
{
    return w->bounds[space];
}

struct walk_counts walker_counts(const struct walker *w)
{
    return w->counts;
}

struct box_log *walker_log(struct walker *w)
{
    struct box_log *log = w->log;
    w->log = NULL;
    return log;
}

const char *walker_error(const struct walker *w)
{
    return w->error;
}
