#include "attention/surface.h"

#include "attention/eviction_policies.h"
#include "base/threads.h"
#include "base/xalloc.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static const struct srcloc nowhere;

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

static const enum dse_quality_metric of_eviction[] = {DSE_Q_RETAINED_MASS, DSE_Q_ATTENTION_ERROR};
static const enum dse_quality_metric of_lad[] = {
    DSE_Q_ATTENTION_ERROR, DSE_Q_CENTERS,        DSE_Q_LARGE,          DSE_Q_ACTIVE, DSE_Q_UPDATES,
    DSE_Q_HIT_RATIO,       DSE_Q_FALSE_NEGATIVE, DSE_Q_FALSE_POSITIVE, DSE_Q_TOP1,   DSE_Q_TOP1_PLUS_TOP2};
static const enum dse_quality_metric of_fixed[] = {DSE_Q_ATTENTION_ERROR};
static const enum dse_quality_metric of_partial[] = {DSE_Q_ATTENTION_ERROR, DSE_Q_RECOMPUTED};
enum { METRICS_MAX = sizeof of_lad / sizeof *of_lad, HIT_RATIO = 5, ACTIVE = 3 };

static const struct {
    const enum dse_quality_metric *metrics;
    size_t n;
} families[] = {[SURFACE_EVICTION] = {of_eviction, sizeof of_eviction / sizeof *of_eviction},
                [SURFACE_LAD] = {of_lad, sizeof of_lad / sizeof *of_lad},
                [SURFACE_FIXED] = {of_fixed, sizeof of_fixed / sizeof *of_fixed},
                [SURFACE_PARTIAL] = {of_partial, sizeof of_partial / sizeof *of_partial},
                [SURFACE_FORMAT] = {of_fixed, sizeof of_fixed / sizeof *of_fixed}};

size_t surface_metrics(const struct surface_method *m, const enum dse_quality_metric **ret)
{
    *ret = families[m->family].metrics;
    return families[m->family].n;
}

/* A method at a context and ratio: as many values as its family has metrics, each of all heads. */
struct cell {
    const struct surface_method *method;
    size_t context; /* of the plan's */
    double ratio;
    double *values; /* [metric][end][head] */
};

struct work {
    const struct surface_plan *surface;
    const struct measure_plan *plan; /* of it */
    struct cell *cells;
    size_t n_cells, heads, samples; /* samples: heads times ends */
};

size_t surface_end(size_t context, size_t end, size_t ends)
{
    enum { PART = 8 }; /* of the context, before and behind */
    if (ends < 2) return context;
    const double share = (2 * (double)end - (double)(ends - 1)) / (double)(PART * (ends - 1));
    return (size_t)llround((double)context * (1 + share));
}

static size_t first_step(const struct surface_method *m, size_t context)
{
    if (m->steps) return context - m->steps;
    return context > 2 * SURFACE_STEPS_MAX ? context - SURFACE_STEPS_MAX : context / 2;
}

static struct eviction_options eviction_at(const struct surface_method *m, size_t context, double ratio)
{
    return retention_options(&m->policy, context, ratio, first_step(m, context));
}

static void add_cells(struct work *w, const struct surface_method *m)
{
    const bool evicts = m->family == SURFACE_EVICTION;
    for (size_t c = 0; c < w->plan->n_contexts; c++) {
        const size_t shortest = surface_end(w->plan->contexts[c], 0, w->surface->ends);
        for (size_t r = 0; r < (evicts ? w->surface->n_ratios : 1); r++) {
            const double ratio = evicts ? w->surface->ratios[r] : 1;
            const struct eviction_options o = evicts ? eviction_at(m, shortest, ratio) : eviction_defaults;
            if (evicts && !retention_has_room(&o, shortest)) continue;
            w->cells[w->n_cells++] =
                (struct cell){m, c, ratio, xcalloc(families[m->family].n * w->samples, sizeof *w->cells->values)};
        }
    }
}

/* ---- tasks --------------------------------------------------------------------------------------------------------------- */

/* Cells of one context at one end, over a layer (eviction: all policies, which share the full attention) or over one head of it. */
struct task {
    const struct head_source *source;
    size_t layer, head, before;     /* head: of the layer; before: heads of earlier layers */
    const struct cell *cell;        /* of one head; NULL: all of eviction */
    size_t context, end, steps;     /* steps: of eviction's */
    const struct kv_format *format; /* likewise */
    double cost;
};

static bool same_format(const struct kv_format *a, const struct kv_format *b)
{
    return a->kv_bits == b->kv_bits && a->scales == b->scales && a->group == b->group && a->residual == b->residual;
}

static size_t length_of(const struct work *w, const struct task *t)
{
    return surface_end(w->plan->contexts[t->context], t->end, w->surface->ends);
}

static bool run_eviction(const struct work *w, const struct task *t, struct diags *diags)
{
    const size_t heads = t->source->heads, context = length_of(w, t), at = t->end * w->heads + t->before;
    struct head *loaded = xcalloc(heads, sizeof *loaded);
    struct eviction_options *options = xcalloc(w->n_cells + 1, sizeof *options);
    const struct cell **cells = xcalloc(w->n_cells + 1, sizeof *cells);
    size_t n = 0, n_loaded = 0, whole = 0;
    bool ok = true;
    for (size_t i = 0; i < w->n_cells; i++) {
        const struct cell *c = &w->cells[i];
        if (c->method->family != SURFACE_EVICTION || c->context != t->context || c->method->steps != t->steps ||
            !same_format(&c->method->policy.options.format, t->format))
            continue;
        cells[n] = c;
        options[n++] = eviction_at(c->method, context, c->ratio);
    }
    for (size_t h = 0; h < heads && ok; h++, n_loaded += ok) ok = t->source->head(t->source->user, t->layer, h, &loaded[h], diags);
    for (size_t h = 0; h < n_loaded; h++) {
        whole = loaded[h].n;
        loaded[h].n = context;
    }
    struct eviction_result *results = xcalloc(n * heads + 1, sizeof *results);
    const size_t first = n ? first_step(cells[0]->method, context) : 0;
    ok = ok && (n == 0 || eviction_run_many(loaded, heads, options, n, first, results, diags));
    for (size_t i = 0; i < n && ok; i++)
        for (size_t h = 0; h < heads; h++) {
            cells[i]->values[at + h] = results[i * heads + h].retained_mass;
            cells[i]->values[w->samples + at + h] = results[i * heads + h].output_error;
        }
    for (size_t h = 0; h < n_loaded; h++) {
        loaded[h].n = whole;
        head_release(&loaded[h]);
    }
    free(results);
    free(cells);
    free(options);
    free(loaded);
    return ok;
}

static bool run_lad(const struct surface_method *m, const struct head *h, size_t first, double *ret, struct diags *diags)
{
    struct locality_result r;
    if (!locality_run(h, &m->lad, first, &r, diags)) return false;
    const struct dse_locality at = locality_profile_point(&r, m->lad.recent);
    const double values[] = {r.output_error, at.centers,       at.large,         at.active, at.updates,
                             at.hit_ratio,   r.false_negative, r.false_positive, r.top1,    r.top1 + r.top2};
    memcpy(ret, values, sizeof values);
    return true;
}

static bool run_fixed(const struct surface_method *m, const struct head *h, size_t first, double *ret, struct diags *diags)
{
    struct single_pass_result r;
    if (!single_pass_run(h, &m->fixed, first, &r, diags)) return false;
    *ret = r.output_error;
    return true;
}

static bool run_partial(const struct surface_method *m, const struct head *h, size_t first, double *ret, struct diags *diags)
{
    struct softmax_partial_result r;
    if (!softmax_partial_run(h, &m->partial, first, &r, diags)) return false;
    ret[0] = r.attention_error;
    ret[1] = r.vectors ? (double)r.recomputed / (double)r.vectors : 0;
    return true;
}

static bool run_format(const struct surface_method *m, const struct head *h, size_t first, double *ret, struct diags *diags)
{
    struct kv_format_result r;
    if (!kv_format_run(h, &m->format, first, &r, diags)) return false;
    *ret = r.output_error;
    return true;
}

typedef bool (*run_fn)(const struct surface_method *m, const struct head *h, size_t first, double *ret, struct diags *diags);
static const run_fn runs[] = {
    [SURFACE_LAD] = run_lad, [SURFACE_FIXED] = run_fixed, [SURFACE_PARTIAL] = run_partial, [SURFACE_FORMAT] = run_format};

bool surface_run_head(const struct surface_method *m, const struct head *h, size_t first, double *ret, struct diags *diags)
{
    return runs[m->family](m, h, first, ret, diags);
}

static bool run_head(const struct work *w, const struct task *t, struct diags *diags)
{
    const struct surface_method *m = t->cell->method;
    const size_t context = length_of(w, t), first = first_step(m, context), at = t->end * w->heads + t->before + t->head;
    struct head head;
    double values[METRICS_MAX];
    if (!t->source->head(t->source->user, t->layer, t->head, &head, diags)) return false;
    const size_t whole = head.n;
    head.n = context;
    const bool ok = runs[m->family](m, &head, first, values, diags);
    head.n = whole;
    head_release(&head);
    for (size_t i = 0; i < families[m->family].n && ok; i++) t->cell->values[i * w->samples + at] = values[i];
    return ok;
}

static int compare_tasks(const void *a, const void *b)
{
    const struct task *x = a, *y = b;
    return x->cost > y->cost ? -1 : x->cost < y->cost;
}

/* One task for all policies of a layer, a context, an end and so many steps. */
static void add_policy(const struct task *like, double cost, struct task *tasks, size_t *n)
{
    size_t i = *n;
    while (i > 0 && (tasks[i - 1].source != like->source || tasks[i - 1].layer != like->layer || tasks[i - 1].cell ||
                     tasks[i - 1].context != like->context || tasks[i - 1].end != like->end || tasks[i - 1].steps != like->steps ||
                     !same_format(tasks[i - 1].format, like->format)))
        i--;
    if (i == 0) {
        i = ++*n;
        tasks[i - 1] = *like;
    }
    tasks[i - 1].cost += cost * (double)like->source->heads;
}

static void add_cell_tasks(const struct work *w, const struct cell *c, const struct task *like, struct task *tasks, size_t *n)
{
    enum { LAD_COST = 4, POLICY_COST = 4 }; /* against one pass of exact attention, times and parts */
    struct task t = *like;
    t.context = c->context;
    const double length = (double)length_of(w, &t);
    if (c->method->family == SURFACE_EVICTION) {
        t.steps = c->method->steps;
        t.format = &c->method->policy.options.format;
        add_policy(&t, length * length / POLICY_COST, tasks, n);
        return;
    }
    t.cell = c;
    t.cost = LAD_COST * length * length;
    for (t.head = 0; t.head < t.source->heads; t.head++) tasks[(*n)++] = t;
}

static struct task *make_tasks(const struct work *w, size_t *ret_n)
{
    const size_t ends = w->surface->ends;
    struct task *tasks = xcalloc(2 * w->n_cells * w->samples + 1, sizeof *tasks);
    size_t before = 0;
    *ret_n = 0;
    for (size_t i = 0; i < w->plan->n_sources; i++) {
        const struct head_source *s = &w->plan->sources[i];
        for (size_t layer = 0; layer < s->layers; layer++, before += s->heads)
            for (size_t k = 0; k < ends * w->n_cells; k++) {
                const struct task like = {.source = s, .layer = layer, .before = before, .end = k / w->n_cells};
                add_cell_tasks(w, &w->cells[k % w->n_cells], &like, tasks, ret_n);
            }
    }
    qsort(tasks, *ret_n, sizeof *tasks, compare_tasks);
    return tasks;
}

static bool run_tasks(const struct work *w, const struct task *tasks, size_t n, struct diags *diags)
{
    size_t failed = n;
    double whole = 0, done = 0;
    for (size_t i = 0; i < n; i++) whole += tasks[i].cost;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_available(omp_get_max_threads()))
    for (size_t i = 0; i < n; i++) {
        struct diags found;
        diags_init(&found);
        size_t before;
#pragma omp atomic read
        before = failed;
        const bool ok = before < i || (tasks[i].cell ? run_head(w, &tasks[i], &found) : run_eviction(w, &tasks[i], &found));
#pragma omp critical
        {
            if (!ok && i < failed) { /* of several, the first is told of */
                failed = i;
                diags_release(diags);
                diags_init(diags);
                diags_move(diags, &found);
            }
            done += tasks[i].cost;
            if (w->plan->progress) w->plan->progress(w->plan->progress_user, done / whole);
        }
        diags_release(&found);
    }
    return failed == n;
}

/* ---- heads that stand for the model -------------------------------------------------------------------------------------- */

static double mean_over_ends(const struct work *w, const double *values, size_t head)
{
    double sum = 0;
    for (size_t e = 0; e < w->surface->ends; e++) sum += values[e * w->heads + head];
    return sum / (double)w->surface->ends;
}

/* The values of all samples at a known mean's point; NULL: it is not measured. */
static const double *values_at(const struct work *w, const struct surface_known *k)
{
    for (size_t i = 0; i < w->n_cells; i++) {
        const struct cell *c = &w->cells[i];
        if (!c->method->base || strcmp(c->method->method, k->method) != 0 || (double)w->plan->contexts[c->context] != k->context ||
            c->ratio != k->ratio)
            continue;
        for (size_t m = 0; m < families[c->method->family].n; m++)
            if (families[c->method->family].metrics[m] == k->metric) return c->values + m * w->samples;
    }
    return NULL;
}

/* Weights that sum up to 1, matched to what is known of all heads. */
static bool weigh(const struct work *w, struct surface_result *ret, struct diags *diags)
{
    const struct surface_plan *s = w->surface;
    double *d = xcalloc(w->heads, sizeof *d), *x = xcalloc(s->n_known * w->heads + 1, sizeof *x),
           *known = xcalloc(s->n_known + 1, sizeof *known);
    size_t n = 0;
    for (size_t h = 0; h < w->heads; h++) d[h] = s->heads[h].weight;
    for (size_t k = 0; k < s->n_known; k++) {
        const double *values = values_at(w, &s->known[k]);
        if (!values) continue;
        for (size_t h = 0; h < w->heads; h++) x[n * w->heads + h] = mean_over_ends(w, values, h);
        known[n++] = s->known[k].mean;
    }
    ret->weights = xcalloc(w->heads, sizeof *ret->weights);
    surface_match_heads(d, w->heads, x, known, n, ret->weights, &ret->match);
    free(known);
    free(x);
    free(d);
    if (n || !s->n_known) return true;
    return diags_input(diags, nowhere, NULL, NULL, "none of the known means is of a point that is measured");
}

/* ---- the whole ----------------------------------------------------------------------------------------------------------- */

/* Samples that a row is of: all, or those of a layer, which count alike. */
struct taken {
    struct surface_sample *of;
    size_t *index, n, heads;
};

static struct taken take(const struct work *w, const double *weights, int32_t layer)
{
    struct taken t = {xcalloc(w->samples, sizeof *t.of), xcalloc(w->samples, sizeof *t.index), 0, 0};
    bool *seen = xcalloc(w->heads, sizeof *seen);
    for (size_t i = 0; i < w->samples; i++) {
        const struct surface_head *h = &w->surface->heads[i % w->heads];
        if (layer >= 0 && h->layer != layer) continue;
        t.index[t.n] = i;
        t.of[t.n++] =
            (struct surface_sample){layer >= 0 ? 1 : weights[i % w->heads], h->head, h->text * w->surface->ends + i / w->heads};
        t.heads += !seen[h->head];
        seen[h->head] = true;
    }
    free(seen);
    return t;
}

static void taken_release(struct taken *t)
{
    free(t->of);
    free(t->index);
}

/* Of a LAD cell: hits of all heads over active positions of all. */
static double pooled_hits(const struct work *w, const struct cell *c, const struct taken *t)
{
    double hits = 0, active = 0;
    for (size_t i = 0; i < t->n; i++) {
        const double of = t->of[i].weight * c->values[ACTIVE * w->samples + t->index[i]];
        active += of;
        hits += of * c->values[HIT_RATIO * w->samples + t->index[i]];
    }
    return active > 0 ? hits / active : 0;
}

static void add_rows(const struct work *w, const struct cell *c, const struct taken *t, int32_t layer, struct surface_result *ret)
{
    double *v = xcalloc(t->n, sizeof *v);
    for (size_t m = 0; m < families[c->method->family].n; m++) {
        struct surface_row *row = &ret->rows[ret->n++];
        *row = (struct surface_row){.method = c->method,
                                    .layer = layer,
                                    .context = w->plan->contexts[c->context],
                                    .ratio = c->ratio,
                                    .metric = families[c->method->family].metrics[m],
                                    .heads = t->heads};
        for (size_t i = 0; i < t->n; i++) v[i] = c->values[m * w->samples + t->index[i]];
        surface_stats(v, t->of, t->n, row->stat);
        if (row->metric == DSE_Q_HIT_RATIO) row->stat[DSE_Q_MEAN] = pooled_hits(w, c, t);
    }
    free(v);
}

/* The layers that heads are of, growing; the caller frees them. */
static int32_t *layers_of(const struct work *w, size_t *ret_n)
{
    int32_t *layers = xcalloc(w->heads, sizeof *layers);
    *ret_n = 0;
    for (size_t h = 0; h < w->heads; h++) {
        const int32_t layer = w->surface->heads[h].layer;
        size_t i = 0;
        while (i < *ret_n && layers[i] < layer) i++;
        if (layer < 0 || (i < *ret_n && layers[i] == layer)) continue;
        memmove(layers + i + 1, layers + i, ((*ret_n)++ - i) * sizeof *layers);
        layers[i] = layer;
    }
    return layers;
}

static void finish(const struct work *w, struct surface_result *ret)
{
    size_t n;
    int32_t *layers = layers_of(w, &n);
    struct taken *taken = xcalloc(n + 1, sizeof *taken);
    for (size_t i = 0; i <= n; i++) taken[i] = take(w, ret->weights, i ? layers[i - 1] : -1);
    ret->rows = xcalloc((n + 1) * w->n_cells * METRICS_MAX + 1, sizeof *ret->rows);
    for (size_t i = 0; i < w->n_cells; i++)
        for (size_t k = 0; k <= (w->surface->by_layer && w->cells[i].method->base ? n : 0); k++)
            add_rows(w, &w->cells[i], &taken[k], k ? layers[k - 1] : -1, ret);
    for (size_t i = 0; i <= n; i++) taken_release(&taken[i]);
    free(taken);
    free(layers);
}

static bool check(const struct surface_plan *s, struct diags *diags)
{
    const struct measure_plan *p = s->plan;
    if (!measure_plan_check(p, diags)) return false;
    const size_t first = surface_end(p->contexts[0], 0, s->ends), last = p->contexts[p->n_contexts - 1],
                 end = surface_end(last, s->ends - 1, s->ends);
    for (size_t i = 0; i < p->n_sources; i++) {
        if (p->sources[i].steps)
            return diags_input(diags, nowhere, NULL, NULL, "a surface follows every step, and a trace has q of some steps alone");
        if (p->sources[i].n < end)
            return diags_input(diags, nowhere, NULL, NULL, "context %zu with %zu ends takes %zu positions; there are %zu", last,
                               s->ends, end, p->sources[i].n);
    }
    for (size_t i = 0; i < s->n_methods; i++)
        if (s->methods[i].steps > first)
            return diags_input(diags, nowhere, NULL, NULL, "context %zu has fewer than %zu steps", first, s->methods[i].steps);
    return true;
}

bool measure_surface(const struct surface_plan *p, struct surface_result *ret, struct diags *diags)
{
    *ret = (struct surface_result){0};
    if (!check(p, diags)) return false;
    struct work w = {.surface = p, .plan = p->plan, .heads = measure_heads(p->plan)};
    w.samples = w.heads * p->ends;
    w.cells = xcalloc(p->n_methods * w.plan->n_contexts * (p->n_ratios + 1) + 1, sizeof *w.cells);
    for (size_t i = 0; i < p->n_methods; i++) add_cells(&w, &p->methods[i]);
    size_t n_tasks;
    struct task *tasks = make_tasks(&w, &n_tasks);
    const bool ok = run_tasks(&w, tasks, n_tasks, diags) && weigh(&w, ret, diags);
    if (ok) finish(&w, ret);
    if (!ok) surface_result_release(ret);
    free(tasks);
    for (size_t i = 0; i < w.n_cells; i++) free(w.cells[i].values);
    free(w.cells);
    return ok;
}

void surface_result_release(struct surface_result *r)
{
    free(r->rows);
    free(r->weights);
    *r = (struct surface_result){0};
}
