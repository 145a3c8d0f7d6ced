/* The boxes of a certificate: bounded again, evaluated again, and points drawn in them. */
#include "search/check_internal.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "search/row_groups.h"
#include "space/bounds.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a thread -------------------------------------------------------------------------------------------------------------- */

struct worker {
    struct checking *c;
    struct evaluator **evaluators;
    struct bounds **bounds;
    union cell *cells;
    void *lo, *hi, *point;
    uint32_t *at;
    struct text group;
    size_t hint;               /* the row that covered the last point */
    uint64_t evaluated, drawn; /* points */
    double gap;
};

/* Rows of a front, by number. */
struct group_rows {
    size_t *rows, n;
};

static struct group_rows *rows_by_group(const struct checking *c)
{
    struct group_rows *g = xcalloc(c->n_groups + 1, sizeof *g);
    for (size_t i = 0; i < c->n_rows; i++) {
        struct group_rows *of = &g[c->rows[i].group];
        of->rows = xrealloc(of->rows, of->n + 1, sizeof *of->rows);
        of->rows[of->n++] = i;
    }
    return g;
}

static void worker_init(struct worker *w, struct checking *c)
{
    *w = (struct worker){.c = c, .hint = SIZE_MAX};
    size_t params = 1, columns = 1, axes = 1;
    w->evaluators = xcalloc(c->n_spaces, sizeof(struct evaluator *));
    w->bounds = xcalloc(c->n_spaces, sizeof(struct bounds *));
    for (size_t m = 0; m < c->n_spaces; m++) {
        size_t n;
        space_columns(c->spaces[m].space, &n);
        if (n > columns) columns = n;
        const size_t size = space_model(c->spaces[m].space)->desc->params_size;
        if (size > params) params = size;
        if (c->spaces[m].axes > axes) axes = c->spaces[m].axes;
        w->evaluators[m] = evaluator_new(c->spaces[m].space, FIDELITY_CLOSED_FORM, NULL);
        w->bounds[m] = bounds_new(c->spaces[m].space);
    }
    w->cells = xcalloc(columns, sizeof *w->cells);
    w->lo = xmalloc(params);
    w->hi = xmalloc(params);
    w->point = xmalloc(params);
    w->at = xcalloc(axes, sizeof *w->at);
}

static void worker_release(struct worker *w)
{
    for (size_t m = 0; m < w->c->n_spaces; m++) {
        evaluator_free(w->evaluators[m]);
        bounds_free(w->bounds[m]);
    }
    free(w->evaluators);
    free(w->bounds);
    free(w->cells);
    free(w->lo);
    free(w->hi);
    free(w->point);
    free(w->at);
    text_release(&w->group);
}

/* A problem of a box, whose name stands in front. */
static void wrong_box(struct worker *w, size_t m, size_t box, const char *what)
{
    char *name = checking_box_name(w->c, m, box);
    checking_wrong(w->c, "%s: %s", name, what);
    free(name);
}

/* ---- points ---------------------------------------------------------------------------------------------------------------- */

enum outcome { POINT_FAILED, POINT_REFUSED, POINT_WITHOUT, POINT_THERE };

/* Evaluate the point at w->at: its objectives, if it has them all. */
static enum outcome evaluate(struct worker *w, size_t m, double *ret)
{
    const struct checked_space *s = &w->c->spaces[m];
    struct row row;
    size_t n;
    const struct column *columns = space_columns(s->space, &n);
    if (!evaluator_run(w->evaluators[m], lattice_index(s->lattice, w->at), 1, w->cells, &row)) {
        checking_wrong(w->c, "%s", evaluator_error(w->evaluators[m]));
        return POINT_FAILED;
    }
    if (!row_is_within(&row)) return POINT_REFUSED;
    for (size_t j = 0; j < w->c->sweep->n_objectives; j++) {
        const size_t k = s->columns[j];
        if (k == SIZE_MAX) return POINT_WITHOUT;
        const union cell v = w->cells[k];
        ret[j] = columns[k].type == DSE_TYPE_F64 ? v.f64 : v.i64 == INT64_MIN ? (double)NAN : (double)v.i64;
        if (!isfinite(ret[j])) return POINT_WITHOUT;
    }
    return POINT_THERE;
}

static bool covers(const struct worker *w, size_t row, const double *values)
{
    const struct checking *c = w->c;
    return certificate_covers(c->rows[row].values, values, c->maximise, c->sweep->n_objectives, c->run.head.tolerance);
}

static size_t group_of(struct worker *w, size_t m, const void *params)
{
    const struct checking *c = w->c;
    const char *name = row_group(c->sweep, space_model(c->spaces[m].space), params, &w->group);
    for (size_t g = 0; g < c->n_groups; g++)
        if (strcmp(c->groups[g], name) == 0) return g;
    return SIZE_MAX;
}

/* A point of an evaluated box: a row of its front must be as good. */
static void check_evaluated_point(struct worker *w, size_t m, size_t box, const struct group_rows *groups)
{
    const struct checked_space *s = &w->c->spaces[m];
    double values[SWEEP_OBJECTIVES_MAX];
    w->evaluated++;
    if (evaluate(w, m, values) != POINT_THERE) return;
    space_point(s->space, lattice_index(s->lattice, w->at), w->point);
    const size_t g = group_of(w, m, w->point);
    if (g != SIZE_MAX && w->hint != SIZE_MAX && w->c->rows[w->hint].group == g && covers(w, w->hint, values)) return;
    for (size_t i = 0; g != SIZE_MAX && i < groups[g].n; i++) {
        if (!covers(w, groups[g].rows[i], values)) continue;
        w->hint = groups[g].rows[i];
        return;
    }
    char *what =
        xasprintf("its point %" PRIu64 " is feasible and better than every row of its front", lattice_index(s->lattice, w->at));
    wrong_box(w, m, box, what);
    free(what);
}

static void check_evaluated(struct worker *w, size_t m, size_t box, const struct group_rows *groups)
{
    const struct checked_space *s = &w->c->spaces[m];
    const uint32_t *lo = s->ends + box * 2 * s->axes, *hi = lo + s->axes;
    memcpy(w->at, lo, s->axes * sizeof *w->at);
    while (!checking_stopped(w->c)) {
        check_evaluated_point(w, m, box, groups);
        size_t a = s->axes;
        while (a > 0 && w->at[a - 1] == hi[a - 1]) {
            a--;
            w->at[a] = lo[a];
        }
        if (a == 0) return;
        w->at[a - 1]++;
    }
}

/* ---- boxes that are bounded -------------------------------------------------------------------------------------------------- */

/* Between the parameters of the box's corners, w->lo and w->hi, number by number; everything else the same. */
static const struct field *outside(const struct worker *w, const struct schema *params)
{
    for (size_t i = 0; i < params->n; i++) {
        const struct field *f = &params->fields[i];
        if (!field_is_number(f)) {
            if (!field_same(f, w->lo, w->point)) return f;
            continue;
        }
        const double v = field_number(f, w->point);
        if (!isnan(v) && (v < field_number(f, w->lo) || v > field_number(f, w->hi))) return f;
    }
    return NULL;
}

/* Is a value better than what the bound says is the best of the box? The bound may be off by rounding. */
static bool is_better(double value, double best, bool maximise)
{
    const double slack = 4e-12 * fabs(best);
    return maximise ? value > best + slack : value < best - slack;
}

/* A point of the box at w->at, which was bounded with `best`. */
static bool check_drawn(struct worker *w, size_t m, size_t box, const double *best)
{
    const struct checking *c = w->c;
    const struct checked_space *s = &c->spaces[m];
    const struct model *model = space_model(s->space);
    const enum box_end end = s->boxes[box].end;
    const uint64_t index = lattice_index(s->lattice, w->at);
    double values[SWEEP_OBJECTIVES_MAX];
    char *what = NULL;
    w->drawn++;
    space_point(s->space, index, w->point);
    const struct field *f = outside(w, &model->params);
    const enum outcome is = evaluate(w, m, values);
    if (f)
        what = xasprintf("%s of its point %" PRIu64 " does not lie between the corners that were bounded", f->name, index);
    else if (end == BOX_IMPOSSIBLE && (!model->desc->check || !model->desc->check(w->point)))
        what = xasprintf("the bound says that nothing in it can be built, and its point %" PRIu64 " can", index);
    else if (end == BOX_REFUSED && (is == POINT_THERE || is == POINT_WITHOUT))
        what = xasprintf("a constraint is said to refuse all of it, and its point %" PRIu64 " is feasible", index);
    else if (best && is == POINT_THERE) {
        for (size_t j = 0; !what && j < c->sweep->n_objectives; j++)
            if (is_better(values[j], best[j], c->maximise[j]))
                what = xasprintf("the bound of %s is %.12g, and its point %" PRIu64 " has %.12g", c->sweep->objectives[j].column,
                                 best[j], index, values[j]);
    }
    if (!what) return true;
    wrong_box(w, m, box, what);
    free(what);
    return false;
}

/* The next of a sequence of numbers that looks random (Steele et al. 2014, splitmix64). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static void draw(struct worker *w, size_t m, size_t box, const double *best)
{
    const struct checked_space *s = &w->c->spaces[m];
    const uint32_t *lo = s->ends + box * 2 * s->axes, *hi = lo + s->axes;
    memcpy(w->at, lo, s->axes * sizeof *w->at);
    if (!check_drawn(w, m, box, best) || memcmp(lo, hi, s->axes * sizeof *lo) == 0) return;
    memcpy(w->at, hi, s->axes * sizeof *w->at);
    uint64_t state = s->boxes[box].number;
    bool ok = check_drawn(w, m, box, best);
    for (int i = 0; ok && i < w->c->options->samples; i++) {
        for (size_t a = 0; a < s->axes; a++) w->at[a] = lo[a] + (uint32_t)(next_random(&state) % ((uint64_t)hi[a] - lo[a] + 1));
        ok = check_drawn(w, m, box, best);
    }
}

static bool same_bound(double a, double b)
{
    return a == b || (isfinite(a) && isfinite(b) && fabs(a - b) <= 1e-9 * fabs(b));
}

/* By how much the row misses `best`, relative to it, in its worst objective. */
static double gap_to(const struct checking *c, size_t row, const double *best)
{
    double gap = 0;
    for (size_t j = 0; j < c->sweep->n_objectives; j++) {
        const double off = c->maximise[j] ? best[j] - c->rows[row].values[j] : c->rows[row].values[j] - best[j];
        if (!(off <= 0)) gap = isfinite(off) && best[j] != 0 ? fmax(gap, off / fabs(best[j])) : (double)INFINITY;
    }
    return gap;
}

static void widen_gap(struct worker *w, size_t group, const double *best, const struct group_rows *groups)
{
    double gap = (double)INFINITY;
    for (size_t i = 0; group != SIZE_MAX && i < groups[group].n; i++) gap = fmin(gap, gap_to(w->c, groups[group].rows[i], best));
    w->gap = fmax(w->gap, gap);
}

/* Do stored bounds agree with those that the models give now? Of a box that is left open they may be those of a larger one. */
static bool agree(struct worker *w, size_t m, size_t box, const double *stored, const double *now)
{
    const struct checking *c = w->c;
    for (size_t j = 0; j < c->sweep->n_objectives; j++) {
        const bool looser = c->maximise[j] ? stored[j] >= now[j] : stored[j] <= now[j];
        if (same_bound(stored[j], now[j]) || (c->spaces[m].boxes[box].end == BOX_OPEN && looser)) continue;
        char *what = xasprintf("its bound of %s is %.12g in the certificate and %.12g in this dse", c->sweep->objectives[j].column,
                               stored[j], now[j]);
        wrong_box(w, m, box, what);
        free(what);
        return false;
    }
    return true;
}

/* What the bounds say of the box now, against why it was closed. */
static bool check_end(struct worker *w, size_t m, size_t box, enum bounds_of of, size_t constraint, const double *now,
                      const struct group_rows *groups)
{
    struct checking *c = w->c;
    const struct checked_box *b = &c->spaces[m].boxes[box];
    const struct model *model = space_model(c->spaces[m].space);
    const char *what = NULL;
    if (b->end == BOX_IMPOSSIBLE && of != BOUNDS_IMPOSSIBLE)
        what = "it is closed as impossible, and the model's bound does not say so";
    else if (b->end == BOX_REFUSED && (of != BOUNDS_REFUSED || constraint != b->constraint))
        what = "it is closed as refused, and the constraint may hold in it";
    else if (b->end == BOX_DOMINATED && of != BOUNDS_SOME)
        what = "it is closed as dominated, and the bounds say that nothing in it is feasible";
    if (!what && of == BOUNDS_SOME && b->best != SIZE_MAX && !agree(w, m, box, c->best + b->best, now)) return false;
    const bool one = row_group_is_one(c->sweep, model, w->lo, w->hi);
    const size_t group = one ? group_of(w, m, w->lo) : SIZE_MAX;
    if (!what && b->end == BOX_DOMINATED && (group == SIZE_MAX || c->rows[b->by].group != group))
        what = "the row that is said to dominate it is of another front";
    else if (!what && b->end == BOX_DOMINATED && !(covers(w, b->by, now) && covers(w, b->by, c->best + b->best)))
        what = "the row that is said to dominate it is worse than what it may hold";
    if (b->end == BOX_OPEN) widen_gap(w, group, c->best + b->best, groups);
    if (what) wrong_box(w, m, box, what);
    return !what;
}

/* Must a box that is bounded have one place where this one has several? */
static bool can_be_bounded(const struct checked_space *s, const uint32_t *lo, const uint32_t *hi)
{
    for (size_t a = 0; a < s->axes; a++)
        if (lattice_axis_is_split(s->lattice, a) && lo[a] != hi[a]) return false;
    return true;
}

static void check_bounded(struct worker *w, size_t m, size_t box, const struct group_rows *groups)
{
    struct checking *c = w->c;
    const struct checked_space *s = &c->spaces[m];
    const uint32_t *lo = s->ends + box * 2 * s->axes, *hi = lo + s->axes;
    const enum box_end end = s->boxes[box].end;
    if (!can_be_bounded(s, lo, hi)) {
        if (end == BOX_OPEN)
            w->gap = (double)INFINITY;
        else
            wrong_box(w, m, box, "it is closed by a bound, and holds several names of an axis");
        return;
    }
    size_t constraint = 0;
    double now[SWEEP_OBJECTIVES_MAX];
    lattice_enclose(s->lattice, lo, hi, w->lo, w->hi);
    const enum bounds_of of = bounds_box(w->bounds[m], w->lo, w->hi, &constraint);
    for (size_t j = 0; of == BOUNDS_SOME && j < c->sweep->n_objectives; j++) {
        const struct dse_interval v = s->columns[j] == SIZE_MAX ? dse_unbounded : bounds_column(w->bounds[m], s->columns[j]);
        now[j] = c->maximise[j] ? v.hi : v.lo;
    }
    if (!check_end(w, m, box, of, constraint, now, groups)) return;
    draw(w, m, box, of == BOUNDS_SOME && s->boxes[box].best != SIZE_MAX ? now : NULL);
}

/* ---- boxes that are worse than a place beside them --------------------------------------------------------------------------- */

/* A point of the box at w->at, and that at the place beside it: what the box says of them. */
static bool check_pair(struct worker *w, size_t m, size_t box)
{
    const struct checking *c = w->c;
    const struct checked_space *s = &c->spaces[m];
    const struct checked_box *b = &s->boxes[box];
    const uint32_t home = w->at[b->along];
    const uint64_t index = lattice_index(s->lattice, w->at);
    double here[SWEEP_OBJECTIVES_MAX], there[SWEEP_OBJECTIVES_MAX];
    w->drawn += 2;
    if (evaluate(w, m, here) != POINT_THERE) return true;
    w->at[b->along] = b->than;
    const bool is_there = evaluate(w, m, there) == POINT_THERE;
    w->at[b->along] = home;
    const char *what = is_there ? NULL : "is infeasible there or has no value";
    for (size_t j = 0; is_there && !what && j < c->sweep->n_objectives; j++)
        if (is_better(here[j], there[j], c->maximise[j])) what = "is better here";
    if (!what) return true;
    char *text = xasprintf("it is said to be worse than place %u of %s, and its point %" PRIu64 " %s", b->than,
                           space_axis_name(s->space, b->along), index, what);
    wrong_box(w, m, box, text);
    free(text);
    return false;
}

/* The box and the place beside it, bounded anew: none of its points may be better than at that place. */
static void check_worse(struct worker *w, size_t m, size_t box)
{
    const struct checking *c = w->c;
    const struct checked_space *s = &c->spaces[m];
    const struct checked_box *b = &s->boxes[box];
    const uint32_t *lo = s->ends + box * 2 * s->axes, *hi = lo + s->axes;
    uint32_t all_lo[SPACE_AXES_MAX], all_hi[SPACE_AXES_MAX];
    size_t constraint = 0;
    if (!can_be_bounded(s, lo, hi)) {
        wrong_box(w, m, box, "it is closed by a bound, and holds several names of an axis");
        return;
    }
    memcpy(all_lo, lo, s->axes * sizeof *lo);
    memcpy(all_hi, hi, s->axes * sizeof *hi);
    const bool below = b->than < lo[b->along];
    *(below ? &all_lo[b->along] : &all_hi[b->along]) = b->than;
    lattice_enclose(s->lattice, all_lo, all_hi, w->lo, w->hi);
    const enum bounds_of of = bounds_box(w->bounds[m], w->lo, w->hi, &constraint);
    if (of == BOUNDS_SOME) {
        bounds_walk_moves(w->bounds[m], lattice_moves(s->lattice));
        const struct graph_moves better = bounds_better(w->bounds[m], s->columns, c->maximise, c->sweep->n_objectives);
        if ((below ? better.up : better.down) >> b->along & 1) {
            wrong_box(w, m, box, "it is closed as worse than a place beside it, and some of its points may be better");
            return;
        }
    }
    uint64_t state = b->number;
    bool ok = true;
    for (int i = 0; ok && i < 2 + c->options->samples; i++) {
        for (size_t a = 0; a < s->axes; a++)
            w->at[a] = i == 0 ? lo[a] : i == 1 ? hi[a] : lo[a] + (uint32_t)(next_random(&state) % ((uint64_t)hi[a] - lo[a] + 1));
        ok = check_pair(w, m, box);
    }
}

/* ---- all boxes ------------------------------------------------------------------------------------------------------------- */

struct totals {
    uint64_t evaluated, drawn;
    double gap;
};

static struct totals check_all(struct checking *c, const struct group_rows *groups)
{
    struct totals sum = {0};
#pragma omp parallel num_threads(c->options->threads)
    {
        struct worker w;
#pragma omp critical(checking_worker)
        worker_init(&w, c);
        for (size_t m = 0; m < c->n_spaces; m++) {
#pragma omp for schedule(dynamic, 64)
            for (size_t i = 0; i < c->spaces[m].n; i++) {
                if (checking_stopped(c)) continue;
                if (c->spaces[m].boxes[i].end == BOX_EVALUATED)
                    check_evaluated(&w, m, i, groups);
                else if (c->spaces[m].boxes[i].end == BOX_WORSE)
                    check_worse(&w, m, i);
                else
                    check_bounded(&w, m, i, groups);
            }
        }
#pragma omp critical(checking_worker)
        {
            sum.evaluated += w.evaluated;
            sum.drawn += w.drawn;
            sum.gap = fmax(sum.gap, w.gap);
        }
        worker_release(&w);
    }
    return sum;
}

bool check_boxes(struct checking *c)
{
    const struct certificate_head *h = &c->run.head;
    struct group_rows *groups = rows_by_group(c);
    checking_begin(c);
    const struct totals sum = check_all(c, groups);
    char bounded[TEXT_NUMBER_MAX], evaluated[TEXT_NUMBER_MAX], drawn[TEXT_NUMBER_MAX];
    if (!(sum.gap <= h->epsilon * (1 + 1e-9)))
        checking_wrong(c, "what is left open may be better than a row by %g, relative; the certificate says %g", sum.gap,
                       h->epsilon);
    checking_end(c, "boxes", "%s boxes bounded again and %s points drawn in them, %s points of the others evaluated again",
                 text_count(bounded, h->boxes[BOX_DOMINATED] + h->boxes[BOX_IMPOSSIBLE] + h->boxes[BOX_REFUSED] +
                                         h->boxes[BOX_OPEN] + h->boxes[BOX_WORSE]),
                 text_count(drawn, sum.drawn), text_count(evaluated, sum.evaluated));
    for (size_t g = 0; g < c->n_groups; g++) free(groups[g].rows);
    free(groups);
    return c->wrong == 0;
}
