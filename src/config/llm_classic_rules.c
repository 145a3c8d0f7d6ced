/* Architectures from before Llama, and their kin: biases, norms with a shift, learned positions. */
#include "config/llm_rules.h"

#include <jansson.h>
#include <string.h>

enum { WIDER = 4 /* the inner width over the hidden one, where a file does not say it */ };

/* Queries, keys, values, output, network and norms have all that a matrix or a norm may have. */
static void take_all_biases(struct dse_llm *m, bool biases, bool shifts)
{
    m->details.qkv_bias = m->details.output_bias = m->details.network_bias = biases;
    m->details.norm_bias = shifts;
}

static void take_plain_network(struct llm_config *c, struct dse_llm *m, const char *key)
{
    m->ffn_matrices = 2;
    m->ffn = config_whole_if(c, key);
    if (m->ffn == 0) m->ffn = WIDER * m->hidden;
}

void llm_fill_gpt2(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    take_plain_network(c, m, "n_inner");
    take_all_biases(m, true, true);
    m->details.positions = m->max_context;
}

/* GPT-J and CodeGen: attention without biases beside the network, behind one norm; no learned positions. */
void llm_fill_gptj(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    take_plain_network(c, m, "n_inner");
    m->details.network_bias = m->details.norm_bias = m->details.shared_norm = m->details.head_bias = 1;
}

/* GPT-Neo: as GPT-2, but for queries, keys and values without biases, and a window in the layers that attention_layers says. */
void llm_fill_gpt_neo(struct llm_config *c, struct dse_llm *m)
{
    static const struct llm_layer_word words[] = {{"global", DSE_FULL}, {"local", DSE_WINDOW}, {NULL, DSE_FULL}};
    llm_take_heads(c, m);
    take_plain_network(c, m, "intermediate_size");
    take_all_biases(m, true, true);
    m->details.qkv_bias = 0;
    m->details.positions = m->max_context;
    m->attention_window = config_whole_or(c, "window_size", 256);
    if (!llm_take_layer_types(c, m, "attention_layers", words))
        config_error(c, "attention_layers", "there is no attention_layers, which says which layers have a window");
}

/* StarCoder: one head of keys and values for all. */
void llm_fill_gpt_bigcode(struct llm_config *c, struct dse_llm *m)
{
    llm_fill_gpt2(c, m);
    if (config_flag(c, "multi_query", true)) m->kv_heads = 1;
}

void llm_fill_starcoder2(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    take_plain_network(c, m, "intermediate_size");
    take_all_biases(m, config_flag(c, "use_bias", true), true);
    llm_take_window(c, m, 0);
}

/* The table of positions has two rows more than there are positions. */
void llm_fill_opt(struct llm_config *c, struct dse_llm *m)
{
    enum { MORE_ROWS = 2 };
    llm_take_heads(c, m);
    take_plain_network(c, m, "ffn_dim");
    take_all_biases(m, config_flag(c, "enable_bias", true), true);
    m->details.positions = m->max_context + MORE_ROWS;
    const int64_t width = config_whole_or(c, "word_embed_proj_dim", m->hidden);
    if (width != m->hidden)
        config_cannot(c, "word_embed_proj_dim", NULL, "word_embed_proj_dim %lld is not hidden_size: embeddings of another width",
                      (long long)width);
    if (!config_flag(c, "do_layer_norm_before", true))
        config_cannot(c, "do_layer_norm_before", NULL, "do_layer_norm_before: norms behind the layers are not counted");
}

void llm_fill_bloom(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    take_plain_network(c, m, "n_inner");
    take_all_biases(m, true, true);
    m->details.embedding_norm = 1;
}

/* attn_config of MPT: heads of keys and values by their type; ALiBi, rotary embedding, or positions that are learned. */
static void take_mpt_attention(struct llm_config *c, struct dse_llm *m)
{
    static const char key[] = "attn_config", kv[] = "kv_n_heads";
    const char *type = json_string_value(json_object_get(config_value(c, key), "attn_type"));
    const bool learned = config_flag(c, "learned_pos_emb", true);
    if (!config_has(c, key)) return;
    if (type && strcmp(type, "multiquery_attention") == 0) m->kv_heads = 1;
    if (type && strcmp(type, "grouped_query_attention") == 0) m->kv_heads = config_whole_in(c, key, kv, 0);
    if (m->kv_heads == 0) config_error(c, key, "%s: there is no %s, which grouped queries need", key, kv);
    if (learned && !config_flag_in(c, key, "alibi") && !config_flag_in(c, key, "rope")) m->details.positions = m->max_context;
    if (config_flag_in(c, key, "qk_ln") || config_flag_in(c, key, "qk_gn"))
        config_cannot(c, key, NULL, "%s: norms of queries and keys are not counted", key);
}

void llm_fill_mpt(struct llm_config *c, struct dse_llm *m)
{
    const bool biases = !config_flag(c, "no_bias", true);
    llm_take_heads(c, m);
    m->ffn_matrices = 2;
    m->ffn = config_whole_or(c, "expansion_ratio", WIDER) * m->hidden;
    take_all_biases(m, biases, biases);
    take_mpt_attention(c, m);
}

/* Phi-1 to Phi-2: attention and network side by side behind one norm. */
void llm_fill_phi(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    take_plain_network(c, m, "intermediate_size");
    take_all_biases(m, true, true);
    m->details.shared_norm = m->details.head_bias = 1;
    if (config_flag(c, "qk_layernorm", false)) m->details.qk_norm = DSE_QK_NORM_SHIFT;
}

void llm_fill_persimmon(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    take_plain_network(c, m, "intermediate_size");
    take_all_biases(m, true, true);
    if (config_flag(c, "qk_layernorm", true)) m->details.qk_norm = DSE_QK_NORM_SHIFT;
}

/* Phi-3-small: of so many layers one sees all positions; the others blocks of them, which differ from head to head. */
void llm_fill_phi3small(struct llm_config *c, struct dse_llm *m)
{
    static const char every[] = "dense_attention_every_n_layers";
    llm_take_heads(c, m);
    m->ffn = config_whole(c, "ff_intermediate_size");
    take_all_biases(m, true, true);
    if (config_whole_if(c, every) > 1)
        config_cannot(c, every, NULL, "%s: attention to blocks of positions that differ from head to head is not counted", every);
}

void llm_fill_phimoe(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    llm_take_experts(c, m, "num_local_experts", "intermediate_size");
    m->details.norm_bias = 1;
    m->details.head_bias = config_flag(c, "lm_head_bias", false);
    llm_take_window(c, m, 0);
}

void llm_fill_gpt_neox(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    take_plain_network(c, m, "intermediate_size");
    take_all_biases(m, true, true);
    m->details.qkv_bias = m->details.output_bias = config_flag(c, "attention_bias", true);
    config_has(c, "use_parallel_residual"); /* two norms in either case */
}

/* One head of keys and values, or (new_decoder_architecture) as many as the file says; attention and network side by side. */
void llm_fill_falcon(struct llm_config *c, struct dse_llm *m)
{
    const bool grouped = config_flag(c, "new_decoder_architecture", false), one = config_flag(c, "multi_query", true);
    const bool parallel = config_flag(c, "parallel_attn", true), biases = config_flag(c, "bias", false);
    m->heads = config_whole(c, "num_attention_heads");
    m->head_dim = m->heads > 0 ? m->hidden / m->heads : 0;
    const int64_t kv = config_whole_or(c, "num_kv_heads", m->heads);
    m->kv_heads = grouped ? kv : one ? 1 : m->heads;
    take_plain_network(c, m, "ffn_hidden_size");
    take_all_biases(m, biases, true);
    const int64_t norms = config_whole_or(c, "num_ln_in_parallel_attn", grouped ? 2 : 1);
    m->details.shared_norm = parallel && norms == 1;
}

/* Command R: norms have no shift; attention and network share one. Command R 7B and A: windows, but for every fourth layer. */
void llm_fill_cohere(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = config_whole_nested(c, "intermediate_size", c->defaults->ffn);
    llm_take_biases(c, m, false);
    m->details.shared_norm = 1;
    if (strcmp(c->model_type, "cohere2") != 0) {
        if (config_flag(c, "use_qk_norm", false)) m->details.qk_norm = DSE_QK_NORM_FULL;
        return;
    }
    m->attention_window = config_whole_or(c, "sliding_window", 4096);
    const char *period = config_has(c, "_sliding_window_pattern") ? "_sliding_window_pattern" : "sliding_window_pattern";
    const int64_t every = config_has(c, "layer_types") ? 0 : config_whole_or(c, period, 4);
    if (!llm_take_layer_types(c, m, "layer_types", llm_attention_words)) llm_take_period(m, every, DSE_WINDOW, DSE_FULL);
}

void llm_fill_stablelm(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn = config_whole(c, "intermediate_size");
    m->details.qkv_bias = config_flag(c, "use_qkv_bias", false);
    m->details.norm_bias = 1;
    m->details.shared_norm = config_flag(c, "use_parallel_residual", false);
    if (config_flag(c, "qk_layernorm", false)) m->details.qk_norm = DSE_QK_NORM_FULL; /* each head has weights of its own */
}

/* ChatGLM and GLM-4 in their own code: the vocabulary is padded. */
void llm_fill_chatglm(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    if (!config_flag(c, "multi_query_attention", true)) m->kv_heads = m->heads;
    m->ffn = config_whole(c, "ffn_hidden_size");
    m->details.qkv_bias = config_flag(c, "add_qkv_bias", false);
    if (config_flag(c, "add_bias_linear", false))
        config_cannot(c, "add_bias_linear", NULL, "add_bias_linear: these biases are not counted");
}

/* Nemotron (Minitron): squared ReLU, norms with a shift. */
void llm_fill_nemotron(struct llm_config *c, struct dse_llm *m)
{
    llm_take_heads(c, m);
    m->ffn_matrices = 2;
    m->ffn = config_whole(c, "intermediate_size");
    llm_take_biases(c, m, false);
    llm_take_network_biases(c, "mlp_bias");
    m->details.norm_bias = 1;
}
