/* `dse eval --fidelity event-level`: the run, and what it tells beyond the metrics. */
#ifndef DSE_CLI_EVAL_EVENTS_H
#define DSE_CLI_EVAL_EVENTS_H

#include "command/output.h"
#include "model/fidelity.h"
#include "space/point.h"

/* --fidelity. False with an error for one that does not exist or that the model lacks. */
bool fidelity_parse(const struct invocation *in, const struct dse_model *m, enum fidelity *ret);
/* Options that mean something at event level alone are an error without it. */
bool events_options_allowed(const struct invocation *in, enum fidelity fidelity, enum output_format format);

/* Add that the model's numbers cannot be, as the runner found. Always false. */
bool eval_bug(const struct invocation *in, const struct model *m, const struct runner *r);

/* A run at event level of one design point. */
struct events_run {
    struct runner *runner;
    char *chart; /* of --gantt, or NULL */
    bool stopped;
};
/* Carry out the feasible point `p`: its metrics and breakdown, the timeline that --timeline asks for, and with --gantt the chart.
 * False with errors, or with ret->stopped by a signal. Release *ret whatever comes back. */
bool events_run(struct events_run *ret, const struct invocation *in, struct design_point *p, struct dse_breakdown *breakdown);
void events_run_release(struct events_run *r);

/* What the model noted, and how the time of the resources went by: of each, or for people of groups of like ones. */
void events_print_notes(const struct events_run *r, enum output_format format);
void events_print_resources(const struct events_run *r, enum output_format format);

#endif
