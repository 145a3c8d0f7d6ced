#include "space/many_points.h"

#include "base/xalloc.h"

#include <stdlib.h>

struct many_at_work {
    const struct space *space;
    const struct many *many;
    struct many_worker *worker;
    uint32_t *axes; /* by parameter */
    struct many_lattice lattice;
    struct block block;
    char *params, *metrics;
    const char *reasons[BLOCK_POINTS_MAX];
};

static void add_axis(const struct space *sp, size_t a, uint32_t *axes)
{
    const struct axis *axis = &sp->axes[a];
    const struct schema *params = &sp->model->params;
    axes[schema_index(params, axis->field)] |= 1u << a;
    for (size_t i = 0; i < axis->follows.n; i++) axes[schema_index(params, axis->follows.follows[i].to)] |= 1u << a;
}

struct many_at_work *many_at_work_new(const struct space *sp)
{
    const struct many *many = sp->model->many;
    if (!many || sp->n_axes > BLOCK_AXES_MAX) return NULL;
    struct many_at_work *w = xcalloc(1, sizeof *w);
    w->space = sp;
    w->many = many;
    w->axes = xcalloc(sp->model->params.n + 1, sizeof *w->axes);
    for (size_t a = 0; a < sp->n_axes; a++) add_axis(sp, a, w->axes);
    w->lattice = (struct many_lattice){(int)sp->n_axes, w->axes};
    w->worker = many->worker_new(many->object, &w->lattice);
    block_init(&w->block);
    w->block.n_axes = (int)sp->n_axes;
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
    free(w->params);
    free(w->metrics);
    free(w);
}

void many_at_work_begin(struct many_at_work *w, size_t n)
{
    w->block.n = (int)n;
    for (int a = 0; a < w->block.n_axes; a++) {
        const uint64_t values = w->space->axes[a].n;
        w->block.size[a] = w->space->sampler ? (int32_t)n : values < INT32_MAX ? (int32_t)values : INT32_MAX;
    }
    block_begin(&w->block);
}

void *many_at_work_params(struct many_at_work *w, size_t i)
{
    return w->params + i * w->space->model->desc->params_size;
}

/* Points of a sample share nothing that is known of. */
void many_at_work_place(struct many_at_work *w, size_t i, const uint64_t *digits)
{
    for (int a = 0; a < w->block.n_axes; a++) w->block.at[a][i] = digits ? (int32_t)digits[a] : (int32_t)i;
}

static const void *params_of(void *user, int point)
{
    return many_at_work_params(user, (size_t)point);
}

void many_at_work_run(struct many_at_work *w)
{
    const struct many_points points = {&w->block, params_of, w};
    w->many->run(w->worker, &points, w->reasons, w->metrics, w->space->model->desc->metrics_size);
}

const char *many_at_work_reason(const struct many_at_work *w, size_t i)
{
    return w->reasons[i];
}

const void *many_at_work_metrics(const struct many_at_work *w, size_t i)
{
    return w->metrics + i * w->space->model->desc->metrics_size;
}
