/* What the files of this folder know of a run. */
#ifndef DSE_SIM_INTERNAL_H
#define DSE_SIM_INTERNAL_H

#include "sim/queue.h"
#include "sim/sim.h"

/* A time that never comes. */
#define SIM_NEVER INT64_MAX

struct sim_actor {
    dse_event_fn *fn;
    void *object;
    const char *name; /* or NULL */
    void *unused;     /* 32 bytes: an index is a shift */
};

/* Somebody who is to be called. */
struct sim_call {
    uint32_t actor, arg;
};
/* A list of calls, which grows in the run's memory. */
struct sim_calls {
    struct sim_call *list;
    uint32_t n, capacity;
};

/* A stage's port at a FIFO, in the FIFO's list. */
struct sim_port {
    struct dse_stage *stage;
    unsigned index; /* among the stage's inputs (outputs) */
    struct sim_port *next;
};

struct dse_fifo {
    struct dse_sim *sim;
    const char *name;
    uint32_t capacity; /* 0: without bound */
    uint32_t first, size, peak;
    uint32_t ring; /* length of `item`, a power of two */
    uint64_t *item;
    struct sim_port *takers, *putters;
    struct sim_calls wait_room, wait_item;
    struct dse_fifo *next; /* of the run */
};

/* One set of inputs in service, or served and waiting for room. */
struct stage_item {
    dse_ps ready;   /* SIM_NEVER: when dse_stage_done is called */
    unsigned ports; /* outputs it has still to be put into */
    uint64_t out[DSE_STAGE_PORTS];
};

struct dse_stage {
    struct dse_sim *sim;
    struct dse_stage_spec spec;
    unsigned inputs, outputs;
    uint32_t actor, resource;
    uint32_t first, count, ring; /* items in the order in which they were taken; the ring's length is a power of two */
    struct stage_item *item;
    dse_ps next_take;             /* end of the running interval; SIM_NEVER: the newest item is for later */
    dse_ps ready_wake, take_wake; /* pending events; SIM_NEVER: none */
    bool kicked;                  /* an event of now is pending that looks at it */
    bool serving, done_early;     /* within serve(); and dse_stage_done was called there */
    const char *label;            /* of the newest item */
    int64_t id;
    uint64_t served;
    struct dse_stage *next; /* of the run */
};
/* The oldest item of a stage that has one. */
static inline struct stage_item *stage_head(const struct dse_stage *s)
{
    return &s->item[s->first & (s->ring - 1)];
}

struct dse_barrier {
    struct dse_sim *sim;
    const char *name;
    uint32_t n;
    struct sim_calls arrived;
    struct dse_barrier *next; /* of the run */
};

struct sim_track {
    const char *group, *name;
    enum dse_state state;
    bool starved; /* stalled on input if anything follows, else idle */
    const char *label;
    int64_t id;
    dse_ps since;
    dse_ps time[DSE_STATES]; /* until `since` */
};
/* Like dse_resource_state with DSE_STALL_INPUT, but idle when nothing follows: what waits for a first input that never comes is not
 * stalled. */
void resource_starved(struct dse_sim *sim, uint32_t resource, const char *label);

struct sim_chunk {
    struct sim_chunk *before;
    size_t size, used;
    _Alignas(16) char bytes[];
};

struct dse_sim {
    struct queue queue;
    dse_ps now;
    uint64_t budget;  /* events until the loop looks up */
    uint64_t granted; /* budgets handed out; the events handled are granted - budget */
    uint64_t work;    /* of events that take long, since the loop was told to look up */
    struct sim_actor *actor;
    uint32_t n_actors, actors_capacity;

    struct sim_options options;
    uint64_t seed;
    enum sim_end end;
    bool is_measured;
    char *error;

    struct sim_chunk *chunk; /* memory of the run */

    struct sim_track *track;
    uint32_t n_tracks, tracks_capacity;
    struct sim_note *note;
    size_t n_notes, notes_capacity;

    struct dse_fifo *fifos; /* in the order of their making */
    struct dse_fifo **fifos_end;
    struct dse_stage *stages, **stages_end;
    struct dse_barrier *barriers, **barriers_end;
};

char *sim_strdup(struct dse_sim *sim, const char *s);
void sim_fail(struct dse_sim *sim, enum sim_end end, char *reason); /* takes `reason` over; the first one stays */
/* The event that is being handled does the work of so many: the loop looks at the stop flag the sooner. */
void sim_worked(struct dse_sim *sim, uint64_t events);
/* Has the run been told to stop? This is for work that takes seconds within one event: what it leaves undone is not looked at. */
bool sim_told_to_stop(const struct dse_sim *sim);

/* Who waits for whom, when no event is pending any more; NULL: nobody does. The caller frees it. */
char *deadlock_find(const struct dse_sim *sim);

#endif
