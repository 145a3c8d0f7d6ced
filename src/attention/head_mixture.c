#include "attention/head_mixture.h"

#include "base/text.h"
#include "base/threads.h"
#include "base/xalloc.h"

#include <omp.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include <math.h>
#include <stdlib.h>

static char *source_of(const struct trace_info *info, size_t n)
{
    return xasprintf("%s, first %zu positions of %zu heads; %s", info->model, n, info->layers * info->heads, info->source);
}

static bool check_positions(const struct trace *t, size_t n, struct diags *diags)
{
    const struct trace_info *info = trace_info(t);
    if (n < HEAD_FIT_MIN || n > HEAD_FIT_MAX)
        return diags_input(diags, (struct srcloc){0}, NULL, NULL, "a fit takes %d to %d positions, not %zu", HEAD_FIT_MIN,
                           HEAD_FIT_MAX, n);
    if (n > info->n)
        return diags_input(diags, (struct srcloc){0}, NULL, NULL, "the trace has %zu positions, a fit of %zu is asked for", info->n,
                           n);
    if (!info->steps) return true;
    return diags_input(diags, (struct srcloc){0}, NULL, NULL,
                       "the trace has q of %zu of its %zu steps; a fit needs all of the first %zu", info->n_steps, info->n, n);
}

bool head_mixture_fit(const struct trace *t, size_t n, struct head_mixture *ret, struct diags *diags)
{
    if (!check_positions(t, n, diags)) return false;
    const struct trace_info *info = trace_info(t);
    struct head_mixture m = {.model = xstrdup(info->model), .source = source_of(info, n), .n = info->layers * info->heads};
    struct diags *found = xcalloc(m.n, sizeof *found);
    bool ok = true;
    m.list = xcalloc(m.n, sizeof *m.list);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_available(omp_get_max_threads()))
    for (size_t i = 0; i < m.n; i++) {
        struct head h;
        diags_init(&found[i]);
        if (!trace_head(t, i / info->heads, i % info->heads, &h, &found[i])) continue;
        m.list[i] = head_component_fit(&h, n, (int64_t)i + 1);
        m.list[i].layer = info->layer_ids[i / info->heads];
        m.list[i].head = info->head_ids[i % info->heads];
        head_release(&h);
    }
    for (size_t i = 0; i < m.n; i++) {
        ok = ok && found[i].errors == 0;
        diags_move(diags, &found[i]);
        diags_release(&found[i]);
    }
    free(found);
    *ret = m;
    if (!ok) head_mixture_release(ret);
    return ok;
}

void head_mixture_release(struct head_mixture *m)
{
    free(m->model);
    free(m->source);
    free(m->list);
    *m = (struct head_mixture){0};
}

size_t head_mixture_grid(const struct head_mixture *m)
{
    size_t heads = 1;
    while (heads < m->n && m->list[heads].layer == m->list[0].layer) heads++;
    for (size_t i = 0; i < m->n; i++)
        if (m->n % heads || m->list[i].layer != m->list[i - i % heads].layer || m->list[i].head != m->list[i % heads].head)
            return 0;
    return heads;
}

static size_t heads_of_layer(const struct head_mixture *m)
{
    const size_t grid = head_mixture_grid(m);
    return grid ? grid : 1;
}

static bool of_mixture(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    (void)diags;
    const struct mixture_heads *h = user;
    const struct head_component *c = &h->mixture->list[layer * heads_of_layer(h->mixture) + head];
    head_component_make(c, 0, h->n, ret);
    ret->layer = (size_t)c->layer;
    ret->group = head;
    return true;
}

struct head_source head_source_mixture(struct mixture_heads *h)
{
    const size_t heads = heads_of_layer(h->mixture);
    return (struct head_source){h->mixture->n / heads, heads, h->n, of_mixture, h, NULL, 0};
}

/* The heads that have the feature, growing; the caller frees them. */
static double *sorted(const struct head_mixture *m, size_t feature, bool made, size_t *ret_n)
{
    double *x = xcalloc(m->n + 1, sizeof *x);
    *ret_n = 0;
    for (size_t i = 0; i < m->n; i++) {
        double v = head_feature(made ? &m->list[i].made : &m->list[i].real, feature);
        if (!isnan(v)) x[(*ret_n)++] = v;
    }
    gsl_sort(x, 1, *ret_n);
    return x;
}

double head_mixture_quantile(const struct head_mixture *m, size_t feature, bool made, double q)
{
    size_t n;
    double *x = sorted(m, feature, made, &n);
    double v = n ? gsl_stats_quantile_from_sorted_data(x, 1, n, q) : (double)NAN;
    free(x);
    return v;
}

double head_mixture_apart(const struct head_mixture *m, size_t feature)
{
    size_t n, k, i = 0, j = 0;
    double *x = sorted(m, feature, false, &n), *y = sorted(m, feature, true, &k), most = n && k ? 0 : (double)NAN;
    while (i < n && j < k) {
        double at = fmin(x[i], y[j]);
        while (i < n && x[i] <= at) i++;
        while (j < k && y[j] <= at) j++;
        most = fmax(most, fabs((double)i / (double)n - (double)j / (double)k));
    }
    free(x);
    free(y);
    return most;
}
