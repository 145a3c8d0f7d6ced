/* Internal to the import of LLMs: rules that several architectures share, each of which reads keys of the configuration into the
 * shape. What is wrong becomes an error of the configuration (llm_config.h), and what is read then does not count. */
#ifndef DSE_CONFIG_LLM_RULES_H
#define DSE_CONFIG_LLM_RULES_H

#include "config/llm_config.h"

void llm_take_heads(struct llm_config *c, struct dse_llm *m);
void llm_take_biases(struct llm_config *c, struct dse_llm *m, bool otherwise);
/* The matrices of the feed-forward network have no biases; what is false. */
void llm_take_network_biases(struct llm_config *c, const char *key);
/* Make a list of layers the shortest that repeats to the same. */
void llm_shorten(struct dse_pattern *p);
/* Inputs that layers have of their own (Gemma 3n and 4), of a table with so many rows where the file says nothing. */
void llm_take_layer_inputs(struct llm_config *c, struct dse_llm *m, int64_t rows);
/* The width of a dense network: intermediate_size. */
int64_t llm_ffn(struct llm_config *c);
/* sliding_window, of all layers, where there is one that is shorter than the longest context; `otherwise` where the file says
 * nothing. */
void llm_take_window(struct llm_config *c, struct dse_llm *m, int64_t otherwise);
/* Has the list at `key` an entry a layer? An error when it has not. */
bool llm_fits(struct llm_config *c, const char *key, int64_t n, int64_t layers);

struct llm_layer_word {
    const char *word;
    enum dse_mixer mixer;
};
extern const struct llm_layer_word llm_attention_words[]; /* "full_attention", "sliding_attention", ..., closed by NULL */
/* A list of words, one a layer. False when there is no such list. */
bool llm_take_layer_types(struct llm_config *c, struct dse_llm *m, const char *key, const struct llm_layer_word *words);
/* Qwen 2 and 3: windows from layer max_window_layers on, where they are switched on at all, or as layer_types says. */
void llm_take_late_window(struct llm_config *c, struct dse_llm *m);
/* Every period-th layer is `last`, all others are `often`. */
void llm_take_period(struct dse_llm *m, int64_t period, enum dse_mixer often, enum dse_mixer last);

void llm_take_experts(struct llm_config *c, struct dse_llm *m, const char *experts, const char *width);
/* Which layers have experts: mlp_layer_types, or all behind the first first_k_dense_replace (`otherwise`) that moe_layer_freq
 * says. */
void llm_take_dense_first(struct llm_config *c, struct dse_llm *m, int64_t otherwise);
/* Layers with experts among dense ones: every step-th, but for those listed. */
void llm_take_sparse_layers(struct llm_config *c, struct dse_llm *m, const char *step_key, const char *dense_key);
/* DeepSeek's and GLM's indexers, and which layers read what another layer's has chosen (llm_latent_rules.c). */
void llm_fill_latent(struct llm_config *c, struct dse_llm *m);
/* The dense width, of the layers that have no experts; without such layers it says nothing. */
void llm_take_dense(struct llm_config *c, struct dse_llm *m, const char *key);

/* Layers that differ by more than their mixer: what one of them is, beside its network. */
struct llm_variant {
    const char *name; /* of the kind of layers, NULL: by its number; with "-dense" or "-experts" where the LLM has both */
    int32_t attention, beside;
    struct dse_layer_shape shape;
};
/* Make kinds of layers of the variants and the networks that feed_forward and dense_layers say: layer i is variants[of[i]]. */
void llm_make_kinds(struct llm_config *c, struct dse_llm *m, const struct llm_variant *variants, const uint8_t *of);

/* Architectures with kinds of layers of their own (llm_kind_rules.c). */
void llm_fill_mimo_v2(struct llm_config *c, struct dse_llm *m);
void llm_fill_minimax_m3(struct llm_config *c, struct dse_llm *m);
void llm_fill_kimi_linear(struct llm_config *c, struct dse_llm *m);
void llm_fill_longcat(struct llm_config *c, struct dse_llm *m);
void llm_fill_laguna(struct llm_config *c, struct dse_llm *m);
void llm_fill_step3(struct llm_config *c, struct dse_llm *m);
void llm_fill_deepseek_v4(struct llm_config *c, struct dse_llm *m);
void llm_fill_falcon_h1(struct llm_config *c, struct dse_llm *m);
void llm_fill_gemma4(struct llm_config *c, struct dse_llm *m);

/* Experts beside grouped-query attention (llm_expert_rules.c). */
void llm_fill_mixtral(struct llm_config *c, struct dse_llm *m);
void llm_fill_qwen3_moe(struct llm_config *c, struct dse_llm *m);
void llm_fill_qwen2_moe(struct llm_config *c, struct dse_llm *m);
void llm_fill_llama4(struct llm_config *c, struct dse_llm *m);
void llm_fill_gpt_oss(struct llm_config *c, struct dse_llm *m);
void llm_fill_glm4_moe(struct llm_config *c, struct dse_llm *m);
void llm_fill_minimax_m2(struct llm_config *c, struct dse_llm *m);
void llm_fill_solar_open(struct llm_config *c, struct dse_llm *m);
void llm_fill_deepseek(struct llm_config *c, struct dse_llm *m);
void llm_fill_dbrx(struct llm_config *c, struct dse_llm *m);
void llm_fill_arctic(struct llm_config *c, struct dse_llm *m);
void llm_fill_grok(struct llm_config *c, struct dse_llm *m);
void llm_fill_exaone_moe(struct llm_config *c, struct dse_llm *m);
void llm_fill_afmoe(struct llm_config *c, struct dse_llm *m);
void llm_fill_hy3(struct llm_config *c, struct dse_llm *m);

/* A shape a layer (llm_layer_rules.c). */
void llm_fill_nemotron_nas(struct llm_config *c, struct dse_llm *m);
void llm_fill_gemma3n(struct llm_config *c, struct dse_llm *m);
void llm_fill_gpt_oss_puzzle(struct llm_config *c, struct dse_llm *m);
/* Experts of each layer: of Nemotron-H's block_configs, once attention and feed_forward are known; of Hunyuan's lists. */
void llm_make_nemotron_blocks(struct llm_config *c, struct dse_llm *m);
void llm_make_hunyuan_layers(struct llm_config *c, struct dse_llm *m);

/* From before Llama (llm_classic_rules.c). */
void llm_fill_gpt2(struct llm_config *c, struct dse_llm *m);
void llm_fill_gptj(struct llm_config *c, struct dse_llm *m);
void llm_fill_gpt_neo(struct llm_config *c, struct dse_llm *m);
void llm_fill_gpt_bigcode(struct llm_config *c, struct dse_llm *m);
void llm_fill_starcoder2(struct llm_config *c, struct dse_llm *m);
void llm_fill_opt(struct llm_config *c, struct dse_llm *m);
void llm_fill_bloom(struct llm_config *c, struct dse_llm *m);
void llm_fill_mpt(struct llm_config *c, struct dse_llm *m);
void llm_fill_persimmon(struct llm_config *c, struct dse_llm *m);
void llm_fill_phi3small(struct llm_config *c, struct dse_llm *m);
void llm_fill_phi(struct llm_config *c, struct dse_llm *m);
void llm_fill_phimoe(struct llm_config *c, struct dse_llm *m);
void llm_fill_gpt_neox(struct llm_config *c, struct dse_llm *m);
void llm_fill_falcon(struct llm_config *c, struct dse_llm *m);

void llm_fill_cohere(struct llm_config *c, struct dse_llm *m);
void llm_fill_stablelm(struct llm_config *c, struct dse_llm *m);
void llm_fill_chatglm(struct llm_config *c, struct dse_llm *m);
void llm_fill_nemotron(struct llm_config *c, struct dse_llm *m);

/* Variations of others (llm_more_rules.c). */
void llm_fill_gateless(struct llm_config *c, struct dse_llm *m);
void llm_fill_plain(struct llm_config *c, struct dse_llm *m);
void llm_fill_minicpm(struct llm_config *c, struct dse_llm *m);
void llm_fill_internlm_1(struct llm_config *c, struct dse_llm *m);
void llm_fill_qwen(struct llm_config *c, struct dse_llm *m);
void llm_fill_internlm(struct llm_config *c, struct dse_llm *m);
void llm_fill_mllama(struct llm_config *c, struct dse_llm *m);
void llm_fill_hunyuan(struct llm_config *c, struct dse_llm *m);
void llm_fill_hunyuan_moe(struct llm_config *c, struct dse_llm *m);
void llm_fill_llama(struct llm_config *c, struct dse_llm *m);
void llm_fill_mistral(struct llm_config *c, struct dse_llm *m);
void llm_fill_qwen2(struct llm_config *c, struct dse_llm *m);
void llm_fill_qwen3(struct llm_config *c, struct dse_llm *m);
void llm_fill_mimo(struct llm_config *c, struct dse_llm *m);
void llm_fill_gemma2(struct llm_config *c, struct dse_llm *m);
void llm_fill_gemma3(struct llm_config *c, struct dse_llm *m);
void llm_fill_vaultgemma(struct llm_config *c, struct dse_llm *m);
void llm_fill_nanochat(struct llm_config *c, struct dse_llm *m);
void llm_fill_cwm(struct llm_config *c, struct dse_llm *m);
void llm_fill_olmo(struct llm_config *c, struct dse_llm *m);
void llm_fill_olmo2(struct llm_config *c, struct dse_llm *m);
void llm_fill_olmo3(struct llm_config *c, struct dse_llm *m);
void llm_fill_smollm3(struct llm_config *c, struct dse_llm *m);
void llm_fill_seed_oss(struct llm_config *c, struct dse_llm *m);
void llm_fill_glm4(struct llm_config *c, struct dse_llm *m);
void llm_fill_exaone4(struct llm_config *c, struct dse_llm *m);
void llm_fill_ernie(struct llm_config *c, struct dse_llm *m);
void llm_fill_olmoe(struct llm_config *c, struct dse_llm *m);
void llm_fill_granite_moe(struct llm_config *c, struct dse_llm *m);
void llm_fill_bailing(struct llm_config *c, struct dse_llm *m);
void llm_fill_dots1(struct llm_config *c, struct dse_llm *m);
void llm_fill_ernie_moe(struct llm_config *c, struct dse_llm *m);

/* Architectures with states (llm_state_rules.c). Convolutions have biases, projections none. */
void llm_take_state_biases(struct llm_config *c, const char *convolution, const char *projections);
void llm_fill_minimax_text(struct llm_config *c, struct dse_llm *m);
void llm_fill_olmo_hybrid(struct llm_config *c, struct dse_llm *m);
void llm_fill_bailing_hybrid(struct llm_config *c, struct dse_llm *m);
void llm_fill_qwen3_next(struct llm_config *c, struct dse_llm *m);
void llm_fill_jamba(struct llm_config *c, struct dse_llm *m);
void llm_fill_bamba(struct llm_config *c, struct dse_llm *m);
void llm_fill_mamba(struct llm_config *c, struct dse_llm *m);
void llm_fill_mamba2(struct llm_config *c, struct dse_llm *m);
void llm_fill_lfm2(struct llm_config *c, struct dse_llm *m);
void llm_fill_nemotron_h(struct llm_config *c, struct dse_llm *m);
void llm_fill_granite_hybrid(struct llm_config *c, struct dse_llm *m);

#endif
