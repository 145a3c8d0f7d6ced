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

/* Builds it behind what the run has simulated so far, and runs it to its end. `step` is that of the closed form at this batch, and
 * lives as long as the run; its operators are those of a batch of pt's LLM. `general`: they are those of lad_llms_pass (E47).
 * `layers`: how many are simulated. False: the run has failed. */
bool lad_machine_run(struct lad_machine *m, struct dse_sim *sim, const struct lad_point *pt, const struct lad_step *step,
                     bool general, int64_t layers);
/* What it saw of all layers: operator i; LAD's attention. */
void lad_machine_see_op(const struct lad_machine *m, int i, struct lad_op *ret);
void lad_machine_see_attention(const struct lad_machine *m, struct lad_attention *ret);
/* Of all chips' passes: time that the DRAM needs for the bytes and the operators did not wait for. */
void lad_machine_wait_for_bytes(const struct lad_point *pt, struct lad_step *step);
/* Notes of the run. */
void lad_machine_note(const struct lad_machine *m, const struct lad_step *seen);
/* The closed form's point with what the published memory reaches of long streams (dram_efficiency is the closed form's). */
void lad_machine_before(const struct lad_params *p, struct lad_params *ret);

#endif
