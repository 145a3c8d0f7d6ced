#include "space/many_list.h"

#include "base/xalloc.h"
#include "model/many.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)MANY_LIST_MAX <= (int)BLOCK_POINTS_MAX && (int)MANY_LIST_AXES_MAX == (int)BLOCK_AXES_MAX, "a list is a block");

struct many_list {
    const struct model *model;
    struct many_worker *worker;
    struct many_lattice lattice;
    uint32_t *axes;
    struct block block;
    char *params, *metrics;
    int64_t (*keys)[MANY_LIST_MAX]; /* by axis */
    const char *reasons[MANY_LIST_MAX];
    size_t n;
    bool is_run;
};

struct many_list *many_list_new(const struct model *m, int n_axes, uint32_t *axes)
{
    if (!m->many || n_axes > BLOCK_AXES_MAX) {
        free(axes);
        return NULL;
    }
    struct many_list *l = xcalloc(1, sizeof *l);
    l->model = m;
    l->axes = axes;
    l->lattice = (struct many_lattice){n_axes, axes};
    l->worker = m->many->worker_new(m->many->object, &l->lattice);
    l->params = xcalloc(MANY_LIST_MAX, m->desc->params_size);
    l->metrics = xcalloc(MANY_LIST_MAX, m->desc->metrics_size);
    l->keys = xcalloc((size_t)n_axes + 1, sizeof *l->keys);
    block_init(&l->block);
    l->block.n_axes = n_axes;
    return l;
}

void many_list_free(struct many_list *l)
{
    if (!l) return;
    l->model->many->worker_free(l->worker);
    block_release(&l->block);
    free(l->axes);
    free(l->params);
    free(l->metrics);
    free(l->keys);
    free(l);
}

void *many_list_put(struct many_list *l, const void *start, const int64_t *keys)
{
    if (l->is_run) l->n = 0;
    l->is_run = false;
    assert(l->n < MANY_LIST_MAX);
    char *params = l->params + l->n * l->model->desc->params_size;
    memcpy(params, start, l->model->desc->params_size);
    for (int a = 0; a < l->block.n_axes; a++) l->keys[a][l->n] = keys[a];
    l->n++;
    return params;
}

static const void *params_of(void *user, int i)
{
    return many_list_params(user, (size_t)i);
}

void many_list_run(struct many_list *l)
{
    if (l->is_run || l->n == 0) return;
    const struct many_points points = {&l->block, params_of, l, NULL};
    l->is_run = true;
    l->block.n = (int)l->n;
    block_begin(&l->block);
    for (int a = 0; a < l->block.n_axes; a++) block_number(&l->block, a, l->keys[a]);
    l->model->many->run(l->worker, &points, l->reasons, l->metrics, l->model->desc->metrics_size);
}

const void *many_list_params(const struct many_list *l, size_t i)
{
    return l->params + i * l->model->desc->params_size;
}

const char *many_list_reason(const struct many_list *l, size_t i)
{
    return l->reasons[i];
}

const void *many_list_metrics(const struct many_list *l, size_t i)
{
    return l->metrics + i * l->model->desc->metrics_size;
}
