/* The machine of the event level: one program of operators, and LAD's attention over one length. */
#ifndef LAD_MACHINE_H
#define LAD_MACHINE_H

#include "lad_program.h"

struct lad_machine {
    struct lad_run run;
    struct lad_lanes slots;
    struct lad_linear linear;
    struct lad_fetcher fetcher;
    struct lad_program program;
};

/* Builds it behind what the run has simulated so far, and runs it to its end. `step` lives as long as the run. `general`: its
 * operators are those of any LLM (E47), else of a dense one. `layers`: how many are simulated. False: the run has failed. */
bool lad_machine_run(struct lad_machine *m, struct dse_sim *sim, const struct lad_point *pt, const struct lad_step *step,
                     uint64_t seed, bool general, int64_t layers);
/* What it saw of all layers: operator i; LAD's attention. */
void lad_machine_see_op(const struct lad_machine *m, int i, struct lad_op *ret);
void lad_machine_see_attention(const struct lad_machine *m, struct lad_attention *ret);
/* Notes of the run. `seen`: LAD's attention in all of the pass. */
void lad_machine_note(const struct lad_machine *m, const struct lad_attention *seen);

#endif
