/* What the keys of a config.json mean, architecture by architecture. docs/llms.md says where each rule comes from. */
#include "config/llm_config.h"

#include <stdlib.h>
#include <string.h>

struct architecture {
    const char *model_type;
    void (*fill)(struct llm_config *c, struct dse_llm *m);
    bool tied;    /* tie_word_embeddings where the file says nothing */
    int64_t most; /* max_position_embeddings where it says nothing; 0: it must */
};

/* ---- what several have ---------------------------------------------------------------------------------------------------- */

static void take_heads(struct llm_config *c, struct dse_llm *m)
{
    m->heads = config_whole(c, "num_attention_heads");
    m->kv_heads = config_has(c, "num_key_value_heads") ? config_whole(c, "num_key_value_heads") : m->heads;
    m->head_dim = config_whole_if(c, "head_dim");
    if (m->head_dim == 0 && m->heads > 0) m->head_dim = m->hidden / m->heads;
}

static void take_biases(struct llm_config *c, struct dse_llm *m, bool otherwise)
{
    m->details.qkv_bias = m->details.output_bias = config_flag(c, "attention_bias", otherwise);
}

static void take_window(struct llm_config *c, struct dse_llm *m, enum dse_mixer mixer)
{
    m->attention_window = config_whole_if(c, "sliding_window");
    if (m->attention_window == 0) return;
    m->attention = (struct dse_pattern){.n = 1, .at = {(uint8_t)mixer}};
}

/* The shortest list that repeats to the same layers. */
static void shorten(struct dse_pattern *p)
{
    for (int64_t n = 1; n <= p->n; n++) {
        bool repeats = p->n % n == 0;
        for (int64_t i = n; i < p->n && repeats; i++) repeats = p->at[i] == p->at[i - n];
        if (!repeats) continue;
        p->n = n;
        return;
    }
}

static bool fits(struct llm_config *c, const char *key, int64_t n, int64_t layers)
{
    if (n == layers && n <= DSE_PATTERN_MAX) return true;
    return config_error(c, key, "%s has %lld entries for %lld layers", key, (long long)n, (long long)layers);
}

/* A list of words, one a layer: those of `words` are mixers. False when there is no such list. */
struct layer_word {
    const char *word;
    enum dse_mixer mixer;
};
static bool take_layer_types(struct llm_config *c, struct dse_llm *m, const char *key, const struct layer_word *words)
{
    const int64_t n = config_list(c, key);
    if (n < 0 || !fits(c, key, n, m->layers)) return n >= 0;
    m->attention.n = n;
    for (int64_t i = 0; i < n; i++) {
        const char *word = config_list_word(c, key, i);
        const struct layer_word *w = words;
        while (w->word && (!word || strcmp(w->word, word) != 0)) w++;
        if (!w->word) {
            config_error(c, key, "%s: \"%s\" is no kind of layer that %s is known to have", key, word ? word : "?", c->model_type);
            return true;
        }
        m->attention.at[i] = (uint8_t)w->mixer;
    }
    shorten(&m->attention);
    return true;
}

static const struct layer_word attention_words[] = {{"full_attention", DSE_FULL},
                                                    {"sliding_attention", DSE_WINDOW},
                                                    {"chunked_attention", DSE_CHUNK},
                                                    {"linear_attention", DSE_DELTA},
                                                    {NULL, DSE_FULL}};

/* Every period-th layer is `often`'s exception. */
static void take_period(struct dse_llm *m, int64_t period, enum dse_mixer often, enum dse_mixer last)
{
    m->attention.n = m->layers <= DSE_PATTERN_MAX ? m->layers : DSE_PATTERN_MAX;
    for (int64_t i = 0; i < m->attention.n; i++) m->attention.at[i] = (uint8_t)(period > 0 && (i + 1) % period == 0 ? last : often);
    shorten(&m->attention);
}

static void take_experts(struct llm_config *c, struct dse_llm *m, const char *experts, const char *width)
{
    m->moe.experts = config_whole(c, experts);
    m->moe.experts_active = config_whole(c, "num_experts_per_tok");
    m->moe.expert_ffn = config_whole(c, width);
}

/* Layers with experts among dense ones: every step-th, but for those listed. */
static void take_sparse_layers(struct llm_config *c, struct dse_llm *m, const char *step_key, const char *dense_key)
{
    const int64_t step = config_has(c, step_key) ? config_whole(c, step_key) : 1, dense = config_list(c, dense_key);
    struct dse_pattern *p = &m->feed_forward;
    if (step <= 0) {
        config_error(c, step_key, "%s: a number from 1 is needed", step_key);
        return;
    }
    if (m->layers > DSE_PATTERN_MAX) return;
    p->n = m->layers;
    for (int64_t i = 0; i < p->n; i++) p->at[i] = (i + 1) % step == 0 ? DSE_FFN_EXPERTS : DSE_FFN_DENSE;
    for (int64_t k = 0; k < dense; k++) {
        const int64_t layer = config_list_number(c, dense_key, k);
        if (layer >= 0 && layer < p->n) p->at[layer] = DSE_FFN_DENSE;
    }
    shorten(p);
    if (p->n == 1 && p->at[0] == DSE_FFN_EXPERTS) p->n = 0; /* what experts mean without a list */
}

/* The dense width, of the layers that have no experts; without such layers it says nothing. */
static void take_dense(struct llm_config *c, struct dse_llm *m, const char *key)
{
    const int64_t width = config_whole_if(c, key);
    bool dense = m->dense_layers > 0 || m->moe.experts == 0;
    for (int64_t i = 0; i < m->feed_forward.n; i++) dense = dense || m->feed_forward.at[i] == DSE_FFN_DENSE;
    if (dense) m->ffn = width;
}

/* ---- dense ---------------------------------------------------------------------------------------------------------------- */

static void fill_llama(struct llm_config *c, struct dse_llm *m)
{
    take_heads(c, m);
    m->ffn = config_whole(c, "intermediate_size");
    take_biases(c, m, false);
    if (config_flag(c, "mlp_bias", false)) config_note(c, "the biases of the feed-forward network (mlp_bias) are in no count");
}

static void fill_mistral(struct llm_config *c, struct dse_llm *m)
{
    fill_llama(c, m);
    take_window(c, m, DSE_WINDOW);
}

static void fill_qwen2(struct llm_config *c, struct dse_llm *m)
{
    take_heads(c, m);
    m->ffn = config_whole(c, "intermediate_size");
    m->details.qkv_bias = 1;
    if (config_flag(c, "use_sliding_window", false)) take_window(c, m, DSE_WINDOW);
    config_whole_if(c, "sliding_window");
    if (config_has(c, "layer_types")) take_layer_types(c, m, "layer_types", attention_words);
}

static void fill_qwen3(struct llm_config *c, struct dse_llm *m)
{
    fill_qwen2(c, m);
    m->details.qkv_bias = 0;
    take_biases(c, m, false);
    m->details.qk_norm = DSE_QK_NORM_HEAD;
}

static void fill_gemma2(struct llm_config *c, struct dse_llm *m)
{
    take_heads(c, m);
    m->ffn = config_whole(c, "intermediate_size");
    take_biases(c, m, false);
    m->details.norms = 2;
    m->attention_window = config_whole_or(c, "sliding_window", 4096);
    if (!take_layer_types(c, m, "layer_types", attention_words)) take_period(m, 2, DSE_WINDOW, DSE_FULL);
}

/* Multimodal files leave out what the class has by default: 8 heads, 4 of keys, of 256. */
static void fill_gemma3(struct llm_config *c, struct dse_llm *m)
{
    m->heads = config_whole_or(c, "num_attention_heads", 8);
    m->kv_heads = config_whole_or(c, "num_key_value_heads", 4);
    m->head_dim = config_whole_or(c, "head_dim", 256);
    m->ffn = config_whole(c, "intermediate_size");
    take_biases(c, m, false);
    m->details.norms = 2;
    m->details.qk_norm = DSE_QK_NORM_HEAD;
    m->attention_window = config_whole_or(c, "sliding_window", 4096);
    if (take_layer_types(c, m, "layer_types", attention_words)) return;
    const char *period = config_has(c, "_sliding_window_pattern") ? "_sliding_window_pattern" : "sliding_window_pattern";
    take_period(m, config_whole_or(c, period, 6), DSE_WINDOW, DSE_FULL);
}

/* ---- experts -------------------------------------------------------------------------------------------------------------- */

static void fill_mixtral(struct llm_config *c, struct dse_llm *m)
{
    take_heads(c, m);
    take_window(c, m, DSE_WINDOW);
    take_experts(c, m, "num_local_experts", "intermediate_size");
}

static void fill_qwen3_moe(struct llm_config *c, struct dse_llm *m)
{
    take_heads(c, m);
    take_biases(c, m, false);
    m->details.qk_norm = DSE_QK_NORM_HEAD;
    take_experts(c, m, "num_experts", "moe_intermediate_size");
    take_sparse_layers(c, m, "decoder_sparse_step", "mlp_only_layers");
    take_dense(c, m, "intermediate_size");
    if (config_flag(c, "use_sliding_window", false)) take_window(c, m, DSE_WINDOW);
    config_whole_if(c, "sliding_window");
}

static void fill_deepseek(struct llm_config *c, struct dse_llm *m)
{
    struct dse_llm_latent *l = &m->latent;
    m->heads = config_whole(c, "num_attention_heads");
    config_whole_if(c, "num_key_value_heads");
    config_whole_if(c, "head_dim");
    l->q_rank = config_whole_if(c, "q_lora_rank");
    l->kv_rank = config_whole(c, "kv_lora_rank");
    l->nope_dim = config_whole(c, "qk_nope_head_dim");
    l->rope_dim = config_whole(c, "qk_rope_head_dim");
    l->v_head_dim = config_whole(c, "v_head_dim");
    l->index_heads = config_whole_if(c, "index_n_heads");
    l->index_dim = config_whole_if(c, "index_head_dim");
    l->index_topk = config_whole_if(c, "index_topk");
    if (l->index_topk > 0) m->attention = (struct dse_pattern){.n = 1, .at = {DSE_LATENT_TOPK}};
    if (config_flag(c, "attention_bias", false)) config_error(c, "attention_bias", "latent attention with biases is not known");
    if (config_has(c, "n_routed_experts")) {
        take_experts(c, m, "n_routed_experts", "moe_intermediate_size");
        m->moe.shared_ffn = config_whole_if(c, "n_shared_experts") * m->moe.expert_ffn;
        m->dense_layers = config_whole_if(c, "first_k_dense_replace");
        if (config_has(c, "moe_layer_freq") && config_whole(c, "moe_layer_freq") != 1)
            config_error(c, "moe_layer_freq", "moe_layer_freq: only 1 is known");
        const char *method = config_word(c, "topk_method");
        m->moe.router_bias = method ? strcmp(method, "noaux_tc") == 0 : strcmp(c->model_type, "deepseek_v2") != 0;
    }
    take_dense(c, m, "intermediate_size");
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
}

/* GLM-5: the same with an indexer, whose shape files may leave out. */
static void fill_glm_moe_dsa(struct llm_config *c, struct dse_llm *m)
{
    fill_deepseek(c, m);
    m->latent.index_heads = config_whole_or(c, "index_n_heads", 32);
    m->latent.index_dim = config_whole_or(c, "index_head_dim", 128);
    m->latent.index_topk = config_whole_or(c, "index_topk", 2048);
    m->attention = (struct dse_pattern){.n = 1, .at = {DSE_LATENT_TOPK}};
}

/* In Llama 4 intermediate_size is the expert and the shared expert, intermediate_size_mlp the dense network. */
static void fill_llama4(struct llm_config *c, struct dse_llm *m)
{
    take_heads(c, m);
    take_biases(c, m, false);
    config_has(c, "use_qk_norm"); /* without weights */
    take_experts(c, m, "num_local_experts", "intermediate_size");
    m->moe.shared_ffn = m->moe.expert_ffn;
    const int64_t listed = config_list(c, "moe_layers"), step = config_whole_or(c, "interleave_moe_layer_step", 1);
    if (listed >= 0 && m->layers <= DSE_PATTERN_MAX) {
        m->feed_forward.n = m->layers;
        memset(m->feed_forward.at, DSE_FFN_DENSE, (size_t)m->layers);
        for (int64_t k = 0; k < listed; k++) {
            const int64_t layer = config_list_number(c, "moe_layers", k);
            if (layer >= 0 && layer < m->layers) m->feed_forward.at[layer] = DSE_FFN_EXPERTS;
        }
        shorten(&m->feed_forward);
        if (m->feed_forward.n == 1 && m->feed_forward.at[0] == DSE_FFN_EXPERTS) m->feed_forward.n = 0;
    } else if (step > 1) {
        take_sparse_layers(c, m, "interleave_moe_layer_step", "mlp_only_layers");
    }
    take_dense(c, m, "intermediate_size_mlp");
    m->attention_window = config_whole_or(c, "attention_chunk_size", 8192);
    const int64_t n = config_list(c, "no_rope_layers");
    if (take_layer_types(c, m, "layer_types", attention_words)) return;
    if (n > 0 && fits(c, "no_rope_layers", n, m->layers)) { /* 0: a layer without positions, which sees everything */
        m->attention.n = n;
        for (int64_t i = 0; i < n; i++) m->attention.at[i] = config_list_number(c, "no_rope_layers", i) == 0 ? DSE_FULL : DSE_CHUNK;
        shorten(&m->attention);
    } else if (n <= 0) {
        take_period(m, config_whole_or(c, "no_rope_layer_interval", 4), DSE_CHUNK, DSE_FULL);
    }
}

static void fill_gpt_oss(struct llm_config *c, struct dse_llm *m)
{
    take_heads(c, m);
    take_biases(c, m, true);
    m->details.attention_sinks = 1;
    m->moe.experts = config_whole(c, config_has(c, "num_local_experts") ? "num_local_experts" : "num_experts");
    m->moe.experts_active = config_whole(c, config_has(c, "num_experts_per_tok") ? "num_experts_per_tok" : "experts_per_token");
    config_whole_if(c, "experts_per_token");
    m->moe.expert_ffn = config_whole(c, "intermediate_size");
    m->moe.router_bias = m->moe.expert_bias = 1;
    m->attention_window = config_whole_or(c, "sliding_window", 128);
    if (!take_layer_types(c, m, "layer_types", attention_words)) take_period(m, 2, DSE_WINDOW, DSE_FULL);
}

static void fill_glm4_moe(struct llm_config *c, struct dse_llm *m)
{
    take_heads(c, m);
    m->details.qkv_bias = config_flag(c, "attention_bias", false); /* of q, k and v alone */
    if (config_flag(c, "use_qk_norm", false)) m->details.qk_norm = DSE_QK_NORM_HEAD;
    take_experts(c, m, "n_routed_experts", "moe_intermediate_size");
    m->moe.shared_ffn = config_whole_if(c, "n_shared_experts") * m->moe.expert_ffn;
    m->moe.router_bias = 1;
    m->dense_layers = config_whole_or(c, "first_k_dense_replace", 1);
    take_dense(c, m, "intermediate_size");
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
}

static void fill_minimax_m2(struct llm_config *c, struct dse_llm *m)
{
    take_heads(c, m);
    if (config_flag(c, "use_qk_norm", true)) {
        const char *type = config_word(c, "qk_norm_type");
        m->details.qk_norm = type && strcmp(type, "per_layer") != 0 ? DSE_QK_NORM_HEAD : DSE_QK_NORM_FULL;
    }
    take_biases(c, m, false);
    take_experts(c, m, "num_local_experts", "intermediate_size");
    m->moe.shared_ffn = config_whole_if(c, "shared_intermediate_size");
    m->moe.router_bias = config_flag(c, "use_routing_bias", true);
    if (config_flag(c, "use_mtp", false)) m->details.mtp_layers = config_whole_or(c, "num_mtp_modules", 1);
    config_whole_if(c, "mtp_transformer_layers");
    const int64_t n = config_list(c, "attn_type_list");
    for (int64_t i = 0; i < n; i++)
        if (config_list_number(c, "attn_type_list", i) != 1)
            config_error(c, "attn_type_list", "attn_type_list: only 1, full attention, is known of %s", c->model_type);
}

/* ---- states --------------------------------------------------------------------------------------------------------------- */

static void fill_minimax_text(struct llm_config *c, struct dse_llm *m)
{
    take_heads(c, m);
    take_experts(c, m, "num_local_experts", "intermediate_size");
    m->moe.shared_ffn = config_whole_if(c, "shared_intermediate_size");
    m->states.state_key_heads = m->states.state_value_heads = m->heads;
    m->states.state_key_dim = m->states.state_value_dim = m->head_dim;
    const int64_t n = config_list(c, "attn_type_list");
    static const struct layer_word words[] = {{"full_attention", DSE_FULL}, {"linear_attention", DSE_LIGHTNING}, {NULL, DSE_FULL}};
    if (n < 0 && take_layer_types(c, m, "layer_types", words)) return;
    if (n < 0) {
        config_error(c, "attn_type_list", "there is no attn_type_list, which says which layers are lightning attention");
        return;
    }
    if (!fits(c, "attn_type_list", n, m->layers)) return;
    m->attention.n = n;
    for (int64_t i = 0; i < n; i++) m->attention.at[i] = config_list_number(c, "attn_type_list", i) == 1 ? DSE_FULL : DSE_LIGHTNING;
    shorten(&m->attention);
}

static void take_delta(struct llm_config *c, struct dse_llm *m)
{
    struct dse_llm_states *s = &m->states;
    s->state_key_heads = config_whole_or(c, "linear_num_key_heads", 16);
    s->state_key_dim = config_whole_or(c, "linear_key_head_dim", 128);
    s->state_value_heads = config_whole_or(c, "linear_num_value_heads", 32);
    s->state_value_dim = config_whole_or(c, "linear_value_head_dim", 128);
    s->conv_kernel = config_whole_or(c, "linear_conv_kernel_dim", 4);
    if (!take_layer_types(c, m, "layer_types", attention_words))
        take_period(m, config_whole_or(c, "full_attention_interval", 4), DSE_DELTA, DSE_FULL);
    config_whole_if(c, "full_attention_interval");
}

static void fill_qwen3_next(struct llm_config *c, struct dse_llm *m)
{
    take_heads(c, m);
    take_biases(c, m, false);
    m->details.qk_norm = DSE_QK_NORM_HEAD;
    m->details.output_gate = config_flag(c, "attn_output_gate", true);
    config_has(c, "use_sliding_window"); /* says nothing here */
    take_delta(c, m);
    if (config_has(c, "num_experts") && config_whole(c, "num_experts") > 0) {
        take_experts(c, m, "num_experts", "moe_intermediate_size");
        m->moe.shared_ffn = config_whole_if(c, "shared_expert_intermediate_size");
        m->moe.shared_gate = m->moe.shared_ffn > 0;
        take_sparse_layers(c, m, "decoder_sparse_step", "mlp_only_layers");
    }
    take_dense(c, m, "intermediate_size");
    m->details.mtp_layers =
        config_whole_if(c, config_has(c, "mtp_num_hidden_layers") ? "mtp_num_hidden_layers" : "num_nextn_predict_layers");
}

static void fill_jamba(struct llm_config *c, struct dse_llm *m)
{
    take_heads(c, m);
    const int64_t period = config_whole_or(c, "attn_layer_period", 8), offset = config_whole_or(c, "attn_layer_offset", 4);
    const int64_t every = config_whole_or(c, "expert_layer_period", 2), first = config_whole_or(c, "expert_layer_offset", 1);
    m->ffn = config_whole(c, "intermediate_size");
    m->moe.experts = config_whole_or(c, "num_experts", 16);
    m->moe.experts_active = config_whole_or(c, "num_experts_per_tok", 2);
    m->moe.expert_ffn = m->ffn;
    m->states.ssm_inner = m->hidden * config_whole_or(c, "mamba_expand", 2);
    m->states.ssm_state = config_whole_or(c, "mamba_d_state", 16);
    m->states.conv_kernel = config_whole_or(c, "mamba_d_conv", 4);
    const char *automatic = config_has(c, "mamba_dt_rank") ? NULL : "auto";
    m->states.ssm_dt_rank = automatic ? (m->hidden + 15) / 16 : config_whole(c, "mamba_dt_rank");
    m->states.ssm_norms = 1;
    if (!config_flag(c, "mamba_conv_bias", true)) config_error(c, "mamba_conv_bias", "a convolution without bias is not known");
    if (config_flag(c, "mamba_proj_bias", false)) config_error(c, "mamba_proj_bias", "projections with biases are not known");
    if (period <= 0 || every <= 0 || m->layers > DSE_PATTERN_MAX) {
        config_error(c, "attn_layer_period", "periods of layers are numbers from 1");
        return;
    }
    m->attention.n = m->feed_forward.n = m->layers;
    for (int64_t i = 0; i < m->layers; i++) {
        m->attention.at[i] = i % period == offset ? DSE_FULL : DSE_MAMBA;
        m->feed_forward.at[i] = m->moe.experts > 1 && i % every == first ? DSE_FFN_EXPERTS : DSE_FFN_DENSE;
    }
    shorten(&m->attention);
    shorten(&m->feed_forward);
}

static void fill_mamba2(struct llm_config *c, struct dse_llm *m)
{
    struct dse_llm_states *s = &m->states;
    s->ssm_heads = config_whole_or(c, "num_heads", 128);
    s->ssm_inner = m->hidden * config_whole_or(c, "expand", 2);
    s->ssm_state = config_whole_or(c, "state_size", 128);
    s->ssm_groups = config_whole_or(c, "n_groups", 8);
    s->conv_kernel = config_whole_or(c, "conv_kernel", 4);
    if (config_has(c, "head_dim") && config_whole(c, "head_dim") * s->ssm_heads != s->ssm_inner)
        config_error(c, "head_dim", "head_dim times num_heads is not expand times hidden_size");
    m->attention = (struct dse_pattern){.n = 1, .at = {DSE_MAMBA2}};
    m->feed_forward = (struct dse_pattern){.n = 1, .at = {DSE_NO_FFN}};
}

/* A letter a layer: M Mamba-2, * attention, - dense, E experts; each a layer of its own. */
static void take_letters(struct llm_config *c, struct dse_llm *m)
{
    const char *letters = config_word(c, "hybrid_override_pattern");
    if (!letters || !fits(c, "hybrid_override_pattern", (int64_t)strlen(letters), m->layers)) {
        config_error(c, "hybrid_override_pattern", "there is no hybrid_override_pattern, which %s needs", c->model_type);
        return;
    }
    m->attention.n = m->feed_forward.n = m->layers;
    for (int64_t i = 0; i < m->layers; i++) {
        const char l = letters[i];
        if (!strchr("M*-E", l)) config_error(c, "hybrid_override_pattern", "hybrid_override_pattern: a layer '%c' is not known", l);
        m->attention.at[i] = l == 'M' ? DSE_MAMBA2 : l == '*' ? DSE_FULL : DSE_NO_MIXER;
        m->feed_forward.at[i] = l == '-' ? DSE_FFN_DENSE : l == 'E' ? DSE_FFN_EXPERTS : DSE_NO_FFN;
    }
}

static void fill_nemotron_h(struct llm_config *c, struct dse_llm *m)
{
    struct dse_llm_states *s = &m->states;
    take_heads(c, m);
    if (config_has(c, "attention_head_dim")) m->head_dim = config_whole(c, "attention_head_dim");
    m->ffn_matrices = 2; /* squared ReLU */
    s->ssm_heads = config_whole(c, "mamba_num_heads");
    s->ssm_inner = s->ssm_heads * config_whole(c, "mamba_head_dim");
    s->ssm_state = config_whole(c, "ssm_state_size");
    s->ssm_groups = config_whole(c, "n_groups");
    s->conv_kernel = config_whole_or(c, "conv_kernel", 4);
    config_whole_if(c, "expand");
    take_biases(c, m, false);
    take_letters(c, m);
    const char *letters = config_word(c, "hybrid_override_pattern");
    if (letters && strchr(letters, '-')) m->ffn = config_whole(c, "intermediate_size");
    config_whole_if(c, "intermediate_size");
    if (letters && strchr(letters, 'E')) {
        take_experts(c, m, "n_routed_experts", "moe_intermediate_size");
        m->moe.shared_ffn = config_has(c, "moe_shared_expert_intermediate_size")
                                ? config_whole(c, "moe_shared_expert_intermediate_size")
                                : config_whole_if(c, "n_shared_experts") * m->moe.expert_ffn;
        config_whole_if(c, "n_shared_experts");
        m->moe.expert_latent = config_whole_if(c, "moe_latent_size");
        m->moe.router_bias = 1;
    }
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
}

/* ---- the table ------------------------------------------------------------------------------------------------------------ */

static const struct architecture architectures[] = {
    {"llama", fill_llama, false, 2048},
    {"mistral", fill_mistral, false, 0},
    {"qwen2", fill_qwen2, false, 32768},
    {"qwen3", fill_qwen3, false, 32768},
    {"phi3", fill_mistral, false, 0},
    {"gemma2", fill_gemma2, true, 8192},
    {"gemma3_text", fill_gemma3, true, 131072},
    {"gemma3", fill_gemma3, true, 131072},
    {"mixtral", fill_mixtral, false, 0},
    {"qwen3_moe", fill_qwen3_moe, false, 32768},
    {"qwen3_vl_moe", fill_qwen3_moe, false, 32768},
    {"qwen3_vl_moe_text", fill_qwen3_moe, false, 32768},
    {"deepseek_v2", fill_deepseek, false, 0},
    {"deepseek_v3", fill_deepseek, false, 0},
    {"deepseek_v32", fill_deepseek, false, 0},
    {"glm4_moe_lite", fill_deepseek, false, 0},
    {"glm_moe_dsa", fill_glm_moe_dsa, false, 0},
    {"kimi_k2", fill_deepseek, false, 0},
    {"llama4_text", fill_llama4, false, 131072},
    {"llama4", fill_llama4, false, 131072},
    {"gpt_oss", fill_gpt_oss, false, 131072},
    {"glm4_moe", fill_glm4_moe, false, 131072},
    {"minimax_m2", fill_minimax_m2, false, 0},
    {"minimax_text_01", fill_minimax_text, false, 0},
    {"minimax", fill_minimax_text, false, 0},
    {"qwen3_next", fill_qwen3_next, false, 32768},
    {"qwen3_5", fill_qwen3_next, false, 32768},
    {"qwen3_5_moe", fill_qwen3_next, false, 32768},
    {"qwen3_5_text", fill_qwen3_next, false, 32768},
    {"qwen3_5_moe_text", fill_qwen3_next, false, 32768},
    {"jamba", fill_jamba, false, 262144},
    {"mamba2", fill_mamba2, false, 1048576},
    {"nemotron_h", fill_nemotron_h, false, 0},
};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

static const struct architecture *find(struct llm_config *c)
{
    struct text known;
    text_init(&known);
    for (size_t i = 0; i < ARCHITECTURES; i++) {
        if (strcmp(architectures[i].model_type, c->model_type) == 0) {
            text_release(&known);
            return &architectures[i];
        }
        text_addf(&known, "%s%s", i ? ", " : "", architectures[i].model_type);
    }
    config_error(c, "model_type", "model_type \"%s\" is not known; known are %s", c->model_type, known.s);
    text_release(&known);
    return NULL;
}

bool config_shape(struct llm_config *c, struct dse_llm *ret)
{
    const struct architecture *a = find(c);
    *ret = (struct dse_llm){.ffn_matrices = 3};
    if (!a) return false;
    ret->layers = config_whole(c, "num_hidden_layers");
    ret->hidden = config_whole(c, "hidden_size");
    ret->vocab = config_whole(c, "vocab_size");
    ret->max_context =
        a->most ? config_whole_or(c, "max_position_embeddings", a->most) : config_whole(c, "max_position_embeddings");
    ret->embedding_tables = config_flag(c, "tie_word_embeddings", a->tied) ? 1 : 2;
    if (c->ok && (ret->layers < 1 || ret->layers > DSE_PATTERN_MAX))
        return config_error(c, "num_hidden_layers", "num_hidden_layers: 1 to %d layers", DSE_PATTERN_MAX);
    if (c->ok) a->fill(c, ret);
    return c->ok;
}
