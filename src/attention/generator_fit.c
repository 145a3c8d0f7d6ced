#include "attention/generator_fit.h"

#include "attention/score_stats.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/xalloc.h"

#include <omp.h>
#include <gsl/gsl_multimin.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const anchor_metric_names[] = {"top1",          "top1_plus_top2", "top2_adjacent", "hit_ratio", "active",
                                           "active_growth", "inside",         "recomputed",    NULL};
_Static_assert(sizeof anchor_metric_names / sizeof *anchor_metric_names == ANCHOR_METRICS + 1, "a name for every metric");

const double anchor_slack = 0.01;

/* ---- measuring ----------------------------------------------------------------------------------------------------------- */

static void add_length(size_t *lengths, size_t *n, size_t length)
{
    size_t at = 0;
    while (at < *n && lengths[at] < length) at++;
    if (at < *n && lengths[at] == length) return;
    for (size_t i = (*n)++; i > at; i--) lengths[i] = lengths[i - 1];
    lengths[at] = length;
}

/* The shorter length that a growth is measured from. */
static size_t growth_from(size_t n)
{
    return n / 8;
}

/* Every length that some anchor needs, growing; the caller frees it. */
static size_t *lengths_of(const struct anchor_set *set, size_t *ret_n)
{
    size_t *lengths = xcalloc(2 * set->n + 1, sizeof *lengths);
    *ret_n = 0;
    for (size_t i = 0; i < set->n; i++) {
        add_length(lengths, ret_n, set->list[i].n);
        if (set->list[i].metric == ANCHOR_ACTIVE_GROWTH) add_length(lengths, ret_n, growth_from(set->list[i].n));
    }
    return lengths;
}

/* Sums over heads; count and hits (heads with a hit ratio) for the means. */
struct total {
    struct score_stats sum;
    double heads, hits;
};

static void add_stats(struct total *t, const struct score_stats *s)
{
    t->sum.n = s->n;
    t->sum.top1 += s->top1;
    t->sum.top2 += s->top2;
    t->sum.adjacent += s->adjacent;
    t->sum.active += s->active;
    t->sum.inside += s->inside;
    t->sum.recomputed += s->recomputed;
    t->heads++;
    if (isnan(s->hit)) return;
    t->sum.hit += s->hit;
    t->hits++;
}

static const struct total *total_at(const struct total *totals, size_t n)
{
    while (totals->sum.n != n) totals++;
    return totals;
}

/* |J| that grows from 0 has no exponent: a thousandth of a position stands for none. */
static double growth(const struct total *from, const struct total *to)
{
    double a = from->sum.active / from->heads, b = to->sum.active / to->heads;
    return log(fmax(b, 1e-3) / fmax(a, 1e-3)) / log((double)to->sum.n / (double)from->sum.n);
}

static double value_of(const struct anchor *a, const struct total *totals)
{
    const struct total *t = total_at(totals, a->n);
    switch (a->metric) {
    case ANCHOR_TOP1: return t->sum.top1 / t->heads;
    case ANCHOR_TOP_SUM: return (t->sum.top1 + t->sum.top2) / t->heads;
    case ANCHOR_ADJACENT: return t->sum.adjacent / t->heads;
    case ANCHOR_HIT: return t->hits > 0 ? t->sum.hit / t->hits : 0;
    case ANCHOR_ACTIVE: return t->sum.active / t->heads;
    case ANCHOR_ACTIVE_GROWTH: return growth(total_at(totals, growth_from(a->n)), t);
    case ANCHOR_INSIDE: return t->sum.inside / t->heads;
    case ANCHOR_RECOMPUTED: return t->sum.recomputed / t->heads;
    case ANCHOR_METRICS: break;
    }
    abort();
}

/* Into s[0..n), one a length; g's parameters are in range. */
static void measure_head(const struct anchor_set *set, const struct generator *g, size_t head, const size_t *lengths, size_t n,
                         struct score_stats *s)
{
    for (size_t i = 0; i < n; i++) s[i].n = lengths[i];
    struct generator here = *g;
    here.n = (int64_t)lengths[n - 1];
    struct head h;
    struct diags none; /* generator_check found nothing */
    diags_init(&none);
    if (!generator_head(&here, head, &h, &none)) abort();
    diags_release(&none);
    score_stats_run(&h, set->low, set->high, s, n);
    head_release(&h);
}

bool anchors_measure(const struct anchor_set *set, const struct generator *g, double *measured, struct diags *diags)
{
    if (!generator_check(g, diags)) return false;
    size_t n, shorter = 0;
    size_t *lengths = lengths_of(set, &n);
    while (shorter < n && lengths[shorter] <= ANCHOR_HEADS_N) shorter++;
    size_t longs = shorter == n ? 0 : (set->heads + 7) / 8;
    struct score_stats *stats = xcalloc(set->heads * n + 1, sizeof *stats);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_available(omp_get_max_threads()))
    for (size_t i = 0; i < set->heads; i++) {
        size_t upto = i < longs ? n : shorter;
        if (upto) measure_head(set, g, i, lengths, upto, stats + i * n);
    }
    struct total *totals = xcalloc(n + 1, sizeof *totals);
    for (size_t i = 0; i < set->heads; i++) /* in order, whatever the threads did */
        for (size_t k = 0; k < (i < longs ? n : shorter); k++) add_stats(&totals[k], &stats[i * n + k]);
    for (size_t i = 0; i < set->n; i++) measured[i] = value_of(&set->list[i], totals);
    free(totals);
    free(stats);
    free(lengths);
    return true;
}

static double deviation(const struct anchor *a, double measured)
{
    return (measured - a->value) / a->tolerance;
}

static bool right_side(const struct anchor *a, double measured)
{
    return (a->kind == ANCHOR_AT_LEAST && measured >= a->value) || (a->kind == ANCHOR_AT_MOST && measured <= a->value);
}

double anchors_misfit(const struct anchor_set *set, const double *measured)
{
    double sum = 0;
    for (size_t i = 0; i < set->n; i++) {
        double e = deviation(&set->list[i], measured[i]);
        sum += e * e * (right_side(&set->list[i], measured[i]) ? anchor_slack : 1);
    }
    return sum;
}

bool anchor_kept(const struct anchor *a, double measured)
{
    return right_side(a, measured) || fabs(deviation(a, measured)) <= 1;
}

/* ---- fitting ------------------------------------------------------------------------------------------------------------- */

struct fitting {
    const struct anchor_set *set;
    double *measured;
    size_t evaluations;
};

static double *field_of(struct generator *g, const struct dse_param *row)
{
    return (double *)((char *)g + row->offset);
}

/* A parameter is its start times exp(u), so that it keeps its sign; a correlation moves its distance from 1. */
static void apply(const struct anchor_set *set, const gsl_vector *u, struct generator *g)
{
    *g = set->start;
    for (size_t i = 0; i < set->n_fitted; i++) {
        const struct dse_param *row = set->fitted[i];
        double *x = field_of(g, row), factor = exp(gsl_vector_get(u, i));
        *x = row->offset == offsetof(struct generator, rho) ? 1 - (1 - *x) * factor : *x * factor;
    }
}

static double misfit(const gsl_vector *u, void *user)
{
    struct fitting *f = user;
    struct generator g;
    apply(f->set, u, &g);
    f->evaluations++;
    struct diags ignored; /* a parameter that left its range: no place to stay */
    diags_init(&ignored);
    bool ok = anchors_measure(f->set, &g, f->measured, &ignored);
    diags_release(&ignored);
    return ok ? anchors_misfit(f->set, f->measured) : 1e12;
}

/* Run one simplex from *at to where it has shrunk to. Returns the misfit there. */
static double shrink(struct fitting *f, size_t iterations, gsl_vector *at, struct generator_fit *ret)
{
    const double first_step = 0.1, end_size = 3e-3;
    gsl_vector *steps = gsl_vector_alloc(at->size);
    gsl_multimin_fminimizer *m = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, at->size);
    if (!steps || !m) out_of_memory(0);
    gsl_vector_set_all(steps, first_step);
    gsl_multimin_function fn = {.f = misfit, .n = at->size, .params = f};
    gsl_multimin_fminimizer_set(m, &fn, at, steps);
    ret->size = gsl_multimin_fminimizer_size(m);
    while (ret->iterations < iterations && ret->size > end_size && gsl_multimin_fminimizer_iterate(m) == 0) {
        ret->iterations++;
        ret->size = gsl_multimin_fminimizer_size(m);
    }
    gsl_vector_memcpy(at, gsl_multimin_fminimizer_x(m));
    double there = gsl_multimin_fminimizer_minimum(m);
    gsl_multimin_fminimizer_free(m);
    gsl_vector_free(steps);
    return there;
}

/* A simplex can shrink to where no minimum is: another one starts there, until it gains nothing worth the name. */
static void minimise(struct fitting *f, size_t iterations, struct generator_fit *ret)
{
    const double worth = 0.01; /* of the misfit */
    gsl_vector *at = gsl_vector_calloc(f->set->n_fitted);
    if (!at) out_of_memory(0);
    double before = (double)INFINITY, now = misfit(at, f);
    ret->misfit = now;
    while (ret->iterations < iterations && now < (1 - worth) * before) {
        before = now;
        now = shrink(f, iterations, at, ret);
        ret->simplexes++;
    }
    ret->converged = now >= (1 - worth) * before;
    apply(f->set, at, &ret->g);
    gsl_vector_free(at);
}

/* Three digits, of a correlation those of its distance from 1. */
static void round_fitted(const struct anchor_set *set, struct generator *g)
{
    for (size_t i = 0; i < set->n_fitted; i++) {
        double *x = field_of(g, set->fitted[i]);
        bool correlation = set->fitted[i]->offset == offsetof(struct generator, rho);
        *x = correlation ? 1 - text_round_digits(1 - *x, 3) : text_round_digits(*x, 3);
    }
}

bool generator_fit(const struct anchor_set *set, size_t iterations, struct generator_fit *ret, struct diags *diags)
{
    if (!generator_check(&set->start, diags)) return false;
    *ret = (struct generator_fit){.g = set->start, .misfit = (double)INFINITY};
    struct fitting f = {.set = set, .measured = xcalloc(set->n + 1, sizeof *f.measured)};
    if (set->n_fitted && iterations) minimise(&f, iterations, ret);
    round_fitted(set, &ret->g);
    bool ok = anchors_measure(set, &ret->g, f.measured, diags);
    double rounded = ok ? anchors_misfit(set, f.measured) : 0;
    if (rounded < ret->misfit)
        ret->misfit = rounded;
    else
        ret->g = set->start; /* the digits that were rounded away were worth more than the fit */
    ret->evaluations = f.evaluations + 1;
    free(f.measured);
    return ok;
}

void anchor_set_release(struct anchor_set *set)
{
    for (size_t i = 0; i < set->n; i++) free(set->list[i].source);
    free(set->list);
    free(set->fitted);
    *set = (struct anchor_set){0};
}
