#include "ane_memory.h"

#include <dse/feed.h>
#include <dse/num.h>
#include <dse/sampling.h>
#include <dse/units.h>

#include <math.h>
#include <string.h>

enum { SEEN_MAX = 64, TILES_MIN = 4, REFRESHES = 3, PIECE = 4096, HALVES = 2 };
enum event { FED, WORKED, WRITTEN, PASSED, HOST, HOST_READ, EVENTS };

/* The tiles of a job, by their numbers from 0. */
struct tile {
    dse_ps ready, written; /* when it can be worked on; when its writing began */
    struct move {
        uint64_t at, end;
        bool write;
    } out;
};

/* What long jobs alike take. */
struct seen {
    double work_s, gate_s, written, host; /* for each byte; shares */
    double pace_s, more_s;                /* for each byte; the job beyond that, for each byte of a tile */
};

struct ane_memory {
    struct dse_sim *sim;
    const struct dse_dram *dram;
    struct dse_dram_port *port;
    uint32_t engine, actor;
    double tile_bytes, sample_bytes, refresh_s, gate_s; /* gate_s: for each byte that the engine's port takes (dram_efficiency) */
    int64_t halves;                                     /* 0: without bound */
    uint64_t room[2], room_bytes[2];

    /* The job under way. */
    struct ane_job job;
    struct dse_feed *feed;
    double bytes;  /* of a tile */
    int64_t tiles; /* that are carried out */
    int64_t arrived, works, finished;
    bool working, host_reads;
    uint64_t host_at;
    dse_ps host_next;
    double took_s;
    dse_ps began, passed; /* passed: when the engine's port is through with what it has taken */
    struct tile *tile;
    double *worked_s, *amount; /* by when the engine was through with how many bytes, tile by tile, since the start of the job */
    struct move host;

    struct seen seen[SEEN_MAX];
    int n_seen;
};

/* ---- moving -------------------------------------------------------------------------------------------------------------- */

static bool next_piece(void *object, uint32_t arg, struct dse_segment *ret)
{
    struct move *m = object;
    (void)arg;
    if (m->at == m->end) return false;
    const uint64_t rest = m->end - m->at, n = rest < PIECE ? rest : PIECE;
    *ret = (struct dse_segment){.address = m->at, .bytes = n, .write = m->write};
    m->at += n;
    return true;
}

static void start_move(struct ane_memory *m, struct move *move, const char *label, uint32_t event)
{
    dse_dram_start(m->port, &(struct dse_transfer){.next = next_piece,
                                                   .object = move,
                                                   .label = label,
                                                   .access_bytes = (double)INFINITY,
                                                   .actor = m->actor,
                                                   .actor_arg = event});
}

/* Where what is read, or written, of the first `tiles` tiles ends: they lie one behind the other. */
static uint64_t end_of(const struct ane_memory *m, double tiles, bool write)
{
    return (uint64_t)dse_ceil(tiles * m->bytes * (write ? m->job.written : 1 - m->job.written));
}

/* Room for the tiles that are carried out. */
static void make_room(struct ane_memory *m, bool write)
{
    const uint64_t need = end_of(m, (double)m->tiles, write);
    if (need <= m->room_bytes[write]) return;
    m->room[write] = dse_dram_reserve(m->port, need, 0);
    m->room_bytes[write] = need;
}

static uint32_t event_of(int64_t tile, enum event event)
{
    return (uint32_t)(tile * EVENTS) + event;
}

static void write_tile(struct ane_memory *m, int64_t i)
{
    struct tile *t = &m->tile[i];
    t->written = dse_sim_now(m->sim);
    t->out = (struct move){
        .at = m->room[1] + end_of(m, (double)i, true), .end = m->room[1] + end_of(m, (double)(i + 1), true), .write = true};
    if (t->out.at == t->out.end)
        dse_sim_at(m->sim, t->written, m->actor, event_of(i, WRITTEN));
    else
        start_move(m, &t->out, m->job.name, event_of(i, WRITTEN));
}

static bool one_stream(void *object, uint64_t index, struct dse_feed_stream *ret)
{
    const struct ane_memory *m = object;
    if (index > 0) return false;
    *ret = (struct dse_feed_stream){.address = m->room[0], .bytes = end_of(m, (double)m->tiles, false), .label = m->job.name};
    return true;
}

/* The tiles are read one after another, in pieces, as far ahead as there are halves; pieces may reach into the next ones. */
static void start_feed(struct ane_memory *m)
{
    const uint64_t turn = (uint64_t)(m->dram->channels * m->dram->timing.interleave_bytes),
                   all = end_of(m, (double)m->tiles, false), window = m->halves > 0 ? end_of(m, (double)m->halves, false) : all,
                   chunk = dse_max_u64(1, dse_min_u64(turn, window / 4));
    const struct dse_feed_spec spec = {.port = m->port,
                                       .window_bytes = window + 2 * chunk,
                                       .flight_bytes = dse_feed_flight(m->dram, (uint64_t)m->dram->channels),
                                       .chunk_bytes = chunk,
                                       .stream = one_stream,
                                       .object = m};
    m->feed = dse_feed_new(m->sim, &spec);
    dse_feed_when(m->feed, m->actor, FED);
}

/* The host reads what the last call returned, a piece at a time, evenly over its gap. */
static void read_host(struct ane_memory *m)
{
    if (!m->host_reads) return;
    m->host = (struct move){.at = m->host_at, .end = m->host_at + PIECE};
    start_move(m, &m->host, "host", event_of(0, HOST_READ));
    m->host_next = dse_sim_now(m->sim) + dse_ps_of_s(PIECE / m->job.host_bytes_s);
}

/* ---- tiles --------------------------------------------------------------------------------------------------------------- */

/* The next tile, if it is there and the engine is free. */
static void work(struct ane_memory *m)
{
    if (m->working || m->works == m->tiles) return;
    if (m->works == m->arrived) {
        dse_resource_state(m->sim, m->engine, DSE_STALL_INPUT, m->job.name, m->works);
        return;
    }
    m->working = true;
    dse_resource_state(m->sim, m->engine, DSE_BUSY, m->job.name, m->works);
    const dse_ps begin = dse_max_i64(m->tile[m->works].ready, dse_sim_now(m->sim));
    dse_sim_at(m->sim, begin + dse_ps_of_s(m->job.work_s * (m->bytes / m->job.bytes)), m->actor, event_of(m->works, WORKED));
}

/* The port takes a share of a tile's bytes, from `from` on or when it is through with what it had. */
static void pass(struct ane_memory *m, dse_ps from, double share)
{
    const double gate_s = dse_max(m->job.gate_s / m->job.bytes, m->gate_s) * m->bytes * share;
    m->passed = dse_max_i64(m->passed, from) + dse_ps_of_s(gate_s);
}

/* A tile is there when its bytes have arrived and passed the port. */
static void arrive(struct ane_memory *m)
{
    const uint64_t there = dse_feed_arrived(m->feed);
    while (m->arrived < m->tiles && there >= end_of(m, (double)(m->arrived + 1), false)) {
        pass(m, m->began, 1 - m->job.written);
        m->tile[m->arrived++].ready = dse_max_i64(m->passed, dse_sim_now(m->sim));
    }
    if (m->arrived < m->tiles) dse_feed_when(m->feed, m->actor, FED);
}

static void finish(struct ane_memory *m)
{
    m->finished++;
    if (m->job.copies) dse_feed_give_back(m->feed, end_of(m, (double)m->finished, false));
    if (m->finished < m->tiles) return;
    m->took_s = dse_s_of_ps(dse_sim_now(m->sim) - m->began);
    m->host_reads = false;
    dse_resource_state(m->sim, m->engine, DSE_IDLE, NULL, -1);
}

static void end_work(struct ane_memory *m, int64_t i)
{
    m->worked_s[i] = dse_s_of_ps(dse_sim_now(m->sim) - m->began);
    m->amount[i] = (double)(i + 1) * m->bytes;
    m->working = false;
    m->works++;
    if (!m->job.copies) dse_feed_give_back(m->feed, end_of(m, (double)m->works, false));
    if (m->job.written > 0)
        write_tile(m, i);
    else
        finish(m);
}

static void end_write(struct ane_memory *m, int64_t i)
{
    pass(m, m->tile[i].written, m->job.written);
    dse_sim_at(m->sim, dse_max_i64(m->passed, dse_sim_now(m->sim)), m->actor, event_of(i, PASSED));
}

static void act(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct ane_memory *m = object;
    const int64_t i = arg / EVENTS;
    (void)sim;
    switch ((enum event)(arg % EVENTS)) {
    case FED: arrive(m); break;
    case WORKED: end_work(m, i); break;
    case WRITTEN: end_write(m, i); return;
    case PASSED: finish(m); break;
    case HOST: read_host(m); return;
    case HOST_READ: dse_sim_at(m->sim, dse_max_i64(m->host_next, dse_sim_now(m->sim)), m->actor, event_of(0, HOST)); return;
    case EVENTS: return;
    }
    work(m);
}

/* ---- a job --------------------------------------------------------------------------------------------------------------- */

static bool is_alike(const struct ane_memory *m, const struct seen *s)
{
    const struct ane_job *j = &m->job;
    const double near = 1e-9;
    return fabs(s->work_s - j->work_s / j->bytes) <= near * s->work_s &&
           fabs(s->gate_s - j->gate_s / j->bytes) <= near * s->gate_s && fabs(s->written - j->written) <= near &&
           s->host == j->host_bytes_s;
}

static double carry_out(struct ane_memory *m)
{
    m->tile = dse_sim_alloc(m->sim, (size_t)m->tiles, sizeof *m->tile);
    m->worked_s = dse_sim_alloc(m->sim, (size_t)m->tiles, sizeof *m->worked_s);
    m->amount = dse_sim_alloc(m->sim, (size_t)m->tiles, sizeof *m->amount);
    m->arrived = m->works = m->finished = 0;
    m->working = false;
    m->took_s = (double)NAN;
    m->began = m->passed = dse_sim_now(m->sim);
    make_room(m, false);
    if (m->job.written > 0) make_room(m, true);
    m->host_reads = m->job.host_bytes_s > 0;
    start_feed(m);
    read_host(m);
    return dse_sim_run(m->sim) ? m->took_s : (double)NAN;
}

/* Seconds a byte after the first quarter, over whole intervals of refresh. */
static double pace_of(const struct ane_memory *m)
{
    const int64_t first = m->tiles / 4;
    return dse_pace(m->worked_s + first, m->amount + first, (size_t)(m->tiles - first), m->refresh_s);
}

/* One that is too long to be carried out: some of its tiles are, unless others alike were. */
static double long_seconds(struct ane_memory *m)
{
    const struct ane_job *j = &m->job;
    for (int i = 0; i < m->n_seen; i++)
        if (is_alike(m, &m->seen[i])) return j->bytes * m->seen[i].pace_s + m->bytes * m->seen[i].more_s;
    const double done_s = carry_out(m);
    if (isnan(done_s)) return done_s; /* it did not come to an end */
    const double done_bytes = (double)m->tiles * m->bytes, pace_s = pace_of(m);
    if (m->n_seen < SEEN_MAX)
        m->seen[m->n_seen++] = (struct seen){.work_s = j->work_s / j->bytes,
                                             .gate_s = j->gate_s / j->bytes,
                                             .written = j->written,
                                             .host = j->host_bytes_s,
                                             .pace_s = pace_s,
                                             .more_s = (done_s - done_bytes * pace_s) / m->bytes};
    return done_s + (j->bytes - done_bytes) * pace_s;
}

double ane_memory_seconds(struct ane_memory *m, const struct ane_job *job)
{
    const double tiles = dse_ceil(job->bytes / m->tile_bytes);
    m->job = *job;
    m->bytes = job->bytes / tiles;
    const double most = dse_max(TILES_MIN, dse_ceil(m->sample_bytes / m->bytes));
    m->tiles = (int64_t)dse_min(tiles, most);
    return tiles > most ? long_seconds(m) : carry_out(m);
}

struct ane_memory *ane_memory_new(struct dse_sim *sim, const struct dse_dram *dram, const struct ane_events_reads *closed,
                                  uint32_t engine)
{
    const char *why = dse_dram_port_check(dram);
    if (why) {
        dse_sim_refuse(sim, why);
        return NULL;
    }
    const double refresh_s = dram->timing.t_rfc_ns > 0 ? dram->timing.t_refi_ns / DSE_GIGA : 0;
    struct ane_memory *m = dse_sim_alloc(sim, 1, sizeof *m);
    *m = (struct ane_memory){.sim = sim,
                             .dram = dram,
                             .port = dse_dram_open(sim, dram),
                             .engine = engine,
                             .tile_bytes = closed->engine_tile_kib * DSE_KIB,
                             .sample_bytes = dse_max(closed->sample_mib * DSE_MIB, REFRESHES * refresh_s * dse_dram_peak(dram)),
                             .refresh_s = refresh_s,
                             .gate_s = 1 / dse_dram_stream_rate(dram),
                             .halves = closed->is_summed > 0                 ? 1
                                       : dse_sim_ideal(sim, DSE_IDEAL_FIFOS) ? 0
                                                                             : HALVES};
    m->actor = dse_sim_actor(sim, act, m);
    m->host_at = dse_dram_reserve(m->port, PIECE, 0);
    return m;
}

double ane_gate(double stream, double time_s, double bytes)
{
    return time_s > bytes * stream * (1 + 1e-9) ? time_s : 0;
}

double ane_slide_seconds(struct ane_memory *m, const struct ane_events_reads *closed)
{
    const double bytes = closed->slide_bytes, gap_s = closed->host_gap_us / DSE_US_PER_S;
    struct ane_job job = {.name = "slide",
                          .bytes = bytes,
                          .written = 0.5,
                          .copies = true,
                          .gate_s = ane_gate(closed->copy_stream, closed->copied_s, bytes)};
    const double alone_s = ane_memory_seconds(m, &job);
    if (closed->host_bytes <= 0) return alone_s;
    job.host_bytes_s = closed->host_bytes / gap_s;
    const double beside_s = ane_memory_seconds(m, &job);
    return beside_s <= gap_s ? beside_s : gap_s + (1 - gap_s / beside_s) * alone_s;
}
