/* The matrices of an LLM one by one, as the files of transformers have them. llm_counts.c has their sums, in which some stand
 * together. */
#include "workload/llm.h"

#include <dse/llm.h>

/* Who is told, and how many layers have what is told. */
struct told {
    dse_llm_matrix_fn *fn;
    void *arg;
    int64_t layers;
};

static void tell(const struct told *t, enum dse_weight_class class, int64_t times, int64_t rows, int64_t columns)
{
    if (times > 0 && rows > 0 && columns > 0)
        t->fn(t->arg, &(struct dse_llm_matrix){.class = class, .rows = rows, .columns = columns, .times = times * t->layers});
}

static void tell_attention(const struct told *t, const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    const int64_t values = llm_value_dim(s), own = s->cache.shares_cache ? 0 : s->kv_heads;
    tell(t, DSE_WEIGHTS_ATTENTION, 1, s->heads * s->head_dim + llm_gate(s, s->heads), llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, 1, own * s->head_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, 1, s->cache.values_from_keys ? 0 : own * values, llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, 1, llm->hidden, s->heads * values);
}

/* Queries of the hidden state, and one key. */
static void tell_indexer(const struct told *t, const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    tell(t, DSE_WEIGHTS_INDEXER, 1, s->latent.index_heads * s->latent.index_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_INDEXER, 1, s->latent.index_dim, llm->hidden);
}

/* The same of a rank of the queries, and weights of the heads. */
static void tell_latent_indexer(const struct told *t, const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    tell(t, DSE_WEIGHTS_INDEXER, 1, s->latent.index_heads * s->latent.index_dim, s->latent.q_rank);
    tell(t, DSE_WEIGHTS_INDEXER, 1, s->latent.index_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_INDEXER, 1, s->latent.index_heads, llm->hidden);
}

static void tell_latent(const struct told *t, const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    const struct dse_llm_latent *m = &s->latent;
    tell(t, DSE_WEIGHTS_ATTENTION, 1, m->q_rank, llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, 1, s->heads * (m->nope_dim + m->rope_dim), m->q_rank ? m->q_rank : llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, 1, m->kv_rank + m->rope_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, 1, s->heads * (m->nope_dim + m->v_head_dim), m->kv_rank);
    tell(t, DSE_WEIGHTS_ATTENTION, s->details.output_gate ? 1 : 0, s->heads * m->v_head_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, 1, llm->hidden, s->heads * m->v_head_dim);
}

static void tell_compressed(const struct told *t, const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    const struct dse_llm_latent *m = &s->latent;
    const struct dse_llm_compression *c = &s->compression;
    const int64_t q = s->heads * s->head_dim, out = c->output_groups * c->output_rank, mixes = c->compress_ratio > 0 ? 2 : 0;
    tell(t, DSE_WEIGHTS_ATTENTION, 1, m->q_rank, llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, 1, q, m->q_rank);
    tell(t, DSE_WEIGHTS_ATTENTION, 1, s->head_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, 1, out, c->output_groups > 0 ? q / c->output_groups : 0);
    tell(t, DSE_WEIGHTS_ATTENTION, 1, llm->hidden, out);
    tell(t, DSE_WEIGHTS_ATTENTION, mixes, c->compress_width * s->head_dim, llm->hidden);
    if (m->index_topk == 0) return;
    tell(t, DSE_WEIGHTS_INDEXER, 2, c->compress_width * m->index_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_INDEXER, 1, m->index_heads, llm->hidden);
    tell(t, DSE_WEIGHTS_INDEXER, 1, m->index_heads * m->index_dim, m->q_rank);
}

/* Queries and keys with values, their gate, a rate and a decay of each head; the output. */
static void tell_delta(const struct told *t, const struct dse_llm *llm, const struct dse_llm_states *s)
{
    const int64_t keys = s->state_key_heads * s->state_key_dim, values = s->state_value_heads * s->state_value_dim;
    tell(t, DSE_WEIGHTS_RECURRENT, 1, 2 * keys + values, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, 1, values, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, 2, s->state_value_heads, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, 1, llm->hidden, values);
}

/* Queries and keys, values, rates; decays by a rank of a head's width, the gate likewise or at once; the output. */
static void tell_kda(const struct told *t, const struct dse_llm *llm, const struct dse_llm_states *s)
{
    const int64_t keys = s->state_value_heads * s->state_key_dim, values = s->state_value_heads * s->state_value_dim;
    const int64_t ranks = s->state_full_gate ? 1 : 2;
    tell(t, DSE_WEIGHTS_RECURRENT, 2, keys, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, 1 + (s->state_full_gate ? 1 : 0), values, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, 1, s->state_value_heads, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, ranks, s->state_value_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, 1, keys, s->state_value_dim);
    tell(t, DSE_WEIGHTS_RECURRENT, ranks - 1, values, s->state_value_dim);
    tell(t, DSE_WEIGHTS_RECURRENT, 1, llm->hidden, values);
}

static void tell_mamba(const struct told *t, const struct dse_llm *llm, const struct dse_llm_states *s)
{
    tell(t, DSE_WEIGHTS_RECURRENT, 1, 2 * s->ssm_inner, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, 1, s->ssm_dt_rank + 2 * s->ssm_state, s->ssm_inner);
    tell(t, DSE_WEIGHTS_RECURRENT, 1, s->ssm_inner, s->ssm_dt_rank);
    tell(t, DSE_WEIGHTS_RECURRENT, 1, llm->hidden, s->ssm_inner);
}

/* One matrix for all inputs of a recurrence, one for its output. */
static void tell_pair(const struct told *t, const struct dse_llm *llm, int64_t times, int64_t inputs, int64_t output)
{
    tell(t, DSE_WEIGHTS_RECURRENT, times, inputs, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, 1, llm->hidden, output);
}

static void tell_mixer(const struct told *t, const struct dse_llm *llm, const struct dse_layer_shape *s, int32_t mixer)
{
    const struct dse_llm_states *r = &s->states;
    const int64_t values = r->state_value_heads * r->state_value_dim;
    if (llm_is_grouped(mixer)) tell_attention(t, llm, s);
    if (dse_llm_is_latent((enum dse_mixer)mixer)) tell_latent(t, llm, s);
    switch ((enum dse_mixer)mixer) {
    case DSE_FULL_TOPK: tell_indexer(t, llm, s); break;
    case DSE_LATENT_TOPK: tell_latent_indexer(t, llm, s); break;
    case DSE_COMPRESSED: tell_compressed(t, llm, s); break;
    case DSE_DELTA: tell_delta(t, llm, r); break;
    case DSE_KDA: tell_kda(t, llm, r); break;
    case DSE_LIGHTNING: tell_pair(t, llm, 4, values, values); break;
    case DSE_MAMBA: tell_mamba(t, llm, r); break;
    case DSE_MAMBA2: tell_pair(t, llm, 1, 2 * r->ssm_inner + 2 * r->ssm_groups * r->ssm_state + r->ssm_heads, r->ssm_inner); break;
    case DSE_CONVOLUTION: tell_pair(t, llm, 1, 3 * llm->hidden, llm->hidden); break;
    default: break;
    }
}

/* Gate and up, or up alone, and down, of `n` networks. */
static void tell_networks(const struct told *t, enum dse_weight_class class, int64_t n, const struct dse_layer_shape *s,
                          int64_t inner, int64_t width)
{
    tell(t, class, n * (s->ffn_matrices - 1), inner, width);
    tell(t, class, n, width, inner);
}

static void tell_network(const struct told *t, const struct dse_llm *llm, const struct dse_layer_shape *s, int32_t feed_forward)
{
    const struct dse_llm_experts *e = &s->moe;
    if (feed_forward == DSE_FFN_DENSE) tell_networks(t, DSE_WEIGHTS_DENSE, 1, s, s->ffn, llm->hidden);
    if (feed_forward != DSE_FFN_EXPERTS) return;
    tell(t, DSE_WEIGHTS_ROUTER, 1, e->experts, llm->hidden);
    tell(t, DSE_WEIGHTS_ROUTER, e->shared_gate ? 1 : 0, 1, llm->hidden);
    tell_networks(t, DSE_WEIGHTS_SHARED, 1, s, e->shared_ffn, llm->hidden);
    tell(t, DSE_WEIGHTS_SHARED, 1, e->expert_latent, llm->hidden);
    tell(t, DSE_WEIGHTS_SHARED, 1, llm->hidden, e->expert_latent);
    tell_networks(t, DSE_WEIGHTS_EXPERTS, e->experts, s, e->expert_ffn, e->expert_latent ? e->expert_latent : llm->hidden);
}

void dse_llm_each_matrix(const struct dse_llm *llm, dse_llm_matrix_fn *fn, void *arg)
{
    struct told t = {.fn = fn, .arg = arg, .layers = 1};
    tell(&t, DSE_WEIGHTS_TABLES, 1, llm->vocab, llm->hidden);
    tell(&t, DSE_WEIGHTS_TABLES, 1, llm->details.positions, llm->hidden);
    tell(&t, DSE_WEIGHTS_TABLES, 1, llm->inputs.layer_input_vocab, llm->layers * llm->inputs.layer_input);
    tell(&t, DSE_WEIGHTS_HEAD, llm->embedding_tables - 1, llm->vocab, llm->hidden);
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_kind *k = &llm->kinds[i];
        t.layers = k->layers;
        tell_mixer(&t, llm, &k->shape, k->attention);
        tell_mixer(&t, llm, &k->shape, k->beside);
        tell_network(&t, llm, &k->shape, k->feed_forward);
    }
}
