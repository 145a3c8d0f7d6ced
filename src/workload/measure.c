#include "workload/measure.h"

#include "base/xalloc.h"

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

/* ---- the plan ---------------------------------------------------------------------------------------------------------------------- */

size_t measure_first(const struct measure_plan *p, size_t context)
{
    return p->steps ? context - p->steps : context / 2;
}

static bool fault(struct diags *diags, const char *fmt, size_t a, size_t b)
{
    return diags_input(diags, (struct srcloc){0}, NULL, NULL, fmt, a, b);
}

bool measure_plan_check(const struct measure_plan *p, struct diags *diags)
{
    size_t heads = 0;
    bool ok = true;
    for (size_t i = 0; i < p->n_sources; i++) heads += p->sources[i].layers * p->sources[i].heads;
    if (heads == 0) return diags_input(diags, (struct srcloc){0}, NULL, NULL, "there is no head to measure");
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

/* ---- going over heads -------------------------------------------------------------------------------------------------------------- */

/* Work on one layer's heads, all cut at the c-th context. */
typedef bool (*measure_layer)(void *user, size_t c, const struct head *heads, size_t n, size_t first, struct diags *diags);

static double total_work(const struct measure_plan *p)
{
    double heads = 0, squares = 0;
    for (size_t i = 0; i < p->n_sources; i++) heads += (double)(p->sources[i].layers * p->sources[i].heads);
    for (size_t c = 0; c < p->n_contexts; c++) squares += (double)p->contexts[c] * (double)p->contexts[c];
    return heads * squares;
}

static bool load_layer(const struct head_source *s, size_t layer, struct head *heads, size_t *ret_n, struct diags *diags)
{
    *ret_n = 0;
    for (size_t h = 0; h < s->heads; h++) {
        if (!s->head(s->user, layer, h, &heads[h], diags)) return false;
        (*ret_n)++;
    }
    return true;
}

static bool each_context(const struct measure_plan *p, struct head *heads, size_t n, measure_layer work, void *user, double *done,
                         struct diags *diags)
{
    double total = total_work(p);
    size_t whole = heads->n;
    bool ok = true;
    for (size_t c = 0; c < p->n_contexts && ok; c++) {
        for (size_t h = 0; h < n; h++) heads[h].n = p->contexts[c]; /* a prefix of the rows */
        ok = work(user, c, heads, n, measure_first(p, p->contexts[c]), diags);
        *done += (double)n * (double)p->contexts[c] * (double)p->contexts[c];
        if (p->progress) p->progress(p->progress_user, *done / total);
    }
    for (size_t h = 0; h < n; h++) heads[h].n = whole;
    return ok;
}

static bool each_layer(const struct measure_plan *p, measure_layer work, void *user, struct diags *diags)
{
    if (!measure_plan_check(p, diags)) return false;
    double done = 0;
    bool ok = true;
    for (size_t i = 0; i < p->n_sources && ok; i++) {
        const struct head_source *s = &p->sources[i];
        struct head *heads = xcalloc(s->heads, sizeof *heads);
        for (size_t layer = 0; layer < s->layers && ok; layer++) {
            size_t n;
            ok = load_layer(s, layer, heads, &n, diags) && each_context(p, heads, n, work, user, &done, diags);
            for (size_t h = 0; h < n; h++) head_release(&heads[h]);
        }
        free(heads);
    }
    return ok;
}

/* ---- locality ---------------------------------------------------------------------------------------------------------------------- */

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
}

static bool locality_layer(void *user, size_t c, const struct head *heads, size_t n, size_t first, struct diags *diags)
{
    struct locality_work *w = user;
    for (size_t h = 0; h < n; h++) {
        struct locality_result r;
        if (!locality_run(&heads[h], w->options, first, &r, diags)) return false;
        struct dse_locality at = locality_profile_point(&r, w->options->recent);
        add_locality(&w->rows[c], &r, &at);
    }
    return true;
}

bool measure_locality(const struct measure_plan *p, const struct locality_options *o, struct measured_locality *rows,
                      struct diags *diags)
{
    for (size_t c = 0; c < p->n_contexts; c++) rows[c] = (struct measured_locality){0};
    struct locality_work w = {o, rows};
    return each_layer(p, locality_layer, &w, diags);
}

/* ---- retention --------------------------------------------------------------------------------------------------------------------- */

struct retention_work {
    struct measured_retention *rows;
    size_t n_rows;
    const struct measure_plan *plan;
};

/* Is the cache large enough for what the policy holds apart? */
static bool fits(const struct eviction_options *o, size_t context)
{
    size_t size = eviction_size(o, context);
    if (o->policy == EVICTION_VOTING) return size >= o->reserved && size > (o->reserve_positions ? o->reserved : 0);
    return size > (o->policy == EVICTION_WINDOW ? o->sinks : 0);
}

static bool retention_layer(void *user, size_t c, const struct head *heads, size_t n, size_t first, struct diags *diags)
{
    struct retention_work *w = user;
    struct eviction_options *options = xcalloc(w->n_rows, sizeof *options);
    struct eviction_result *results = xcalloc(w->n_rows * n, sizeof *results);
    struct measured_retention **rows = xcalloc(w->n_rows, sizeof(struct measured_retention *));
    size_t n_options = 0;
    for (size_t i = 0; i < w->n_rows; i++) {
        if (w->rows[i].context != w->plan->contexts[c]) continue;
        options[n_options] = w->rows[i].policy->options;
        options[n_options].ratio = w->rows[i].ratio;
        rows[n_options++] = &w->rows[i];
    }
    bool ok = n_options == 0 || eviction_run_many(heads, n, options, n_options, first, results, diags);
    for (size_t i = 0; i < n_options && ok; i++)
        for (size_t h = 0; h < n; h++) {
            moments_add(&rows[i]->retained_mass, results[i * n + h].retained_mass);
            moments_add(&rows[i]->attention_error, results[i * n + h].output_error);
        }
    free(rows);
    free(results);
    free(options);
    return ok;
}

bool measure_retention(const struct measure_plan *p, const struct retention_policy *policies, size_t n_policies,
                       const double *ratios, size_t n_ratios, struct measured_retention *rows, size_t *ret_n, struct diags *diags)
{
    size_t n = 0;
    for (size_t i = 0; i < n_policies * p->n_contexts * n_ratios; i++) {
        struct measured_retention row = {.policy = &policies[i / n_ratios / p->n_contexts],
                                         .context = p->contexts[i / n_ratios % p->n_contexts],
                                         .ratio = ratios[i % n_ratios]};
        struct eviction_options o = row.policy->options;
        o.ratio = row.ratio;
        if (fits(&o, row.context)) rows[n++] = row;
    }
    *ret_n = n;
    struct retention_work w = {rows, n, p};
    return each_layer(p, retention_layer, &w, diags);
}

/* ---- the range of scores ------------------------------------------------------------------------------------------------------------ */

struct range_work {
    const struct softmax_range *range;
    struct measured_range *rows;
};

static bool range_layer(void *user, size_t c, const struct head *heads, size_t n, size_t first, struct diags *diags)
{
    struct range_work *w = user;
    for (size_t h = 0; h < n; h++)
        if (!softmax_range_count(&heads[h], w->range, first, &w->rows[c].count, diags)) return false;
    return true;
}

bool measure_range(const struct measure_plan *p, const struct softmax_range *r, struct measured_range *rows, struct diags *diags)
{
    for (size_t c = 0; c < p->n_contexts; c++) rows[c] = (struct measured_range){0};
    struct range_work w = {r, rows};
    if (!each_layer(p, range_layer, &w, diags)) return false;
    for (size_t c = 0; c < p->n_contexts; c++) softmax_range_finish(&rows[c].count);
    return true;
}
