/* What the keys of a config.json mean, architecture by architecture. docs/explanation/llms.md says where each rule comes from. */
#include "base/text.h"
#include "base/xalloc.h"
#include "config/llm_keys.h"
#include "config/llm_rules.h"

#include <stdlib.h>
#include <string.h>

enum { MODEL_TYPES = 6 };

struct architecture {
    const char *model_types[MODEL_TYPES]; /* with the same keys: a text model, and what wraps it */
    void (*fill)(struct llm_config *c, struct dse_llm *m);
    struct llm_defaults defaults;
    const char *uncounted; /* keys of its own that no count depends on (llm_keys.h) */
    const char *aliases;   /* other names of keys (llm_config.h); NULL: none */
};

/* ---- keys that no count depends on ----------------------------------------------------------------------------------------- */

/* Switches of windows, in files whose class has none that counts. */
#define NO_WINDOWS "use_sliding_window=false max_window_layers "
/* Qwen's classes have biases of queries, keys and values, or none, whatever the file says. */
#define KEYS_OF_QWEN "attention_bias qkv_bias no_bias=true "
#define KEYS_OF_EXPERTS LLM_KEYS_EXPERTS NO_WINDOWS "moe_layer_freq=1 decoder_sparse_step=1 mlp_only_layers=[] mlp_bias=false "
#define KEYS_OF_QWEN_EXPERTS \
    KEYS_OF_EXPERTS "output_gate_type qkv_bias=false shared_expert_intermediate_size=0 use_qk_norm=true num_nextn_predict_layers=0 "
#define KEYS_OF_GRANITE \
    "embedding_multiplier logits_scaling residual_multiplier attention_multiplier normalization_function=rmsnorm "
#define KEYS_OF_GEMMA "query_pre_attn_scalar sliding_window_size sliding_window_pattern _sliding_window_pattern mlp_bias=false "
#define KEYS_OF_LATENT KEYS_OF_EXPERTS "qk_head_dim indexer_rope_interleave index_share_for_mtp_iteration "
#define KEYS_OF_LIGHTNING \
    "postnorm block_size shared_moe_mode layernorm_full_attention_alpha layernorm_full_attention_beta " \
    "layernorm_linear_attention_alpha layernorm_linear_attention_beta layernorm_mlp_alpha layernorm_mlp_beta " \
    "full_attn_alpha_factor full_attn_beta_factor linear_attn_alpha_factor linear_attn_beta_factor mlp_alpha_factor " \
    "mlp_beta_factor mlp_intermediate_size num_mtp_modules mtp_transformer_layers attn_window_size=-1 use_mtp=false "
#define KEYS_OF_MAMBA \
    LLM_KEYS_STATES "use_bias=false use_conv_bias=true mamba_conv_bias=true mamba_proj_bias=false intermediate_size "
#define KEYS_OF_NEMOTRON \
    KEYS_OF_EXPERTS LLM_KEYS_STATES "use_bias=false use_conv_bias=true mamba_proj_bias=false moe_shared_expert_overlap " \
                                    "mtp_hybrid_override_pattern mtp_layers_block_type mtp_block_configs sliding_window "
#define KEYS_OF_BAILING \
    KEYS_OF_EXPERTS \
    "use_rmsnorm=true norm_head=false norm_softmax multi_gate=false moe_dropout sliding_window using_split_qkv_in_self_attention "
#define KEYS_OF_BAILING_HYBRID \
    "group_norm_size linear_silu use_linear_silu linear_rope linear_backend linear_scale linear_mode kda_safe_gate " \
    "kda_lower_bound qk_head_dim head_dim num_key_value_heads rotary_type linear_attention_type "
#define KEYS_OF_PHI3SMALL \
    "blocksparse_homo_head_pattern blocksparse_triton_kernel_block_size blocksparse_block_size blocksparse_num_local_blocks " \
    "blocksparse_vert_stride dummy_token_indices gegelu_limit gegelu_pad_to_256=true ff_dim_multiplier mup_attn_multiplier " \
    "mup_embedding_multiplier mup_use_scaling mup_width_multiplier pad_sequence_to_multiple_of_64 rope_embedding_base " \
    "rope_position_scale attention_bias=false "
#define KEYS_OF_ERNIE \
    "compression_ratio micro_batch_size scale_qk_coeff rope_reorder freq_allocation use_var_len_flash_attn " \
    "enable_delay_scale_loss moe_use_aux_free moe_gate moe_gate_act moe_group moe_group_experts moe_norm_min " \
    "moe_aux_loss_lambda moe_z_loss_lambda moe_orthogonal_loss_lambda moe_reverse_token_drop moe_norm_gate_logits " \
    "moe_use_hard_gate multi_token_pred_lambda moe_multimodal_dispatch_use_allgather moe_dense_experts_token_type_id " \
    "moe_with_send_router_loss sinkhorn_2gate sinkhorn_temp global_aux_loss disable_ffn_model_parallel add_tail_layers=0 " \
    "ignored_index weight_share_add_bias=true "

#define KEYS_OF_HUNYUAN \
    "add_classification_head=false attention_head_dim class_num dense_list im_end_id im_newline_id im_start_id mask_init_id " \
    "norm_type=rms org_vocab_size pad_id eod_token_id pool_type text_end_id text_start_id use_rotary_pos_emb sep_token_id "
#define NAMES_OF_GPT2 "hidden_size=n_embd num_hidden_layers=n_layer num_attention_heads=n_head max_position_embeddings=n_positions "
#define KEYS_OF_ARCTIC \
    "moe_eval_capacity_factor moe_train_capacity_factor moe_min_capacity moe_token_dropping enable_expert_tensor_parallelism " \
    "moe_layer_frequency "
#define KEYS_OF_GROK \
    "attn_output_multiplier embedding_multiplier_scale output_multiplier_scale max_attn_value router_logit_softcapping " \
    "attn_temperature_len sliding_window_size=-1 global_attn_every_n=1 scaling_factor extrapolation_factor attn_factor " \
    "beta_fast beta_slow "
#define KEYS_OF_AFMOE "load_balance_coeff mup_enabled num_limited_groups route_norm route_scale score_func use_grouped_mm "
#define KEYS_OF_MINICPM "scale_emb scale_depth dim_model_base mup_denominator "
#define KEYS_OF_GPT2 "n_ctx scale_attn_weights layer_norm_epsilon attention_softmax_in_fp32 "

/* ---- the table ------------------------------------------------------------------------------------------------------------ */

static const struct architecture architectures[] = {
    {{"llama"},
     llm_fill_llama,
     {.context = 2048, .layers = 32, .hidden = 4096, .vocab = 32000, .ffn = 11008, .heads = 32},
     NO_WINDOWS "is_llama_config "},
    {{"mistral", "ministral"},
     llm_fill_mistral,
     {.context = 131072, .kv_heads = 8, .layers = 32, .hidden = 4096, .vocab = 32000, .ffn = 14336, .heads = 32},
     NO_WINDOWS},
    {{"ministral3"},
     llm_fill_mistral,
     {.context = 262144, .kv_heads = 8, .head_dim = 128, .layers = 34, .hidden = 4096, .vocab = 131072, .ffn = 14336, .heads = 32},
     NO_WINDOWS},
    {{"qwen2", "dots_ocr"},
     llm_fill_qwen2,
     {.context = 32768, .kv_heads = 32, .layers = 32, .hidden = 4096, .vocab = 151936, .ffn = 22016, .heads = 32},
     KEYS_OF_QWEN},
    {{"qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text", "qwen2_5_omni_text"},
     llm_fill_qwen2,
     {.context = 32768, .kv_heads = 8, .layers = 80, .hidden = 8192, .vocab = 152064, .ffn = 29568, .heads = 64},
     KEYS_OF_QWEN},
    {{"qwen2_moe"},
     llm_fill_qwen2_moe,
     {.context = 32768, .kv_heads = 16, .layers = 24, .hidden = 2048, .vocab = 151936, .ffn = 5632, .heads = 16},
     KEYS_OF_EXPERTS KEYS_OF_QWEN},
    {{"qwen3"},
     llm_fill_qwen3,
     {.context = 32768, .kv_heads = 32, .head_dim = 128, .layers = 32, .hidden = 4096, .vocab = 151936, .ffn = 22016, .heads = 32},
     KEYS_OF_QWEN},
    {{"qwen3_vl", "qwen3_vl_text"},
     llm_fill_qwen3,
     {.context = 128000, .kv_heads = 32, .head_dim = 128, .layers = 32, .hidden = 4096, .vocab = 151936, .ffn = 22016, .heads = 32},
     KEYS_OF_QWEN},
    {{"mimo"}, llm_fill_mimo, {.context = 32768}, KEYS_OF_QWEN},
    {{"phi3", "phi3_v", "phi4mm"},
     llm_fill_mistral,
     {.context = 4096, .layers = 32, .hidden = 3072, .vocab = 32064, .ffn = 8192, .heads = 32},
     NO_WINDOWS "full_attn_mod=1 lm_head_bias=false interpolate_factor embd_layer "},
    {{"gemma"}, llm_fill_llama, {.tied = true, .context = 8192, .head_dim = 256}, KEYS_OF_GEMMA},
    {{"olmo"}, llm_fill_olmo, {.context = 2048}, "clip_qkv "},
    {{"olmo2"}, llm_fill_olmo2, {.context = 2048}, "clip_qkv "},
    {{"olmo3"}, llm_fill_olmo3, {.context = 65536}, "clip_qkv "},
    {{"olmo_hybrid"},
     llm_fill_olmo_hybrid,
     {.context = 65536},
     LLM_KEYS_STATES "linear_a_log_min linear_a_log_max linear_dt_min linear_dt_max linear_dt_init_floor linear_allow_neg_eigval "},
    {{"nanochat"}, llm_fill_nanochat, {.context = 2048}, "logits_soft_cap qkv_bias=false "},
    {{"cwm"}, llm_fill_cwm, {.context = 131072, .kv_heads = 8, .head_dim = 128}, ""},
    {{"granite"}, llm_fill_llama, {.context = 2048}, KEYS_OF_GRANITE NO_WINDOWS},
    {{"smollm3"}, llm_fill_smollm3, {.tied = true, .context = 32768, .kv_heads = 4}, "no_rope_layer_interval "},
    {{"seed_oss"}, llm_fill_seed_oss, {.context = 524288, .kv_heads = 8, .head_dim = 128}, ""},
    {{"glm4", "glm", "glm4v", "glm4v_text"}, llm_fill_glm4, {.context = 131072, .kv_heads = 2, .head_dim = 128}, ""},
    {{"exaone4", "exaone4_5", "exaone4_5_text"},
     llm_fill_exaone4,
     {.context = 2048},
     "max_window_layers reorder_qk_norm _num_mtp_layers mtp_share_layers "},
    {{"ernie4_5"}, llm_fill_ernie, {.tied = true, .context = 131072, .kv_heads = 2, .head_dim = 128}, KEYS_OF_ERNIE},
    {{"gemma2"}, llm_fill_gemma2, {.tied = true, .context = 8192, .kv_heads = 4, .head_dim = 256}, KEYS_OF_GEMMA},
    {{"vaultgemma"}, llm_fill_vaultgemma, {.tied = true, .context = 8192, .kv_heads = 4, .head_dim = 256}, KEYS_OF_GEMMA},
    {{"gemma3_text", "gemma3"},
     llm_fill_gemma3,
     {.tied = true,
      .context = 131072,
      .kv_heads = 4,
      .head_dim = 256,
      .layers = 26,
      .hidden = 2304,
      .vocab = 262208,
      .ffn = 9216,
      .heads = 8},
     KEYS_OF_GEMMA},
    {{"mimo_v2_flash", "mimo_v2"},
     llm_fill_mimo_v2,
     {.context = 262144, .kv_heads = 4, .head_dim = 192, .ffn = 16384},
     KEYS_OF_EXPERTS "attention_value_scale attention_projection_layout hybrid_block_size attention_chunk_size use_qk_norm=false "},
    {{"gemma4_text", "gemma4"},
     llm_fill_gemma4,
     {.tied = true,
      .context = 131072,
      .kv_heads = 4,
      .head_dim = 256,
      .layers = 30,
      .hidden = 2304,
      .vocab = 262144,
      .ffn = 9216,
      .heads = 8},
     KEYS_OF_EXPERTS KEYS_OF_GEMMA "expert_intermediate_size use_second_mlp_block=false "},
    {{"gemma3n_text", "gemma3n"},
     llm_fill_gemma3n,
     {.tied = true,
      .context = 32768,
      .kv_heads = 2,
      .head_dim = 256,
      .layers = 35,
      .hidden = 2048,
      .vocab = 262400,
      .ffn = 16384,
      .heads = 8},
     KEYS_OF_GEMMA "altup_active_idx altup_coef_clip altup_correct_scale altup_lr_multiplier activation_sparsity_pattern "},
    {{"mixtral"}, llm_fill_mixtral, {.context = 131072, .kv_heads = 8}, KEYS_OF_EXPERTS "attention_bias=false "},
    {{"qwen3_moe"},
     llm_fill_qwen3_moe,
     {.context = 32768, .kv_heads = 4, .layers = 24, .hidden = 2048, .vocab = 151936, .ffn = 6144, .heads = 32},
     KEYS_OF_QWEN_EXPERTS},
    {{"qwen3_vl_moe", "qwen3_vl_moe_text", "qwen3_omni_moe_text"},
     llm_fill_qwen3_moe,
     {.context = 128000, .kv_heads = 16, .layers = 24, .hidden = 2048, .vocab = 151936, .ffn = 5632, .heads = 16},
     KEYS_OF_QWEN_EXPERTS},
    {{"deepseek_v2"}, llm_fill_latent, {.context = 2048}, KEYS_OF_LATENT "lm_head=true rm_head=false "},
    {{"deepseek_v3", "kimi_k2", "kimi_k25"}, llm_fill_latent, {.context = 4096}, KEYS_OF_LATENT},
    {{"mistral4"}, llm_fill_latent, {.context = 1048576}, KEYS_OF_LATENT},
    {{"youtu"}, llm_fill_latent, {.tied = true, .context = 131072}, KEYS_OF_LATENT},
    {{"longcat_flash"},
     llm_fill_longcat,
     {.context = 131072},
     KEYS_OF_LATENT "attention_method=MLA mla_scale_q_lora mla_scale_kv_lora zero_expert_type=identity num_nextn_predict_layers ",
     "num_hidden_layers=num_layers "},
    {{"minicpm3"}, llm_fill_latent, {.tied = true, .context = 32768}, KEYS_OF_MINICPM},
    {{"deepseek_v32", "glm4_moe_lite", "glm_moe_dsa"}, llm_fill_latent, {0}, KEYS_OF_LATENT},
    {{"deepseek_v4"},
     llm_fill_deepseek_v4,
     {.context = 1048576},
     KEYS_OF_LATENT "compress_rope_theta compress_rates expert_dtype hc_eps hc_sinkhorn_iters qk_rope_head_dim mlp_layer_types "
                    "compress_ratios attention_bias=false "},
    {{"llama4_text", "llama4"},
     llm_fill_llama4,
     {.context = 131072, .kv_heads = 8, .head_dim = 128, .layers = 48, .hidden = 5120, .vocab = 202048, .ffn = 16384, .heads = 40},
     LLM_KEYS_EXPERTS "floor_scale attn_temperature_tuning for_llm_compressor no_rope_layer_interval interleave_moe_layer_step "},
    {{"apertus"}, llm_fill_gateless, {.context = 65536}, "qk_norm=true post_norm=false "},
    {{"arcee"}, llm_fill_gateless, {.context = 4096}, ""},
    {{"helium"}, llm_fill_llama, {.context = 4096, .head_dim = 128}, ""},
    {{"baichuan"}, llm_fill_plain, {.context = 4096}, "", "max_position_embeddings=model_max_length "},
    {{"exaone"}, llm_fill_plain, {.context = 2048}, "", "num_hidden_layers=num_layers "},
    {{"minicpm"}, llm_fill_minicpm, {.tied = true, .context = 2048}, KEYS_OF_MINICPM},
    {{"internlm"}, llm_fill_internlm_1, {.context = 2048}, "rotary "},
    {{"qwen"},
     llm_fill_qwen,
     {.context = 8192},
     "no_bias=true onnx_safe use_cache_kernel use_cache_quantization ",
     "head_dim=kv_channels "},
    {{"gptj", "codegen"}, llm_fill_gptj, {.context = 2048}, KEYS_OF_GPT2 "rotary=true ", NAMES_OF_GPT2},
    {{"gpt_neo"},
     llm_fill_gpt_neo,
     {.tied = true, .context = 2048},
     KEYS_OF_GPT2 "attention_types ",
     "num_hidden_layers=num_layers num_attention_heads=num_heads "},
    {{"gpt2"}, llm_fill_gpt2, {.tied = true, .context = 1024}, KEYS_OF_GPT2, NAMES_OF_GPT2},
    {{"gpt_bigcode"},
     llm_fill_gpt_bigcode,
     {.tied = true, .context = 1024},
     KEYS_OF_GPT2
     "inference_runner pre_allocate_kv_cache scale_attention_softmax_in_fp32 validate_runner_input pad_key_length max_batch_size ",
     NAMES_OF_GPT2},
    {{"starcoder2"}, llm_fill_starcoder2, {.tied = true, .context = 4096, .kv_heads = 2}, "mlp_type=default norm_type=layer_norm "},
    {{"opt"}, llm_fill_opt, {.tied = true, .context = 2048}, "layer_norm_elementwise_affine=true _remove_final_layer_norm=false "},
    {{"bloom"},
     llm_fill_bloom,
     {.tied = true, .context = 2048},
     "apply_residual_connection_post_layernorm bias_dropout_fusion masked_softmax_fusion skip_bias_add skip_bias_add_qkv "
     "attention_softmax_in_fp32 slow_but_exact offset_alibi unk_token_id seq_length ",
     "hidden_size=n_embed num_hidden_layers=n_layer num_attention_heads=n_head max_position_embeddings=seq_length "},
    {{"mpt"},
     llm_fill_mpt,
     {.tied = true, .context = 2048},
     "emb_pdrop resid_pdrop attn_bias_type init_config norm_type logit_scale verbose ffn_config "
     "embedding_fraction tokenizer_name ",
     "hidden_size=d_model num_hidden_layers=n_layers num_attention_heads=n_heads max_position_embeddings=max_seq_len "},
    {{"phi"}, llm_fill_phi, {.context = 2048}, "attention_bias "},
    {{"persimmon"}, llm_fill_persimmon, {.context = 16384}, ""},
    {{"phi3small"}, llm_fill_phi3small, {.tied = true, .context = 8192}, KEYS_OF_PHI3SMALL},
    {{"phimoe"}, llm_fill_phimoe, {.context = 131072, .kv_heads = 8}, KEYS_OF_EXPERTS "input_jitter_noise "},
    {{"gpt_neox"}, llm_fill_gpt_neox, {.context = 2048}, "classifier_dropout "},
    {{"falcon"},
     llm_fill_falcon,
     {.tied = true, .context = 2048},
     "alibi apply_residual_connection_post_layernorm ",
     "num_hidden_layers=n_layer num_attention_heads=n_head num_kv_heads=n_head_kv "},
    {{"gpt_oss"}, llm_fill_gpt_oss, {.context = 131072, .kv_heads = 8, .head_dim = 64}, KEYS_OF_EXPERTS},
    {{"gpt_oss_puzzle"},
     llm_fill_gpt_oss_puzzle,
     {.context = 131072, .kv_heads = 8, .head_dim = 64},
     KEYS_OF_EXPERTS "layer_types sliding_window "},
    {{"glm4_moe", "glm4v_moe", "glm4v_moe_text"}, llm_fill_glm4_moe, {.context = 131072, .kv_heads = 8}, KEYS_OF_EXPERTS},
    {{"olmoe", "flex_olmo"}, llm_fill_olmoe, {.context = 4096}, KEYS_OF_EXPERTS "clip_qkv "},
    {{"granitemoe", "granitemoeshared"}, llm_fill_granite_moe, {.context = 2048}, KEYS_OF_EXPERTS KEYS_OF_GRANITE},
    {{"bailing_moe", "bailing_moe_v2"}, llm_fill_bailing, {.context = 16384}, KEYS_OF_BAILING},
    {{"bailing_hybrid", "bailing_moe_linear", "bailing_moe_linear_v2"},
     llm_fill_bailing_hybrid,
     {.context = 131072},
     KEYS_OF_BAILING KEYS_OF_BAILING_HYBRID},
    {{"dots1"}, llm_fill_dots1, {.context = 2048}, KEYS_OF_EXPERTS "sliding_window "},
    {{"ernie4_5_moe"}, llm_fill_ernie_moe, {.tied = true, .context = 131072, .kv_heads = 4}, KEYS_OF_EXPERTS KEYS_OF_ERNIE},
    {{"solar_open"},
     llm_fill_solar_open,
     {.context = 131072, .kv_heads = 8, .head_dim = 128},
     KEYS_OF_EXPERTS "first_k_dense_replace intermediate_size "},
    {{"deepseek"}, llm_fill_deepseek, {.context = 2048}, KEYS_OF_EXPERTS},
    {{"dbrx"},
     llm_fill_dbrx,
     {.context = 2048},
     KEYS_OF_EXPERTS,
     "hidden_size=d_model num_hidden_layers=n_layers num_attention_heads=n_heads max_position_embeddings=max_seq_len "},
    {{"arctic"}, llm_fill_arctic, {.context = 4096}, KEYS_OF_EXPERTS KEYS_OF_ARCTIC},
    {{"grok-1"}, llm_fill_grok, {.tied = true, .context = 4096}, KEYS_OF_EXPERTS KEYS_OF_GROK},
    /* Grok 2's file */
    {{"git"}, llm_fill_grok, {.context = 131072}, KEYS_OF_EXPERTS KEYS_OF_GROK},
    {{"exaone_moe"}, llm_fill_exaone_moe, {.context = 2048}, KEYS_OF_EXPERTS "max_window_layers _num_mtp_layers mtp_share_layers "},
    {{"afmoe"}, llm_fill_afmoe, {.context = 16384, .head_dim = 128}, KEYS_OF_EXPERTS KEYS_OF_AFMOE},
    {{"minimax_m2"}, llm_fill_minimax_m2, {.kv_heads = 8}, KEYS_OF_EXPERTS KEYS_OF_LIGHTNING},
    {{"minimax_text_01", "minimax_m1"}, llm_fill_minimax_text, {.kv_heads = 8}, KEYS_OF_EXPERTS KEYS_OF_LIGHTNING},
    {{"minimax"}, llm_fill_minimax_text, {.context = 131072, .kv_heads = 8}, KEYS_OF_EXPERTS KEYS_OF_LIGHTNING},
    {{"qwen3_next"},
     llm_fill_qwen3_next,
     {.context = 32768, .kv_heads = 2, .head_dim = 256},
     KEYS_OF_QWEN_EXPERTS LLM_KEYS_STATES "sliding_window "},
    {{"qwen3_5", "qwen3_5_text"},
     llm_fill_qwen3_next,
     {.context = 32768, .kv_heads = 4, .head_dim = 256, .layers = 32, .hidden = 4096, .vocab = 248320, .ffn = 12288, .heads = 16},
     KEYS_OF_QWEN_EXPERTS LLM_KEYS_STATES "sliding_window "},
    {{"qwen3_5_moe", "qwen3_5_moe_text"},
     llm_fill_qwen3_next,
     {.context = 32768, .kv_heads = 2, .head_dim = 256, .layers = 40, .hidden = 2048, .vocab = 248320, .ffn = 0, .heads = 16},
     KEYS_OF_QWEN_EXPERTS LLM_KEYS_STATES "sliding_window "},
    {{"jamba"},
     llm_fill_jamba,
     {.context = 262144, .kv_heads = 8},
     KEYS_OF_EXPERTS LLM_KEYS_STATES "mamba_inner_layernorms=true n_ctx attention_bias=false layers_block_type "},
    {{"minimax_m3", "minimax_m3_text", "minimax_m3_vl"},
     llm_fill_minimax_m3,
     {.context = 1048576, .kv_heads = 4, .head_dim = 128},
     KEYS_OF_EXPERTS "num_reward_heads=0 use_gemma_norm qk_norm_type=per_head moe_sigmoid index_local_blocks index_init_blocks "
                     "mtp_transformer_layers "},
    {{"kimi_linear", "kimi_k3"},
     llm_fill_kimi_linear,
     {.context = 1048576},
     KEYS_OF_LATENT "moe_router_activation_func moe_renormalize mla_use_nope linear_attn_config latent_moe_use_norm "
                    "activation_situ_beta activation_situ_linear_beta ",
     "max_position_embeddings=model_max_length num_experts_per_tok=num_experts_per_token num_nextn_predict_layers=num_mtp_layers "},
    {{"cohere", "cohere2"},
     llm_fill_cohere,
     {.tied = true, .context = 8192, .ffn = 22528},
     "logit_scale order_of_interleaved_layers rotary_pct use_embedding_sharing use_gated_activation use_parallel_block=true "
     "use_parallel_embedding layer_switch position_embedding_type "},
    {{"stablelm"}, llm_fill_stablelm, {.context = 4096}, "use_qkv_bias "},
    {{"chatglm"},
     llm_fill_chatglm,
     {.context = 2048},
     "apply_query_key_layer_scaling apply_residual_connection_post_layernorm=false attention_softmax_in_fp32 bias_dropout_fusion "
     "interleaved_qkv original_rope padded_vocab_size post_layer_norm=true pre_seq_len prefix_projection quantization_bit "
     "rmsnorm=true vocab_size multi_query_group_num ",
     "num_hidden_layers=num_layers max_position_embeddings=seq_length num_key_value_heads=multi_query_group_num "
     "head_dim=kv_channels vocab_size=padded_vocab_size "},
    {{"nemotron"}, llm_fill_nemotron, {.context = 4096}, ""},
    {{"internlm2", "internlm3"}, llm_fill_internlm, {.context = 32768}, ""},
    {{"mllama", "mllama_text_model"},
     llm_fill_mllama,
     {.context = 131072, .kv_heads = 8, .layers = 40, .hidden = 4096, .vocab = 128256, .ffn = 14336, .heads = 32},
     "is_llama_config "},
    {{"hunyuan_v1_dense"}, llm_fill_hunyuan, {.context = 2048}, KEYS_OF_HUNYUAN},
    {{"hunyuan_v1_moe"},
     llm_fill_hunyuan_moe,
     {.context = 2048},
     KEYS_OF_EXPERTS KEYS_OF_HUNYUAN
     "moe_drop_tokens moe_random_routing_dropped_token capacity_factor group_limited_greedy=false "},
    {{"hy_v3"},
     llm_fill_hy3,
     {.context = 131072, .kv_heads = 8, .head_dim = 128},
     KEYS_OF_EXPERTS "enable_attention_fp32_softmax enable_moe_fp32_combine moe_router_use_sigmoid route_norm use_grouped_mm "},
    {{"laguna"},
     llm_fill_laguna,
     {.context = 131072, .kv_heads = 8, .head_dim = 128},
     KEYS_OF_EXPERTS "moe_apply_router_weight_on_input=false moe_routed_scaling_factor moe_router_logit_softcapping "},
    {{"step3p5", "step3p7", "step3p7_text"},
     llm_fill_step3,
     {.context = 128000, .kv_heads = 8, .head_dim = 128, .layers = 45, .hidden = 4096, .vocab = 128815, .ffn = 11264, .heads = 64},
     KEYS_OF_EXPERTS
     "need_fp32_gate n_shared_experts=1 moe_router_activation moe_router_scaling_factor norm_expert_weight swiglu_limits_shared "
     "yarn_only_types use_rope_layers use_moe=true moe_every_n_layer=1 attention_output_gate max_seq_len "
     "attn_other_setting zero_centered sink use_qk_norm=true use_sliding_window "
     "partial_rotary_factors att_impl_type ",
     "num_key_value_heads=num_attention_groups num_experts=moe_num_experts num_experts_per_tok=moe_top_k "},
    {{"falcon_h1"},
     llm_fill_falcon_h1,
     {.context = 8192, .kv_heads = 8},
     LLM_KEYS_STATES "attention_in_multiplier attention_out_multiplier embedding_multiplier lm_head_multiplier key_multiplier "
                     "mlp_multipliers ssm_in_multiplier ssm_multipliers ssm_out_multiplier mamba_norm_before_gate "
                     "mamba_use_mlp=true projectors_bias=false attn_layer_indices mlp_expansion_factor num_logits_to_keep "},
    {{"lfm2"},
     llm_fill_lfm2,
     {.tied = true, .context = 128000, .kv_heads = 8},
     "block_dim block_mlp_init_scale block_norm_eps block_out_init_scale block_use_swiglu=true block_use_xavier_init conv_dim "
     "conv_dim_out conv_use_xavier_init num_heads full_attn_idxs use_pos_enc tie_embedding theta "},
    {{"lfm2_moe"},
     llm_fill_lfm2,
     {.tied = true, .context = 128000, .kv_heads = 8},
     KEYS_OF_EXPERTS "conv_dim full_attn_idxs tie_embedding theta block_auto_adjust_ff_dim "},
    {{"nemotron-nas"}, llm_fill_nemotron_nas, {.context = 2048}, "num_key_value_heads_per_layer "},
    {{"mamba", "falcon_mamba"},
     llm_fill_mamba,
     {.tied = true, .context = 1048576},
     LLM_KEYS_STATES "d_inner d_model n_layer pad_vocab_size_multiple ssm_cfg "},
    {{"bamba"}, llm_fill_bamba, {.context = 262144, .kv_heads = 8}, LLM_KEYS_STATES "attn_rotary_emb "},
    {{"mamba2"}, llm_fill_mamba2, {.context = 1048576}, KEYS_OF_MAMBA},
    {{"nemotron_h", "nemotron_h_puzzle"}, llm_fill_nemotron_h, {.context = 4096, .kv_heads = 8, .head_dim = 128}, KEYS_OF_NEMOTRON},
    {{"granitemoehybrid"}, llm_fill_granite_hybrid, {.context = 2048}, KEYS_OF_EXPERTS LLM_KEYS_STATES KEYS_OF_GRANITE},
};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

/* An architecture that is not known, by the keys that most classes have. */
static void fill_likely(struct llm_config *c, struct dse_llm *m)
{
    static const char *const experts[] = {"n_routed_experts", "num_local_experts", "num_experts"};
    if (config_has(c, "kv_lora_rank")) {
        llm_fill_latent(c, m);
        return;
    }
    llm_take_heads(c, m);
    llm_take_biases(c, m, false);
    for (size_t i = 0; i < sizeof experts / sizeof *experts && m->moe.experts == 0; i++) {
        if (!config_has(c, experts[i])) continue;
        llm_take_experts(c, m, experts[i], config_has(c, "moe_intermediate_size") ? "moe_intermediate_size" : "intermediate_size");
        m->moe.shared_ffn = config_whole_if(c, "n_shared_experts") * m->moe.expert_ffn;
        llm_take_dense_first(c, m, 0);
    }
    llm_take_dense(c, m, "intermediate_size");
    llm_take_window(c, m, 0);
    llm_take_layer_types(c, m, "layer_types", llm_attention_words);
}
static const struct architecture likely = {{""}, fill_likely, {0}, KEYS_OF_EXPERTS LLM_KEYS_STATES};

/* Architectures of which the likely keys would make another LLM. */
static const struct {
    const char *model_type, *why;
} not_counted[] = {
    {"rwkv", "its recurrence is not counted"},
    {"rwkv5", "its recurrence is not counted"},
    {"rwkv6", "its recurrence is not counted"},
    {"rwkv7", "its recurrence is not counted"},
    {"recurrent_gemma", "its recurrence is not counted"},
    {"xlstm", "its recurrence is not counted"},
    {"zamba", "layers that share the weights of a block are not counted"},
    {"zamba2", "layers that share the weights of a block are not counted"},
};

static const struct architecture *find(struct llm_config *c)
{
    const char *names[ARCHITECTURES * MODEL_TYPES];
    size_t n = 0;
    for (size_t i = 0; i < sizeof not_counted / sizeof *not_counted; i++) {
        if (strcmp(not_counted[i].model_type, c->model_type) != 0) continue;
        config_error(c, "model_type", "model_type \"%s\": %s", c->model_type, not_counted[i].why);
        return NULL;
    }
    for (size_t i = 0; i < ARCHITECTURES; i++)
        for (size_t k = 0; k < MODEL_TYPES && architectures[i].model_types[k]; k++) {
            names[n++] = architectures[i].model_types[k];
            if (strcmp(names[n - 1], c->model_type) == 0) return &architectures[i];
        }
    const char *near = text_nearest(c->model_type, names, n);
    char *hint = near ? xasprintf("did you mean %s?", near) : NULL;
    const bool ok = config_cannot(c, "model_type", hint, "model_type \"%s\" is not known", c->model_type);
    free(hint);
    return ok ? &likely : NULL;
}

/* Lists with an entry a layer, of which a file may leave out the number. */
static int64_t layers_of(struct llm_config *c, int64_t otherwise)
{
    static const char *const lists[] = {"layer_types",    "layers_block_type", "hybrid_override_pattern",
                                        "attn_type_list", "mlp_layer_types",   "indexer_types"};
    static const char key[] = "num_hidden_layers";
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !config_has(c, key); i++) {
        const int64_t n = config_length(c, lists[i]);
        if (n <= 0) continue;
        config_note(c, "%s is not in the file: %lld, as many as %s has", key, (long long)n, lists[i]);
        return n;
    }
    return config_whole_nested(c, key, otherwise);
}

bool config_shape(struct llm_config *c, struct dse_llm *ret)
{
    const struct architecture *a = find(c);
    *ret = (struct dse_llm){.ffn_matrices = 3};
    if (!a) return false;
    const struct llm_defaults *d = c->defaults = &a->defaults;
    c->uncounted = a->uncounted;
    if (a->aliases) c->aliases = a->aliases;
    ret->layers = layers_of(c, d->layers);
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
