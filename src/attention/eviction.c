/* Heads through caches, step by step: the scores of a step are computed once, and every option's cache looks at them.
 *
 * A lane is one cache: of one option and the heads that decide together. */
#include "attention/eviction.h"

#include "attention/eviction_cache.h"
#include "attention/eviction_format.h"
#include "attention/eviction_view.h"
#include "attention/head.h"
#include "base/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pages ---------------------------------------------------------------------------------------------------------------- */

/* Bounds of the scores of pages, as Quest has them: of each page the smallest and the largest of every element of its keys. A key
 * in the page has at most the score sum over elements of max(q low, q high) (times 1 / sqrt(d), which all share).
 */

struct eviction_pages {
    const struct head *head;
    size_t page, pages; /* positions of one; how many the head has */
    double *low, *high; /* of element j and page i at [j * pages + i] */
    double *bound;      /* of each page that has a position, after eviction_pages_bound */
};

static void eviction_pages_init(struct eviction_pages *p, const struct head *h, size_t page)
{
    *p = (struct eviction_pages){.head = h, .page = page, .pages = (h->n - 1) / page + 1};
    p->low = xcalloc(p->pages * h->d, sizeof *p->low);
    p->high = xcalloc(p->pages * h->d, sizeof *p->high);
    p->bound = xcalloc(p->pages, sizeof *p->bound);
}

static void eviction_pages_release(struct eviction_pages *p)
{
    free(p->low);
    free(p->high);
    free(p->bound);
}

/* Let position t in; positions come in their order. */
static void eviction_pages_enter(struct eviction_pages *p, size_t t)
{
    const float *k = p->head->k + t * p->head->d;
    bool opens = t % p->page == 0;
    for (size_t j = 0; j < p->head->d; j++) {
        double *low = &p->low[j * p->pages + t / p->page], *high = &p->high[j * p->pages + t / p->page], x = (double)k[j];
        *low = opens || x < *low ? x : *low;
        *high = opens || x > *high ? x : *high;
    }
}

/* Bounds of the pages of positions 0..t by the query of step t. */
static void eviction_pages_bound(struct eviction_pages *p, size_t t)
{
    size_t n = t / p->page + 1;
    const float *q = head_query(p->head, t);
    double *restrict bound = p->bound;
    memset(bound, 0, n * sizeof *bound);
    for (size_t j = 0; j < p->head->d; j++) {
        double x = (double)q[j];
        const double *end = (x < 0 ? p->low : p->high) + j * p->pages; /* where x times the key is largest */
        for (size_t i = 0; i < n; i++) bound[i] += x * end[i];
    }
}

/* ---- runs ----------------------------------------------------------------------------------------------------------------- */

struct lane {
    struct eviction_cache cache;
    size_t first, heads; /* its heads */
    bool scores;         /* its policy looks at the probabilities of this step */
    size_t pages;        /* of the run's pages, those of its first head; if the policy is paged */
    struct eviction_result *sum;
};

struct run {
    size_t n, d, heads, options, lanes, first, steps; /* steps: measured */
    struct eviction_view *view;
    struct eviction_rounded *rounded; /* of each head, where the cache has few bits: then `view` has what it holds */
    struct lane *lane;
    struct eviction_pages *pages; /* of each size of a page, for all heads */
    size_t n_pages;
    size_t *errors;                 /* of each head: measured steps whose output is not zero */
    double *p;                      /* probabilities of slots, averaged over a lane's heads */
    double *scratch;                /* n */
    struct eviction_output *output; /* of each option, at the head that is looked at */
};

/* Probabilities of n weights of each head, averaged over heads. `kept`: of the slots, else of all positions. */
static void average(struct run *r, const struct lane *l, size_t n, bool kept)
{
    memset(r->p, 0, n * sizeof *r->p);
    for (size_t h = 0; h < l->heads; h++) {
        const struct eviction_view *v = &r->view[l->first + h];
        const double *w = kept ? v->kept : v->weight;
        double scale = 1 / ((kept ? v->kept_total : v->total) * (double)l->heads);
        for (size_t i = 0; i < n; i++) r->p[i] += w[i] * scale;
    }
}

/* Bounds of the scores of pages, added up over heads. */
static void bound_pages(struct run *r, const struct lane *l, size_t t)
{
    assert(r->pages);
    size_t n = t / r->pages[l->pages].page + 1;
    memset(r->p, 0, n * sizeof *r->p);
    for (size_t h = 0; h < l->heads; h++)
        for (size_t i = 0; i < n; i++) r->p[i] += r->pages[l->pages + h].bound[i];
}

static void choose(struct run *r, struct lane *l, size_t t)
{
    const struct eviction_policy *policy = l->cache.options->policy;
    if (policy->traits->paged)
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
    if (o->policy->leave && !o->policy->choose && !filling) eviction_cache_evict(&l->cache);
}

/* Let position t in. */
static void enter(struct run *r, struct lane *l, size_t t, bool measured)
{
    const struct eviction_options *o = l->cache.options;
    bool filling = o->prompt && !o->evict_in_prompt && t < o->prompt;
    l->scores = eviction_cache_scores(&l->cache);
    eviction_cache_enter(&l->cache);
    if (o->policy->choose && measured && !filling) choose(r, l, t);
}

static bool has_head(const struct lane *l, size_t h)
{
    return h >= l->first && h < l->first + l->heads;
}

/* Measure what all lanes keep of head h. */
static void measure(struct run *r, size_t h)
{
    struct eviction_view *v = &r->view[h];
    size_t n = 0;
    for (size_t i = 0; i < r->lanes; i++)
        if (has_head(&r->lane[i], h)) eviction_output_begin(&r->output[n++], v, &r->lane[i].cache);
    eviction_outputs_finish(r->output, n, v, r->rounded ? &r->rounded[h].exact : v);
    n = 0;
    for (size_t i = 0; i < r->lanes; i++) {
        const struct lane *l = &r->lane[i];
        if (!has_head(l, h)) continue;
        l->sum[h - l->first].retained_mass += r->rounded ? eviction_rounded_mass(&r->rounded[h], &l->cache) : r->output[n].mass;
        l->sum[h - l->first].output_error += r->output[n++].error;
    }
}

/* Let the policy look at the probabilities of the slots. */
static void score(struct run *r, struct lane *l)
{
    if (!l->scores) return;
    for (size_t h = 0; h < l->heads; h++) eviction_view_gather(&r->view[l->first + h], &l->cache);
    average(r, l, l->cache.n, true);
    eviction_cache_score(&l->cache, r->p);
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

/* The heads from the h-th on that one decision is for. */
static size_t deciding(const struct head *heads, size_t n_heads, size_t h, const struct eviction_options *o)
{
    size_t n = 1;
    if (o->shared) return n_heads - h;
    while (o->decides == EVICTION_BY_GROUP && h + n < n_heads && heads[h + n].group == heads[h].group) n++;
    return n;
}

/* Add the cache of head h and of those that decide with it: how many they are. */
static size_t add_lane(struct run *r, const struct head *heads, size_t h, const struct eviction_options *o,
                       struct eviction_result *ret)
{
    struct lane *l = &r->lane[r->lanes++];
    size_t size = eviction_size(o, r->n), layer = heads->layer;
    *l = (struct lane){.first = h, .heads = deciding(heads, r->heads, h, o), .sum = &ret[h]};
    if (o->policy->budget) size = o->policy->budget(o, size, layer);
    eviction_cache_init(&l->cache, o, size, r->n, (uint64_t)o->seed + h);
    l->cache.layer = layer;
    if (o->policy->traits->paged) l->pages = pages_of(r, heads, (size_t)o->page) + h;
    return l->heads;
}

static void run_init(struct run *r, const struct head *heads, size_t n_heads, const struct eviction_options *o, size_t n_options,
                     size_t first, struct eviction_result *ret)
{
    size_t n = heads->n, d = heads->d;
    *r = (struct run){.n = n, .d = d, .heads = n_heads, .options = n_options, .first = first};
    r->view = xcalloc(n_heads, sizeof *r->view);
    for (size_t h = 0; h < n_heads; h++) eviction_view_init(&r->view[h], &heads[h]);
    if (eviction_rounds(&o->format)) r->rounded = xcalloc(n_heads, sizeof *r->rounded);
    for (size_t h = 0; h < n_heads && r->rounded; h++) eviction_rounded_init(&r->rounded[h], &heads[h], &o->format);
    r->lane = xcalloc(n_options * n_heads, sizeof *r->lane);
    for (size_t i = 0; i < n_options; i++)
        for (size_t h = 0; h < n_heads;) h += add_lane(r, heads, h, &o[i], &ret[i * n_heads]);
    r->errors = xcalloc(n_heads, sizeof *r->errors);
    r->p = xcalloc(n, sizeof *r->p);
    r->scratch = xcalloc(n, sizeof *r->scratch);
    r->output = xcalloc(n_options, sizeof *r->output);
    for (size_t i = 0; i < n_options; i++) eviction_output_init(&r->output[i], n, d);
}

static void run_release(struct run *r)
{
    for (size_t h = 0; h < r->heads; h++) eviction_view_release(&r->view[h]);
    for (size_t h = 0; h < r->heads && r->rounded; h++) eviction_rounded_release(&r->rounded[h]);
    free(r->rounded);
    for (size_t i = 0; i < r->lanes; i++) eviction_cache_release(&r->lane[i].cache);
    for (size_t i = 0; i < r->n_pages; i++) eviction_pages_release(&r->pages[i]);
    free(r->pages);
    free(r->view);
    free(r->lane);
    free(r->errors);
    free(r->p);
    free(r->scratch);
    for (size_t i = 0; i < r->options; i++) eviction_output_release(&r->output[i]);
    free(r->output);
}

/* Look at step t if it is measured or a policy wants to. Returns whether it is measured. */
static bool look(struct run *r, size_t t)
{
    bool measured = t >= r->first && head_query(r->view->head, t), wanted = measured;
    for (size_t i = 0; i < r->lanes && !wanted; i++) wanted = eviction_cache_scores(&r->lane[i].cache);
    for (size_t h = 0; h < r->heads && r->rounded; h++) eviction_rounded_enter(&r->rounded[h], &r->view[h], t);
    for (size_t h = 0; h < r->heads && wanted; h++) {
        struct eviction_view *exact = r->rounded ? &r->rounded[h].exact : &r->view[h];
        eviction_view_step(&r->view[h], t, measured);
        if (r->rounded && measured) eviction_view_step(exact, t, true);
        r->errors[h] += measured && exact->norm > 0;
    }
    r->steps += measured;
    for (size_t i = 0; i < r->n_pages; i++) {
        eviction_pages_enter(&r->pages[i], t);
        if (measured) eviction_pages_bound(&r->pages[i], t);
    }
    return measured;
}

static void run_steps(struct run *r)
{
    for (size_t t = 0; t < r->n; t++) {
        bool measured = look(r, t);
        for (size_t i = 0; i < r->lanes; i++) enter(r, &r->lane[i], t, measured);
        for (size_t h = 0; h < r->heads && measured; h++) measure(r, h);
        for (size_t i = 0; i < r->lanes; i++) {
            score(r, &r->lane[i]);
            leave(r, &r->lane[i], t);
        }
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
            e->retained_mass /= (double)r.steps;
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
