/* What `dse eval` prints of a design point: its metrics, as a table for people or a row for programs, and its parts. */
#ifndef DSE_CLI_EVAL_PRINT_H
#define DSE_CLI_EVAL_PRINT_H

#include "cli/eval_events.h"
#include "command/output.h"

/* A design point, and what a model says of it. */
struct eval_answer {
    struct catalog *catalog;
    enum fidelity fidelity;
    struct design_point point;
    void *closed; /* at event level the metrics of the closed form; NULL otherwise, and where the point is infeasible */
    struct events_run events;
    struct dse_breakdown breakdown;
};

/* What the answer says of its fidelity (fidelity_of_row). */
const char *eval_fidelity(const struct eval_answer *a);
/* For people (eval_metrics.c): what was assumed, then the metrics in groups, the first of each or all. */
void eval_print_metrics(const struct eval_answer *a, bool all);
/* Why a mean over requests is NULL; NULL of one point, of which the model says it. */
const char *eval_why_no_mean(const struct eval_answer *a);
/* For programs: one row with every parameter and metric. */
void eval_print_row(const struct eval_answer *a, enum output_format format);
/* The quantities of the model's equations at this point, feasible or not. */
void eval_print_equations(const struct design_point *p, enum output_format format);
/* The parts of a step and, for people, what the energy goes to. */
void eval_print_breakdown(const struct eval_answer *a, enum output_format format);

#endif
