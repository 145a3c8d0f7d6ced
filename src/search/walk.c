#include "search/walk.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAF = 32,                        /* points of a box that is evaluated: a bound takes as long as several */
    LEAF_AT_ONCE = WALKER_POINTS_MAX, /* the same where points are evaluated at once, too */
    MOVED = 16,                       /* points of a box that is evaluated rather than asked how they move */
    PAUSE_MAX = 15,                   /* boxes, each a part of the one before, that are not asked so */
    CLOCK_EVERY = 16                  /* boxes from one look at the clock to the next */
};

static const struct walk_frame *frame(const struct walk *w)
{
    return walker_frame(w->walker);
}

static const struct lattice *lattice(const struct walk *w)
{
    return frame(w)->lattices[w->now->space];
}

static uint32_t *now_lo(const struct walk *w)
{
    return box_lo(w->now);
}

static uint32_t *now_hi(const struct walk *w)
{
    return box_hi(frame(w), w->now);
}

struct walk *walk_new(struct walker *walker)
{
    struct walk *w = xcalloc(1, sizeof *w);
    w->walker = walker;
    const size_t axes = frame(w)->axes_max;
    w->now = box_new(frame(w));
    w->halves = xcalloc(axes + 1, sizeof *w->halves);
    w->asks = xcalloc(2 * axes + 1, sizeof *w->asks);
    w->ends = xcalloc((2 * axes + 1) * (axes + 1), sizeof *w->ends);
    return w;
}

void walk_free(struct walk *w)
{
    if (!w) return;
    for (size_t i = 0; i < w->stack_capacity; i++) free(w->stack[i]);
    free(w->stack);
    free(w->now);
    free(w->halves);
    free(w->asks);
    free(w->ends);
    free(w);
}

/* ---- boxes ----------------------------------------------------------------------------------------------------------------- */

/* Room for one more box on the stack, which stays the walk's. */
static struct box *push(struct walk *w)
{
    if (w->n_stack == w->stack_capacity) {
        w->stack_capacity = w->stack_capacity ? 2 * w->stack_capacity : 64;
        w->stack = xrealloc(w->stack, w->stack_capacity, sizeof(struct box *));
        for (size_t i = w->n_stack; i < w->stack_capacity; i++) w->stack[i] = box_new(frame(w));
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

/* Does something that was met cover the costs? */
static bool is_covered(struct walk *w, const double *costs, struct lattice_point *ret_by)
{
    const struct walk_frame *f = frame(w);
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

/* Is a box that was bounded closed? Logs it if so. */
static bool is_closed(struct walk *w, const uint32_t *lo, const uint32_t *hi, struct probe *p)
{
    if (p->end == BOX_OPEN && is_covered(w, p->costs, &p->by)) p->end = BOX_DOMINATED;
    if (p->end == BOX_OPEN) return false;
    walker_log_box(w->walker, w->now->space, lo, hi, p);
    return true;
}

/* ---- points ---------------------------------------------------------------------------------------------------------------- */

static void meet(struct walk *w, uint64_t point, const double *costs)
{
    const struct walk_frame *f = frame(w);
    struct lattice_point by;
    struct walk_result *r = w->result;
    if (is_covered(w, costs, &by)) return;
    if (r->n == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 16;
        r->costs = xrealloc(r->costs, r->capacity * f->objectives, sizeof *r->costs);
        r->at = xrealloc(r->at, r->capacity, sizeof *r->at);
    }
    memcpy(r->costs + r->n * f->objectives, costs, f->objectives * sizeof *costs);
    r->at[r->n++] = (struct lattice_point){w->now->space, point};
}

static void meet_all(struct walk *w, const uint64_t *points, size_t n)
{
    double costs[WALKER_POINTS_MAX * FRONT_OBJECTIVES_MAX];
    bool there[WALKER_POINTS_MAX];
    if (!walker_evaluate_all(w->walker, w->now->space, points, n, costs, there)) return;
    for (size_t i = 0; i < n; i++)
        if (there[i]) meet(w, points[i], costs + i * frame(w)->objectives);
}

/* Evaluate every point of the box at hand, if they are few. */
static bool evaluate_few(struct walk *w)
{
    const struct lattice *l = lattice(w);
    const uint32_t *lo = now_lo(w), *hi = now_hi(w);
    uint32_t *at = w->ends;
    if (lattice_volume(l, lo, hi) > (walker_is_at_once(w->walker, w->now->space) ? LEAF_AT_ONCE : LEAF)) return false;
    memcpy(at, lo, frame(w)->axes_max * sizeof *at);
    uint64_t points[WALKER_POINTS_MAX];
    size_t n = 0;
    for (;;) {
        points[n++] = lattice_index(l, at);
        size_t a = lattice_axes(l);
        while (a > 0 && at[a - 1] == hi[a - 1]) {
            a--;
            at[a] = lo[a];
        }
        if (a == 0) break;
        at[a - 1]++;
    }
    meet_all(w, points, n);
    walker_log_box(w->walker, w->now->space, lo, hi, &(struct probe){.end = BOX_EVALUATED});
    return true;
}

/* ---- asking ---------------------------------------------------------------------------------------------------------------- */

static void ask_now(struct walk *w, enum ask_kind kind)
{
    w->asks[w->n_asks++] = (struct ask){now_lo(w), now_hi(w), &w->probe};
    w->asks_for = kind;
    w->has_guides = kind == ASK_GUIDES || !walker_is_at_once(w->walker, w->now->space);
}

/* The end of a half that is not the box's. */
static void half_end(const struct walk *w, size_t axis, bool upper, uint32_t *ret)
{
    const uint32_t *lo = now_lo(w), *hi = now_hi(w), middle = lo[axis] + (hi[axis] - lo[axis]) / 2;
    memcpy(ret, upper ? lo : hi, frame(w)->axes_max * sizeof *ret);
    ret[axis] = upper ? middle + 1 : middle;
}

static void ask_halves(struct walk *w, size_t axis, bool guides)
{
    struct halves *h = &w->halves[axis];
    uint32_t *lower = w->ends + w->n_asks * frame(w)->axes_max, *upper = lower + frame(w)->axes_max;
    half_end(w, axis, false, lower);
    half_end(w, axis, true, upper);
    w->asks[w->n_asks++] = (struct ask){now_lo(w), lower, &h->lower};
    w->asks[w->n_asks++] = (struct ask){upper, now_hi(w), &h->upper};
    w->asks_for = guides ? ASK_GUIDES : ASK_COSTS;
    h->is_known = true;
    h->has_guides = guides || !walker_is_at_once(w->walker, w->now->space);
}

static bool is_narrow(const struct walk *w, size_t axis)
{
    return now_lo(w)[axis] == now_hi(w)[axis];
}

/* Those along this axis, and where it costs little those along the others, too, which are looked at next unless one is cut off. */
static void ask_next_halves(struct walk *w)
{
    const bool at_once = walker_is_at_once(w->walker, w->now->space);
    for (size_t a = at_once ? 0 : w->axis; a < (at_once ? lattice_axes(lattice(w)) : w->axis + 1); a++)
        if (!is_narrow(w, a) && !w->halves[a].is_known) ask_halves(w, a, false);
}

static void forget_halves(struct walk *w)
{
    for (size_t a = 0; a < lattice_axes(lattice(w)); a++) w->halves[a].is_known = w->halves[a].is_open = false;
}

/* What the split of the box is decided by. False: it is known. */
static bool ask_guides(struct walk *w)
{
    if (!w->has_guides) ask_now(w, ASK_GUIDES);
    for (size_t a = 0; a < lattice_axes(lattice(w)); a++)
        if (!is_narrow(w, a) && !w->halves[a].has_guides) ask_halves(w, a, true);
    return w->n_asks > 0;
}

/* ---- splitting ------------------------------------------------------------------------------------------------------------- */

/* Put both halves along an axis on the stack. costs: of the halves, which were bounded; NULL: those of the box. */
static void split(struct walk *w, size_t axis, const double *lower_costs, const double *upper_costs)
{
    const struct walk_frame *f = frame(w);
    for (int upper = 1; upper >= 0; upper--) {
        struct box *b = push(w);
        memcpy(b, w->now, box_bytes(f));
        const uint32_t lo = box_lo(b)[axis], hi = box_hi(f, b)[axis], middle = lo + (hi - lo) / 2;
        const double *costs = upper ? upper_costs : lower_costs;
        if (upper)
            box_lo(b)[axis] = middle + 1;
        else
            box_hi(f, b)[axis] = middle;
        b->is_bounded = costs != NULL;
        if (costs) memcpy(b->costs, costs, f->objectives * sizeof *costs);
    }
}

/* The first axis that must be split before the box is bounded, or SIZE_MAX. */
static size_t unsplit_axis(const struct walk *w)
{
    for (size_t a = 0; a < lattice_axes(lattice(w)); a++)
        if (lattice_axis_is_split(lattice(w), a) && !is_narrow(w, a)) return a;
    return SIZE_MAX;
}

/* How much the halves' bounds gain on those of the box: a product over the guides, each factor a thousandfold, so that it stays a
 * number. */
static double gain(const struct walk_guides *g, const struct probe *box, const struct halves *h)
{
    const double least = 1e-6, scale = 1e3, most = 10;
    double product = 1;
    for (size_t k = 0; k < g->n; k++) {
        const double v = box->guides[k], up = (h->lower.guides[k] - v) + (h->upper.guides[k] - v);
        const double share = v != 0 && isfinite(v) && isfinite(up) ? dse_clamp(up / fabs(v), 0, most) : 0;
        product *= (share + least) * scale;
    }
    return product;
}

/* Split the box along the axis that gains most. */
static void split_best(struct walk *w)
{
    const struct walk_guides *g = &frame(w)->guides[w->now->space];
    size_t best = SIZE_MAX;
    double most = 0;
    for (size_t a = 0; a < lattice_axes(lattice(w)); a++) {
        if (is_narrow(w, a)) continue;
        const double gains = gain(g, &w->probe, &w->halves[a]);
        if (best != SIZE_MAX && !(gains > most)) continue;
        best = a;
        most = gains;
    }
    split(w, best, w->halves[best].lower.costs, w->halves[best].upper.costs);
}

/* ---- moving ---------------------------------------------------------------------------------------------------------------- */

/* Is the place that the rest of the box may be worse than the last one of the axis, rather than the first? */
static bool is_upward(const struct walk *w, size_t axis)
{
    return frame(w)->guides[w->now->space].upward >> axis & 1;
}

/* Axes of several places along which boxes may be worse. */
static uint32_t worse_axes(const struct walk *w)
{
    uint32_t ret = frame(w)->guides[w->now->space].worse;
    for (size_t a = 0; ret && a < lattice_axes(lattice(w)); a++)
        if (is_narrow(w, a)) ret &= ~(UINT32_C(1) << a);
    return ret;
}

/* The half of the box that is away from the place that it may be worse than: where that of its own is. */
static uint32_t far_place(const struct walk *w, size_t axis)
{
    const uint32_t lo = now_lo(w)[axis], hi = now_hi(w)[axis], half = (hi - lo + 1) / 2;
    return is_upward(w, axis) ? hi - half : lo + half;
}

/* Ask where points of the box at hand may become better, and of its far halves, if the answer may save more than it costs. */
static bool ask_moves(struct walk *w)
{
    const uint32_t worse = worse_axes(w);
    if (!worse || lattice_volume(lattice(w), now_lo(w), now_hi(w)) <= MOVED) return false;
    if (w->now->wait > 0) {
        w->now->wait--;
        return false;
    }
    w->probe = (struct probe){.end = BOX_OPEN};
    ask_now(w, ASK_MOVES);
    w->stage = WALK_MOVE;
    for (size_t a = 0; a < lattice_axes(lattice(w)); a++) {
        const uint32_t place = far_place(w, a);
        uint32_t *end = w->ends + w->n_asks * frame(w)->axes_max;
        if (!(worse >> a & 1) || place == now_lo(w)[a] || place == now_hi(w)[a]) continue;
        memcpy(end, is_upward(w, a) ? now_hi(w) : now_lo(w), frame(w)->axes_max * sizeof *end);
        end[a] = place;
        w->halves[a].upper = (struct probe){.end = BOX_OPEN, .better = moves_any(~0u)};
        w->asks[w->n_asks++] =
            is_upward(w, a) ? (struct ask){now_lo(w), end, &w->halves[a].upper} : (struct ask){end, now_hi(w), &w->halves[a].upper};
    }
    return true;
}

/* Cut off what lies beyond a place of the axis, which it is worse than. */
static void cut_beyond(struct walk *w, size_t axis, uint32_t place)
{
    uint32_t *lo = now_lo(w), *hi = now_hi(w);
    const uint32_t first = lo[axis], last = hi[axis];
    const struct probe worse = {.end = BOX_WORSE, .along = (uint32_t)axis, .than = place};
    const bool up = is_upward(w, axis);
    *(up ? &hi[axis] : &lo[axis]) = up ? place - 1 : place + 1;
    walker_log_box(w->walker, w->now->space, lo, hi, &worse);
    lo[axis] = up ? place : first;
    hi[axis] = up ? last : place;
}

/* Cut off what is worse than another place on its axis. False: nothing is; then its halves wait before they are asked, the longer
 * the more often nothing was. */
static bool cut_worse(struct walk *w)
{
    const uint32_t worse = worse_axes(w);
    bool any = false;
    for (size_t a = 0; a < lattice_axes(lattice(w)); a++) {
        if (!(worse >> a & 1)) continue;
        const bool up = is_upward(w, a);
        const uint32_t far = far_place(w, a), first = up ? now_hi(w)[a] : now_lo(w)[a], last = up ? now_lo(w)[a] : now_hi(w)[a];
        const struct probe *half = &w->halves[a].upper;
        if (!((up ? w->probe.better.down : w->probe.better.up) >> a & 1))
            cut_beyond(w, a, first);
        else if (far != first && far != last && half->end == BOX_OPEN && !((up ? half->better.down : half->better.up) >> a & 1))
            cut_beyond(w, a, far);
        else
            continue;
        any = true;
    }
    w->now->pause = any ? 0 : w->now->pause < PAUSE_MAX ? (uint8_t)(2 * w->now->pause + 1) : PAUSE_MAX;
    w->now->wait = w->now->pause;
    return any;
}

/* ---- shaving --------------------------------------------------------------------------------------------------------------- */

/* Look at the halves along the axis at hand: cut off one that can be closed, or go to the next axis. False: both can be. */
static bool look_at_halves(struct walk *w)
{
    struct halves *h = &w->halves[w->axis];
    uint32_t *lo = now_lo(w), *hi = now_hi(w), *end = w->ends;
    half_end(w, w->axis, false, end);
    const bool lower = is_closed(w, lo, end, &h->lower);
    half_end(w, w->axis, true, end);
    const bool upper = is_closed(w, end, hi, &h->upper);
    if (lower && upper) return false;
    if (!lower && !upper) {
        h->is_open = true;
        w->axis++;
        return true;
    }
    const uint32_t middle = lo[w->axis] + (hi[w->axis] - lo[w->axis]) / 2;
    w->is_cut = true;
    w->probe = lower ? h->upper : h->lower;
    w->has_guides = h->has_guides;
    if (lower)
        lo[w->axis] = middle + 1;
    else
        hi[w->axis] = middle;
    forget_halves(w);
    return true;
}

static void begin_shaving(struct walk *w)
{
    w->stage = WALK_SHAVE;
    w->axis = 0;
    w->is_cut = false;
    forget_halves(w);
}

/* Cut off halves of the box at hand, over all axes until none is cut. Sets the stage that comes next; asks if it needs bounds. */
static void shave(struct walk *w)
{
    for (;;) {
        if (w->axis == lattice_axes(lattice(w))) {
            w->stage = w->is_cut ? WALK_NEXT : WALK_GUIDE;
            if (!w->is_cut || ask_moves(w) || evaluate_few(w)) return;
            begin_shaving(w);
        } else if (is_narrow(w, w->axis) || w->halves[w->axis].is_open) {
            w->axis++;
        } else if (!w->halves[w->axis].is_known) {
            ask_next_halves(w);
            return;
        } else if (!look_at_halves(w)) {
            w->stage = WALK_NEXT;
            return;
        }
    }
}

/* ---- the walk -------------------------------------------------------------------------------------------------------------- */

static bool is_time(const struct walk *w)
{
    const struct walk_frame *f = frame(w);
    if (walker_error(w->walker) || (f->interrupt && *f->interrupt)) return true;
    return f->deadline > 0 && w->looked % CLOCK_EVERY == 0 && walk_now() > f->deadline;
}

void walk_begin(struct walk *w, const struct box *b, size_t boxes, struct walk_result *ret)
{
    *ret = (struct walk_result){0};
    w->result = ret;
    w->hint = SIZE_MAX;
    w->n_stack = w->n_asks = w->looked = 0;
    w->most = boxes;
    w->stage = WALK_NEXT;
    memcpy(push(w), b, box_bytes(frame(w)));
}

/* Take a box from the stack. A half has been bounded with its box. */
static void take_box(struct walk *w)
{
    memcpy(w->now, w->stack[--w->n_stack], box_bytes(frame(w)));
    w->looked++;
    const size_t axis = unsplit_axis(w);
    if (axis != SIZE_MAX) {
        split(w, axis, NULL, NULL);
        return;
    }
    w->stage = WALK_BOX;
    w->probe = (struct probe){.end = BOX_OPEN};
    w->has_guides = false;
    if (w->now->is_bounded)
        memcpy(w->probe.costs, w->now->costs, sizeof w->probe.costs);
    else
        ask_now(w, ASK_COSTS);
}

static void look_at_box(struct walk *w)
{
    w->stage = WALK_NEXT;
    if (is_closed(w, now_lo(w), now_hi(w), &w->probe) || ask_moves(w) || evaluate_few(w)) return;
    begin_shaving(w);
}

static void look_at_moves(struct walk *w)
{
    w->stage = WALK_NEXT;
    if (is_closed(w, now_lo(w), now_hi(w), &w->probe) || (cut_worse(w) && ask_moves(w)) || evaluate_few(w)) return;
    begin_shaving(w);
}

bool walk_step(struct walk *w)
{
    w->n_asks = 0;
    while (w->n_asks == 0) {
        switch (w->stage) {
        case WALK_NEXT:
            if (w->n_stack == 0 || w->looked >= w->most || is_time(w)) {
                for (size_t i = 0; i < w->n_stack; i++) leave_box(frame(w), w->result, w->stack[i]);
                return false;
            }
            take_box(w);
            break;
        case WALK_BOX: look_at_box(w); break;
        case WALK_MOVE: look_at_moves(w); break;
        case WALK_SHAVE: shave(w); break;
        case WALK_GUIDE:
            if (ask_guides(w)) return true;
            split_best(w);
            w->stage = WALK_NEXT;
        }
    }
    return true;
}
