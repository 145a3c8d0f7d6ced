/* Attention of a layer of VEDA at event level: the array, unit by unit, with the special functions and the voting engine beside it.
 *
 * A unit is a query head, or the query heads of a group that share rows; in a prefill, for one query. It has two periods, q K^T and s V, in which the
 * array issues block after block of rows: the rows that it takes at a time, for one query head after the other. With drain = "overlapped" the q K^T of the
 * next unit stands between the two: K0 K1 V0 K2 V1 .. (E23). Each cycle in which something can happen is an event; cycles in which all wait for the DRAM
 * are not.
 */
#include "veda_events.h"
#include "veda_math.h"

#include <dse/units.h>

#include <assert.h>
#include <math.h>

enum { STEADY_FROM = 1 /* what a unit takes is seen after this one */, SLOTS = 8 };

enum kind { SCORES, VALUES };

/* What a transfer that has ended was: scores on their way out, or back; vote counts. */
enum { GONE, CAME_BACK, COUNTS };

/* What the array waits for. */
enum wait { NOTHING, ROWS, SCORE_FIFO, FIRST_WEIGHTS, WEIGHTS, STAGE, VOTES };
static const char *const wait_labels[] = {
    [ROWS] = "rows",       [SCORE_FIFO] = "score FIFO", [FIRST_WEIGHTS] = "sum",
    [WEIGHTS] = "weights", [STAGE] = "softmax",         [VOTES] = "voting engine",
};

struct veda_heads {
    const struct veda_run *run;
    struct veda_heads_spec spec;
    const struct veda_point *pt;
    double clock_ghz;
    dse_ps start;
    uint32_t tick_actor, moved_actor;
    double armed; /* the earliest tick that is scheduled; infinite: none */

    int64_t units, length, group; /* units: simulated */
    bool overlapped, serial;
    int64_t block[2];  /* rows that the array takes at a time */
    double issue[2];   /* cycles for one query head and block */
    double row_cycles; /* of s V: more, for each row */
    double stage, depth[2];

    struct dse_feed *feed;
    uint64_t window;
    int64_t resident, fetched; /* rows of a unit that are in the buffer; that come from the DRAM */
    double row_bytes;          /* in the stream */
    uint64_t stream_bytes, home[2], homes;
    int64_t places; /* rows that the cache has room for, where it has holes; else 0 */
    struct slots {
        int64_t unit, *of_row; /* unit -1: none yet */
    } slots[SLOTS];
    double spilled, query_bytes; /* of a unit: scores one way; vectors one way */

    struct veda_softmax_unit sfu;
    struct veda_vote_unit votes;
    double vote_bytes_unit, vote_bytes_layer; /* one way */
    uint64_t vote_address;
    bool votes_written;
    bool vectors_here; /* the unit's queries */
    uint64_t vectors_at;

    int64_t period, unit, row, query;
    enum kind kind;
    double array_free, stage_done;
    enum wait wait;
    double wait_since;
    bool done;
    struct veda_tally total, from, to; /* times are cycles here */
};

/* ---- the program of the array --------------------------------------------------------------------------------------------------- */

/* E23: which of the two products of which unit is the p-th. */
static void period_at(const struct veda_heads *h, int64_t p, enum kind *kind, int64_t *unit)
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

/* ---- rows ----------------------------------------------------------------------------------------------------------------------- */

/* Units whose keys and values are the same rows: queries of a prompt, and query heads that do not share. */
static uint64_t home_of(const struct veda_heads *h, int64_t unit)
{
    if (h->pt->prefill) return 0;
    return (uint64_t)unit / (veda_group_shares(h->pt) ? 1 : (uint64_t)h->pt->group);
}

/* The stream `index` of the feed: the vectors of a unit, where they go through the DRAM, then its keys; and its values. E24. */
static bool stream_at(const struct veda_heads *h, int64_t index, bool *ret_vectors, enum kind *kind, int64_t *unit)
{
    *ret_vectors = false;
    if (h->query_bytes > 0) {
        int64_t turn = h->overlapped ? index - 2 : index; /* q0 K0, then q K V of ever the next; or ever q K V */
        *ret_vectors = index < 2 && h->overlapped ? index == 0 : turn % 3 == 0 && turn / 3 + h->overlapped < h->units;
        index = index < 2 && h->overlapped ? 0 : turn / 3 * 2 + (turn % 3 == 2) + h->overlapped;
    }
    if (index >= 2 * h->units) return false;
    period_at(h, index, kind, unit);
    return true;
}

/* Where the rows of a unit stand that eviction has left: drawn, or evenly spread (DSE_IDEAL_DRAWS). Voting evicts the same positions for all heads of a
 * layer; a draw for each unit gives the mean over layers sooner (A19). */
static void draw_slots(const struct veda_heads *h, struct slots *ret, int64_t unit)
{
    int64_t n = 0;
    ret->unit = unit;
    if (dse_sim_ideal(h->run->sim, DSE_IDEAL_DRAWS)) {
        for (; n < h->length; n++) ret->of_row[n] = n * h->places / h->length;
        return;
    }
    struct dse_random random = dse_sim_random(h->run->sim, ((uint64_t)h->spec.layer << 32) + (uint64_t)unit);
    for (int64_t i = 0; n < h->length; i++)
        if (dse_random_below(&random, (uint64_t)(h->places - i)) < (uint64_t)(h->length - n)) ret->of_row[n++] = i;
}

/* The few units that are being read are kept. */
static uint64_t slot_of(struct veda_heads *h, int64_t unit, uint64_t row)
{
    if (h->places == 0) return row;
    struct slots *s = &h->slots[unit % SLOTS];
    if (s->unit != unit) draw_slots(h, s, unit);
    return (uint64_t)s->of_row[row];
}

static uint64_t place_of_row(void *object, uint64_t stream, uint64_t access)
{
    struct veda_heads *h = object;
    enum kind kind;
    int64_t unit;
    bool vectors;
    stream_at(h, (int64_t)stream, &vectors, &kind, &unit);
    return h->home[kind] + home_of(h, unit) * h->homes + slot_of(h, unit, access) * (uint64_t)h->row_bytes;
}

static bool next_rows(void *object, uint64_t index, struct dse_feed_stream *ret)
{
    const struct veda_heads *h = object;
    enum kind kind;
    int64_t unit;
    bool vectors;
    if (!stream_at(h, (int64_t)index, &vectors, &kind, &unit)) return false;
    *ret = (struct dse_feed_stream){.bytes = h->stream_bytes, .label = kind == SCORES ? "keys" : "values"};
    ret->address = h->home[kind] + home_of(h, unit) * h->homes;
    if (vectors) {
        *ret = (struct dse_feed_stream){.address = h->vectors_at, .bytes = (uint64_t)h->query_bytes, .label = "vectors"};
    } else if (h->pt->p->gather == VEDA_GATHER_ROWS) {
        ret->access_bytes = (uint64_t)h->row_bytes;
        ret->place = place_of_row;
        ret->scattered = true;
    }
    return true;
}

static int64_t rows_there(const struct veda_heads *h)
{
    uint64_t bytes = dse_feed_arrived(h->feed);
    if (bytes >= h->stream_bytes) return h->length;
    return h->resident + (int64_t)((double)bytes / h->row_bytes);
}

/* What the array is through with goes back to the feed. */
static void give_back(struct veda_heads *h)
{
    uint64_t there = dse_feed_arrived(h->feed);
    double used = (double)(h->row - h->resident) * h->row_bytes;
    if (h->row == h->length)
        dse_feed_next(h->feed);
    else if (used > 0)
        dse_feed_give_back(h->feed, used < (double)there ? (uint64_t)used : there);
}

/* ---- the array -------------------------------------------------------------------------------------------------------------------- */

static enum wait blocked(const struct veda_heads *h, int64_t n, double now)
{
    if (h->query == 0 && (!h->vectors_here || rows_there(h) < h->row + n)) return ROWS;
    if (h->kind == SCORES) {
        const struct veda_softmax_unit *u = &h->sfu;
        bool room = u->reserved == u->reduced || u->reserved - u->reduced + n <= u->fifo_capacity;
        return h->serial && !room ? SCORE_FIFO : NOTHING;
    }
    if (h->serial && h->sfu.waiting < n) return h->row == 0 && h->query == 0 ? FIRST_WEIGHTS : WEIGHTS;
    if (!h->serial && now < h->stage_done) return STAGE;
    return veda_vote_room(&h->votes, h->unit, n, now) ? NOTHING : VOTES;
}

static void add(struct veda_heads *h, enum veda_count what, double cycles)
{
    h->total.at[what] += cycles;
}

/* Does the DRAM wait, too? Its FIFO is more than half full of what has arrived. Else the array would wait for rows if it did not for others. */
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

static void snapshot(struct veda_heads *h)
{
    if (h->unit == STEADY_FROM) h->from = h->total;
    if (h->unit == h->units - 2) h->to = h->total;
}

static void end_of_values(struct veda_heads *h)
{
    if (h->votes.drains) h->votes.ready[h->unit] = h->array_free + h->votes.latency;
    if (h->votes.counts && !h->votes.drains && h->vote_bytes_unit > 0)
        veda_move(h->run, h->vote_address, h->vote_bytes_unit, true, "votes", h->run->ignore, 0);
    if (h->query_bytes > 0) veda_move(h->run, h->vectors_at, h->query_bytes, true, "vectors", h->run->ignore, 0);
    snapshot(h);
}

/* Counts of a unit, asked for while the unit before is at work. */
static void ask_for_counts(struct veda_heads *h, int64_t unit)
{
    if (unit >= h->units) return;
    if (h->votes.counts && !h->votes.drains && h->vote_bytes_unit > 0 && !h->pt->prefill)
        veda_move(h->run, h->vote_address, h->vote_bytes_unit, false, "votes", h->moved_actor, COUNTS);
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
    period_at(h, h->period, &h->kind, &h->unit);
    if (h->kind == VALUES) return;
    h->vectors_here = h->query_bytes <= 0;
    ask_for_counts(h, h->unit + 1);
}

/* The array takes n rows for one query head. */
static void work(struct veda_heads *h, int64_t n, double begin)
{
    bool scores = h->kind == SCORES;
    double cycles = h->issue[h->kind] + (scores ? 0 : h->row_cycles * (double)n);
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
    const int64_t rest = h->length - h->row, n = rest < h->block[h->kind] ? rest : h->block[h->kind];
    const enum wait why = blocked(h, n, now), before = h->wait;
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
    give_back(h);
    if (h->row == h->length) end_of_period(h);
    return true;
}

/* ---- cycles ----------------------------------------------------------------------------------------------------------------------- */

static void arm(struct veda_heads *h, double cycle)
{
    if (!(cycle < h->armed)) return;
    h->armed = cycle;
    dse_ps when = h->start + dse_ps_of_cycles(cycle, h->clock_ghz), now = dse_sim_now(h->run->sim);
    dse_sim_at(h->run->sim, when > now ? when : now, h->tick_actor, 0);
}

static void show(const struct veda_heads *h, uint32_t resource, bool busy, const char *label, int64_t id)
{
    dse_resource_state(h->run->sim, resource, busy ? DSE_BUSY : DSE_IDLE, busy ? label : NULL, busy ? id : -1);
}

/* Written back once, when the last vote of the layer is counted. */
static void write_votes(struct veda_heads *h)
{
    if (h->votes_written || !h->done || h->vote_bytes_layer <= 0) return;
    if (h->votes.drains && h->votes.drained < h->votes.taken) return;
    h->votes_written = true;
    veda_move(h->run, h->vote_address, h->vote_bytes_layer, true, "votes", h->run->ignore, 0);
}

static void arm_next(struct veda_heads *h, double now)
{
    double next = veda_vote_next(&h->votes, now);
    if (h->serial) next = fmin(next, veda_softmax_next(&h->sfu, now));
    if (!h->done && h->array_free > now) next = fmin(next, ceil(h->array_free));
    if (!h->done && h->wait == STAGE) next = fmin(next, h->stage_done);
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
    if (what == COUNTS) h->votes.loaded = h->votes.drains ? h->units : h->votes.loaded + 1;
    tick(sim, h, 1);
}

/* ---- making ------------------------------------------------------------------------------------------------------------------------- */

bool veda_group_shares(const struct veda_point *pt)
{
    return pt->p->sharing == VEDA_SHARE_GROUP || veda_prompt_stays(pt);
}

double veda_units(const struct veda_point *pt)
{
    return pt->batch * pt->queries * pt->device_kv_heads * (veda_group_shares(pt) ? 1 : pt->group);
}

static void set_array(struct veda_heads *h)
{
    const struct veda_array *a = &h->pt->array;
    struct veda_lay lay = veda_lay_out(a, h->pt->d);
    for (int kind = SCORES; kind <= VALUES; kind++) {
        h->block[kind] = (int64_t)lay.at_once;
        h->issue[kind] = lay.cycles;
    }
    h->depth[SCORES] = veda_tree_depth(h->pt->p);
    h->depth[VALUES] = 1;
    if (!a->tree) return;
    h->block[VALUES] = (int64_t)a->width;
    h->issue[VALUES] = a->issue * veda_ceil(h->pt->d / a->trees);
    h->row_cycles = h->pt->p->v_access_cycles;
    h->depth[VALUES] = h->depth[SCORES];
}

static void set_rows(struct veda_heads *h)
{
    const struct veda_point *pt = h->pt;
    const double burst = (double)pt->p->dram.burst_bytes;
    const bool apart = pt->p->gather == VEDA_GATHER_ROWS;
    h->fetched =
        veda_prompt_stays(pt) ? 1 : h->length; /* E24: a query of a prompt that stays on chip is met by one row that is new */
    h->resident = h->length - h->fetched;
    h->row_bytes = apart ? veda_ceil(pt->row_bytes / burst) * burst : pt->row_bytes;
    h->stream_bytes = (uint64_t)veda_ceil((double)h->fetched * h->row_bytes);
    h->homes = (uint64_t)veda_ceil((apart ? pt->held : (double)h->length) * h->row_bytes);
    uint64_t n = home_of(h, h->units - 1) + 1;
    h->home[SCORES] = veda_region(h->run, VEDA_KEYS, (double)(n * h->homes));
    h->home[VALUES] = veda_region(h->run, VEDA_VALUES, (double)(n * h->homes));
    bool holes = apart && pt->held > (double)h->length && (pt->evicting == VEDA_VOTING || pt->evicting == VEDA_H2O) && !pt->prefill;
    if (holes) h->places = (int64_t)pt->held;
    for (int i = 0; i < SLOTS && holes; i++) {
        h->slots[i].unit = -1;
        h->slots[i].of_row = dse_sim_alloc(h->run->sim, (size_t)h->length, sizeof *h->slots[i].of_row);
    }
    if (veda_scores_leave(pt)) h->spilled = VEDA_ACTIVATION_BYTES * (double)(h->group * h->length);
    if (veda_vectors_leave(pt)) h->query_bytes = VEDA_ACTIVATION_BYTES * (double)h->group * pt->d;
    h->vectors_at = veda_region(h->run, VEDA_REST, veda_max(h->spilled, h->query_bytes));
    double moved = veda_ceil((double)h->stream_bytes / burst) * burst + h->spilled + h->query_bytes;
    h->total.at[VEDA_SCORES_BYTES] = h->total.at[VEDA_VALUES_BYTES] = moved;
    h->total.at[VEDA_KV_BYTES] = 2 * (moved - h->spilled - h->query_bytes);
}

static int64_t bounded(const struct veda_heads *h, int64_t capacity, int64_t least)
{
    if (dse_sim_ideal(h->run->sim, DSE_IDEAL_FIFOS)) return INT64_MAX / 2;
    return capacity > least ? capacity : least;
}

/* E20, E21. Scores that the FIFO has no room for wait in the registers of the tree (A18). */
static void set_softmax(struct veda_heads *h)
{
    const struct veda_params *p = h->pt->p;
    struct veda_softmax_unit *u = &h->sfu;
    const double tree = veda_ceil(h->depth[SCORES] / h->issue[SCORES]), latency = (double)(p->sfu_exp_cycles + p->sfu_div_cycles);
    u->units = h->units;
    u->elements = h->group * h->length;
    u->tile = p->sfu_fifo;
    u->rescales = h->group < p->sfu_fifo ? h->group : p->sfu_fifo;
    u->exps = p->sfu_exp;
    u->divs = p->sfu_div;
    u->exp_latency = (double)p->sfu_exp_cycles;
    u->norm_latency = latency;
    u->sum_latency = 1 + ceil(log2((double)p->sfu_exp));
    u->fifo_capacity = bounded(h, p->sfu_fifo + (int64_t)tree * h->block[SCORES], 0);
    u->norm_capacity = bounded(h, p->norm_fifo, h->block[VALUES]);
    u->fetched = h->spilled > 0 ? 0 : h->units;
    u->last = -1;
    u->ready = dse_sim_alloc(h->run->sim, (size_t)h->units, sizeof *u->ready);
    for (int64_t i = 0; i < h->units; i++) u->ready[i] = (double)INFINITY;
    veda_pipe_init(&u->tree, h->run->sim, h->depth[SCORES]);
    veda_pipe_init(&u->norm, h->run->sim, latency);
    h->stage = (double)(p->softmax_passes * u->elements) / (double)(u->exps < u->divs ? u->exps : u->divs) + latency;
}

/* E22. */
static void set_votes(struct veda_heads *h)
{
    const struct veda_point *pt = h->pt;
    const struct veda_params *p = pt->p;
    struct veda_vote_unit *u = &h->votes;
    const double count = (double)p->vote_bits / DSE_BITS_PER_BYTE;
    u->drains = pt->evicting == VEDA_VOTING;
    u->counts = u->drains || pt->evicting == VEDA_H2O;
    u->lanes = p->vote_lanes;
    u->elements = h->sfu.elements;
    u->latency = 2 * (double)p->sfu_div_cycles;
    u->capacity = bounded(h, p->vote_fifo * h->group, 0);
    u->ready = dse_sim_alloc(h->run->sim, (size_t)h->units, sizeof *u->ready);
    for (int64_t i = 0; i < h->units; i++) u->ready[i] = (double)INFINITY;
    u->loaded = pt->prefill ? h->units : 0;
    if (!u->counts) return;
    double heads = pt->batch * (u->drains ? 1 / pt->devices : pt->device_kv_heads); /* that have counts of their own */
    if (pt->prefill)
        h->vote_bytes_layer = heads * count * pt->queries;
    else if (u->drains)
        h->vote_bytes_layer = heads * count * (double)h->length;
    else
        h->vote_bytes_unit = count * (double)h->length / (veda_group_shares(pt) ? 1 : pt->group);
    h->vote_address = veda_region(h->run, VEDA_COUNTS_KEPT, h->vote_bytes_layer + h->vote_bytes_unit);
}

struct veda_heads *veda_heads_new(const struct veda_run *run, const struct veda_heads_spec *spec)
{
    struct veda_heads *h = dse_sim_alloc(run->sim, 1, sizeof *h);
    const struct veda_params *p = run->p;
    h->run = run;
    h->spec = *spec;
    h->pt = spec->pt;
    h->clock_ghz = p->clock_ghz;
    h->start = dse_sim_now(run->sim);
    h->tick_actor = dse_sim_actor(run->sim, tick, h);
    h->moved_actor = dse_sim_actor(run->sim, moved, h);
    h->armed = (double)INFINITY;
    h->units = spec->simulated;
    h->length = spec->length;
    h->group = veda_group_shares(spec->pt) ? (int64_t)spec->pt->group : 1;
    h->serial = p->softmax == VEDA_ELEMENT_SERIAL;
    h->overlapped = h->serial && p->drain == VEDA_DRAIN_OVERLAPPED;
    set_array(h);
    set_rows(h);
    set_softmax(h);
    set_votes(h);
    h->vectors_here = h->query_bytes <= 0;
    ask_for_counts(h, 0);
    ask_for_counts(h, 1);
    if (h->vote_bytes_layer > 0 && !h->pt->prefill)
        veda_move(run, h->vote_address, h->vote_bytes_layer, false, "votes", h->moved_actor, COUNTS);
    else if (h->votes.drains)
        h->votes.loaded = h->units;
    struct dse_feed_spec feed = {.port = run->port,
                                 .window_bytes = run->window_bytes,
                                 .flight_bytes = run->flight_bytes,
                                 .chunk_bytes = run->chunk_bytes,
                                 .stream = next_rows,
                                 .object = h};
    const int64_t rows = h->block[VALUES] > h->block[SCORES] ? h->block[VALUES] : h->block[SCORES];
    const double block = (double)rows * h->row_bytes; /* what the array takes at once */
    if (feed.window_bytes < (uint64_t)block + 2 * run->chunk_bytes) feed.window_bytes = (uint64_t)block + 2 * run->chunk_bytes;
    if (dse_sim_ideal(run->sim, DSE_IDEAL_FIFOS))
        feed.window_bytes += h->stream_bytes + (uint64_t)h->query_bytes; /* a product ahead */
    h->window = feed.window_bytes;
    h->feed = dse_feed_new(run->sim, &feed);
    arm(h, 0);
    return h;
}

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
    r.unit.at[VEDA_VOTE_BYTES] = 2 * h->vote_bytes_unit;
    r.ends.at[VEDA_VOTE_BYTES] = h->vote_bytes_layer * (h->pt->prefill ? 1 : 2);
    return r;
}
