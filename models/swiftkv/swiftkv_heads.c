/* Attention of a layer of SwiftKV at event level: engines side by side, each with a stream of keys and values (E17), and job
 * after job (E18).
 *
 * The swiftkv algorithm is a pipeline of four stages, one item a position: dot, compare, exponential, update; the output is
 * divided when the last position of a job has come out (E19). The others go over the positions several times, one sweep after the
 * other, each of which drains its pipeline (E20).
 */
#include "swiftkv_events.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <stdio.h>

enum { STAGES = 4, REQUESTS = 8 /* of an engine that are on their way */ };

struct engine {
    struct swiftkv_heads *h;
    int64_t index;
    uint64_t base, homes; /* address of its keys and values; streams that have room there */
    struct dse_feed *feed;
    uint32_t actor, resource;
    int64_t jobs, job, jobs_done; /* jobs: simulated */
    int64_t row;                  /* of the stream: swiftkv, put into the pipeline; else, gone over */

    /* swiftkv */
    struct dse_fifo *loaded, *results;
    struct dse_stage *dot;
    int64_t taken; /* rows of the job that the dot product has taken */

    /* the others */
    int64_t sweep, in_service;
    double free_cycles;
    bool starved;
    double starved_since, data_cycles;
};

struct swiftkv_heads {
    struct swiftkv_run *run;
    struct swiftkv_heads_spec spec;
    const struct swiftkv_events_reads *p;
    double clock_ghz;
    int64_t block;
    bool pipeline;                                             /* the swiftkv algorithm */
    double dot, update, own_update, value_sweep, block_cycles; /* E6: cycles of a position; of a block */
    double row_bytes;                                          /* of a key, or a value */
    double technique_cycles;                                   /* E24: of a job, before its first position */
    int64_t engines, running;
    int64_t rounds, full,
        rest; /* of a layer; jobs simulated in which all engines have a head, and in which the last heads are left */
    dse_ps start;
    struct engine *engine;
    dse_ps *job_end; /* of the slowest engine, by job */
};

/* ---- engines ------------------------------------------------------------------------------------------------------------- */

struct swiftkv_jobs swiftkv_jobs(const struct swiftkv_run *run, int place)
{
    const struct swiftkv_events_reads *closed = run->closed;
    const int64_t processors = (int64_t)closed->processors, group = (int64_t)closed->group.shared[place];
    const int64_t fetches = (int64_t)closed->group.fetches[place], rounds = (int64_t)closed->group.rounds[place];
    const int64_t side_by_side = closed->by_head != 0 ? processors : processors >= group ? processors / group : 1;
    const int64_t engines = dse_min_i64(side_by_side, fetches);
    return (struct swiftkv_jobs){.engines = engines,
                                 .last = fetches - (rounds - 1) * engines,
                                 .rounds = rounds,
                                 .each = rounds * run->list->attention[place].queries};
}

static double now_cycles(const struct swiftkv_heads *h)
{
    return dse_s_of_ps(dse_sim_now(h->run->sim) - h->start) * h->clock_ghz * DSE_GIGA;
}

static void end_of_job(struct engine *e)
{
    struct swiftkv_heads *h = e->h;
    dse_ps now = dse_sim_now(h->run->sim);
    int64_t job = e->jobs_done++;
    if (now > h->job_end[job]) h->job_end[job] = now;
    if (e->jobs_done == e->jobs && --h->running == 0) dse_sim_at(h->run->sim, now, h->spec.actor, h->spec.actor_arg);
}

/* ---- streams ------------------------------------------------------------------------------------------------------------- */

/* A sweep over the positions, or over those of a block. */
struct sweep {
    int64_t rows;  /* of this sweep */
    bool reads;    /* keys or values come with it */
    double cycles; /* of a position */
    double tail;   /* from the last position to the next sweep */
};

/* E20: the k-th sweep of a job; false: no more. */
static bool sweep_at(const struct swiftkv_heads *h, int64_t k, struct sweep *ret)
{
    const struct swiftkv_events_reads *p = h->p;
    const int64_t n = h->spec.positions, per_block = 3, block = k / per_block;
    const double values = h->value_sweep, compare = p->compare_latency_cycles, dot = p->dot_latency_cycles;
    *ret = (struct sweep){.rows = n};
    if (p->flash != 0) {
        ret->rows = dse_min_i64(n - block * h->block, h->block);
        const struct sweep of_block[] = {
            {ret->rows, true, h->dot, 0}, {ret->rows, false, p->t_s_cycles, 0}, {ret->rows, true, values, h->block_cycles}};
        *ret = of_block[k % per_block];
        return ret->rows > 0;
    }
    const struct sweep keys = {n, true, h->dot, dot}, last = {n, true, values, p->update_latency_cycles};
    const struct sweep passes[] = {keys,
                                   {n, false, p->t_s_cycles, compare},
                                   {n, false, p->t_s_cycles, p->exp_latency_cycles},
                                   {n, false, p->t_s_cycles, p->divide_latency_cycles},
                                   last};
    const struct sweep streamed[] = {keys, last};
    const bool native = p->native != 0;
    if (k >= (native ? 5 : 2)) return false;
    *ret = native ? passes[k] : streamed[k];
    return true;
}

/* Streams of a job, and positions of one: swiftkv takes keys and values together, the others one after the other, flash by blocks.
 */
static int64_t streams_of_job(const struct swiftkv_heads *h)
{
    if (h->pipeline) return 1;
    return h->p->flash != 0 ? 2 * (int64_t)dse_ceil_div((uint64_t)h->spec.positions, (uint64_t)h->block) : 2;
}

static int64_t stream_rows(const struct swiftkv_heads *h, int64_t stream)
{
    if (h->p->flash == 0) return h->spec.positions;
    return dse_min_i64(h->spec.positions - stream / 2 * h->block, h->block);
}

static uint64_t bytes_of_rows(const struct swiftkv_heads *h, int64_t rows)
{
    return (uint64_t)ceil((double)rows * h->row_bytes * (h->pipeline ? 2 : 1));
}

/* E17: each stream has a home of its own, as long as the longest; homes are taken in turn, and there are so many that none is read
 * again before all of it has arrived. Two reads of one address would be one. */
static uint64_t home_pieces(const struct swiftkv_heads *h)
{
    return dse_ceil_div(bytes_of_rows(h, stream_rows(h, 0)), (uint64_t)h->run->dram->timing.interleave_bytes);
}

static uint64_t first_piece(const struct engine *e, uint64_t stream)
{
    return stream % e->homes * home_pieces(e->h);
}

/* E17: the pieces of an engine's stream lie in the channels that are its own, one after the other. */
static uint64_t place_of_piece(void *object, uint64_t stream, uint64_t piece)
{
    const struct engine *e = object;
    const struct dse_dram *d = e->h->run->dram;
    const uint64_t side = (uint64_t)d->timing.interleave_bytes, channels = (uint64_t)d->channels, engines = (uint64_t)e->h->engines;
    const uint64_t wide = dse_max_u64(channels / engines, 1), first = (uint64_t)e->index % (channels / wide) * wide;
    piece += first_piece(e, stream);
    return e->base + (piece / wide * channels + first + piece % wide) * side;
}

static bool next_stream(void *object, uint64_t index, struct dse_feed_stream *ret)
{
    const struct engine *e = object;
    const struct swiftkv_heads *h = e->h;
    const int64_t streams = streams_of_job(h), stream = (int64_t)index % streams;
    if ((int64_t)index / streams >= e->jobs) return false;
    *ret = (struct dse_feed_stream){.bytes = bytes_of_rows(h, stream_rows(h, stream)), .label = "keys, values"};
    ret->address = e->base + first_piece(e, index) * (uint64_t)h->run->dram->timing.interleave_bytes;
    if (h->p->apart != 0) {
        ret->access_bytes = (uint64_t)h->run->dram->timing.interleave_bytes;
        ret->place = place_of_piece;
    }
    return true;
}

/* Rows of the present stream that are there. */
static int64_t rows_there(const struct engine *e, int64_t rows)
{
    uint64_t bytes = dse_feed_arrived(e->feed);
    if (bytes >= bytes_of_rows(e->h, rows)) return rows;
    return (int64_t)((double)bytes / (e->h->row_bytes * (e->h->pipeline ? 2 : 1)));
}

static void give_back(struct engine *e, int64_t rows, int64_t of)
{
    uint64_t bytes = bytes_of_rows(e->h, rows), there = dse_feed_arrived(e->feed);
    if (rows == of)
        dse_feed_next(e->feed);
    else
        dse_feed_give_back(e->feed, dse_min_u64(bytes, there));
}

/* ---- the pipeline of a position ------------------------------------------------------------------------------------------ */

/* Positions that have arrived go into the pipeline. */
static void load(struct engine *e)
{
    const struct swiftkv_heads *h = e->h;
    if (e->job == e->jobs) return;
    for (int64_t there = rows_there(e, h->spec.positions); e->row < there; e->row++) dse_fifo_put(e->loaded, (uint64_t)e->row);
    if (e->row < h->spec.positions) dse_feed_when(e->feed, e->actor, 0);
}

static void loaded(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    (void)arg;
    load(object);
}

/* E19: the rotary embedding of a job's query comes before its first position. */
static void serve_dot(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    struct engine *e = object;
    const struct swiftkv_heads *h = e->h;
    const struct swiftkv_events_reads *p = h->p;
    (void)sim;
    bool own = p->own_array != 0;
    double rope = in[0] == 0 ? p->rope_cycles + h->technique_cycles : 0, busy = rope + h->dot + (own ? 0 : h->update);
    ret->interval = swiftkv_cycles_on(h->run, busy);
    ret->latency = swiftkv_cycles_on(h->run, rope + p->dot_latency_cycles);
    if (ret->latency < ret->interval) ret->latency = ret->interval;
    ret->outputs = 1;
    ret->id = e->job;
    out[0] = in[0];
    give_back(e, ++e->taken, h->spec.positions);
    if (e->taken < h->spec.positions) return;
    e->taken = e->row = 0;
    e->job++;
    load(e);
}

static void serve_in(struct engine *e, double interval, double latency, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    ret->interval = swiftkv_cycles_on(e->h->run, interval);
    ret->latency = swiftkv_cycles_on(e->h->run, fmax(latency, interval));
    ret->outputs = 1;
    out[0] = in[0];
}

static void serve_compare(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    struct engine *e = object;
    (void)sim;
    serve_in(e, 1, e->h->p->compare_latency_cycles, in, out, ret);
}

static void serve_exp(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    struct engine *e = object;
    (void)sim;
    serve_in(e, 1, e->h->p->exp_latency_cycles, in, out, ret);
}

/* E19: on an array of its own, as wide as that of the dot product, it takes as long. What leaves it is the output of a job. */
static void serve_update(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    struct engine *e = object;
    const struct swiftkv_heads *h = e->h;
    (void)sim;
    serve_in(e, h->p->own_array != 0 ? h->own_update : 1, h->p->update_latency_cycles, in, out, ret);
    bool last = (int64_t)in[0] == h->spec.positions - 1;
    if (last) ret->latency += swiftkv_cycles_on(h->run, h->p->divide_latency_cycles);
    ret->outputs = last;
}

static void result(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct engine *e = object;
    uint64_t item;
    (void)sim;
    (void)arg;
    while (dse_fifo_get(e->results, &item)) end_of_job(e);
    if (e->jobs_done < e->jobs) dse_fifo_when_item(e->results, e->actor, 1);
}

static void pipeline_event(struct dse_sim *sim, void *object, uint32_t arg)
{
    if (arg == 1)
        result(sim, object, 0);
    else
        loaded(sim, object, 0);
}

static void build_pipeline(struct engine *e, const char *group)
{
    static void (*const serve[STAGES])(struct dse_sim *, void *, const uint64_t *, uint64_t *,
                                       struct dse_service *) = {serve_dot, serve_compare, serve_exp, serve_update};
    static const char *const names[STAGES] = {"dot", "compare", "exp", "update"};
    static const char *const fifos[STAGES + 1] = {"rows", "scores", "differences", "weights", "results"};
    struct dse_sim *sim = e->h->run->sim;
    struct dse_fifo *fifo[STAGES + 1];
    for (int i = 0; i <= STAGES; i++)
        fifo[i] = dse_fifo_new(sim, fifos[i], i == 0 || i == STAGES ? 0 : (uint32_t)e->h->p->pipe_fifo);
    for (int i = 0; i < STAGES; i++) {
        struct dse_stage_spec spec = {
            .group = group, .name = names[i], .in = {fifo[i]}, .out = {fifo[i + 1]}, .serve = serve[i], .object = e};
        struct dse_stage *s = dse_stage_new(sim, &spec);
        if (i == 0) e->dot = s;
    }
    e->loaded = fifo[0];
    e->results = fifo[STAGES];
    e->actor = dse_sim_actor(sim, pipeline_event, e);
    dse_sim_actor_name(sim, e->actor, group);
    dse_fifo_when_item(e->results, e->actor, 1);
}

/* ---- sweep by sweep ------------------------------------------------------------------------------------------------------ */

enum { GO, SERVED, ENDED };

/* E20: what is behind the last position drains before anything else begins, or the job ends. True: the job does. */
static bool end_of_sweep(struct engine *e, const struct sweep *s)
{
    struct sweep next;
    e->free_cycles += s->tail;
    e->row = 0;
    if (sweep_at(e->h, ++e->sweep, &next)) return false;
    e->sweep = 0;
    e->job++;
    return true;
}

/* Go over the rows that are there. */
static void go(struct engine *e)
{
    struct swiftkv_heads *h = e->h;
    struct dse_sim *sim = h->run->sim;
    struct sweep s;
    sweep_at(h, e->sweep, &s);
    int64_t there = s.reads ? rows_there(e, s.rows) : s.rows;
    double now = now_cycles(h);
    if (there == e->row) {
        if (!e->starved) e->starved_since = fmax(now, e->free_cycles);
        e->starved = true;
        dse_resource_state(sim, e->resource, DSE_STALL_INPUT, "keys, values", e->job);
        dse_feed_when(e->feed, e->actor, GO);
        return;
    }
    if (e->starved) {
        e->data_cycles += fmax(0, now - e->starved_since);
        e->free_cycles = fmax(e->free_cycles, now);
    }
    e->starved = false;
    if (e->row == 0 && e->sweep == 0) e->free_cycles += h->p->rope_cycles + h->technique_cycles;
    e->in_service = there - e->row;
    e->free_cycles += (double)e->in_service * s.cycles;
    dse_resource_state(sim, e->resource, DSE_BUSY, !s.reads ? "softmax" : e->sweep % 3 == 0 ? "keys" : "values", e->job);
    dse_sim_at(sim, h->start + dse_ps_of_cycles(e->free_cycles, h->clock_ghz), e->actor, SERVED);
}

static void sweep_event(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct engine *e = object;
    struct swiftkv_heads *h = e->h;
    struct sweep s;
    if (arg == SERVED) {
        sweep_at(h, e->sweep, &s);
        e->row += e->in_service;
        if (s.reads) give_back(e, e->row, s.rows);
        if (e->row == s.rows && end_of_sweep(e, &s)) {
            dse_sim_at(sim, h->start + dse_ps_of_cycles(e->free_cycles, h->clock_ghz), e->actor, ENDED);
            return;
        }
    }
    if (arg == ENDED) end_of_job(e);
    if (e->job < e->jobs)
        go(e);
    else
        dse_resource_state(sim, e->resource, DSE_IDLE, NULL, -1);
}

/* ---- making -------------------------------------------------------------------------------------------------------------- */

/* E17: room for a job, and for all that may be in the engine's memory; in whole turns over all channels. Engines with channels of
 * their own share turns. */
static void place_cache(struct engine *e, uint64_t window_bytes)
{
    const struct swiftkv_heads *h = e->h;
    const struct dse_dram *d = h->run->dram;
    const uint64_t side = (uint64_t)d->timing.interleave_bytes, channels = (uint64_t)d->channels, turn = side * channels;
    const uint64_t home = home_pieces(h) * side, streams = (uint64_t)streams_of_job(h);
    uint64_t engines = (uint64_t)h->engines, own = turn,
             together = 1; /* bytes of a turn that are the engine's; engines in a turn */
    e->homes = window_bytes <= streams * home ? streams : dse_ceil_div(window_bytes, home) + 1;
    if (h->p->apart != 0) {
        const uint64_t wide = dse_max_u64(channels / engines, 1);
        own = wide * side;
        together = channels / wide;
    }
    const uint64_t room = (e->homes * home / own + 1) * turn;
    e->base = dse_room_for(h->run->program, &h->run->cache, dse_ceil_div(engines, together) * room, 0) +
              (uint64_t)e->index / together * room;
}

/* E17: eight requests of an engine are on their way, or as many as its memory has room for: besides the one whose last row goes
 * on in the next, at least that one. */
static struct dse_feed_spec feed_of(struct engine *e)
{
    const struct swiftkv_heads *h = e->h;
    const struct dse_dram *d = h->run->dram;
    const uint64_t side = (uint64_t)d->timing.interleave_bytes, channels = (uint64_t)d->channels, engines = (uint64_t)h->engines;
    const uint64_t row = bytes_of_rows(h, 1);
    struct dse_feed_spec feed = {.port = h->run->program->port, .stream = next_stream, .object = e};
    feed.window_bytes = (uint64_t)(h->p->kv_memory_kib * DSE_KIB);
    if (dse_sim_ideal(h->run->sim, DSE_IDEAL_FIFOS)) feed.window_bytes = 2 * bytes_of_rows(h, h->spec.positions);
    feed.flight_bytes = dse_feed_flight(d, dse_max_u64(channels / engines, 1));
    const uint64_t half = feed.window_bytes > row ? (feed.window_bytes - row) / 2 : 0;
    uint64_t chunk = dse_min_u64(feed.flight_bytes / REQUESTS, half);
    feed.chunk_bytes = chunk > side ? chunk / side * side : side;
    feed.window_bytes = dse_max_u64(feed.window_bytes, row + 2 * feed.chunk_bytes);
    return feed;
}

static void engine_init(struct swiftkv_heads *h, int64_t index)
{
    struct engine *e = &h->engine[index];
    struct dse_sim *sim = h->run->sim;
    char group[32];
    snprintf(group, sizeof group, "processor %lld", (long long)index);
    e->h = h;
    e->index = index;
    if (h->pipeline) {
        build_pipeline(e, group);
    } else {
        e->resource = dse_resource(sim, group, "array");
        e->actor = dse_sim_actor(sim, sweep_event, e);
    }
    const struct dse_feed_spec feed = feed_of(e);
    place_cache(e, feed.window_bytes);
    e->feed = dse_feed_new(sim, &feed);
    dse_sim_at(sim, h->start, e->actor, 0);
}

/* E18: what is simulated of a layer's rounds: as many of the last one as of each other. */
static void set_jobs(struct swiftkv_heads *h)
{
    const struct swiftkv_jobs all = swiftkv_jobs(h->run, h->spec.group);
    h->engines = h->running = all.engines;
    h->rounds = all.rounds;
    if (all.last < all.engines) h->rest = dse_max_i64(h->spec.jobs / all.rounds, 1);
    h->full = h->spec.jobs - h->rest;
    h->engine = dse_sim_alloc(h->run->sim, (size_t)h->engines, sizeof *h->engine);
    h->job_end = dse_sim_alloc(h->run->sim, (size_t)h->spec.jobs, sizeof *h->job_end);
    for (int64_t i = 0; i < h->engines; i++) h->engine[i].jobs = i < all.last ? h->spec.jobs : h->full;
}

struct swiftkv_heads *swiftkv_heads_new(struct swiftkv_run *run, const struct swiftkv_heads_spec *spec)
{
    struct swiftkv_heads *h = dse_sim_alloc(run->sim, 1, sizeof *h);
    const struct swiftkv_events_reads *p = run->closed;
    const int at = spec->group;
    const double met = p->group.met[at], layers = (double)run->list->attention[at].layers;
    h->run = run;
    h->spec = *spec;
    h->p = p;
    h->clock_ghz = p->clock_mhz / 1000;
    h->block = (int64_t)p->block;
    h->pipeline = p->pipeline != 0;
    h->dot = p->group.dot[at];
    h->update = p->group.update[at];
    h->own_update = p->group.own_update[at];
    h->value_sweep = p->group.value_sweep[at];
    h->block_cycles = p->group.block_cycles[at];
    h->row_bytes = (p->group.row_bytes[at] + p->group.technique_bytes[at] / (layers * p->group.fetches[at] * met)) / 2;
    h->technique_cycles = (double)spec->positions * p->group.technique_cycles[at] / met;
    set_jobs(h);
    h->start = dse_sim_now(run->sim);
    for (int64_t i = 0; i < h->engines; i++) engine_init(h, i);
    return h;
}

/* E18: seconds of a job in full rounds and in the last one; what is left is the beginning of a layer. */
struct swiftkv_heads_result swiftkv_heads_result(const struct swiftkv_heads *h)
{
    struct swiftkv_heads_result r = {0};
    const double first = dse_s_of_ps(h->job_end[0] - h->start), last = dse_s_of_ps(h->job_end[h->full - 1] - h->start);
    const double end = h->rest > 0 ? fmax(last, dse_s_of_ps(h->job_end[h->full + h->rest - 1] - h->start)) : last;
    const double full_s = h->full > 1 ? (last - first) / (double)(h->full - 1) : first;
    const double rest_s = h->rest > 0 ? (end - last) / (double)h->rest : full_s;
    r.job_s = ((double)(h->rounds - 1) * full_s + rest_s) / (double)h->rounds;
    r.ends_s = last - (double)h->full * full_s;
    for (int64_t i = 0; i < h->engines; i++) {
        const struct engine *e = &h->engine[i];
        double waited = h->pipeline ? dse_s_of_ps(dse_resource_time(h->run->sim, dse_stage_resource(e->dot), DSE_STALL_INPUT))
                                    : e->data_cycles / (h->clock_ghz * DSE_GIGA);
        r.data_s += waited / (double)h->engines * (double)swiftkv_jobs(h->run, h->spec.group).each / (double)h->spec.jobs;
    }
    return r;
}
