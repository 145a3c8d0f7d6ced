/* Which experts tokens choose, drawn one after another: docs/explanation/llms.md, Experts. */
#include "workload/experts.h"

#include <dse/num.h>

#include <math.h>
#include <string.h>

/* Steele et al., SplitMix64: the same sequence on every machine. */
struct stream {
    uint64_t state;
};

static uint64_t next(struct stream *s)
{
    uint64_t z = s->state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static struct stream stream_of(uint64_t seed, int64_t layer)
{
    struct stream s = {seed};
    s.state = next(&s) ^ (uint64_t)layer;
    return s;
}

/* 0 .. n - 1, by Lemire's product; a bias of n / 2^32 is left. */
static int64_t below(struct stream *s, int64_t n)
{
    return (int64_t)(((next(s) >> 32) * (uint64_t)n) >> 32);
}

static double uniform(struct stream *s)
{
    return (double)(next(s) >> 11) * 0x1p-53;
}

/* Experts of one layer. */
struct layer {
    struct stream stream;
    int64_t n, active;
    double chance[DSE_EXPERTS_DRAWN_MAX]; /* that a token chooses it; their sum is `active` */
    int16_t order[DSE_EXPERTS_DRAWN_MAX];
};

static void swap(int16_t *a, int16_t *b)
{
    const int16_t kept = *a;
    *a = *b;
    *b = kept;
}

static void shuffle(struct layer *l, int64_t first)
{
    for (int64_t i = 0; i < first; i++) swap(&l->order[i], &l->order[i + below(&l->stream, l->n - i)]);
}

/* Nobody chooses an expert more than once: what is over one goes to the others in proportion. */
static void keep_below_one(struct layer *l)
{
    enum { ROUNDS = 16 };
    for (int round = 0; round < ROUNDS; round++) {
        double over = 0, free = 0;
        for (int64_t i = 0; i < l->n; i++) {
            over += dse_max(0, l->chance[i] - 1);
            l->chance[i] = dse_min(1, l->chance[i]);
            free += l->chance[i] < 1 ? l->chance[i] : 0;
        }
        if (over <= 0 || free <= 0) return;
        for (int64_t i = 0; i < l->n; i++)
            if (l->chance[i] < 1) l->chance[i] *= 1 + over / free;
    }
}

/* Layers take turns with those that were measured. */
static void set_measured(struct layer *l, const struct dse_expert_loads *loads, int64_t layer)
{
    const int64_t of = layer % dse_expert_loads_layers(loads);
    for (int64_t i = 0; i < l->n; i++) l->chance[i] = (double)l->active * dse_expert_loads_share(loads, of, i);
    keep_below_one(l);
}

/* Popularity by strata, which experts are in which of them anew in each layer. */
static void set_chances(struct layer *l, const struct dse_workload *w, int64_t layer)
{
    const double share = (double)l->active / (double)l->n;
    for (int64_t i = 0; i < l->n; i++) l->order[i] = (int16_t)i;
    for (int64_t i = 0; i < l->n; i++) l->chance[i] = share;
    if (experts_profiled(w, l->n)) set_measured(l, w->expert_loads, layer);
    if (w->routing != DSE_ROUTING_POWER_LAW) return;
    double loads[EXPERTS_STRATA], sum = 0;
    experts_popularity(l->n, w->routing_exponent, loads);
    shuffle(l, l->n);
    for (int64_t i = 0; i < l->n; i++) sum += l->chance[l->order[i]] = loads[i * EXPERTS_STRATA / l->n];
    for (int64_t i = 0; i < l->n; i++) l->chance[i] *= (double)l->active / sum;
    keep_below_one(l);
}

/* All alike: the first so many of an order that is shuffled as far. */
static void choose_evenly(struct layer *l, double *rows)
{
    shuffle(l, l->active);
    for (int64_t k = 0; k < l->active; k++) rows[l->order[k]]++;
}

/* Different experts, each by its chance (Madow 1949): their chances side by side in a random order, and marks at distance one. */
static void choose_by_chance(struct layer *l, double *rows)
{
    const double rounding = 1e-9;
    double mark = uniform(&l->stream), reached = 0;
    int64_t chosen = 0;
    shuffle(l, l->n);
    for (int64_t i = 0; i < l->n && chosen < l->active; i++) {
        reached += l->chance[l->order[i]];
        if (reached <= mark - (i + 1 == l->n ? rounding : 0)) continue;
        rows[l->order[i]]++;
        mark++;
        chosen++;
    }
}

bool dse_experts_draw(const struct dse_workload *w, struct dse_choice choice, double tokens, uint64_t seed, int64_t layer,
                      double *ret)
{
    if (choice.routed < 1 || choice.routed > DSE_EXPERTS_DRAWN_MAX || w->routing == DSE_ROUTING_BALANCED) return false;
    struct layer l = {.stream = stream_of(seed, layer), .n = choice.routed, .active = choice.chosen};
    const bool even = w->routing != DSE_ROUTING_POWER_LAW && !experts_profiled(w, l.n);
    const double drawn = dse_min(dse_floor(tokens + 0.5), DSE_TOKENS_DRAWN), spread = drawn > 0 ? sqrt(tokens / drawn) : 0;
    set_chances(&l, w, layer);
    memset(ret, 0, (size_t)l.n * sizeof *ret);
    for (int t = 0; t < (int)drawn; t++) {
        if (even)
            choose_evenly(&l, ret);
        else
            choose_by_chance(&l, ret);
    }
    if (drawn == tokens) return true;
    for (int64_t i = 0; i < l.n; i++) {
        const double p = l.chance[i], missed = p < 1 ? exp(tokens * log1p(-p)) : 0;
        const double scaled = tokens * p + spread * (ret[i] - drawn * p);
        ret[i] = uniform(&l.stream) < missed ? 0 : dse_max(1, scaled);
    }
    return true;
}

int64_t dse_experts_fullest(int64_t routed, const double *rows, double chips, int64_t *ret_n)
{
    const int64_t each = (int64_t)dse_ceil((double)routed / chips);
    int64_t at = 0;
    double most = -1;
    for (int64_t first = 0; first < routed; first += each) {
        double sum = 0;
        for (int64_t i = first; i < first + each && i < routed; i++) sum += rows[i];
        if (sum <= most) continue;
        most = sum;
        at = first;
    }
    *ret_n = dse_min_i64(each, routed - at);
    return at;
}

/* With work on a chip are as many as on all chips on the mean, as in closed form: they are what weights of all chips are made
 * of. */
struct experts_at_work experts_drawn(const struct dse_workload *w, struct dse_choice choice, double tokens, double chips,
                                     const struct dse_draw *draw)
{
    const double whole = 0.5;
    struct experts_at_work ret = experts_at_work(w, choice, tokens, chips);
    double rows[DSE_EXPERTS_DRAWN_MAX], touched = 0, most = 0;
    for (int64_t k = 0; k < draw->layers; k++) {
        if (!dse_experts_draw(w, choice, tokens, draw->seed, draw->layer + k, rows)) return ret;
        int64_t n;
        const int64_t first = dse_experts_fullest(choice.routed, rows, chips, &n);
        for (int64_t i = 0; i < choice.routed; i++) touched += rows[i] >= whole;
        for (int64_t i = first; i < first + n; i++) most += rows[i];
    }
    ret.touched = ret.held * touched / (double)draw->layers / (double)choice.routed;
    ret.rows = most / (double)draw->layers;
    return ret;
}
