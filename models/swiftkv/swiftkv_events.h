/* SwiftKV at event level, inside. README.md, "Event level", says what is simulated and how; comments name its equations (E16..).
 *
 * The closed form is swiftkv.toml. A step is a program of phases: linear layers (dse/feed.h's pours) and the attention of a
 * layer (swiftkv_heads.c), each of which starts when the one before is done. swiftkv_events.c runs the program, and gives what
 * it saw back to the equations.
 */
#ifndef SWIFTKV_EVENTS_H
#define SWIFTKV_EVENTS_H

#include "swiftkv_closed.h"

#include <dse/program.h>

/* What a phase needs of the run. */
struct swiftkv_run {
    struct dse_sim *sim;
    const struct swiftkv_events_reads *closed; /* the point */
    const struct dse_oplist *list;
    const struct dse_dram *dram;
    struct dse_program *program; /* its buffer: the KV-weight memories of all processors */
    uint32_t array, sfu;         /* resources */
    struct dse_room weights, cache;
};

/* Picoseconds from now until `cycles` after the clock edge that is not before now. */
dse_ps swiftkv_cycles_on(const struct swiftkv_run *run, double cycles);

/* ---- attention of a layer: swiftkv_heads.c ------------------------------------------------------------------------------- */

/* A job is one head on one processor, for one query; with a shared fetch, of the processors of a group, which all do the same. */
struct swiftkv_jobs {
    int64_t engines; /* processors, or groups of them with a fetch of their own, that work side by side */
    int64_t last;    /* of them, with a head in the last round; the others wait for its end */
    int64_t rounds;  /* heads of an engine, one after another (E5) */
    int64_t each;    /* jobs of an engine in a layer: rounds times queries */
};
struct swiftkv_jobs swiftkv_jobs(const struct swiftkv_run *run, int group);

struct swiftkv_heads;
struct swiftkv_heads_spec {
    int group;                 /* kind of layers: place among the attentions of the list */
    int64_t positions;         /* of a job */
    int64_t jobs;              /* simulated, of an engine with a head in every round; 2 at least where the last round is not full */
    uint32_t actor, actor_arg; /* called when the last result of the last engine is there */
};
struct swiftkv_heads_result {
    double job_s, ends_s; /* a layer takes each * job_s + ends_s; job_s is the mean over the rounds */
    double data_s;        /* of a layer: an engine waited for keys and values, mean over the engines */
};
struct swiftkv_heads *swiftkv_heads_new(struct swiftkv_run *run, const struct swiftkv_heads_spec *spec);
struct swiftkv_heads_result swiftkv_heads_result(const struct swiftkv_heads *h);

#endif
