/* Architectures with layers whose memory is a state. */
#include "config/llm_rules.h"

#include <string.h>

void llm_fill_minimax_text(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    llm_take_experts(c, m, "num_local_experts", "intermediate_size");
    m->moe.shared_ffn = config_whole_if(c, "shared_intermediate_size");
    m->states.state_key_heads = m->states.state_value_heads = m->heads;
    m->states.state_key_dim = m->states.state_value_dim = m->head_dim;
    const int64_t n = config_list(c, "attn_type_list");
    static const struct llm_layer_word words[] = {
        {"full_attention", DSE_FULL}, {"linear_attention", DSE_LIGHTNING}, {NULL, DSE_FULL}};
    if (n < 0 && llm_take_layer_types(c, m, "layer_types", words)) return;
    if (n < 0) {
        config_error(c, "attn_type_list", "there is no attn_type_list, which says which layers are lightning attention");
        return;
    }
    if (!llm_fits(c, "attn_type_list", n, m->layers)) return;
    m->attention.n = n;
    for (int64_t i = 0; i < n; i++) m->attention.at[i] = config_list_number(c, "attn_type_list", i) == 1 ? DSE_FULL : DSE_LIGHTNING;
    llm_shorten(&m->attention);
}

static void take_delta(struct llm_config *c, struct dse_llm *m)
{
    struct dse_llm_states *s = &m->states;
    s->state_key_heads = config_whole_or(c, "linear_num_key_heads", 16);
    s->state_key_dim = config_whole_or(c, "linear_key_head_dim", 128);
    s->state_value_heads = config_whole_or(c, "linear_num_value_heads", 32);
    s->state_value_dim = config_whole_or(c, "linear_value_head_dim", 128);
    s->conv_kernel = config_whole_or(c, "linear_conv_kernel_dim", 4);
    if (!llm_take_layer_types(c, m, "layer_types", llm_attention_words))
        llm_take_period(m, config_whole_or(c, "full_attention_interval", 4), DSE_DELTA, DSE_FULL);
    config_whole_if(c, "full_attention_interval");
}

/* OLMo Hybrid: gated delta rules, whose heads are those of attention where the file does not say it. */
void llm_fill_olmo_hybrid(struct llm_config *c, struct dse_llm *m)
{
    struct dse_llm_states *s = &m->states;
    llm_fill_olmo2(c, m);
    s->state_key_heads = config_whole_or(c, "linear_num_key_heads", m->heads);
    s->state_value_heads = config_whole_or(c, "linear_num_value_heads", m->heads);
    const int64_t width = s->state_key_heads > 0 ? 3 * m->hidden / (4 * s->state_key_heads) : 0;
    s->state_key_dim = config_whole_or(c, "linear_key_head_dim", width);
    s->state_value_dim = config_whole_or(c, "linear_value_head_dim", 2 * s->state_key_dim);
    s->conv_kernel = config_whole_or(c, "linear_conv_kernel_dim", 4);
    if (!llm_take_layer_types(c, m, "layer_types", llm_attention_words)) llm_take_period(m, 4, DSE_DELTA, DSE_FULL);
}

/* A gate of latent attention: one a head, one an element, or none. */
static int32_t bailing_gate(struct llm_config *c)
{
    static const char key[] = "gated_attention_proj_granularity_type";
    const char *word = config_word(c, key);
    if (word && strcmp(word, "head_wise") == 0) return DSE_GATE_HEAD;
    if (word && strcmp(word, "element_wise") == 0) return DSE_GATE_ELEMENT;
    if (word) config_error(c, key, "%s: \"%s\" is neither head_wise nor element_wise", key, word);
    return DSE_NO_GATE;
}

/* Ring-linear, Ling 2.5 and 3: the last layer of each group, and those behind the last group, are attention, grouped or (with
 * kv_lora_rank) latent; the others lightning attention, or (with a convolution) Kimi delta attention. */
void llm_fill_bailing_hybrid(struct llm_config *c, struct dse_llm *m)
{
    struct dse_llm_states *s = &m->states;
    struct dse_llm_latent *l = &m->latent;
    const bool latent = config_has(c, "kv_lora_rank"), kda = config_has(c, "short_conv_kernel_size");
    llm_fill_bailing(c, m);
    s->state_key_heads = s->state_value_heads = m->heads;
    s->state_key_dim = s->state_value_dim = m->head_dim;
    if (kda) s->conv_kernel = config_whole(c, "short_conv_kernel_size");
    if (config_has(c, "no_kda_lora")) s->state_full_gate = s->state_full_decay = kda && config_flag(c, "no_kda_lora", false);
    if (latent) {
        l->q_rank = config_whole_if(c, "q_lora_rank");
        l->kv_rank = config_whole(c, "kv_lora_rank");
        l->nope_dim = config_whole(c, "qk_nope_head_dim");
        l->rope_dim = config_whole(c, "qk_rope_head_dim");
        l->v_head_dim = config_whole(c, "v_head_dim");
        m->details.output_gate = bailing_gate(c);
        m->kv_heads = m->head_dim = 0;
    }
    const int64_t group = config_whole(c, "layer_group_size"), grouped = group > 0 ? m->layers / group * group : 0;
    m->attention.n = m->layers;
    for (int64_t i = 0; i < m->layers; i++) {
        const bool full = group <= 1 || (i + 1) % group == 0 || i >= grouped;
        m->attention.at[i] = full ? latent ? DSE_LATENT : DSE_FULL : kda ? DSE_KDA : DSE_LIGHTNING;
    }
    llm_shorten(&m->attention);
}

void llm_fill_qwen3_next(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    m->details.qk_norm = DSE_QK_NORM_HEAD;
    m->details.output_gate = config_flag(c, "attn_output_gate", true);
    config_has(c, "use_sliding_window"); /* says nothing here */
    take_delta(c, m);
    const bool always = strcmp(c->model_type, "qwen3_next") == 0 || strstr(c->model_type, "moe") != NULL;
    if (always || config_has(c, "num_local_experts") || (config_has(c, "num_experts") && config_whole(c, "num_experts") > 0)) {
        llm_take_experts(c, m, "num_experts", "moe_intermediate_size");
        m->moe.shared_ffn = config_whole_or_none(c, "shared_expert_intermediate_size", 512);
        m->moe.shared_gate = m->moe.shared_ffn > 0;
        llm_take_sparse_layers(c, m, "decoder_sparse_step", "mlp_only_layers");
    }
    llm_take_dense(c, m, "intermediate_size");
    m->details.mtp_layers =
        config_whole_if(c, config_has(c, "mtp_num_hidden_layers") ? "mtp_num_hidden_layers" : "num_nextn_predict_layers");
}

void llm_fill_jamba(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    const int64_t period = config_whole_or(c, "attn_layer_period", 8), offset = config_whole_or(c, "attn_layer_offset", 4);
    const int64_t every = config_whole_or(c, "expert_layer_period", 2), first = config_whole_or(c, "expert_layer_offset", 1);
    m->ffn = config_whole(c, "intermediate_size");
    m->moe.experts = config_whole_or(c, "num_experts", 16);
    m->moe.experts_active = config_whole_or(c, "num_experts_per_tok", 2);
    m->moe.expert_ffn = m->ffn;
    m->states.ssm_inner = m->hidden * config_whole_or(c, "mamba_expand", 2);
    m->states.ssm_state = config_whole_or(c, "mamba_d_state", 16);
    m->states.conv_kernel = config_whole_or(c, "mamba_d_conv", 4);
    const bool given = config_is_number(c, "mamba_dt_rank"); /* else "auto" */
    m->states.ssm_dt_rank = given ? config_whole(c, "mamba_dt_rank") : (m->hidden + 15) / 16;
    m->states.ssm_norms = 1;
    llm_take_state_biases(c, "mamba_conv_bias", "mamba_proj_bias");
    if (period <= 0 || every <= 0 || m->layers > DSE_PATTERN_MAX) {
        config_error(c, "attn_layer_period", "periods of layers are numbers from 1");
        return;
    }
    m->attention.n = m->feed_forward.n = m->layers;
    for (int64_t i = 0; i < m->layers; i++) {
        m->attention.at[i] = i % period == offset ? DSE_FULL : DSE_MAMBA;
        m->feed_forward.at[i] = m->moe.experts > 1 && i % every == first ? DSE_FFN_EXPERTS : DSE_FFN_DENSE;
    }
    llm_shorten(&m->attention);
    llm_shorten(&m->feed_forward);
    if (m->moe.experts <= 1) m->moe = (struct dse_llm_experts){0}; /* one expert is a dense network */
}

/* Mamba and Falcon Mamba: intermediate_size, where a file has it, counts before `expand`. */
void llm_fill_mamba(struct llm_config *c, struct dse_llm *m)
{
    enum { STATES_A_RANK = 16 };
    struct dse_llm_states *s = &m->states;
    const int64_t expand = config_whole_or(c, "expand", 2);
    const bool given = config_is_number(c, "time_step_rank"); /* else "auto" */
    s->ssm_inner = config_has(c, "intermediate_size") ? config_whole(c, "intermediate_size") : expand * m->hidden;
    s->ssm_state = config_whole_or(c, "state_size", 16);
    s->conv_kernel = config_whole_or(c, "conv_kernel", 4);
    s->ssm_dt_rank = given ? config_whole(c, "time_step_rank") : (m->hidden + STATES_A_RANK - 1) / STATES_A_RANK;
    llm_take_state_biases(c, "use_conv_bias", "use_bias");
    m->attention = (struct dse_pattern){.n = 1, .at = {DSE_MAMBA}};
    m->feed_forward = (struct dse_pattern){.n = 1, .at = {DSE_NO_FFN}};
}

void llm_fill_mamba2(struct llm_config *c, struct dse_llm *m)
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

/* The same in words. */
static char letter_of(const char *word)
{
    static const char *const words[] = {"mamba", "attention", "mlp", "moe"};
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], word) == 0) return "M*-E"[i];
    return '?';
}

/* The letters of the layers, in ret: hybrid_override_pattern, layers_block_type, or the types of block_configs. */
static bool read_letters(struct llm_config *c, const struct dse_llm *m, char ret[DSE_PATTERN_MAX + 1])
{
    static const char letters_key[] = "hybrid_override_pattern", blocks_key[] = "block_configs";
    const char *letters = config_word(c, letters_key), *words_key = "layers_block_type";
    int64_t words = config_list(c, words_key);
    const bool blocks = words < 0 && config_has(c, blocks_key);
    if (blocks) words = config_list(c, words_key = blocks_key);
    if (!letters && words < 0)
        return config_error(c, letters_key, "there is no hybrid_override_pattern, which %s needs", c->model_type);
    if (!llm_fits(c, letters ? letters_key : words_key, letters ? (int64_t)strlen(letters) : words, m->layers)) return false;
    for (int64_t i = 0; i < m->layers; i++) {
        const char *word = blocks ? config_word_at(c, blocks_key, i, "block_type") : config_list_word(c, words_key, i);
        ret[i] = letters ? letters[i] : letter_of(word);
    }
    for (int64_t i = 0; i < m->layers; i++)
        if (!strchr("M*-E", ret[i]))
            return config_error(c, letters ? letters_key : words_key, "%s: a layer '%c' is not known",
                                letters ? letters_key : words_key, ret[i]);
    return true;
}

/* A letter a layer: M Mamba-2, * attention, - dense, E experts; each a layer of its own. */
static void take_letters(struct llm_config *c, struct dse_llm *m)
{
    char letters[DSE_PATTERN_MAX + 1] = "";
    if (!read_letters(c, m, letters)) return;
    m->attention.n = m->feed_forward.n = m->layers;
    for (int64_t i = 0; i < m->layers; i++) {
        const char l = letters[i];
        m->attention.at[i] = l == 'M' ? DSE_MAMBA2 : l == '*' ? DSE_FULL : DSE_NO_MIXER;
        m->feed_forward.at[i] = l == '-' ? DSE_FFN_DENSE : l == 'E' ? DSE_FFN_EXPERTS : DSE_NO_FFN;
    }
}

static bool has_network(const struct dse_llm *m, enum dse_feed_forward ffn)
{
    for (int64_t i = 0; i < m->feed_forward.n; i++)
        if (m->feed_forward.at[i] == ffn) return true;
    return false;
}

static void take_nemotron_experts(struct llm_config *c, struct dse_llm *m)
{
    const bool blocks = config_has(c, "block_configs"); /* which may say all of it */
    if (blocks) {
        m->moe.experts = config_whole_if(c, "n_routed_experts");
        m->moe.experts_active = config_whole_if(c, "num_experts_per_tok");
        m->moe.expert_ffn = config_whole_if(c, "moe_intermediate_size");
    } else {
        llm_take_experts(c, m, "n_routed_experts", "moe_intermediate_size");
    }
    m->moe.shared_ffn = config_has(c, "moe_shared_expert_intermediate_size")
                            ? config_whole(c, "moe_shared_expert_intermediate_size")
                            : config_whole_or_none(c, "n_shared_experts", 1) * m->moe.expert_ffn;
    config_whole_if(c, "n_shared_experts");
    m->moe.expert_latent = config_whole_if(c, "moe_latent_size");
    m->moe.router_bias = 1;
    if (blocks) llm_make_nemotron_blocks(c, m);
}

void llm_fill_nemotron_h(struct llm_config *c, struct dse_llm *m)
{
    struct dse_llm_states *s = &m->states;
    llm_take_heads(c, m);
    m->ffn_matrices = 2; /* squared ReLU */
    s->ssm_heads = config_whole(c, "mamba_num_heads");
    s->ssm_inner = s->ssm_heads * config_whole(c, "mamba_head_dim");
    s->ssm_state = config_whole(c, "ssm_state_size");
    s->ssm_groups = config_whole(c, "n_groups");
    s->conv_kernel = config_whole_or(c, "conv_kernel", 4);
    config_whole_if(c, "expand");
    llm_take_biases(c, m, false);
    take_letters(c, m);
    if (has_network(m, DSE_FFN_DENSE)) m->ffn = config_whole(c, "intermediate_size");
    config_whole_if(c, "intermediate_size");
    static const char *const of_experts[] = {"n_routed_experts",
                                             "num_experts_per_tok",
                                             "moe_intermediate_size",
                                             "n_shared_experts",
                                             "moe_shared_expert_intermediate_size",
                                             "moe_latent_size"};
    for (size_t i = 0; i < sizeof of_experts / sizeof *of_experts; i++)
        config_has(c, of_experts[i]); /* of files without any, too */
    llm_take_network_biases(c, "mlp_bias");
    if (has_network(m, DSE_FFN_EXPERTS)) take_nemotron_experts(c, m);
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
}

/* Mamba-2 as Bamba and Granite 4 write it. */
static void take_mamba2(struct llm_config *c, struct dse_llm *m)
{
    struct dse_llm_states *s = &m->states;
    s->ssm_heads = config_whole_or(c, "mamba_n_heads", 128);
    s->ssm_inner = m->hidden * config_whole_or(c, "mamba_expand", 2);
    s->ssm_state = config_whole_or(c, "mamba_d_state", 256);
    s->ssm_groups = config_whole_or(c, "mamba_n_groups", 1);
    s->conv_kernel = config_whole_or(c, "mamba_d_conv", 4);
    config_has(c, "mamba_d_head");
    llm_take_state_biases(c, "mamba_conv_bias", "mamba_proj_bias");
}

/* Bamba: attention in the layers that attn_layer_indices lists, Mamba-2 in all others; a dense network in each. */
void llm_fill_bamba(struct llm_config *c, struct dse_llm *m)
{
    static const char key[] = "attn_layer_indices";
    const int64_t n = config_list(c, key);
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    llm_take_network_biases(c, "mlp_bias");
    m->ffn = config_whole(c, "intermediate_size");
    m->attention.n = m->layers;
    memset(m->attention.at, DSE_MAMBA2, (size_t)m->layers);
    for (int64_t k = 0; k < n; k++) {
        const int64_t layer = config_list_number(c, key, k);
        if (layer < 0 || layer >= m->layers)
            config_error(c, key, "%s: there is no layer %lld", key, (long long)layer);
        else
            m->attention.at[layer] = DSE_FULL;
    }
    llm_shorten(&m->attention);
    take_mamba2(c, m);
}

/* Granite 4: Mamba-2 and a few layers of attention; experts, which may be none, beside a network that all tokens go through. */
void llm_fill_granite_hybrid(struct llm_config *c, struct dse_llm *m)
{
    static const struct llm_layer_word words[] = {
        {"attention", DSE_FULL}, {"full_attention", DSE_FULL}, {"mamba", DSE_MAMBA2}, {NULL, DSE_FULL}};
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    if (!llm_take_layer_types(c, m, "layer_types", words) && !llm_take_layer_types(c, m, "layers_block_type", words)) {
        config_error(c, "layer_types", "there are no layer_types, which say which layers are Mamba");
        return;
    }
    take_mamba2(c, m);
    if (config_has(c, "num_local_experts") && config_whole(c, "num_local_experts") > 0) {
        llm_take_experts(c, m, "num_local_experts", "intermediate_size");
        m->moe.shared_ffn = config_whole_if(c, "shared_intermediate_size");
    } else {
        m->ffn = config_whole(c, "shared_intermediate_size");
        config_whole_if(c, "num_experts_per_tok");
        config_whole_if(c, "intermediate_size");
    }
}

/* LFM2: short convolutions and a few layers of attention. The width of the network is two thirds of what the file says, up to a
 * whole number of block_multiple_of, unless block_auto_adjust_ff_dim is false. */
void llm_fill_lfm2(struct llm_config *c, struct dse_llm *m)
{
    enum { WIDEST = 1000 };
    static const struct llm_layer_word words[] = {{"conv", DSE_CONVOLUTION}, {"full_attention", DSE_FULL}, {NULL, DSE_FULL}};
    llm_take_heads(c, m);
    m->details.qk_norm = DSE_QK_NORM_HEAD;
    m->states.conv_kernel = config_whole_or(c, "conv_L_cache", 3);
    if (config_flag(c, "conv_bias", false))
        config_cannot(c, "conv_bias", NULL, "conv_bias: biases of convolutions are not counted");
    m->ffn = config_whole(c, config_has(c, "block_ff_dim") ? "block_ff_dim" : "intermediate_size");
    config_whole_if(c, "intermediate_size");
    const int64_t by = config_whole_or(c, "block_multiple_of", 256);
    if (config_flag(c, "block_auto_adjust_ff_dim", true) && by > 0) {
        const double multiplier = config_number_or(c, "block_ffn_dim_multiplier", 1);
        const int64_t two_thirds = 2 * m->ffn / 3;
        if (!(multiplier > 0 && multiplier < WIDEST))
            config_error(c, "block_ffn_dim_multiplier", "block_ffn_dim_multiplier: a number above 0 and below %d is needed",
                         WIDEST);
        if (!c->ok) return;
        m->ffn = (int64_t)(multiplier * (double)two_thirds);
        m->ffn = (m->ffn + by - 1) / by * by;
    }
    config_has(c, "block_ffn_dim_multiplier");
    if (!llm_take_layer_types(c, m, "layer_types", words))
        config_error(c, "layer_types", "there are no layer_types, which say which layers are convolutions");
    if (!config_has(c, "num_experts")) return;
    llm_take_experts(c, m, "num_experts", "moe_intermediate_size");
    m->dense_layers = config_whole_if(c, "num_dense_layers");
    m->moe.router_bias = config_flag(c, "use_expert_bias", true);
}
