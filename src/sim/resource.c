/* Resources: in which state since when, and how long in each. */
#include "sim/sim_internal.h"

#include "base/xalloc.h"

#include <assert.h>
#include <string.h>

const char *const sim_state_names[DSE_STATES] = {
    [DSE_IDLE] = "idle", [DSE_BUSY] = "busy", [DSE_STALL_INPUT] = "stalled on input", [DSE_STALL_OUTPUT] = "stalled on output"};

uint32_t dse_resource(struct dse_sim *sim, const char *group, const char *name)
{
    if (sim->n_tracks == sim->tracks_capacity) {
        sim->tracks_capacity = sim->tracks_capacity ? 2 * sim->tracks_capacity : 16;
        sim->track = xrealloc(sim->track, sim->tracks_capacity, sizeof *sim->track);
    }
    struct sim_track *t = &sim->track[sim->n_tracks];
    *t = (struct sim_track){.group = sim_strdup(sim, group ? group : ""), .name = sim_strdup(sim, name), .id = -1};
    for (const struct sim_recorder *r = sim->options.recorder; r; r = r->next)
        r->resource(r->object, sim->n_tracks, t->group, t->name);
    return sim->n_tracks++;
}

/* Count the time until now for the state that the resource was in. */
static void close_span(struct dse_sim *sim, uint32_t resource, enum dse_state state)
{
    struct sim_track *t = &sim->track[resource];
    const struct sim_span span = {
        .resource = resource, .state = state, .label = t->label, .id = t->id, .from = t->since, .to = sim->now};
    if (span.to == span.from) return;
    t->time[state] += span.to - span.from;
    t->since = sim->now;
    if (state == DSE_IDLE) return;
    for (const struct sim_recorder *r = sim->options.recorder; r; r = r->next) r->span(r->object, &span);
}

static bool same_label(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void enter(struct dse_sim *sim, uint32_t resource, enum dse_state state, bool starved, const char *label, int64_t id)
{
    assert(resource < sim->n_tracks && (unsigned)state < DSE_STATES);
    struct sim_track *t = &sim->track[resource];
    if (t->state == state && t->starved == starved && t->id == id && same_label(t->label, label)) return;
    close_span(sim, resource, t->state);
    t->state = state;
    t->starved = starved;
    t->label = label;
    t->id = id;
}

void dse_resource_state(struct dse_sim *sim, uint32_t resource, enum dse_state state, const char *label, int64_t id)
{
    enter(sim, resource, state, false, label, id);
}

void resource_starved(struct dse_sim *sim, uint32_t resource, const char *label)
{
    enter(sim, resource, DSE_STALL_INPUT, true, label, -1);
}

dse_ps dse_resource_time(const struct dse_sim *sim, uint32_t resource, enum dse_state state)
{
    assert(resource < sim->n_tracks);
    const struct sim_track *t = &sim->track[resource];
    const enum dse_state present = t->starved ? DSE_IDLE : t->state;
    return t->time[state] + (present == state ? sim->now - t->since : 0);
}

void sim_finish(struct dse_sim *sim)
{
    for (uint32_t i = 0; i < sim->n_tracks; i++) {
        struct sim_track *t = &sim->track[i];
        if (t->starved) {
            t->state = DSE_IDLE;
            t->starved = false;
        }
        close_span(sim, i, t->state);
    }
}

uint32_t sim_resources(const struct dse_sim *sim)
{
    return sim->n_tracks;
}

struct sim_resource sim_resource(const struct dse_sim *sim, uint32_t i)
{
    struct sim_resource r = {.group = sim->track[i].group, .name = sim->track[i].name};
    for (int s = 0; s < DSE_STATES; s++) r.time[s] = dse_resource_time(sim, i, (enum dse_state)s);
    return r;
}

double sim_resource_share(const struct dse_sim *sim, uint32_t i, enum dse_state state)
{
    return sim->now > 0 ? (double)dse_resource_time(sim, i, state) / (double)sim->now : 0;
}
