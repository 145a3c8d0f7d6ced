/* The order of linear layers and attention periods, and the time each takes. */
#ifndef LAD_PROGRAM_H
#define LAD_PROGRAM_H

#include "lad_fetch.h"
#include "lad_linear.h"
#include "lad_slots.h"

struct lad_program {
    struct lad_run *run;
    struct lad_lanes *slots;
    struct lad_linear *linear;
    struct lad_fetcher *fetcher;
    enum { LAD_WARMING, LAD_LAYERS, LAD_DRAINING, LAD_ONCE, LAD_FINISHED } phase;
    uint32_t layer, step; /* layer simulated; step in it */
    uint32_t warm, warm_periods;
    int others[DSE_OPS_MAX], once[DSE_OPS_MAX]; /* operators with jobs: of a layer, besides those of single heads; of the step */
    uint32_t n_others, n_once, at_once;
    int exchanges[DSE_OPS_MAX], exchanges_once[DSE_OPS_MAX]; /* E49 */
    uint32_t n_exchanges, n_exchanges_once, exchanged_once;
    struct dse_net *net;
    uint32_t net_actor;
    uint64_t job; /* the next */
    enum { LAD_RUNS_NOTHING, LAD_RUNS_JOB, LAD_RUNS_PERIOD, LAD_RUNS_DRAIN } runs;
    int op; /* of the job that runs */
    dse_ps since;
    uint32_t resource;
    dse_ps op_time[DSE_OPS_MAX];
    dse_ps warm_time, drain_time;
    dse_ps *layer_time; /* by layer */
};
/* Is the operator one of the step, not of every layer? */
bool lad_is_once(const struct lad_run *run, const struct lad_op *o);
/* Is it the QKV projection that is done head by head? */
bool lad_is_by_head(const struct lad_run *run, int op);
/* What linear layers keep in DRAM. Needs nothing of the run but point, step and batch. */
struct lad_stored lad_stored_by(const struct lad_run *run);
void lad_program_init(struct lad_program *pr, struct lad_run *run, struct lad_lanes *slots, struct lad_linear *linear,
                      struct lad_fetcher *fetcher);
/* lad_signals.over: what was running has ended, go on. */
void lad_program_next(struct lad_program *pr);
/* lad_signals.job. */
bool lad_program_job(const struct lad_program *pr, uint64_t i, struct lad_job *ret);

#endif
