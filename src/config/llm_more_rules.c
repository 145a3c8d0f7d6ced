/* Architectures that are variations of others: dense ones, and ones of experts beside grouped-query attention. */
#include "config/llm_rules.h"

#include <string.h>

/* ---- dense ---------------------------------------------------------------------------------------------------------------- */

void llm_fill_llama(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = llm_ffn(c);
    llm_take_biases(c, m, false);
    llm_take_network_biases(c, "mlp_bias");
}

void llm_fill_mistral(struct llm_config *c, struct dse_llm *m)
{
    const bool windows = strcmp(c->model_type, "mistral") == 0 || strcmp(c->model_type, "ministral") == 0;
    llm_fill_llama(c, m);
    llm_take_window(c, m, windows ? 4096 : 0);
    llm_take_layer_types(c, m, "layer_types", llm_attention_words);
}

void llm_fill_qwen2(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = llm_ffn(c);
    m->details.qkv_bias = 1;
    llm_take_late_window(c, m);
}

void llm_fill_mimo(struct llm_config *c, struct dse_llm *m)
{
    llm_fill_qwen2(c, m);
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
}

void llm_fill_qwen3(struct llm_config *c, struct dse_llm *m)
{
    llm_fill_qwen2(c, m);
    m->details.qkv_bias = 0;
    llm_take_biases(c, m, false);
    m->details.qk_norm = DSE_QK_NORM_HEAD;
}

void llm_fill_gemma2(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = llm_ffn(c);
    llm_take_biases(c, m, false);
    m->details.norms = 2;
    m->attention_window = config_whole_or(c, "sliding_window", 4096);
    if (!llm_take_layer_types(c, m, "layer_types", llm_attention_words)) llm_take_period(m, 2, DSE_WINDOW, DSE_FULL);
}

void llm_fill_gemma3(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = llm_ffn(c);
    llm_take_biases(c, m, false);
    m->details.norms = 2;
    m->details.qk_norm = DSE_QK_NORM_HEAD;
    m->attention_window = config_whole_or(c, "sliding_window", 4096);
    if (llm_take_layer_types(c, m, "layer_types", llm_attention_words)) return;
    const char *period = config_has(c, "_sliding_window_pattern") ? "_sliding_window_pattern" : "sliding_window_pattern";
    llm_take_period(m, config_whole_or(c, period, 6), DSE_WINDOW, DSE_FULL);
}

/* VaultGemma: as Gemma 2, without norms behind the sublayers. */
void llm_fill_vaultgemma(struct llm_config *c, struct dse_llm *m)
{
    llm_fill_gemma2(c, m);
    m->details.norms = 1;
}

/* OLMo, the first: norms without weights. */
void llm_fill_olmo(struct llm_config *c, struct dse_llm *m)
{
    llm_fill_llama(c, m);
    m->details.plain_norms = 1;
}

/* nanochat: norms without weights, those of queries and keys, too; squared ReLU. */
void llm_fill_nanochat(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = llm_ffn(c);
    m->ffn_matrices = 2;
    llm_take_biases(c, m, false);
    m->details.plain_norms = 1;
}

/* Code World Model: windows, but for the first of four layers. */
void llm_fill_cwm(struct llm_config *c, struct dse_llm *m)
{
    enum { PERIOD = 4 };
    llm_take_heads(c, m);
    m->ffn = llm_ffn(c);
    llm_take_network_biases(c, "mlp_bias");
    m->attention_window = config_whole_or(c, "sliding_window", 8192);
    if (llm_take_layer_types(c, m, "layer_types", llm_attention_words)) return;
    m->attention.n = m->layers;
    for (int64_t i = 0; i < m->layers; i++) m->attention.at[i] = i % PERIOD == 0 ? DSE_FULL : DSE_WINDOW;
    llm_shorten(&m->attention);
}

/* Norms behind the sublayers, not before them: as many. Queries and keys are normed over all heads at once. */
void llm_fill_olmo2(struct llm_config *c, struct dse_llm *m)
{
    llm_fill_llama(c, m);
    m->details.qk_norm = DSE_QK_NORM_FULL;
}

void llm_fill_olmo3(struct llm_config *c, struct dse_llm *m)
{
    llm_fill_olmo2(c, m);
    m->attention_window = config_whole_or(c, "sliding_window", 4096);
    if (!llm_take_layer_types(c, m, "layer_types", llm_attention_words)) llm_take_period(m, 4, DSE_WINDOW, DSE_FULL);
}

/* Some layers have no positions (no_rope_layers), which no count knows. */
void llm_fill_smollm3(struct llm_config *c, struct dse_llm *m)
{
    llm_fill_llama(c, m);
    llm_take_late_window(c, m);
    config_list(c, "no_rope_layers");
    config_has(c, "no_rope_layers");
    config_has(c, "no_rope_layer_interval");
}

void llm_fill_seed_oss(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = llm_ffn(c);
    m->details.qkv_bias = config_flag(c, "attention_bias", true);
    m->details.output_bias = config_flag(c, "attention_out_bias", false);
    llm_take_network_biases(c, "mlp_bias");
}

/* GLM-4, and GLM-4-0414, which has norms before and behind each sublayer; biases of queries, keys and values alone. */
void llm_fill_glm4(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = llm_ffn(c);
    m->details.qkv_bias = config_flag(c, "attention_bias", false);
    m->details.norms = strcmp(c->model_type, "glm") == 0 ? 1 : 2;
}

void llm_fill_exaone4(struct llm_config *c, struct dse_llm *m)
{
    llm_fill_llama(c, m);
    m->details.qk_norm = DSE_QK_NORM_HEAD;
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
    m->attention_window = config_whole_if(c, "sliding_window");
    /* a number, or letters a layer of a period: "LLLG" */
    const bool number = config_is_number(c, "sliding_window_pattern");
    const int64_t period = number ? config_whole(c, "sliding_window_pattern") : config_length(c, "sliding_window_pattern");
    if (llm_take_layer_types(c, m, "layer_types", llm_attention_words) || m->attention_window == 0) return;
    if (period > 0)
        llm_take_period(m, period, DSE_WINDOW, DSE_FULL);
    else
        config_error(c, "sliding_window", "there are no layer_types, which say which layers have a window");
}

void llm_fill_ernie(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = llm_ffn(c);
    m->details.qkv_bias = m->details.output_bias = config_flag(c, "use_bias", false);
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
    if (m->details.qkv_bias) llm_take_network_biases(c, "use_bias");
}

/* ---- experts -------------------------------------------------------------------------------------------------------------- */

void llm_fill_olmoe(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    m->details.qk_norm = DSE_QK_NORM_FULL;
    llm_take_experts(c, m, "num_experts", "intermediate_size");
}

void llm_fill_granite_moe(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    llm_take_experts(c, m, "num_local_experts", "intermediate_size");
    m->moe.shared_ffn = config_whole_if(c, "shared_intermediate_size");
}

/* Ling and Ring: the first layers are dense; all shared experts together are one network. */
void llm_fill_bailing(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->details.qkv_bias = config_flag(c, "use_qkv_bias", false);
    m->details.output_bias = config_flag(c, "use_bias", false);
    if (config_flag(c, "use_qk_norm", false)) m->details.qk_norm = DSE_QK_NORM_HEAD;
    llm_take_experts(c, m, "num_experts", "moe_intermediate_size");
    const int64_t shared = config_whole_if(c, "num_shared_experts"),
                  width = config_whole_if(c, "moe_shared_expert_intermediate_size");
    m->moe.shared_ffn = shared * (width > 0 ? width : m->moe.expert_ffn);
    m->moe.router_bias = config_flag(c, "moe_router_enable_expert_bias", strcmp(c->model_type, "bailing_hybrid") == 0);
    m->dense_layers = config_whole_if(c, "first_k_dense_replace");
    llm_take_dense(c, m, "intermediate_size");
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
}

void llm_fill_dots1(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    m->details.qk_norm = DSE_QK_NORM_HEAD;
    llm_take_experts(c, m, "n_routed_experts", "moe_intermediate_size");
    m->moe.shared_ffn = config_whole_if(c, "n_shared_experts") * m->moe.expert_ffn;
    m->moe.router_bias = 1;
    llm_take_dense_first(c, m, 0);
    llm_take_dense(c, m, "intermediate_size");
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
    if (!llm_take_layer_types(c, m, "layer_types", llm_attention_words)) return;
    m->attention_window = config_whole_if(c, "sliding_window");
}

/* Experts from moe_layer_start_index to moe_layer_end_index, every moe_layer_interval-th layer of them. */
void llm_fill_ernie_moe(struct llm_config *c, struct dse_llm *m)
{
    llm_fill_ernie(c, m);
    m->moe.experts = config_whole(c, "moe_num_experts");
    m->moe.experts_active = config_whole(c, "moe_k");
    m->moe.expert_ffn = config_whole(c, "moe_intermediate_size");
    m->moe.shared_ffn = config_whole_if(c, "moe_num_shared_experts") * m->moe.expert_ffn;
    m->moe.router_bias = 1;
    const int64_t first = config_whole_or(c, "moe_layer_start_index", 1), every = config_whole_or(c, "moe_layer_interval", 1);
    const int64_t last = config_whole_or(c, "moe_layer_end_index", m->layers - 1);
    if (every < 1) config_error(c, "moe_layer_interval", "moe_layer_interval: a number from 1 is needed");
    if (!c->ok) return;
    m->feed_forward.n = m->layers;
    for (int64_t i = 0; i < m->layers; i++)
        m->feed_forward.at[i] = i >= first && i <= last && (i + 1) % every == 0 ? DSE_FFN_EXPERTS : DSE_FFN_DENSE;
    llm_shorten(&m->feed_forward);
}

/* Apertus and Arcee: a network without a gate. Apertus' activation has two learned numbers a layer, which no count has. */
void llm_fill_gateless(struct llm_config *c, struct dse_llm *m)
{
    llm_fill_llama(c, m);
    m->ffn_matrices = 2;
    if (strcmp(c->model_type, "apertus") == 0) m->details.qk_norm = DSE_QK_NORM_HEAD;
}

/* Baichuan and EXAONE 3: as Llama, without biases. */
void llm_fill_plain(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = config_whole(c, "intermediate_size");
}

/* MiniCPM: Llama with scales. Its newer files may switch on attention to chosen blocks of positions (sparse_config). */
void llm_fill_minicpm(struct llm_config *c, struct dse_llm *m)
{
    llm_fill_llama(c, m);
    if (config_has(c, "sparse_config"))
        config_cannot(c, "sparse_config", NULL, "sparse_config: attention to chosen blocks of positions is not counted");
}

/* InternLM, the first: biases of attention alone. */
void llm_fill_internlm_1(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = config_whole(c, "intermediate_size");
    m->details.qkv_bias = m->details.output_bias = config_flag(c, "bias", true);
}

/* Qwen, the first: intermediate_size is of gate and up together; biases of queries, keys and values. */
void llm_fill_qwen(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = config_whole(c, "intermediate_size") / 2;
    m->details.qkv_bias = 1;
}

/* InternLM 2 and 3: as Llama, with keys of their own for biases. */
void llm_fill_internlm(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = llm_ffn(c);
    const bool all = config_flag(c, "bias", false);
    m->details.qkv_bias = config_has(c, "qkv_bias") ? config_flag(c, "qkv_bias", false) : all;
    m->details.output_bias = all;
    if (all) config_cannot(c, "bias", NULL, "bias: biases of the feed-forward network are not counted");
}

/* Llama 3.2 with images: layers of cross attention are held, but skipped where there is no image. Eight rows of the input embedding
 * are of tokens that no output is. */
void llm_fill_mllama(struct llm_config *c, struct dse_llm *m)
{
    const int64_t cross = config_list(c, "cross_attention_layers");
    llm_fill_llama(c, m);
    m->seeing.input_rows = 8;
    if (cross > 0 && cross >= m->layers)
        config_error(c, "cross_attention_layers", "cross_attention_layers: as many as there are layers");
    if (cross <= 0 || !c->ok) return;
    m->layers -= cross;
    m->seeing.cross_layers = cross;
    config_note(c, "%lld layers of cross attention are held and not used: decoding a text without images skips them",
                (long long)cross);
}

/* Hunyuan: use_cla shares keys and values between so many layers. */
static void check_cla(struct llm_config *c)
{
    config_has(c, "cla_share_factor");
    if (config_flag(c, "use_cla", false))
        config_cannot(c, "use_cla", NULL, "use_cla: keys and values shared between layers are not known");
}

void llm_fill_hunyuan(struct llm_config *c, struct dse_llm *m)
{
    llm_fill_llama(c, m);
    if (config_flag(c, "use_qk_norm", true)) m->details.qk_norm = DSE_QK_NORM_HEAD;
    check_cla(c);
}

/* A number, or the first of a list with one for each layer, which may be unequal. */
static int64_t whole_of_all(struct llm_config *c, const char *key, int64_t otherwise, bool *ret_unequal)
{
    if (!config_has(c, key) || config_is_number(c, key)) return config_whole_or(c, key, otherwise);
    const int64_t n = config_list(c, key), first = config_list_number(c, key, 0);
    for (int64_t i = 0; i < n; i++)
        if (config_list_number(c, key, i) != first) *ret_unequal = true;
    return first > 0 ? first : 0;
}

void llm_fill_hunyuan_moe(struct llm_config *c, struct dse_llm *m)
{
    llm_fill_hunyuan(c, m);
    const bool shared = config_flag(c, "use_mixed_mlp_moe", false);
    bool unequal = false;
    m->moe.experts = whole_of_all(c, "num_experts", 1, &unequal);
    m->moe.experts_active = whole_of_all(c, "moe_topk", 1, &unequal);
    m->moe.expert_ffn = whole_of_all(c, "moe_intermediate_size", m->ffn, &unequal);
    m->moe.shared_ffn = shared ? whole_of_all(c, "num_shared_expert", 1, &unequal) * m->ffn : 0;
    m->dense_layers = config_whole_if(c, "moe_layer_num_skipped");
    if (m->dense_layers == 0) m->ffn = 0;
    if (unequal) llm_make_hunyuan_layers(c, m);
}
