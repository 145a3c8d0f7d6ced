#include "attention/score_stats.h"

#include "attention/locality.h"
#include "base/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct position {
    uint32_t count[LOCALITY_INTERVALS_MAX];
    uint8_t mode;
    bool active; /* in the step before */
};

struct pass {
    const struct locality_options *o;
    struct position *positions;
    double *active, *hit; /* of each step; hit NaN without a J */
    uint64_t outside, scores;
    size_t recomputed;
};

/* Scores of positions 0..t. keys is h->k transposed, so that the sums of neighbours run side by side. */
static void scores_of(const struct head *h, const float *keys, size_t t, float *scores)
{
    memset(scores, 0, (t + 1) * sizeof *scores);
    for (size_t j = 0; j < h->d; j++) {
        float q = h->q[t * h->d + j];
        const float *restrict k = keys + j * h->n;
        for (size_t i = 0; i <= t; i++) scores[i] += q * k[i];
    }
    float scale = (float)(1 / sqrt((double)h->d));
    for (size_t i = 0; i <= t; i++) scores[i] *= scale;
}

static size_t interval_of(const struct locality_options *o, double x)
{
    size_t k = 0;
    while (k + 1 < o->intervals && x > o->edges[k]) k++;
    return k;
}

static void step(struct pass *p, size_t t, const float *scores, double low, double high)
{
    double max = -(double)INFINITY, min = (double)INFINITY;
    for (size_t i = 0; i <= t; i++) {
        double x = (double)scores[i];
        max = fmax(max, x);
        min = fmin(min, x);
        p->outside += !(x > low && x < high);
    }
    p->scores += t + 1;
    p->recomputed += !(min > low && max < high);
    size_t active = 0, kept = 0;
    for (size_t i = 0; i <= t; i++) {
        struct position *at = &p->positions[i];
        size_t k = interval_of(p->o, (double)scores[i] - max);
        bool now = i + p->o->recent <= t && k != at->mode;
        active += now;
        kept += now && at->active;
        at->active = now;
        if (++at->count[k] > at->count[at->mode]) at->mode = (uint8_t)k;
    }
    p->active[t] = (double)active;
    p->hit[t] = active ? (double)kept / (double)active : (double)NAN;
}

static void add_position(const struct position *at, size_t steps, size_t intervals, struct score_stats *s, size_t *both)
{
    size_t first = 0, second = intervals;
    for (size_t k = 1; k < intervals; k++) first = at->count[k] > at->count[first] ? k : first;
    for (size_t k = 0; k < intervals; k++)
        if (k != first && at->count[k] && (second == intervals || at->count[k] > at->count[second])) second = k;
    s->top1 += (double)at->count[first] / (double)steps;
    if (second == intervals) return;
    s->top2 += (double)at->count[second] / (double)steps;
    s->adjacent += second + 1 == first || first + 1 == second;
    ++*both;
}

static void snapshot(const struct pass *p, size_t n, struct score_stats *s)
{
    *s = (struct score_stats){.n = n};
    size_t positions = n > p->o->recent ? n - p->o->recent : 0, both = 0, with = 0;
    for (size_t i = 0; i < positions; i++) add_position(&p->positions[i], n - i, p->o->intervals, s, &both);
    s->top1 = positions ? s->top1 / (double)positions : (double)NAN;
    s->top2 = positions ? s->top2 / (double)positions : (double)NAN;
    s->adjacent = both ? s->adjacent / (double)both : 1;
    size_t steps = n < SCORE_STATS_STEPS ? n : SCORE_STATS_STEPS;
    for (size_t t = n - steps; t < n; t++) {
        s->active += p->active[t] / (double)steps;
        if (isnan(p->hit[t])) continue;
        s->hit += p->hit[t];
        with++;
    }
    s->hit = with ? s->hit / (double)with : (double)NAN;
    s->inside = 1 - (double)p->outside / (double)p->scores;
    s->recomputed = (double)p->recomputed / (double)n;
}

void score_stats_run(const struct head *h, double low, double high, struct score_stats *ret, size_t n_ret)
{
    assert(n_ret > 0 && ret[n_ret - 1].n <= h->n);
    size_t last = ret[n_ret - 1].n;
    float *keys = xcalloc(h->n * h->d, sizeof *keys), *scores = xcalloc(last, sizeof *scores);
    for (size_t i = 0; i < h->n; i++)
        for (size_t j = 0; j < h->d; j++) keys[j * h->n + i] = h->k[i * h->d + j];
    struct pass p = {.o = &locality_defaults};
    p.positions = xcalloc(last, sizeof *p.positions);
    p.active = xcalloc(last, sizeof *p.active);
    p.hit = xcalloc(last, sizeof *p.hit);
    for (size_t t = 0, s = 0; t < last; t++) {
        scores_of(h, keys, t, scores);
        step(&p, t, scores, low, high);
        while (s < n_ret && ret[s].n == t + 1) snapshot(&p, t + 1, &ret[s++]);
    }
    free(p.hit);
    free(p.active);
    free(p.positions);
    free(scores);
    free(keys);
}
