/* VEDA at event level, inside. README.md, "Event level", says what is simulated and how; comments name its equations (E17..).
 *
 * The closed form is veda.toml. A step is a program of phases: linear layers and what is a stream like them (veda_layers.c), the
 * attention of a layer (veda_heads.c) and exchanges over the links, each of which starts when the one before is done and calls an
 * actor when it is. veda_events.c runs the program, and gives what it saw back to the equations.
 *
 * Times inside the chip are cycles since the phase began, doubles: an adder tree that reads V by columns takes fractions of a
 * cycle in the mean. One chip is simulated, the one with the most work; the others do the same at the same time.
 */
#ifndef VEDA_EVENTS_H
#define VEDA_EVENTS_H

#include "veda_closed.h"

#include <dse/cache.h>
#include <dse/program.h>

/* Parts of the DRAM. Phases that are simulated one after another use the same bytes: what is simulated is a small part of what
 * there is. */
enum veda_region { VEDA_WEIGHTS, VEDA_INPUTS, VEDA_KEYS, VEDA_VALUES, VEDA_COUNTS_KEPT, VEDA_REST, VEDA_REGIONS };

enum { VEDA_ACTIVATION_BYTES = 2 }; /* fp16, what the array computes in: Sec. VI */

/* What a phase needs of the run. */
struct veda_run {
    struct dse_sim *sim;
    const struct veda_events_reads *closed; /* the point */
    const struct dse_dram *dram;
    const struct dse_sampling *sampling;
    struct dse_program *program;                      /* its buffer: the FIFO between DRAM and array */
    uint32_t array, reduction, normalisation, voting; /* resources */
    struct dse_room *regions;                         /* by enum veda_region */
};
/* Its resources. */
void veda_run_init(struct veda_run *r, const char *group);
/* The address of a region with room for so many bytes. */
uint64_t veda_region(const struct veda_run *run, enum veda_region which, double bytes);
/* Move bytes that nobody waits for one by one; the actor is called when all have. */
void veda_move(const struct veda_run *run, uint64_t address, double bytes, bool write, const char *label, uint32_t actor,
               uint32_t arg);
/* E27: seconds of the DRAM, for who limits what: all of the time if the array had to wait for it, else what its bytes take at the
 * peak. */
double veda_dram_s(const struct veda_run *run, double time_s, double data_s, double bytes);

/* ---- a linear layer: veda_layers.c ------------------------------------------------------------------------------------------- */

/* What one instance of a linear layer works on (E11): a matrix, or those of a layer that come one after another. */
struct veda_linear_shape {
    bool outer, single_pass, norm; /* product; an input is multiplied with all columns at once; a norm comes before it */
    double instances, rows;        /* layers, or 1; vectors that share the weights */
    double k;                      /* inputs */
    double weight_bytes;
    double new_bytes;   /* keys and values appended, all rows */
    double read_bytes;  /* activations of one row that go through the DRAM: read for every tile of the weights, */
    double write_bytes; /* and written once */
    double tiles;       /* of weights, of half of the buffer each */
};
/* Of operator i of the list. */
void veda_linear_shape(const struct veda_run *run, const struct dse_oplist *list, int i, struct veda_linear_shape *ret);

/* E19: cycles from the last input of a product to its result. */
double veda_tree_depth(const struct veda_run *run);

struct veda_layer;
struct veda_layer_spec {
    const char *name;
    const struct veda_linear_shape *shape;
    double work_s;             /* the array's, for all rows of one instance */
    double pace_s;             /* known seconds a byte of weights, for one row; 0: none yet */
    double sample;             /* E40: times what is simulated at least */
    int64_t id;                /* for the timeline: the layer */
    uint32_t actor, actor_arg; /* called when the last result is there */
};
/* Of one instance. */
struct veda_layer_result {
    double time_s, norm_s;  /* norm_s of it, the array waited for a norm and nothing else */
    double data_s;          /* of it, the array waited for the DRAM */
    double pace_s;          /* seconds a byte of weights, one row; 0: not measured */
    double rest_s, error_s; /* E40: of it, not simulated, at a known pace; and the standard error of what was measured */
};
/* The spec is copied. */
struct veda_layer *veda_layer_new(const struct veda_run *run, const struct veda_layer_spec *spec);
struct veda_layer_result veda_layer_result(const struct veda_layer *l);

/* ---- attention of a layer: veda_heads.c, veda_serial.c ------------------------------------------------------------------- */

/* Attention of one kind of layers, with one cache, as the equations have it. [2]: of keys, of values. */
struct veda_kind {
    const struct dse_eviction *policy;               /* who leaves the cache */
    bool prefill, stays;                             /* a prompt, whose keys and values stay on chip (E8) */
    bool scores_leave, vectors_leave[2];             /* through the DRAM (A8) */
    double from, to, flat, length, mean_of, longest; /* the positions that queries meet (E5) */
    double held;                                     /* positions that the cache holds at most */
    double layers, sequences, queries;
    double shared, device_kv, share; /* query heads that share a row; KV heads of the chip; their share of all */
    double dim[2], cycles[2], at_once[2], row_bytes[2], value_pass;
};
/* Do the query heads of a group use a row together (E8)? */
bool veda_group_shares(const struct veda_run *run, const struct veda_kind *kind);
/* Units of attention in a layer on one chip. */
double veda_units(const struct veda_run *run, const struct veda_kind *kind);

/* What is added up over a unit of attention: seconds, then bytes. */
enum veda_count {
    VEDA_SCORES_S,  /* q K^T: the array works, or waits for keys, special functions or votes */
    VEDA_SOFTMAX_S, /* softmax as a stage */
    VEDA_VALUES_S,
    VEDA_DRAIN_S, /* for the first weights of a head; those four add up to the time */
    VEDA_SFU_WAIT_S,
    VEDA_VOTE_WAIT_S, /* of the first and the third: array and DRAM wait */
    VEDA_SCORES_WORK_S,
    VEDA_VALUES_WORK_S,
    VEDA_SCORES_DATA_S,
    VEDA_VALUES_DATA_S, /* of the first and the third: the array waited for the DRAM */
    VEDA_SCORES_BYTES,
    VEDA_VALUES_BYTES, /* keys, values, and scores and vectors that the buffer has no room for; without votes */
    VEDA_KV_BYTES,
    VEDA_VOTE_BYTES,
    VEDA_COUNTS
};
struct veda_tally {
    double at[VEDA_COUNTS];
};

struct veda_heads;
struct veda_heads_spec {
    const struct veda_kind *kind;
    int64_t length;            /* positions that a query meets */
    int64_t simulated;         /* units */
    int64_t layer;             /* of the draws */
    uint32_t actor, actor_arg; /* called when the last result is there; vote counts may still be on their way */
};
struct veda_heads_result {
    struct veda_tally unit, ends;            /* of a unit in the steady state; a layer is units * unit + ends */
    double score_peak, norm_peak, vote_peak; /* most that the FIFOs held: scores, weights, scores */
    double time_s, rest_error_s;             /* of what was simulated; the standard error of a unit that was not */
};
struct veda_heads *veda_heads_new(const struct veda_run *run, const struct veda_heads_spec *spec);
struct veda_heads_result veda_heads_result(const struct veda_heads *h);
/* Units that are simulated. */
int64_t veda_heads_units(const struct veda_heads *h);

/* ---- attention of a step: veda_plan.c ------------------------------------------------------------------------------------ */

/* Attention of one kind of layers, with one cache. */
struct veda_plan {
    const struct veda_run *run;
    struct veda_kind kind;
    struct dse_closed_at *unit; /* the equations of one query (E26) */
    int place;                  /* in the list's groups of attention */
    struct dse_sampling sampling;
    struct dse_lengths lengths;  /* that are simulated */
    struct veda_tally sum, ends; /* over the phases of layers, weighted */
};
/* The kind at `place` of the list; `whole`: as if nothing were evicted. *ret must be zero. `unit` is that of the kind alone. */
void veda_plan_init(struct veda_plan *ret, const struct veda_run *run, const struct dse_oplist *list, int place, bool whole,
                    const struct dse_eviction *policy, struct dse_closed_at *unit);
/* Simulate one of its lengths in a layer, with so many `times` the units that there are at least. */
struct veda_heads *veda_plan_begin(const struct veda_plan *plan, const struct veda_run *run, const struct dse_length *length,
                                   int64_t layer, double times, uint32_t actor);
/* What was seen is of one of `layers` that are simulated. */
void veda_plan_end(struct veda_plan *plan, const struct dse_length *length, const struct veda_heads_result *r, double layers);
/* Seconds of a layer at one of its lengths, and their standard error by extrapolation. */
double veda_plan_layer(const struct veda_plan *plan, const struct veda_heads *heads, double *ret_error_s);
/* Times, bytes and waits of all layers. */
void veda_plan_seen(const struct veda_plan *plan, struct veda_seen_gives *ret);
/* Their time alone. */
double veda_plan_seconds(const struct veda_plan *plan);

/* ---- how much is simulated: veda_samples.c ----------------------------------------------------------------------------------- */

/* Seconds for which a refresh holds a stream up; 0: there is none. */
double veda_refresh_s(const struct veda_run *run);
/* E40: the standard error of seconds that go on at the pace of what took `measured_s`, by the spread of its parts (dse_pace_error):
 * refresh comes so regularly that no more than the place of the first and the last is open. */
double veda_rest_error(const struct veda_run *run, double rest_s, double measured_s, double error);

/* A phase that is simulated again and again, until what it takes in the mean is known. */
struct veda_sample {
    int n;                                  /* repetitions */
    double times;                           /* of its sample: 1 at first */
    double sum_s, least_s, most_s, error_s; /* what they took; standard error of what the last one extrapolated */
};
/* A repetition took time_s, which has a standard error. Is another needed? Where n is 0 then, the sample is longer from now on. */
bool veda_sample_more(const struct veda_run *run, struct veda_sample *s, double time_s, double error_s);
/* Seconds until the next begins. */
double veda_sample_pause(const struct veda_run *run, const struct veda_sample *s);
/* The standard error of their mean. */
double veda_sample_error(const struct veda_run *run, const struct veda_sample *s);

/* ---- the element-serial units: veda_serial.c ----------------------------------------------------------------------------- */

/* Results on their way through a pipeline: how many come out when. */
struct veda_pipe {
    double *when;
    int64_t *n;
    uint32_t size, first, count;
};
void veda_pipe_init(struct veda_pipe *p, struct dse_sim *sim, double latency);
void veda_pipe_put(struct veda_pipe *p, double when, int64_t n);
/* What has come out by `now`. */
int64_t veda_pipe_take(struct veda_pipe *p, double now);
/* When the next comes out; infinite: nothing inside. */
double veda_pipe_next(const struct veda_pipe *p);

/* Special functions: E20, E21. Elements are scores of all heads of a unit, in the order of the array. */
struct veda_softmax_unit {
    bool serial;                             /* else the array waits for a stage, and nothing here moves */
    int64_t units, elements, tile, rescales; /* of the phase; of a unit; of a tile; exponentials that a tile costs besides */
    int64_t exps, divs;
    double exp_latency, norm_latency, sum_latency;

    int64_t fifo_capacity, reserved, stored,
        reduced; /* scores issued by the array, come to the FIFO, and taken out of it: all units */
    int64_t reduce_unit, reduce_at, rescale_left;
    double *ready; /* of each unit: its sum is known */
    struct veda_pipe tree, norm;
    int64_t norm_capacity, norm_unit, norm_at, inside, waiting; /* weights in the pipe; waiting for the array */
    int64_t fetched;        /* units whose scores are back from the DRAM; all, when they never leave */
    double last;            /* the last cycle it worked in */
    bool reducing, norming; /* in that cycle */
    int64_t score_peak, norm_peak;
};
/* What comes out of tree and pipe by now. */
void veda_softmax_deliver(struct veda_softmax_unit *u, double now);
/* One cycle of work, after what has come out was delivered. What the array is at comes first: s V, weights; q K^T, scores. */
void veda_softmax_tick(struct veda_softmax_unit *u, double now, bool values);
/* When there is something to do next; infinite: not before something else happens. */
double veda_softmax_next(const struct veda_softmax_unit *u, double now);

/* The voting engine: E22. */
struct veda_vote_unit {
    bool counts, drains;     /* takes scores; takes them out of the FIFO again, beside the next head's q K^T */
    int64_t lanes, elements; /* scores a cycle; of a unit */
    double latency;          /* to the threshold */
    int64_t capacity;        /* scores of all heads of a group */
    int64_t taken, drained;  /* scores, all units */
    int64_t loaded;          /* units whose counts are there */
    double *ready;           /* of each unit: its threshold is known */
    double port_free;
    bool draining;
    int64_t peak;
};
/* Can it take n scores of a unit from now on? It has one port: takes scores, or drains. */
bool veda_vote_room(const struct veda_vote_unit *u, int64_t unit, int64_t n, double now);
void veda_vote_take(struct veda_vote_unit *u, int64_t n, double start);
/* One cycle of draining, if nothing else has the port. */
void veda_vote_tick(struct veda_vote_unit *u, double now);
double veda_vote_next(const struct veda_vote_unit *u, double now);

#endif
