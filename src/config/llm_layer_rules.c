/* Architectures that say of every layer what it is: pruned ones, of which a search has left each layer a shape of its own. */
#include "config/llm_rules.h"

#include "desc/schema.h"

#include <string.h>

/* ---- a shape a layer -------------------------------------------------------------------------------------------------------- */

static const char blocks_key[] = "block_configs";

static bool same_variant(const struct llm_variant *a, const struct llm_variant *b)
{
    const struct dse_layer_kind x = {.shape = a->shape}, y = {.shape = b->shape};
    struct schema fields;
    bool same = a->attention == b->attention && a->beside == b->beside;
    schema_init_params(&fields, dse_layer_kind_fields);
    for (size_t i = 0; i < fields.n && same; i++) same = field_same(&fields.fields[i], &x, &y);
    schema_release(&fields);
    return same;
}

/* What a layer is, beside its network, which m->feed_forward has; false with an error. */
typedef bool (*layer_reader)(struct llm_config *c, struct dse_llm *m, int64_t layer, struct llm_variant *ret);

/* Kinds of the layers that the list at `key` says, or of one number a layer. */
static void make_layers(struct llm_config *c, struct dse_llm *m, const char *key, layer_reader read)
{
    struct llm_variant variants[DSE_LAYER_KINDS_MAX];
    uint8_t of[DSE_PATTERN_MAX];
    size_t n = 0;
    for (int64_t i = 0; c->ok && i < m->layers; i++) {
        struct llm_variant v = {NULL, DSE_FULL, DSE_NO_MIXER, m->shape};
        if (!read(c, m, i, &v)) return;
        size_t k = 0;
        while (k < n && !same_variant(&variants[k], &v)) k++;
        of[i] = (uint8_t)k;
        if (k == DSE_LAYER_KINDS_MAX) config_error(c, key, "more than %d kinds of layers", DSE_LAYER_KINDS_MAX);
        if (k == n && c->ok) variants[n++] = v;
    }
    if (c->ok) llm_make_kinds(c, m, variants, of);
}

/* The LLM has the experts of its first layer with any, and so have, by name alone, layers without. */
static void share_experts(struct dse_llm *m)
{
    size_t first = 0;
    while (first < m->n_kinds && m->kinds[first].feed_forward != DSE_FFN_EXPERTS) first++;
    if (first == m->n_kinds) return;
    m->moe = m->kinds[first].shape.moe;
    for (size_t i = 0; i < m->n_kinds; i++)
        if (m->kinds[i].feed_forward != DSE_FFN_EXPERTS) m->kinds[i].shape.moe = m->moe;
}

/* Is there a list of blocks, one a layer? Else an error. */
static bool has_blocks(struct llm_config *c, const struct dse_llm *m)
{
    const int64_t listed = config_list(c, blocks_key);
    if (listed < 0) return config_error(c, blocks_key, "there is no block_configs, which says what each layer is");
    return llm_fits(c, blocks_key, listed, m->layers);
}

/* ---- Nemotron-NAS ----------------------------------------------------------------------------------------------------------- */

/* Multiples of the hidden width as the class rounds them: two thirds, up to a whole number of 256. */
static int64_t width_of(const struct dse_llm *m, double multiple)
{
    enum { BY = 256 };
    const int64_t width = (int64_t)(2 * multiple * (double)m->hidden / 3);
    return (width + BY - 1) / BY * BY;
}

/* Attention, with so many query heads a KV head, or none; a network, or none. */
static bool read_nas_block(struct llm_config *c, struct dse_llm *m, int64_t layer, struct llm_variant *ret)
{
    enum { WIDEST = 1000 };
    const struct llm_block b = config_block(c, blocks_key, layer);
    ret->attention = b.has_attention ? DSE_FULL : DSE_NO_MIXER;
    m->feed_forward.at[layer] = b.has_network ? DSE_FFN_DENSE : DSE_NO_FFN;
    if (b.is_linear)
        return config_cannot(c, blocks_key, NULL, "%s: a linear layer instead of attention or a network is not counted",
                             blocks_key);
    if (b.has_network && !(b.ffn_mult > 0 && b.ffn_mult < WIDEST))
        return config_error(c, blocks_key, "%s: ffn_mult of layer %lld: a number above 0 and below %d is needed", blocks_key,
                            (long long)layer, WIDEST);
    if (b.has_attention && (b.heads_in_group < 1 || m->heads % b.heads_in_group != 0))
        return config_error(c, blocks_key, "%s: n_heads_in_group of layer %lld does not divide the heads", blocks_key,
                            (long long)layer);
    if (b.has_attention) ret->shape.kv_heads = m->heads / b.heads_in_group;
    if (!b.has_attention) ret->shape.heads = ret->shape.kv_heads = ret->shape.head_dim = 0;
    ret->shape.ffn = b.has_network ? width_of(m, b.ffn_mult) : 0;
    if (ret->shape.ffn > m->ffn) m->ffn = ret->shape.ffn;
    return true;
}

/* Nemotron-NAS (DeciLM): an architecture search has left every layer with heads and a width of its own. */
void llm_fill_nemotron_nas(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    llm_take_network_biases(c, "mlp_bias");
    if (!has_blocks(c, m)) return;
    m->feed_forward.n = m->layers;
    make_layers(c, m, blocks_key, read_nas_block);
}

/* ---- experts of each layer -------------------------------------------------------------------------------------------------- */

/* What a block says of its experts; what it leaves out is the LLM's. */
static bool read_experts(struct llm_config *c, int64_t layer, struct dse_llm_experts *ret)
{
    static const char known[] = "block_type sliding_window num_local_experts n_routed_experts num_experts_per_tok "
                                "moe_intermediate_size moe_shared_expert_intermediate_size moe_latent_size n_shared_experts=1 ";
    ret->experts = config_whole_at(c, blocks_key, layer, "num_local_experts", ret->experts);
    ret->experts = config_whole_at(c, blocks_key, layer, "n_routed_experts", ret->experts);
    ret->experts_active = config_whole_at(c, blocks_key, layer, "num_experts_per_tok", ret->experts_active);
    ret->expert_ffn = config_whole_at(c, blocks_key, layer, "moe_intermediate_size", ret->expert_ffn);
    ret->shared_ffn = config_whole_at(c, blocks_key, layer, "moe_shared_expert_intermediate_size", ret->shared_ffn);
    ret->expert_latent = config_whole_at(c, blocks_key, layer, "moe_latent_size", ret->expert_latent);
    const char *unknown = config_unknown_at(c, blocks_key, layer, known);
    return c->ok && (!unknown || config_cannot(c, blocks_key, NULL, "%s: %s of layer %lld is not known", blocks_key, unknown,
                                               (long long)layer));
}

/* gpt-oss, pruned: a block has experts and a window, or null for none. */
static bool read_gpt_oss_block(struct llm_config *c, struct dse_llm *m, int64_t layer, struct llm_variant *ret)
{
    const int64_t window = config_whole_at(c, blocks_key, layer, "sliding_window", 0);
    const bool narrow = window > 0 && window < m->max_context;
    ret->attention = narrow ? DSE_WINDOW : DSE_FULL;
    ret->shape.attention_window = narrow ? window : 0;
    return read_experts(c, layer, &ret->shape.moe);
}

void llm_fill_gpt_oss_puzzle(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    llm_take_biases(c, m, true);
    m->details.attention_sinks = 1;
    m->moe.router_bias = m->moe.expert_bias = 1;
    m->moe.experts = config_whole_if(c, "num_local_experts");
    m->moe.experts_active = config_whole_if(c, config_has(c, "num_experts_per_tok") ? "num_experts_per_tok" : "experts_per_token");
    m->moe.expert_ffn = config_whole(c, "intermediate_size");
    if (!has_blocks(c, m)) return;
    m->feed_forward = (struct dse_pattern){.n = 1, .at = {DSE_FFN_EXPERTS}};
    make_layers(c, m, blocks_key, read_gpt_oss_block);
    share_experts(m);
}

/* Nemotron-H, pruned: of each layer what it is is known; a block has the experts. */
static bool read_nemotron_block(struct llm_config *c, struct dse_llm *m, int64_t layer, struct llm_variant *ret)
{
    ret->attention = m->attention.at[layer % m->attention.n];
    return m->feed_forward.at[layer % m->feed_forward.n] != DSE_FFN_EXPERTS || read_experts(c, layer, &ret->shape.moe);
}

void llm_make_nemotron_blocks(struct llm_config *c, struct dse_llm *m)
{
    if (!has_blocks(c, m)) return;
    make_layers(c, m, blocks_key, read_nemotron_block);
    share_experts(m);
}

/* ---- a number of all layers, or of each ------------------------------------------------------------------------------------- */

/* A number, or that of the layer in a list; without the key what the LLM has. */
static int64_t whole_of(struct llm_config *c, const char *key, int64_t layer, int64_t otherwise)
{
    if (!config_has(c, key) || config_is_number(c, key)) return otherwise;
    const int64_t value = config_list_number(c, key, layer);
    if (value < 0) config_error(c, key, "%s: no whole number for layer %lld", key, (long long)layer);
    return value;
}

static const char sharing_key[] = "num_kv_shared_layers";
enum { GEMMA_SHARING = 15 };

/* Gemma 3n: the last layers have the keys and values of one before them, and matrices for keys and values all the same. */
static bool read_gemma_layer(struct llm_config *c, struct dse_llm *m, int64_t layer, struct llm_variant *ret)
{
    static const char *const names[2][2] = {{"full", "full-shared"}, {"window", "window-shared"}};
    const int64_t sharing = config_has(c, sharing_key) ? config_whole(c, sharing_key) : GEMMA_SHARING;
    const bool shared = layer >= m->layers - sharing && m->layers > sharing;
    ret->attention = m->attention.at[layer % m->attention.n];
    ret->shape.ffn = whole_of(c, "intermediate_size", layer, m->ffn);
    ret->shape.cache.shares_cache = ret->shape.cache.idle_keys = shared;
    if (ret->shape.ffn == m->ffn) ret->name = names[ret->attention == DSE_WINDOW][shared];
    return c->ok;
}

void llm_fill_gemma3n(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    m->ffn = config_has(c, "intermediate_size") && !config_is_number(c, "intermediate_size")
                 ? whole_of(c, "intermediate_size", 0, 0)
                 : llm_ffn(c);
    m->details.norms = 2;
    m->details.qk_norm = DSE_QK_NORM_HEAD;
    m->attention_window = config_whole_or(c, "sliding_window", 512);
    m->residual = (struct dse_llm_residual){.residual_streams = config_whole_or(c, "altup_num_inputs", 4),
                                            .altup = 1,
                                            .residual_rank = config_whole_or(c, "laurel_rank", 64)};
    llm_take_layer_inputs(c, m, 262144);
    config_whole_or(c, sharing_key, GEMMA_SHARING);
    if (!llm_take_layer_types(c, m, "layer_types", llm_attention_words)) llm_take_period(m, 5, DSE_WINDOW, DSE_FULL);
    if (c->ok) make_layers(c, m, "intermediate_size", read_gemma_layer);
}

static bool read_hunyuan_layer(struct llm_config *c, struct dse_llm *m, int64_t layer, struct llm_variant *ret)
{
    struct dse_llm_experts *e = &ret->shape.moe;
    e->experts = whole_of(c, "num_experts", layer, m->moe.experts);
    e->experts_active = whole_of(c, "moe_topk", layer, m->moe.experts_active);
    e->expert_ffn = whole_of(c, "moe_intermediate_size", layer, m->moe.expert_ffn);
    if (e->shared_ffn > 0) e->shared_ffn = whole_of(c, "num_shared_expert", layer, 1) * config_whole(c, "intermediate_size");
    return c->ok;
}

void llm_make_hunyuan_layers(struct llm_config *c, struct dse_llm *m)
{
    make_layers(c, m, "num_experts", read_hunyuan_layer);
    share_experts(m);
}
