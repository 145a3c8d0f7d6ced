#include "space/many_boxes.h"

#include "base/xalloc.h"
#include "graph/boxes.h"
#include "model/many.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)BOUNDS_MANY_MAX <= (int)BOXES_MAX, "many boxes fit a block");

struct boxes_at_work {
    const struct space *space;
    struct bounds_lattice lattice;
    const struct many *many; /* NULL: boxes are bounded one by one */
    struct many_worker *worker;
    uint32_t *axes; /* by parameter */
    struct many_lattice seen;
    struct block block;
    size_t size; /* of floors and of ceilings */
    char *floors, *ceilings, *params;
    struct graph_moves *moves;
    bool possible[BOXES_MAX], made[BOXES_MAX]; /* made: params */
    const uint32_t *const *lo, *const *hi;
};

/* ---- one box --------------------------------------------------------------------------------------------------------------- */

/* Can metrics be bounded at all? A row over a mix of requests is a mean of several points. */
static bool has_bound(const struct space *sp)
{
    return sp->model->desc->bound && !sp->mix;
}

static void know_nothing(const struct space *sp, void *floor, void *ceiling)
{
    memset(floor, 0, space_metrics_size(sp));
    memset(ceiling, 0, space_metrics_size(sp));
    for (size_t i = 0; i < sp->metrics.n; i++) {
        const struct field *f = &sp->metrics.fields[i];
        if (f->type == DSE_TYPE_F64) {
            field_set(f, floor, (struct value){.f64 = (double)NAN});
            field_set(f, ceiling, (struct value){.f64 = (double)NAN});
        } else if (f->type == DSE_TYPE_I64) {
            field_set(f, floor, (struct value){.i64 = INT64_MIN});
            field_set(f, ceiling, (struct value){.i64 = INT64_MAX});
        }
    }
}

bool box_bound(const struct space *sp, const void *lo, const void *hi, void *floor, void *ceiling)
{
    know_nothing(sp, floor, ceiling); /* of what the model's bound does not set */
    return !has_bound(sp) || sp->model->desc->bound(lo, hi, floor, ceiling);
}

/* ---- many ------------------------------------------------------------------------------------------------------------------ */

static const struct many *many_of(const struct space *sp)
{
    return has_bound(sp) && sp->n_axes <= BLOCK_AXES_MAX ? sp->model->many : NULL;
}

struct boxes_at_work *boxes_at_work_new(const struct space *sp, const struct bounds_lattice *l)
{
    struct boxes_at_work *w = xcalloc(1, sizeof *w);
    *w = (struct boxes_at_work){.space = sp, .lattice = *l, .many = many_of(sp), .size = space_metrics_size(sp)};
    w->params = xcalloc((size_t)2 * BOXES_MAX, sp->model->desc->params_size);
    w->floors = xcalloc(BOXES_MAX, w->size);
    w->ceilings = xcalloc(BOXES_MAX, w->size);
    for (size_t i = 0; i < BOXES_MAX; i++) know_nothing(sp, w->floors + i * w->size, w->ceilings + i * w->size);
    block_init(&w->block);
    if (!w->many) return w;
    if (l->moves) w->moves = xcalloc((size_t)BOUNDS_MANY_MAX * (sp->model->metrics.n + 1), sizeof *w->moves);
    w->axes = space_setters(sp);
    w->seen = (struct many_lattice){(int)sp->n_axes, w->axes};
    w->worker = w->many->worker_new(w->many->object, &w->seen);
    w->block.n_axes = (int)sp->n_axes;
    return w;
}

void boxes_at_work_free(struct boxes_at_work *w)
{
    if (!w) return;
    if (w->worker) w->many->worker_free(w->worker);
    block_release(&w->block);
    free(w->axes);
    free(w->floors);
    free(w->ceilings);
    free(w->params);
    free(w->moves);
    free(w);
}

bool boxes_are_at_once(const struct boxes_at_work *w)
{
    return w->many != NULL;
}

void boxes_at_work_ends(void *user, int i, const void **ret_lo, const void **ret_hi)
{
    struct boxes_at_work *w = user;
    const size_t size = w->space->model->desc->params_size;
    char *lo = w->params + 2 * (size_t)i * size, *hi = lo + size;
    if (!w->made[i]) w->lattice.enclose(w->lattice.object, w->lo[i], w->hi[i], lo, hi);
    w->made[i] = true;
    *ret_lo = lo;
    *ret_hi = hi;
}

bool boxes_at_work_possible(struct boxes_at_work *w, size_t i, void **ret_floor, void **ret_ceiling)
{
    *ret_floor = w->floors + i * w->size;
    *ret_ceiling = w->ceilings + i * w->size;
    return w->possible[i];
}

static void run_singly(struct boxes_at_work *w, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const void *lo, *hi;
        boxes_at_work_ends(w, (int)i, &lo, &hi);
        w->possible[i] = box_bound(w->space, lo, hi, w->floors + i * w->size, w->ceilings + i * w->size);
    }
}

/* Stand the boxes on each axis by their interval of places. */
static void place(struct boxes_at_work *w, size_t n)
{
    int64_t keys[BOXES_MAX];
    w->block.n = (int)n;
    for (size_t a = 0; a < w->space->n_axes; a++) {
        for (size_t i = 0; i < n; i++) keys[i] = (int64_t)((uint64_t)w->lo[i][a] << 32 | w->hi[i][a]);
        block_number(&w->block, (int)a, keys);
    }
    block_begin(&w->block);
}

void boxes_at_work_run(struct boxes_at_work *w, const uint32_t *const *lo, const uint32_t *const *hi, size_t n, const bool *wanted,
                       bool moved)
{
    struct many_boxes boxes = {&w->block, boxes_at_work_ends, w, wanted, w->size};
    if (moved && w->moves) boxes.params = w->lattice.moves, boxes.moves = w->moves;
    w->lo = lo;
    w->hi = hi;
    memset(w->made, 0, n * sizeof *w->made);
    if (!w->many) {
        run_singly(w, n);
        return;
    }
    place(w, n);
    w->many->bound(w->worker, &boxes, w->possible, w->floors, w->ceilings);
}

const struct graph_moves *boxes_at_work_moves(const struct boxes_at_work *w, size_t i)
{
    return w->moves ? w->moves + i * (w->space->model->metrics.n + 1) : NULL;
}
