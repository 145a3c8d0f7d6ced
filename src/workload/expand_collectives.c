/* What chips exchange in one pass. */
#include "workload/expand.h"

#include <dse/num.h>
#include <dse/units.h>

static void exchange(struct expansion *x, enum dse_op_role role, int64_t repeat, struct dse_exchange e)
{
    if (repeat == 0 || e.devices <= 1 || e.bytes <= 0) return;
    if (e.stride < 1) e.stride = 1;
    if (e.imbalance < 1) e.imbalance = 1;
    expand_add(x, role, repeat, x->rows, 1, x->llm->hidden)->exchange = e;
}

/* Are tokens of both kinds of layers sent to as many experts of as many, with as many numbers? */
static bool same_exchange(const struct dse_layer_kind *a, const struct dse_layer_kind *b)
{
    const struct dse_llm_experts *x = &a->shape.moe, *y = &b->shape.moe;
    return a->feed_forward == DSE_FFN_EXPERTS && b->feed_forward == DSE_FFN_EXPERTS && x->experts == y->experts &&
           x->experts_active == y->experts_active && x->expert_latent == y->expert_latent;
}

/* Layers that exchange tokens as this kind does; 0: an earlier kind has them. */
static int64_t layers_exchanging(const struct expansion *x, size_t of)
{
    const struct dse_layer_kind *kinds = x->llm->kinds;
    int64_t layers = 0;
    for (size_t i = 0; i < of; i++)
        if (same_exchange(&kinds[i], &kinds[of])) return 0;
    for (size_t i = of; i < x->llm->n_kinds; i++) layers += same_exchange(&kinds[i], &kinds[of]) ? x->layers[i] : 0;
    return layers;
}

/* Tokens go to experts of other groups and back; each chip of a tensor group sends its part of them. What the group's chips have
 * then is summed with the shared experts. */
static void exchange_tokens(struct expansion *x, const struct dse_layer_shape *s, int64_t layers, double element)
{
    const struct dse_llm *llm = x->llm;
    const double groups = (double)dse_degree(x->w->expert_parallel);
    const double rows = (double)x->rows, active = (double)s->moe.experts_active, tensor = (double)x->tensor;
    const double width = (double)llm_expert_width(llm, s) * element;
    const struct experts_at_work work = expand_experts(x, llm_choice(s), rows * groups / tensor, groups);
    const struct dse_exchange moved = {.kind = DSE_ALL_TO_ALL,
                                       .devices = groups,
                                       .bytes = rows / tensor * active * width,
                                       .imbalance = work.rows / (rows / tensor * active)};
    exchange(x, DSE_ROLE_DISPATCH, layers, moved);
    exchange(x, DSE_ROLE_COMBINE, layers, moved);
    exchange(x, DSE_ROLE_ALL_REDUCE, layers,
             (struct dse_exchange){.kind = DSE_ALL_REDUCE, .devices = tensor, .bytes = rows * (double)llm->hidden * element});
}

void expand_collectives(struct expansion *x)
{
    const struct dse_workload *w = x->w;
    const struct dse_llm *llm = x->llm;
    if (x->tensor == 1 && x->stages == 1 && dse_degree(w->expert_parallel) == 1) return;
    const int64_t groups = dse_degree(w->expert_parallel);
    int64_t sums = 0;
    const double element = dse_exchange_bytes(w);
    const double vector = (double)llm->hidden * element, rows = (double)x->rows, tensor = (double)x->tensor;
    const bool moves = groups > x->tensor;
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_kind *k = &llm->kinds[i];
        if (k->feed_forward != DSE_NO_FFN && !(moves && k->feed_forward == DSE_FFN_EXPERTS)) sums += x->layers[i];
        if (k->attention != DSE_NO_MIXER) sums += x->layers[i];
    }
    exchange(x, DSE_ROLE_ALL_REDUCE, sums,
             (struct dse_exchange){.kind = DSE_ALL_REDUCE, .devices = tensor, .bytes = rows * vector});
    for (size_t i = 0; moves && i < llm->n_kinds; i++) {
        const int64_t layers = layers_exchanging(x, i);
        if (layers > 0) exchange_tokens(x, &llm->kinds[i].shape, layers, element);
    }
    const double answers = (double)x->sequences * (w->phase == DSE_DECODE ? (double)x->queries : 1);
    exchange(x, DSE_ROLE_GATHER_LOGITS, x->times,
             (struct dse_exchange){.kind = DSE_ALL_GATHER, .devices = tensor, .bytes = answers * (double)llm->vocab * element});
    if (x->stages > 1 && !x->draft) /* stages stand behind each other: groups of tensor x data chips */
        exchange(x, DSE_ROLE_NEXT_STAGE, 1,
                 (struct dse_exchange){.kind = DSE_POINT_TO_POINT,
                                       .devices = (double)x->stages,
                                       .stride = tensor * (double)dse_degree(w->data_parallel),
                                       .bytes = rows * vector / tensor});
}
