/* Heads through caches, step by step: the scores of a step are computed once, and every option's cache looks at them.
 *
 * A lane is one cache: of one option and one head, or of one option and all heads. Scores of a head are relative to the step's
 * largest, so that a weight is exp(score) and the mass of some positions is the sum of their weights over the sum of all.
 */
#include "workload/eviction.h"

#include "base/xalloc.h"
#include "workload/eviction_cache.h"
#include "workload/eviction_pages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Below this share of the mass the kept positions are weighed anew around their own maximum (weights may have underflowed), and
 * above MASS_SAFE the kept output may be the full one minus the evicted, at no more than two digits lost. */
static const double MASS_TINY = 1e-200, MASS_SAFE = 0.01;

/* One head at one step. */
struct view {
    const struct head *head;
    double *keys;   /* d x n: keys by element, so that scores of many positions are computed at a time */
    double *values; /* n x d */
    double *score;  /* of positions 0..t, minus the largest */
    double *weight; /* exp of it */
    double total;   /* sum of the weights */
    double *output; /* sum of weight * value: not divided by total */
    double norm;    /* |output| / total */
    double *kept;   /* weights of the slots of the lane that is looked at */
    double kept_total;
};

struct lane {
    struct eviction_cache cache;
    size_t first, heads; /* its heads */
    size_t pages;        /* of the run's pages, those of its first head; if the policy is paged */
    struct eviction_result *sum;
};

struct run {
    size_t n, d, heads, lanes, first;
    struct view *view;
    struct lane *lane;
    struct eviction_pages *pages; /* of each size of a page, for all heads */
    size_t n_pages;
    size_t *errors;  /* of each head: measured steps whose output is not zero */
    double *p;       /* probabilities of slots, averaged over a lane's heads */
    double *scratch; /* n */
    double *partial; /* d */
};

/* Scores of step t in the order of additions of head_scores, four elements of d in one pass over the positions. */
static void score_step(const struct view *v, size_t t)
{
    size_t n = v->head->n, d = v->head->d, j = 0;
    const float *q = v->head->q + t * d;
    double *restrict s = v->score, scale = 1 / sqrt((double)d);
    memset(s, 0, (t + 1) * sizeof *s);
    for (; j + 4 <= d; j += 4) {
        const double *k0 = v->keys + j * n, *k1 = k0 + n, *k2 = k1 + n, *k3 = k2 + n;
        double q0 = (double)q[j], q1 = (double)q[j + 1], q2 = (double)q[j + 2], q3 = (double)q[j + 3];
        for (size_t i = 0; i <= t; i++) s[i] = s[i] + q0 * k0[i] + q1 * k1[i] + q2 * k2[i] + q3 * k3[i];
    }
    for (; j < d; j++)
        for (size_t i = 0; i <= t; i++) s[i] += (double)q[j] * v->keys[j * n + i];
    for (size_t i = 0; i <= t; i++) s[i] *= scale;
}

static double sum_of(const double *x, size_t n)
{
    double s[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t j = 0; j < 4; j++) s[j] += x[i + j];
    for (; i < n; i++) s[0] += x[i];
    return s[0] + s[1] + s[2] + s[3];
}

static double max_of(const double *x, size_t n)
{
    double max = x[0];
    for (size_t i = 1; i < n; i++) max = x[i] > max ? x[i] : max;
    return max;
}

static double norm_of(const double *x, size_t d)
{
    double s = 0;
    for (size_t j = 0; j < d; j++) s += x[j] * x[j];
    return sqrt(s);
}

/* out += sum of weight[i] * values of four rows. */
static void add_rows4(double *restrict out, const double w[4], const double *const row[4], size_t d)
{
    const double *r0 = row[0], *r1 = row[1], *r2 = row[2], *r3 = row[3];
    for (size_t j = 0; j < d; j++) out[j] += w[0] * r0[j] + w[1] * r1[j] + w[2] * r2[j] + w[3] * r3[j];
}

/* out += sum over i < n of weight[i] * row of position[i], or of position from + i if position is NULL. */
static void add_rows(double *restrict out, const double *values, size_t d, const double *weight, const uint32_t *position,
                     size_t from, size_t n)
{
    for (size_t i = 0; i < n; i += 4) {
        const double *row[4];
        double w[4];
        for (size_t j = 0; j < 4; j++) {
            size_t k = i + j < n ? i + j : i; /* the last ones count with a weight of 0 */
            row[j] = values + (position ? position[k] : from + k) * d;
            w[j] = i + j < n ? weight[k] : 0;
        }
        add_rows4(out, w, row, d);
    }
}

static void view_step(struct view *v, size_t t, bool measured)
{
    size_t n = t + 1, d = v->head->d;
    score_step(v, t);
    double max = max_of(v->score, n);
    for (size_t i = 0; i < n; i++) v->score[i] -= max;
    for (size_t i = 0; i < n; i++) v->weight[i] = exp(v->score[i]);
    v->total = sum_of(v->weight, n);
    if (!measured) return;
    memset(v->output, 0, d * sizeof *v->output);
    add_rows(v->output, v->values, d, v->weight, NULL, 0, n);
    v->norm = norm_of(v->output, d) / v->total;
}

/* Weights of the slots of a cache. Returns the retained mass. */
static double gather(struct view *v, const struct eviction_cache *c)
{
    for (size_t i = 0; i < c->n; i++) v->kept[i] = v->weight[c->position[i]];
    v->kept_total = sum_of(v->kept, c->n);
    double mass = v->kept_total / v->total;
    if (mass > MASS_TINY) return mass;
    for (size_t i = 0; i < c->n; i++) v->kept[i] = v->score[c->position[i]];
    double max = max_of(v->kept, c->n);
    for (size_t i = 0; i < c->n; i++) v->kept[i] = exp(v->kept[i] - max);
    v->kept_total = sum_of(v->kept, c->n);
    return mass;
}

/* The kept positions' sum of weight * value into out. Of kept and evicted positions the fewer are added up. */
static void kept_output(const struct view *v, const struct eviction_cache *c, double mass, double *out)
{
    size_t d = v->head->d;
    memset(out, 0, d * sizeof *out);
    if (c->evicted >= c->n || mass < MASS_SAFE) {
        add_rows(out, v->values, d, v->kept, c->position, 0, c->n);
        return;
    }
    for (size_t i = 0, next = 0; i <= c->n; i++) { /* gaps before each kept position, and after the last */
        size_t end = i < c->n ? c->position[i] : c->seen;
        add_rows(out, v->values, d, v->weight + next, NULL, next, end - next);
        next = end + 1;
    }
    for (size_t j = 0; j < d; j++) out[j] = v->output[j] - out[j];
}

static void measure(const struct view *v, const struct eviction_cache *c, double mass, double *scratch, struct eviction_result *sum)
{
    size_t d = v->head->d;
    sum->retained_mass += mass;
    if (!(v->norm > 0)) return;
    kept_output(v, c, mass, scratch);
    for (size_t j = 0; j < d; j++) scratch[j] = scratch[j] / v->kept_total - v->output[j] / v->total;
    sum->output_error += norm_of(scratch, d) / v->norm;
}

/* Probabilities of n weights of each head, averaged over heads. `kept`: of the slots, else of all positions. */
static void average(struct run *r, const struct lane *l, size_t n, bool kept)
{
    memset(r->p, 0, n * sizeof *r->p);
    for (size_t h = 0; h < l->heads; h++) {
        const struct view *v = &r->view[l->first + h];
        const double *w = kept ? v->kept : v->weight;
        double scale = 1 / ((kept ? v->kept_total : v->total) * (double)l->heads);
        for (size_t i = 0; i < n; i++) r->p[i] += w[i] * scale;
    }
}

/* Bounds of the scores of pages, added up over heads. */
static void bound_pages(struct run *r, const struct lane *l, size_t t)
{
    size_t n = t / r->pages[l->pages].page + 1;
    memset(r->p, 0, n * sizeof *r->p);
    for (size_t h = 0; h < l->heads; h++)
        for (size_t i = 0; i < n; i++) r->p[i] += r->pages[l->pages + h].bound[i];
}

static void choose(struct run *r, struct lane *l, size_t t)
{
    const struct eviction_policy *policy = l->cache.options->policy;
    if (policy->traits.paged)
        bound_pages(r, l, t);
    else
        average(r, l, t + 1, false);
    policy->choose(&l->cache, r->p, r->scratch);
}

/* Who leaves after step t. */
static void leave(struct run *r, struct lane *l, size_t t)
{
    const struct eviction_options *o = l->cache.options;
    bool filling = o->prompt && !o->evict_in_prompt && t + 1 < o->prompt;
    if (o->policy->select && t + 1 == o->prompt) o->policy->select(&l->cache, r->scratch);
    if (o->policy->leave && !filling) eviction_cache_evict(&l->cache);
}

static void lane_step(struct run *r, struct lane *l, size_t t)
{
    struct eviction_cache *c = &l->cache;
    const struct eviction_options *o = c->options;
    bool measured = t >= r->first, filling = o->prompt && !o->evict_in_prompt && t < o->prompt;
    bool scores = eviction_cache_scores(c);
    eviction_cache_enter(c);
    if (o->policy->choose && measured && !filling) choose(r, l, t);
    for (size_t h = 0; h < l->heads && (measured || scores); h++) {
        struct view *v = &r->view[l->first + h];
        double mass = gather(v, c);
        if (measured) measure(v, c, mass, r->partial, &l->sum[h]);
    }
    if (scores) {
        average(r, l, c->n, true);
        eviction_cache_score(c, r->p);
    }
    leave(r, l, t);
}

static void view_init(struct view *v, const struct head *h)
{
    size_t n = h->n, d = h->d;
    *v = (struct view){.head = h};
    v->keys = xrealloc(NULL, n * d, sizeof *v->keys);
    v->values = xrealloc(NULL, n * d, sizeof *v->values);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) v->keys[j * n + i] = (double)h->k[i * d + j];
    for (size_t i = 0; i < n * d; i++) v->values[i] = (double)h->v[i];
    v->score = xcalloc(n, sizeof *v->score);
    v->weight = xcalloc(n, sizeof *v->weight);
    v->kept = xcalloc(n, sizeof *v->kept);
    v->output = xcalloc(d, sizeof *v->output);
}

static void view_release(struct view *v)
{
    free(v->keys);
    free(v->values);
    free(v->score);
    free(v->weight);
    free(v->kept);
    free(v->output);
}

/* Where the run has the pages of this size of the first head; those of the others follow. */
static size_t pages_of(struct run *r, const struct head *heads, size_t page)
{
    size_t i = 0;
    while (i < r->n_pages && r->pages[i].page != page) i += r->heads;
    if (i < r->n_pages) return i;
    r->pages = xrealloc(r->pages, i + r->heads, sizeof *r->pages);
    for (size_t h = 0; h < r->heads; h++) eviction_pages_init(&r->pages[r->n_pages++], &heads[h], page);
    return i;
}

static void run_init(struct run *r, const struct head *heads, size_t n_heads, const struct eviction_options *o, size_t n_options,
                     size_t first, struct eviction_result *ret)
{
    size_t n = heads->n, d = heads->d;
    *r = (struct run){.n = n, .d = d, .heads = n_heads, .first = first};
    r->view = xcalloc(n_heads, sizeof *r->view);
    for (size_t h = 0; h < n_heads; h++) view_init(&r->view[h], &heads[h]);
    r->lane = xcalloc(n_options * n_heads, sizeof *r->lane);
    for (size_t i = 0; i < n_options; i++)
        for (size_t h = 0; h < (o[i].shared ? 1 : n_heads); h++) {
            struct lane *l = &r->lane[r->lanes++];
            *l = (struct lane){.first = h, .heads = o[i].shared ? n_heads : 1, .sum = &ret[i * n_heads + h]};
            size_t size = eviction_size(&o[i], n), layer = heads->layer;
            if (o[i].policy->budget) size = o[i].policy->budget(&o[i], size, layer);
            eviction_cache_init(&l->cache, &o[i], size, n, (uint64_t)o[i].seed + h);
            l->cache.layer = layer;
            if (o[i].policy->traits.paged) l->pages = pages_of(r, heads, (size_t)o[i].page) + h;
        }
    r->errors = xcalloc(n_heads, sizeof *r->errors);
    r->p = xcalloc(n, sizeof *r->p);
    r->scratch = xcalloc(n, sizeof *r->scratch);
    r->partial = xcalloc(d, sizeof *r->partial);
}

static void run_release(struct run *r)
{
    for (size_t h = 0; h < r->heads; h++) view_release(&r->view[h]);
    for (size_t i = 0; i < r->lanes; i++) eviction_cache_release(&r->lane[i].cache);
    for (size_t i = 0; i < r->n_pages; i++) eviction_pages_release(&r->pages[i]);
    free(r->pages);
    free(r->view);
    free(r->lane);
    free(r->errors);
    free(r->p);
    free(r->scratch);
    free(r->partial);
}

static void run_steps(struct run *r)
{
    for (size_t t = 0; t < r->n; t++) {
        bool measured = t >= r->first;
        for (size_t h = 0; h < r->heads; h++) {
            view_step(&r->view[h], t, measured);
            r->errors[h] += measured && r->view[h].norm > 0;
        }
        for (size_t i = 0; i < r->n_pages; i++) {
            eviction_pages_enter(&r->pages[i], t);
            if (measured) eviction_pages_bound(&r->pages[i], t);
        }
        for (size_t i = 0; i < r->lanes; i++) lane_step(r, &r->lane[i], t);
    }
}

bool eviction_run_many(const struct head *heads, size_t n_heads, const struct eviction_options *options, size_t n_options,
                       size_t first, struct eviction_result *ret, struct diags *diags)
{
    if (!eviction_check(heads, n_heads, options, n_options, first, diags)) return false;
    memset(ret, 0, n_options * n_heads * sizeof *ret);
    struct run r;
    run_init(&r, heads, n_heads, options, n_options, first, ret);
    run_steps(&r);
    for (size_t i = 0; i < n_options; i++)
        for (size_t h = 0; h < n_heads; h++) {
            struct eviction_result *e = &ret[i * n_heads + h];
            e->retained_mass /= (double)(r.n - first);
            e->output_error = r.errors[h] ? e->output_error / (double)r.errors[h] : 0;
        }
    run_release(&r);
    return true;
}

bool eviction_run(const struct head *h, const struct eviction_options *o, size_t first, struct eviction_result *ret,
                  struct diags *diags)
{
    return eviction_run_many(h, 1, o, 1, first, ret, diags);
}

bool eviction_run_layer(const struct head *heads, size_t n_heads, const struct eviction_options *o, size_t first,
                        struct eviction_result *ret, struct diags *diags)
{
    struct eviction_options shared = *o;
    shared.shared = true;
    return eviction_run_many(heads, n_heads, &shared, 1, first, ret, diags);
}
