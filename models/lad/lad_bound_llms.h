/* A part of a box of any LLM's steps, as the two files of its bound share it (lad_bound_llms.c). */
#ifndef LAD_BOUND_LLMS_H
#define LAD_BOUND_LLMS_H

#include "lad_bound.h"

struct lad_ends {
    const struct lad_params *lo, *hi;
    const struct dse_workload_part *part;
    struct lad_box box; /* of the machine, with the pass as its only sequence */
    struct dse_cache_step cache_lo, cache_hi;
    struct dse_oplist least, most;
    struct lad_step_bound step;
    struct dse_interval local_s, exact_s, communication_s, link_joules; /* of a pass; of attention: LAD's, and all other */
    struct dse_interval sequences, stages, passes, chips, tokens;
};

/* The metrics of all chips' steps, from a pass of one of them. */
void lad_llms_bound_metrics(const struct lad_ends *ends, const struct lad_chip_bound *chip, struct lad_metrics *floor,
                            struct lad_metrics *ceiling);

#endif
