/* Runs of the event level, as the caller of a model's simulate() sees them: made, reused, looked at. What models see is dse/sim.h.
 *
 *     struct dse_sim *sim = sim_new(&(struct sim_options){.stop = &interrupted});
 *     bool ok = model->simulate(params, sim, metrics, NULL);
 *     sim_finish(sim);
 *     ... sim_error(sim), sim_resource(sim, i), sim_note(sim, i) ...
 *     sim_reset(sim, &options);   the next run, in the memory of this one
 *     sim_free(sim);
 */
#ifndef DSE_SIM_SIM_H
#define DSE_SIM_SIM_H

#include <dse/sim.h>
#include <signal.h>

/* The end of time: no event is later. 2^62 ps are 53 days; the sum of two times still fits. */
#define SIM_TIME_MAX (((dse_ps)1 << 62) - 1)

/* A resource was in a state from `from` to `to`; from < to. Idle time is not told. */
struct sim_span {
    uint32_t resource;
    enum dse_state state;
    const char *label; /* or NULL */
    int64_t id;        /* -1: none */
    dse_ps from, to;
};

/* Who wants to know of resources and their spans while the run goes on: a timeline, a Gantt chart. The spans of one resource come
 * in order of time; those of several do not: each is told when it ends. */
struct sim_recorder {
    void (*resource)(void *object, uint32_t resource, const char *group, const char *name); /* group: "" is the run's own */
    void (*span)(void *object, const struct sim_span *span);
    void *object;
    const struct sim_recorder *next; /* or NULL */
};

struct sim_options {
    unsigned ideal;                      /* bits of enum dse_ideal */
    bool seed_given;                     /* `seed` overrides what the model passes to dse_sim_seed */
    uint64_t seed;                       /* */
    uint64_t events_max;                 /* the run fails after so many; 0: no limit */
    const volatile sig_atomic_t *stop;   /* the run fails soon after it became nonzero; or NULL */
    const struct sim_recorder *recorder; /* borrowed for the run; or NULL */
};

/* Make a run. The options are copied; NULL stands for all zero. */
struct dse_sim *sim_new(const struct sim_options *options);
/* Make the run as new, in the memory that it has. */
void sim_reset(struct dse_sim *sim, const struct sim_options *options);
void sim_free(struct dse_sim *sim);

/* Tell the recorders what every resource was doing last. To be called once, after the model's simulate(). */
void sim_finish(struct dse_sim *sim);

/* Why the run failed. */
enum sim_end { SIM_GOING_ON, SIM_DEADLOCK, SIM_STOPPED, SIM_EVENTS_MAX, SIM_REFUSED, SIM_FAILED };
enum sim_end sim_end(const struct dse_sim *sim);

/* Has the model said dse_sim_measured? */
bool sim_is_measured(const struct dse_sim *sim);
/* Events handled so far. */
uint64_t sim_events(const struct dse_sim *sim);

/* What was seen of a resource; times add up to dse_sim_now. */
struct sim_resource {
    const char *group, *name; /* group "" is the run's own */
    dse_ps time[DSE_STATES];
};
uint32_t sim_resources(const struct dse_sim *sim);
struct sim_resource sim_resource(const struct dse_sim *sim, uint32_t i);
/* Part of the run so far that it was in the state, 0 to 1; 0 of a run without length. */
double sim_resource_share(const struct dse_sim *sim, uint32_t i, enum dse_state state);
extern const char *const sim_state_names[DSE_STATES]; /* "idle", "busy", "stalled on input", "stalled on output" */

struct sim_note {
    const char *name, *unit;
    double value;
};
size_t sim_notes(const struct dse_sim *sim);
struct sim_note sim_note(const struct dse_sim *sim, size_t i);

#endif
