#include "attention/made_surface.h"

#include "attention/eviction_policies.h"
#include "base/threads.h"
#include "base/xalloc.h"

#include <omp.h>

#include <stdlib.h>
#include <string.h>

enum {
    SPACED = 16,     /* steps before each context's end, of policies */
    ARITHMETIC = 8,  /* of arithmetic and formats */
    PLENTY = 8192,   /* context up to which there are as many; of longer ones fewer, as each costs more */
    SPAN = 1024,     /* positions that they are spread over */
    GENERATED = 32,  /* positions after a prompt */
    GENERATED_Q = 4, /* of which every so many steps are measured */
    FOLLOWED = 64,   /* last steps measured of methods that follow every step */
    METRICS = 10,    /* the most of a family */
};

bool made_surface_sampled(const struct surface_method *m)
{
    if (m->family != SURFACE_EVICTION) return m->family != SURFACE_LAD;
    const struct eviction_policy *p = m->policy.options.policy;
    return p->choose || p->select;
}

/* Methods of one kind, and where they stand in the caller's list. */
struct some {
    struct surface_method *list;
    size_t *from, n;
};

static struct some pick(const struct surface_method *methods, size_t n, bool sampled)
{
    struct some s = {.list = xcalloc(n + 1, sizeof *s.list), .from = xcalloc(n + 1, sizeof *s.from)};
    for (size_t i = 0; i < n; i++) {
        if (made_surface_sampled(&methods[i]) != sampled) continue;
        s.from[s.n] = i;
        s.list[s.n++] = methods[i];
    }
    return s;
}

static void some_release(struct some *s)
{
    free(s->list);
    free(s->from);
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

struct steps {
    int32_t *list;
    size_t n;
};

static void add_step(struct steps *s, size_t t)
{
    s->list = xrealloc(s->list, s->n + 1, sizeof *s->list);
    s->list[s->n++] = (int32_t)t;
}

static int by_step(const void *a, const void *b)
{
    int32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* Growing, none twice. */
static void order(struct steps *s)
{
    size_t n = 0;
    if (s->n) qsort(s->list, s->n, sizeof *s->list, by_step);
    for (size_t i = 0; i < s->n; i++)
        if (n == 0 || s->list[i] != s->list[n - 1]) s->list[n++] = s->list[i];
    s->n = n;
}

/* The last of each of some equal parts of the span before the context's end: `most` of them, or of long contexts a quarter at
 * least. */
static void add_spaced(struct steps *s, size_t context, size_t most)
{
    const size_t fewer = most * PLENTY / context, n = context <= PLENTY ? most : fewer > most / 4 ? fewer : most / 4;
    const size_t span = context / 2 < SPAN ? context / 2 : SPAN;
    for (size_t i = 1; i <= n; i++) add_step(s, context - span + i * span / n - 1);
}

/* The last ones of a prompt, which select, and some of those after it. */
static void add_prompted(struct steps *s, size_t context, size_t observed)
{
    const size_t prompt = context - GENERATED;
    for (size_t t = prompt > observed ? prompt - observed : 0; t < prompt; t++) add_step(s, t);
    for (size_t t = prompt + GENERATED_Q - 1; t < context; t += GENERATED_Q) add_step(s, t);
}

/* ---- heads ---------------------------------------------------------------------------------------------------------------- */

/* The first `context` positions of a head with q of some of its steps; k and v are the head's own. */
struct part {
    struct head head;
    struct steps steps;
};

static struct part part_of(const struct head *h, size_t context, struct steps steps)
{
    struct part p = {.head = *h, .steps = steps};
    order(&p.steps);
    p.head.n = context;
    p.head.steps = p.steps.list;
    p.head.n_steps = p.steps.n;
    p.head.q = xcalloc(p.steps.n * h->d + 1, sizeof *p.head.q);
    for (size_t i = 0; i < p.steps.n; i++)
        memcpy(p.head.q + i * h->d, head_query(h, (size_t)p.steps.list[i]), h->d * sizeof *p.head.q);
    return p;
}

static void part_release(struct part *p)
{
    free(p->head.q);
    free(p->steps.list);
}

/* ---- cells ---------------------------------------------------------------------------------------------------------------- */

/* A method at a context and ratio. */
struct cell {
    size_t method, context; /* of the lists */
    double ratio;
    struct eviction_options options; /* of a policy */
    double *values;                  /* [metric][head] */
};

struct work {
    const struct made_plan *plan;
    const struct surface_method *methods;
    size_t n_methods, heads, observed;
    struct cell *cells;
    size_t n_cells;
};

static bool prompted(const struct surface_method *m)
{
    return m->policy.prompt_share > 0;
}

static void add_cell(struct work *w, size_t method, size_t context, double ratio, struct eviction_options o)
{
    const enum dse_quality_metric *metrics;
    const size_t n = surface_metrics(&w->methods[method], &metrics);
    w->cells = xrealloc(w->cells, w->n_cells + 1, sizeof *w->cells);
    w->cells[w->n_cells++] = (struct cell){method, context, ratio, o, xcalloc(n * w->heads, sizeof(double))};
}

static void add_cells(struct work *w, size_t method, size_t context)
{
    const struct surface_method *m = &w->methods[method];
    const size_t n = w->plan->contexts[context];
    if (m->family != SURFACE_EVICTION) {
        add_cell(w, method, context, 1, eviction_defaults);
        return;
    }
    for (size_t r = 0; r < w->plan->n_ratios; r++) {
        struct retention_policy policy = m->policy;
        if (policy.prompt_share > 0) policy.prompt_share = 1;
        const struct eviction_options o = retention_options(&policy, n, w->plan->ratios[r], n - GENERATED);
        if (retention_has_room(&o, n)) add_cell(w, method, context, w->plan->ratios[r], o);
    }
}

/* The policies of one context, with a prompt or without, on head number `at`. */
static bool run_policies(struct work *w, const struct head *h, size_t context, bool prompt, size_t at, struct diags *diags)
{
    struct eviction_options *options = xcalloc(w->n_cells + 1, sizeof *options);
    struct cell **cells = xcalloc(w->n_cells + 1, sizeof *cells);
    size_t n = 0;
    for (size_t i = 0; i < w->n_cells; i++) {
        struct cell *c = &w->cells[i];
        const struct surface_method *m = &w->methods[c->method];
        if (c->context != context || m->family != SURFACE_EVICTION || prompted(m) != prompt) continue;
        cells[n] = c;
        options[n++] = c->options;
    }
    struct eviction_result *results = xcalloc(n + 1, sizeof *results);
    const size_t first = prompt ? h->n - GENERATED : 0;
    const bool ok = n == 0 || eviction_run_many(h, 1, options, n, first, results, diags);
    for (size_t i = 0; i < n && ok; i++) {
        cells[i]->values[at] = results[i].retained_mass;
        cells[i]->values[w->heads + at] = results[i].output_error;
    }
    free(results);
    free(cells);
    free(options);
    return ok;
}

static bool run_others(struct work *w, const struct head *h, size_t context, size_t at, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < w->n_cells && ok; i++) {
        struct cell *c = &w->cells[i];
        const struct surface_method *m = &w->methods[c->method];
        const enum dse_quality_metric *metrics;
        double values[METRICS];
        if (c->context != context || m->family == SURFACE_EVICTION) continue;
        ok = surface_run_head(m, h, 0, values, diags);
        for (size_t k = 0; k < surface_metrics(m, &metrics) && ok; k++) c->values[k * w->heads + at] = values[k];
    }
    return ok;
}

static bool run_context(struct work *w, const struct head *h, size_t context, size_t at, struct diags *diags)
{
    const size_t n = w->plan->contexts[context];
    struct steps steps[3] = {{0}};
    add_spaced(&steps[0], n, SPACED);
    add_prompted(&steps[1], n, w->observed);
    add_spaced(&steps[2], n, ARITHMETIC);
    struct part spaced = part_of(h, n, steps[0]), prompt = part_of(h, n, steps[1]), few = part_of(h, n, steps[2]);
    const bool ok = run_policies(w, &spaced.head, context, false, at, diags) &&
                    run_policies(w, &prompt.head, context, true, at, diags) && run_others(w, &few.head, context, at, diags);
    part_release(&spaced);
    part_release(&prompt);
    part_release(&few);
    return ok;
}

static bool run_head(struct work *w, size_t at, struct diags *diags)
{
    const struct made_plan *p = w->plan;
    const struct head_component *c = &p->mixture->list[at];
    struct steps steps = {0};
    struct head h;
    for (size_t i = 0; i < p->n_contexts; i++) {
        add_spaced(&steps, p->contexts[i], SPACED);
        add_spaced(&steps, p->contexts[i], ARITHMETIC);
        add_prompted(&steps, p->contexts[i], w->observed);
    }
    order(&steps);
    head_component_make_sampled(c, 0, p->contexts[p->n_contexts - 1], steps.list, steps.n, &h);
    h.layer = (size_t)c->layer;
    bool ok = true;
    for (size_t i = 0; i < p->n_contexts && ok; i++) ok = run_context(w, &h, i, at, diags);
    head_release(&h);
    free(steps.list);
    return ok;
}

/* ---- rows ----------------------------------------------------------------------------------------------------------------- */

/* Each head as the layers that its layer stands for, of as many as the last needs; heads of a layer alike. */
static struct surface_head *weigh(const struct head_mixture *m)
{
    struct surface_head *weighed = xcalloc(m->n + 1, sizeof *weighed);
    int32_t *ids = xcalloc(m->n + 1, sizeof *ids), last = 0;
    double *layers = xcalloc(m->n + 1, sizeof *layers);
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        size_t k = 0;
        while (k < n && ids[k] != m->list[i].layer) k++;
        if (k == n) ids[n++] = m->list[i].layer;
        last = m->list[i].layer > last ? m->list[i].layer : last;
    }
    surface_layer_weights(ids, n, (size_t)last + 1, layers);
    for (size_t i = 0; i < m->n; i++) {
        size_t k = 0, heads = 0;
        while (ids[k] != m->list[i].layer) k++;
        for (size_t j = 0; j < m->n; j++) heads += m->list[j].layer == ids[k];
        weighed[i] = (struct surface_head){layers[k] / (double)heads, ids[k], i, 0};
    }
    free(layers);
    free(ids);
    return weighed;
}

static void add_rows(const struct work *w, const struct surface_head *heads, const struct surface_method *methods,
                     const size_t *from, struct surface_row **ret, size_t *ret_n)
{
    struct surface_sample *samples = xcalloc(w->heads + 1, sizeof *samples);
    for (size_t h = 0; h < w->heads; h++) samples[h] = (struct surface_sample){heads[h].weight, h, 0};
    for (size_t i = 0; i < w->n_cells; i++) {
        const struct cell *c = &w->cells[i];
        const enum dse_quality_metric *metrics;
        const size_t n = surface_metrics(&w->methods[c->method], &metrics);
        *ret = xrealloc(*ret, *ret_n + n, sizeof **ret);
        for (size_t k = 0; k < n; k++) {
            struct surface_row *row = &(*ret)[(*ret_n)++];
            *row = (struct surface_row){.method = &methods[from[c->method]],
                                        .layer = -1,
                                        .heads = w->heads,
                                        .context = w->plan->contexts[c->context],
                                        .ratio = c->ratio,
                                        .metric = metrics[k]};
            surface_stats(c->values + k * w->heads, samples, w->heads, row->stat);
        }
    }
    free(samples);
}

static bool run_sampled(const struct made_plan *p, const struct surface_head *weighed, const struct surface_method *methods,
                        size_t n_methods, struct surface_row **ret, size_t *ret_n, struct diags *diags)
{
    struct some s = pick(methods, n_methods, true);
    struct work w = {.plan = p, .methods = s.list, .n_methods = s.n, .heads = p->mixture->n, .observed = 1};
    bool ok = true;
    for (size_t i = 0; i < s.n; i++) {
        if (prompted(&s.list[i]) && (size_t)s.list[i].policy.options.observed > w.observed)
            w.observed = (size_t)s.list[i].policy.options.observed;
        for (size_t c = 0; c < p->n_contexts; c++) add_cells(&w, i, c);
    }
    struct diags *found = xcalloc(w.heads + 1, sizeof *found);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_available(omp_get_max_threads()))
    for (size_t i = 0; i < w.heads; i++) {
        diags_init(&found[i]);
        if (s.n) run_head(&w, i, &found[i]);
    }
    for (size_t i = 0; i < w.heads; i++) {
        if (ok) diags_move(diags, &found[i]); /* the same error of every head is one */
        ok = ok && diags->errors == 0;
        diags_release(&found[i]);
    }
    if (ok) add_rows(&w, weighed, methods, s.from, ret, ret_n);
    free(found);
    for (size_t i = 0; i < w.n_cells; i++) free(w.cells[i].values);
    free(w.cells);
    some_release(&s);
    return ok;
}

static bool run_followed(const struct made_plan *p, const struct surface_head *weighed, const struct surface_method *methods,
                         size_t n_methods, struct surface_row **ret, size_t *ret_n, struct diags *diags)
{
    struct some s = pick(methods, n_methods, false);
    struct mixture_heads heads = {.mixture = p->mixture};
    size_t n = 0;
    while (n < p->n_contexts && p->contexts[n] <= p->followed) n++;
    bool ok = true;
    if (s.n && n) {
        heads.n = p->contexts[n - 1];
        const struct head_source source = head_source_mixture(&heads);
        const struct measure_plan plan = {.sources = &source, .n_sources = 1, .contexts = p->contexts, .n_contexts = n};
        for (size_t i = 0; i < s.n; i++) s.list[i].steps = s.list[i].family == SURFACE_LAD ? GENERATED : FOLLOWED;
        const struct surface_plan surface = {.plan = &plan,
                                             .heads = weighed,
                                             .ends = 1,
                                             .methods = s.list,
                                             .n_methods = s.n,
                                             .ratios = p->ratios,
                                             .n_ratios = p->n_ratios};
        struct surface_result r;
        ok = measure_surface(&surface, &r, diags);
        *ret = xrealloc(*ret, *ret_n + r.n + 1, sizeof **ret);
        for (size_t i = 0; i < r.n; i++) {
            (*ret)[*ret_n] = r.rows[i];
            (*ret)[(*ret_n)++].method = &methods[s.from[r.rows[i].method - s.list]];
        }
        surface_result_release(&r);
    }
    some_release(&s);
    return ok;
}

bool made_surface(const struct made_plan *p, const struct surface_method *methods, size_t n_methods, struct surface_row **ret,
                  size_t *ret_n, struct diags *diags)
{
    enum { LEAST = 4 * GENERATED };
    *ret = NULL;
    *ret_n = 0;
    if (p->contexts[0] < LEAST)
        return diags_input(diags, (struct srcloc){0}, NULL, NULL, "made heads are measured from %d positions on, not at %zu", LEAST,
                           p->contexts[0]);
    struct surface_head *weighed = weigh(p->mixture);
    const bool ok = run_followed(p, weighed, methods, n_methods, ret, ret_n, diags) &&
                    run_sampled(p, weighed, methods, n_methods, ret, ret_n, diags);
    free(weighed);
    return ok;
}
