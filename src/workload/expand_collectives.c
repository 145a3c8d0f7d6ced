/* What chips exchange in one pass. */
#include "workload/expand.h"

#include <dse/num.h>
#include <dse/units.h>

static void exchange(struct expansion *x, const char *name, enum dse_collective how, int64_t repeat, double devices, double bytes)
{
    if (repeat == 0 || devices <= 1 || bytes <= 0) return;
    struct dse_op *op = expand_add(x, (struct dse_op){.name = name,
                                                      .kind = DSE_OP_COLLECTIVE,
                                                      .repeat = repeat,
                                                      .m = x->rows,
                                                      .k = 1,
                                                      .n = x->llm->hidden,
                                                      .devices = devices,
                                                      .device_bytes = bytes});
    op->collective = (int8_t)how;
}

void expand_collectives(struct expansion *x)
{
    const struct dse_workload *w = x->w;
    const struct dse_llm *llm = x->llm;
    const int64_t experts = expand_network_layers(x, DSE_FFN_EXPERTS), groups = dse_degree(w->expert_parallel);
    const double element = (double)(w->activation_bits > 0 ? w->activation_bits : 16) / DSE_BITS_PER_BYTE;
    const double vector = (double)llm->hidden * element, rows = (double)x->rows, tensor = (double)x->tensor;
    const bool moves = groups > x->tensor; /* tokens go to experts of other groups */
    int64_t sums = expand_network_layers(x, DSE_FFN_DENSE) + (moves ? 0 : experts);
    for (int mixer = 0; mixer < DSE_NO_MIXER; mixer++) sums += expand_mixer_layers(x, (enum dse_mixer)mixer);
    exchange(x, OP_NAME(x, "all_reduce"), DSE_ALL_REDUCE, sums, tensor, rows * vector);
    if (moves) { /* each chip of a tensor group sends its part of the tokens; the sum of shared experts and the parts are gathered */
        const double sent = rows / tensor * (double)llm->moe.experts_active;
        const double width = (double)(llm->moe.expert_latent > 0 ? llm->moe.expert_latent : llm->hidden) * element;
        exchange(x, OP_NAME(x, "dispatch"), DSE_ALL_TO_ALL, experts, (double)groups, sent * width);
        exchange(x, OP_NAME(x, "combine"), DSE_ALL_TO_ALL, experts, (double)groups, sent * width);
        exchange(x, OP_NAME(x, "all_reduce"), DSE_ALL_REDUCE, experts, tensor, rows * vector);
    }
    const double answers = (double)x->sequences * (w->phase == DSE_DECODE ? (double)x->queries : 1);
    exchange(x, OP_NAME(x, "gather_logits"), DSE_ALL_GATHER, x->times, tensor, answers * (double)llm->vocab * element);
    if (x->stages > 1 && !x->draft) exchange(x, "next_stage", DSE_POINT_TO_POINT, 1, 2, rows * vector / tensor);
}
