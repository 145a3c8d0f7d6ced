/* Architectures of experts beside grouped-query attention. */
#include "config/llm_rules.h"

#include <string.h>

void llm_fill_mixtral(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    llm_take_window(c, m, 0);
    llm_take_experts(c, m, "num_local_experts", "intermediate_size");
}

/* max_window_layers says nothing here: where windows are switched on, all layers have them. */
void llm_fill_qwen3_moe(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    m->details.qk_norm = DSE_QK_NORM_HEAD;
    llm_take_experts(c, m, "num_experts", "moe_intermediate_size");
    llm_take_sparse_layers(c, m, "decoder_sparse_step", "mlp_only_layers");
    llm_take_dense(c, m, "intermediate_size");
    if (config_flag(c, "use_sliding_window", false)) llm_take_window(c, m, 4096);
    config_has(c, "sliding_window");
    config_has(c, "max_window_layers");
}

void llm_fill_qwen2_moe(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->details.qkv_bias = config_flag(c, "qkv_bias", true);
    llm_take_experts(c, m, "num_experts", "moe_intermediate_size");
    m->moe.shared_ffn = config_whole(c, "shared_expert_intermediate_size");
    m->moe.shared_gate = 1;
    llm_take_sparse_layers(c, m, "decoder_sparse_step", "mlp_only_layers");
    llm_take_dense(c, m, "intermediate_size");
    llm_take_late_window(c, m);
}

/* In Llama 4 intermediate_size is the expert and the shared expert, intermediate_size_mlp the dense network. */
void llm_fill_llama4(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    config_has(c, "use_qk_norm"); /* without weights */
    llm_take_experts(c, m, "num_local_experts", "intermediate_size");
    m->moe.shared_ffn = m->moe.expert_ffn;
    const int64_t listed = config_list(c, "moe_layers"), step = config_whole_or(c, "interleave_moe_layer_step", 1);
    if (listed >= 0 && m->layers <= DSE_PATTERN_MAX) {
        m->feed_forward.n = m->layers;
        memset(m->feed_forward.at, DSE_FFN_DENSE, (size_t)m->layers);
        for (int64_t k = 0; k < listed; k++) {
            const int64_t layer = config_list_number(c, "moe_layers", k);
            if (layer >= 0 && layer < m->layers) m->feed_forward.at[layer] = DSE_FFN_EXPERTS;
        }
        llm_shorten(&m->feed_forward);
        if (m->feed_forward.n == 1 && m->feed_forward.at[0] == DSE_FFN_EXPERTS) m->feed_forward.n = 0;
    } else if (step > 1) {
        llm_take_sparse_layers(c, m, "interleave_moe_layer_step", "mlp_only_layers");
    }
    llm_take_dense(c, m, "intermediate_size_mlp");
    m->attention_window = config_whole_or(c, "attention_chunk_size", 8192);
    const int64_t n = config_list(c, "no_rope_layers");
    if (llm_take_layer_types(c, m, "layer_types", llm_attention_words)) return;
    if (n > 0 && llm_fits(c, "no_rope_layers", n, m->layers)) { /* 0: a layer without positions, which sees everything */
        m->attention.n = n;
        for (int64_t i = 0; i < n; i++) m->attention.at[i] = config_list_number(c, "no_rope_layers", i) == 0 ? DSE_FULL : DSE_CHUNK;
        llm_shorten(&m->attention);
    } else if (n <= 0) {
        llm_take_period(m, config_whole_or(c, "no_rope_layer_interval", 4), DSE_CHUNK, DSE_FULL);
    }
}

void llm_fill_gpt_oss(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    llm_take_biases(c, m, true);
    m->details.attention_sinks = 1;
    m->moe.experts = config_whole(c, config_has(c, "num_local_experts") ? "num_local_experts" : "num_experts");
    m->moe.experts_active = config_whole(c, config_has(c, "num_experts_per_tok") ? "num_experts_per_tok" : "experts_per_token");
    config_whole_if(c, "experts_per_token");
    m->moe.expert_ffn = config_whole(c, "intermediate_size");
    m->moe.router_bias = m->moe.expert_bias = 1;
    m->attention_window = config_whole_or(c, "sliding_window", 128);
    if (!llm_take_layer_types(c, m, "layer_types", llm_attention_words)) llm_take_period(m, 2, DSE_WINDOW, DSE_FULL);
}

void llm_fill_glm4_moe(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->details.qkv_bias = config_flag(c, "attention_bias", false); /* of q, k and v alone */
    if (config_flag(c, "use_qk_norm", false)) m->details.qk_norm = DSE_QK_NORM_HEAD;
    llm_take_experts(c, m, "n_routed_experts", "moe_intermediate_size");
    m->moe.shared_ffn = config_whole_or_none(c, "n_shared_experts", 1) * m->moe.expert_ffn;
    m->moe.router_bias = 1;
    llm_take_dense_first(c, m, 1);
    llm_take_dense(c, m, "intermediate_size");
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
}

void llm_fill_minimax_m2(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    if (config_flag(c, "use_qk_norm", true)) {
        const char *type = config_word(c, "qk_norm_type");
        m->details.qk_norm = type && strcmp(type, "per_layer") != 0 ? DSE_QK_NORM_HEAD : DSE_QK_NORM_FULL;
    }
    llm_take_biases(c, m, false);
    llm_take_experts(c, m, "num_local_experts", "intermediate_size");
    m->moe.shared_ffn = config_whole_if(c, "shared_intermediate_size");
    m->moe.router_bias = config_flag(c, "use_routing_bias", true);
    if (config_flag(c, "use_mtp", false)) m->details.mtp_layers = config_whole_or(c, "num_mtp_modules", 1);
    config_whole_if(c, "mtp_transformer_layers");
    const int64_t n = config_list(c, "attn_type_list");
    for (int64_t i = 0; i < n; i++)
        if (config_list_number(c, "attn_type_list", i) != 1)
            config_error(c, "attn_type_list", "attn_type_list: only 1, full attention, is known of %s", c->model_type);
}

/* Solar Open: every layer has experts, whatever first_k_dense_replace and intermediate_size say. */
void llm_fill_solar_open(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->details.qkv_bias = config_flag(c, "attention_bias", false);
    if (config_flag(c, "use_qk_norm", false)) m->details.qk_norm = DSE_QK_NORM_HEAD;
    llm_take_experts(c, m, "n_routed_experts", "moe_intermediate_size");
    m->moe.shared_ffn = config_whole_or_none(c, "n_shared_experts", 1) * m->moe.expert_ffn;
    m->moe.router_bias = 1;
}

/* DeepSeekMoE, the first of DeepSeek's with experts: attention as in Llama. */
void llm_fill_deepseek(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    if (!config_has(c, "n_routed_experts")) { /* DeepSeek LLM */
        m->ffn = config_whole(c, "intermediate_size");
        return;
    }
    llm_take_experts(c, m, "n_routed_experts", "moe_intermediate_size");
    m->moe.shared_ffn = config_whole_if(c, "n_shared_experts") * m->moe.expert_ffn;
    llm_take_dense_first(c, m, 0);
    llm_take_dense(c, m, "intermediate_size");
}

/* A number of an object within, which must be there. */
static int64_t whole_within(struct llm_config *c, const char *outer, const char *key)
{
    const int64_t n = config_whole_in(c, outer, key, 0);
    if (n == 0) config_error(c, outer, "%s: there is no %s, which %s needs", outer, key, c->model_type);
    return n;
}

void llm_fill_dbrx(struct llm_config *c, struct dse_llm *m)
{
    static const char attention[] = "attn_config", network[] = "ffn_config";
    m->heads = config_whole(c, "num_attention_heads");
    m->head_dim = m->heads > 0 ? m->hidden / m->heads : 0;
    m->kv_heads = whole_within(c, attention, "kv_n_heads");
    m->moe.experts = whole_within(c, network, "moe_num_experts");
    m->moe.experts_active = whole_within(c, network, "moe_top_k");
    m->moe.expert_ffn = whole_within(c, network, "ffn_hidden_size");
}

/* Arctic: every moe_layer_frequency-th layer has experts, beside a dense network as wide as the hidden state with a norm of its
 * own. */
void llm_fill_arctic(struct llm_config *c, struct dse_llm *m)
{
    const int64_t every = config_whole_or(c, "moe_layer_frequency", 2);
    const bool beside = config_flag(c, "parallel_attn_mlp_res", false), residual = config_flag(c, "use_residual", false);
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    llm_take_experts(c, m, "num_local_experts", "intermediate_size");
    if (beside != residual) config_error(c, "use_residual", "use_residual is not parallel_attn_mlp_res: only both are known");
    if (every < 1) config_error(c, "moe_layer_frequency", "moe_layer_frequency: a number from 1 is needed");
    if (!c->ok) return;
    if (beside) m->moe.shared_ffn = m->hidden;
    if (beside) m->moe.expert_norms = 1;
    if (every > 1) llm_take_sparse_layers(c, m, "moe_layer_frequency", "mlp_only_layers");
    llm_take_dense(c, m, "intermediate_size");
}

/* Grok 1 and 2: norms before and behind each sublayer; Grok 2 has a dense network beside the experts (residual_moe). */
void llm_fill_grok(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->details.norms = 2;
    llm_take_experts(c, m, "num_experts", config_has(c, "moe_intermediate_size") ? "moe_intermediate_size" : "intermediate_size");
    const int64_t dense = config_whole(c, "intermediate_size");
    if (config_flag(c, "residual_moe", false)) m->moe.shared_ffn = dense;
}

/* K-EXAONE. Which layers have experts says is_moe_layer, mlp_layer_types, or the number of the first dense ones. */
void llm_fill_exaone_moe(struct llm_config *c, struct dse_llm *m)
{
    static const char key[] = "is_moe_layer";
    llm_fill_exaone4(c, m);
    llm_take_experts(c, m, "num_experts", "moe_intermediate_size");
    m->moe.shared_ffn = config_whole_or_none(c, "num_shared_experts", 1) * m->moe.expert_ffn;
    m->moe.router_bias = 1;
    const int64_t n = config_list(c, key);
    if (n >= 0 && !config_has(c, "mlp_layer_types")) {
        if (!llm_fits(c, key, n, m->layers)) return;
        m->feed_forward.n = n;
        for (int64_t i = 0; i < n; i++) m->feed_forward.at[i] = config_list_flag(c, key, i) ? DSE_FFN_EXPERTS : DSE_FFN_DENSE;
        llm_shorten(&m->feed_forward);
        config_has(c, "first_last_k_dense_replace"); /* which is_moe_layer was made of */
        config_has(c, "first_k_dense_replace");
    } else {
        llm_take_dense_first(c, m, 1);
    }
    llm_take_dense(c, m, "intermediate_size");
}

/* Trinity: norms before and behind each sublayer, and a gate for each element that attention gives. */
void llm_fill_afmoe(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->details.norms = 2;
    m->details.qk_norm = DSE_QK_NORM_HEAD;
    m->details.output_gate = DSE_GATE_ELEMENT;
    llm_take_experts(c, m, "num_experts", "moe_intermediate_size");
    m->moe.shared_ffn = config_whole_or_none(c, "num_shared_experts", 0) * m->moe.expert_ffn;
    m->moe.router_bias = 1;
    m->dense_layers = config_whole_or(c, "num_dense_layers", 1);
    llm_take_dense(c, m, "intermediate_size");
    m->attention_window = config_whole_or(c, "sliding_window", 1024);
    const int64_t period = config_whole_or(c, "global_attn_every_n_layers", 4);
    if (!llm_take_layer_types(c, m, "layer_types", llm_attention_words)) llm_take_period(m, period, DSE_WINDOW, DSE_FULL);
}

/* Hunyuan 3: an expert's width has two names. */
void llm_fill_hy3(struct llm_config *c, struct dse_llm *m)
{
    static const char one[] = "moe_intermediate_size", other[] = "expert_hidden_dim";
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    if (config_flag(c, "qk_norm", true)) m->details.qk_norm = DSE_QK_NORM_HEAD;
    llm_take_experts(c, m, "num_experts", config_has(c, one) ? one : other);
    if (config_has(c, other) && config_whole(c, other) != m->moe.expert_ffn) config_error(c, other, "%s is not %s", other, one);
    m->moe.shared_ffn = config_whole_or_none(c, "num_shared_experts", 1) * m->moe.expert_ffn;
    m->moe.router_bias = config_flag(c, "moe_router_enable_expert_bias", true);
    llm_take_dense_first(c, m, 1);
    llm_take_dense(c, m, "intermediate_size");
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
}
