/* The rows of an LLM of the catalog, and what its layers are. */
#include <dse/workload.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const dse_mixer_names[] = {"full",  "window",    "chunk", "latent",  "latent-top-k", "latent-top-k-shared",
                                       "delta", "lightning", "mamba", "mamba-2", "none",         NULL};
_Static_assert(sizeof dse_mixer_names / sizeof *dse_mixer_names == DSE_MIXERS + 1, "every mixer has a name");
const char *const dse_feed_forward_names[] = {"dense", "experts", "none", NULL};
_Static_assert(sizeof dse_feed_forward_names / sizeof *dse_feed_forward_names == DSE_FEED_FORWARDS + 1, "every network has a name");

static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const qk_norms[] = {[DSE_QK_NO_NORM] = "none", [DSE_QK_NORM_HEAD] = "head", [DSE_QK_NORM_FULL] = "full", NULL};

enum { WIDTH_MAX = 1048576, HEADS_MAX = 4096 };

static const struct dse_param details[] = {
    DSE_PARAM_ENUM(struct dse_llm_details, qkv_bias, no_yes, "queries, keys and values have biases", ""),
    DSE_PARAM_ENUM(struct dse_llm_details, output_bias, no_yes, "the output projection has a bias", ""),
    DSE_PARAM_ENUM(struct dse_llm_details, qk_norm, qk_norms, "norms of queries and keys: by head, or over their full width", ""),
    DSE_PARAM_ENUM(struct dse_llm_details, attention_sinks, no_yes, "a learned logit per query head takes part in the softmax", ""),
    DSE_PARAM_ENUM(struct dse_llm_details, output_gate, no_yes, "queries have twice the width; one half gates the output", ""),
    DSE_PARAM_I64(struct dse_llm_details, norms, 1, 2, "norms around a sublayer: before it, or before and after", ""),
    DSE_PARAM_I64(struct dse_llm_details, mtp_layers, 1, 64, "multi-token-prediction layers, not included in any count", ""),
    DSE_PARAM_ENUM(struct dse_llm_details, approximate, no_yes, "imported without some keys that may change a count", ""),
    DSE_PARAM_END,
};

static const struct dse_param latent[] = {
    DSE_PARAM_I64(struct dse_llm_latent, q_rank, 1, WIDTH_MAX,
                  "latent attention: width of the queries' latent; absent: queries have none", ""),
    DSE_PARAM_I64(struct dse_llm_latent, kv_rank, 1, WIDTH_MAX,
                  "latent attention: width of the latent that is cached for keys and values", ""),
    DSE_PARAM_I64(struct dse_llm_latent, nope_dim, 1, WIDTH_MAX, "latent attention: elements of a head's key without positions",
                  ""),
    DSE_PARAM_I64(struct dse_llm_latent, rope_dim, 1, WIDTH_MAX,
                  "latent attention: elements of the key with positions, which all heads share", ""),
    DSE_PARAM_I64(struct dse_llm_latent, v_head_dim, 1, WIDTH_MAX, "latent attention: elements of a head's value", ""),
    DSE_PARAM_I64(struct dse_llm_latent, index_heads, 1, HEADS_MAX, "indexer: heads", ""),
    DSE_PARAM_I64(struct dse_llm_latent, index_dim, 1, WIDTH_MAX, "indexer: elements of a head, and of the key cached per position",
                  ""),
    DSE_PARAM_I64(struct dse_llm_latent, index_topk, 1, 16777216, "indexer: positions that it chooses", ""),
    DSE_PARAM_END,
};

static const struct dse_param experts[] = {
    DSE_PARAM_I64(struct dse_llm_experts, experts, 1, 65536, "routed experts of a layer", ""),
    DSE_PARAM_I64(struct dse_llm_experts, experts_active, 1, 65536, "routed experts that a token uses", ""),
    DSE_PARAM_I64(struct dse_llm_experts, expert_ffn, 1, WIDTH_MAX, "inner width of an expert", ""),
    DSE_PARAM_I64(struct dse_llm_experts, shared_ffn, 1, WIDTH_MAX, "inner width of all shared experts together", ""),
    DSE_PARAM_I64(struct dse_llm_experts, expert_latent, 1, WIDTH_MAX, "input width of the experts, if not the hidden width", ""),
    DSE_PARAM_ENUM(struct dse_llm_experts, shared_gate, no_yes, "the shared experts have a gate", ""),
    DSE_PARAM_ENUM(struct dse_llm_experts, router_bias, no_yes, "the router has a bias", ""),
    DSE_PARAM_ENUM(struct dse_llm_experts, expert_bias, no_yes, "the matrices of an expert have biases", ""),
    DSE_PARAM_END,
};

static const struct dse_param states[] = {
    DSE_PARAM_I64(struct dse_llm_states, state_key_heads, 1, HEADS_MAX, "linear attention: key heads", ""),
    DSE_PARAM_I64(struct dse_llm_states, state_key_dim, 1, WIDTH_MAX, "linear attention: elements of a key", ""),
    DSE_PARAM_I64(struct dse_llm_states, state_value_heads, 1, HEADS_MAX, "linear attention: value heads, each with a state", ""),
    DSE_PARAM_I64(struct dse_llm_states, state_value_dim, 1, WIDTH_MAX, "linear attention: elements of a value", ""),
    DSE_PARAM_I64(struct dse_llm_states, conv_kernel, 2, 64, "taps of the convolution before a recurrence", ""),
    DSE_PARAM_I64(struct dse_llm_states, ssm_inner, 1, WIDTH_MAX, "Mamba: inner width", ""),
    DSE_PARAM_I64(struct dse_llm_states, ssm_heads, 1, HEADS_MAX, "Mamba-2: heads", ""),
    DSE_PARAM_I64(struct dse_llm_states, ssm_state, 1, WIDTH_MAX, "Mamba: elements of state per channel", ""),
    DSE_PARAM_I64(struct dse_llm_states, ssm_groups, 1, HEADS_MAX, "Mamba-2: groups that share B and C", ""),
    DSE_PARAM_I64(struct dse_llm_states, ssm_dt_rank, 1, WIDTH_MAX, "Mamba-1: rank of the step size", ""),
    DSE_PARAM_ENUM(struct dse_llm_states, ssm_norms, no_yes, "Mamba-1: norms of dt, B and C", ""),
    DSE_PARAM_END,
};

const struct dse_param dse_llm_fields[] = {
    DSE_PARAM_I64(struct dse_llm, layers, 1, DSE_PATTERN_MAX, "transformer layers", ""),
    DSE_PARAM_I64(struct dse_llm, hidden, 1, 262144, "width of the residual stream", ""),
    DSE_PARAM_I64_OPTIONAL(struct dse_llm, heads, 1, HEADS_MAX, "query heads", ""),
    DSE_PARAM_I64_OPTIONAL(struct dse_llm, kv_heads, 1, HEADS_MAX, "key and value heads; fewer than heads: grouped-query attention",
                           ""),
    DSE_PARAM_I64_OPTIONAL(struct dse_llm, head_dim, 1, 4096, "elements of one head", ""),
    DSE_PARAM_I64_OPTIONAL(struct dse_llm, ffn, 1, WIDTH_MAX, "inner width of the feed-forward network", ""),
    DSE_PARAM_I64(struct dse_llm, ffn_matrices, 2, 3, "2: up and down; 3: gate, up and down", ""),
    DSE_PARAM_I64(struct dse_llm, vocab, 1, 4194304, "rows of the embedding table", ""),
    DSE_PARAM_I64(struct dse_llm, embedding_tables, 1, 2, "embedding tables; 1: the output head is the input embedding", ""),
    DSE_PARAM_I64(struct dse_llm, max_context, 1, 16777216, "longest context it was trained or extended for", ""),
    DSE_PARAM_I64_OPTIONAL(struct dse_llm, attention_window, 1, 16777216, "positions of an attention window or chunk", ""),
    DSE_PARAM_PATTERN(struct dse_llm, attention, dse_mixer_names,
                      "mixer of each layer, attention or recurrence; a shorter list repeats", ""),
    DSE_PARAM_PATTERN(struct dse_llm, feed_forward, dse_feed_forward_names,
                      "feed-forward network of each layer; a shorter list repeats", ""),
    DSE_PARAM_I64_OPTIONAL(struct dse_llm, dense_layers, 1, DSE_PATTERN_MAX,
                           "first layers with a dense network, whatever feed_forward says", ""),
    DSE_EMBED_OPTIONAL(struct dse_llm, details, struct dse_llm_details, details),
    DSE_EMBED_OPTIONAL(struct dse_llm, latent, struct dse_llm_latent, latent),
    DSE_EMBED_OPTIONAL(struct dse_llm, moe, struct dse_llm_experts, experts),
    DSE_EMBED_OPTIONAL(struct dse_llm, states, struct dse_llm_states, states),
    DSE_PARAM_END,
};

enum dse_mixer dse_llm_mixer(const struct dse_llm *llm, int64_t layer)
{
    if (llm->attention.n > 0) return (enum dse_mixer)llm->attention.at[layer % llm->attention.n];
    return llm->latent.kv_rank > 0 ? DSE_LATENT : DSE_FULL;
}

enum dse_feed_forward dse_llm_feed_forward(const struct dse_llm *llm, int64_t layer)
{
    if (layer < llm->dense_layers) return DSE_FFN_DENSE;
    if (llm->feed_forward.n > 0) return (enum dse_feed_forward)llm->feed_forward.at[layer % llm->feed_forward.n];
    return llm->moe.experts > 0 ? DSE_FFN_EXPERTS : DSE_FFN_DENSE;
}

static void add_layer(struct dse_llm *llm, enum dse_mixer mixer, enum dse_feed_forward ffn)
{
    size_t i = 0;
    while (i < llm->n_kinds && (llm->kinds[i].mixer != mixer || llm->kinds[i].ffn != ffn)) i++;
    if (i == llm->n_kinds) llm->kinds[llm->n_kinds++] = (struct dse_layer_kind){mixer, ffn, 0};
    llm->kinds[i].layers++;
}

static const char *check_cover(const struct dse_llm *llm, const char *name, const struct dse_pattern *p)
{
    static _Thread_local char why[160];
    if (p->n == 0 || llm->layers % p->n == 0) return NULL;
    snprintf(why, sizeof why, "%s has %lld names, which do not cover %lld layers: all of them, or a number that divides it", name,
             (long long)p->n, (long long)llm->layers);
    return why;
}

static const char *check_heads(const struct dse_llm *llm)
{
    if (llm->heads == 0 || llm->kv_heads == 0 || llm->head_dim == 0) return "attention needs heads, kv_heads and head_dim";
    if (llm->kv_heads > llm->heads) return "kv_heads is greater than heads";
    if (llm->heads % llm->kv_heads != 0) return "heads is not a multiple of kv_heads";
    return NULL;
}

/* The first layer that shares the choice of an indexer must find one before it. */
static const char *check_shared(const struct dse_llm *llm)
{
    for (int64_t i = 0; i < llm->layers && dse_llm_mixer(llm, i) != DSE_LATENT_TOPK; i++)
        if (dse_llm_mixer(llm, i) == DSE_LATENT_SHARED) return "latent-top-k-shared needs a layer of latent-top-k before it";
    return NULL;
}

static const char *check_latent(const struct dse_llm *llm, bool top_k)
{
    const struct dse_llm_latent *m = &llm->latent;
    if (llm->heads == 0 || m->kv_rank == 0 || m->nope_dim == 0 || m->rope_dim == 0 || m->v_head_dim == 0)
        return "latent attention needs heads, kv_rank, nope_dim, rope_dim and v_head_dim";
    if (top_k && (m->index_heads == 0 || m->index_dim == 0 || m->index_topk == 0 || m->q_rank == 0))
        return "latent-top-k needs index_heads, index_dim, index_topk and q_rank";
    return NULL;
}

static const char *check_mixer(const struct dse_llm *llm, enum dse_mixer mixer)
{
    const struct dse_llm_states *s = &llm->states;
    const bool linear = s->state_key_dim > 0 && s->state_value_heads > 0 && s->state_value_dim > 0;
    switch (mixer) {
    case DSE_FULL: return check_heads(llm);
    case DSE_WINDOW:
    case DSE_CHUNK:
        return llm->attention_window == 0 ? "attention to a window or a chunk needs attention_window" : check_heads(llm);
    case DSE_LATENT: return check_latent(llm, false);
    case DSE_LATENT_TOPK:
    case DSE_LATENT_SHARED: return check_latent(llm, true);
    case DSE_DELTA:
        return linear && s->state_key_heads > 0 && s->conv_kernel > 0
                   ? NULL
                   : "delta needs state_key_heads, state_key_dim, state_value_heads, state_value_dim and conv_kernel";
    case DSE_LIGHTNING: return linear ? NULL : "lightning needs state_key_dim, state_value_heads and state_value_dim";
    case DSE_MAMBA:
        return s->ssm_inner > 0 && s->ssm_state > 0 && s->ssm_dt_rank > 0 && s->conv_kernel > 0
                   ? NULL
                   : "mamba needs ssm_inner, ssm_state, ssm_dt_rank and conv_kernel";
    case DSE_MAMBA2:
        return s->ssm_inner > 0 && s->ssm_state > 0 && s->ssm_heads > 0 && s->ssm_groups > 0 && s->conv_kernel > 0
                   ? NULL
                   : "mamba-2 needs ssm_inner, ssm_state, ssm_heads, ssm_groups and conv_kernel";
    case DSE_NO_MIXER:
    case DSE_MIXERS: break;
    }
    return NULL;
}

static const char *check_network(const struct dse_llm *llm, enum dse_feed_forward ffn)
{
    const struct dse_llm_experts *e = &llm->moe;
    if (ffn == DSE_FFN_DENSE) return llm->ffn > 0 ? NULL : "a dense feed-forward network needs ffn";
    if (ffn != DSE_FFN_EXPERTS) return NULL;
    if (e->experts == 0 || e->experts_active == 0 || e->expert_ffn == 0)
        return "experts need experts, experts_active and expert_ffn";
    return e->experts_active > e->experts ? "experts_active is greater than experts" : NULL;
}

const char *dse_llm_resolve(struct dse_llm *llm)
{
    const char *why = check_cover(llm, "attention", &llm->attention);
    if (!why) why = check_cover(llm, "feed_forward", &llm->feed_forward);
    if (!why) why = check_shared(llm);
    if (!why && llm->dense_layers > llm->layers) why = "dense_layers is greater than layers";
    llm->n_kinds = 0;
    for (int64_t i = 0; !why && i < llm->layers; i++) add_layer(llm, dse_llm_mixer(llm, i), dse_llm_feed_forward(llm, i));
    for (size_t i = 0; !why && i < llm->n_kinds; i++) {
        const struct dse_layer_kind *k = &llm->kinds[i];
        why = check_mixer(llm, k->mixer);
        if (!why) why = check_network(llm, k->ffn);
        if (!why && k->mixer == DSE_NO_MIXER && k->ffn == DSE_NO_FFN)
            why = "a layer has neither a mixer nor a feed-forward network";
    }
    return why;
}

const char *dse_llm_unlike_plain(const struct dse_llm *llm)
{
    return dse_llm_is_plain(llm) ? NULL
                                 : "this model needs an LLM with full attention and dense networks in every layer, "
                                   "unless its TOML says can = [\"layers\"] (llm)";
}

#define NOT_CARRIED "; full attention's quality does not apply (llm)"
static const char *const unlike_measured[DSE_MIXERS] = {
    [DSE_WINDOW] = "quality was not measured with windowed attention" NOT_CARRIED,
    [DSE_CHUNK] = "quality was not measured with chunked attention" NOT_CARRIED,
    [DSE_LATENT] = "quality was not measured with latent attention" NOT_CARRIED,
    [DSE_LATENT_TOPK] = "quality was not measured with an indexer" NOT_CARRIED,
    [DSE_LATENT_SHARED] = "quality was not measured with an indexer" NOT_CARRIED,
    [DSE_DELTA] = "quality was not measured with recurrent layers" NOT_CARRIED,
    [DSE_LIGHTNING] = "quality was not measured with recurrent layers" NOT_CARRIED,
    [DSE_MAMBA] = "quality was not measured with recurrent layers" NOT_CARRIED,
    [DSE_MAMBA2] = "quality was not measured with recurrent layers" NOT_CARRIED,
};

const char *dse_llm_unlike_measured(const struct dse_llm *llm)
{
    for (size_t i = 0; i < llm->n_kinds; i++)
        if (unlike_measured[llm->kinds[i].mixer]) return unlike_measured[llm->kinds[i].mixer];
    return NULL;
}

bool dse_llm_is_plain(const struct dse_llm *llm)
{
    return llm->n_kinds == 1 && llm->kinds[0].mixer == DSE_FULL && llm->kinds[0].ffn == DSE_FFN_DENSE && !llm->details.output_gate;
}
