#include "attention/softmax_range.h"

#include "base/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct srcloc nowhere = {0};

const struct softmax_range softmax_range_llama2_7b = {.low = -16.8, .high = 6.5};

size_t softmax_length_class(size_t length)
{
    size_t class = 0;
    for (; length > 1 && class + 1 < SOFTMAX_LENGTHS; length >>= 1) class ++;
    return class;
}

static bool check_steps(const struct head *h, size_t first, struct diags *diags)
{
    if (h->d == 0) return diags_input(diags, nowhere, NULL, NULL, "a head of dimension 0 has no scores");
    if (first < h->n) return true;
    return diags_input(diags, nowhere, NULL, "the first step is below the number of positions",
                       "no steps: the first is %zu, the head has %zu positions", first, h->n);
}

static bool check_range(const struct softmax_range *r, struct diags *diags)
{
    if (isfinite(r->phi) && r->low < r->high) return true;
    return diags_input(diags, nowhere, NULL, "phi is a number, low is below high", "no range: phi %g, low %g, high %g", r->phi,
                       r->low, r->high);
}

static bool is_outside(const struct softmax_range *r, double x)
{
    double y = x - r->phi;
    return !(r->low < y && y < r->high);
}

/* ---- one range ----------------------------------------------------------------------------------------------------------- */

static void add_vector(struct softmax_range_share *s, size_t length, size_t outside)
{
    s->vectors++;
    s->scores += length;
    s->outside += (double)outside;
    s->recomputed += outside > 0;
}

bool softmax_range_count(const struct head *h, const struct softmax_range *r, size_t first, struct softmax_range_result *ret,
                         struct diags *diags)
{
    if (!check_range(r, diags) || !check_steps(h, first, diags)) return false;
    double *x = xcalloc(h->n, sizeof *x);
    struct softmax_range_share all = {ret->vectors, ret->scores, ret->outside, ret->recomputed};
    if (all.vectors == 0) {
        ret->min = (double)INFINITY;
        ret->max = -(double)INFINITY;
    }
    for (size_t t = first; t < h->n; t++) {
        if (!head_query(h, t)) continue;
        head_scores(h, t, x);
        size_t outside = 0;
        for (size_t i = 0; i <= t; i++) {
            outside += is_outside(r, x[i]);
            ret->min = x[i] < ret->min ? x[i] : ret->min;
            ret->max = x[i] > ret->max ? x[i] : ret->max;
        }
        add_vector(&all, t + 1, outside);
        add_vector(&ret->lengths[softmax_length_class(t + 1)], t + 1, outside);
    }
    ret->vectors = all.vectors;
    ret->scores = all.scores;
    ret->outside = all.outside;
    ret->recomputed = all.recomputed;
    free(x);
    return true;
}

static void merge_share(struct softmax_range_share *to, const struct softmax_range_share *from)
{
    to->vectors += from->vectors;
    to->scores += from->scores;
    to->outside += from->outside;
    to->recomputed += from->recomputed;
}

void softmax_range_merge(struct softmax_range_result *to, const struct softmax_range_result *from)
{
    if (from->vectors == 0) return;
    to->min = to->vectors ? fmin(to->min, from->min) : from->min;
    to->max = to->vectors ? fmax(to->max, from->max) : from->max;
    to->vectors += from->vectors;
    to->scores += from->scores;
    to->outside += from->outside;
    to->recomputed += from->recomputed;
    for (size_t i = 0; i < SOFTMAX_LENGTHS; i++) merge_share(&to->lengths[i], &from->lengths[i]);
}

static double share(double count, size_t of)
{
    return of ? count / (double)of : (double)NAN;
}

void softmax_range_finish(struct softmax_range_result *r)
{
    r->outside = share(r->outside, r->scores);
    r->recomputed = share(r->recomputed, r->vectors);
    for (size_t i = 0; i < SOFTMAX_LENGTHS; i++) {
        struct softmax_range_share *s = &r->lengths[i];
        s->outside = share(s->outside, s->scores);
        s->recomputed = share(s->recomputed, s->vectors);
    }
}

/* ---- the spread ---------------------------------------------------------------------------------------------------------- */

enum { MIDDLE = SOFTMAX_BINS_REACH * SOFTMAX_BINS_PER_UNIT, BINS = 2 * MIDDLE };

void softmax_spread_init(struct softmax_spread *s)
{
    *s = (struct softmax_spread){.bins = xcalloc(BINS, sizeof *s->bins)};
}

void softmax_spread_release(struct softmax_spread *s)
{
    free(s->bins);
    *s = (struct softmax_spread){0};
}

static size_t bin_of(double x)
{
    double b = floor(x * SOFTMAX_BINS_PER_UNIT) + MIDDLE;
    if (!(b > 0)) return 0;
    return b < BINS ? (size_t)b : BINS - 1;
}

bool softmax_spread_add(struct softmax_spread *s, const struct head *h, size_t first, struct diags *diags)
{
    if (!check_steps(h, first, diags)) return false;
    double *x = xcalloc(h->n, sizeof *x);
    for (size_t t = first; t < h->n; t++) {
        if (!head_query(h, t)) continue;
        head_scores(h, t, x);
        for (size_t i = 0; i <= t; i++) s->bins[bin_of(x[i])]++;
        s->scores += t + 1;
    }
    free(x);
    return true;
}
