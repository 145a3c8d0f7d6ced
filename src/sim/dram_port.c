/* DRAM under the event kernel: dse/dram_port.h.
 *
 * Time goes in quanta. At the end of a quantum every bus that has something to do is driven through its clocks; what came in
 * meanwhile is in the inboxes with its clock of arrival. A quantum is no longer than the shortest time from a column command to
 * the end of its data, so that whatever these commands make done is done after the quantum: transfers go on, and actors are
 * called, at exactly those clocks. So an actor that starts a transfer sees the buses as they are at its time, and events of
 * others cost nothing here. (What never reaches the DRAM because a queued write answers or swallows it may be a quantum late.)
 *
 * Quanta in which no bus has anything to do, and nothing becomes done, are passed over at once. One that a transfer starts in
 * ends where it would have ended.
 */
#include "sim/dram_port.h"

#include "base/xalloc.h"
#include "sim/sim_internal.h"

#include <stdlib.h>
#include <string.h>

enum { TRANSFERS_FIRST = 16 };

/* ---- time ---------------------------------------------------------------------------------------------------------------- */

static dse_ps ps_of(const struct dse_dram_port *p, int64_t clock)
{
    return dse_ps_of_s((double)clock * p->spec.clock_ns * 1e-9);
}

/* The first clock that is not before `when`. */
static int64_t clock_of(const struct dse_dram_port *p, dse_ps when)
{
    int64_t c = (int64_t)((double)when * 1e-3 / p->spec.clock_ns);
    while (c > 0 && ps_of(p, c - 1) >= when) c--;
    while (ps_of(p, c) < when) c++;
    return c;
}

/* ---- feeding ------------------------------------------------------------------------------------------------------------- */

static void beyond_end(struct dse_dram_port *p, const struct dse_segment *s)
{
    char *why = xasprintf("a transfer of %llu bytes at address %llx: the memory ends at %llx", (unsigned long long)s->bytes,
                          (unsigned long long)s->address, (unsigned long long)p->map.capacity);
    dse_sim_fail(p->sim, why);
    free(why);
}

/* Have the next segment at hand. False: there is none. */
static bool next_segment(struct dse_dram_port *p, struct port_transfer *x)
{
    struct dse_segment s = {0};
    while (x->at == x->end && !x->exhausted) {
        if (!x->t.next(x->t.object, x->t.arg, &s)) {
            x->exhausted = true;
        } else if (s.bytes > p->map.capacity || s.address > p->map.capacity - s.bytes) {
            beyond_end(p, &s);
            x->exhausted = true;
        } else if (s.bytes > 0) {
            x->at = s.address / p->map.burst_bytes;
            x->end = (s.address + s.bytes - 1) / p->map.burst_bytes + 1;
            x->write = s.write;
            if (s.write && !x->writes) {
                x->writes = true;
                p->writing++;
            }
        }
    }
    return x->at < x->end;
}

/* Let the transfer put what its window has room for, in clock c. */
static void feed(struct dse_dram_port *p, uint32_t slot, int64_t c)
{
    struct port_transfer *x = &p->transfer[slot];
    const struct dram_map *m = &p->map;
    const uint64_t lead = (uint64_t)m->lead;
    while (x->in_flight < x->window && next_segment(p, x)) {
        p->fed = true;
        uint64_t n = lead - x->at % lead;
        if (n > x->end - x->at) n = x->end - x->at;
        if (n > DRAM_RUN_MAX) n = DRAM_RUN_MAX;
        const struct dram_place at = dram_map_place(m, x->at);
        const struct dram_run run = {.arrival = c,
                                     .from = c,
                                     .row = at.row,
                                     .owner = slot,
                                     .column = at.column,
                                     .n = (uint16_t)n,
                                     .bank = at.bank,
                                     .write = x->write};
        dram_bus_put(p->bus[at.bus], &run);
        x->at += n;
        p->label[x->label].bursts[x->write] += n;
        x->in_flight += n;
        x->unknown += n;
    }
}

/* ---- what is done -------------------------------------------------------------------------------------------------------- */

static void show(struct dse_dram_port *p, int label)
{
    struct port_label *l = &p->label[label];
    dse_resource_state(p->sim, l->resource, l->live ? DSE_BUSY : DSE_IDLE, l->name, -1);
}

/* Everything of the transfer is done at clock c or earlier. */
static void end_transfer(struct dse_dram_port *p, uint32_t slot, int64_t c)
{
    struct port_transfer *x = &p->transfer[slot];
    if (c < x->last_done) c = x->last_done;
    if (x->writes) p->writing--;
    p->live--;
    x->ending = true;
    dse_ps when = ps_of(p, c);
    if (when < dse_sim_now(p->sim)) when = dse_sim_now(p->sim);
    dse_sim_at(p->sim, when, p->end_actor, slot);
}

/* Handle the event of the end of a transfer. */
static void transfer_ended(struct dse_sim *sim, void *object, uint32_t slot)
{
    struct dse_dram_port *p = object;
    struct port_transfer *x = &p->transfer[slot];
    const uint32_t actor = x->t.actor, arg = x->t.actor_arg;
    p->label[x->label].live--;
    show(p, x->label);
    x->next_free = p->free_transfer;
    p->free_transfer = slot;
    dse_sim_at(sim, dse_sim_now(sim), actor, arg);
}

static struct port_release *bucket_of(struct dse_dram_port *p, int64_t clock)
{
    return &p->bucket[clock & (p->buckets - 1)];
}

static uint64_t *filled_at(const struct dse_dram_port *p, int64_t clock)
{
    return &p->filled[(clock & (p->buckets - 1)) / 64];
}

/* Put what the bus has reported as done into the bucket of its clock. */
static void collect(struct dse_dram_port *p, struct dram_bus *b)
{
    for (uint32_t i = 0; i < b->done_n; i++) {
        const struct dram_done *d = &b->done[i];
        struct port_transfer *x = &p->transfer[d->owner];
        x->unknown -= d->bursts;
        if (d->clock > x->last_done) x->last_done = d->clock;
        /* Before the next quantum what is late; behind the buckets (a queue of forwarded reads) nothing can be. */
        const int64_t clock = d->clock < p->until ? p->until : d->clock;
        struct port_release *r = bucket_of(p, clock);
        if (r->n == r->size) {
            const uint32_t size = r->size ? 2 * r->size : 8;
            struct port_done *list = dse_sim_alloc(p->sim, size, sizeof *list);
            if (r->n) memcpy(list, r->list, r->n * sizeof *list);
            r->list = list;
            r->size = size;
        }
        r->list[r->n++] = (struct port_done){d->owner, d->bursts};
        *filled_at(p, clock) |= UINT64_C(1) << (clock & 63);
        p->pending++;
    }
    b->done_n = 0;
}

/* Let transfers go on whose window opens at clock c. */
static void release(struct dse_dram_port *p, int64_t c)
{
    struct port_release *r = bucket_of(p, c);
    for (uint32_t i = 0; i < r->n; i++) {
        const uint32_t slot = r->list[i].slot;
        struct port_transfer *x = &p->transfer[slot];
        x->in_flight -= r->list[i].bursts;
        feed(p, slot, c);
        if (x->exhausted && x->unknown == 0 && !x->ending) end_transfer(p, slot, c);
    }
    p->pending -= r->n;
    r->n = 0;
    *filled_at(p, c) &= ~(UINT64_C(1) << (c & 63));
}

/* The first clock from c on whose bucket is not empty; `end` where it is not before that. */
static int64_t next_filled(const struct dse_dram_port *p, int64_t c, int64_t end)
{
    while (c < end) {
        const uint64_t word = *filled_at(p, c) >> (c & 63);
        if (word) {
            c += __builtin_ctzll(word);
            return c < end ? c : end;
        }
        c = (c | 63) + 1;
    }
    return end;
}

/* ---- quanta -------------------------------------------------------------------------------------------------------------- */

static int64_t quantum(const struct dse_dram_port *p)
{
    return p->writing ? p->write_quantum : p->read_quantum;
}

/* The present quantum ends at `end`. Those behind it are passed over that end at `next`, the next clock in which a bus has
 * something to do, or before. */
static void schedule(struct dse_dram_port *p, int64_t end, int64_t next)
{
    p->first = end;
    p->step = quantum(p);
    p->until = next < end || next == DRAM_NEVER ? end : end + ((next - end) / p->step + 1) * p->step;
    p->generation++;
    dse_sim_at(p->sim, ps_of(p, p->until), p->actor, p->generation);
}

/* The end of the quantum that clock `now` is in. */
static int64_t quantum_end(const struct dse_dram_port *p, int64_t now)
{
    return now < p->first ? p->first : p->first + ((now - p->first) / p->step + 1) * p->step;
}

/* The end of a quantum: drive the buses through it, and see what that makes done in the next. */
static void wake(struct dse_sim *sim, void *object, uint32_t generation)
{
    struct dse_dram_port *p = object;
    if (generation != p->generation) return; /* it was ended earlier */
    int64_t next = DRAM_NEVER;
    p->fed = false;
    for (int64_t i = 0; i < p->spec.buses && !sim_told_to_stop(sim); i++) { /* refreshes of seconds, where nothing was moved */
        struct dram_bus *b = p->bus[i];
        if (dram_bus_next(b) < p->until) {
            dram_bus_drive(b, p->until - 1, DRAM_AT_CLOCK);
            if (b->done_n) collect(p, b);
        }
        if (dram_bus_next(b) < next) next = dram_bus_next(b);
    }
    const int64_t from = p->until, to = from + p->write_quantum;
    for (int64_t c = from; (c = next_filled(p, c, to)) < to; c++) release(p, c);
    /* As long as nothing is written more is known: reads that come back later. */
    int64_t end = to;
    while (end < from + quantum(p)) {
        end = next_filled(p, end, from + quantum(p));
        if (end < from + quantum(p)) release(p, end++);
    }
    sim_worked(sim, (uint64_t)(p->spec.buses + (end - from)));
    p->running = p->live > 0;
    if (p->running) schedule(p, end, p->fed || p->pending ? end - 1 : next);
}

/* ---- opening ------------------------------------------------------------------------------------------------------------- */

static void set_up_buses(struct dse_dram_port *p)
{
    const struct dram_spec *s = &p->spec;
    dram_map_default(&p->map, s);
    p->read_quantum = s->cl + s->burst;
    p->write_quantum = s->cwl + s->burst;
    if (p->write_quantum > p->read_quantum) p->write_quantum = p->read_quantum;
    p->buckets = 64;
    while (p->buckets < 4 * (p->read_quantum + s->cwl + s->burst)) p->buckets *= 2;
    p->bucket = dse_sim_alloc(p->sim, (size_t)p->buckets, sizeof *p->bucket);
    p->filled = dse_sim_alloc(p->sim, (size_t)p->buckets / 64, sizeof *p->filled);
    p->bus = dse_sim_alloc(p->sim, (size_t)s->buses, sizeof(struct dram_bus *));
    p->default_window = 2 * (uint64_t)s->reads * (uint64_t)s->buses; /* waiting there, and on its way */
    for (int64_t i = 0; i < s->buses; i++) {
        struct dram_bus *b = p->bus[i] = dram_bus_new(s, p->sim);
        b->keep_done = true;
        b->write_lag = s->cwl + s->burst;
        if ((p->map.lead & (p->map.lead - 1)) == 0) b->piece = (unsigned)p->map.lead;
    }
}

/* What the ports of the run move at most, together. */
static void note_peak(struct dse_sim *sim, double gbs)
{
    static const char name[] = "dram_peak";
    for (size_t i = 0; i < sim_notes(sim); i++)
        if (strcmp(sim_note(sim, i).name, name) == 0) gbs += sim_note(sim, i).value;
    dse_sim_note(sim, name, "GB/s", gbs);
}

struct dse_dram_port *dse_dram_open(struct dse_sim *sim, const struct dse_dram *dram)
{
    struct dse_dram_port *p = dse_sim_alloc(sim, 1, sizeof *p);
    p->sim = sim;
    p->dram = dram;
    p->ideal = dse_sim_ideal(sim, DSE_IDEAL_DRAM);
    p->actor = dse_sim_actor(sim, wake, p);
    p->end_actor = dse_sim_actor(sim, transfer_ended, p);
    p->ideal_actor = dse_sim_actor(sim, port_ideal_done, p);
    p->free_transfer = p->ideal_first = p->ideal_last = PORT_NONE;
    dse_sim_actor_name(sim, p->actor, "DRAM");
    dse_sim_actor_name(sim, p->end_actor, "DRAM transfer");
    if (p->ideal) {
        p->map.capacity = (uint64_t)(dram->capacity_gib * 0x1p30);
        p->map.burst_bytes = (uint64_t)dram->burst_bytes;
        note_peak(sim, dram->bandwidth_gbs);
        return p;
    }
    char *why = dram_spec_init(&p->spec, dram, !dse_sim_ideal(sim, DSE_IDEAL_REFRESH));
    if (why) {
        dse_sim_refuse(sim, why);
        free(why);
        p->failed = true;
        return p;
    }
    set_up_buses(p);
    note_peak(sim, dram_spec_peak_gbs(&p->spec));
    return p;
}

uint64_t dse_dram_reserve(struct dse_dram_port *p, uint64_t bytes, uint64_t align)
{
    if (align == 0) {
        const uint64_t stripe = (uint64_t)p->dram->channels * (uint64_t)p->dram->timing.row_bytes;
        p->reserved = (p->reserved + stripe - 1) / stripe * stripe;
    } else {
        p->reserved = (p->reserved + align - 1) & ~(align - 1);
    }
    const uint64_t at = p->reserved;
    if (!p->failed && (bytes > p->map.capacity || at > p->map.capacity - bytes)) {
        char *why = xasprintf("%.4g GiB of DRAM are not enough: %.4g GiB more asked for, %.4g GiB in use",
                              (double)p->map.capacity / 0x1p30, (double)bytes / 0x1p30, (double)at / 0x1p30);
        dse_sim_refuse(p->sim, why);
        free(why);
        p->failed = true;
        return 0;
    }
    p->reserved = at + bytes;
    return at;
}

/* ---- starting ------------------------------------------------------------------------------------------------------------ */

/* The kind of traffic called so; at most PORT_LABELS_MAX are told apart, the rest share the last. */
static int find_label(struct dse_dram_port *p, const char *name)
{
    int i = 0;
    if (!name) name = "";
    while (i < p->labels && strcmp(p->label[i].name, name) != 0) i++;
    if (i < p->labels) return i;
    if (i == PORT_LABELS_MAX) return PORT_LABELS_MAX - 1;
    p->label[i] = (struct port_label){.name = name, .resource = dse_resource(p->sim, "DRAM", *name ? name : "transfers")};
    return p->labels++;
}

static uint32_t new_slot(struct dse_dram_port *p)
{
    if (p->free_transfer == PORT_NONE) {
        const uint32_t n = p->transfers ? 2 * p->transfers : TRANSFERS_FIRST;
        struct port_transfer *more = dse_sim_alloc(p->sim, n, sizeof *more);
        if (p->transfers) memcpy(more, p->transfer, p->transfers * sizeof *more);
        for (uint32_t i = p->transfers; i < n; i++) more[i].next_free = i + 1 < n ? i + 1 : (uint32_t)PORT_NONE;
        p->free_transfer = p->transfers;
        p->transfer = more;
        p->transfers = n;
    }
    const uint32_t slot = p->free_transfer;
    p->free_transfer = p->transfer[slot].next_free;
    return slot;
}

void dse_dram_start(struct dse_dram_port *p, const struct dse_transfer *t)
{
    if (p->failed) return;
    const uint32_t slot = new_slot(p);
    struct port_transfer *x = &p->transfer[slot];
    *x = (struct port_transfer){.t = *t, .label = find_label(p, t->label)};
    p->label[x->label].live++;
    show(p, x->label);
    if (p->ideal) {
        port_ideal_start(p, slot);
        return;
    }
    x->window = t->window_bytes ? (t->window_bytes + p->map.burst_bytes - 1) / p->map.burst_bytes : p->default_window;
    p->live++;
    const int64_t now = clock_of(p, dse_sim_now(p->sim));
    feed(p, slot, now);
    x = &p->transfer[slot];
    if (x->exhausted && x->unknown == 0) end_transfer(p, slot, now);
    const int64_t until = now + quantum(p), planned = p->running ? quantum_end(p, now) : until;
    if (!p->running || planned < p->until || until < p->until) schedule(p, planned < until ? planned : until, now);
    p->running = true;
}

static bool next_of_one(void *object, uint32_t arg, struct dse_segment *ret)
{
    struct dse_dram_port *p = object;
    struct dse_segment *s = &p->stream[arg];
    if (s->bytes == 0) return false;
    *ret = *s;
    s->bytes = 0;
    return true;
}

void dse_dram_stream(struct dse_dram_port *p, struct dse_segment segment, const char *label, uint32_t actor, uint32_t actor_arg)
{
    uint32_t i = 0;
    while (i < p->streams && p->stream[i].bytes) i++;
    if (i == p->streams) {
        const uint32_t n = p->streams ? 2 * p->streams : TRANSFERS_FIRST;
        struct dse_segment *more = dse_sim_alloc(p->sim, n, sizeof *more);
        if (p->streams) memcpy(more, p->stream, p->streams * sizeof *more);
        p->stream = more;
        p->streams = n;
    }
    p->stream[i] = segment;
    const struct dse_transfer t = {.next = next_of_one,
                                   .object = p,
                                   .arg = i,
                                   .label = label,
                                   .access_bytes = (double)segment.bytes,
                                   .actor = actor,
                                   .actor_arg = actor_arg};
    dse_dram_start(p, &t);
}
