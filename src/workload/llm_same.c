/* Which kinds of layers have the same projections, latents, states and networks: operators of such layers are one. */
#include "workload/llm.h"

#include <dse/llm.h>

#include <string.h>

static bool same_heads(const struct dse_layer_kind *a, const struct dse_layer_kind *b)
{
    const struct dse_layer_shape *x = &a->shape, *y = &b->shape;
    return llm_is_grouped(a->attention) && llm_is_grouped(b->attention) && x->heads == y->heads && x->kv_heads == y->kv_heads &&
           x->head_dim == y->head_dim && llm_value_dim(x) == llm_value_dim(y) &&
           x->cache.values_from_keys == y->cache.values_from_keys && x->cache.shares_cache == y->cache.shares_cache &&
           x->details.output_gate == y->details.output_gate;
}

/* Are router and shared experts alike, and the way to the experts? */
static bool same_shared(const struct dse_layer_kind *a, const struct dse_layer_kind *b)
{
    const struct dse_llm_experts *x = &a->shape.moe, *y = &b->shape.moe;
    return a->feed_forward == b->feed_forward && a->shape.ffn_matrices == b->shape.ffn_matrices && x->experts == y->experts &&
           x->zero_experts == y->zero_experts && x->shared_ffn == y->shared_ffn && x->expert_latent == y->expert_latent &&
           x->shared_gate == y->shared_gate;
}

static bool same_recurrence(const struct dse_llm_states *a, const struct dse_llm_states *b)
{
    return a->state_key_heads == b->state_key_heads && a->state_key_dim == b->state_key_dim &&
           a->state_value_heads == b->state_value_heads && a->state_full_gate == b->state_full_gate &&
           a->state_full_decay == b->state_full_decay && a->state_value_dim == b->state_value_dim &&
           a->conv_kernel == b->conv_kernel && a->ssm_inner == b->ssm_inner && a->ssm_heads == b->ssm_heads &&
           a->ssm_state == b->ssm_state && a->ssm_groups == b->ssm_groups && a->ssm_dt_rank == b->ssm_dt_rank;
}

static bool same_latent(const struct dse_layer_kind *a, const struct dse_layer_kind *b)
{
    return a->attention == b->attention && dse_llm_is_latent((enum dse_mixer)a->attention) && a->shape.heads == b->shape.heads &&
           a->shape.details.output_gate == b->shape.details.output_gate &&
           memcmp(&a->shape.latent, &b->shape.latent, sizeof a->shape.latent) == 0;
}

static bool same_compression(const struct dse_layer_kind *a, const struct dse_layer_kind *b)
{
    return a->attention == DSE_COMPRESSED && b->attention == DSE_COMPRESSED && a->shape.heads == b->shape.heads &&
           a->shape.head_dim == b->shape.head_dim && a->shape.attention_window == b->shape.attention_window &&
           memcmp(&a->shape.latent, &b->shape.latent, sizeof a->shape.latent) == 0 &&
           memcmp(&a->shape.compression, &b->shape.compression, sizeof a->shape.compression) == 0;
}

static bool same_states(const struct dse_layer_kind *a, const struct dse_layer_kind *b)
{
    const int32_t r = llm_recurrence(a);
    if ((a->beside == DSE_NO_MIXER) != (b->beside == DSE_NO_MIXER)) return false;
    return r != DSE_NO_MIXER && r == llm_recurrence(b) && same_recurrence(&a->shape.states, &b->shape.states);
}

static bool same_network(const struct dse_layer_kind *a, const struct dse_layer_kind *b)
{
    const struct dse_llm_experts *x = &a->shape.moe, *y = &b->shape.moe;
    if (a->feed_forward != b->feed_forward || a->shape.ffn_matrices != b->shape.ffn_matrices) return false;
    if (a->feed_forward == DSE_FFN_DENSE) return a->shape.ffn == b->shape.ffn;
    return same_shared(a, b) && x->experts_active == y->experts_active && x->expert_ffn == y->expert_ffn;
}

static uint8_t first_same(const struct dse_llm *llm, size_t of,
                          bool (*same)(const struct dse_layer_kind *, const struct dse_layer_kind *))
{
    size_t i = 0;
    while (i < of && !same(&llm->kinds[i], &llm->kinds[of])) i++;
    return (uint8_t)i;
}

void llm_find_same(struct dse_llm *llm)
{
    for (size_t i = 0; i < llm->n_kinds; i++) {
        struct dse_layer_kind *k = &llm->kinds[i];
        k->same_heads = first_same(llm, i, same_heads);
        k->same_latent = first_same(llm, i, k->attention == DSE_COMPRESSED ? same_compression : same_latent);
        k->same_states = first_same(llm, i, same_states);
        k->same_network = first_same(llm, i, same_network);
        k->same_shared = first_same(llm, i, same_shared);
    }
}
