/* A step of what the paper's machine does not know: LLMs with layers of other kinds, several chips by the workload's degrees, drafts,
 * chunks of prompts, contexts that differ, scales of weights (E43 to E46). Operator by operator, in closed form. */
#ifndef LAD_LLMS_H
#define LAD_LLMS_H

#include "lad.h"

enum { LAD_CAN = DSE_CAN_ALL & ~DSE_CAN_ACTIVATIONS }; /* activations have cache_bits */

/* Is it full attention and a dense network on one chip, with sequences that are alike? */
bool lad_is_simple(const struct dse_workload *w);

/* All of what follows is of a point that is not simple; `batch` is that of all chips. */

/* The same as lad_step_at. */
void lad_llms_at(struct lad_step *step, const struct lad_point *pt, double batch);
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
extern const char lad_llms_no_events[];

#endif
