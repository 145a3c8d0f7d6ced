/* Feeds: see dse/feed.h. */
#include <dse/feed.h>

#include <assert.h>
#include <math.h>
#include <string.h>

/* A request in flight, or arrived and not yet given back. */
struct chunk {
    uint64_t stream;
    uint64_t begin, end; /* bytes of its stream */
    uint64_t asked;      /* of them, those the port has been told the place of */
    bool arrived;
};

struct dse_feed {
    struct dse_sim *sim;
    struct dse_feed_spec spec;
    uint32_t actor, pump_actor;
    bool pumping; /* a call of pump_actor is on its way */

    struct chunk *ring;                /* of `size`, a power of two; numbered by the order of requests */
    uint64_t size, oldest, front, end; /* first not given back; first not arrived; one after the last */
    struct dse_feed_stream *source;    /* of the chunks in the ring, by stream & (size - 1): a stream has a chunk at least */

    struct dse_feed_stream next; /* what is read */
    uint64_t next_index, next_begin;
    bool more;

    uint64_t stream, arrived; /* the consumer's */
    uint64_t held, in_flight; /* bytes of all chunks; of those that have not arrived */

    bool waits;
    uint32_t waiter, waiter_arg;
};

static struct chunk *chunk_at(const struct dse_feed *f, uint64_t number)
{
    return &f->ring[number & (f->size - 1)];
}

static const struct dse_feed_stream *source_of(const struct dse_feed *f, const struct chunk *c)
{
    return &f->source[c->stream & (f->size - 1)];
}

/* Twice as much room; what there is keeps its number. */
static void grow(struct dse_feed *f)
{
    struct dse_feed old = *f;
    f->size *= 2;
    f->ring = dse_sim_alloc(f->sim, f->size, sizeof *f->ring);
    f->source = dse_sim_alloc(f->sim, f->size, sizeof *f->source);
    for (uint64_t i = old.oldest; i < old.end; i++) {
        *chunk_at(f, i) = *chunk_at(&old, i);
        f->source[chunk_at(f, i)->stream & (f->size - 1)] = *source_of(&old, chunk_at(&old, i));
    }
}

/* The port asks for the next piece of a chunk. */
static bool next_segment(void *object, uint32_t arg, struct dse_segment *ret)
{
    struct dse_feed *f = object;
    uint64_t number = f->oldest + (uint32_t)(arg - (uint32_t)f->oldest);
    struct chunk *c = chunk_at(f, number);
    const struct dse_feed_stream *s = source_of(f, c);
    if (c->asked == c->end) return false;
    uint64_t bytes = c->end - c->asked;
    *ret = (struct dse_segment){.address = s->address + c->asked};
    if (s->place) {
        ret->address = s->place(f->spec.object, c->stream, c->asked / s->access_bytes);
        if (bytes > s->access_bytes) bytes = s->access_bytes;
    }
    ret->bytes = bytes;
    c->asked += bytes;
    return true;
}

/* Bytes of the next request of the stream being read. */
static uint64_t chunk_bytes(const struct dse_feed *f)
{
    uint64_t bytes = f->spec.chunk_bytes, rest = f->next.bytes - f->next_begin;
    if (f->next.place) {
        bytes -= bytes % f->next.access_bytes;
        if (bytes == 0) bytes = f->next.access_bytes;
    }
    return bytes < rest ? bytes : rest;
}

static void request(struct dse_feed *f, uint64_t bytes)
{
    if (f->end - f->oldest == f->size) grow(f);
    uint64_t number = f->end++;
    f->source[f->next_index & (f->size - 1)] = f->next;
    *chunk_at(f, number) =
        (struct chunk){.stream = f->next_index, .begin = f->next_begin, .asked = f->next_begin, .end = f->next_begin + bytes};
    f->held += bytes;
    f->in_flight += bytes;
    struct dse_transfer t = {.next = next_segment,
                             .object = f,
                             .arg = (uint32_t)number,
                             .label = f->next.label,
                             .access_bytes = f->next.scattered ? (double)f->next.access_bytes : (double)INFINITY,
                             .actor = f->actor,
                             .actor_arg = (uint32_t)number};
    f->next_begin += bytes;
    if (f->next_begin == f->next.bytes) {
        f->next_begin = 0;
        f->more = f->spec.stream(f->spec.object, ++f->next_index, &f->next);
    }
    dse_dram_start(f->spec.port, &t);
}

static bool has_room(const struct dse_feed *f, uint64_t *ret_bytes)
{
    const uint64_t bytes = *ret_bytes = chunk_bytes(f);
    if (f->held > 0 && f->held + bytes > f->spec.window_bytes) return false;
    return f->in_flight == 0 || f->in_flight + bytes <= f->spec.flight_bytes;
}

/* Send one request at a time, so that feeds that start together take turns. */
static void pump(struct dse_feed *f)
{
    uint64_t bytes;
    if (!f->more || f->pumping || !has_room(f, &bytes)) return;
    request(f, bytes);
    f->pumping = f->more && has_room(f, &bytes);
    if (f->pumping) dse_sim_at(f->sim, dse_sim_now(f->sim), f->pump_actor, 0);
}

static void pump_on(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct dse_feed *f = object;
    (void)sim;
    (void)arg;
    f->pumping = false;
    pump(f);
}

/* A chunk has arrived; arg is its number. Later ones may have been faster. */
static void arrive(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct dse_feed *f = object;
    struct chunk *arrived = chunk_at(f, f->oldest + (uint32_t)(arg - (uint32_t)f->oldest));
    arrived->arrived = true;
    f->in_flight -= arrived->end - arrived->begin;
    pump(f);
    uint64_t before = f->front;
    for (; f->front < f->end && chunk_at(f, f->front)->arrived; f->front++) {
        const struct chunk *c = chunk_at(f, f->front);
        if (c->stream == f->stream) f->arrived = c->end;
    }
    if (f->front == before || !f->waits) return;
    f->waits = false;
    dse_sim_at(sim, dse_sim_now(sim), f->waiter, f->waiter_arg);
}

uint64_t dse_feed_flight(const struct dse_dram *dram, uint64_t channels)
{
    return 2 * (uint64_t)dram->timing.queue_depth * (uint64_t)dram->burst_bytes * channels;
}

struct dse_feed *dse_feed_new(struct dse_sim *sim, const struct dse_feed_spec *spec)
{
    struct dse_feed *f = dse_sim_alloc(sim, 1, sizeof *f);
    f->sim = sim;
    f->spec = *spec;
    f->actor = dse_sim_actor(sim, arrive, f);
    f->pump_actor = dse_sim_actor(sim, pump_on, f);
    f->size = 4;
    f->ring = dse_sim_alloc(sim, f->size, sizeof *f->ring);
    f->source = dse_sim_alloc(sim, f->size, sizeof *f->source);
    f->more = spec->stream(spec->object, 0, &f->next);
    pump(f);
    return f;
}

uint64_t dse_feed_arrived(const struct dse_feed *f)
{
    return f->arrived;
}

uint64_t dse_feed_waiting(const struct dse_feed *f)
{
    return f->held - f->in_flight;
}

void dse_feed_give_back(struct dse_feed *f, uint64_t bytes)
{
    assert(bytes <= f->arrived);
    uint64_t before = f->oldest;
    while (f->oldest < f->front) {
        const struct chunk *c = chunk_at(f, f->oldest);
        if (c->stream != f->stream || c->end > bytes) break;
        f->held -= c->end - c->begin;
        f->oldest++;
    }
    if (f->oldest != before) pump(f);
}

void dse_feed_next(struct dse_feed *f)
{
    dse_feed_give_back(f, f->arrived);
    f->stream++;
    f->arrived = 0;
    for (uint64_t i = f->oldest; i < f->front && chunk_at(f, i)->stream == f->stream; i++) f->arrived = chunk_at(f, i)->end;
}

void dse_feed_when(struct dse_feed *f, uint32_t actor, uint32_t arg)
{
    f->waits = true;
    f->waiter = actor;
    f->waiter_arg = arg;
}
