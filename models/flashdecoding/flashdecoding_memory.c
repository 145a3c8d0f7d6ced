/* What an engine keeps for itself of a device's memory, and what fits beside it (E16, E42). */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

static double kv_bytes(const struct fd_params *p)
{
    const struct dse_workload *w = &p->workload;
    return (double)w->batch * fd_cache_step(p).held * fd_row_bytes(p);
}

double fd_kept(const struct fd_params *p)
{
    return (double)p->workload.llm->layers * (kv_bytes(p) + fd_kept_bytes(p));
}

double fd_footprint_beside(const struct fd_params *p, double kept)
{
    return dse_workload_plain_weights(&p->workload) / (double)p->workload.tensor_parallel + kept;
}

double fd_footprint(const struct fd_params *p)
{
    return fd_is_plain(&p->workload) ? fd_footprint_beside(p, fd_kept(p)) : dse_workload_footprint(&p->workload);
}

/* Numbers of a token that one layer has at once, on a device: four vectors of the hidden state, and the widest of what attention
 * and networks make of it. */
static double widest(const struct dse_llm *llm, double tensor)
{
    enum { VECTORS = 4 };
    double most = 0;
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_shape *s = &llm->kinds[i].shape;
        const double matrices = (double)s->ffn_matrices, active = (double)s->moe.experts_active;
        const double dense = matrices * (double)s->ffn / tensor;
        const double experts = active * (matrices * (double)s->moe.expert_ffn + (double)llm->hidden) / tensor;
        const double heads = (double)((s->heads + 2 * s->kv_heads) * s->head_dim) / tensor;
        most = dse_max(most, dse_max(heads, llm->kinds[i].feed_forward == DSE_FFN_EXPERTS ? experts : dense));
    }
    return VECTORS * (double)llm->hidden + most;
}

/* Logits of 32 bits, their probabilities, and these sorted with their places of 64 bits. */
static double sampled_bytes(const struct dse_llm *llm)
{
    enum { A_WORD = 4 + 4 + 4 + 8 };
    return A_WORD * (double)llm->vocab;
}

double fd_room(const struct fd_params *p)
{
    const struct dse_engine_memory *m = &p->memory;
    const struct dse_llm *llm = p->workload.llm;
    const double activations = m->step_tokens * widest(llm, (double)dse_degree(p->workload.tensor_parallel)) * FD_ACTIVATION_BYTES;
    const double sampled = m->step_sequences * sampled_bytes(llm);
    return (p->capacity_gib * m->memory_share - m->reserved_gib) * DSE_GIB - activations - sampled;
}

struct fd_fitting fd_fitting_of(const struct fd_params *p, double footprint, double kept)
{
    const struct dse_workload *w = &p->workload;
    const double context = (double)w->context, block = p->memory.block_tokens, room = fd_room(p) - (footprint - kept);
    const double tokens = dse_max(0, (double)w->batch * context * room / kept);
    return (struct fd_fitting){dse_floor(tokens / block) * block, dse_floor(tokens / dse_ceil_to(context, block))};
}
