/* What kinds of layers have in common, asked by the files that count and expand them. */
#ifndef DSE_WORKLOAD_LLM_H
#define DSE_WORKLOAD_LLM_H

#include <dse/catalog.h>
#include <dse/workload.h>

/* Attention with keys and values of its own for each position: full, window, chunk, and over what an indexer chooses. */
static inline bool llm_is_grouped(int32_t mixer)
{
    return mixer == DSE_FULL || mixer == DSE_WINDOW || mixer == DSE_CHUNK || mixer == DSE_FULL_TOPK;
}

/* Has the layer an indexer of its own? */
static inline bool llm_has_indexer(const struct dse_layer_kind *k)
{
    return k->attention == DSE_LATENT_TOPK || k->attention == DSE_FULL_TOPK ||
           (k->attention == DSE_COMPRESSED && k->shape.latent.index_topk > 0);
}

static inline bool llm_is_recurrent(int32_t mixer)
{
    return mixer == DSE_DELTA || mixer == DSE_KDA || mixer == DSE_LIGHTNING || mixer == DSE_MAMBA || mixer == DSE_MAMBA2 ||
           mixer == DSE_CONVOLUTION;
}

/* The recurrence of a kind, whether it is all that mixes or stands beside attention; DSE_NO_MIXER: none. */
static inline int32_t llm_recurrence(const struct dse_layer_kind *k)
{
    return llm_is_recurrent(k->attention) ? k->attention : k->beside;
}

static inline int64_t llm_value_dim(const struct dse_layer_shape *s)
{
    return s->value_dim > 0 ? s->value_dim : s->head_dim;
}

/* Columns that gate the output of `heads` query heads. */
static inline int64_t llm_gate(const struct dse_layer_shape *s, int64_t heads)
{
    return s->details.output_gate == DSE_NO_GATE ? 0 : s->details.output_gate == DSE_GATE_HEAD ? heads : heads * llm_value_dim(s);
}

/* The same of latent attention, whose values have a width of their own. */
static inline int64_t llm_latent_gate(const struct dse_layer_shape *s, int64_t heads)
{
    return s->details.output_gate == DSE_GATE_ELEMENT ? heads * s->latent.v_head_dim : llm_gate(s, heads);
}

/* What the router chooses among. */
static inline int64_t llm_routes(const struct dse_llm_experts *e)
{
    return e->experts + e->zero_experts;
}

/* Kimi delta attention: columns made of the hidden state at once, which end in the low rank of decays and gate; and those made of
 * that rank. Of `heads` heads. */
static inline int64_t llm_kda_projected(const struct dse_llm_states *s, int64_t heads)
{
    const int64_t values = heads * s->state_value_dim, keys = heads * s->state_key_dim;
    return 2 * keys + values + heads + (s->state_full_decay ? keys : s->state_value_dim) +
           (s->state_full_gate ? values : s->state_value_dim);
}
static inline int64_t llm_kda_raised(const struct dse_llm_states *s, int64_t heads)
{
    return (s->state_full_decay ? 0 : heads * s->state_key_dim) + (s->state_full_gate ? 0 : heads * s->state_value_dim);
}

/* Entries that n positions have become, of compressed attention: one that is being filled counts. */
static inline int64_t llm_compressed(const struct dse_layer_shape *s, int64_t n)
{
    const int64_t ratio = s->compression.compress_ratio;
    return ratio == 0 ? 0 : n < ratio ? 1 : n / ratio;
}
/* Of these, what a query at position n sees. */
static inline int64_t llm_compressed_seen(const struct dse_layer_shape *s, int64_t n)
{
    const int64_t all = llm_compressed(s, n), most = s->latent.index_topk;
    return most > 0 && most < all ? most : all;
}
/* Parameters of a hyper-connection that are a matrix: of all streams to how they are mixed. */
static inline int64_t llm_mixing(int64_t streams)
{
    return (2 + streams) * streams;
}

static inline struct dse_choice llm_choice(const struct dse_layer_shape *s)
{
    return (struct dse_choice){s->moe.experts, s->moe.experts_active};
}
/* What goes into an expert and comes out of it. */
static inline int64_t llm_expert_width(const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    return s->moe.expert_latent > 0 ? s->moe.expert_latent : llm->hidden;
}

/* Weights of one expert, its biases among them. */
static inline int64_t llm_expert_biases(const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    return s->moe.expert_bias ? (s->ffn_matrices - 1) * s->moe.expert_ffn + llm_expert_width(llm, s) : 0;
}
static inline int64_t llm_expert_elements(const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    return s->ffn_matrices * llm_expert_width(llm, s) * s->moe.expert_ffn + llm_expert_biases(llm, s);
}

/* Positions that a query sees at most; 0: all of them. */
static inline int64_t llm_reach(const struct dse_layer_kind *k)
{
    if (k->attention == DSE_WINDOW || k->attention == DSE_CHUNK || k->attention == DSE_COMPRESSED) return k->shape.attention_window;
    return llm_has_indexer(k) || k->attention == DSE_LATENT_SHARED ? k->shape.latent.index_topk : 0;
}

/* Entries among which an indexer chooses. */
static inline int64_t llm_indexed(const struct dse_layer_kind *k, int64_t context)
{
    return k->attention == DSE_COMPRESSED ? llm_compressed(&k->shape, context) : context;
}

/* Find the first kind that each is like: same_heads to same_shared (llm_same.c). */
void llm_find_same(struct dse_llm *llm);

/* Make the kinds of layers, where the entry has none of its own, and count the layers of each. */
void llm_count_layers(struct dse_llm *llm);

extern const struct dse_param llm_format_fields[]; /* of struct dse_class_bits */
/* NULL, or why no weights are held so. */
const char *class_bits_fault(const struct dse_class_bits *b);

/* ---- chips that share a layer ------------------------------------------------------------------------------------------------ */

static inline bool llm_divides(int64_t part, int64_t whole)
{
    return part == 0 || whole % part == 0;
}

/* Keys and values are shared evenly, or copied. */
static inline bool llm_shares_keys(const struct dse_layer_shape *s, int64_t tensor)
{
    return s->kv_heads == 0 || llm_divides(tensor, s->kv_heads) || llm_divides(s->kv_heads, tensor);
}

static inline bool llm_shares_states(const struct dse_layer_shape *s, int64_t tensor)
{
    const struct dse_llm_states *of = &s->states;
    return llm_divides(tensor, of->state_value_heads) && llm_divides(tensor, of->ssm_heads) && llm_divides(tensor, of->ssm_inner);
}

#endif
