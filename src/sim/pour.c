/* Pours: see dse/feed.h.
 *
 * The consumer takes the chunks of its feed one after another; each takes its share of work_s. Nothing inside a chunk can wait,
 * so a chunk is an event. What was consumed and what had arrived by when is kept, chunk by chunk: from it the pace is read, over
 * whole refresh intervals and after the first quarter of the sample. While the buffer fills or is drawn on, the two have paces of
 * their own; in the long run the slower one's is that of both.
 */
#include <dse/feed.h>
#include <dse/sampling.h>

#include <math.h>

/* Bytes by time since the start, in order of time. */
struct progress {
    uint64_t n;
    double *s, *bytes;
};

struct dse_pour {
    struct dse_sim *sim;
    struct dse_pour_spec spec;
    struct dse_feed *feed;
    uint32_t actor;
    uint64_t sample, taken; /* bytes simulated; of them, those in service or served */
    dse_ps start;
    double free_s; /* since the start: when the consumer is through with what it has taken */
    double data_s, other_s;
    bool starved;

    struct progress done, arrived;
};

static double elapsed_s(const struct dse_pour *p)
{
    return dse_s_of_ps(dse_sim_now(p->sim) - p->start);
}

static bool one_stream(void *object, uint64_t index, struct dse_feed_stream *ret)
{
    const struct dse_pour *p = object;
    if (index > 0) return false;
    *ret = (struct dse_feed_stream){.address = p->spec.address, .bytes = p->sample, .label = p->spec.label};
    return true;
}

static void mark(struct progress *g, double s, uint64_t bytes)
{
    if (g->n > 0 && g->bytes[g->n - 1] == (double)bytes) return;
    g->s[g->n] = s;
    g->bytes[g->n++] = (double)bytes;
}

enum { TAKE, DONE };

/* Take all that has arrived up to the next whole chunk. */
static void take(struct dse_pour *p)
{
    uint64_t there = dse_feed_arrived(p->feed);
    if (there > 0) mark(&p->arrived, elapsed_s(p), there);
    uint64_t end = p->taken + p->spec.chunk_bytes < p->sample ? p->taken + p->spec.chunk_bytes : p->sample;
    if (there < end) {
        p->starved = true;
        dse_resource_state(p->sim, p->spec.resource, DSE_STALL_INPUT, p->spec.label, p->spec.id);
        dse_feed_when(p->feed, p->actor, TAKE);
        return;
    }
    double arrived_s = p->starved ? fmax(p->free_s, elapsed_s(p)) : p->free_s;
    double share = (double)end / (double)p->spec.bytes, begin_s = fmax(arrived_s, p->spec.hold_s + share * p->spec.gate_s);
    p->data_s += arrived_s - p->free_s;
    p->other_s += begin_s - arrived_s;
    p->starved = false;
    p->free_s = begin_s + p->spec.work_s * ((double)(end - p->taken) / (double)p->spec.bytes);
    p->taken = end;
    dse_resource_state(p->sim, p->spec.resource, DSE_BUSY, p->spec.work, p->spec.id);
    dse_sim_at(p->sim, p->start + dse_ps_of_s(p->free_s), p->actor, DONE);
}

static void finish(struct dse_pour *p)
{
    dse_resource_state(p->sim, p->spec.resource, DSE_IDLE, NULL, -1);
    dse_sim_at(p->sim, dse_sim_now(p->sim), p->spec.actor, p->spec.actor_arg);
}

static void act(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct dse_pour *p = object;
    (void)sim;
    if (arg == DONE) {
        mark(&p->done, p->free_s, p->taken);
        dse_feed_give_back(p->feed, p->taken);
        if (p->taken == p->sample) {
            finish(p);
            return;
        }
    }
    take(p);
}

struct dse_pour *dse_pour_new(struct dse_sim *sim, const struct dse_pour_spec *spec)
{
    struct dse_pour *p = dse_sim_alloc(sim, 1, sizeof *p);
    p->sim = sim;
    p->spec = *spec;
    p->sample = spec->sample_bytes > 0 && spec->sample_bytes < spec->bytes ? spec->sample_bytes : spec->bytes;
    p->start = dse_sim_now(sim);
    p->actor = dse_sim_actor(sim, act, p);
    uint64_t chunks = (p->sample + spec->chunk_bytes - 1) / spec->chunk_bytes;
    for (struct progress *g = &p->done;; g = &p->arrived) {
        g->s = dse_sim_alloc(sim, chunks, sizeof *g->s);
        g->bytes = dse_sim_alloc(sim, chunks, sizeof *g->bytes);
        if (g == &p->arrived) break;
    }
    struct dse_feed_spec feed = {.port = spec->port,
                                 .window_bytes = dse_sim_ideal(sim, DSE_IDEAL_FIFOS) ? p->sample : spec->window_bytes,
                                 .flight_bytes = spec->flight_bytes,
                                 .chunk_bytes = spec->chunk_bytes,
                                 .stream = one_stream,
                                 .object = p};
    p->feed = dse_feed_new(sim, &feed);
    dse_sim_at(sim, p->start, p->actor, TAKE);
    return p;
}

/* The first entry after the first quarter. */
static uint64_t first_of(const struct progress *g)
{
    uint64_t first = 0;
    while (first < g->n && 4 * g->bytes[first] < g->bytes[g->n - 1]) first++;
    return first;
}

/* Seconds a byte after the first quarter; 0: too few entries to tell. */
static double pace_of(const struct progress *g, double period)
{
    const uint64_t first = first_of(g);
    if (first + 1 >= g->n) return 0;
    return dse_pace(g->s + first, g->bytes + first, g->n - first, period);
}

static double pace(const struct dse_pour *p)
{
    double work = p->spec.work_s / (double)p->spec.bytes;
    return fmax(work, fmax(pace_of(&p->done, p->spec.period_s), pace_of(&p->arrived, p->spec.period_s)));
}

struct dse_poured dse_pour_result(const struct dse_pour *p)
{
    struct dse_poured r = {.time_s = p->free_s, .data_s = p->data_s, .other_s = p->other_s};
    r.pace_s = p->spec.pace_s;
    if (p->sample == p->spec.bytes) return r;
    if (!(r.pace_s > 0)) {
        const struct progress *g = &p->done;
        const uint64_t first = first_of(g);
        r.pace_s = pace(p);
        r.measured_s = g->s[g->n - 1] - g->s[first];
        r.error = dse_pace_error(g->s + first, g->bytes + first, g->n - first, p->spec.period_s);
    }
    double rest = (double)(p->spec.bytes - p->sample);
    r.rest_s = rest * r.pace_s;
    r.time_s += r.rest_s;
    double work_s = p->spec.work_s * rest / (double)p->spec.bytes;
    r.data_s += fmax(0, r.rest_s - work_s);
    return r;
}
