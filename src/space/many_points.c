#include "space/many_points.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

struct many_at_work {
    const struct space *space;
    const struct many *many;
    struct many_worker *worker;
    uint32_t *axes; /* by parameter */
    struct many_lattice lattice;
    struct block block;
    char *params, *metrics;
    uint64_t first;
    const uint64_t *points;                          /* NULL: from `first` on */
    bool made[BLOCK_POINTS_MAX];                     /* params */
    const struct block_shape *standing, **of_column; /* shapes; by column that is a parameter */
    uint32_t *column_axes;
    size_t n_params; /* columns that are parameters, which stand first */
    const char *reasons[BLOCK_POINTS_MAX];
};

struct many_at_work *many_at_work_new(const struct space *sp)
{
    const struct many *many = sp->model->many;
    if (!many || sp->n_axes > BLOCK_AXES_MAX) return NULL;
    for (size_t a = 0; a < sp->n_axes; a++)
        if (sp->axes[a].n > INT32_MAX) return NULL;
    struct many_at_work *w = xcalloc(1, sizeof *w);
    w->space = sp;
    w->many = many;
    w->axes = space_setters(sp);
    w->lattice = (struct many_lattice){(int)sp->n_axes, w->axes};
    w->worker = many->worker_new(many->object, &w->lattice);
    while (w->n_params < sp->n_columns && sp->columns[w->n_params].role == COLUMN_PARAM) w->n_params++;
    w->of_column = xcalloc(w->n_params + 1, sizeof *w->of_column);
    w->column_axes = xcalloc(w->n_params + 1, sizeof *w->column_axes);
    for (size_t c = 0; c < w->n_params; c++) w->column_axes[c] = many->of_param(w->worker, sp->columns[c].field->offset);
    block_init(&w->block);
    w->block.n_axes = (int)sp->n_axes;
    w->block.is_lasting = !sp->sampler;
    w->params = xcalloc(BLOCK_POINTS_MAX, sp->model->desc->params_size);
    w->metrics = xcalloc(BLOCK_POINTS_MAX, sp->model->desc->metrics_size);
    return w;
}

void many_at_work_free(struct many_at_work *w)
{
    if (!w) return;
    w->many->worker_free(w->worker);
    block_release(&w->block);
    free(w->axes);
    free(w->of_column);
    free(w->column_axes);
    free(w->params);
    free(w->metrics);
    free(w);
}

/* Of the grid where each point stands; points of a sample share nothing that is known of. */
static void place(struct many_at_work *w, size_t n, const uint64_t *digits)
{
    const struct space *sp = w->space;
    struct block *b = &w->block;
    uint64_t at[SPACE_AXES_MAX];
    if (digits) memcpy(at, digits, sp->n_axes * sizeof *at);
    b->n = (int)n;
    for (size_t i = 0; i < n; i++) {
        for (int a = 0; a < b->n_axes; a++) b->at[a][i] = digits ? (int32_t)at[a] : (int32_t)i;
        if (digits) space_step(sp, at);
    }
    for (int a = 0; a < b->n_axes; a++) b->size[a] = digits ? (int32_t)sp->axes[a].n : (int32_t)n;
    block_begin(b);
}

const void *many_at_work_params(struct many_at_work *w, size_t i)
{
    char *params = w->params + i * w->space->model->desc->params_size;
    if (!w->made[i]) space_point(w->space, w->points ? w->points[i] : w->first + i, params);
    w->made[i] = true;
    return params;
}

static const void *params_of(void *user, int point)
{
    return many_at_work_params(user, (size_t)point);
}

static void place_points(struct many_at_work *w, const uint64_t *points, size_t n)
{
    struct block *b = &w->block;
    uint64_t at[SPACE_AXES_MAX];
    b->n = (int)n;
    for (size_t i = 0; i < n; i++) {
        space_digits(w->space, points[i], at);
        for (int a = 0; a < b->n_axes; a++) b->at[a][i] = (int32_t)at[a];
    }
    for (int a = 0; a < b->n_axes; a++) b->size[a] = (int32_t)w->space->axes[a].n;
    block_begin(b);
}

/* The points stand where they are. */
static void run_placed(struct many_at_work *w, size_t n, const bool *wanted)
{
    const struct many_points points = {&w->block, params_of, w, wanted};
    memset(w->made, 0, n * sizeof *w->made);
    w->many->run(w->worker, &points, w->reasons, w->metrics, w->space->model->desc->metrics_size);
    const uint32_t varying = block_varying(&w->block);
    w->standing = block_shape(&w->block, w->many->standing(w->worker) & varying);
    for (size_t c = 0; c < w->n_params; c++) w->of_column[c] = block_shape(&w->block, w->column_axes[c] & varying);
}

void many_at_work_run(struct many_at_work *w, uint64_t first, size_t n, const uint64_t *digits, const bool *wanted)
{
    w->first = first;
    w->points = NULL;
    place(w, n, digits);
    run_placed(w, n, wanted);
}

void many_at_work_run_points(struct many_at_work *w, const uint64_t *points, size_t n, const bool *wanted)
{
    w->points = points;
    place_points(w, points, n);
    run_placed(w, n, wanted);
}

const void *many_at_work_params_like(struct many_at_work *w, size_t i, size_t c)
{
    const struct block_shape *s = w->of_column[c];
    return many_at_work_params(w, (size_t)s->point_of[s->of_point[i]]);
}

size_t many_at_work_standing(struct many_at_work *w, size_t i)
{
    return (size_t)w->standing->of_point[i];
}

const char *many_at_work_reason(const struct many_at_work *w, size_t i)
{
    return w->reasons[i];
}

void *many_at_work_metrics(const struct many_at_work *w, size_t i)
{
    return w->metrics + i * w->space->model->desc->metrics_size;
}
