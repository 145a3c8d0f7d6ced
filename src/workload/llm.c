/* The rows of an LLM of the catalog, and what its layers are. */
#include "workload/llm.h"

#include "desc/schema.h"

#include <dse/llm.h>
#include <dse/workload.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const dse_mixer_names[] = {
    "full",       "window", "chunk", "full-top-k", "latent", "latent-top-k", "latent-top-k-shared",
    "compressed", "delta",  "kda",   "lightning",  "mamba",  "mamba-2",      "convolution",
    "none",       NULL};
_Static_assert(sizeof dse_mixer_names / sizeof *dse_mixer_names == DSE_MIXERS + 1, "every mixer has a name");
const char *const dse_feed_forward_names[] = {"dense", "experts", "none", NULL};
_Static_assert(sizeof dse_feed_forward_names / sizeof *dse_feed_forward_names == DSE_FEED_FORWARDS + 1, "every network has a name");

static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const output_gates[] = {[DSE_NO_GATE] = "no", [DSE_GATE_ELEMENT] = "yes", [DSE_GATE_HEAD] = "head", NULL};
static const char *const qk_norms[] = {
    [DSE_QK_NO_NORM] = "none", [DSE_QK_NORM_HEAD] = "head", [DSE_QK_NORM_FULL] = "full", [DSE_QK_NORM_SHIFT] = "shift", NULL};

enum { WIDTH_MAX = 1048576, HEADS_MAX = 4096 };

static const struct dse_param details[] = {
    DSE_PARAM_ENUM(struct dse_llm_details, qkv_bias, no_yes, "queries, keys and values have biases", ""),
    DSE_PARAM_ENUM(struct dse_llm_details, output_bias, no_yes, "the output projection has a bias", ""),
    DSE_PARAM_ENUM(struct dse_llm_details, qk_norm, qk_norms,
                   "norms of queries and keys: by head, over their full width, or by head with a shift", ""),
    DSE_PARAM_ENUM(struct dse_llm_details, attention_sinks, no_yes, "a learned logit per query head takes part in the softmax", ""),
    DSE_PARAM_ENUM(struct dse_llm_details, output_gate, output_gates,
                   "gate of the output: a column for each element (yes), or for each head", ""),
    DSE_PARAM_ENUM(struct dse_llm_details, network_bias, no_yes, "matrices of the dense network have biases", ""),
    DSE_PARAM_I64(struct dse_llm_details, norms, 1, 2, "norms around a sublayer: before it, or before and after", ""),
    DSE_PARAM_ENUM(struct dse_llm_details, norm_bias, no_yes, "norms have a shift beside their scale", ""),
    DSE_PARAM_ENUM(struct dse_llm_details, plain_norms, no_yes, "norms have no weights", ""),
    DSE_PARAM_ENUM(struct dse_llm_details, shared_norm, no_yes, "attention and network share one norm of their input", ""),
    DSE_PARAM_END,
};

static const struct dse_param of_checkpoint[] = {
    DSE_PARAM_ENUM(struct dse_llm_details, head_bias, no_yes, "the output head has a bias", ""),
    DSE_PARAM_ENUM(struct dse_llm_details, embedding_norm, no_yes, "a norm behind the embedding", ""),
    DSE_PARAM_I64(struct dse_llm_details, positions, 1, 16777216, "rows of the table of learned positions", ""),
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

static const struct dse_param cache[] = {
    DSE_PARAM_ENUM(struct dse_layer_cache, values_from_keys, no_yes, "values are made of the projected keys, without a matrix", ""),
    DSE_PARAM_ENUM(struct dse_layer_cache, shares_cache, no_yes, "keys and values are those of a layer before it", ""),
    DSE_PARAM_ENUM(struct dse_layer_cache, idle_keys, no_yes, "where they are: its own matrices for them are held, and not used",
                   ""),
    DSE_PARAM_END,
};

static const struct dse_param compression[] = {
    DSE_PARAM_I64(struct dse_llm_compression, compress_ratio, 2, 65536, "compressed attention: positions that become one", ""),
    DSE_PARAM_I64(struct dse_llm_compression, compress_width, 1, 2, "compressed attention: 2 where blocks overlap", ""),
    DSE_PARAM_I64(struct dse_llm_compression, output_groups, 1, HEADS_MAX, "compressed attention: groups of heads of the output",
                  ""),
    DSE_PARAM_I64(struct dse_llm_compression, output_rank, 1, WIDTH_MAX, "compressed attention: rank of a group's output", ""),
    DSE_PARAM_END,
};

static const struct dse_param experts[] = {
    DSE_PARAM_I64(struct dse_llm_experts, experts, 1, 65536, "routed experts of a layer", ""),
    DSE_PARAM_I64(struct dse_llm_experts, experts_active, 1, 65536, "routed experts that a token uses", ""),
    DSE_PARAM_I64(struct dse_llm_experts, expert_ffn, 1, WIDTH_MAX, "inner width of an expert", ""),
    DSE_PARAM_I64(struct dse_llm_experts, shared_ffn, 1, WIDTH_MAX, "inner width of all shared experts together", ""),
    DSE_PARAM_I64(struct dse_llm_experts, expert_latent, 1, WIDTH_MAX, "input width of the experts, if not the hidden width", ""),
    DSE_PARAM_I64(struct dse_llm_experts, zero_experts, 1, 65536, "experts that do nothing, among which the router chooses, too",
                  ""),
    DSE_PARAM_I64(struct dse_llm_experts, expert_norms, 1, 8, "norms of hidden width around the experts alone", ""),
    DSE_PARAM_ENUM(struct dse_llm_experts, shared_gate, no_yes, "the shared experts have a gate", ""),
    DSE_PARAM_ENUM(struct dse_llm_experts, router_bias, no_yes, "the router has a bias", ""),
    DSE_PARAM_ENUM(struct dse_llm_experts, latent_norm, no_yes, "what experts with expert_latent give has a norm", ""),
    DSE_PARAM_ENUM(struct dse_llm_experts, expert_bias, no_yes, "the matrices of an expert have biases", ""),
    DSE_PARAM_END,
};

static const struct dse_param states[] = {
    DSE_PARAM_I64(struct dse_llm_states, state_key_heads, 1, HEADS_MAX, "linear attention: key heads", ""),
    DSE_PARAM_I64(struct dse_llm_states, state_key_dim, 1, WIDTH_MAX, "linear attention: elements of a key", ""),
    DSE_PARAM_I64(struct dse_llm_states, state_value_heads, 1, HEADS_MAX, "linear attention: value heads, each with a state", ""),
    DSE_PARAM_I64(struct dse_llm_states, state_value_dim, 1, WIDTH_MAX, "linear attention: elements of a value", ""),
    DSE_PARAM_ENUM(struct dse_llm_states, state_full_gate, no_yes, "kda: the output gate is one matrix", ""),
    DSE_PARAM_ENUM(struct dse_llm_states, state_full_decay, no_yes, "kda: the decays are one matrix", ""),
    DSE_PARAM_I64(struct dse_llm_states, conv_kernel, 2, 64, "taps of the short convolution", ""),
    DSE_PARAM_I64(struct dse_llm_states, ssm_inner, 1, WIDTH_MAX, "Mamba: inner width", ""),
    DSE_PARAM_I64(struct dse_llm_states, ssm_heads, 1, HEADS_MAX, "Mamba-2: heads", ""),
    DSE_PARAM_I64(struct dse_llm_states, ssm_state, 1, WIDTH_MAX, "Mamba: elements of state per channel", ""),
    DSE_PARAM_I64(struct dse_llm_states, ssm_groups, 1, HEADS_MAX, "Mamba-2: groups that share B and C", ""),
    DSE_PARAM_I64(struct dse_llm_states, ssm_dt_rank, 1, WIDTH_MAX, "Mamba-1: rank of the step size", ""),
    DSE_PARAM_ENUM(struct dse_llm_states, ssm_norms, no_yes, "Mamba-1: norms of dt, B and C", ""),
    DSE_PARAM_ENUM(struct dse_llm_states, ssm_plain, no_yes, "Mamba-2: no norm of its output", ""),
    DSE_PARAM_END,
};

static const struct dse_param inputs[] = {
    DSE_PARAM_I64(struct dse_llm_layer_inputs, layer_input, 1, WIDTH_MAX, "width of each layer's own input by token", ""),
    DSE_PARAM_I64(struct dse_llm_layer_inputs, layer_input_vocab, 1, 4194304, "rows of the table of the layers' own inputs", ""),
    DSE_PARAM_END,
};

static const struct dse_param residual[] = {
    DSE_PARAM_I64(struct dse_llm_residual, residual_streams, 2, 64, "streams of the residual", ""),
    DSE_PARAM_ENUM(struct dse_llm_residual, altup, no_yes, "AltUp mixes them, not hyper-connections", ""),
    DSE_PARAM_I64(struct dse_llm_residual, residual_block, 1, DSE_PATTERN_MAX,
                  "layers of a block, of which later sublayers weigh the sums (attention residuals)", ""),
    DSE_PARAM_I64(struct dse_llm_residual, residual_rank, 1, WIDTH_MAX, "rank of two matrices beside attention (LAuReL)", ""),
    DSE_PARAM_END,
};

static const struct dse_param seeing[] = {
    DSE_PARAM_I64(struct dse_llm_seeing, cross_layers, 1, DSE_PATTERN_MAX,
                  "layers of cross attention beside `layers`, which decoding a text without images skips", ""),
    DSE_PARAM_I64(struct dse_llm_seeing, input_rows, 1, 65536, "rows of the input embedding that the output head does not have",
                  ""),
    DSE_PARAM_END,
};

static const struct dse_param shape[] = {
    DSE_PARAM_I64_OPTIONAL(struct dse_layer_shape, heads, 1, HEADS_MAX, "query heads", ""),
    DSE_PARAM_I64_OPTIONAL(struct dse_layer_shape, kv_heads, 1, HEADS_MAX,
                           "key and value heads; fewer than heads: grouped-query attention", ""),
    DSE_PARAM_I64_OPTIONAL(struct dse_layer_shape, head_dim, 1, 4096, "elements of one head", ""),
    DSE_PARAM_I64_OPTIONAL(struct dse_layer_shape, value_dim, 1, 4096, "elements of one head's value; absent: head_dim", ""),
    DSE_PARAM_I64_OPTIONAL(struct dse_layer_shape, ffn, 1, WIDTH_MAX, "inner width of the feed-forward network", ""),
    DSE_PARAM_I64(struct dse_layer_shape, ffn_matrices, 2, 3, "2: up and down; 3: gate, up and down", ""),
    DSE_PARAM_I64_OPTIONAL(struct dse_layer_shape, attention_window, 1, 16777216, "positions of an attention window or chunk", ""),
    DSE_EMBED_OPTIONAL(struct dse_layer_shape, cache, struct dse_layer_cache, cache),
    DSE_EMBED_OPTIONAL(struct dse_layer_shape, details, struct dse_llm_details, details),
    DSE_EMBED_OPTIONAL(struct dse_layer_shape, latent, struct dse_llm_latent, latent),
    DSE_EMBED_OPTIONAL(struct dse_layer_shape, compression, struct dse_llm_compression, compression),
    DSE_EMBED_OPTIONAL(struct dse_layer_shape, moe, struct dse_llm_experts, experts),
    DSE_EMBED_OPTIONAL(struct dse_layer_shape, states, struct dse_llm_states, states),
    DSE_PARAM_END,
};

const struct dse_param dse_llm_fields[] = {
    DSE_PARAM_I64(struct dse_llm, layers, 1, DSE_PATTERN_MAX, "transformer layers", ""),
    DSE_PARAM_I64(struct dse_llm, hidden, 1, 262144, "width of the residual stream", ""),
    DSE_EMBED(struct dse_llm, shape, struct dse_layer_shape, shape),
    DSE_EMBED_OPTIONAL(struct dse_llm, inputs, struct dse_llm_layer_inputs, inputs),
    DSE_EMBED_OPTIONAL(struct dse_llm, residual, struct dse_llm_residual, residual),
    DSE_EMBED_OPTIONAL(struct dse_llm, seeing, struct dse_llm_seeing, seeing),
    DSE_PARAM_I64(struct dse_llm, vocab, 1, 4194304, "rows of the embedding table", ""),
    DSE_PARAM_I64(struct dse_llm, embedding_tables, 1, 2, "embedding tables; 1: the output head is the input embedding", ""),
    DSE_PARAM_I64(struct dse_llm, max_context, 1, 16777216, "longest context it was trained or extended for", ""),
    DSE_PARAM_PATTERN(struct dse_llm, attention, dse_mixer_names,
                      "mixer of each layer, attention or recurrence; a shorter list repeats", ""),
    DSE_PARAM_PATTERN(struct dse_llm, feed_forward, dse_feed_forward_names,
                      "feed-forward network of each layer; a shorter list repeats", ""),
    DSE_PARAM_I64_OPTIONAL(struct dse_llm, dense_layers, 1, DSE_PATTERN_MAX,
                           "first layers with a dense network, whatever feed_forward says", ""),
    DSE_EMBED_OPTIONAL(struct dse_llm, details, struct dse_llm_details, of_checkpoint),
    DSE_EMBED_OPTIONAL(struct dse_llm, formats, struct dse_class_bits, llm_format_fields),
    DSE_PARAM_END,
};

const struct dse_param dse_layer_kind_fields[] = {
    DSE_PARAM_ENUM(struct dse_layer_kind, attention, dse_mixer_names, "mixer of these layers, attention or recurrence", ""),
    DSE_PARAM_ENUM(struct dse_layer_kind, beside, dse_mixer_names, "recurrence beside attention, on the same input", ""),
    DSE_PARAM_ENUM(struct dse_layer_kind, feed_forward, dse_feed_forward_names, "feed-forward network of these layers", ""),
    DSE_EMBED(struct dse_layer_kind, shape, struct dse_layer_shape, shape),
    DSE_PARAM_END,
};

/* ---- kinds ------------------------------------------------------------------------------------------------------------------ */

static int32_t mixer_of(const struct dse_llm *llm, int64_t layer)
{
    if (llm->attention.n > 0) return llm->attention.at[layer % llm->attention.n];
    return llm->latent.kv_rank > 0 ? DSE_LATENT : DSE_FULL;
}

static int32_t network_of(const struct dse_llm *llm, int64_t layer)
{
    if (layer < llm->dense_layers) return DSE_FFN_DENSE;
    if (llm->feed_forward.n > 0) return llm->feed_forward.at[layer % llm->feed_forward.n];
    return llm->moe.experts > 0 ? DSE_FFN_EXPERTS : DSE_FFN_DENSE;
}

/* The kind of a layer that is made of the patterns; n_kinds: there is none yet. */
static size_t made_kind(const struct dse_llm *llm, int64_t layer)
{
    const int32_t mixer = mixer_of(llm, layer), network = network_of(llm, layer);
    size_t i = 0;
    while (i < llm->n_kinds && (llm->kinds[i].attention != mixer || llm->kinds[i].feed_forward != network)) i++;
    return i;
}

static size_t kind_of(const struct dse_llm *llm, int64_t layer)
{
    return llm->layer_kinds.n > 0 ? llm->layer_kinds.at[layer % llm->layer_kinds.n] : made_kind(llm, layer);
}

const struct dse_layer_kind *dse_llm_layer(const struct dse_llm *llm, int64_t layer)
{
    return &llm->kinds[kind_of(llm, layer)];
}

/* The field of the LLM that a field of a kind follows, or a field without a name. */
static struct field followed(const struct field *f)
{
    struct field of_llm = *f;
    const size_t begin = offsetof(struct dse_layer_kind, shape);
    if (f->offset < begin) return (struct field){0};
    of_llm.offset = f->offset - begin + offsetof(struct dse_llm, shape);
    return of_llm;
}

/* What a kind does not say is that of the LLM. */
static void follow_llm(struct dse_llm *llm)
{
    struct schema fields;
    schema_init_params(&fields, dse_layer_kind_fields);
    for (size_t k = 0; k < llm->n_kinds; k++)
        for (size_t i = 0; i < fields.n; i++) {
            const struct field *f = &fields.fields[i], of_llm = followed(f);
            if (!(llm->kinds[k].own >> i & 1) && of_llm.name) field_set(f, &llm->kinds[k], field_get(&of_llm, llm));
        }
    schema_release(&fields);
}

void llm_count_layers(struct dse_llm *llm)
{
    if (llm->layer_kinds.n == 0) llm->n_kinds = 0;
    if (llm->n_kinds > 0) follow_llm(llm);
    for (size_t i = 0; i < llm->n_kinds; i++) llm->kinds[i].layers = 0;
    for (int64_t i = 0; i < llm->layers; i++) {
        const size_t k = kind_of(llm, i);
        if (k == llm->n_kinds)
            llm->kinds[llm->n_kinds++] = (struct dse_layer_kind){
                .attention = mixer_of(llm, i), .beside = DSE_NO_MIXER, .feed_forward = network_of(llm, i), .shape = llm->shape};
        llm->kinds[k].layers++;
    }
}

int64_t dse_llm_fewest_experts(const struct dse_llm *llm)
{
    int64_t fewest = 0;
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const int64_t here = llm->kinds[i].feed_forward == DSE_FFN_EXPERTS ? llm->kinds[i].shape.moe.experts : 0;
        if (here > 0 && (fewest == 0 || here < fewest)) fewest = here;
    }
    return fewest;
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
    [DSE_FULL_TOPK] = "quality was not measured with an indexer" NOT_CARRIED,
    [DSE_LATENT] = "quality was not measured with latent attention" NOT_CARRIED,
    [DSE_LATENT_TOPK] = "quality was not measured with an indexer" NOT_CARRIED,
    [DSE_LATENT_SHARED] = "quality was not measured with an indexer" NOT_CARRIED,
    [DSE_COMPRESSED] = "quality was not measured with compressed attention" NOT_CARRIED,
    [DSE_DELTA] = "quality was not measured with recurrent layers" NOT_CARRIED,
    [DSE_KDA] = "quality was not measured with recurrent layers" NOT_CARRIED,
    [DSE_LIGHTNING] = "quality was not measured with recurrent layers" NOT_CARRIED,
    [DSE_MAMBA] = "quality was not measured with recurrent layers" NOT_CARRIED,
    [DSE_CONVOLUTION] = "quality was not measured with convolutions" NOT_CARRIED,
    [DSE_MAMBA2] = "quality was not measured with recurrent layers" NOT_CARRIED,
};

const char *dse_llm_unlike_measured(const struct dse_llm *llm)
{
    for (size_t i = 0; i < llm->n_kinds; i++)
        if (unlike_measured[llm->kinds[i].attention]) return unlike_measured[llm->kinds[i].attention];
    for (size_t i = 0; i < llm->n_kinds; i++)
        if (llm->kinds[i].beside != DSE_NO_MIXER) return unlike_measured[llm->kinds[i].beside];
    return NULL;
}

bool dse_llm_is_plain(const struct dse_llm *llm)
{
    const struct dse_layer_kind *k = &llm->kinds[0];
    return llm->n_kinds == 1 && llm->layer_kinds.n == 0 && k->attention == DSE_FULL && k->feed_forward == DSE_FFN_DENSE &&
           !llm->details.output_gate && !llm->cache.values_from_keys && llm->inputs.layer_input == 0 &&
           llm->residual.residual_streams == 0 && llm->residual.residual_rank == 0 && llm->residual.residual_block == 0 &&
           llm_value_dim(&llm->shape) == llm->head_dim;
}

bool dse_llm_has_one_cache(const struct dse_llm *llm)
{
    if (llm_value_dim(&llm->shape) != llm->head_dim) return false;
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_shape *s = &llm->kinds[i].shape;
        if (llm_is_grouped(llm->kinds[i].attention) && (s->kv_heads != llm->kv_heads || s->head_dim != llm->head_dim ||
                                                        llm_value_dim(s) != s->head_dim || s->cache.shares_cache))
            return false;
    }
    return true;
}
