#include "workload/surface.h"

#include "base/threads.h"
#include "base/xalloc.h"
#include "workload/eviction_policies.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static const struct srcloc nowhere;

/* ---- weights and statistics ---------------------------------------------------------------------------------------------- */

void surface_layer_weights(const int32_t *ids, size_t n, size_t layers, double *ret)
{
    for (size_t i = 0; i < n; i++) ret[i] = 0;
    for (int32_t layer = 0; layer < (int32_t)layers; layer++) {
        int32_t nearest = INT32_MAX, alike = 0;
        for (size_t i = 0; i < n; i++) {
            const int32_t away = abs(ids[i] - layer);
            if ((ids[i] == 0 && layer != 0 && n > 1) || away > nearest) continue;
            alike = away == nearest ? alike + 1 : 1;
            nearest = away;
        }
        for (size_t i = 0; i < n; i++)
            if (abs(ids[i] - layer) == nearest && !(ids[i] == 0 && layer != 0 && n > 1)) ret[i] += 1.0 / alike;
    }
}

struct weighed {
    double v, weight;
};

static int compare_weighed(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    return x->v < y->v ? -1 : x->v > y->v;
}

static double percentile(const struct weighed *sorted, size_t n, double whole, double share)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += sorted[i].weight;
        if (sum >= share * whole * (1 - 1e-12)) return sorted[i].v;
    }
    return sorted[n - 1].v;
}

void surface_stats(const double *v, const double *weights, size_t n, double ret[DSE_QUALITY_STATS])
{
    struct weighed *sorted = xcalloc(n, sizeof *sorted);
    double whole = 0, squares = 0, mean = 0, spread = 0;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (struct weighed){v[i], weights[i]};
        whole += weights[i];
        squares += weights[i] * weights[i];
        mean += weights[i] * v[i];
    }
    mean /= whole;
    for (size_t i = 0; i < n; i++) spread += weights[i] * (v[i] - mean) * (v[i] - mean);
    qsort(sorted, n, sizeof *sorted, compare_weighed);
    ret[DSE_Q_MEAN] = mean;
    ret[DSE_Q_SD] = sqrt(spread / whole);
    ret[DSE_Q_SE] = ret[DSE_Q_SD] * sqrt(squares) / whole;
    ret[DSE_Q_P10] = percentile(sorted, n, whole, 0.1);
    ret[DSE_Q_P50] = percentile(sorted, n, whole, 0.5);
    ret[DSE_Q_P90] = percentile(sorted, n, whole, 0.9);
    free(sorted);
}

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
    double *values; /* [metric][head] */
};

struct work {
    const struct measure_plan *plan;
    const double *weights;
    struct cell *cells;
    size_t n_cells, heads;
};

static size_t first_step(const struct surface_method *m, size_t context)
{
    if (m->steps) return context - m->steps;
    return context > 2 * SURFACE_ENDS_MAX ? context - SURFACE_ENDS_MAX : context / 2;
}

static struct eviction_options eviction_at(const struct surface_method *m, size_t context, double ratio)
{
    return retention_options(&m->policy, context, ratio, first_step(m, context));
}

static void add_cells(struct work *w, const struct surface_method *m, const double *ratios, size_t n_ratios)
{
    for (size_t c = 0; c < w->plan->n_contexts; c++) {
        const size_t context = w->plan->contexts[c];
        for (size_t r = 0; r < (m->family == SURFACE_EVICTION ? n_ratios : 1); r++) {
            const double ratio = m->family == SURFACE_EVICTION ? ratios[r] : 1;
            const struct eviction_options o = m->family == SURFACE_EVICTION ? eviction_at(m, context, ratio) : eviction_defaults;
            if (m->family == SURFACE_EVICTION && !retention_has_room(&o, context)) continue;
            w->cells[w->n_cells++] =
                (struct cell){m, c, ratio, xcalloc(families[m->family].n * w->heads, sizeof *w->cells->values)};
        }
    }
}

/* ---- tasks --------------------------------------------------------------------------------------------------------------- */

/* Cells of one context over a layer (eviction: all policies, which share the full attention) or over one head of it. */
struct task {
    const struct head_source *source;
    size_t layer, head, before; /* head: of the layer; before: heads of earlier layers */
    const struct cell *cell;    /* of one head; NULL: all of eviction */
    size_t context, steps;      /* steps: of eviction's */
    double cost;
};

static bool run_eviction(const struct work *w, const struct task *t, struct diags *diags)
{
    const size_t heads = t->source->heads, context = w->plan->contexts[t->context];
    struct head *loaded = xcalloc(heads, sizeof *loaded);
    struct eviction_options *options = xcalloc(w->n_cells + 1, sizeof *options);
    const struct cell **cells = xcalloc(w->n_cells + 1, sizeof *cells);
    size_t n = 0, n_loaded = 0, whole = 0;
    bool ok = true;
    for (size_t i = 0; i < w->n_cells; i++) {
        const struct cell *c = &w->cells[i];
        if (c->method->family != SURFACE_EVICTION || c->context != t->context || c->method->steps != t->steps) continue;
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
            cells[i]->values[t->before + h] = results[i * heads + h].retained_mass;
            cells[i]->values[w->heads + t->before + h] = results[i * heads + h].output_error;
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
    const size_t context = w->plan->contexts[t->context], first = first_step(m, context);
    struct head head;
    double values[METRICS_MAX];
    if (!t->source->head(t->source->user, t->layer, t->head, &head, diags)) return false;
    const size_t whole = head.n;
    head.n = context;
    const bool ok = runs[m->family](m, &head, first, values, diags);
    head.n = whole;
    head_release(&head);
    for (size_t i = 0; i < families[m->family].n && ok; i++) t->cell->values[i * w->heads + t->before + t->head] = values[i];
    return ok;
}

static int compare_tasks(const void *a, const void *b)
{
    const struct task *x = a, *y = b;
    return x->cost > y->cost ? -1 : x->cost < y->cost;
}

/* One task for all policies of a layer, a context and so many steps. */
static void add_policy(const struct head_source *s, size_t layer, size_t before, const struct cell *c, double cost,
                       struct task *tasks, size_t *n)
{
    size_t i = *n;
    while (i > 0 && (tasks[i - 1].source != s || tasks[i - 1].layer != layer || tasks[i - 1].cell ||
                     tasks[i - 1].context != c->context || tasks[i - 1].steps != c->method->steps))
        i--;
    if (i == 0) {
        i = ++*n;
        tasks[i - 1] = (struct task){s, layer, 0, before, NULL, c->context, c->method->steps, 0};
    }
    tasks[i - 1].cost += cost * (double)s->heads;
}

static void add_tasks(const struct work *w, const struct head_source *s, size_t layer, size_t before, struct task *tasks, size_t *n)
{
    enum { LAD_COST = 4, POLICY_COST = 4 }; /* against one pass of exact attention, times and parts */
    for (size_t i = 0; i < w->n_cells; i++) {
        const struct cell *c = &w->cells[i];
        const double square = (double)w->plan->contexts[c->context] * (double)w->plan->contexts[c->context];
        if (c->method->family == SURFACE_EVICTION) {
            add_policy(s, layer, before, c, square / POLICY_COST, tasks, n);
            continue;
        }
        for (size_t h = 0; h < s->heads; h++)
            tasks[(*n)++] = (struct task){s, layer, h, before, c, c->context, 0, LAD_COST * square};
    }
}

static struct task *make_tasks(const struct work *w, size_t *ret_n)
{
    struct task *tasks = xcalloc(2 * w->n_cells * w->heads + 1, sizeof *tasks);
    size_t before = 0;
    *ret_n = 0;
    for (size_t i = 0; i < w->plan->n_sources; i++) {
        const struct head_source *s = &w->plan->sources[i];
        for (size_t layer = 0; layer < s->layers; layer++, before += s->heads) add_tasks(w, s, layer, before, tasks, ret_n);
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

/* ---- the whole ----------------------------------------------------------------------------------------------------------- */

/* Of a LAD cell: hits of all heads over active positions of all. */
static double pooled_hits(const struct work *w, const struct cell *c)
{
    double hits = 0, active = 0;
    for (size_t h = 0; h < w->heads; h++) {
        active += w->weights[h] * c->values[ACTIVE * w->heads + h];
        hits += w->weights[h] * c->values[ACTIVE * w->heads + h] * c->values[HIT_RATIO * w->heads + h];
    }
    return active > 0 ? hits / active : 0;
}

static void finish(const struct work *w, struct surface_row *ret, size_t *ret_n)
{
    for (size_t i = 0; i < w->n_cells; i++) {
        const struct cell *c = &w->cells[i];
        for (size_t m = 0; m < families[c->method->family].n; m++) {
            struct surface_row *row = &ret[(*ret_n)++];
            *row = (struct surface_row){.method = c->method,
                                        .context = w->plan->contexts[c->context],
                                        .ratio = c->ratio,
                                        .metric = families[c->method->family].metrics[m]};
            surface_stats(c->values + m * w->heads, w->weights, w->heads, row->stat);
            if (row->metric == DSE_Q_HIT_RATIO) row->stat[DSE_Q_MEAN] = pooled_hits(w, c);
        }
    }
}

static bool check(const struct measure_plan *p, const struct surface_method *methods, size_t n, struct diags *diags)
{
    if (!measure_plan_check(p, diags)) return false;
    for (size_t i = 0; i < p->n_sources; i++)
        if (p->sources[i].steps)
            return diags_input(diags, nowhere, NULL, NULL, "a surface follows every step, and a trace has q of some steps alone");
    for (size_t i = 0; i < n; i++)
        if (methods[i].steps > p->contexts[0])
            return diags_input(diags, nowhere, NULL, NULL, "context %zu has fewer than %zu steps", p->contexts[0],
                               methods[i].steps);
    return true;
}

bool measure_surface(const struct measure_plan *p, const double *weights, const struct surface_method *methods, size_t n_methods,
                     const double *ratios, size_t n_ratios, struct surface_row **ret, size_t *ret_n, struct diags *diags)
{
    *ret = NULL;
    *ret_n = 0;
    if (!check(p, methods, n_methods, diags)) return false;
    struct work w = {.plan = p, .weights = weights, .heads = measure_heads(p)};
    w.cells = xcalloc(n_methods * p->n_contexts * (n_ratios + 1) + 1, sizeof *w.cells);
    for (size_t i = 0; i < n_methods; i++) add_cells(&w, &methods[i], ratios, n_ratios);
    size_t n_tasks;
    struct task *tasks = make_tasks(&w, &n_tasks);
    const bool ok = run_tasks(&w, tasks, n_tasks, diags);
    if (ok) {
        *ret = xcalloc(w.n_cells * METRICS_MAX + 1, sizeof **ret);
        finish(&w, *ret, ret_n);
    }
    free(tasks);
    for (size_t i = 0; i < w.n_cells; i++) free(w.cells[i].values);
    free(w.cells);
    return ok;
}
