/* FIFOs and barriers. */
#include "sim/sim_internal.h"

#include "base/xalloc.h"

#include <string.h>

void sim_calls_add(struct dse_sim *sim, struct sim_calls *calls, uint32_t actor, uint32_t arg)
{
    if (calls->n == calls->capacity) {
        const uint32_t capacity = calls->capacity ? 2 * calls->capacity : 4;
        struct sim_call *list = dse_sim_alloc(sim, capacity, sizeof *list);
        if (calls->n) memcpy(list, calls->list, calls->n * sizeof *list);
        calls->list = list;
        calls->capacity = capacity;
    }
    calls->list[calls->n++] = (struct sim_call){.actor = actor, .arg = arg};
}

void sim_calls_now(struct dse_sim *sim, struct sim_calls *calls)
{
    for (uint32_t i = 0; i < calls->n; i++) dse_sim_at(sim, sim->now, calls->list[i].actor, calls->list[i].arg);
    calls->n = 0;
}

/* ---- FIFOs ----------------------------------------------------------------------------------------------------------------- */

struct dse_fifo *dse_fifo_new(struct dse_sim *sim, const char *name, uint32_t capacity)
{
    struct dse_fifo *f = dse_sim_alloc(sim, 1, sizeof *f);
    f->sim = sim;
    f->name = sim_strdup(sim, name);
    f->capacity = dse_sim_ideal(sim, DSE_IDEAL_FIFOS) ? 0 : capacity;
    f->ring = 8;
    f->item = dse_sim_alloc(sim, f->ring, sizeof *f->item);
    *sim->fifos_end = f;
    sim->fifos_end = &f->next;
    return f;
}

static void grow(struct dse_fifo *f)
{
    uint64_t *item = dse_sim_alloc(f->sim, 2 * (size_t)f->ring, sizeof *item);
    for (uint32_t i = 0; i < f->size; i++) item[i] = f->item[(f->first + i) & (f->ring - 1)];
    f->item = item;
    f->ring *= 2;
    f->first = 0;
}

bool dse_fifo_put(struct dse_fifo *f, uint64_t item)
{
    if (f->capacity && f->size == f->capacity) return false;
    if (f->size == f->ring) grow(f);
    f->item[(f->first + f->size++) & (f->ring - 1)] = item;
    if (f->size > f->peak) f->peak = f->size;
    if (f->size == 1) /* who did not take from a longer one waits for something else */
        for (const struct sim_port *p = f->takers; p; p = p->next)
            if (p->stage->next_take <= f->sim->now) stage_kick(p->stage);
    if (f->wait_item.n) sim_calls_now(f->sim, &f->wait_item);
    return true;
}

bool dse_fifo_get(struct dse_fifo *f, uint64_t *ret)
{
    if (f->size == 0) return false;
    *ret = f->item[f->first];
    f->first = (f->first + 1) & (f->ring - 1);
    f->size--;
    for (const struct sim_port *p = f->putters; p; p = p->next) {
        const struct dse_stage *s = p->stage;
        if (s->count && stage_head(s)->ready <= f->sim->now && stage_head(s)->ports & 1u << p->index) stage_kick(p->stage);
    }
    if (f->wait_room.n) sim_calls_now(f->sim, &f->wait_room);
    return true;
}

uint32_t dse_fifo_size(const struct dse_fifo *f)
{
    return f->size;
}

uint32_t dse_fifo_peak(const struct dse_fifo *f)
{
    return f->peak;
}

void dse_fifo_when_room(struct dse_fifo *f, uint32_t actor, uint32_t arg)
{
    if (f->capacity && f->size == f->capacity)
        sim_calls_add(f->sim, &f->wait_room, actor, arg);
    else
        dse_sim_at(f->sim, f->sim->now, actor, arg);
}

void dse_fifo_when_item(struct dse_fifo *f, uint32_t actor, uint32_t arg)
{
    if (f->size == 0)
        sim_calls_add(f->sim, &f->wait_item, actor, arg);
    else
        dse_sim_at(f->sim, f->sim->now, actor, arg);
}

/* ---- barriers -------------------------------------------------------------------------------------------------------------- */

struct dse_barrier *dse_barrier_new(struct dse_sim *sim, const char *name, uint32_t n)
{
    struct dse_barrier *b = dse_sim_alloc(sim, 1, sizeof *b);
    b->sim = sim;
    b->name = sim_strdup(sim, name);
    b->n = n;
    if (n == 0) sim_fail(sim, SIM_FAILED, xasprintf("barrier `%s` is of nobody", name));
    *sim->barriers_end = b;
    sim->barriers_end = &b->next;
    return b;
}

void dse_barrier_arrive(struct dse_barrier *b, uint32_t actor, uint32_t arg)
{
    sim_calls_add(b->sim, &b->arrived, actor, arg);
    if (b->arrived.n >= b->n) sim_calls_now(b->sim, &b->arrived);
}
