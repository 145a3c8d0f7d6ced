/* Rules that several architectures share. */
#include "config/llm_rules.h"

#include <string.h>

/* Where a file says nothing, what the class has by default; where it says null, as many heads, and the hidden state over them. */
void llm_take_heads(struct llm_config *c, struct dse_llm *m)
{
    const struct llm_defaults *d = c->defaults;
    m->heads = config_whole_nested(c, "num_attention_heads", d->heads);
    m->kv_heads = config_whole_or_none(c, "num_key_value_heads", d->kv_heads > 0 ? d->kv_heads : m->heads);
    if (m->kv_heads == 0) m->kv_heads = m->heads;
    const char *width = config_has(c, "attention_head_dim") ? "attention_head_dim" : "head_dim"; /* Nemotron-H's files once */
    config_has(c, "head_dim");                                                                   /* beside the other name */
    m->head_dim = d->head_dim > 0 ? config_whole_or_none(c, width, d->head_dim) : config_whole_if(c, width);
    if (m->head_dim > 0 || m->heads == 0 || !c->ok) return;
    m->head_dim = m->hidden / m->heads;
    config_note(c, "head_dim is not in the file: %lld, hidden_size over num_attention_heads", (long long)m->head_dim);
}

int64_t llm_ffn(struct llm_config *c)
{
    return config_whole_nested(c, "intermediate_size", c->defaults->ffn);
}

void llm_take_biases(struct llm_config *c, struct dse_llm *m, bool otherwise)
{
    m->details.qkv_bias = m->details.output_bias = config_flag(c, "attention_bias", otherwise);
}

void llm_take_network_biases(struct llm_config *c, const char *key)
{
    if (config_flag(c, key, false)) config_cannot(c, key, NULL, "%s: biases of the feed-forward network are not counted", key);
}

/* The shortest list that repeats to the same layers. */
void llm_shorten(struct dse_pattern *p)
{
    for (int64_t n = 1; n <= p->n; n++) {
        bool repeats = p->n % n == 0;
        for (int64_t i = n; i < p->n && repeats; i++) repeats = p->at[i] == p->at[i - n];
        if (!repeats) continue;
        p->n = n;
        return;
    }
}

void llm_take_window(struct llm_config *c, struct dse_llm *m, int64_t otherwise)
{
    const int64_t window =
        otherwise > 0 ? config_whole_or_none(c, "sliding_window", otherwise) : config_whole_if(c, "sliding_window");
    if (window == 0) return;
    if (window >= m->max_context) {
        config_note(c, "sliding_window %lld is no shorter than the longest context: full attention", (long long)window);
        return;
    }
    m->attention_window = window;
    m->attention = (struct dse_pattern){.n = 1, .at = {DSE_WINDOW}};
}

bool llm_fits(struct llm_config *c, const char *key, int64_t n, int64_t layers)
{
    if (n == layers && n <= DSE_PATTERN_MAX) return true;
    return config_error(c, key, "%s has %lld entries for %lld layers", key, (long long)n, (long long)layers);
}

/* A list of words, one a layer: those of `words` are mixers. False when there is no such list. */
bool llm_take_layer_types(struct llm_config *c, struct dse_llm *m, const char *key, const struct llm_layer_word *words)
{
    const int64_t n = config_list(c, key);
    if (n < 0 || !llm_fits(c, key, n, m->layers)) return n >= 0;
    m->attention.n = n;
    for (int64_t i = 0; i < n; i++) {
        const char *word = config_list_word(c, key, i);
        const struct llm_layer_word *w = words;
        while (w->word && (!word || strcmp(w->word, word) != 0)) w++;
        if (!w->word) {
            config_error(c, key, "%s: \"%s\" is no kind of layer that %s is known to have", key, word ? word : "?", c->model_type);
            return true;
        }
        m->attention.at[i] = (uint8_t)w->mixer;
    }
    llm_shorten(&m->attention);
    return true;
}

const struct llm_layer_word llm_attention_words[] = {{"full_attention", DSE_FULL},
                                                     {"sliding_attention", DSE_WINDOW},
                                                     {"chunked_attention", DSE_CHUNK},
                                                     {"linear_attention", DSE_DELTA},
                                                     {NULL, DSE_FULL}};

void llm_take_late_window(struct llm_config *c, struct dse_llm *m)
{
    const bool on = config_flag(c, "use_sliding_window", false);
    config_has(c, "max_window_layers"); /* which counts only without layer_types */
    const int64_t window = config_whole_if(c, "sliding_window");
    if (on) m->attention_window = window;
    if (llm_take_layer_types(c, m, "layer_types", llm_attention_words)) return;
    const int64_t first = on && window > 0 ? config_whole_or(c, "max_window_layers", 28) : m->layers;
    if (first >= m->layers) {
        m->attention_window = 0;
        return;
    }
    m->attention.n = m->layers;
    for (int64_t i = 0; i < m->layers; i++) m->attention.at[i] = i < first ? DSE_FULL : DSE_WINDOW;
    llm_shorten(&m->attention);
}

/* Every period-th layer is `often`'s exception. */
void llm_take_period(struct dse_llm *m, int64_t period, enum dse_mixer often, enum dse_mixer last)
{
    m->attention.n = m->layers <= DSE_PATTERN_MAX ? m->layers : DSE_PATTERN_MAX;
    for (int64_t i = 0; i < m->attention.n; i++) m->attention.at[i] = (uint8_t)(period > 0 && (i + 1) % period == 0 ? last : often);
    llm_shorten(&m->attention);
}

/* The number of experts has had three names. */
void llm_take_experts(struct llm_config *c, struct dse_llm *m, const char *experts, const char *width)
{
    static const char *const names[] = {"num_experts", "num_local_experts", "n_routed_experts"};
    const char *name = experts;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (config_has(c, names[i]) && !config_has(c, name)) name = names[i];
    m->moe.experts = config_whole(c, name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (config_has(c, names[i]) && config_whole(c, names[i]) != m->moe.experts)
            config_error(c, names[i], "%s is not %s", names[i], name);
    m->moe.experts_active = config_whole(c, "num_experts_per_tok");
    m->moe.expert_ffn = config_whole(c, width);
}

/* mlp_layer_types: "dense" or "sparse", a word a layer. */
static bool take_network_types(struct llm_config *c, struct dse_llm *m)
{
    static const char key[] = "mlp_layer_types";
    const int64_t n = config_list(c, key);
    if (n < 0 || !llm_fits(c, key, n, m->layers)) return n >= 0;
    m->feed_forward.n = n;
    for (int64_t i = 0; i < n; i++) {
        const char *word = config_list_word(c, key, i);
        const bool dense = word && strcmp(word, "dense") == 0, sparse = word && strcmp(word, "sparse") == 0;
        if (!dense && !sparse) config_error(c, key, "%s: \"%s\" is neither dense nor sparse", key, word ? word : "?");
        m->feed_forward.at[i] = dense ? DSE_FFN_DENSE : DSE_FFN_EXPERTS;
    }
    llm_shorten(&m->feed_forward);
    if (m->feed_forward.n == 1 && m->feed_forward.at[0] == DSE_FFN_EXPERTS) m->feed_forward.n = 0;
    return true;
}

/* moe_layer_freq: of the layers behind the first dense ones those have experts whose number it divides, or that a list says. */
static void take_frequency(struct llm_config *c, struct dse_llm *m)
{
    static const char key[] = "moe_layer_freq";
    const int64_t listed = config_has(c, key) && !config_is_number(c, key) ? config_list(c, key) : -1;
    const int64_t every = listed >= 0 || !config_has(c, key) ? 1 : config_whole(c, key);
    if (every == 0) config_error(c, key, "%s: a number from 1 is needed", key);
    if ((listed < 0 && every <= 1) || (listed >= 0 && !llm_fits(c, key, listed, m->layers)) || m->layers > DSE_PATTERN_MAX) return;
    m->feed_forward.n = m->layers;
    for (int64_t i = 0; i < m->layers; i++) {
        const bool routed = listed >= 0 ? config_list_number(c, key, i) == 1 : i % every == 0;
        m->feed_forward.at[i] = routed && i >= m->dense_layers ? DSE_FFN_EXPERTS : DSE_FFN_DENSE;
    }
    m->dense_layers = 0; /* the list says them, too */
    llm_shorten(&m->feed_forward);
    if (m->feed_forward.n == 1 && m->feed_forward.at[0] == DSE_FFN_EXPERTS) m->feed_forward.n = 0;
}

void llm_take_dense_first(struct llm_config *c, struct dse_llm *m, int64_t otherwise)
{
    if (take_network_types(c, m)) {
        config_whole_if(c, "first_k_dense_replace");
        return;
    }
    m->dense_layers = config_whole_or_none(c, "first_k_dense_replace", otherwise);
    take_frequency(c, m);
}

/* Layers with experts among dense ones: every step-th, but for those listed. */
void llm_take_sparse_layers(struct llm_config *c, struct dse_llm *m, const char *step_key, const char *dense_key)
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
    llm_shorten(p);
    if (p->n == 1 && p->at[0] == DSE_FFN_EXPERTS) p->n = 0; /* what experts mean without a list */
}

/* The dense width, of the layers that have no experts; without such layers it says nothing. */
void llm_take_dense(struct llm_config *c, struct dse_llm *m, const char *key)
{
    bool dense = m->dense_layers > 0 || m->moe.experts == 0;
    for (int64_t i = 0; i < m->feed_forward.n; i++) dense = dense || m->feed_forward.at[i] == DSE_FFN_DENSE;
    m->ffn = dense ? config_whole_nested(c, key, c->defaults->ffn) : config_whole_if(c, key);
    if (!dense) m->ffn = 0;
}
