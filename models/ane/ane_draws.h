/* Experts with work in a call, as drawn by the run's seed (E18). */
#ifndef ANE_DRAWS_H
#define ANE_DRAWS_H

#include "ane_closed.h"

#include <dse/sim.h>

/* Where not all experts are computed: sets `experts` of the operators of experts, by place in `list`, to the mean over the layers
 * that are drawn, and *ret_share to those of each layer over the mean. Returns how many layers; 0, and NULL: all layers are
 * alike. */
int64_t ane_draw_experts(struct dse_sim *sim, const struct ane_events_reads *closed, const struct dse_workload *w,
                         const struct dse_oplist *list, double *experts, const double **ret_share);

#endif
