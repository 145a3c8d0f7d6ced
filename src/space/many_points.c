#include "space/many_points.h"

#include "base/xalloc.h"
#include "space/cells.h"

#include <stdlib.h>
#include <string.h>

/* A column that some axes change, with its cells by combination of their values. */
struct param_column {
    size_t column;
    uint32_t axes;
    struct block_table *table; /* NULL: too many for one */
    const struct block_shape *shape;
    union cell *cells;
};

struct many_at_work {
    const struct space *space;
    const struct many *many;
    struct many_worker *worker;
    uint32_t *axes; /* by parameter */
    struct many_lattice lattice;
    struct block block;
    char *params, *metrics;
    uint64_t first;
    const uint64_t *points;      /* NULL: from `first` on */
    bool made[BLOCK_POINTS_MAX]; /* params */
    uint32_t of_standing;        /* axes */
    const struct block_shape *standing;
    struct param_column *columns; /* those of rows that are parameters, which stand first */
    size_t n_params, n_varying;
    union cell *constant; /* cells of columns that no axis changes */
    bool has_cells;       /* of the block at hand */
    const char *reasons[BLOCK_POINTS_MAX];
};

static void find_columns(struct many_at_work *w)
{
    const struct space *sp = w->space;
    w->columns = xcalloc(w->n_params + 1, sizeof *w->columns);
    w->constant = xcalloc(w->n_params + 1, sizeof *w->constant);
    for (size_t c = 0; c < w->n_params; c++) {
        const uint32_t axes = w->many->of_param(w->worker, sp->columns[c].field->offset);
        struct param_column *p = &w->columns[w->n_varying];
        w->constant[c] = cell_of(sp->columns[c].field, sp->fixed);
        if (!axes) continue;
        *p = (struct param_column){.column = c, .axes = axes, .table = block_table_new(&w->block, axes)};
        p->cells = xcalloc(p->table ? (size_t)p->table->size : (size_t)BLOCK_POINTS_MAX, sizeof *p->cells);
        w->n_varying++;
    }
}

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
    block_init(&w->block);
    w->block.n_axes = (int)sp->n_axes;
    w->block.is_lasting = !sp->sampler;
    for (size_t a = 0; a < sp->n_axes; a++) w->block.size[a] = (int32_t)sp->axes[a].n;
    find_columns(w);
    w->of_standing = many->standing(w->worker);
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
    for (size_t i = 0; i < w->n_varying; i++) block_table_free(w->columns[i].table), free(w->columns[i].cells);
    free(w->columns);
    free(w->constant);
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
    w->standing = block_shape(&w->block, w->of_standing & varying);
    w->has_cells = false;
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

static void make_cells(struct many_at_work *w)
{
    struct block *b = &w->block;
    for (struct param_column *p = w->columns; p < w->columns + w->n_varying; p++) {
        const struct field *f = w->space->columns[p->column].field;
        p->shape = p->table ? block_table_shape(p->table, b) : block_shape(b, p->axes & block_varying(b));
        for (int k = 0; k < block_new_ones(p->shape); k++)
            p->cells[p->shape->from + k] = cell_of(f, many_at_work_params(w, p->shape->point_of[k]));
    }
    w->has_cells = true;
}

size_t many_at_work_cells(struct many_at_work *w, size_t i, union cell *cells)
{
    if (!w->has_cells) make_cells(w);
    memcpy(cells, w->constant, w->n_params * sizeof *cells);
    for (const struct param_column *p = w->columns; p < w->columns + w->n_varying; p++)
        cells[p->column] = p->cells[p->shape->of_point[i]];
    return w->n_params;
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
