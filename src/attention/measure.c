#include "attention/measure_layers.h"

#include "attention/eviction_policies.h"
#include "base/threads.h"
#include "base/xalloc.h"

#include <omp.h>
#include <math.h>
#include <stdlib.h>

void moments_add(struct moments *m, double x)
{
    double before = x - m->mean;
    m->n++;
    m->mean += before / (double)m->n;
    m->squares += before * (x - m->mean);
}

double moments_sd(const struct moments *m)
{
    return m->n ? sqrt(fmax(0, m->squares) / (double)m->n) : 0;
}

/* ---- the plan ------------------------------------------------------------------------------------------------------------ */

/* The first step of a context that is measured. */
static size_t measure_first(const struct measure_plan *p, size_t context)
{
    return p->steps ? context - p->steps : context / 2;
}

size_t measure_heads(const struct measure_plan *p)
{
    size_t heads = 0;
    for (size_t i = 0; i < p->n_sources; i++) heads += p->sources[i].layers * p->sources[i].heads;
    return heads;
}

static bool fault(struct diags *diags, const char *fmt, size_t a, size_t b)
{
    return diags_input(diags, (struct srcloc){0}, NULL, NULL, fmt, a, b);
}

bool measure_plan_check(const struct measure_plan *p, struct diags *diags)
{
    bool ok = true;
    if (measure_heads(p) == 0) return diags_input(diags, (struct srcloc){0}, NULL, NULL, "there is no head to measure");
    if (p->n_contexts == 0) return diags_input(diags, (struct srcloc){0}, NULL, NULL, "there is no context to measure at");
    for (size_t c = 0; c < p->n_contexts; c++) {
        size_t context = p->contexts[c];
        if (c && context <= p->contexts[c - 1])
            ok = fault(diags, "context %zu does not grow (before it: %zu)", context, p->contexts[c - 1]);
        if (context < 2 || p->steps > context)
            ok = fault(diags, "context %zu has fewer than %zu steps", context, p->steps ? p->steps : 2);
        for (size_t i = 0; i < p->n_sources; i++)
            if (context > p->sources[i].n)
                ok = fault(diags, "context %zu is longer than what is measured, which has %zu positions", context, p->sources[i].n);
    }
    return ok;
}

/* ---- going over heads ---------------------------------------------------------------------------------------------------- */

/* One of the layers of all sources: which source, and which layer of it. */
struct layer {
    const struct head_source *source;
    size_t layer;
};

static struct layer layer_at(const struct measure_plan *p, size_t i)
{
    const struct head_source *s = p->sources;
    while (i >= s->layers) i -= s++->layers;
    return (struct layer){s, i};
}

static double work_of(const struct measure_plan *p, const struct head_source *s)
{
    double squares = 0;
    for (size_t c = 0; c < p->n_contexts; c++) squares += (double)p->contexts[c] * (double)p->contexts[c];
    return (double)s->heads * squares;
}

static bool load_layer(const struct layer *l, struct head *heads, size_t *ret_n, struct diags *diags)
{
    *ret_n = 0;
    for (size_t h = 0; h < l->source->heads; h++) {
        if (!l->source->head(l->source->user, l->layer, h, &heads[h], diags)) return false;
        (*ret_n)++;
    }
    return true;
}

/* A result for each context into results[0..n_contexts), which the caller frees; NULL where there is none. */
static bool measure_layer(const struct measure_plan *p, const struct measurement *m, const struct layer *l, void **results,
                          struct diags *diags)
{
    size_t n;
    struct head *heads = xcalloc(l->source->heads, sizeof *heads);
    bool ok = load_layer(l, heads, &n, diags);
    size_t whole = n ? heads->n : 0;
    for (size_t c = 0; c < p->n_contexts && ok && n; c++) {
        for (size_t h = 0; h < n; h++) heads[h].n = p->contexts[c]; /* a prefix of the rows */
        results[c] = xcalloc(1, m->size(m->user, c, n));
        ok = m->measure(m->user, c, heads, n, measure_first(p, p->contexts[c]), results[c], diags);
    }
    for (size_t h = 0; h < n; h++) {
        heads[h].n = whole;
        head_release(&heads[h]);
    }
    free(heads);
    return ok;
}

static void add_layer(const struct measure_plan *p, const struct measurement *m, const struct layer *l, void **results)
{
    for (size_t c = 0; c < p->n_contexts; c++)
        if (results[c]) m->add(m->user, c, l->source->heads, results[c]);
}

/* Does a source have q of a step that is measured at every context? */
static bool check_some_steps(const struct measure_plan *p, const struct head_source *s, struct diags *diags)
{
    for (size_t c = 0; s->steps && c < p->n_contexts; c++) {
        size_t first = measure_first(p, p->contexts[c]), i = 0;
        while (i < s->n_steps && (size_t)s->steps[i] < first) i++;
        if (i == s->n_steps || (size_t)s->steps[i] >= p->contexts[c])
            return fault(diags, "the trace has q of none of the steps %zu to %zu", first, p->contexts[c] - 1);
    }
    return true;
}

static bool check_steps(const struct measure_plan *p, const struct measurement *m, struct diags *diags)
{
    for (size_t i = 0; i < p->n_sources; i++) {
        const struct head_source *s = &p->sources[i];
        if (s->steps && m->follows)
            return diags_input(diags, (struct srcloc){0}, NULL, "--kind range measures the steps that there are",
                               "the trace has q of %zu of its %zu steps; %s follows every step", s->n_steps, s->n, m->follows);
        if (!check_some_steps(p, s, diags)) return false;
    }
    return true;
}

bool measure_each_layer(const struct measure_plan *p, const struct measurement *m, struct diags *diags)
{
    if (!measure_plan_check(p, diags) || !check_steps(p, m, diags)) return false;
    size_t layers = 0;
    double total = 0, done = 0;
    for (size_t i = 0; i < p->n_sources; i++) {
        layers += p->sources[i].layers;
        total += (double)p->sources[i].layers * work_of(p, &p->sources[i]);
    }
    bool ok = true;
#pragma omp parallel for ordered schedule(dynamic, 1) num_threads(threads_available(omp_get_max_threads()))
    for (size_t i = 0; i < layers; i++) {
        struct layer l = layer_at(p, i);
        void **results = xcalloc(p->n_contexts, sizeof(void *));
        struct diags found;
        diags_init(&found);
        bool go;
#pragma omp atomic read
        go = ok;
        bool good = go && measure_layer(p, m, &l, results, &found);
#pragma omp ordered
        if (ok && good) {
            add_layer(p, m, &l, results);
            done += work_of(p, l.source);
            if (p->progress) p->progress(p->progress_user, done / total);
        } else if (ok) { /* the first layer that fails is the one that is told of, however the threads ran */
            diags_move(diags, &found);
#pragma omp atomic write
            ok = false;
        }
        for (size_t c = 0; c < p->n_contexts; c++) free(results[c]);
        free(results);
        diags_release(&found);
    }
    return ok;
}

/* ---- locality ------------------------------------------------------------------------------------------------------------ */

struct locality_work {
    const struct locality_options *options;
    struct measured_locality *rows;
};

static void add_locality(struct measured_locality *row, const struct locality_result *r, const struct dse_locality *at)
{
    double active = row->active.mean * (double)row->active.n, hits = active * row->pooled_hit_ratio;
    active += at->active;
    hits += at->active * at->hit_ratio;
    row->pooled_hit_ratio = active > 0 ? hits / active : 0;
    moments_add(&row->centers, at->centers);
    moments_add(&row->large, at->large);
    moments_add(&row->active, at->active);
    moments_add(&row->updates, at->updates);
    moments_add(&row->hit_ratio, at->hit_ratio);
    moments_add(&row->attention_error, r->output_error);
    moments_add(&row->false_negative, r->false_negative);
    moments_add(&row->false_positive, r->false_positive);
    moments_add(&row->top1, r->top1);
    moments_add(&row->top2, r->top2);
    moments_add(&row->softmax_mse, r->softmax_mse);
    moments_add(&row->lines_mse, r->lines_mse);
}

static size_t locality_size(const void *user, size_t c, size_t heads)
{
    (void)user;
    (void)c;
    return heads * sizeof(struct locality_result);
}

static bool locality_heads(const void *user, size_t c, const struct head *heads, size_t n, size_t first, void *ret,
                           struct diags *diags)
{
    const struct locality_work *w = user;
    struct locality_result *results = ret;
    (void)c;
    for (size_t h = 0; h < n; h++)
        if (!locality_run(&heads[h], w->options, first, &results[h], diags)) return false;
    return true;
}

static void locality_add(void *user, size_t c, size_t heads, const void *result)
{
    struct locality_work *w = user;
    const struct locality_result *results = result;
    for (size_t h = 0; h < heads; h++) {
        struct dse_locality at = locality_profile_point(&results[h], w->options->recent);
        add_locality(&w->rows[c], &results[h], &at);
    }
}

bool measure_locality(const struct measure_plan *p, const struct locality_options *o, struct measured_locality *rows,
                      struct diags *diags)
{
    for (size_t c = 0; c < p->n_contexts; c++) rows[c] = (struct measured_locality){0};
    struct locality_work w = {o, rows};
    return measure_each_layer(p, &(struct measurement){locality_size, locality_heads, locality_add, &w, "LAD's decoder"}, diags);
}

/* ---- single steps -------------------------------------------------------------------------------------------------------- */

struct recording_work {
    const struct measure_plan *plan;
    const struct locality_options *options;
    struct recording_row *rows;
    size_t heads, *done; /* done: heads, of each context */
};

static size_t recording_size(const void *user, size_t c, size_t heads)
{
    const struct recording_work *w = user;
    (void)c;
    return heads * w->plan->steps * sizeof(struct dse_recorded);
}

static bool recording_heads(const void *user, size_t c, const struct head *heads, size_t n, size_t first, void *ret,
                            struct diags *diags)
{
    const struct recording_work *w = user;
    struct dse_recorded *steps = ret;
    (void)c;
    for (size_t h = 0; h < n; h++)
        if (!locality_record(&heads[h], w->options, first, steps + h * w->plan->steps, diags)) return false;
    return true;
}

static void recording_add(void *user, size_t c, size_t heads, const void *result)
{
    struct recording_work *w = user;
    const struct dse_recorded *at = result;
    size_t context = w->plan->contexts[c], steps = w->plan->steps;
    for (size_t h = 0; h < heads; h++, w->done[c]++)
        for (size_t s = 0; s < steps; s++)
            w->rows[(c * w->heads + w->done[c]) * steps + s] = (struct recording_row){
                .context = (double)context, .head = (double)w->done[c], .step = (double)(context - steps + 1 + s), .at = *at++};
}

bool measure_recording(const struct measure_plan *p, const struct locality_options *o, struct recording_row *rows,
                       struct diags *diags)
{
    struct recording_work w = {p, o, rows, measure_heads(p), xcalloc(p->n_contexts + 1, sizeof *w.done)};
    bool ok =
        measure_each_layer(p, &(struct measurement){recording_size, recording_heads, recording_add, &w, "LAD's decoder"}, diags);
    free(w.done);
    return ok;
}

/* ---- retention ----------------------------------------------------------------------------------------------------------- */

struct retention_work {
    struct measured_retention *rows;
    size_t n_rows;
    const struct measure_plan *plan;
};

/* The policy at one context and ratio, measured from step `first` on. */
struct eviction_options retention_options(const struct retention_policy *policy, size_t context, double ratio, size_t first)
{
    struct eviction_options o = policy->options;
    o.ratio = ratio;
    o.prompt = o.size = 0;
    o.size = eviction_size(&o, context);
    o.prompt = policy->prompt_share == 1 ? first : (size_t)(policy->prompt_share * (double)context);
    return o;
}

/* Is the cache large enough for what the policy holds apart? */
bool retention_has_room(const struct eviction_options *o, size_t context)
{
    size_t size = eviction_size(o, context);
    return size >= (eviction_policy_least(o));
}

static bool row_is_at_context(const struct retention_work *w, size_t row, size_t c)
{
    return w->rows[row].context == w->plan->contexts[c];
}

static size_t retention_size(const void *user, size_t c, size_t heads)
{
    const struct retention_work *w = user;
    size_t n = 1;
    for (size_t i = 0; i < w->n_rows; i++) n += row_is_at_context(w, i, c);
    return n * heads * sizeof(struct eviction_result);
}

static bool retention_heads(const void *user, size_t c, const struct head *heads, size_t n, size_t first, void *ret,
                            struct diags *diags)
{
    const struct retention_work *w = user;
    struct eviction_options *options = xcalloc(w->n_rows, sizeof *options);
    size_t n_options = 0;
    for (size_t i = 0; i < w->n_rows; i++) {
        if (row_is_at_context(w, i, c))
            options[n_options++] = retention_options(w->rows[i].policy, w->rows[i].context, w->rows[i].ratio, first);
    }
    bool ok = n_options == 0 || eviction_run_many(heads, n, options, n_options, first, ret, diags);
    free(options);
    return ok;
}

static void retention_add(void *user, size_t c, size_t heads, const void *result)
{
    struct retention_work *w = user;
    const struct eviction_result *results = result;
    for (size_t i = 0; i < w->n_rows; i++) {
        if (!row_is_at_context(w, i, c)) continue;
        for (size_t h = 0; h < heads; h++, results++) {
            moments_add(&w->rows[i].retained_mass, results->retained_mass);
            moments_add(&w->rows[i].attention_error, results->output_error);
        }
    }
}

bool measure_retention(const struct measure_plan *p, const struct retention_policy *policies, size_t n_policies,
                       const double *ratios, size_t n_ratios, struct measured_retention *rows, size_t *ret_n, struct diags *diags)
{
    size_t n = 0;
    for (size_t i = 0; i < n_policies * p->n_contexts * n_ratios; i++) {
        struct measured_retention row = {.policy = &policies[i / n_ratios / p->n_contexts],
                                         .context = p->contexts[i / n_ratios % p->n_contexts],
                                         .ratio = ratios[i % n_ratios]};
        struct eviction_options o = retention_options(row.policy, row.context, row.ratio, measure_first(p, row.context));
        if (retention_has_room(&o, row.context)) rows[n++] = row;
    }
    *ret_n = n;
    struct retention_work w = {rows, n, p};
    const char *follows = NULL; /* who selects once, or by the step alone, looks at few */
    for (size_t i = 0; i < n_policies; i++)
        if (policies[i].options.policy->traits->counts) follows = "a cache that evicts by counts";
    return measure_each_layer(p, &(struct measurement){retention_size, retention_heads, retention_add, &w, follows}, diags);
}

/* ---- the range of scores ------------------------------------------------------------------------------------------------- */

struct range_work {
    const struct softmax_range *range;
    struct measured_range *rows;
};

static size_t range_size(const void *user, size_t c, size_t heads)
{
    (void)user;
    (void)c;
    (void)heads;
    return sizeof(struct softmax_range_result);
}

static bool range_heads(const void *user, size_t c, const struct head *heads, size_t n, size_t first, void *ret,
                        struct diags *diags)
{
    const struct range_work *w = user;
    (void)c;
    for (size_t h = 0; h < n; h++)
        if (!softmax_range_count(&heads[h], w->range, first, ret, diags)) return false;
    return true;
}

static void range_add(void *user, size_t c, size_t heads, const void *result)
{
    struct range_work *w = user;
    (void)heads;
    softmax_range_merge(&w->rows[c].count, result);
}

bool measure_range(const struct measure_plan *p, const struct softmax_range *r, struct measured_range *rows, struct diags *diags)
{
    for (size_t c = 0; c < p->n_contexts; c++) rows[c] = (struct measured_range){0};
    struct range_work w = {r, rows};
    if (!measure_each_layer(p, &(struct measurement){range_size, range_heads, range_add, &w, NULL}, diags)) return false;
    for (size_t c = 0; c < p->n_contexts; c++) softmax_range_finish(&rows[c].count);
    return true;
}
