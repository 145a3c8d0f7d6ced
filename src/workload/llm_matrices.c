/* The matrices of an LLM one by one, as the files of transformers have them. llm_counts.c has their sums, in which some stand
 * together. */
#include "workload/llm.h"

#include <dse/llm.h>

/* Who is told, and the kind of layers that have what is told. */
struct told {
    dse_llm_matrix_fn *fn;
    void *arg;
    int kind;
};

static void tell(const struct told *t, enum dse_weight_class class, const char *part, int64_t times, int64_t rows, int64_t columns)
{
    const struct dse_llm_matrix m = {
        .class = class, .part = part, .kind = t->kind, .rows = rows, .columns = columns, .times = times};
    if (times > 0 && rows > 0 && columns > 0) t->fn(t->arg, &m);
}

static void tell_attention(const struct told *t, const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    const int64_t values = llm_value_dim(s), own = s->cache.shares_cache && !s->cache.idle_keys ? 0 : s->kv_heads;
    const int64_t gate = llm_gate(s, s->heads), apart = s->details.output_gate == DSE_GATE_HEAD ? gate : 0;
    tell(t, DSE_WEIGHTS_ATTENTION, "q_proj", 1, s->heads * s->head_dim + gate - apart, llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, "g_proj", 1, apart, llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, "k_proj", 1, own * s->head_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, "v_proj", 1, s->cache.values_from_keys ? 0 : own * values, llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, "o_proj", 1, llm->hidden, s->heads * values);
}

/* Queries of the hidden state, and one key. */
static void tell_indexer(const struct told *t, const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    tell(t, DSE_WEIGHTS_INDEXER, "q_proj", 1, s->latent.index_heads * s->latent.index_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_INDEXER, "k_proj", 1, s->latent.index_dim, llm->hidden);
}

/* The same of a rank of the queries, and weights of the heads. */
static void tell_latent_indexer(const struct told *t, const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    tell(t, DSE_WEIGHTS_INDEXER, "wq_b", 1, s->latent.index_heads * s->latent.index_dim, s->latent.q_rank);
    tell(t, DSE_WEIGHTS_INDEXER, "wk", 1, s->latent.index_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_INDEXER, "weights_proj", 1, s->latent.index_heads, llm->hidden);
}

static void tell_latent(const struct told *t, const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    const struct dse_llm_latent *m = &s->latent;
    tell(t, DSE_WEIGHTS_ATTENTION, "q_a_proj", 1, m->q_rank, llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, m->q_rank ? "q_b_proj" : "q_proj", 1, s->heads * (m->nope_dim + m->rope_dim),
         m->q_rank ? m->q_rank : llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, "kv_a_proj", 1, m->kv_rank + m->rope_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, "kv_b_proj", 1, s->heads * (m->nope_dim + m->v_head_dim), m->kv_rank);
    tell(t, DSE_WEIGHTS_ATTENTION, "g_proj", s->details.output_gate ? 1 : 0, llm_latent_gate(s, s->heads), llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, "o_proj", 1, llm->hidden, s->heads * m->v_head_dim);
}

static void tell_compressed(const struct told *t, const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    const struct dse_llm_latent *m = &s->latent;
    const struct dse_llm_compression *c = &s->compression;
    const int64_t q = s->heads * s->head_dim, out = c->output_groups * c->output_rank, mixes = c->compress_ratio > 0 ? 2 : 0;
    tell(t, DSE_WEIGHTS_ATTENTION, "wq_a", 1, m->q_rank, llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, "wq_b", 1, q, m->q_rank);
    tell(t, DSE_WEIGHTS_ATTENTION, "wkv", 1, s->head_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_ATTENTION, "wo_a", 1, out, c->output_groups > 0 ? q / c->output_groups : 0);
    tell(t, DSE_WEIGHTS_ATTENTION, "wo_b", 1, llm->hidden, out);
    tell(t, DSE_WEIGHTS_ATTENTION, "compressor", mixes, c->compress_width * s->head_dim, llm->hidden);
    if (m->index_topk == 0) return;
    tell(t, DSE_WEIGHTS_INDEXER, "compressor", 2, c->compress_width * m->index_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_INDEXER, "weights_proj", 1, m->index_heads, llm->hidden);
    tell(t, DSE_WEIGHTS_INDEXER, "wq_b", 1, m->index_heads * m->index_dim, m->q_rank);
}

/* Queries and keys with values, their gate, a rate and a decay of each head; the output. */
static void tell_delta(const struct told *t, const struct dse_llm *llm, const struct dse_llm_states *s)
{
    const int64_t keys = s->state_key_heads * s->state_key_dim, values = s->state_value_heads * s->state_value_dim;
    tell(t, DSE_WEIGHTS_RECURRENT, "in_proj_qkv", 1, 2 * keys + values, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, "in_proj_z", 1, values, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, "in_proj_b", 1, s->state_value_heads, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, "in_proj_a", 1, s->state_value_heads, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, "out_proj", 1, llm->hidden, values);
}

/* Queries and keys, values, rates; decays by a rank of a head's width, the gate likewise or at once; the output. */
static void tell_kda(const struct told *t, const struct dse_llm *llm, const struct dse_llm_states *s)
{
    const int64_t keys = s->state_value_heads * s->state_key_dim, values = s->state_value_heads * s->state_value_dim;
    tell(t, DSE_WEIGHTS_RECURRENT, "q_proj", 1, keys, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, "k_proj", 1, keys, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, "v_proj", 1, values, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, "g_proj", s->state_full_gate ? 1 : 0, values, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, "b_proj", 1, s->state_value_heads, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, "f_proj", s->state_full_decay ? 1 : 0, keys, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, "f_a_proj", s->state_full_decay ? 0 : 1, s->state_value_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, "g_a_proj", s->state_full_gate ? 0 : 1, s->state_value_dim, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, "f_b_proj", s->state_full_decay ? 0 : 1, keys, s->state_value_dim);
    tell(t, DSE_WEIGHTS_RECURRENT, "g_b_proj", s->state_full_gate ? 0 : 1, values, s->state_value_dim);
    tell(t, DSE_WEIGHTS_RECURRENT, "o_proj", 1, llm->hidden, values);
}

static void tell_mamba(const struct told *t, const struct dse_llm *llm, const struct dse_llm_states *s)
{
    tell(t, DSE_WEIGHTS_RECURRENT, "in_proj", 1, 2 * s->ssm_inner, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, "x_proj", 1, s->ssm_dt_rank + 2 * s->ssm_state, s->ssm_inner);
    tell(t, DSE_WEIGHTS_RECURRENT, "dt_proj", 1, s->ssm_inner, s->ssm_dt_rank);
    tell(t, DSE_WEIGHTS_RECURRENT, "out_proj", 1, llm->hidden, s->ssm_inner);
}

/* One matrix for all inputs of a recurrence, one for its output. */
static void tell_pair(const struct told *t, const struct dse_llm *llm, int64_t times, int64_t inputs, int64_t output)
{
    tell(t, DSE_WEIGHTS_RECURRENT, "in_proj", times, inputs, llm->hidden);
    tell(t, DSE_WEIGHTS_RECURRENT, "out_proj", 1, llm->hidden, output);
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
    tell(t, class, "gate_proj", s->ffn_matrices > 2 ? n : 0, inner, width);
    tell(t, class, "up_proj", n, inner, width);
    tell(t, class, "down_proj", n, width, inner);
}

static void tell_network(const struct told *t, const struct dse_llm *llm, const struct dse_layer_shape *s, int32_t feed_forward)
{
    const struct dse_llm_experts *e = &s->moe;
    if (feed_forward == DSE_FFN_DENSE) tell_networks(t, DSE_WEIGHTS_DENSE, 1, s, s->ffn, llm->hidden);
    if (feed_forward != DSE_FFN_EXPERTS) return;
    tell(t, DSE_WEIGHTS_ROUTER, "gate", 1, llm_routes(e), llm->hidden);
    tell(t, DSE_WEIGHTS_ROUTER, "shared_expert_gate", e->shared_gate ? 1 : 0, 1, llm->hidden);
    tell_networks(t, DSE_WEIGHTS_SHARED, 1, s, e->shared_ffn, llm->hidden);
    tell(t, DSE_WEIGHTS_SHARED, "latent_in", 1, e->expert_latent, llm->hidden);
    tell(t, DSE_WEIGHTS_SHARED, "latent_out", 1, llm->hidden, e->expert_latent);
    tell_networks(t, DSE_WEIGHTS_EXPERTS, e->experts, s, e->expert_ffn, e->expert_latent ? e->expert_latent : llm->hidden);
}

void dse_llm_each_matrix(const struct dse_llm *llm, dse_llm_matrix_fn *fn, void *arg)
{
    struct told t = {.fn = fn, .arg = arg, .kind = -1};
    tell(&t, DSE_WEIGHTS_TABLES, "embed_tokens", 1, llm->vocab, llm->hidden);
    tell(&t, DSE_WEIGHTS_TABLES, "positions", 1, llm->details.positions, llm->hidden);
    tell(&t, DSE_WEIGHTS_TABLES, "embed_tokens_per_layer", 1, llm->inputs.layer_input_vocab, llm->layers * llm->inputs.layer_input);
    tell(&t, DSE_WEIGHTS_HEAD, "lm_head", llm->embedding_tables - 1, llm->vocab, llm->hidden);
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_kind *k = &llm->kinds[i];
        t.kind = (int)i;
        tell_mixer(&t, llm, &k->shape, k->attention);
        tell_mixer(&t, llm, &k->shape, k->beside);
        tell_network(&t, llm, &k->shape, k->feed_forward);
    }
}
