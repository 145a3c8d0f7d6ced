/* The event level: what a model's simulate() is made of.
 *
 * A run is one struct dse_sim. It owns the time (integer picoseconds), the order of events, randomness, all memory of the run,
 * statistics of every resource and, when asked, the timeline. A model builds a network of stages and FIFOs (or plain actors) in
 * it, starts it with dse_sim_run and reads off times and statistics. Nothing here is global: runs on several threads know nothing
 * of each other.
 *
 * Same parameters, same seed: same run, event for event. Simultaneous events happen in the order in which they were scheduled.
 * After the network is built nothing here allocates, but for queues that grow to the most that was ever pending.
 *
 * A run ends when no event is pending, or fails: the first failure (a deadlock, dse_sim_fail, an event in the past or beyond the
 * end of time, the caller's limits) is kept, and no further event is handled. What is a mistake in how a network was built (a
 * stage without input, a barrier of nobody) is such a failure, too: dse_sim_run then says so at once.
 */
#ifndef DSE_SIM_H
#define DSE_SIM_H

#include <dse/desc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t dse_ps; /* picoseconds */

struct dse_sim;

/* Parameters that only the event level reads; a model embeds them with DSE_EMBED(..., events, struct dse_events,
 * dse_events_params). */
struct dse_events {
    int64_t seed;
    int64_t layers_simulated; /* layers with draws of their own; the others are taken to be like them. 0: every layer */
};
extern const struct dse_param dse_events_params[];

/* What a run idealises, so that causes of a difference from the closed form can be told apart (`dse agree`). A model asks for
 * each that means something to it; with all of them set, what is left is fill and drain. */
enum dse_ideal {
    DSE_IDEAL_FIFOS = 1 << 0,   /* FIFOs without bound: dse_fifo_new does this by itself */
    DSE_IDEAL_REFRESH = 1 << 1, /* no refresh: the DRAM port does this by itself */
    DSE_IDEAL_DRAM = 1 << 2,    /* no banks: transfers at the bandwidth of the closed form; the DRAM port does this by itself */
    DSE_IDEAL_DRAWS = 1 << 3,   /* every head and step has the mean statistics instead of a draw */
    /* no barriers among units that work side by side, and no dispatch or launch overhead beyond the closed form's */
    DSE_IDEAL_SYNC = 1 << 4,
};
extern const char *const dse_ideal_names[]; /* "fifos", "refresh", "dram", "draws", "sync", NULL: bit i has name i */
bool dse_sim_ideal(const struct dse_sim *sim, enum dse_ideal what);

/* ---- memory, time, events ------------------------------------------------------------------------------------------------- */

/* Zeroed memory for n objects of `size` bytes, at a multiple of 16, that lives as long as the run. Never NULL. For building the
 * network, not for events. */
void *dse_sim_alloc(struct dse_sim *sim, size_t n, size_t size);

/* Seconds to picoseconds, rounded to nearest; at least 0 and at most the end of time, 2^62 - 1 ps (53 days). Infinity and NaN are
 * the end of time: scheduling there fails the run. The sum of two times does not overflow. */
dse_ps dse_ps_of_s(double seconds);
double dse_s_of_ps(dse_ps ps);
/* `cycles` at a clock; the product is rounded, not the period, so that cycles at 0.225 GHz do not drift. */
dse_ps dse_ps_of_cycles(double cycles, double clock_ghz);

dse_ps dse_sim_now(const struct dse_sim *sim);

/* An actor is a function with its object: what events call. Ids count from 0. */
typedef void dse_event_fn(struct dse_sim *sim, void *object, uint32_t arg);
uint32_t dse_sim_actor(struct dse_sim *sim, dse_event_fn *fn, void *object);
/* Name an actor for reports of a deadlock, which otherwise call it "actor 7". The name is copied. */
void dse_sim_actor_name(struct dse_sim *sim, uint32_t actor, const char *name);
/* Call the actor at `when` >= now, after all events that were scheduled for then before. An earlier time fails the run. */
void dse_sim_at(struct dse_sim *sim, dse_ps when, uint32_t actor, uint32_t arg);

/* Run until no event is pending. True when all work is done then. False when the run failed; dse_sim_error says why. It is a
 * deadlock when somebody still waits:
 *   - a stage that holds items, or has items at some of its inputs and not at all; one that has none and holds none is idle,
 *     which is fine;
 *   - an actor that waits for room or for an item in a FIFO; who consumes without end is to be a stage, or has to know when it is
 *     done;
 *   - whoever has arrived at a barrier.
 * The error then names the chain, from the first that waits: "deadlock at 3.5 us: tile 0/mac waits for room in fifo `scores` (4
 * of 4), taken by tile 0/sfu, which waits for an item in `exp` (empty), put by tile 0/mac: a cycle; 2 more wait". May be called
 * again after more was scheduled, unless it failed; the time goes on. */
bool dse_sim_run(struct dse_sim *sim);
/* End the run as failed, after the present event. Only the first reason is kept; it is copied. */
void dse_sim_fail(struct dse_sim *sim, const char *reason);
/* The same, but the point cannot be run at event level, though the closed form knows it: a reason for its row, not a failure of
 * the model. */
void dse_sim_refuse(struct dse_sim *sim, const char *reason);
/* Say that the run repeats the closed form: its kernels take whole times, which were measured or fitted to measurements as a whole.
 * The fidelity of its row is "measured-kernel", and nothing counts it as agreement of the two fidelities. */
void dse_sim_measured(struct dse_sim *sim);
/* Why the run failed; NULL: it has not. Valid as long as the run. */
const char *dse_sim_error(const struct dse_sim *sim);

/* ---- randomness -------------------------------------------------------------------------------------------------------------- */

/* A stream of its own for each purpose, so that one more draw here changes nothing there. */
struct dse_random {
    uint64_t state[4];
};
/* Seed the run. A model passes its parameter `seed` before it asks for the first stream. */
void dse_sim_seed(struct dse_sim *sim, uint64_t seed);
/* The stream `purpose` of the run's seed: the same one each time it is asked for, on every machine. xoshiro256**. */
struct dse_random dse_sim_random(const struct dse_sim *sim, uint64_t purpose);
uint64_t dse_random_u64(struct dse_random *r);
double dse_random_uniform(struct dse_random *r);                 /* [0, 1), multiples of 2^-53 */
uint64_t dse_random_below(struct dse_random *r, uint64_t bound); /* 0 .. bound - 1, without bias; bound > 0 */
double dse_random_normal(struct dse_random *r);                  /* mean 0, standard deviation 1 */

/* ---- resources: what has a track in the timeline ------------------------------------------------------------------------- */

enum dse_state {
    DSE_IDLE,         /* nothing to do */
    DSE_BUSY,         /* at work */
    DSE_STALL_INPUT,  /* waits for something to work on */
    DSE_STALL_OUTPUT, /* has something that it cannot get rid of */
    DSE_STATES
};

/* A resource in `group` ("tile 3", "HBM"; NULL: the run's own). Strings are copied. Starts idle. */
uint32_t dse_resource(struct dse_sim *sim, const char *group, const char *name);
/* Put a resource into a state from now on. `label` (a string constant, or NULL) names the work or what the resource waits for;
 * `id` is a number that is shown beside it (head, tile, block; -1: none). */
void dse_resource_state(struct dse_sim *sim, uint32_t resource, enum dse_state state, const char *label, int64_t id);
/* The time that a resource has spent in a state so far. The times of all states add up to dse_sim_now. */
dse_ps dse_resource_time(const struct dse_sim *sim, uint32_t resource, enum dse_state state);

/* ---- FIFOs, stages, barriers --------------------------------------------------------------------------------------------- */

/* A queue of items of 64 bits. Capacity 0: without bound. Whatever waits for it is woken when it changes. Any number of stages
 * and actors may put and take; of stages that wait for the same, the one made first comes first. */
struct dse_fifo;
struct dse_fifo *dse_fifo_new(struct dse_sim *sim, const char *name, uint32_t capacity);
bool dse_fifo_put(struct dse_fifo *f, uint64_t item); /* false: full */
bool dse_fifo_get(struct dse_fifo *f, uint64_t *ret); /* false: empty */
uint32_t dse_fifo_size(const struct dse_fifo *f);
/* The most items that the FIFO ever held. */
uint32_t dse_fifo_peak(const struct dse_fifo *f);
/* Call the actor once, as an event of the time when the FIFO is not full (not empty), which may be now. All that wait are called
 * in the order in which they asked; one that finds that another was faster must ask again. */
void dse_fifo_when_room(struct dse_fifo *f, uint32_t actor, uint32_t arg);
void dse_fifo_when_item(struct dse_fifo *f, uint32_t actor, uint32_t arg);

enum { DSE_STAGE_PORTS = 4 };

/* What a stage does with one set of inputs. */
struct dse_service {
    dse_ps interval;   /* until the stage takes the next input (initiation interval) */
    dse_ps latency;    /* until the output is ready. interval = latency: not pipelined */
    unsigned outputs;  /* bit i: puts out[i] into output i. 0: nothing comes out */
    const char *label; /* string constant, for the timeline; NULL: the stage's name */
    int64_t id;        /* beside the label; -1: none */
    /* The output is ready when dse_stage_done is called, not after `latency`. The interval ends then, too: one item at a time. */
    bool later;
};

/* A stage takes one item from each input when all have one (join), serves them, and puts items into its outputs (fork) in the
 * order in which it took the inputs. Initiation interval and latency are those that serve() returns, item by item.
 *
 * It never takes an input before it has room for it. With `depth` items inside, in service or waiting for room in an output, it
 * takes no more. Depth 0 is a pipeline as long as its latency asks for: it stops taking when its oldest item is ready and finds
 * an output full, and what is in service by then goes on to the end and waits inside. An item that goes to several outputs is put
 * into each as soon as that one has room, and leaves when it is in all of them; those behind it wait.
 *
 * Its resource is busy while an interval runs or `depth` items are in service; else it stalls on output while its oldest item is
 * ready and finds an output full; else it stalls on input while it has inputs, but not all, or has none and some come later;
 * before the first input and after the last it is idle. So a stage of depth 0 is busy for the sum of its intervals. */
struct dse_stage;
struct dse_stage_spec {
    const char *group, *name;                                    /* of its resource; copied */
    struct dse_fifo *in[DSE_STAGE_PORTS], *out[DSE_STAGE_PORTS]; /* the first NULL ends each list; at least one input, none twice */
    uint32_t depth;                                              /* items inside at most; 0: as many as latency and interval make */
    /* Fill in `ret` (zeroed, id -1) and out[] (zeroed). Called at the time the items are taken. */
    void (*serve)(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret);
    void *object;
};
struct dse_stage *dse_stage_new(struct dse_sim *sim, const struct dse_stage_spec *spec);
/* The item that serve() left for `later` is ready now. May be called within serve(). */
void dse_stage_done(struct dse_stage *s);
uint32_t dse_stage_resource(const struct dse_stage *s);
/* How many sets of inputs have been served and their outputs, if any, have left. */
uint64_t dse_stage_served(const struct dse_stage *s);

/* A barrier waits until n > 0 have arrived, calls all of them as events of that time, in the order of arrival, and starts again. */
struct dse_barrier;
struct dse_barrier *dse_barrier_new(struct dse_sim *sim, const char *name, uint32_t n);
void dse_barrier_arrive(struct dse_barrier *b, uint32_t actor, uint32_t arg);

/* ---- what a run has to say beyond the metrics ---------------------------------------------------------------------------- */

/* A named number of this run ("layer_time_stddev", "us"), printed by `dse eval`. Name and unit are string constants; a name given
 * again replaces. */
void dse_sim_note(struct dse_sim *sim, const char *name, const char *unit, double value);

#endif
