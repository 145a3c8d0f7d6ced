/* What is drawn for the event level: |J| and |U| of every head-sample, and which positions are active, centers or of large mode
 * (E25). */
#include "lad_shared.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>

#include <math.h>

/* One stream of random numbers for each purpose and head-sample. */
enum purpose { FACTORS = 1, ORDER, SAMPLE, ACTIVE, CENTERS, LARGE, UPDATES, REPLAY };

static uint64_t purpose(enum purpose kind, const struct lad_sample *s)
{
    return (uint64_t)kind << 60 | (uint64_t)s->layer << 48 | (uint64_t)s->head << 32 | s->sequence;
}

/* ---- heads ------------------------------------------------------------------------------------------------------------------- */

/* Mean over [from, to) of the spread's factors, laid one after the other from 0 to 1, as wide as their weights. */
static double stratum(const struct lad_point *pt, double from, double to)
{
    double at = 0, sum = 0;
    for (int i = 0; i < pt->nodes; i++) {
        double end = i == pt->nodes - 1 ? 1 : at + pt->node[i].weight;
        double low = fmax(from, at), high = fmin(to, end);
        if (high > low) sum += (high - low) * pt->node[i].factor;
        at = end;
    }
    return sum / (to - from);
}

/* Every layer has the heads of the closed form: its spread in as many equal parts (E12). */
static void mean_factors(struct lad_draws *d)
{
    for (uint32_t h = 0; h < d->heads; h++) {
        double factor = stratum(d->pt, (double)h / d->heads, (double)(h + 1) / d->heads);
        for (uint32_t l = 0; l < d->layers; l++) d->factor[(size_t)l * d->heads + h] = factor;
    }
}

/* Lognormal, of mean 1: one draw from each of as many equally likely classes as there are heads, in random order. The layers that
 * are simulated stand for all; so their mean is that of all. */
static void drawn_factors(struct lad_draws *d, double cv)
{
    size_t n = (size_t)d->layers * d->heads;
    double variance = log1p(cv * cv), sigma = sqrt(variance);
    struct dse_random order = dse_sim_random(d->sim, (uint64_t)ORDER << 60), draw = dse_sim_random(d->sim, (uint64_t)FACTORS << 60);
    for (size_t i = 0; i < n; i++) {
        double share = ((double)i + dse_random_uniform(&draw)) / (double)n;
        double z = gsl_cdf_ugaussian_Pinv(fmax(share, 1e-12));
        size_t j = dse_random_below(&order, i + 1); /* inside out */
        d->factor[i] = d->factor[j];
        d->factor[j] = exp(sigma * z - variance / 2);
    }
}

static void shuffle(uint32_t *list, size_t n, struct dse_random *r)
{
    for (size_t i = 0; i + 1 < n; i++) {
        size_t j = i + dse_random_below(r, n - i);
        uint32_t t = list[i];
        list[i] = list[j];
        list[j] = t;
    }
}

/* E34: heads of the recording in turn, in random order, to the heads simulated; to the sequences of each the recorded head's
 * steps in turn, from where its last turn ended. So every recorded step is replayed as often as any other of its head, or once
 * more. */
static void deal_records(struct lad_draws *d)
{
    const struct dse_recording *recording = d->pt->local->recording;
    size_t n = (size_t)d->layers * d->heads, heads = dse_recording_heads(recording), steps = dse_recording_steps(recording);
    assert(heads > 0 && steps > 0);
    struct dse_random r = dse_sim_random(d->sim, (uint64_t)REPLAY << 60);
    uint32_t *order = dse_sim_alloc(d->sim, heads, sizeof *order);
    size_t *next = dse_sim_alloc(d->sim, heads, sizeof *next);
    for (size_t h = 0; h < heads; h++) {
        order[h] = (uint32_t)h;
        next[h] = dse_random_below(&r, steps);
    }
    shuffle(order, heads, &r);
    d->recorded = dse_sim_alloc(d->sim, n, sizeof *d->recorded);
    d->first_step = dse_sim_alloc(d->sim, n, sizeof *d->first_step);
    for (size_t i = 0; i < n; i++) d->recorded[i] = order[i % heads];
    shuffle(d->recorded, n, &r);
    for (size_t i = 0; i < n; i++) {
        size_t h = d->recorded[i];
        d->first_step[i] = (uint32_t)next[h];
        next[h] = (next[h] + d->batch) % steps;
    }
}

void lad_draws_init(struct lad_draws *d, struct dse_sim *sim, const struct lad_point *pt, uint32_t layers, uint32_t heads,
                    uint32_t batch)
{
    double cv = pt->active_cv, of_sequences = pt->p->sequence_cv;
    *d = (struct lad_draws){.sim = sim,
                            .pt = pt,
                            .mean = dse_sim_ideal(sim, DSE_IDEAL_DRAWS),
                            .layers = layers,
                            .heads = heads,
                            .batch = batch,
                            .sequence_sigma = sqrt(log1p(of_sequences * of_sequences))};
    d->replay = pt->locality_aware && pt->local->draws == DSE_DRAWS_REPLAY && !d->mean;
    if (d->replay) {
        deal_records(d);
        return;
    }
    d->factor = dse_sim_alloc(sim, (size_t)layers * d->heads, sizeof *d->factor);
    if (d->mean)
        mean_factors(d);
    else
        drawn_factors(d, cv);
}

/* ---- head-samples -------------------------------------------------------------------------------------------------------- */

/* A whole number whose mean over i is `mean`: one of the two next to it. */
static uint32_t even_share(double mean, uint64_t i)
{
    return (uint32_t)(floor(mean * (double)(i + 1)) - floor(mean * (double)i));
}

static uint32_t drawn_share(double mean, struct dse_random *r)
{
    return (uint32_t)(mean + dse_random_uniform(r));
}

/* By Knuth's product of uniforms; a normal distribution from where that gets long. */
static uint32_t poisson(double mean, struct dse_random *r)
{
    if (mean > 64) return (uint32_t)fmax(0, round(mean + sqrt(mean) * dse_random_normal(r)));
    double limit = exp(-mean), product = dse_random_uniform(r);
    uint32_t n = 0;
    for (; product > limit; n++) product *= dse_random_uniform(r);
    return n;
}

static uint32_t at_most(uint32_t n, double max)
{
    return n > max ? (uint32_t)max : n;
}

static uint64_t number_of(const struct lad_draws *d, const struct lad_sample *s)
{
    return ((uint64_t)s->layer * d->heads + s->head) * d->batch + s->sequence;
}

static void draw_even(const struct lad_draws *d, double factor, struct lad_sample *s)
{
    const struct dse_locality *at = &d->pt->at;
    uint64_t i = number_of(d, s);
    s->active = even_share(fmin(at->active * factor, d->pt->n), i);
    s->updates = even_share(at->updates, i);
    s->centers = even_share(at->centers, i);
    s->large = even_share(at->large, i);
}

/* One position ages in every step; changes of mode besides are rare and independent. */
static void draw_random(const struct lad_draws *d, double factor, struct lad_sample *s)
{
    const struct dse_locality *at = &d->pt->at;
    struct dse_random r = dse_sim_random(d->sim, purpose(SAMPLE, s));
    double sigma = d->sequence_sigma, of_sequence = exp(sigma * dse_random_normal(&r) - sigma * sigma / 2);
    s->active = drawn_share(fmin(at->active * factor * of_sequence, d->pt->n), &r);
    s->updates = at->updates >= 1 ? 1 + poisson(at->updates - 1, &r) : drawn_share(at->updates, &r);
    s->centers = drawn_share(at->centers, &r);
    s->large = drawn_share(at->large, &r);
}

/* Whole numbers, unless the context is between two that were recorded. */
static void draw_recorded(const struct lad_draws *d, struct lad_sample *s)
{
    size_t i = (size_t)s->layer * d->heads + s->head, steps = dse_recording_steps(d->pt->local->recording);
    struct dse_locality at = dse_local_recorded(d->pt->local, d->pt->n, d->recorded[i], (d->first_step[i] + s->sequence) % steps);
    struct dse_random r = dse_sim_random(d->sim, purpose(SAMPLE, s));
    s->active = drawn_share(at.active, &r);
    s->updates = drawn_share(at.updates, &r);
    s->centers = drawn_share(at.centers, &r);
    s->large = drawn_share(at.large, &r);
    s->hits = at_most(drawn_share(at.hit_ratio * at.active, &r), s->active);
}

static struct lad_sample draw(const struct lad_draws *d, uint32_t layer, uint32_t head, uint32_t sequence)
{
    struct lad_sample s = {.layer = layer, .head = head, .sequence = sequence, .counted = layer < d->layers};
    if (!s.counted)
        draw_even(d, 1, &s);
    else if (d->replay)
        draw_recorded(d, &s);
    else if (d->mean)
        draw_even(d, d->factor[(size_t)layer * d->heads + head], &s);
    else
        draw_random(d, d->factor[(size_t)layer * d->heads + head], &s);
    s.active = at_most(s.active, d->pt->n);
    s.centers = at_most(s.centers, d->pt->n);
    s.large = at_most(s.large, d->pt->n);
    s.updates = at_most(s.updates, s.active);
    return s;
}

struct lad_sample lad_draw(const struct lad_draws *d, uint32_t layer, uint32_t head, uint32_t sequence)
{
    struct lad_sample s = draw(d, layer, head, sequence);
    const uint32_t behind = head % d->pt->group;
    if (behind > 0) s.centers = draw(d, layer, head - behind, sequence).centers; /* of the same keys */
    return s;
}

/* ---- sets of positions --------------------------------------------------------------------------------------------------- */

/* Of the positions from this one on, `repeats` were in the set before. */
static bool repeats_now(struct lad_positions *s)
{
    double left = s->all - s->given + 1;
    if (dse_random_uniform(&s->random) * left >= s->repeats) return false;
    s->repeats--;
    return true;
}

/* Selection sampling (Fan, Muller, Rezucha 1962; Knuth's Algorithm S): each of the older positions is in the set or not, all sets
 * of that size are equally likely. */
bool lad_positions_next(struct lad_positions *s, uint32_t *ret, bool *ret_repeated)
{
    if (s->left > 0) {
        while (s->older - s->next > s->left && dse_random_uniform(&s->random) * (s->older - s->next) >= s->left) s->next++;
        s->left--;
    } else {
        if (s->next < s->older) s->next = s->older;
        if (s->next >= s->end) return false;
    }
    *ret = s->next++;
    double i = s->given++;
    if (s->exact)
        *ret_repeated = repeats_now(s);
    else if (s->phase >= 0)
        *ret_repeated = floor((i + 1) * s->repeat_ratio + s->phase) > floor(i * s->repeat_ratio + s->phase);
    else
        *ret_repeated = dse_random_uniform(&s->random) < s->repeat_ratio;
    return true;
}

static bool next_missing(struct lad_positions *s, uint32_t *ret)
{
    bool repeated;
    while (lad_positions_next(s, ret, &repeated))
        if (!lad_found(s->shared, *ret)) return true;
    return false;
}

uint32_t lad_positions_run(struct lad_positions *s, uint32_t *ret_first)
{
    uint32_t position, n;
    if (s->held > 0)
        *ret_first = s->held - 1;
    else if (!next_missing(s, ret_first))
        return 0;
    s->held = 0;
    for (n = 1; next_missing(s, &position); n++)
        if (position != *ret_first + n) {
            s->held = position + 1;
            break;
        }
    return n;
}

static struct lad_positions any_of(const struct lad_draws *d, const struct lad_sample *s, enum purpose kind, uint32_t of,
                                   uint32_t n)
{
    return (struct lad_positions){.random = dse_sim_random(d->sim, purpose(kind, s)), .older = of, .left = n, .end = of};
}

/* The newest positions, and others at random. */
struct lad_positions lad_active_positions(const struct lad_draws *d, const struct lad_sample *s)
{
    uint32_t n = (uint32_t)d->pt->n, recent = at_most((uint32_t)d->pt->local->recent, s->active);
    struct lad_positions ret = any_of(d, s, ACTIVE, n - recent, s->active - recent);
    ret.end = n;
    ret.exact = d->replay && s->counted;
    ret.all = s->active;
    ret.repeats = s->hits;
    ret.repeat_ratio = d->pt->at.hit_ratio;
    double before = (double)number_of(d, s) * s->active * ret.repeat_ratio;
    ret.phase = d->mean ? before - floor(before) : -1;
    return ret;
}

struct lad_positions lad_center_positions(const struct lad_draws *d, const struct lad_sample *s)
{
    return any_of(d, s, CENTERS, (uint32_t)d->pt->n, s->centers);
}

struct lad_positions lad_large_positions(const struct lad_draws *d, const struct lad_sample *s)
{
    return any_of(d, s, LARGE, (uint32_t)d->pt->n, s->large);
}

struct lad_positions lad_update_indices(const struct lad_draws *d, const struct lad_sample *s)
{
    return any_of(d, s, UPDATES, s->active, s->updates);
}
