/* A step of what the paper's machine does not know: LLMs with layers of other kinds, several chips by the workload's degrees, drafts,
 * chunks of prompts, contexts that differ (E32 to E35). Operator by operator, in closed form. */
#ifndef VEDA_LLMS_H
#define VEDA_LLMS_H

#include "veda.h"

/* Is it full attention and a dense network, on `devices` chips at most, with sequences that are alike? */
bool veda_is_simple(const struct dse_workload *w);

struct veda_layers {
    struct veda_step sum; /* without linear layers of their own */
    struct veda_work work;
    int n;
    struct veda_linear op[DSE_OPS_MAX]; /* linear layers and recurrences */
    struct veda_work attention;
    struct dse_oplist list;
    double communication_s, link_joules, bubble_s, norm_ops;
};
/* *pt gets the chips as devices, and the tokens. Requires a workload that is not simple. */
void veda_layers_at(struct veda_point *pt, struct veda_layers *ret);
const char *veda_layers_check(const struct veda_params *p);
void veda_layers_break_down(const struct veda_point *pt, const struct veda_layers *s, const struct veda_power *power,
                            struct dse_breakdown *out);

#endif
