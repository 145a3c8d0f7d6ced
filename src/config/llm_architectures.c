/* What the keys of a config.json mean, architecture by architecture. docs/llms.md says where each rule comes from. */
#include "config/llm_rules.h"

#include <string.h>

struct architecture {
    const char *model_type;
    void (*fill)(struct llm_config *c, struct dse_llm *m);
    struct llm_defaults defaults;
};

/* ---- dense ---------------------------------------------------------------------------------------------------------------- */

static void fill_llama(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = llm_ffn(c);
    llm_take_biases(c, m, false);
    if (config_flag(c, "mlp_bias", false)) config_note(c, "the biases of the feed-forward network (mlp_bias) are in no count");
}

static void fill_mistral(struct llm_config *c, struct dse_llm *m)
{
    fill_llama(c, m);
    llm_take_window(c, m, strcmp(c->model_type, "mistral") == 0 ? 4096 : 0);
}

static void fill_qwen2(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = llm_ffn(c);
    m->details.qkv_bias = 1;
    llm_take_late_window(c, m);
}

static void fill_mimo(struct llm_config *c, struct dse_llm *m)
{
    fill_qwen2(c, m);
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
}

static void fill_qwen3(struct llm_config *c, struct dse_llm *m)
{
    fill_qwen2(c, m);
    m->details.qkv_bias = 0;
    llm_take_biases(c, m, false);
    m->details.qk_norm = DSE_QK_NORM_HEAD;
}

static void fill_gemma2(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = llm_ffn(c);
    llm_take_biases(c, m, false);
    m->details.norms = 2;
    m->attention_window = config_whole_or(c, "sliding_window", 4096);
    if (!llm_take_layer_types(c, m, "layer_types", llm_attention_words)) llm_take_period(m, 2, DSE_WINDOW, DSE_FULL);
}

static void fill_gemma3(struct llm_config *c, struct dse_llm *m)
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

/* ---- experts -------------------------------------------------------------------------------------------------------------- */

static void fill_mixtral(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    llm_take_window(c, m, 0);
    llm_take_experts(c, m, "num_local_experts", "intermediate_size");
}

/* max_window_layers says nothing here: where windows are switched on, all layers have them. */
static void fill_qwen3_moe(struct llm_config *c, struct dse_llm *m)
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

static void fill_qwen2_moe(struct llm_config *c, struct dse_llm *m)
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

/* What files of DeepSeek's kind may leave out: the rank of queries, the indexer, the first dense layers. */
struct latent_defaults {
    const char *model_type;
    int64_t q_rank, index_heads, index_dim, index_topk, shared, dense;
};
static const struct latent_defaults *latent_defaults(const struct llm_config *c)
{
    static const struct latent_defaults all[] = {{"deepseek_v2", 1536, 0, 0, 0, 2, 0},
                                                 {"deepseek_v32", 1536, 64, 128, 2048, 1, 3},
                                                 {"glm_moe_dsa", 2048, 32, 128, 2048, 1, 3},
                                                 {"glm4_moe_lite", 768, 0, 0, 0, 1, 1},
                                                 {"deepseek_v3", 1536, 0, 0, 0, 1, 3}};
    enum { ALL = sizeof all / sizeof *all };
    for (size_t i = 0; i < ALL; i++)
        if (strcmp(all[i].model_type, c->model_type) == 0) return &all[i];
    return &all[ALL - 1];
}

static void take_indexer(struct llm_config *c, struct dse_llm *m, const struct latent_defaults *d)
{
    struct dse_llm_latent *l = &m->latent;
    if (d->index_topk > 0) {
        l->index_heads = config_whole_or_none(c, "index_n_heads", d->index_heads);
        l->index_dim = config_whole_or_none(c, "index_head_dim", d->index_dim);
        l->index_topk = config_whole_or_none(c, "index_topk", d->index_topk);
    } else {
        l->index_heads = config_whole_if(c, "index_n_heads");
        l->index_dim = config_whole_if(c, "index_head_dim");
        l->index_topk = config_whole_if(c, "index_topk");
    }
    if (l->index_topk > 0) m->attention = (struct dse_pattern){.n = 1, .at = {DSE_LATENT_TOPK}};
}

static void fill_deepseek(struct llm_config *c, struct dse_llm *m)
{
    const struct latent_defaults *d = latent_defaults(c);
    struct dse_llm_latent *l = &m->latent;
    m->heads = config_whole(c, "num_attention_heads");
    config_whole_if(c, "num_key_value_heads");
    config_whole_if(c, "head_dim");
    l->q_rank = config_whole_or_none(c, "q_lora_rank", d->q_rank);
    l->kv_rank = config_whole(c, "kv_lora_rank");
    l->nope_dim = config_whole(c, "qk_nope_head_dim");
    l->rope_dim = config_whole(c, "qk_rope_head_dim");
    l->v_head_dim = config_whole(c, "v_head_dim");
    take_indexer(c, m, d);
    if (config_flag(c, "attention_bias", false)) config_error(c, "attention_bias", "latent attention with biases is not known");
    if (!config_is_null(c, "n_routed_experts")) {
        llm_take_experts(c, m, "n_routed_experts", "moe_intermediate_size");
        m->moe.shared_ffn = config_whole_or_none(c, "n_shared_experts", d->shared) * m->moe.expert_ffn;
        llm_take_dense_first(c, m, d->dense);
        const char *method = config_word(c, "topk_method");
        m->moe.router_bias = method ? strcmp(method, "noaux_tc") == 0 : strcmp(c->model_type, "deepseek_v2") != 0;
    }
    llm_take_dense(c, m, "intermediate_size");
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
}

/* In Llama 4 intermediate_size is the expert and the shared expert, intermediate_size_mlp the dense network. */
static void fill_llama4(struct llm_config *c, struct dse_llm *m)
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

static void fill_gpt_oss(struct llm_config *c, struct dse_llm *m)
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

static void fill_glm4_moe(struct llm_config *c, struct dse_llm *m)
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

static void fill_minimax_m2(struct llm_config *c, struct dse_llm *m)
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

/* ---- the table ------------------------------------------------------------------------------------------------------------ */

static const struct architecture architectures[] = {
    {"llama", fill_llama, {.context = 2048, .layers = 32, .hidden = 4096, .vocab = 32000, .ffn = 11008, .heads = 32}},
    {"mistral",
     fill_mistral,
     {.context = 131072, .kv_heads = 8, .layers = 32, .hidden = 4096, .vocab = 32000, .ffn = 14336, .heads = 32}},
    {"ministral3",
     fill_mistral,
     {.context = 262144, .kv_heads = 8, .head_dim = 128, .layers = 34, .hidden = 4096, .vocab = 131072, .ffn = 14336, .heads = 32}},
    {"qwen2",
     fill_qwen2,
     {.context = 32768, .kv_heads = 32, .layers = 32, .hidden = 4096, .vocab = 151936, .ffn = 22016, .heads = 32}},
    {"qwen2_vl",
     fill_qwen2,
     {.context = 32768, .kv_heads = 8, .layers = 80, .hidden = 8192, .vocab = 152064, .ffn = 29568, .heads = 64}},
    {"qwen2_vl_text",
     fill_qwen2,
     {.context = 32768, .kv_heads = 8, .layers = 80, .hidden = 8192, .vocab = 152064, .ffn = 29568, .heads = 64}},
    {"qwen2_5_vl",
     fill_qwen2,
     {.context = 32768, .kv_heads = 8, .layers = 80, .hidden = 8192, .vocab = 152064, .ffn = 29568, .heads = 64}},
    {"qwen2_5_vl_text",
     fill_qwen2,
     {.context = 32768, .kv_heads = 8, .layers = 80, .hidden = 8192, .vocab = 152064, .ffn = 29568, .heads = 64}},
    {"qwen2_moe",
     fill_qwen2_moe,
     {.context = 32768, .kv_heads = 16, .layers = 24, .hidden = 2048, .vocab = 151936, .ffn = 5632, .heads = 16}},
    {"qwen3",
     fill_qwen3,
     {.context = 32768, .kv_heads = 32, .head_dim = 128, .layers = 32, .hidden = 4096, .vocab = 151936, .ffn = 22016, .heads = 32}},
    {"qwen3_vl",
     fill_qwen3,
     {.context = 128000,
      .kv_heads = 32,
      .head_dim = 128,
      .layers = 32,
      .hidden = 4096,
      .vocab = 151936,
      .ffn = 22016,
      .heads = 32}},
    {"qwen3_vl_text",
     fill_qwen3,
     {.context = 128000,
      .kv_heads = 32,
      .head_dim = 128,
      .layers = 32,
      .hidden = 4096,
      .vocab = 151936,
      .ffn = 22016,
      .heads = 32}},
    {"mimo", fill_mimo, {.context = 32768}},
    {"phi3", fill_mistral, {.context = 4096, .layers = 32, .hidden = 3072, .vocab = 32064, .ffn = 8192, .heads = 32}},
    {"gemma", llm_fill_gemma, {.tied = true, .context = 8192, .head_dim = 256}},
    {"olmo2", llm_fill_olmo2, {.context = 2048}},
    {"olmo3", llm_fill_olmo3, {.context = 65536}},
    {"granite", llm_fill_granite, {.context = 2048}},
    {"smollm3", llm_fill_smollm3, {.tied = true, .context = 32768, .kv_heads = 4}},
    {"seed_oss", llm_fill_seed_oss, {.context = 524288, .kv_heads = 8, .head_dim = 128}},
    {"glm4", llm_fill_glm4, {.context = 131072, .kv_heads = 2, .head_dim = 128}},
    {"exaone4", llm_fill_exaone4, {.context = 2048}},
    {"ernie4_5", llm_fill_ernie, {.tied = true, .context = 131072, .kv_heads = 2, .head_dim = 128}},
    {"gemma2", fill_gemma2, {.tied = true, .context = 8192, .kv_heads = 4, .head_dim = 256}},
    {"gemma3_text",
     fill_gemma3,
     {.tied = true,
      .context = 131072,
      .kv_heads = 4,
      .head_dim = 256,
      .layers = 26,
      .hidden = 2304,
      .vocab = 262208,
      .ffn = 9216,
      .heads = 8}},
    {"gemma3",
     fill_gemma3,
     {.tied = true,
      .context = 131072,
      .kv_heads = 4,
      .head_dim = 256,
      .layers = 26,
      .hidden = 2304,
      .vocab = 262208,
      .ffn = 9216,
      .heads = 8}},
    {"mixtral", fill_mixtral, {.context = 131072, .kv_heads = 8}},
    {"qwen3_moe",
     fill_qwen3_moe,
     {.context = 32768, .kv_heads = 4, .layers = 24, .hidden = 2048, .vocab = 151936, .ffn = 6144, .heads = 32}},
    {"qwen3_vl_moe",
     fill_qwen3_moe,
     {.context = 128000, .kv_heads = 16, .layers = 24, .hidden = 2048, .vocab = 151936, .ffn = 5632, .heads = 16}},
    {"qwen3_vl_moe_text",
     fill_qwen3_moe,
     {.context = 128000, .kv_heads = 16, .layers = 24, .hidden = 2048, .vocab = 151936, .ffn = 5632, .heads = 16}},
    {"deepseek_v2", fill_deepseek, {.context = 2048}},
    {"deepseek_v3", fill_deepseek, {.context = 4096}},
    {"deepseek_v32", fill_deepseek, {0}},
    {"glm4_moe_lite", fill_deepseek, {0}},
    {"glm_moe_dsa", fill_deepseek, {0}},
    {"kimi_k2", fill_deepseek, {.context = 4096}},
    {"llama4_text",
     fill_llama4,
     {.context = 131072, .kv_heads = 8, .head_dim = 128, .layers = 48, .hidden = 5120, .vocab = 202048, .ffn = 16384, .heads = 40}},
    {"llama4",
     fill_llama4,
     {.context = 131072, .kv_heads = 8, .head_dim = 128, .layers = 48, .hidden = 5120, .vocab = 202048, .ffn = 16384, .heads = 40}},
    {"gpt_oss", fill_gpt_oss, {.context = 131072, .kv_heads = 8, .head_dim = 64}},
    {"glm4_moe", fill_glm4_moe, {.context = 131072, .kv_heads = 8}},
    {"glm4v_moe", fill_glm4_moe, {.context = 131072, .kv_heads = 8}},
    {"glm4v_moe_text", fill_glm4_moe, {.context = 131072, .kv_heads = 8}},
    {"olmoe", llm_fill_olmoe, {.context = 4096}},
    {"granitemoe", llm_fill_granite_moe, {.context = 2048}},
    {"granitemoeshared", llm_fill_granite_moe, {.context = 2048}},
    {"bailing_moe", llm_fill_bailing, {.context = 16384}},
    {"bailing_moe_v2", llm_fill_bailing, {.context = 16384}},
    {"dots1", llm_fill_dots1, {.context = 2048}},
    {"ernie4_5_moe", llm_fill_ernie_moe, {.tied = true, .context = 131072, .kv_heads = 4}},
    {"minimax_m2", fill_minimax_m2, {.kv_heads = 8}},
    {"minimax_text_01", llm_fill_minimax_text, {.kv_heads = 8}},
    {"minimax_m1", llm_fill_minimax_text, {.kv_heads = 8}},
    {"minimax", llm_fill_minimax_text, {.context = 131072, .kv_heads = 8}},
    {"qwen3_next", llm_fill_qwen3_next, {.context = 32768, .kv_heads = 2, .head_dim = 256}},
    {"qwen3_5",
     llm_fill_qwen3_next,
     {.context = 32768, .kv_heads = 4, .head_dim = 256, .layers = 32, .hidden = 4096, .vocab = 248320, .ffn = 12288, .heads = 16}},
    {"qwen3_5_moe",
     llm_fill_qwen3_next,
     {.context = 32768, .kv_heads = 2, .head_dim = 256, .layers = 40, .hidden = 2048, .vocab = 248320, .ffn = 0, .heads = 16}},
    {"qwen3_5_text",
     llm_fill_qwen3_next,
     {.context = 32768, .kv_heads = 4, .head_dim = 256, .layers = 32, .hidden = 4096, .vocab = 248320, .ffn = 12288, .heads = 16}},
    {"qwen3_5_moe_text",
     llm_fill_qwen3_next,
     {.context = 32768, .kv_heads = 2, .head_dim = 256, .layers = 40, .hidden = 2048, .vocab = 248320, .ffn = 0, .heads = 16}},
    {"jamba", llm_fill_jamba, {.context = 262144, .kv_heads = 8}},
    {"mamba2", llm_fill_mamba2, {.context = 1048576}},
    {"nemotron_h", llm_fill_nemotron_h, {.context = 4096, .kv_heads = 8, .head_dim = 128}},
    {"granitemoehybrid", llm_fill_granite_hybrid, {.context = 2048}},
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
    const struct llm_defaults *d = c->defaults = &a->defaults;
    ret->layers = config_whole_nested(c, "num_hidden_layers", d->layers);
    ret->hidden = config_whole_nested(c, "hidden_size", d->hidden);
    ret->vocab = config_whole_nested(c, "vocab_size", d->vocab);
    ret->max_context =
        d->context > 0 ? config_whole_or(c, "max_position_embeddings", d->context) : config_whole(c, "max_position_embeddings");
    ret->embedding_tables = config_flag(c, "tie_word_embeddings", d->tied) ? 1 : 2;
    if (c->ok && (ret->layers < 1 || ret->layers > DSE_PATTERN_MAX))
        return config_error(c, "num_hidden_layers", "num_hidden_layers: 1 to %d layers", DSE_PATTERN_MAX);
    if (c->ok) a->fill(c, ret);
    return c->ok;
}
