/* The element-serial units of VEDA at event level, cycle by cycle: special functions (E20, E21) and the voting engine (E22). */
#include "veda_events.h"

#include <dse/num.h>

#include <math.h>

/* ---- pipelines --------------------------------------------------------------------------------------------------------------- */

void veda_pipe_init(struct veda_pipe *p, struct dse_sim *sim, double latency)
{
    p->size = (uint32_t)latency + 4; /* one entry a cycle */
    p->first = p->count = 0;
    p->when = dse_sim_alloc(sim, p->size, sizeof *p->when);
    p->n = dse_sim_alloc(sim, p->size, sizeof *p->n);
}

void veda_pipe_put(struct veda_pipe *p, double when, int64_t n)
{
    uint32_t i = (p->first + p->count++) % p->size;
    p->when[i] = when;
    p->n[i] = n;
}

int64_t veda_pipe_take(struct veda_pipe *p, double now)
{
    int64_t n = 0;
    for (; p->count > 0 && p->when[p->first] <= now; p->count--) {
        n += p->n[p->first];
        p->first = (p->first + 1) % p->size;
    }
    return n;
}

double veda_pipe_next(const struct veda_pipe *p)
{
    return p->count > 0 ? p->when[p->first] : (double)INFINITY;
}

/* ---- special functions ------------------------------------------------------------------------------------------------------- */

/* Scores of the unit being reduced whose tile is complete, so that its largest score is known. */
static int64_t complete(const struct veda_softmax_unit *u)
{
    int64_t there = dse_min_i64(u->stored - u->reduce_unit * u->elements, u->elements);
    return there == u->elements ? there : there - there % u->tile;
}

void veda_softmax_deliver(struct veda_softmax_unit *u, double now)
{
    int64_t weights = veda_pipe_take(&u->norm, now);
    u->stored += veda_pipe_take(&u->tree, now);
    u->inside -= weights;
    u->waiting += weights;
    if (u->stored - u->reduced > u->score_peak) u->score_peak = u->stored - u->reduced;
    if (u->waiting > u->norm_peak) u->norm_peak = u->waiting;
}

/* The next head whose weights may be made: its sum is known, its scores are at hand. */
static bool may_normalise(const struct veda_softmax_unit *u)
{
    return u->norm_unit < u->units && u->norm_unit < u->fetched && u->inside + u->waiting < u->norm_capacity;
}

/* E21: one exponential and one division a weight. Returns the exponentials. */
static int64_t normalise(struct veda_softmax_unit *u, double now, int64_t exps)
{
    if (exps == 0 || !may_normalise(u) || u->ready[u->norm_unit] > now) return 0;
    int64_t n =
        dse_min_i64(dse_min_i64(exps, u->divs), dse_min_i64(u->elements - u->norm_at, u->norm_capacity - u->inside - u->waiting));
    veda_pipe_put(&u->norm, now + u->norm_latency, n);
    u->inside += n;
    u->norm_at += n;
    if (u->norm_at == u->elements) {
        u->norm_at = 0;
        u->norm_unit++;
    }
    return n;
}

static void end_of_unit(struct veda_softmax_unit *u, double now)
{
    u->ready[u->reduce_unit++] = now + u->exp_latency + u->sum_latency;
    u->reduce_at = 0;
}

/* E20: an exponential for each score of a complete tile, then one for each head in it: the sum so far comes to the new maximum.
 * Returns them. */
static int64_t reduce(struct veda_softmax_unit *u, double now, int64_t exps)
{
    const int64_t given = exps;
    while (exps > 0 && u->reduce_unit < u->units) {
        if (u->rescale_left > 0) {
            int64_t n = dse_min_i64(exps, u->rescale_left);
            u->rescale_left -= n;
            exps -= n;
            if (u->rescale_left == 0 && u->reduce_at == u->elements) end_of_unit(u, now);
            continue;
        }
        int64_t n = dse_min_i64(exps, dse_min_i64(complete(u) - u->reduce_at, u->tile - u->reduce_at % u->tile));
        if (n <= 0) break;
        u->reduce_at += n;
        u->reduced += n;
        exps -= n;
        bool end = u->reduce_at == u->elements;
        if ((end || u->reduce_at % u->tile == 0) && u->reduce_at > u->tile)
            u->rescale_left = u->rescales; /* the first tile has no sum before it */
        else if (end)
            end_of_unit(u, now);
    }
    return given - exps;
}

void veda_softmax_tick(struct veda_softmax_unit *u, double now, bool values)
{
    if (now < u->last + 1) return;
    int64_t norms = values ? normalise(u, now, u->exps) : 0, sums = reduce(u, now, u->exps - norms);
    if (!values) norms = normalise(u, now, u->exps - sums);
    u->norming = norms > 0;
    u->reducing = sums > 0;
    if (u->norming || u->reducing) u->last = now;
}

double veda_softmax_next(const struct veda_softmax_unit *u, double now)
{
    double next = fmin(veda_pipe_next(&u->tree), veda_pipe_next(&u->norm));
    if (u->reduce_unit < u->units && (u->rescale_left > 0 || complete(u) > u->reduce_at)) next = fmin(next, now + 1);
    if (may_normalise(u)) next = fmin(next, fmax(u->ready[u->norm_unit], now + 1));
    return next;
}

/* ---- voting -------------------------------------------------------------------------------------------------------------- */

bool veda_vote_room(const struct veda_vote_unit *u, int64_t unit, int64_t n, double now)
{
    if (!u->counts) return true;
    if (u->port_free >= now + 1) return false; /* it has lanes left in this cycle */
    if (!u->drains) return unit < u->loaded;
    return u->taken == u->drained || u->taken - u->drained + n <= u->capacity;
}

void veda_vote_take(struct veda_vote_unit *u, int64_t n, double start)
{
    if (!u->counts) return;
    u->port_free = fmax(u->port_free, start) + (double)n / (double)u->lanes;
    u->taken += n;
    if (u->drains && u->taken - u->drained > u->peak) u->peak = u->taken - u->drained;
}

/* The next scores to drain have a threshold, and counts to go to. */
static bool may_drain(const struct veda_vote_unit *u)
{
    return u->drains && u->drained < u->taken && u->drained / u->elements < u->loaded &&
           u->ready[u->drained / u->elements] < (double)INFINITY;
}

void veda_vote_tick(struct veda_vote_unit *u, double now)
{
    u->draining = may_drain(u) && u->ready[u->drained / u->elements] <= now && u->port_free <= now;
    if (!u->draining) return;
    u->drained += dse_min_i64(u->lanes, u->elements - u->drained % u->elements);
    u->port_free = now + 1;
}

double veda_vote_next(const struct veda_vote_unit *u, double now)
{
    double next = u->counts && u->port_free > now ? fmax(now + 1, floor(u->port_free)) : (double)INFINITY;
    if (!may_drain(u)) return next;
    return fmin(next, fmax(fmax(u->ready[u->drained / u->elements], u->port_free), now + 1));
}
