/* The run: its memory, its actors, its loop of events. */
#include "sim/sim_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Events between two looks at the stop flag; bytes of the first chunk of memory. */
enum { LOOK_UP = 4096, CHUNK_BYTES = 16384 };

const char *const dse_ideal_names[] = {"fifos", "refresh", "dram", "draws", "sync", NULL};

/* ---- making and reusing ---------------------------------------------------------------------------------------------------- */

static struct sim_chunk *chunk_new(struct sim_chunk *before, size_t size)
{
    struct sim_chunk *c = xmalloc(sizeof *c + size);
    c->before = before;
    c->size = size;
    c->used = 0;
    return c;
}

static size_t chunks_free(struct sim_chunk *c)
{
    size_t bytes = 0;
    while (c) {
        struct sim_chunk *before = c->before;
        bytes += c->size;
        free(c);
        c = before;
    }
    return bytes;
}

static void start(struct dse_sim *sim, const struct sim_options *options)
{
    sim->options = options ? *options : (struct sim_options){0};
    sim->now = 0;
    sim->budget = sim->granted = sim->work = 0;
    sim->seed = sim->options.seed_given ? sim->options.seed : 0;
    sim->end = SIM_GOING_ON;
    sim->is_measured = false;
    sim->n_actors = sim->n_tracks = 0;
    sim->n_notes = 0;
    sim->fifos = NULL;
    sim->fifos_end = &sim->fifos;
    sim->stages = NULL;
    sim->stages_end = &sim->stages;
    sim->barriers = NULL;
    sim->barriers_end = &sim->barriers;
}

struct dse_sim *sim_new(const struct sim_options *options)
{
    struct dse_sim *sim = xcalloc(1, sizeof *sim);
    queue_init(&sim->queue);
    sim->chunk = chunk_new(NULL, CHUNK_BYTES);
    start(sim, options);
    return sim;
}

void sim_reset(struct dse_sim *sim, const struct sim_options *options)
{
    queue_reset(&sim->queue);
    free(sim->error);
    sim->error = NULL;
    if (sim->chunk->before) /* one that would have held it all */
        sim->chunk = chunk_new(NULL, chunks_free(sim->chunk));
    sim->chunk->used = 0;
    start(sim, options);
}

void sim_free(struct dse_sim *sim)
{
    if (!sim) return;
    queue_release(&sim->queue);
    chunks_free(sim->chunk);
    free(sim->actor);
    free(sim->track);
    free(sim->note);
    free(sim->error);
    free(sim);
}

void *dse_sim_alloc(struct dse_sim *sim, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 4) return xcalloc(n, size); /* says so and ends */
    bytes = (bytes + 15) & ~(size_t)15;
    if (sim->chunk->size - sim->chunk->used < bytes) {
        const size_t twice = 2 * sim->chunk->size;
        sim->chunk = chunk_new(sim->chunk, bytes > twice ? bytes : twice);
    }
    void *p = sim->chunk->bytes + sim->chunk->used;
    sim->chunk->used += bytes;
    return memset(p, 0, bytes);
}

char *sim_strdup(struct dse_sim *sim, const char *s)
{
    const size_t n = strlen(s) + 1;
    return memcpy(dse_sim_alloc(sim, n, 1), s, n);
}

bool dse_sim_ideal(const struct dse_sim *sim, enum dse_ideal what)
{
    return sim->options.ideal & (unsigned)what;
}

/* ---- time ------------------------------------------------------------------------------------------------------------------ */

static dse_ps ps_of(double ps)
{
    if (ps <= 0) return 0;
    return ps < (double)SIM_TIME_MAX ? (dse_ps)llrint(ps) : SIM_TIME_MAX; /* NaN: the end of time */
}

dse_ps dse_ps_of_s(double seconds)
{
    return ps_of(1e12 * seconds);
}

double dse_s_of_ps(dse_ps ps)
{
    return (double)ps / 1e12;
}

dse_ps dse_ps_of_cycles(double cycles, double clock_ghz)
{
    return cycles <= 0 ? 0 : clock_ghz > 0 ? ps_of(1000 * cycles / clock_ghz) : SIM_TIME_MAX;
}

dse_ps dse_sim_now(const struct dse_sim *sim)
{
    return sim->now;
}

/* ---- events ---------------------------------------------------------------------------------------------------------------- */

uint32_t dse_sim_actor(struct dse_sim *sim, dse_event_fn *fn, void *object)
{
    if (sim->n_actors == sim->actors_capacity) {
        sim->actors_capacity = sim->actors_capacity ? 2 * sim->actors_capacity : 64;
        sim->actor = xrealloc(sim->actor, sim->actors_capacity, sizeof *sim->actor);
    }
    sim->actor[sim->n_actors] = (struct sim_actor){.fn = fn, .object = object};
    return sim->n_actors++;
}

void dse_sim_actor_name(struct dse_sim *sim, uint32_t actor, const char *name)
{
    sim->actor[actor].name = sim_strdup(sim, name);
}

static __attribute__((cold, noinline)) void refuse(struct dse_sim *sim, dse_ps when)
{
    char at[TEXT_NUMBER_MAX], now[TEXT_NUMBER_MAX];
    text_number(at, (double)when * 1e-6);
    text_number(now, (double)sim->now * 1e-6);
    if (when > SIM_TIME_MAX)
        sim_fail(sim, SIM_FAILED, xasprintf("at %s us: an event at %s us, beyond the end of time (53 days)", now, at));
    else
        sim_fail(sim, SIM_FAILED, xasprintf("at %s us: an event at %s us, in the past", now, at));
}

void dse_sim_at(struct dse_sim *sim, dse_ps when, uint32_t actor, uint32_t arg)
{
    assert(actor < sim->n_actors);
    if (when < sim->now || when > SIM_TIME_MAX)
        refuse(sim, when);
    else
        queue_push(&sim->queue, (struct event){.when = when, .actor = actor, .arg = arg});
}

uint64_t sim_events(const struct dse_sim *sim)
{
    return sim->granted - sim->budget;
}

enum sim_end sim_end(const struct dse_sim *sim)
{
    return sim->end;
}

/* Have the loop stop to look after the present event. */
static void look_up(struct dse_sim *sim)
{
    sim->granted -= sim->budget;
    sim->budget = 0;
}

void sim_worked(struct dse_sim *sim, uint64_t events)
{
    sim->work += events;
    if (sim->work < LOOK_UP && !sim_told_to_stop(sim)) return;
    sim->work = 0;
    look_up(sim);
}

bool sim_told_to_stop(const struct dse_sim *sim)
{
    return sim->options.stop && *sim->options.stop;
}

/* Let the loop run on for some events. False: it has to end. */
static bool grant(struct dse_sim *sim)
{
    const struct sim_options *o = &sim->options;
    const uint64_t done = sim_events(sim);
    char count[TEXT_NUMBER_MAX], now[TEXT_NUMBER_MAX];
    if (sim->end != SIM_GOING_ON) return false;
    if (sim_told_to_stop(sim))
        sim_fail(sim, SIM_STOPPED, xstrdup("stopped"));
    else if (o->events_max && done >= o->events_max)
        sim_fail(sim, SIM_EVENTS_MAX,
                 xasprintf("at %s us: no end after %s events", text_number(now, (double)sim->now * 1e-6), text_count(count, done)));
    if (sim->end != SIM_GOING_ON) return false;
    const uint64_t left = o->events_max ? o->events_max - done : LOOK_UP;
    sim->budget = left < LOOK_UP ? left : LOOK_UP;
    sim->granted = done + sim->budget;
    return true;
}

bool dse_sim_run(struct dse_sim *sim)
{
    struct event e;
    while (grant(sim)) {
        while (sim->budget > 0) {
            if (!queue_pop(&sim->queue, &e)) {
                char *who = deadlock_find(sim);
                if (who) sim_fail(sim, SIM_DEADLOCK, who);
                return sim->end == SIM_GOING_ON;
            }
            sim->budget--;
            sim->now = e.when;
            const struct sim_actor *a = &sim->actor[e.actor];
            a->fn(sim, a->object, e.arg);
        }
    }
    return false;
}

void sim_fail(struct dse_sim *sim, enum sim_end end, char *reason)
{
    if (sim->end != SIM_GOING_ON) {
        free(reason);
        return;
    }
    sim->end = end;
    sim->error = reason;
    look_up(sim);
}

void dse_sim_measured(struct dse_sim *sim)
{
    sim->is_measured = true;
}

bool sim_is_measured(const struct dse_sim *sim)
{
    return sim->is_measured;
}

void dse_sim_refuse(struct dse_sim *sim, const char *reason)
{
    sim_fail(sim, SIM_REFUSED, xstrdup(reason));
}

void dse_sim_fail(struct dse_sim *sim, const char *reason)
{
    sim_fail(sim, SIM_FAILED, xstrdup(reason));
}

const char *dse_sim_error(const struct dse_sim *sim)
{
    return sim->error;
}

/* ---- notes ----------------------------------------------------------------------------------------------------------------- */

void dse_sim_note(struct dse_sim *sim, const char *name, const char *unit, double value)
{
    size_t i = 0;
    while (i < sim->n_notes && strcmp(sim->note[i].name, name) != 0) i++;
    if (i == sim->notes_capacity) {
        sim->notes_capacity = i ? 2 * i : 16;
        sim->note = xrealloc(sim->note, sim->notes_capacity, sizeof *sim->note);
    }
    sim->note[i] = (struct sim_note){.name = name, .unit = unit, .value = value};
    if (i == sim->n_notes) sim->n_notes++;
}

size_t sim_notes(const struct dse_sim *sim)
{
    return sim->n_notes;
}

struct sim_note sim_note(const struct dse_sim *sim, size_t i)
{
    return sim->note[i];
}
