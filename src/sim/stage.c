/* FIFOs, barriers, and stages: join, service, fork. */
#include "base/xalloc.h"
#include "sim/sim_internal.h"

#include <stdlib.h>
#include <string.h>

enum { KICK, READY, TAKE }; /* args of a stage's own events */

/* Have the stage look at its FIFOs, as an event of now. */
static void stage_kick(struct dse_stage *s)
{
    if (s->kicked) return;
    s->kicked = true;
    dse_sim_at(s->sim, s->sim->now, s->actor, KICK);
}

static void add_call(struct dse_sim *sim, struct sim_calls *calls, uint32_t actor, uint32_t arg)
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

/* Call them all, as events of now, in order; none is left. */
static void call_all(struct dse_sim *sim, struct sim_calls *calls)
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

static void grow_fifo(struct dse_fifo *f)
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
    if (f->size == f->ring) grow_fifo(f);
    f->item[(f->first + f->size++) & (f->ring - 1)] = item;
    if (f->size > f->peak) f->peak = f->size;
    if (f->size == 1) /* who did not take from a longer one waits for something else */
        for (const struct sim_port *p = f->takers; p; p = p->next)
            if (p->stage->next_take <= f->sim->now) stage_kick(p->stage);
    if (f->wait_item.n) call_all(f->sim, &f->wait_item);
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
    if (f->wait_room.n) call_all(f->sim, &f->wait_room);
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
        add_call(f->sim, &f->wait_room, actor, arg);
    else
        dse_sim_at(f->sim, f->sim->now, actor, arg);
}

void dse_fifo_when_item(struct dse_fifo *f, uint32_t actor, uint32_t arg)
{
    if (f->size == 0)
        add_call(f->sim, &f->wait_item, actor, arg);
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
    add_call(b->sim, &b->arrived, actor, arg);
    if (b->arrived.n >= b->n) call_all(b->sim, &b->arrived);
}

/* ---- stages --------------------------------------------------------------------------------------------------------------- */

/* Sets of inputs taken in one event: a stage that takes no time and feeds itself would not come to an end, and the run's limits
 * count events. */
enum { TAKES_MAX = 256 };

static void __attribute__((cold)) fail(const struct dse_stage *s, const char *why)
{
    const char *group = s->spec.group;
    sim_fail(s->sim, SIM_FAILED, xasprintf("stage %s%s%s: %s", group ? group : "", group ? "/" : "", s->spec.name, why));
}

/* ---- items out -------------------------------------------------------------------------------------------------------------- */

static bool head_ready(const struct dse_stage *s)
{
    return s->count > 0 && stage_head(s)->ready <= s->sim->now;
}

/* Put what is ready into the outputs, oldest first, as far as they have room. */
static void put_ready(struct dse_stage *s)
{
    while (head_ready(s)) {
        struct stage_item *item = stage_head(s);
        for (unsigned i = 0; i < s->outputs; i++)
            if (item->ports & 1u << i && dse_fifo_put(s->spec.out[i], item->out[i])) item->ports &= ~(1u << i);
        if (item->ports) return;
        s->first++;
        s->count--;
        s->served++;
    }
}

void dse_stage_done(struct dse_stage *s)
{
    if (s->serving) {
        s->done_early = true;
        return;
    }
    if (s->next_take != SIM_NEVER) {
        fail(s, "told that an item is done that it does not have");
        return;
    }
    s->item[(s->first + s->count - 1) & (s->ring - 1)].ready = s->next_take = s->sim->now;
    stage_kick(s);
}

/* ---- items in --------------------------------------------------------------------------------------------------------------- */

static bool can_take(const struct dse_stage *s)
{
    if (s->sim->now < s->next_take || s->sim->end != SIM_GOING_ON) return false;
    if (s->spec.depth ? s->count >= s->spec.depth : head_ready(s)) return false;
    for (unsigned i = 0; i < s->inputs; i++)
        if (s->spec.in[i]->size == 0) return false;
    return true;
}

static const char *wrong_with(const struct dse_stage *s, const struct dse_service *service)
{
    if (service->interval < 0 || service->latency < 0) return "a time below 0";
    if (service->interval > SIM_TIME_MAX || service->latency > SIM_TIME_MAX) return "a time beyond the end of time (53 days)";
    if (service->outputs >> s->outputs) return "puts into an output that it does not have";
    return NULL;
}

static void grow(struct dse_stage *s)
{
    struct stage_item *item = dse_sim_alloc(s->sim, 2 * (size_t)s->ring, sizeof *item);
    for (uint32_t i = 0; i < s->count; i++) item[i] = s->item[(s->first + i) & (s->ring - 1)];
    s->item = item;
    s->ring *= 2;
    s->first = 0;
}

/* Take one item from each input and serve them. */
static void take(struct dse_stage *s)
{
    struct dse_sim *sim = s->sim;
    uint64_t in[DSE_STAGE_PORTS] = {0};
    struct stage_item item = {0};
    struct dse_service service = {.id = -1};
    for (unsigned i = 0; i < s->inputs; i++) dse_fifo_get(s->spec.in[i], &in[i]);
    s->serving = true;
    s->spec.serve(sim, s->spec.object, in, item.out, &service);
    s->serving = false;
    const char *wrong = wrong_with(s, &service);
    if (wrong) {
        fail(s, wrong);
        return;
    }
    const bool later = service.later && !s->done_early;
    s->done_early = false;
    item.ports = service.outputs;
    item.ready = later ? SIM_NEVER : sim->now + (service.later ? 0 : service.latency);
    s->next_take = later ? SIM_NEVER : sim->now + (service.later ? 0 : service.interval);
    s->label = service.label ? service.label : s->spec.name;
    s->id = service.id;
    if (s->count == s->ring) grow(s);
    s->item[(s->first + s->count++) & (s->ring - 1)] = item;
}

/* ---- state ------------------------------------------------------------------------------------------------------------------ */

static void show_state(struct dse_stage *s)
{
    struct dse_sim *sim = s->sim;
    const bool blocked = head_ready(s);
    if (sim->now < s->next_take || (!blocked && s->spec.depth && s->count >= s->spec.depth)) {
        dse_resource_state(sim, s->resource, DSE_BUSY, s->label, s->id);
        return;
    }
    if (blocked) {
        const struct dse_fifo *f = s->spec.out[__builtin_ctz(stage_head(s)->ports)];
        dse_resource_state(sim, s->resource, DSE_STALL_OUTPUT, f->name, -1);
        return;
    }
    const struct dse_fifo *empty = NULL;
    bool some = false;
    for (unsigned i = 0; i < s->inputs; i++) {
        if (s->spec.in[i]->size > 0)
            some = true;
        else if (!empty)
            empty = s->spec.in[i];
    }
    const char *label = empty ? empty->name : NULL;
    if (some)
        dse_resource_state(sim, s->resource, DSE_STALL_INPUT, label, -1);
    else if (s->served == 0 && s->count == 0)
        dse_resource_state(sim, s->resource, DSE_IDLE, NULL, -1);
    else
        resource_starved(sim, s->resource, label);
}

/* The stage looks at what there is to do now, and when it has to look again. */
static void look(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct dse_stage *s = object;
    if (arg == KICK)
        s->kicked = false;
    else if (arg == READY)
        s->ready_wake = SIM_NEVER;
    else
        s->take_wake = SIM_NEVER;
    put_ready(s);
    for (int i = 0; can_take(s); i++) {
        if (i == TAKES_MAX) {
            stage_kick(s);
            break;
        }
        take(s);
        put_ready(s);
    }
    const dse_ps ready = s->count ? stage_head(s)->ready : SIM_NEVER;
    if (ready > sim->now && ready < s->ready_wake) dse_sim_at(sim, s->ready_wake = ready, s->actor, READY);
    if (s->next_take > sim->now && s->next_take != s->ready_wake && s->next_take < s->take_wake)
        dse_sim_at(sim, s->take_wake = s->next_take, s->actor, TAKE);
    show_state(s);
}

/* ---- making ----------------------------------------------------------------------------------------------------------------- */

static void attach(struct dse_stage *s, struct sim_port **list, unsigned index)
{
    struct sim_port *p = dse_sim_alloc(s->sim, 1, sizeof *p);
    p->stage = s;
    p->index = index;
    while (*list) list = &(*list)->next;
    *list = p;
}

struct dse_stage *dse_stage_new(struct dse_sim *sim, const struct dse_stage_spec *spec)
{
    struct dse_stage *s = dse_sim_alloc(sim, 1, sizeof *s);
    s->sim = sim;
    s->spec = *spec;
    s->spec.group = spec->group ? sim_strdup(sim, spec->group) : NULL;
    s->spec.name = sim_strdup(sim, spec->name);
    s->label = s->spec.name;
    s->id = -1;
    s->actor = dse_sim_actor(sim, look, s);
    s->resource = dse_resource(sim, spec->group, spec->name);
    s->ring = 4;
    s->item = dse_sim_alloc(sim, s->ring, sizeof *s->item);
    s->ready_wake = s->take_wake = SIM_NEVER;
    while (s->inputs < DSE_STAGE_PORTS && spec->in[s->inputs]) {
        for (unsigned i = 0; i < s->inputs; i++)
            if (spec->in[i] == spec->in[s->inputs]) fail(s, "takes from one FIFO twice");
        attach(s, &spec->in[s->inputs]->takers, s->inputs);
        s->inputs++;
    }
    while (s->outputs < DSE_STAGE_PORTS && spec->out[s->outputs]) {
        attach(s, &spec->out[s->outputs]->putters, s->outputs);
        s->outputs++;
    }
    if (s->inputs == 0) fail(s, "has no input");
    *sim->stages_end = s;
    sim->stages_end = &s->next;
    stage_kick(s); /* its inputs may hold items already */
    return s;
}

uint32_t dse_stage_resource(const struct dse_stage *s)
{
    return s->resource;
}

uint64_t dse_stage_served(const struct dse_stage *s)
{
    return s->served;
}
