/* Networks at event level: whatever stages and FIFOs the bytes make, the run ends, says why when it fails, loses no item,
 * accounts for all of its time, and is the same again in the memory of the first. The chart of it is drawn. */
#include "base/xalloc.h"
#include "sim/gantt.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { FIFOS_MAX = 12, STAGES_MAX = 12, EVENTS_MAX = 20000 };

static void need(bool holds)
{
    if (!holds) abort();
}

struct bytes {
    const uint8_t *at, *end;
};

static unsigned next_byte(struct bytes *b)
{
    return b->at < b->end ? *b->at++ : 0;
}

struct wire {
    struct dse_fifo *fifo;
    uint64_t at_start, taken, meant; /* items: put by us; taken by stages; that stages are to put */
};

struct unit {
    struct wire *in[DSE_STAGE_PORTS], *out[DSE_STAGE_PORTS];
    unsigned outputs;
    unsigned interval, latency, mask, later; /* what its services are made of */
    uint32_t actor;
    struct dse_stage *stage;
    uint64_t served;
};

struct network {
    struct wire wire[FIFOS_MAX];
    struct unit unit[STAGES_MAX];
    unsigned wires, units;
};

/* 0, or a power of two from 1 ps to 2^62. */
static dse_ps time_of(unsigned byte, uint64_t item)
{
    const unsigned bit = (byte + (unsigned)(item % 4)) % 128;
    return bit < 64 ? 0 : (dse_ps)1 << (bit - 64) % 63;
}

static void tell(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    (void)arg;
    const struct unit *u = object;
    dse_stage_done(u->stage);
}

static void serve(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    struct unit *u = object;
    const uint64_t k = u->served++;
    ret->interval = time_of(u->interval, k);
    ret->latency = time_of(u->latency, in[0]);
    ret->outputs = (u->mask ^ (unsigned)k) & ((1u << u->outputs) - 1);
    ret->id = (int64_t)(k % 5) - 1;
    ret->label = k % 3 ? "work" : NULL;
    for (int i = 0; i < DSE_STAGE_PORTS && u->in[i]; i++) u->in[i]->taken++;
    for (unsigned i = 0; i < u->outputs; i++) {
        out[i] = k;
        if (ret->outputs & 1u << i) u->out[i]->meant++;
    }
    ret->later = u->later % 4 == 0;
    if (!ret->later) return;
    if (u->later % 8 == 0)
        dse_sim_at(sim, dse_sim_now(sim) + u->later, u->actor, 0);
    else if (u->later % 16 == 4)
        dse_stage_done(u->stage);
}

static void make_unit(struct dse_sim *sim, struct network *w, struct bytes *b)
{
    struct unit *u = &w->unit[w->units++];
    *u = (struct unit){.interval = next_byte(b), .latency = next_byte(b), .mask = next_byte(b), .later = next_byte(b) | 1};
    if (next_byte(b) % 4 == 0) u->later ^= 1;
    struct dse_stage_spec spec = {
        .name = "unit", .group = u->mask & 1 ? "group" : NULL, .depth = next_byte(b) % 4, .serve = serve, .object = u};
    const unsigned inputs = next_byte(b) % 4, outputs = next_byte(b) % 4;
    for (unsigned i = 0; i < inputs; i++) {
        u->in[i] = &w->wire[next_byte(b) % w->wires];
        spec.in[i] = u->in[i]->fifo;
    }
    for (; u->outputs < outputs; u->outputs++) {
        u->out[u->outputs] = &w->wire[next_byte(b) % w->wires];
        spec.out[u->outputs] = u->out[u->outputs]->fifo;
    }
    u->actor = dse_sim_actor(sim, tell, u);
    u->stage = dse_stage_new(sim, &spec);
}

static void build(struct dse_sim *sim, struct network *w, struct bytes b)
{
    memset(w, 0, sizeof *w);
    const unsigned wires = 1 + next_byte(&b) % FIFOS_MAX;
    while (w->wires < wires) {
        struct wire *x = &w->wire[w->wires++];
        x->fifo = dse_fifo_new(sim, "wire", next_byte(&b) % 6);
        const unsigned items = next_byte(&b) % 32;
        while (x->at_start < items && dse_fifo_put(x->fifo, x->at_start)) x->at_start++;
    }
    const unsigned units = next_byte(&b) % STAGES_MAX;
    while (w->units < units) make_unit(sim, w, &b);
}

static void check(const struct dse_sim *sim, const struct network *w, bool ok)
{
    need(ok == (dse_sim_error(sim) == NULL));
    for (unsigned i = 0; i < w->wires; i++) {
        const struct wire *x = &w->wire[i];
        const uint64_t there = dse_fifo_size(x->fifo) + x->taken;
        need(there >= x->at_start && there <= x->at_start + x->meant);
        if (ok) need(there == x->at_start + x->meant);
    }
    for (uint32_t i = 0; i < sim_resources(sim); i++) {
        const struct sim_resource r = sim_resource(sim, i);
        dse_ps sum = 0;
        for (int s = 0; s < DSE_STATES; s++) {
            need(r.time[s] >= 0);
            sum += r.time[s];
        }
        need(sum == dse_sim_now(sim));
    }
}

static void draw(struct gantt *g, const struct dse_sim *sim, size_t n)
{
    char *text =
        gantt_draw(g, dse_sim_now(sim), &(struct gantt_style){.width = (unsigned)n % 200, .utf8 = n % 2, .colour = n % 3 == 0});
    need(*text != '\0');
    free(text);
    gantt_free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct network w;
    struct gantt *g = gantt_new(0, 0);
    struct dse_sim *sim = sim_new(&(struct sim_options){.events_max = EVENTS_MAX, .recorder = gantt_recorder(g)});
    build(sim, &w, (struct bytes){data, data + n});
    const bool ok = dse_sim_run(sim);
    check(sim, &w, ok);
    sim_finish(sim);
    check(sim, &w, ok);
    draw(g, sim, n);
    const uint64_t events = sim_events(sim);
    const dse_ps end = dse_sim_now(sim);
    char *error = xstrdup(ok ? "" : dse_sim_error(sim));
    sim_reset(sim, &(struct sim_options){.events_max = EVENTS_MAX});
    build(sim, &w, (struct bytes){data, data + n});
    need(dse_sim_run(sim) == ok);
    need(sim_events(sim) == events && dse_sim_now(sim) == end);
    need(strcmp(error, ok ? "" : dse_sim_error(sim)) == 0);
    free(error);
    sim_free(sim);
    return 0;
}
