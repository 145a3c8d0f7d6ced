/* Architectures with latent attention: DeepSeek-V2 and later, Kimi K2, GLM-4.7 Flash, GLM-5. */
#include "config/llm_rules.h"

#include <jansson.h>
#include <string.h>

/* What files of DeepSeek's kind may leave out: the rank of queries, the indexer, the first dense layers. */
struct latent_defaults {
    const char *model_type;
    int64_t q_rank, index_heads, index_dim, index_topk, shared, dense;
    bool plain_router; /* no bias corrects the choice of experts, unless topk_method says so */
    bool no_experts;   /* and values as wide as the hidden state over the heads */
};
static const struct latent_defaults *latent_defaults(const struct llm_config *c)
{
    static const struct latent_defaults all[] = {{"deepseek_v2", 1536, 0, 0, 0, 2, 0, .plain_router = true},
                                                 {"deepseek_v32", 1536, 64, 128, 2048, 1, 3},
                                                 {"glm_moe_dsa", 2048, 32, 128, 2048, 1, 3},
                                                 {"glm4_moe_lite", 768, 0, 0, 0, 1, 1},
                                                 {"mistral4", 1024, 0, 0, 0, 1, 0, .plain_router = true},
                                                 {"youtu", 1536, 0, 0, 0, 0, 0, .no_experts = true},
                                                 {"minicpm3", 768, 0, 0, 0, 0, 0, .no_experts = true},
                                                 {"deepseek_v3", 1536, 0, 0, 0, 1, 3}};
    enum { ALL = sizeof all / sizeof *all };
    for (size_t i = 0; i < ALL; i++)
        if (strcmp(all[i].model_type, c->model_type) == 0) return &all[i];
    return &all[ALL - 1];
}

/* ---- which layers have an indexer ------------------------------------------------------------------------------------------ */

/* A word or letter of one layer: has it an indexer of its own? -1: neither. */
static int owns_indexer(const char *word)
{
    if (strcmp(word, "full") == 0 || strcmp(word, "F") == 0) return 1;
    return strcmp(word, "shared") == 0 || strcmp(word, "S") == 0 ? 0 : -1;
}

/* The layers as a list of words, or a word of letters. False without either. */
static bool take_owners(struct llm_config *c, struct dse_llm *m, const char *key)
{
    if (!config_has(c, key)) return false;
    const char *letters = json_string_value(config_value(c, key));
    const int64_t n = letters ? (int64_t)strlen(letters) : config_list(c, key);
    if (n < 0 || !llm_fits(c, key, n, m->layers)) return true;
    m->attention.n = n;
    for (int64_t i = 0; i < n; i++) {
        const char letter[] = {letters ? letters[i] : '\0', '\0'}, *word = letters ? letter : config_list_word(c, key, i);
        const int owns = word ? owns_indexer(word) : -1;
        if (owns < 0) config_error(c, key, "%s: \"%s\" is neither full nor shared", key, word ? word : "?");
        m->attention.at[i] = owns == 1 ? DSE_LATENT_TOPK : DSE_LATENT_SHARED;
    }
    return true;
}

/* GLM-5.2: layers without an indexer read what the nearest one before them chose (indexer_types, or index_topk_pattern, or every
 * index_topk_freq-th layer from index_skip_topk_offset on and all before it). */
static void take_sharing(struct llm_config *c, struct dse_llm *m)
{
    const bool listed = take_owners(c, m, "indexer_types"), written = !listed && take_owners(c, m, "index_topk_pattern");
    const int64_t every = config_whole_if(c, "index_topk_freq");
    const int64_t offset = config_has(c, "index_skip_topk_offset") ? config_whole(c, "index_skip_topk_offset") : 2;
    config_has(c, "index_topk_pattern");
    if (!listed && !written && every > 1) {
        m->attention.n = m->layers;
        for (int64_t i = 0; i < m->layers; i++)
            m->attention.at[i] = (i < offset ? 0 : i - offset + 1) % every == 0 ? DSE_LATENT_TOPK : DSE_LATENT_SHARED;
    }
    if (!c->ok || m->latent.index_topk > 0) {
        llm_shorten(&m->attention);
        return;
    }
    if (m->attention.n > 0) config_error(c, "index_topk", "there is no index_topk, which layers with an indexer need");
}

/* Kinds of layers, as classes write them for their caches: what says of an indexer must be what its own keys say. */
static void check_layer_types(struct llm_config *c, const struct dse_llm *m)
{
    static const char key[] = "layer_types";
    const int64_t n = config_list(c, key);
    for (int64_t i = 0; i < n; i++) {
        const char *word = config_list_word(c, key, i);
        const bool sparse = word && strcmp(word, "deepseek_sparse_attention") == 0,
                   full = word && strcmp(word, "full_attention") == 0;
        if (!full && !sparse)
            config_error(c, key, "%s: \"%s\" is no kind of layer that %s is known to have", key, word ? word : "?", c->model_type);
        if (sparse && m->latent.index_topk == 0) config_error(c, key, "%s has %s, but there is no index_topk", key, word);
    }
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
    take_sharing(c, m);
}

/* DeepSeek-OCR says that attention is as in Llama (use_mla), and gives the widths of latents as null or 0. */
static void fill_without_latents(struct llm_config *c, struct dse_llm *m)
{
    static const char *const widths[] = {"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"};
    llm_fill_deepseek(c, m);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (config_whole_if(c, widths[i]) != 0) config_error(c, widths[i], "%s is not 0, but use_mla is false", widths[i]);
}

void llm_fill_latent(struct llm_config *c, struct dse_llm *m)
{
    const struct latent_defaults *d = latent_defaults(c);
    struct dse_llm_latent *l = &m->latent;
    if (config_has(c, "use_mla") && !config_flag(c, "use_mla", true)) {
        fill_without_latents(c, m);
        return;
    }
    m->heads = config_whole(c, "num_attention_heads");
    config_whole_if(c, "num_key_value_heads");
    config_whole_if(c, "head_dim");
    l->q_rank = config_whole_or_none(c, "q_lora_rank", d->q_rank);
    l->kv_rank = config_whole(c, "kv_lora_rank");
    l->nope_dim = config_whole(c, "qk_nope_head_dim");
    l->rope_dim = config_whole(c, "qk_rope_head_dim");
    l->v_head_dim =
        d->no_experts && m->heads > 0 ? config_whole_or(c, "v_head_dim", m->hidden / m->heads) : config_whole(c, "v_head_dim");
    take_indexer(c, m, d);
    check_layer_types(c, m);
    if (config_flag(c, "attention_bias", false))
        config_cannot(c, "attention_bias", NULL, "attention_bias: biases of latent attention are not counted");
    if (config_has(c, "mlp_bias")) llm_take_network_biases(c, "mlp_bias");
    if (!d->no_experts && !config_is_null(c, "n_routed_experts")) {
        llm_take_experts(c, m, "n_routed_experts", "moe_intermediate_size");
        m->moe.shared_ffn = config_whole_or_none(c, "n_shared_experts", d->shared) * m->moe.expert_ffn;
        llm_take_dense_first(c, m, d->dense);
        const char *method = config_word(c, "topk_method");
        m->moe.router_bias = method ? strcmp(method, "noaux_tc") == 0 : !d->plain_router;
    }
    llm_take_dense(c, m, "intermediate_size");
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
}

/* Of the experts that a token chooses some do nothing: by the chance of each the others are as many as ret. */
static int64_t working_experts(struct llm_config *c, const struct dse_llm_experts *e, int64_t chosen)
{
    static const char key[] = "zero_expert_num";
    const int64_t all = e->experts + e->zero_experts, working = all > 0 ? chosen * e->experts / all : 0;
    if (c->ok && working * all != chosen * e->experts)
        config_cannot(c, key, NULL, "%s: %lld of %lld experts are no whole number of those that do work", key, (long long)chosen,
                      (long long)all);
    if (e->zero_experts > 0)
        config_note(c, "a token chooses %lld of %lld experts; by their chance %lld of them do work", (long long)chosen,
                    (long long)all, (long long)working);
    return working;
}

/* LongCat-Flash: a layer of its file is two of latent attention with a dense network each. Experts stand beside the first network,
 * which is so a shared expert, and the router chooses some that do nothing. That their work may hide behind the second half is
 * not counted. */
void llm_fill_longcat(struct llm_config *c, struct dse_llm *m)
{
    struct dse_llm_latent *l = &m->latent;
    const int64_t pairs = config_whole_if(c, "num_layers");
    if (pairs > 0) m->layers = 2 * pairs;
    if (m->layers > DSE_PATTERN_MAX) config_error(c, "num_layers", "num_layers: 1 to %d layers", DSE_PATTERN_MAX / 2);
    m->heads = config_whole(c, "num_attention_heads");
    config_whole_if(c, "num_key_value_heads");
    config_whole_if(c, "head_dim");
    l->q_rank = config_whole_or_none(c, "q_lora_rank", 1536);
    l->kv_rank = config_whole_or(c, "kv_lora_rank", 512);
    l->nope_dim = config_whole_or(c, "qk_nope_head_dim", 128);
    l->rope_dim = config_whole_or(c, "qk_rope_head_dim", 64);
    l->v_head_dim = config_whole_or(c, "v_head_dim", 128);
    if (config_flag(c, "attention_bias", false))
        config_cannot(c, "attention_bias", NULL, "attention_bias: biases of latent attention are not counted");
    if (config_has(c, "router_bias") && config_flag(c, "router_bias", false))
        config_cannot(c, "router_bias", NULL, "router_bias: a bias of the router beside that of its choice is not counted");
    m->ffn = m->moe.shared_ffn = config_whole_or(c, "ffn_hidden_size", 12288);
    m->moe.experts = config_whole_or(c, "n_routed_experts", 512);
    m->moe.expert_ffn = config_whole_or(c, "expert_ffn_hidden_size", 2048);
    m->moe.zero_experts = config_whole_or(c, "zero_expert_num", 256);
    m->moe.experts_active = working_experts(c, &m->moe, config_whole_or(c, "moe_topk", 12));
    m->moe.router_bias = 1;
    m->feed_forward = (struct dse_pattern){.n = 2, .at = {DSE_FFN_EXPERTS, DSE_FFN_DENSE}};
}

/* Layers with latent attention among those with Kimi delta attention: full_attn_layers counts them from 1; else every fourth. */
static void take_kda_layers(struct llm_config *c, struct dse_llm *m)
{
    static const char linear[] = "linear_attn_config", full[] = "full_attn_layers";
    static const struct llm_layer_word words[] = {
        {"full_attention", DSE_LATENT}, {"linear_attention", DSE_KDA}, {"kda_attention", DSE_KDA}, {NULL, DSE_KDA}};
    if (llm_take_layer_types(c, m, "layer_types", words)) return;
    const int64_t n = config_list_in(c, linear, full);
    if (n < 0) llm_take_period(m, 4, DSE_KDA, DSE_LATENT);
    if (n < 0 || m->layers > DSE_PATTERN_MAX) return;
    m->attention.n = m->layers;
    memset(m->attention.at, DSE_KDA, (size_t)m->layers);
    for (int64_t k = 0; k < n; k++) {
        const int64_t layer = config_list_number_in(c, linear, full, k);
        if (layer < 1 || layer > m->layers)
            config_error(c, linear, "%s: there is no layer %lld", full, (long long)layer);
        else
            m->attention.at[layer - 1] = DSE_LATENT;
    }
    llm_shorten(&m->attention);
}

void llm_fill_kimi_linear(struct llm_config *c, struct dse_llm *m)
{
    static const char linear[] = "linear_attn_config";
    struct dse_llm_latent *l = &m->latent;
    struct dse_llm_states *s = &m->states;
    m->heads = config_whole(c, "num_attention_heads");
    config_whole_if(c, "num_key_value_heads");
    config_whole_if(c, "head_dim");
    l->q_rank = config_whole_if(c, "q_lora_rank");
    l->kv_rank = config_whole_or(c, "kv_lora_rank", 512);
    l->nope_dim = config_whole_or(c, "qk_nope_head_dim", 128);
    l->rope_dim = config_whole_or(c, "qk_rope_head_dim", 64);
    l->v_head_dim = config_whole_or(c, "v_head_dim", 128);
    m->details.output_gate = config_flag(c, "mla_use_output_gate", false) ? DSE_GATE_ELEMENT : DSE_NO_GATE;
    s->state_value_heads = s->state_key_heads = config_whole_in(c, linear, "num_heads", 32);
    s->state_value_dim = s->state_key_dim = config_whole_in(c, linear, "head_dim", 128);
    s->conv_kernel = config_whole_in(c, linear, "short_conv_kernel_size", 4);
    s->state_full_gate = config_flag_in(c, linear, "use_full_rank_gate");
    llm_take_experts(c, m, "num_experts", "moe_intermediate_size");
    m->moe.shared_ffn = config_whole_or(c, "num_shared_experts", 1) * m->moe.expert_ffn;
    m->moe.expert_latent = config_whole_if(c, "routed_expert_hidden_size");
    m->moe.latent_norm = m->moe.expert_latent > 0 && config_flag(c, "latent_moe_use_norm", false);
    m->moe.router_bias = 1;
    llm_take_dense_first(c, m, 1);
    llm_take_dense(c, m, "intermediate_size");
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
    take_kda_layers(c, m);
    m->residual.residual_block = config_whole_if(c, "attn_res_block_size");
}

/* MiniMax-M3: grouped queries attend to blocks of positions that an indexer chooses, in the layers that sparse_attention_config, or
 * layer_types, says. */
void llm_fill_minimax_m3(struct llm_config *c, struct dse_llm *m)
{
    static const char sparse[] = "sparse_attention_config", freq[] = "sparse_attention_freq";
    static const struct llm_layer_word words[] = {
        {"full_attention", DSE_FULL}, {"minimax_m3_sparse", DSE_FULL_TOPK}, {NULL, DSE_FULL}};
    const bool nested = config_has(c, sparse);
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    if (config_flag(c, "use_qk_norm", true)) m->details.qk_norm = DSE_QK_NORM_HEAD;
    if (config_flag(c, "attention_output_gate", false)) m->details.output_gate = DSE_GATE_ELEMENT;
    llm_take_experts(c, m, "num_local_experts", "intermediate_size");
    m->moe.shared_ffn =
        config_whole_or(c, "n_shared_experts", 1) * config_whole_or(c, "shared_intermediate_size", m->moe.expert_ffn);
    m->moe.router_bias = config_flag(c, "use_routing_bias", true);
    llm_take_dense_first(c, m, 0);
    llm_take_dense(c, m, "dense_intermediate_size");
    m->details.mtp_layers = config_whole_if(c, config_has(c, "num_mtp_modules") ? "num_mtp_modules" : "num_nextn_predict_layers");
    config_has(c, "num_nextn_predict_layers"); /* beside the other name */
    const int64_t heads = nested ? config_whole_in(c, sparse, "sparse_num_index_heads", 4) : config_whole_or(c, "index_n_heads", 4);
    const int64_t dim = nested ? config_whole_in(c, sparse, "sparse_index_dim", 128) : config_whole_or(c, "index_head_dim", 128);
    const int64_t blocks =
        nested ? config_whole_in(c, sparse, "sparse_topk_blocks", 16) : config_whole_or(c, "index_topk_blocks", 16);
    const int64_t size =
        nested ? config_whole_in(c, sparse, "sparse_block_size", 128) : config_whole_or(c, "index_block_size", 128);
    m->latent = (struct dse_llm_latent){.index_heads = heads, .index_dim = dim, .index_topk = blocks * size};
    if (llm_take_layer_types(c, m, "layer_types", words)) return;
    const int64_t n = config_list_in(c, sparse, freq);
    if (n < 0) config_error(c, sparse, "there is no %s, which says which layers choose their positions", freq);
    if (n < 0 || !llm_fits(c, sparse, n, m->layers)) return;
    m->attention.n = n;
    for (int64_t i = 0; i < n; i++) m->attention.at[i] = config_list_number_in(c, sparse, freq, i) == 1 ? DSE_FULL_TOPK : DSE_FULL;
    llm_shorten(&m->attention);
}
