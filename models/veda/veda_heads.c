/* Attention of a layer of VEDA at event level: the array, unit by unit, with the special functions and the voting engine beside it.
 *
 * A unit is a query head, or the query heads of a group that share rows; in a prefill, for one query. It has two periods, q K^T
 * and s V, in which the array issues block after block of rows: the rows that it takes at a time, for one query head after the
 * other. With drain = "overlapped" the q K^T of the next unit stands between the two: K0 K1 V0 K2 V1 .. (E23). Each cycle in
 * which something can happen is an event; cycles in which all wait for the DRAM are not.
 */
#include "veda_heads.h"

#include <dse/num.h>
#include <dse/units.h>

#include <assert.h>
#include <math.h>

enum { STEADY_FROM = 1 /* what a unit takes is seen after this one */ };

/* What a transfer that has ended was: scores on their way out, or back; vote counts. */
enum { GONE, CAME_BACK, COUNTS };

/* What the array waits for. */
static const char *const wait_labels[] = {
    [ROWS] = "rows",       [SCORE_FIFO] = "score FIFO", [FIRST_WEIGHTS] = "sum",
    [WEIGHTS] = "weights", [STAGE] = "softmax",         [VOTES] = "voting engine",
};

/* ---- the program of the array -------------------------------------------------------------------------------------------- */

/* E23: which of the two products of which unit is the p-th. */
void veda_period_at(const struct veda_heads *h, int64_t p, enum veda_period_kind *kind, int64_t *unit)
{
    bool last = p == 2 * h->units - 1;
    if (!h->overlapped) {
        *kind = p % 2 == 0 ? SCORES : VALUES;
        *unit = p / 2;
    } else if (p == 0 || (p % 2 == 1 && !last)) {
        *kind = SCORES;
        *unit = (p + 1) / 2;
    } else {
        *kind = VALUES;
        *unit = last ? h->units - 1 : p / 2 - 1;
    }
}

/* ---- the array ----------------------------------------------------------------------------------------------------------- */

/* E20 to E22, and A8: scores that have left come back first. */
static enum veda_wait blocked(const struct veda_heads *h, int64_t n, double now)
{
    if (h->query == 0 && (!h->vectors_here || veda_rows_there(h) < h->row + n)) return ROWS;
    if (h->kind == SCORES) {
        const struct veda_softmax_unit *u = &h->sfu;
        bool room = u->reserved == u->reduced || u->reserved - u->reduced + n <= u->fifo_capacity;
        return h->serial && !room ? SCORE_FIFO : NOTHING;
    }
    if (h->serial && h->sfu.waiting < n) return h->row == 0 && h->query == 0 ? FIRST_WEIGHTS : WEIGHTS;
    if (!h->serial && (now < h->stage_done || h->unit >= h->sfu.fetched)) return STAGE;
    return veda_vote_room(&h->votes, h->unit, n, now) ? NOTHING : VOTES;
}

static void add(struct veda_heads *h, enum veda_count what, double cycles)
{
    h->total.at[what] += cycles;
}

/* E27: does the DRAM wait, too? Its FIFO is more than half full of what has arrived. Else the array would wait for rows if it did
 * not for others. */
static bool dram_waits(const struct veda_heads *h)
{
    return 2 * dse_feed_waiting(h->feed) > h->window;
}

/* The array has waited until `now`. */
static void account(struct veda_heads *h, double now)
{
    double cycles = now - h->wait_since, seen = dram_waits(h) ? cycles : 0;
    enum veda_count period = h->kind == SCORES ? VEDA_SCORES_S : VEDA_VALUES_S;
    switch (h->wait) {
    case NOTHING: return;
    case STAGE: period = VEDA_SOFTMAX_S; break;
    case FIRST_WEIGHTS: period = VEDA_DRAIN_S; break;
    case SCORE_FIFO:
    case WEIGHTS: add(h, VEDA_SFU_WAIT_S, seen); break;
    case VOTES: add(h, VEDA_VOTE_WAIT_S, seen); break;
    case ROWS: add(h, h->kind == SCORES ? VEDA_SCORES_DATA_S : VEDA_VALUES_DATA_S, cycles); break;
    }
    add(h, period, cycles);
    h->wait_since = now;
}

static void end_of_scores(struct veda_heads *h)
{
    double out = h->array_free - 1 + h->depth[SCORES];
    if (!h->serial) h->stage_done = out + h->stage;
    if (h->spilled > 0) veda_move(h->run, h->vectors_at, h->spilled, true, "scores", h->moved_actor, GONE);
}

static double cycles_of(const struct veda_tally *t)
{
    return t->at[VEDA_SCORES_S] + t->at[VEDA_SOFTMAX_S] + t->at[VEDA_VALUES_S] + t->at[VEDA_DRAIN_S];
}

/* E25. */
static void snapshot(struct veda_heads *h)
{
    h->end[h->unit] = cycles_of(&h->total) / (h->clock_ghz * DSE_GIGA);
    h->ended[h->unit] = (double)h->unit;
    if (h->unit == STEADY_FROM) h->from = h->total;
    if (h->unit == h->units - 2) h->to = h->total;
}

static void end_of_values(struct veda_heads *h)
{
    if (h->votes.drains) h->votes.ready[h->unit] = h->array_free + h->votes.latency;
    if (h->vote_bytes_unit > 0) veda_move(h->run, h->vote_address, h->vote_bytes_unit, true, "votes", h->run->program->nobody, 0);
    if (h->output_bytes > 0) veda_move(h->run, h->vectors_at, h->output_bytes, true, "vectors", h->run->program->nobody, 0);
    snapshot(h);
}

/* E22: counts of a unit, asked for while the unit before is at work. */
static void ask_for_counts(struct veda_heads *h, int64_t unit)
{
    if (unit >= h->units) return;
    if (h->vote_bytes_unit > 0) veda_move(h->run, h->vote_address, h->vote_bytes_unit, false, "votes", h->moved_actor, COUNTS);
}

static void finish(struct veda_heads *h)
{
    h->done = true;
    add(h, VEDA_DRAIN_S, h->depth[VALUES]);
    dse_resource_state(h->run->sim, h->run->array, DSE_IDLE, NULL, -1);
    dse_sim_at(h->run->sim, h->start + dse_ps_of_cycles(h->array_free + h->depth[VALUES], h->clock_ghz), h->spec.actor,
               h->spec.actor_arg);
}

static void end_of_period(struct veda_heads *h)
{
    if (h->kind == SCORES)
        end_of_scores(h);
    else
        end_of_values(h);
    h->row = 0;
    if (++h->period == 2 * h->units) {
        finish(h);
        return;
    }
    veda_period_at(h, h->period, &h->kind, &h->unit);
    if (h->kind == VALUES) return;
    h->vectors_here = h->query_bytes <= 0;
    ask_for_counts(h, h->unit + 1);
}

/* E31: numbers are made of the rows of a cache with scales. */
static double widening_cycles(const struct veda_heads *h, double rows)
{
    const struct veda_kind *k = h->of;
    return h->run->closed->row_widening * k->cycles[h->kind] * dse_ceil(rows / k->at_once[h->kind]);
}

/* The array takes n rows for one query head. */
static void work(struct veda_heads *h, int64_t n, double begin)
{
    bool scores = h->kind == SCORES;
    double cycles = h->issue[h->kind] + (scores ? 0 : h->row_cycles * (double)n);
    if (h->query == 0) cycles += widening_cycles(h, (double)n);
    h->array_free = begin + cycles;
    add(h, scores ? VEDA_SCORES_S : VEDA_VALUES_S, cycles);
    add(h, scores ? VEDA_SCORES_WORK_S : VEDA_VALUES_WORK_S, cycles);
    dse_resource_state(h->run->sim, h->run->array, DSE_BUSY, scores ? "q K^T" : "s V", h->unit);
    if (scores && h->serial) {
        h->sfu.reserved += n;
        veda_pipe_put(&h->sfu.tree, h->array_free - 1 + h->depth[SCORES], n);
    }
    if (scores) return;
    if (h->serial) h->sfu.waiting -= n;
    veda_vote_take(&h->votes, n, begin);
}

/* Issue the next block; false: it has to wait. An array that never waited goes on where it was, between two cycles if need be. */
static bool issue(struct veda_heads *h, double now)
{
    if (!h->vectors_here && dse_feed_arrived(h->feed) >= (uint64_t)h->query_bytes) {
        h->vectors_here = true;
        dse_feed_next(h->feed);
    }
    const int64_t n = dse_min_i64(h->length - h->row, h->block[h->kind]);
    const enum veda_wait why = blocked(h, n, now), before = h->wait;
    if (why == before && why != NOTHING) return false;
    account(h, now);
    if (before == NOTHING) h->wait_since = h->array_free;
    h->wait = why;
    if (why != NOTHING) {
        dse_resource_state(h->run->sim, h->run->array, DSE_STALL_INPUT, wait_labels[why], h->unit);
        return false;
    }
    work(h, n, before == NOTHING ? h->array_free : now);
    if (++h->query < h->group) return true;
    h->query = 0;
    h->row += n;
    veda_rows_give_back(h);
    if (h->row == h->length) end_of_period(h);
    return true;
}

/* ---- cycles -------------------------------------------------------------------------------------------------------------- */

static void arm(struct veda_heads *h, double cycle)
{
    if (!(cycle < h->armed)) return;
    h->armed = cycle;
    dse_ps when = h->start + dse_ps_of_cycles(cycle, h->clock_ghz), now = dse_sim_now(h->run->sim);
    dse_sim_at(h->run->sim, dse_max_i64(when, now), h->tick_actor, 0);
}

static void show(const struct veda_heads *h, uint32_t resource, bool busy, const char *label, int64_t id)
{
    dse_resource_state(h->run->sim, resource, busy ? DSE_BUSY : DSE_IDLE, busy ? label : NULL, busy ? id : -1);
}

/* E22: written back once, when the last vote of the layer is counted. */
static void write_votes(struct veda_heads *h)
{
    if (h->votes_written || !h->done || h->vote_bytes_layer <= 0) return;
    if (h->votes.drains && h->votes.drained < h->votes.taken) return;
    h->votes_written = true;
    veda_move(h->run, h->vote_address, h->vote_bytes_layer, true, "votes", h->run->program->nobody, 0);
}

static void arm_next(struct veda_heads *h, double now)
{
    double next = veda_vote_next(&h->votes, now);
    if (h->serial) next = fmin(next, veda_softmax_next(&h->sfu, now));
    if (!h->done && h->array_free > now) next = fmin(next, ceil(h->array_free));
    if (!h->done && h->wait == STAGE && h->stage_done > now) next = fmin(next, h->stage_done);
    if (!h->done && h->wait == ROWS) dse_feed_when(h->feed, h->tick_actor, 1);
    if (next < (double)INFINITY) arm(h, ceil(next));
}

/* arg 1: rows have arrived, at any time; 0: a cycle that was armed. */
static void tick(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct veda_heads *h = object;
    double cycles = dse_s_of_ps(dse_sim_now(sim) - h->start) * h->clock_ghz * DSE_GIGA;
    if (arg == 1) {
        arm(h, ceil(cycles - 1e-6));
        return;
    }
    double now = floor(cycles + 0.5);
    if (h->armed <= now) h->armed = (double)INFINITY;
    if (h->serial) veda_softmax_deliver(&h->sfu, now);
    while (!h->done && h->array_free <= now && issue(h, now)) {
    }
    if (h->serial) {
        veda_softmax_tick(&h->sfu, now, h->kind == VALUES);
        show(h, h->run->reduction, h->sfu.reducing && h->sfu.last == now, "exp, sum", h->sfu.reduce_unit);
        show(h, h->run->normalisation, h->sfu.norming && h->sfu.last == now, "exp, divide", h->sfu.norm_unit);
    }
    veda_vote_tick(&h->votes, now);
    if (h->votes.counts) show(h, h->run->voting, h->votes.port_free > now, h->votes.draining ? "count" : "take", h->unit);
    write_votes(h);
    arm_next(h, now);
}

/* Something else has arrived. */
static void moved(struct dse_sim *sim, void *object, uint32_t what)
{
    struct veda_heads *h = object;
    if (what == GONE) { /* back with the scores */
        veda_move(h->run, h->vectors_at, h->spilled, false, "scores", h->moved_actor, CAME_BACK);
        return;
    }
    if (what == CAME_BACK) h->sfu.fetched++;
    if (what == COUNTS) h->votes.loaded = h->of->policy->per_head ? h->votes.loaded + 1 : h->units;
    tick(sim, h, 1);
}

/* ---- making -------------------------------------------------------------------------------------------------------------- */

bool veda_group_shares(const struct veda_run *run, const struct veda_kind *kind)
{
    return run->closed->shares != 0 || kind->stays;
}

double veda_units(const struct veda_run *run, const struct veda_kind *kind)
{
    return kind->sequences * kind->queries * kind->device_kv * (veda_group_shares(run, kind) ? 1 : kind->shared);
}

/* E19, E23. */
static void set_array(struct veda_heads *h)
{
    const struct veda_events_reads *r = h->run->closed;
    for (int kind = SCORES; kind <= VALUES; kind++) {
        h->block[kind] = (int64_t)h->of->at_once[kind];
        h->issue[kind] = h->of->cycles[kind];
    }
    h->depth[SCORES] = veda_tree_depth(h->run);
    h->depth[VALUES] = 1;
    if (r->tree == 0) return;
    h->block[VALUES] = (int64_t)r->tree_width;
    h->issue[VALUES] = h->of->value_pass;
    h->row_cycles = r->v_access_cycles;
    h->depth[VALUES] = h->depth[SCORES];
}

static int64_t bounded(const struct veda_heads *h, int64_t capacity, int64_t least)
{
    if (dse_sim_ideal(h->run->sim, DSE_IDEAL_FIFOS)) return INT64_MAX / 2;
    return dse_max_i64(capacity, least);
}

/* E20, E21. Scores that the FIFO has no room for wait in the registers of the tree (A15). */
static void set_softmax(struct veda_heads *h)
{
    const struct veda_events_reads *r = h->run->closed;
    struct veda_softmax_unit *u = &h->sfu;
    const double tree = dse_ceil(h->depth[SCORES] / h->issue[SCORES]), latency = r->sfu_exp_cycles + r->sfu_div_cycles;
    u->units = h->units;
    u->elements = h->group * h->length;
    u->tile = (int64_t)r->sfu_fifo;
    u->rescales = dse_min_i64(h->group, u->tile);
    u->exps = (int64_t)r->sfu_exp;
    u->divs = (int64_t)r->sfu_div;
    u->exp_latency = r->sfu_exp_cycles;
    u->norm_latency = latency;
    u->sum_latency = 1 + ceil(log2(r->sfu_exp));
    u->fifo_capacity = bounded(h, u->tile + (int64_t)tree * h->block[SCORES], 0);
    u->norm_capacity = bounded(h, (int64_t)r->norm_fifo, h->block[VALUES]);
    u->fetched = h->spilled > 0 ? 0 : h->units;
    u->last = -1;
    u->ready = dse_sim_alloc(h->run->sim, (size_t)h->units, sizeof *u->ready);
    for (int64_t i = 0; i < h->units; i++) u->ready[i] = (double)INFINITY;
    veda_pipe_init(&u->tree, h->run->sim, h->depth[SCORES]);
    veda_pipe_init(&u->norm, h->run->sim, latency);
    h->stage = r->softmax_passes * (double)u->elements / (double)dse_min_i64(u->exps, u->divs) + latency;
}

/* E25: votes that a layer leaves behind are few beside all; so a sample of its units has no more than its share of the FIFO, but
 * room for the scores of two units. */
static int64_t sampled_fifo(const struct veda_heads *h, double entries)
{
    const double share = (double)h->units / veda_units(h->run, h->of), two = 2. * (double)h->sfu.elements;
    return (int64_t)dse_min(entries, dse_max(share * entries, two));
}

/* E22. */
static void set_votes(struct veda_heads *h)
{
    const struct veda_events_reads *r = h->run->closed;
    const struct veda_kind *k = h->of;
    struct veda_vote_unit *u = &h->votes;
    const double count = r->vote_bits / DSE_BITS_PER_BYTE;
    u->drains = k->policy->drained;
    u->counts = k->policy->counts;
    u->lanes = (int64_t)r->vote_lanes;
    u->elements = h->sfu.elements;
    u->latency = 2 * r->sfu_div_cycles;
    u->capacity = bounded(h, sampled_fifo(h, r->vote_fifo * (double)h->group), 0);
    u->ready = dse_sim_alloc(h->run->sim, (size_t)h->units, sizeof *u->ready);
    for (int64_t i = 0; i < h->units; i++) u->ready[i] = (double)INFINITY;
    u->loaded = k->prefill ? h->units : 0;
    if (!u->counts) return;
    const double heads = k->sequences * (k->policy->per_head ? k->device_kv : 1 / r->devices); /* that have counts of their own */
    if (k->prefill)
        h->vote_bytes_layer = heads * count * k->queries;
    else if (k->policy->per_head)
        h->vote_bytes_unit = count * (double)h->length / (veda_group_shares(h->run, k) ? 1 : k->shared);
    else
        h->vote_bytes_layer = heads * count * (double)h->length;
    h->vote_address = veda_region(h->run, VEDA_COUNTS_KEPT, h->vote_bytes_layer + h->vote_bytes_unit);
}

struct veda_heads *veda_heads_new(const struct veda_run *run, const struct veda_heads_spec *spec)
{
    struct veda_heads *h = dse_sim_alloc(run->sim, 1, sizeof *h);
    h->run = run;
    h->spec = *spec;
    h->of = spec->kind;
    h->clock_ghz = run->closed->clock_ghz;
    h->start = dse_sim_now(run->sim);
    h->tick_actor = dse_sim_actor(run->sim, tick, h);
    h->moved_actor = dse_sim_actor(run->sim, moved, h);
    h->armed = (double)INFINITY;
    h->units = spec->simulated;
    h->length = spec->length;
    h->group = veda_group_shares(run, h->of) ? (int64_t)h->of->shared : 1;
    h->serial = run->closed->serial != 0;
    h->end = dse_sim_alloc(run->sim, (size_t)h->units, sizeof *h->end);
    h->ended = dse_sim_alloc(run->sim, (size_t)h->units, sizeof *h->ended);
    h->overlapped = run->closed->overlapped != 0;
    set_array(h);
    veda_rows_init(h);
    set_softmax(h);
    set_votes(h);
    h->vectors_here = h->query_bytes <= 0;
    ask_for_counts(h, 0);
    ask_for_counts(h, 1);
    if (h->vote_bytes_layer > 0 && !h->of->prefill)
        veda_move(run, h->vote_address, h->vote_bytes_layer, false, "votes", h->moved_actor, COUNTS);
    veda_rows_start(h);
    arm(h, 0);
    return h;
}

/* E40: of a unit, by the spread of those between the first and the last. */
static double rest_error_s(const struct veda_heads *h, double unit_s)
{
    const int64_t first = STEADY_FROM, last = h->units - 2;
    if (last <= first) return unit_s;
    const double period_s = h->run->dram->timing.t_refi_ns / DSE_GIGA, span_s = h->end[last] - h->end[first],
                 error = dse_pace_error(h->end + first, h->ended + first, (size_t)(last - first + 1), period_s);
    return veda_rest_error(h->run, unit_s, span_s, error);
}

/* E25. */
struct veda_heads_result veda_heads_result(const struct veda_heads *h)
{
    struct veda_heads_result r = {
        .score_peak = (double)h->sfu.score_peak, .norm_peak = (double)h->sfu.norm_peak, .vote_peak = (double)h->votes.peak};
    const double cycle_s = 1 / (h->clock_ghz * DSE_GIGA), units = (double)h->units;
    const bool steady = h->units > STEADY_FROM + 2;
    for (int i = 0; i < VEDA_COUNTS; i++) {
        bool time = i < VEDA_SCORES_BYTES;
        double scale = time ? cycle_s : 1, all = h->total.at[i] * (time ? 1 : units);
        double unit = steady && time ? (h->to.at[i] - h->from.at[i]) / (units - 2 - STEADY_FROM) : all / units;
        r.unit.at[i] = unit * scale;
        r.ends.at[i] = (all - units * unit) * scale;
    }
    r.time_s = cycles_of(&h->total) * cycle_s;
    r.rest_error_s = rest_error_s(h, cycles_of(&r.unit));
    r.unit.at[VEDA_VOTE_BYTES] = 2 * h->vote_bytes_unit;
    r.ends.at[VEDA_VOTE_BYTES] = h->vote_bytes_layer * (h->of->prefill ? 1 : 2);
    return r;
}

int64_t veda_heads_units(const struct veda_heads *h)
{
    return h->units;
}
