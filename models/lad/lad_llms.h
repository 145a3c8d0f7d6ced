/* A step of what the paper's machine does not know: LLMs with layers of other kinds, several chips by the workload's degrees,
 * drafts, chunks of prompts, contexts that differ, scales of weights (E43 to E46). Operator by operator, in closed form. */
#ifndef LAD_LLMS_H
#define LAD_LLMS_H

#include "lad.h"

enum { LAD_CAN = DSE_CAN_ALL & ~DSE_CAN_ACTIVATIONS }; /* activations have cache_bits */

/* Is it full attention and a dense network on one chip, with sequences that are alike? */
bool lad_is_simple(const struct dse_workload *w);

/* All of what follows is of a point that is not simple; `batch` is that of all chips. */

/* The same as lad_step_at. */
void lad_llms_at(struct lad_step *step, const struct lad_point *pt, double batch);
/* Its parts: the operators of a chip's pass; what it takes; and, after that, the step of all chips (E45, E46). `draw`: experts as
 * drawn, or NULL. */
void lad_llms_expand(const struct lad_point *pt, double batch, const struct dse_draw *draw, struct dse_oplist *ret);
void lad_llms_pass(struct lad_step *step, const struct lad_point *pt, double batch, const struct dse_oplist *list);
void lad_llms_end(struct lad_step *step, const struct lad_point *pt);

/* LAD's attention over one length of a pass. */
struct lad_local {
    struct lad_params p; /* of the point, where its context is another one */
    struct lad_point pt; /* as it sees the chip: simple, with layers and head-samples of its own */
    const struct dse_attention *of;
    double share;                /* of the pass's head-samples of LAD */
    struct lad_attention closed; /* what it takes */
};
/* Of attention i of the list, in a pass that lad_llms_pass has timed. False: LAD's decoding does not work on it. *ret may not be
 * moved. */
bool lad_llms_local(const struct lad_step *step, const struct lad_point *pt, const struct dse_oplist *list, int i,
                    struct lad_local *ret);
/* Adds it to the sums of the pass. */
void lad_llms_add_local(struct lad_step *step, const struct lad_attention *a, double share);
/* NULL, or why there are no statistics for one of its lengths. */
const char *lad_llms_check(const struct lad_point *pt);
/* E17, E15: of a chip. */
double lad_llms_footprint(const struct lad_point *pt, double batch);
double lad_llms_resident(const struct lad_point *pt, double batch);
/* E18: the largest batch that fits, the one asked for at most. One sequence is known to fit. */
double lad_llms_largest(const struct lad_point *pt);
/* Sequences that a chip has in a pass. */
double lad_llms_sequences(const struct lad_point *pt, double batch);
/* The point as metrics have it, with the head-samples of all chips: puts what the step has seen into *pt, and returns it. */
const struct lad_point *lad_llms_see(struct lad_point *pt, const struct lad_step *step);
/* What runs whatever is done, of all chips. */
void lad_llms_power(struct lad_power *power, double chips);

/* The event level (E47 to E49): dse_model.simulate. */
bool lad_llms_simulate(const struct lad_point *pt, struct dse_sim *sim, struct lad_metrics *metrics,
                       struct dse_breakdown *breakdown);

#endif
