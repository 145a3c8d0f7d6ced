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
