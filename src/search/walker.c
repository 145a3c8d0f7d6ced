#include "search/walker.h"

#include "base/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LEAF = 32,       /* points of a box that is evaluated: a bound takes as long as several */
    CLOCK_EVERY = 16 /* boxes from one look at the clock to the next */
};

/* What is known of a box. */
struct probe {
    enum box_end end; /* BOX_OPEN: it cannot be closed */
    uint32_t constraint;
    struct lattice_point by;
    double costs[FRONT_OBJECTIVES_MAX];
    double guides[WALK_GUIDES_MAX];
};

struct walker {
    const struct walk_frame *frame;
    struct evaluator **evaluators;
    struct bounds **bounds;
    void *lo_params, *hi_params;
    struct box **stack; /* each as deep as it once was */
    size_t n_stack, stack_capacity;
    struct box *now; /* the box at hand */
    uint32_t *half;  /* an end of a half of it */
    struct walk_result *result;
    size_t hint; /* of the archive: who covered last */
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

static size_t box_bytes(const struct walk_frame *f)
{
    return sizeof(struct box) + 2 * f->axes_max * sizeof(uint32_t);
}

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

/* Room for one more box on the stack, which stays the walker's. */
static struct box *push(struct walker *w)
{
    if (w->n_stack == w->stack_capacity) {
        w->stack_capacity = w->stack_capacity ? 2 * w->stack_capacity : 64;
        w->stack = xrealloc(w->stack, w->stack_capacity, sizeof(struct box *));
        for (size_t i = w->n_stack; i < w->stack_capacity; i++) w->stack[i] = box_new(w->frame);
    }
    return w->stack[w->n_stack++];
}

static void leave_box(const struct walk_frame *f, struct walk_result *r, const struct box *b)
{
    if (r->n_left == r->left_capacity) {
        r->left_capacity = r->left_capacity ? 2 * r->left_capacity : 32;
        r->left = xrealloc(r->left, r->left_capacity, sizeof(struct box *));
    }
    struct box *copy = r->left[r->n_left++] = xmalloc(box_bytes(f));
    memcpy(copy, b, box_bytes(f));
}

/* ---- closing --------------------------------------------------------------------------------------------------------------- */

static void log_box(struct walker *w, const uint32_t *lo, const uint32_t *hi, const struct probe *p)
{
    const struct walk_frame *f = w->frame;
    w->counts.boxes[p->end]++;
    if (p->end != BOX_OPEN) w->counts.closed += (double)lattice_volume(f->lattices[w->now->space], lo, hi);
    if (!w->log) return;
    double best[FRONT_OBJECTIVES_MAX];
    for (size_t j = 0; j < f->objectives; j++) best[j] = f->maximise[j] ? -p->costs[j] : p->costs[j];
    const struct certificate_box box = {.space = w->now->space,
                                        .end = p->end,
                                        .constraint = p->constraint,
                                        .by = p->by,
                                        .lo = lo,
                                        .hi = hi,
                                        .best = p->end == BOX_DOMINATED || p->end == BOX_OPEN ? best : NULL};
    box_log_add(w->log, &box);
}

/* Does something that was met cover the costs? */
static bool is_covered(struct walker *w, const double *costs, struct lattice_point *ret_by)
{
    const struct walk_frame *f = w->frame;
    const struct archive *a = f->archives[w->now->group];
    const size_t member = archive_cover(a, costs, w->hint);
    if (member != SIZE_MAX) {
        w->hint = member;
        *ret_by = archive_at(a, member);
        return true;
    }
    const struct walk_result *r = w->result;
    for (size_t i = 0; i < r->n; i++) {
        if (!costs_cover(r->costs + i * f->objectives, costs, f->objectives, WALK_TOLERANCE)) continue;
        *ret_by = r->at[i];
        return true;
    }
    return false;
}

/* ---- bounding -------------------------------------------------------------------------------------------------------------- */

static double best_of(struct bounds *b, size_t column, bool maximise)
{
    const struct dse_interval i = bounds_column(b, column);
    const double best = maximise ? -i.hi : i.lo;
    return isnan(best) ? -(double)INFINITY : best;
}

static void bound(struct walker *w, const uint32_t *lo, const uint32_t *hi, struct probe *p)
{
    const struct walk_frame *f = w->frame;
    const uint32_t space = w->now->space;
    struct bounds *b = w->bounds[space];
    size_t constraint = 0;
    lattice_enclose(f->lattices[space], lo, hi, w->lo_params, w->hi_params);
    w->counts.bounds++;
    *p = (struct probe){.end = BOX_OPEN};
    const enum bounds_of of = bounds_box(b, w->lo_params, w->hi_params, &constraint);
    if (of != BOUNDS_SOME) {
        p->end = of == BOUNDS_IMPOSSIBLE ? BOX_IMPOSSIBLE : BOX_REFUSED;
        p->constraint = of == BOUNDS_REFUSED ? (uint32_t)constraint : 0;
        return;
    }
    for (size_t j = 0; j < f->objectives; j++) p->costs[j] = best_of(b, f->columns[space][j], f->maximise[j]);
    if (is_covered(w, p->costs, &p->by)) {
        p->end = BOX_DOMINATED;
        return;
    }
    const struct walk_guides *g = &f->guides[space];
    for (size_t k = 0; k < g->n; k++) p->guides[k] = best_of(b, g->columns[k], g->maximise[k]);
}

/* The lower or the upper half along an axis. */
static void bound_half(struct walker *w, size_t axis, bool upper, struct probe *p)
{
    const struct walk_frame *f = w->frame;
    const uint32_t *lo = box_lo(w->now), *hi = box_hi(f, w->now), middle = lo[axis] + (hi[axis] - lo[axis]) / 2;
    memcpy(w->half, upper ? lo : hi, f->axes_max * sizeof *w->half);
    w->half[axis] = upper ? middle + 1 : middle;
    bound(w, upper ? w->half : lo, upper ? hi : w->half, p);
    if (p->end != BOX_OPEN) log_box(w, upper ? w->half : lo, upper ? hi : w->half, p);
}

bool walker_bound(struct walker *w, struct box *b)
{
    struct walk_result none = {0};
    struct probe p;
    memcpy(w->now, b, box_bytes(w->frame));
    w->result = &none;
    bound(w, box_lo(w->now), box_hi(w->frame, w->now), &p);
    memcpy(b->costs, p.costs, w->frame->objectives * sizeof *b->costs);
    return p.end == BOX_OPEN || p.end == BOX_DOMINATED;
}

/* ---- points ---------------------------------------------------------------------------------------------------------------- */

bool walker_evaluate(struct walker *w, uint32_t space, uint64_t point, double *costs)
{
    const struct walk_frame *f = w->frame;
    double violation;
    w->counts.evaluations++;
    if (!evaluator_probe(w->evaluators[space], point, f->columns[space], f->objectives, costs, &violation)) {
        w->error = evaluator_error(w->evaluators[space]);
        return false;
    }
    if (violation > 0) return false;
    for (size_t j = 0; j < f->objectives; j++) {
        if (!isfinite(costs[j])) return false;
        if (f->maximise[j]) costs[j] = -costs[j];
    }
    return true;
}

static void meet(struct walker *w, uint64_t point)
{
    const struct walk_frame *f = w->frame;
    double costs[FRONT_OBJECTIVES_MAX];
    struct lattice_point by;
    struct walk_result *r = w->result;
    if (!walker_evaluate(w, w->now->space, point, costs) || is_covered(w, costs, &by)) return;
    if (r->n == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 16;
        r->costs = xrealloc(r->costs, r->capacity * f->objectives, sizeof *r->costs);
        r->at = xrealloc(r->at, r->capacity, sizeof *r->at);
    }
    memcpy(r->costs + r->n * f->objectives, costs, f->objectives * sizeof *costs);
    r->at[r->n++] = (struct lattice_point){w->now->space, point};
}

/* Evaluate every point of the box. */
static void evaluate_all(struct walker *w)
{
    const struct walk_frame *f = w->frame;
    const struct lattice *l = f->lattices[w->now->space];
    const uint32_t *lo = box_lo(w->now), *hi = box_hi(f, w->now);
    uint32_t *at = w->half;
    memcpy(at, lo, f->axes_max * sizeof *at);
    for (;;) {
        meet(w, lattice_index(l, at));
        size_t a = lattice_axes(l);
        while (a > 0 && at[a - 1] == hi[a - 1]) {
            a--;
            at[a] = lo[a];
        }
        if (a == 0) break;
        at[a - 1]++;
    }
    log_box(w, lo, hi, &(struct probe){.end = BOX_EVALUATED});
}

/* ---- splitting ------------------------------------------------------------------------------------------------------------- */

/* Put both halves along an axis on the stack. costs: of the halves; NULL: those of the box. */
static void split(struct walker *w, size_t axis, const double *lower_costs, const double *upper_costs)
{
    const struct walk_frame *f = w->frame;
    for (int upper = 1; upper >= 0; upper--) {
        struct box *b = push(w);
        memcpy(b, w->now, box_bytes(f));
        const uint32_t lo = box_lo(b)[axis], hi = box_hi(f, b)[axis], middle = lo + (hi - lo) / 2;
        const double *costs = upper ? upper_costs : lower_costs;
        if (upper)
            box_lo(b)[axis] = middle + 1;
        else
            box_hi(f, b)[axis] = middle;
        if (costs) memcpy(b->costs, costs, f->objectives * sizeof *costs);
    }
}

/* The first axis that must be split before the box is bounded, or SIZE_MAX. */
static size_t unsplit_axis(const struct walker *w)
{
    const struct lattice *l = w->frame->lattices[w->now->space];
    for (size_t a = 0; a < lattice_axes(l); a++)
        if (lattice_axis_is_split(l, a) && box_lo(w->now)[a] < box_hi(w->frame, w->now)[a]) return a;
    return SIZE_MAX;
}

/* How much the halves' bounds gain on those of the box: a product over the guides, each factor a thousandfold, so that it stays a
 * number. */
static double gain(const struct walk_guides *g, const struct probe *box, const struct probe *lower, const struct probe *upper)
{
    const double least = 1e-6, scale = 1e3, most = 10;
    double product = 1;
    for (size_t k = 0; k < g->n; k++) {
        const double v = box->guides[k], up = (lower->guides[k] - v) + (upper->guides[k] - v);
        const double share = v != 0 && isfinite(v) && isfinite(up) ? dse_clamp(up / fabs(v), 0, most) : 0;
        product *= (share + least) * scale;
    }
    return product;
}

/* The best way to split the box that is left when nothing more can be cut off. */
struct choice {
    size_t axis; /* SIZE_MAX: none */
    double gain;
    struct probe lower, upper;
};

/* Cut off the halves along one axis that can be closed. False: the whole box is. */
static bool shave(struct walker *w, size_t axis, struct probe *p, struct choice *best, bool *cut)
{
    const struct walk_frame *f = w->frame;
    uint32_t *lo = box_lo(w->now), *hi = box_hi(f, w->now);
    while (lo[axis] < hi[axis]) {
        struct probe lower, upper;
        const uint32_t middle = lo[axis] + (hi[axis] - lo[axis]) / 2;
        bound_half(w, axis, false, &lower);
        bound_half(w, axis, true, &upper);
        if (lower.end != BOX_OPEN && upper.end != BOX_OPEN) return false;
        if (lower.end == BOX_OPEN && upper.end == BOX_OPEN) {
            const double g = gain(&f->guides[w->now->space], p, &lower, &upper);
            if (best->axis == SIZE_MAX || g > best->gain) *best = (struct choice){axis, g, lower, upper};
            return true;
        }
        *cut = true;
        if (lower.end == BOX_OPEN)
            hi[axis] = middle;
        else
            lo[axis] = middle + 1;
        *p = lower.end == BOX_OPEN ? lower : upper;
    }
    return true;
}

/* Decide the box at hand, or put what is left of it on the stack. */
static void look(struct walker *w)
{
    const struct walk_frame *f = w->frame;
    const struct lattice *l = f->lattices[w->now->space];
    struct probe p;
    struct choice best = {.axis = unsplit_axis(w)};
    if (best.axis != SIZE_MAX) {
        split(w, best.axis, NULL, NULL);
        return;
    }
    bound(w, box_lo(w->now), box_hi(f, w->now), &p);
    if (p.end != BOX_OPEN) {
        log_box(w, box_lo(w->now), box_hi(f, w->now), &p);
        return;
    }
    for (bool cut = true; cut;) {
        if (lattice_volume(l, box_lo(w->now), box_hi(f, w->now)) <= LEAF) {
            evaluate_all(w);
            return;
        }
        cut = false;
        best.axis = SIZE_MAX;
        for (size_t a = 0; a < lattice_axes(l); a++)
            if (!shave(w, a, &p, &best, &cut)) return;
    }
    split(w, best.axis, best.lower.costs, best.upper.costs);
}

/* ---- the walk -------------------------------------------------------------------------------------------------------------- */

static bool is_time(const struct walker *w, size_t looked)
{
    const struct walk_frame *f = w->frame;
    if (w->error || (f->interrupt && *f->interrupt)) return true;
    return f->deadline > 0 && looked % CLOCK_EVERY == 0 && walk_now() > f->deadline;
}

void walker_run(struct walker *w, struct box *b, size_t boxes, struct walk_result *ret)
{
    *ret = (struct walk_result){0};
    w->result = ret;
    w->hint = SIZE_MAX;
    w->n_stack = 0;
    memcpy(push(w), b, box_bytes(w->frame));
    for (size_t looked = 0; w->n_stack && looked < boxes && !is_time(w, looked); looked++) {
        memcpy(w->now, w->stack[--w->n_stack], box_bytes(w->frame));
        look(w);
    }
    for (size_t i = 0; i < w->n_stack; i++) leave_box(w->frame, ret, w->stack[i]);
}

static void end_box(struct walker *w, struct box *b, struct probe *p)
{
    memcpy(w->now, b, box_bytes(w->frame));
    memcpy(p->costs, b->costs, sizeof p->costs);
    log_box(w, box_lo(b), box_hi(w->frame, b), p);
}

void walker_leave(struct walker *w, struct box *b)
{
    end_box(w, b, &(struct probe){.end = BOX_OPEN});
}

void walker_close(struct walker *w, struct box *b, struct lattice_point by)
{
    end_box(w, b, &(struct probe){.end = BOX_DOMINATED, .by = by});
}

struct walker *walker_new(const struct walk_frame *f)
{
    struct walker *w = xcalloc(1, sizeof *w);
    size_t params = 0, *axes = xcalloc(f->n_spaces, sizeof *axes);
    w->frame = f;
    w->evaluators = xcalloc(f->n_spaces, sizeof(struct evaluator *));
    w->bounds = xcalloc(f->n_spaces, sizeof(struct bounds *));
    for (size_t s = 0; s < f->n_spaces; s++) {
        if (space_model(f->spaces[s])->desc->params_size > params) params = space_model(f->spaces[s])->desc->params_size;
        axes[s] = lattice_axes(f->lattices[s]);
        w->evaluators[s] = evaluator_new(f->spaces[s], FIDELITY_CLOSED_FORM, NULL);
        w->bounds[s] = bounds_new(f->spaces[s]);
    }
    w->lo_params = xcalloc(1, params);
    w->hi_params = xcalloc(1, params);
    w->now = box_new(f);
    w->half = xcalloc(f->axes_max + 1, sizeof *w->half);
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
    }
    for (size_t i = 0; i < w->stack_capacity; i++) free(w->stack[i]);
    box_log_free(w->log);
    free(w->stack);
    free(w->evaluators);
    free(w->bounds);
    free(w->lo_params);
    free(w->hi_params);
    free(w->now);
    free(w->half);
    free(w);
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
