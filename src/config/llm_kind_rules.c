/* Architectures whose layers are of several kinds, each with heads, widths and networks of its own. */
#include "config/llm_rules.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- kinds ------------------------------------------------------------------------------------------------------------------ */

static int32_t network_of(const struct dse_llm *m, int64_t layer)
{
    if (layer < m->dense_layers) return DSE_FFN_DENSE;
    if (m->feed_forward.n > 0) return m->feed_forward.at[layer % m->feed_forward.n];
    return m->moe.experts > 0 ? DSE_FFN_EXPERTS : DSE_FFN_DENSE;
}

static bool is_mixed(const struct dse_llm *m)
{
    for (int64_t i = 1; i < m->layers; i++)
        if (network_of(m, i) != network_of(m, 0)) return true;
    return false;
}

static struct dse_layer_kind kind_of(const struct llm_variant *v, int32_t network)
{
    return (struct dse_layer_kind){.attention = v->attention, .beside = v->beside, .feed_forward = network, .shape = v->shape};
}

static void add_name(struct text *t, const struct llm_variant *v, int of)
{
    if (v->name)
        text_add(t, v->name);
    else
        text_addf(t, "block-%d", of + 1);
}

void llm_make_kinds(struct llm_config *c, struct dse_llm *m, const struct llm_variant *variants, const uint8_t *of)
{
    uint8_t variant_of[DSE_LAYER_KINDS_MAX];
    const bool mixed = is_mixed(m);
    m->n_kinds = 0;
    m->layer_kinds.n = m->layers;
    for (int64_t i = 0; i < m->layers; i++) {
        const int32_t network = network_of(m, i);
        size_t k = 0;
        while (k < m->n_kinds && (variant_of[k] != of[i] || m->kinds[k].feed_forward != network)) k++;
        m->layer_kinds.at[i] = (uint8_t)k;
        if (k < m->n_kinds) continue;
        if (k == DSE_LAYER_KINDS_MAX) {
            config_error(c, "num_hidden_layers", "more than %d kinds of layers", DSE_LAYER_KINDS_MAX);
            return;
        }
        add_name(&c->said->names[k], &variants[of[i]], of[i]);
        if (mixed) text_addf(&c->said->names[k], "-%s", dse_feed_forward_names[network]);
        variant_of[k] = of[i];
        m->kinds[k] = kind_of(&variants[of[i]], network);
        m->kinds[m->n_kinds++].name = c->said->names[k].s;
    }
    m->attention.n = m->feed_forward.n = m->dense_layers = 0;
    llm_shorten(&m->layer_kinds);
}

/* ---- windows with heads of their own ---------------------------------------------------------------------------------------- */

enum { FULL, WINDOW, VARIANTS };

/* Layers with a window and without one; `variants` are of these two, as the LLM is. */
static void full_and_window(const struct dse_llm *m, struct llm_variant ret[VARIANTS])
{
    ret[FULL] = (struct llm_variant){"full", DSE_FULL, DSE_NO_MIXER, m->shape};
    ret[WINDOW] = (struct llm_variant){"window", DSE_WINDOW, DSE_NO_MIXER, m->shape};
}

/* MiMo-V2: layers with a window have KV heads, widths and sinks of their own; hybrid_layer_pattern has 1 for them. */
void llm_fill_mimo_v2(struct llm_config *c, struct dse_llm *m)
{
    struct llm_variant variants[VARIANTS];
    uint8_t of[DSE_PATTERN_MAX] = {0};
    const char *window = config_has(c, "sliding_window") ? "sliding_window" : "sliding_window_size";
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    m->value_dim = config_whole_or(c, "v_head_dim", m->head_dim);
    m->attention_window = config_whole_or(c, window, 128);
    config_whole_if(c, "sliding_window_size");
    if (config_has(c, "n_routed_experts")) {
        llm_take_experts(c, m, "n_routed_experts", "moe_intermediate_size");
        m->moe.shared_ffn = config_whole_if(c, "n_shared_experts") * m->moe.expert_ffn;
        m->moe.router_bias = 1;
    }
    llm_take_dense_first(c, m, 0);
    m->ffn = config_whole_or(c, "intermediate_size", c->defaults->ffn);
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
    full_and_window(m, variants);
    struct dse_layer_shape *w = &variants[WINDOW].shape;
    w->heads = config_whole_or(c, "swa_num_attention_heads", m->heads);
    w->kv_heads = config_whole_or(c, "swa_num_key_value_heads", m->kv_heads);
    w->head_dim = config_whole_or(c, "swa_head_dim", m->head_dim);
    w->value_dim = config_whole_or(c, "swa_v_head_dim", m->value_dim);
    w->details.attention_sinks = config_flag(c, "add_swa_attention_sink_bias", true);
    variants[FULL].shape.details.attention_sinks = config_flag(c, "add_full_attention_sink_bias", false);
    const int64_t n = config_list(c, "hybrid_layer_pattern");
    if (n < 0) config_error(c, "hybrid_layer_pattern", "there is no hybrid_layer_pattern, which says which layers have a window");
    if (n < 0 || !llm_fits(c, "hybrid_layer_pattern", n, m->layers)) return;
    for (int64_t i = 0; i < n; i++) of[i] = config_list_number(c, "hybrid_layer_pattern", i) == 1 ? WINDOW : FULL;
    llm_make_kinds(c, m, variants, of);
}

/* One gate a head, or one an element. -1: neither. */
static int gate_of(const char *word)
{
    if (strcmp(word, "per-head") == 0 || strcmp(word, "per_head") == 0) return DSE_GATE_HEAD;
    return strcmp(word, "per-element") == 0 || strcmp(word, "per_element") == 0 ? DSE_GATE_ELEMENT : -1;
}

/* Laguna's `gating` is a word, true for gates a head, or false for none; gating_types has the word of each layer. */
static int32_t laguna_gate(struct llm_config *c)
{
    static const char key[] = "gating", types[] = "gating_types";
    const int64_t n = config_list(c, types);
    const bool is_text = config_is_text(c, key), on = is_text || config_flag(c, key, true);
    const char *word = is_text ? config_word(c, key) : "per-head";
    const int gate = on ? gate_of(word) : DSE_NO_GATE;
    if (gate < 0) config_error(c, key, "%s: \"%s\" is no gate that %s is known to have", key, word, c->model_type);
    for (int64_t i = 0; i < n && c->ok; i++) {
        const char *is = config_list_word(c, types, i);
        if (!is || gate_of(is) != gate) config_error(c, types, "%s: \"%s\" is not what %s says", types, is ? is : "?", key);
    }
    return gate < 0 ? DSE_NO_GATE : gate;
}

static void take_laguna_experts(struct llm_config *c, struct dse_llm *m)
{
    llm_take_experts(c, m, "num_experts", "moe_intermediate_size");
    m->moe.shared_ffn = config_whole_or(c, "shared_expert_intermediate_size", 512);
    m->moe.router_bias = 1;
    if (config_has(c, "mlp_only_layers") && !config_has(c, "mlp_layer_types"))
        llm_take_sparse_layers(c, m, "decoder_sparse_step", "mlp_only_layers");
    else
        llm_take_dense_first(c, m, 1);
    llm_take_dense(c, m, "intermediate_size");
}

/* Laguna: num_attention_heads_per_layer has the query heads of each layer, which gate what they give. */
void llm_fill_laguna(struct llm_config *c, struct dse_llm *m)
{
    static const char key[] = "num_attention_heads_per_layer";
    static const char *const names[DSE_LAYER_KINDS_MAX] = {"full", "window", "full-2", "window-2", "full-3", "window-3"};
    enum { DIFFERENT = 6 };
    struct llm_variant variants[DIFFERENT];
    uint8_t of[DSE_PATTERN_MAX] = {0};
    size_t n = 0;
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    m->details.qk_norm = DSE_QK_NORM_HEAD;
    m->details.output_gate = laguna_gate(c);
    take_laguna_experts(c, m);
    m->attention_window = config_whole_or(c, "sliding_window", 512);
    if (!llm_take_layer_types(c, m, "layer_types", llm_attention_words))
        m->attention = (struct dse_pattern){.n = 1, .at = {DSE_FULL}};
    const int64_t listed = config_list(c, key);
    if (listed >= 0 && !llm_fits(c, key, listed, m->layers)) return;
    for (int64_t i = 0; c->ok && i < m->layers; i++) {
        const int32_t mixer = m->attention.at[i % m->attention.n];
        const int64_t heads = listed >= 0 ? config_list_number(c, key, i) : m->heads;
        size_t k = 0;
        while (k < n && (variants[k].attention != mixer || variants[k].shape.heads != heads)) k++;
        of[i] = (uint8_t)k;
        if (k < n) continue;
        if (n == DIFFERENT) config_error(c, key, "%s: layers of more than %d kinds", key, DIFFERENT);
        if (!c->ok) return;
        const size_t again = n > 0 && variants[n - 1].attention == mixer ? 2 : 0;
        variants[n] = (struct llm_variant){names[(n / 2) * 2 + (mixer == DSE_WINDOW ? 1 : 0) + (n % 2 ? 0 : again)], mixer,
                                           DSE_NO_MIXER, m->shape};
        variants[n++].shape.heads = heads;
    }
    if (c->ok) llm_make_kinds(c, m, variants, of);
}

/* moe_layers_enum: the layers with experts, as a list or a text with commas; without it all behind the third. */
static void take_expert_layers(struct llm_config *c, struct dse_llm *m)
{
    enum { FIRST = 3 };
    static const char key[] = "moe_layers_enum";
    const char *text = config_is_text(c, key) ? config_word(c, key) : NULL;
    const int64_t listed = !text && config_has(c, key) ? config_list(c, key) : -1;
    m->feed_forward.n = m->layers;
    for (int64_t i = 0; i < m->layers; i++)
        m->feed_forward.at[i] = text || listed >= 0 || i < FIRST ? DSE_FFN_DENSE : DSE_FFN_EXPERTS;
    for (int64_t k = 0; k < listed; k++) {
        const int64_t layer = config_list_number(c, key, k);
        if (layer >= 0 && layer < m->layers) m->feed_forward.at[layer] = DSE_FFN_EXPERTS;
    }
    for (const char *p = text; p && *p; p += strcspn(p, ","), p += *p == ',') {
        const long layer = strtol(p, NULL, 10);
        if (layer >= 0 && layer < m->layers) m->feed_forward.at[layer] = DSE_FFN_EXPERTS;
    }
}

/* Step 3.5 and 3.7: layers with a window have the heads of attention_other_setting. */
void llm_fill_step3(struct llm_config *c, struct dse_llm *m)
{
    static const char other[] = "attention_other_setting";
    struct llm_variant variants[VARIANTS];
    uint8_t of[DSE_PATTERN_MAX] = {0};
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    m->details.qk_norm = DSE_QK_NORM_HEAD;
    m->details.output_gate = config_flag(c, "use_head_wise_attn_gate", false) ? DSE_GATE_HEAD : DSE_NO_GATE;
    llm_take_experts(c, m, "num_experts", "moe_intermediate_size");
    m->moe.shared_ffn = config_whole_or(c, "share_expert_dim", 1280);
    m->moe.router_bias = config_flag(c, "use_moe_router_bias", false);
    if (config_has(c, "mlp_layer_types") || config_has(c, "first_k_dense_replace"))
        llm_take_dense_first(c, m, 3);
    else
        take_expert_layers(c, m);
    llm_take_dense(c, m, "intermediate_size");
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
    m->attention_window = config_whole_if(c, "sliding_window");
    full_and_window(m, variants);
    struct dse_layer_shape *w = &variants[WINDOW].shape;
    w->heads = config_whole_in(c, other, "num_attention_heads", m->heads);
    w->kv_heads = config_whole_in(c, other, "num_attention_groups", m->kv_heads);
    w->head_dim = config_whole_in(c, other, "head_dim", m->head_dim);
    const int64_t n = config_list(c, "layer_types"); /* there may be more: of the layers that draft */
    if (n < m->layers)
        config_error(c, "layer_types", "layer_types has %lld entries for %lld layers", (long long)n, (long long)m->layers);
    for (int64_t i = 0; c->ok && i < m->layers; i++) {
        const char *word = config_list_word(c, "layer_types", i);
        of[i] = word && strcmp(word, "sliding_attention") == 0 ? WINDOW : FULL;
    }
    if (c->ok) llm_make_kinds(c, m, variants, of);
}

/* ---- Gemma ------------------------------------------------------------------------------------------------------------------ */

void llm_take_layer_inputs(struct llm_config *c, struct dse_llm *m, int64_t rows)
{
    m->inputs.layer_input = config_whole_or_none(c, "hidden_size_per_layer_input", 256);
    m->inputs.layer_input_vocab = m->inputs.layer_input > 0 ? config_whole_or(c, "vocab_size_per_layer_input", rows) : 0;
    config_whole_if(c, "vocab_size_per_layer_input");
}

/* Experts beside the dense network of all tokens, which is a shared expert; a scale for each expert and three more norms, and a
 * scale before the router. */
static void take_gemma_experts(struct llm_config *c, struct dse_llm *m)
{
    enum { NORMS = 4 };
    m->moe.experts = config_whole(c, "num_experts");
    m->moe.experts_active = config_whole(c, "top_k_experts");
    m->moe.expert_ffn = config_whole(c, "moe_intermediate_size");
    m->moe.shared_ffn = m->ffn;
    m->moe.expert_norms = NORMS;
    m->moe.router_bias = 1;
    m->ffn = 0;
}

/* Gemma 4: layers without a window have wider heads, and (attention_k_eq_v) values made of their keys; the last
 * num_kv_shared_layers take the cache of a layer before them, and may have a network twice as wide. */
void llm_fill_gemma4(struct llm_config *c, struct dse_llm *m)
{
    enum { SHARED = VARIANTS };
    struct llm_variant variants[2 * VARIANTS];
    uint8_t of[DSE_PATTERN_MAX] = {0};
    llm_take_heads(c, m);
    m->ffn = llm_ffn(c);
    llm_take_biases(c, m, false);
    m->details.norms = 2;
    m->details.qk_norm = DSE_QK_NORM_HEAD;
    m->attention_window = config_whole_or(c, "sliding_window", 512);
    llm_take_layer_inputs(c, m, m->vocab);
    const int64_t shared = config_whole_if(c, "num_kv_shared_layers");
    const bool wide = config_flag(c, "use_double_wide_mlp", false), experts = config_flag(c, "enable_moe_block", false);
    if (experts) take_gemma_experts(c, m);
    static const char *const of_experts[] = {"num_experts", "top_k_experts", "moe_intermediate_size"};
    for (size_t i = 0; i < sizeof of_experts / sizeof *of_experts; i++)
        config_has(c, of_experts[i]); /* of files without any, too */
    full_and_window(m, variants);
    struct dse_layer_shape *full = &variants[FULL].shape;
    full->head_dim = config_whole_or(c, "global_head_dim", 512);
    full->cache.values_from_keys = config_flag(c, "attention_k_eq_v", false);
    const int64_t global = config_whole_if(c, "num_global_key_value_heads");
    if (full->cache.values_from_keys && global > 0) full->kv_heads = global;
    for (int i = 0; i < VARIANTS; i++) {
        variants[SHARED + i] = variants[i];
        variants[SHARED + i].name = i == FULL ? "full-shared" : "window-shared";
        variants[SHARED + i].shape.cache.shares_cache = 1;
        if (wide) variants[SHARED + i].shape.ffn *= 2;
    }
    if (!llm_take_layer_types(c, m, "layer_types", llm_attention_words)) llm_take_period(m, 6, DSE_WINDOW, DSE_FULL);
    for (int64_t i = 0; c->ok && i < m->layers; i++) {
        const bool window = i < m->layers - 1 && m->attention.at[i % m->attention.n] == DSE_WINDOW; /* the last never has one */
        of[i] = (uint8_t)((window ? WINDOW : FULL) + (shared > 0 && i >= m->layers - shared ? SHARED : 0));
    }
    if (c->ok) llm_make_kinds(c, m, variants, of);
}

/* ---- compressed attention --------------------------------------------------------------------------------------------------- */

enum { SLIDING, SPARSE, HEAVY, COMPRESSED };

/* Which of the three a layer is: 0, 4 or 128 positions that become one, or a word. -1: neither. */
static int compression_of(struct llm_config *c, int64_t layer)
{
    static const char *const words[] = {"sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"};
    const char *word = config_has(c, "layer_types") ? config_list_word(c, "layer_types", layer) : NULL;
    for (int i = 0; word && i < COMPRESSED; i++)
        if (strcmp(word, words[i]) == 0) return i;
    if (config_has(c, "layer_types")) return -1;
    const int64_t ratio = config_list_number(c, "compress_ratios", layer);
    return ratio == 0 ? SLIDING : ratio == 4 ? SPARSE : ratio == 128 ? HEAVY : -1;
}

/* The first num_hash_layers layers choose experts by the token: no bias corrects the choice. */
static void take_hash_layers(struct llm_config *c, struct dse_llm *m, const struct llm_variant variants[COMPRESSED],
                             const uint8_t of[DSE_PATTERN_MAX])
{
    struct llm_variant all[2 * COMPRESSED];
    uint8_t with_hash[DSE_PATTERN_MAX];
    static const char *const names[COMPRESSED] = {"window-hash", "sparse-hash", "heavy-hash"};
    const int64_t hashed = config_whole_or(c, "num_hash_layers", 3);
    for (int i = 0; i < COMPRESSED; i++) {
        all[i] = all[COMPRESSED + i] = variants[i];
        all[COMPRESSED + i].name = names[i];
        all[COMPRESSED + i].shape.moe.router_bias = 0;
    }
    for (int64_t i = 0; i < m->layers; i++) with_hash[i] = (uint8_t)(of[i] + (i < hashed ? COMPRESSED : 0));
    llm_make_kinds(c, m, all, with_hash);
}

/* DeepSeek-V4: a window, and of what lies before it every 4 positions as one, which an indexer chooses among, or every 128. */
void llm_fill_deepseek_v4(struct llm_config *c, struct dse_llm *m)
{
    struct llm_variant variants[COMPRESSED];
    uint8_t of[DSE_PATTERN_MAX] = {0};
    m->heads = config_whole(c, "num_attention_heads");
    m->kv_heads = 1;
    config_whole_if(c, "num_key_value_heads");
    m->head_dim = config_whole_or(c, "head_dim", 512);
    config_whole_if(c, "qk_nope_head_dim"); /* the rest of head_dim */
    m->attention_window = config_whole_or(c, "sliding_window", 128);
    m->details.attention_sinks = 1;
    m->latent.q_rank = config_whole(c, "q_lora_rank");
    m->compression = (struct dse_llm_compression){.output_groups = config_whole_or(c, "o_groups", 8),
                                                  .output_rank = config_whole_or(c, "o_lora_rank", 1024)};
    m->residual.residual_streams = config_whole_or(c, "hc_mult", 4);
    llm_take_experts(c, m, "n_routed_experts", "moe_intermediate_size");
    m->moe.shared_ffn = config_whole_or(c, "n_shared_experts", 1) * m->moe.expert_ffn;
    m->moe.router_bias = 1;
    m->details.mtp_layers = config_whole_if(c, "num_nextn_predict_layers");
    static const char *const names[COMPRESSED] = {"window", "sparse", "heavy"};
    for (int i = 0; i < COMPRESSED; i++) variants[i] = (struct llm_variant){names[i], DSE_COMPRESSED, DSE_NO_MIXER, m->shape};
    struct dse_layer_shape *sparse = &variants[SPARSE].shape, *heavy = &variants[HEAVY].shape;
    sparse->compression.compress_ratio = config_whole_or(c, "compress_rate_csa", 4);
    sparse->compression.compress_width = 2;
    sparse->latent.index_heads = config_whole_or(c, "index_n_heads", 64);
    sparse->latent.index_dim = config_whole_or(c, "index_head_dim", 128);
    sparse->latent.index_topk = config_whole_or(c, "index_topk", 512);
    heavy->compression.compress_ratio = config_whole_or(c, "compress_rate_hca", 128);
    heavy->compression.compress_width = 1;
    const char *key = config_has(c, "layer_types") ? "layer_types" : "compress_ratios";
    const int64_t n = config_list(c, key); /* there may be more: of the layers that draft */
    if (n < m->layers) config_error(c, key, "%s has %lld entries for %lld layers", key, (long long)n, (long long)m->layers);
    for (int64_t i = 0; c->ok && i < m->layers; i++) {
        const int kind = compression_of(c, i);
        if (kind < 0)
            config_error(c, key, "%s: layer %lld is of no kind that %s is known to have", key, (long long)i, c->model_type);
        of[i] = (uint8_t)(kind < 0 ? 0 : kind);
    }
    if (c->ok) take_hash_layers(c, m, variants, of);
}

/* ---- attention and a recurrence side by side -------------------------------------------------------------------------------- */

void llm_fill_falcon_h1(struct llm_config *c, struct dse_llm *m)
{
    struct dse_llm_states *s = &m->states;
    const uint8_t of[DSE_PATTERN_MAX] = {0};
    llm_take_heads(c, m);
    m->ffn = llm_ffn(c);
    llm_take_biases(c, m, false);
    llm_take_network_biases(c, "mlp_bias");
    s->ssm_inner = config_whole_or_none(c, "mamba_d_ssm", 1024);
    if (s->ssm_inner == 0) s->ssm_inner = m->hidden * config_whole_or(c, "mamba_expand", 2);
    config_has(c, "mamba_expand");
    s->ssm_heads = config_whole_or(c, "mamba_n_heads", 128);
    s->ssm_state = config_whole_or(c, "mamba_d_state", 256);
    s->ssm_groups = config_whole_or(c, "mamba_n_groups", 1);
    s->conv_kernel = config_whole_or(c, "mamba_d_conv", 4);
    s->ssm_plain = !config_flag(c, "mamba_rms_norm", false);
    config_has(c, "mamba_d_head");
    llm_take_state_biases(c, "mamba_conv_bias", "mamba_proj_bias");
    const struct llm_variant both = {"attention-mamba", DSE_FULL, DSE_MAMBA2, m->shape};
    if (c->ok) llm_make_kinds(c, m, &both, of);
}

/* Convolutions have biases, projections none. */
void llm_take_state_biases(struct llm_config *c, const char *convolution, const char *projections)
{
    if (!config_flag(c, convolution, true))
        config_cannot(c, convolution, NULL, "%s: dse counts every convolution with a bias", convolution);
    if (config_flag(c, projections, false))
        config_cannot(c, projections, NULL, "%s: biases of projections are not counted", projections);
}
