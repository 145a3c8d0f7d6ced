/* A step of what the paper's machine does not know: LLMs with layers of other kinds, several chips by the workload's degrees,
 * drafts, chunks of prompts, contexts that differ (E32 to E35). Operator by operator, in closed form. */
#ifndef VEDA_LLMS_H
#define VEDA_LLMS_H

#include "veda.h"

/* Is it full attention and a dense network, on `devices` chips at most, with sequences that are alike? */
bool veda_is_simple(const struct dse_workload *w);

/* Attention of one kind of layers as a point of its own, whose device is a chip: of its keys, and of its values where they are not
 * as wide or not read (E33). The list that the kind is of must live as long. */
struct veda_kind {
    const struct dse_attention *of;
    bool alike;
    struct veda_point keys, values; /* values: where they are not alike */
};
void veda_kind_init(struct veda_kind *ret, const struct veda_point *pt, const struct dse_attention *a);
/* Of all its layers. */
void veda_kind_at(const struct veda_kind *k, struct veda_attention *ret, struct veda_work *ret_work);

/* The context of a step; of a generation's mean step the mean of its contexts, where attention of full layers has the span of them
 * all. */
int64_t veda_mean_context(const struct veda_params *p);

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
/* Attention of the step if nothing were evicted: seconds. The point, as veda_layers_at got it, keeps all from then on. */
double veda_layers_whole(struct veda_point *pt, const struct veda_layers *s);
/* A step in three steps: no parts; all parts, of one pass of a chip, with experts as drawn or (NULL) the mean; and all passes of
 * all chips. */
void veda_layers_begin(struct veda_layers *ret);
void veda_layers_parts(const struct veda_point *pt, const struct dse_draw *draw, struct veda_layers *ret);
void veda_layers_end(struct veda_point *pt, struct veda_layers *ret);
/* The last of them where pt->devices and tokens are known; what a linear layer or a recurrence adds to the first. */
void veda_layers_total(const struct veda_point *pt, struct veda_layers *ret);
void veda_layers_linear(const struct veda_point *pt, struct veda_layers *s, const struct dse_op *op);
/* Adds a part to the sums. */
void veda_layers_add_linear(struct veda_layers *s, const struct veda_linear *l);
void veda_layers_add_attention(struct veda_layers *s, const struct veda_attention *a, const struct veda_work *w);
/* A linear layer of the list: an instance is all matrices of a layer, one after another. */
void veda_layers_shape(const struct veda_point *pt, const struct dse_oplist *list, const struct dse_op *op,
                       struct veda_linear_shape *ret);
/* The widest vectors of a token on a chip, as for a dense network: the residual stream, and the inner width. */
double veda_vectors_bytes(const struct dse_workload *w);
/* What else may not be of such a workload: NULL, or why. */
const char *veda_layers_check(const struct veda_point *pt);
/* Metrics of such a step, and its breakdown when that is not NULL. */
void veda_layers_report(const struct veda_point *pt, const struct veda_layers *s, double whole_s, struct veda_metrics *m,
                        struct dse_breakdown *breakdown);

#endif
