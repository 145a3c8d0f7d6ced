/* How closely a model is carried out: in closed form or at event level, over the same parameters and to the same metrics. */
#ifndef DSE_MODEL_FIDELITY_H
#define DSE_MODEL_FIDELITY_H

#include "desc/schema.h"
#include "sim/sim.h"

#include <dse/model.h>

enum fidelity { FIDELITY_CLOSED_FORM, FIDELITY_EVENT_LEVEL, FIDELITIES };
extern const char *const fidelity_names[]; /* "closed-form", "event-level", NULL */

/* What a row of a run at that fidelity says; `is_measured`: runner_is_measured. That is "measured-kernel" of a run that repeats the
 * closed form, else one of fidelity_names. A string constant. */
const char *fidelity_of_row(enum fidelity fidelity, bool is_measured);

/* Does the model have this fidelity? Every model has a closed form. */
bool fidelity_of_model(const struct dse_model *m, enum fidelity fidelity);
/* The finest one not above `wanted` that the model has. */
enum fidelity fidelity_at_most(const struct dse_model *m, enum fidelity wanted);
/* The fidelities of a model as a text: "closed-form, event-level". A string constant. */
const char *fidelities_text(const struct dse_model *m);

/* Where the parameter is not read, when that is the fidelity: "in closed form", "at event level"; NULL: it is. A string
 * constant. */
const char *fidelity_not_reading(enum fidelity fidelity, const struct field *param);

/* What one thread carries out models with, one after the other. */
struct runner;
struct runner *runner_new(enum fidelity fidelity, const struct sim_options *options); /* options as for sim_new; may be NULL */
void runner_free(struct runner *r);
enum fidelity runner_fidelity(const struct runner *r);

enum run_end {
    RUN_DONE,
    RUN_STOPPED, /* options->stop */
    RUN_REFUSED, /* the event level cannot run the point: runner_error says why */
    RUN_BROKEN,  /* a bug of the model: its numbers cannot be (model/row_check.h); runner_error names the metric */
    RUN_FAILED,  /* a bug of the model, or more events than options->events_max */
};
/* The metrics and, when it is not NULL, the breakdown of a point that check() accepts, at the finest fidelity not above the
 * runner's that the model has. The metrics are set when done, and what every row must satisfy holds. */
enum run_end runner_run(struct runner *r, const struct dse_model *m, const void *params, void *metrics,
                        struct dse_breakdown *breakdown);
/* Check metrics in the same way that were put together from several runs. */
enum run_end runner_check(struct runner *r, const struct dse_model *m, const void *metrics);
/* Why the last run failed, or what it broke. */
const char *runner_error(const struct runner *r);
/* The last run at event level, finished: resources, notes. NULL in closed form. */
const struct dse_sim *runner_sim(const struct runner *r);
/* Was the last run at event level, and of kernels that take whole times of measurements (dse_sim_measured)? */
bool runner_is_measured(const struct runner *r);
/* Set which causes of difference (bits of enum dse_ideal) are taken away from the next run on. */
void runner_set_ideal(struct runner *r, unsigned ideal);

/* Events after which a run that nobody watches is given up as endless: ten thousand million. */
#define RUNNER_EVENTS_MAX UINT64_C(10000000000)

#endif
