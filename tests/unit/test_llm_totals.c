/* Configurations against the number of weights that their repositories hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "config/llm_import.h"
#include "scratch.h"

#include <dse/llm.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The keys of a configuration that count, and its weights: published totals of the files (the safetensors totals that Hugging Face
 * shows, or Keras's presets). Of granite-3.0 to EXAONE-4.0 no published total was at hand: theirs are sums by hand over the
 * definition of the class. So are those of AFM, MiniCPM3, Mistral Small 4, K-EXAONE, Helium, Arctic, Grok 2, Trinity, Solar Open,
 * Bamba, replit-code, DeepSeek-OCR, Hy3 and InternLM, which are published in billions: 4.62, 4.07, 119, 236, 2.17, 480, 270, 6,
 * 102.6, 9.78, 3.3, 3, 295 and 7.
 * So are persimmon to FlexOlmo: 9.3, 560, 124, 16, 1.88, 7, 1.96, 32, 1.04 and 33. Apertus' published total, 8053338176, has two
 * numbers a layer more, which its activation learns. */
struct sample {
    const char *name, *keys;
    int64_t params;
};

static const struct sample samples[] = {
    {"OLMo-2-1124-7B",
     "\"model_type\":\"olmo2\",\"hidden_size\":4096,\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":32,"
     "\"intermediate_size\":11008,\"vocab_size\":100352,\"max_position_embeddings\":4096,\"tie_word_embeddings\":false",
     7298617344},
    {"SmolLM3-3B",
     "\"model_type\":\"smollm3\",\"hidden_size\":2048,\"num_hidden_layers\":36,\"num_attention_heads\":16,"
     "\"num_key_value_heads\":4,\"intermediate_size\":11008,\"vocab_size\":128256,\"max_position_embeddings\":65536,"
     "\"no_rope_layer_interval\":4",
     3075098624},
    {"gemma-7b",
     "\"model_type\":\"gemma\",\"hidden_size\":3072,\"num_hidden_layers\":28,\"num_attention_heads\":16,\"num_key_value_heads\":16,"
     "\"head_dim\":256,\"intermediate_size\":24576,\"vocab_size\":256000,\"max_position_embeddings\":8192",
     8537680896},
    {"Seed-OSS-36B-Base",
     "\"model_type\":\"seed_oss\",\"hidden_size\":5120,\"num_hidden_layers\":64,\"num_attention_heads\":80,"
     "\"num_key_value_heads\":8,\"head_dim\":128,\"intermediate_size\":27648,\"vocab_size\":155136,\"attention_bias\":true,"
     "\"attention_out_bias\":false,\"tie_word_embeddings\":false",
     36151104512},
    {"GLM-4-9B-0414",
     "\"model_type\":\"glm4\",\"hidden_size\":4096,\"num_hidden_layers\":40,\"num_attention_heads\":32,\"num_key_value_heads\":2,"
     "\"head_dim\":128,\"intermediate_size\":13696,\"vocab_size\":151552,\"attention_bias\":true,\"tie_word_embeddings\":false",
     9400279040},
    {"Qwen1.5-MoE-A2.7B",
     "\"model_type\":\"qwen2_moe\",\"hidden_size\":2048,\"num_hidden_layers\":24,\"num_attention_heads\":16,"
     "\"num_key_value_heads\":16,\"intermediate_size\":5632,\"moe_intermediate_size\":1408,\"num_experts\":60,"
     "\"num_experts_per_tok\":4,\"shared_expert_intermediate_size\":5632,\"vocab_size\":151936,\"tie_word_embeddings\":false,"
     "\"use_sliding_window\":false,\"sliding_window\":32768,\"max_window_layers\":21",
     14315784192},
    {"OLMoE-1B-7B",
     "\"model_type\":\"olmoe\",\"hidden_size\":2048,\"num_hidden_layers\":16,\"num_attention_heads\":16,\"num_key_value_heads\":16,"
     "\"intermediate_size\":1024,\"num_experts\":64,\"num_experts_per_tok\":8,\"vocab_size\":50304",
     6919161856},
    {"Ling-mini-2.0",
     "\"model_type\":\"bailing_moe_v2\",\"hidden_size\":2048,\"num_hidden_layers\":20,\"num_attention_heads\":16,"
     "\"num_key_value_heads\":4,\"head_dim\":128,\"intermediate_size\":5120,\"moe_intermediate_size\":512,\"num_experts\":256,"
     "\"num_experts_per_tok\":8,\"num_shared_experts\":1,\"first_k_dense_replace\":1,\"use_qk_norm\":true,"
     "\"moe_router_enable_expert_bias\":true,\"vocab_size\":157184,\"tie_word_embeddings\":false",
     16255643392},
    {"granite-3.0-1b-a400m",
     "\"model_type\":\"granitemoe\",\"hidden_size\":1024,\"num_hidden_layers\":24,\"num_attention_heads\":16,"
     "\"num_key_value_heads\":8,\"intermediate_size\":512,\"num_local_experts\":32,\"num_experts_per_tok\":8,\"vocab_size\":49155,"
     "\"tie_word_embeddings\":true",
     1334628352},
    {"granite-4.0-h-tiny",
     "\"model_type\":\"granitemoehybrid\",\"hidden_size\":1536,\"num_hidden_layers\":40,\"num_attention_heads\":12,"
     "\"num_key_value_heads\":4,\"intermediate_size\":512,\"shared_intermediate_size\":1024,\"num_local_experts\":64,"
     "\"num_experts_per_tok\":6,\"mamba_n_heads\":48,\"mamba_d_head\":64,\"mamba_d_state\":128,\"mamba_n_groups\":1,"
     "\"mamba_d_conv\":4,\"mamba_expand\":2,\"vocab_size\":100352,\"tie_word_embeddings\":true,\"layer_types\":[%s]",
     6939037248},
    {"ERNIE-4.5-21B-A3B",
     "\"model_type\":\"ernie4_5_moe\",\"hidden_size\":2560,\"num_hidden_layers\":28,\"num_attention_heads\":20,"
     "\"num_key_value_heads\":4,\"head_dim\":128,\"intermediate_size\":12288,\"moe_intermediate_size\":1536,"
     "\"moe_num_experts\":64,\"moe_k\":6,\"moe_num_shared_experts\":2,\"moe_layer_start_index\":1,\"moe_layer_interval\":1,"
     "\"vocab_size\":103424,\"tie_word_embeddings\":true",
     21825437888},
    {"dots.llm1",
     "\"model_type\":\"dots1\",\"hidden_size\":4096,\"num_hidden_layers\":62,\"num_attention_heads\":32,\"num_key_value_heads\":32,"
     "\"intermediate_size\":10944,\"moe_intermediate_size\":1408,\"n_routed_experts\":128,\"num_experts_per_tok\":6,"
     "\"n_shared_experts\":2,\"first_k_dense_replace\":1,\"vocab_size\":152064,\"tie_word_embeddings\":false",
     142774381696},
    {"EXAONE-4.0-32B",
     "\"model_type\":\"exaone4\",\"hidden_size\":5120,\"num_hidden_layers\":64,\"num_attention_heads\":40,"
     "\"num_key_value_heads\":8,\"head_dim\":128,\"intermediate_size\":27392,\"vocab_size\":102400,\"tie_word_embeddings\":false",
     32003216384},
    {"gpt2", "\"model_type\":\"gpt2\",\"n_embd\":768,\"n_head\":12,\"n_layer\":12,\"n_positions\":1024,\"vocab_size\":50257",
     124439808},
    {"opt-6.7b",
     "\"do_layer_norm_before\":true,\"ffn_dim\":16384,\"hidden_size\":4096,\"max_position_embeddings\":2048,"
     "\"model_type\":\"opt\",\"num_attention_heads\":32,\"num_hidden_layers\":32,\"vocab_size\":50272,"
     "\"word_embed_proj_dim\":4096",
     6658473984},
    {"bloom-7b1",
     "\"model_type\":\"bloom\",\"n_embed\":4096,\"n_inner\":null,\"n_layer\":30,\"num_attention_heads\":32,"
     "\"seq_length\":2048,\"vocab_size\":250880",
     7069016064},
    {"mpt-7b",
     "\"d_model\":4096,\"expansion_ratio\":4,\"max_seq_len\":2048,\"model_type\":\"mpt\",\"n_heads\":32,"
     "\"n_layers\":32,\"no_bias\":true,\"vocab_size\":50432",
     6649286656},
    {"starcoder",
     "\"multi_query\":true,\"model_type\":\"gpt_bigcode\",\"n_embd\":6144,\"n_head\":48,\"n_inner\":24576,"
     "\"n_layer\":40,\"n_positions\":8192,\"vocab_size\":49152",
     15517456384},
    {"phi-2",
     "\"hidden_size\":2560,\"intermediate_size\":10240,\"max_position_embeddings\":2048,\"model_type\":\"phi\","
     "\"num_attention_heads\":32,\"num_hidden_layers\":32,\"num_key_value_heads\":32,\"qk_layernorm\":false,"
     "\"tie_word_embeddings\":false,\"vocab_size\":51200",
     2779683840},
    {"Phi-3.5-MoE",
     "\"attention_bias\":true,\"hidden_size\":4096,\"intermediate_size\":6400,\"lm_head_bias\":true,"
     "\"max_position_embeddings\":131072,\"model_type\":\"phimoe\",\"num_attention_heads\":32,"
     "\"num_experts_per_tok\":2,\"num_hidden_layers\":32,\"num_key_value_heads\":8,\"num_local_experts\":16,"
     "\"tie_word_embeddings\":false,\"vocab_size\":32064",
     41873153344},
    {"pythia-6.9b",
     "\"hidden_size\":4096,\"intermediate_size\":16384,\"max_position_embeddings\":2048,\"model_type\":\"gpt_neox\","
     "\"num_attention_heads\":32,\"num_hidden_layers\":32,\"tie_word_embeddings\":false,"
     "\"use_parallel_residual\":true,\"vocab_size\":50432",
     6857302016},
    {"falcon-7b",
     "\"bias\":false,\"hidden_size\":4544,\"model_type\":\"falcon\",\"multi_query\":true,"
     "\"new_decoder_architecture\":false,\"num_attention_heads\":71,\"num_hidden_layers\":32,\"parallel_attn\":true,"
     "\"vocab_size\":65024",
     6921720704},
    {"LFM2-1.2B",
     "\"block_auto_adjust_ff_dim\":true,\"block_ff_dim\":12288,\"block_ffn_dim_multiplier\":1.0,"
     "\"block_multiple_of\":256,\"conv_L_cache\":3,\"conv_bias\":false,\"hidden_size\":2048,\"layer_types\":[\"conv\","
     "\"conv\",\"full_attention\",\"conv\",\"conv\",\"full_attention\",\"conv\",\"conv\",\"full_attention\",\"conv\","
     "\"full_attention\",\"conv\",\"full_attention\",\"conv\",\"full_attention\",\"conv\"],"
     "\"max_position_embeddings\":128000,\"model_type\":\"lfm2\",\"num_attention_heads\":32,\"num_hidden_layers\":16,"
     "\"num_key_value_heads\":8,\"vocab_size\":65536",
     1170340608},
    {"Falcon-H1-0.5B",
     "\"attention_bias\":false,\"head_dim\":64,\"hidden_size\":1024,\"intermediate_size\":2048,"
     "\"mamba_conv_bias\":true,\"mamba_d_conv\":4,\"mamba_d_head\":64,\"mamba_d_ssm\":1536,\"mamba_d_state\":128,"
     "\"mamba_expand\":2,\"mamba_n_groups\":1,\"mamba_n_heads\":24,\"mamba_proj_bias\":false,\"mamba_rms_norm\":false,"
     "\"mamba_use_mlp\":true,\"max_position_embeddings\":16384,\"mlp_bias\":false,\"model_type\":\"falcon_h1\","
     "\"num_attention_heads\":8,\"num_hidden_layers\":36,\"num_key_value_heads\":2,\"tie_word_embeddings\":false,"
     "\"vocab_size\":32784",
     521411104},
    {"internlm2_5-7b",
     "\"bias\":false,\"hidden_size\":4096,\"intermediate_size\":14336,\"max_position_embeddings\":32768,"
     "\"model_type\":\"internlm2\",\"num_attention_heads\":32,\"num_hidden_layers\":32,\"num_key_value_heads\":8,"
     "\"tie_word_embeddings\":false,\"vocab_size\":92544",
     7737708544},
    {"c4ai-command-r-v01",
     "\"attention_bias\":false,\"hidden_size\":8192,\"intermediate_size\":22528,\"max_position_embeddings\":8192,"
     "\"model_type\":\"cohere\",\"num_attention_heads\":64,\"num_hidden_layers\":40,\"num_key_value_heads\":64,"
     "\"vocab_size\":256000",
     34980831232},
    {"chatglm3-6b",
     "\"model_type\":\"chatglm\",\"add_bias_linear\":false,\"add_qkv_bias\":true,\"ffn_hidden_size\":13696,"
     "\"hidden_size\":4096,\"kv_channels\":128,\"multi_query_attention\":true,\"multi_query_group_num\":2,"
     "\"num_attention_heads\":32,\"padded_vocab_size\":65024,\"seq_length\":8192,\"num_layers\":28,"
     "\"vocab_size\":65024,\"tie_word_embeddings\":false",
     6243584000},
    {"glm-4-9b-chat",
     "\"model_type\":\"chatglm\",\"add_bias_linear\":false,\"add_qkv_bias\":true,\"ffn_hidden_size\":13696,"
     "\"hidden_size\":4096,\"kv_channels\":128,\"multi_query_attention\":true,\"multi_query_group_num\":2,"
     "\"num_attention_heads\":32,\"padded_vocab_size\":151552,\"seq_length\":131072,\"num_layers\":40,"
     "\"vocab_size\":151552,\"tie_word_embeddings\":false",
     9399951360},
    {"stablelm-2-1_6b",
     "\"model_type\":\"stablelm\",\"hidden_size\":2048,\"intermediate_size\":5632,\"max_position_embeddings\":4096,"
     "\"num_attention_heads\":32,\"num_hidden_layers\":24,\"num_key_value_heads\":32,\"tie_word_embeddings\":false,"
     "\"use_qkv_bias\":true,\"vocab_size\":100352",
     1644515328},
    {"Hunyuan-A13B",
     "\"model_type\":\"hunyuan_v1_moe\",\"attention_bias\":false,\"head_dim\":128,\"hidden_size\":4096,"
     "\"intermediate_size\":3072,\"max_position_embeddings\":32768,\"mlp_bias\":false,\"moe_intermediate_size\":3072,"
     "\"moe_topk\":8,\"num_attention_heads\":32,\"num_experts\":64,\"num_hidden_layers\":32,\"num_key_value_heads\":8,"
     "\"num_shared_expert\":1,\"moe_layer_num_skipped\":0,\"use_mixed_mlp_moe\":true,\"use_qk_norm\":true,"
     "\"use_cla\":false,\"tie_word_embeddings\":true,\"vocab_size\":128167",
     80393183232},
    {"Kimi-Linear-48B-A3B",
     "\"model_type\":\"kimi_linear\",\"first_k_dense_replace\":1,\"head_dim\":72,\"hidden_size\":2304,"
     "\"intermediate_size\":9216,\"kv_lora_rank\":512,\"linear_attn_config\":{\"full_attn_layers\":[4,8,12,16,20,24,"
     "27],\"head_dim\":128,\"kda_layers\":[1,2,3,5,6,7,9,10,11,13,14,15,17,18,19,21,22,23,25,26],\"num_heads\":32,"
     "\"short_conv_kernel_size\":4},\"model_max_length\":1048576,\"moe_intermediate_size\":1024,\"moe_layer_freq\":1,"
     "\"num_attention_heads\":32,\"num_experts\":256,\"num_experts_per_token\":8,\"num_hidden_layers\":27,"
     "\"num_key_value_heads\":32,\"num_nextn_predict_layers\":0,\"num_shared_experts\":1,\"qk_nope_head_dim\":128,"
     "\"qk_rope_head_dim\":64,\"tie_word_embeddings\":false,\"v_head_dim\":128,\"vocab_size\":163840",
     49122681728},
    {"Apertus-8B",
     "\"model_type\":\"apertus\",\"hidden_size\":4096,\"intermediate_size\":21504,\"num_hidden_layers\":32,"
     "\"num_attention_heads\":32,\"num_key_value_heads\":8,\"max_position_embeddings\":65536,\"mlp_bias\":false,"
     "\"attention_bias\":false,\"qk_norm\":true,\"post_norm\":false,\"tie_word_embeddings\":false,"
     "\"vocab_size\":131072",
     8053338112},
    {"AFM-4.5B",
     "\"model_type\":\"arcee\",\"hidden_size\":2560,\"intermediate_size\":18432,\"num_hidden_layers\":36,"
     "\"num_attention_heads\":20,\"num_key_value_heads\":4,\"head_dim\":128,\"max_position_embeddings\":65536,"
     "\"tie_word_embeddings\":false,\"vocab_size\":128004",
     4619184640},
    {"Baichuan2-7B",
     "\"model_type\":\"baichuan\",\"hidden_size\":4096,\"intermediate_size\":11008,\"num_hidden_layers\":32,"
     "\"num_attention_heads\":32,\"model_max_length\":4096,\"tie_word_embeddings\":false,\"vocab_size\":125696",
     7505973248},
    {"MiniCPM-2B",
     "\"model_type\":\"minicpm\",\"hidden_size\":2304,\"intermediate_size\":5760,\"num_hidden_layers\":40,"
     "\"num_attention_heads\":36,\"num_key_value_heads\":36,\"max_position_embeddings\":4096,\"scale_emb\":12,"
     "\"scale_depth\":1.4,\"dim_model_base\":256,\"vocab_size\":122753",
     2724880896},
    {"MiniCPM3-4B",
     "\"model_type\":\"minicpm3\",\"hidden_size\":2560,\"intermediate_size\":6400,\"num_hidden_layers\":62,"
     "\"num_attention_heads\":40,\"num_key_value_heads\":40,\"q_lora_rank\":768,\"kv_lora_rank\":256,"
     "\"qk_nope_head_dim\":64,\"qk_rope_head_dim\":32,\"max_position_embeddings\":32768,\"scale_emb\":12,"
     "\"scale_depth\":1.4,\"dim_model_base\":256,\"vocab_size\":73448",
     4073875968},
    {"Mistral-Small-4-119B",
     "\"model_type\":\"mistral4\",\"hidden_size\":4096,\"intermediate_size\":12288,\"moe_intermediate_size\":2048,"
     "\"num_hidden_layers\":36,\"num_attention_heads\":32,\"num_key_value_heads\":32,\"n_routed_experts\":128,"
     "\"n_shared_experts\":1,\"num_experts_per_tok\":4,\"first_k_dense_replace\":0,\"q_lora_rank\":1024,"
     "\"kv_lora_rank\":256,\"qk_nope_head_dim\":64,\"qk_rope_head_dim\":64,\"v_head_dim\":128,"
     "\"max_position_embeddings\":1048576,\"tie_word_embeddings\":false,\"vocab_size\":131072",
     118972826624},
    {"EXAONE-3.5-7.8B",
     "\"model_type\":\"exaone\",\"hidden_size\":4096,\"intermediate_size\":14336,\"num_layers\":32,"
     "\"num_attention_heads\":32,\"num_key_value_heads\":8,\"head_dim\":128,\"max_position_embeddings\":32768,"
     "\"tie_word_embeddings\":false,\"vocab_size\":102400",
     7818448896},
    {"K-EXAONE-236B-A23B",
     "\"model_type\":\"exaone_moe\",\"hidden_size\":6144,\"intermediate_size\":18432,"
     "\"moe_intermediate_size\":2048,\"num_hidden_layers\":48,\"num_attention_heads\":64,"
     "\"num_key_value_heads\":8,\"head_dim\":128,\"num_experts\":128,\"num_experts_per_tok\":8,"
     "\"num_shared_experts\":1,\"first_k_dense_replace\":1,\"sliding_window\":128,"
     "\"sliding_window_pattern\":\"LLLG\",\"max_position_embeddings\":262144,\"tie_word_embeddings\":false,"
     "\"vocab_size\":153600",
     236571156352},
    {"glm-4-9b-hf",
     "\"model_type\":\"glm\",\"hidden_size\":4096,\"intermediate_size\":13696,\"num_hidden_layers\":40,"
     "\"num_attention_heads\":32,\"num_key_value_heads\":2,\"head_dim\":128,\"attention_bias\":true,"
     "\"max_position_embeddings\":131072,\"tie_word_embeddings\":false,\"vocab_size\":151552",
     9399951360},
    {"internlm-7b",
     "\"model_type\":\"internlm\",\"bias\":true,\"hidden_size\":4096,\"intermediate_size\":11008,"
     "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"max_position_embeddings\":2048,"
     "\"tie_word_embeddings\":false,\"vocab_size\":103168",
     7321948160},
    {"Qwen-7B",
     "\"model_type\":\"qwen\",\"hidden_size\":4096,\"intermediate_size\":22016,\"kv_channels\":128,"
     "\"no_bias\":true,\"num_hidden_layers\":32,\"num_attention_heads\":32,\"max_position_embeddings\":32768,"
     "\"tie_word_embeddings\":false,\"vocab_size\":151936",
     7721324544},
    {"helium-1-preview-2b",
     "\"model_type\":\"helium\",\"hidden_size\":2560,\"intermediate_size\":7040,\"num_hidden_layers\":24,"
     "\"num_attention_heads\":20,\"num_key_value_heads\":20,\"head_dim\":128,\"attention_bias\":false,"
     "\"mlp_bias\":false,\"max_position_embeddings\":4096,\"tie_word_embeddings\":false,\"vocab_size\":48000",
     2172643840},
    {"stablelm-2-12b",
     "\"model_type\":\"stablelm\",\"hidden_size\":5120,\"intermediate_size\":13824,"
     "\"max_position_embeddings\":4096,\"num_attention_heads\":32,\"num_hidden_layers\":40,"
     "\"num_key_value_heads\":8,\"qk_layernorm\":true,\"use_parallel_residual\":true,\"use_qkv_bias\":false,"
     "\"tie_word_embeddings\":false,\"vocab_size\":100352",
     12143185920},
    {"gpt-j-6b",
     "\"model_type\":\"gptj\",\"n_embd\":4096,\"n_head\":16,\"n_inner\":null,\"n_layer\":28,\"n_positions\":2048,"
     "\"rotary\":true,\"tie_word_embeddings\":false,\"vocab_size\":50400",
     6050882784},
    {"gpt-neo-125m",
     "\"model_type\":\"gpt_neo\",\"hidden_size\":768,\"num_layers\":12,\"num_heads\":12,"
     "\"intermediate_size\":null,\"window_size\":256,\"attention_layers\":[\"global\",\"local\",\"global\","
     "\"local\",\"global\",\"local\",\"global\",\"local\",\"global\",\"local\",\"global\",\"local\"],"
     "\"max_position_embeddings\":2048,\"vocab_size\":50257",
     125198592},
    {"deepseek-moe-16b",
     "\"model_type\":\"deepseek\",\"hidden_size\":2048,\"intermediate_size\":10944,\"moe_intermediate_size\":1408,"
     "\"num_hidden_layers\":28,\"num_attention_heads\":16,\"num_key_value_heads\":16,\"n_routed_experts\":64,"
     "\"n_shared_experts\":2,\"num_experts_per_tok\":6,\"first_k_dense_replace\":1,\"moe_layer_freq\":1,"
     "\"max_position_embeddings\":4096,\"tie_word_embeddings\":false,\"vocab_size\":102400",
     16375728128},
    {"DBRX",
     "\"model_type\":\"dbrx\",\"d_model\":6144,\"n_heads\":48,\"n_layers\":40,\"max_seq_len\":32768,"
     "\"attn_config\":{\"kv_n_heads\":8,\"clip_qkv\":8},\"ffn_config\":{\"ffn_hidden_size\":10752,"
     "\"moe_num_experts\":16,\"moe_top_k\":4},\"tie_word_embeddings\":false,\"vocab_size\":100352",
     131596523520},
    {"snowflake-arctic",
     "\"model_type\":\"arctic\",\"hidden_size\":7168,\"intermediate_size\":4864,\"num_hidden_layers\":35,"
     "\"num_attention_heads\":56,\"num_key_value_heads\":8,\"num_local_experts\":128,\"num_experts_per_tok\":2,"
     "\"moe_layer_frequency\":1,\"parallel_attn_mlp_res\":true,\"use_residual\":true,"
     "\"max_position_embeddings\":4096,\"tie_word_embeddings\":false,\"vocab_size\":32000",
     478584608768},
    {"grok-2",
     "\"model_type\":\"git\",\"hidden_size\":8192,\"intermediate_size\":32768,\"moe_intermediate_size\":16384,"
     "\"num_hidden_layers\":64,\"num_attention_heads\":64,\"num_key_value_heads\":8,\"head_dim\":128,"
     "\"num_local_experts\":8,\"num_experts_per_tok\":2,\"residual_moe\":true,\"max_position_embeddings\":131072,"
     "\"vocab_size\":131072",
     269515497472},
    {"Trinity-Nano",
     "\"model_type\":\"afmoe\",\"hidden_size\":1024,\"intermediate_size\":3072,\"moe_intermediate_size\":256,"
     "\"num_hidden_layers\":56,\"num_attention_heads\":8,\"num_key_value_heads\":2,\"head_dim\":128,"
     "\"num_dense_layers\":2,\"num_experts\":128,\"num_experts_per_tok\":8,\"num_shared_experts\":1,"
     "\"sliding_window\":2048,\"global_attn_every_n_layers\":4,\"max_position_embeddings\":131072,"
     "\"tie_word_embeddings\":false,\"vocab_size\":200192",
     6120003328},
    {"Solar-Open-100B",
     "\"model_type\":\"solar_open\",\"hidden_size\":4096,\"intermediate_size\":10240,"
     "\"moe_intermediate_size\":1280,\"num_hidden_layers\":48,\"num_attention_heads\":64,"
     "\"num_key_value_heads\":8,\"head_dim\":128,\"n_routed_experts\":128,\"n_shared_experts\":1,"
     "\"num_experts_per_tok\":8,\"max_position_embeddings\":131072,\"tie_word_embeddings\":false,"
     "\"vocab_size\":196608",
     102651799552},
    {"mamba-2.8b-hf",
     "\"model_type\":\"mamba\",\"hidden_size\":2560,\"intermediate_size\":5120,\"num_hidden_layers\":64,"
     "\"state_size\":16,\"conv_kernel\":4,\"time_step_rank\":160,\"expand\":2,\"use_bias\":false,"
     "\"use_conv_bias\":true,\"vocab_size\":50280",
     2768345600},
    {"falcon-mamba-7b",
     "\"model_type\":\"falcon_mamba\",\"hidden_size\":4096,\"intermediate_size\":8192,\"num_hidden_layers\":64,"
     "\"state_size\":16,\"conv_kernel\":4,\"time_step_rank\":256,\"expand\":16,\"use_bias\":false,"
     "\"use_conv_bias\":true,\"tie_word_embeddings\":false,\"vocab_size\":65024",
     7272665088},
    {"Bamba-9B",
     "\"model_type\":\"bamba\",\"attn_layer_indices\":[9,18,27],\"hidden_size\":4096,\"intermediate_size\":14336,"
     "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":8,\"mamba_n_heads\":128,"
     "\"mamba_d_head\":64,\"mamba_d_state\":128,\"mamba_n_groups\":1,\"mamba_d_conv\":4,\"mamba_expand\":2,"
     "\"mamba_conv_bias\":true,\"mamba_proj_bias\":false,\"max_position_embeddings\":262144,"
     "\"tie_word_embeddings\":false,\"vocab_size\":128256",
     9780235392},
    {"replit-code-v1_5-3b",
     "\"model_type\":\"mpt\",\"d_model\":3072,\"n_heads\":24,\"n_layers\":32,\"max_seq_len\":4096,\"expansion_ratio\":4,"
     "\"attn_config\":{\"attn_type\":\"grouped_query_attention\",\"kv_n_heads\":8,\"alibi\":true},\"learned_pos_emb\":false,"
     "\"no_bias\":true,\"vocab_size\":32768",
     3322088448},
    {"DeepSeek-OCR",
     "\"model_type\":\"deepseek_v2\",\"hidden_size\":1280,\"intermediate_size\":6848,\"moe_intermediate_size\":896,"
     "\"num_hidden_layers\":12,\"num_attention_heads\":10,\"num_key_value_heads\":10,\"n_routed_experts\":64,"
     "\"n_shared_experts\":2,\"num_experts_per_tok\":6,\"first_k_dense_replace\":1,\"use_mla\":false,\"kv_lora_rank\":null,"
     "\"q_lora_rank\":null,\"qk_nope_head_dim\":0,\"qk_rope_head_dim\":0,\"v_head_dim\":0,\"topk_method\":\"greedy\","
     "\"lm_head\":true,\"rm_head\":false,\"max_position_embeddings\":8192,\"vocab_size\":129280",
     2934734080},
    {"Hy3",
     "\"model_type\":\"hy_v3\",\"hidden_size\":4096,\"intermediate_size\":13312,\"moe_intermediate_size\":1536,"
     "\"expert_hidden_dim\":1536,\"num_hidden_layers\":80,\"num_attention_heads\":64,\"num_key_value_heads\":8,\"head_dim\":128,"
     "\"num_experts\":192,\"num_experts_per_tok\":8,\"num_shared_experts\":1,\"first_k_dense_replace\":1,\"qk_norm\":true,"
     "\"moe_router_enable_expert_bias\":true,\"num_nextn_predict_layers\":1,\"max_position_embeddings\":262144,"
     "\"tie_word_embeddings\":false,\"vocab_size\":120832",
     295033543488},
    {"OLMo-7B",
     "\"attention_bias\":false,\"hidden_size\":4096,\"intermediate_size\":11008,\"max_position_embeddings\":2048,"
     "\"model_type\":\"olmo\",\"num_attention_heads\":32,\"num_hidden_layers\":32,\"num_key_value_heads\":32,"
     "\"tie_word_embeddings\":false,\"vocab_size\":50304",
     6888095744},
    {"persimmon-8b",
     "\"hidden_size\":4096,\"intermediate_size\":16384,\"max_position_embeddings\":16384,\"model_type\":\"persimmon\","
     "\"num_attention_heads\":64,\"num_hidden_layers\":36,\"qk_layernorm\":true,\"tie_word_embeddings\":false,"
     "\"vocab_size\":262144",
     9397175296},
    {"LongCat-Flash",
     "\"attention_bias\":false,\"attention_method\":\"MLA\",\"expert_ffn_hidden_size\":2048,\"ffn_hidden_size\":12288,"
     "\"hidden_size\":6144,\"kv_lora_rank\":512,\"max_position_embeddings\":131072,\"mla_scale_kv_lora\":true,"
     "\"mla_scale_q_lora\":true,\"model_type\":\"longcat_flash\",\"moe_topk\":12,\"n_routed_experts\":512,"
     "\"num_attention_heads\":64,\"num_layers\":28,\"q_lora_rank\":1536,\"qk_nope_head_dim\":128,\"qk_rope_head_dim\":64,"
     "\"v_head_dim\":128,\"vocab_size\":131072,\"zero_expert_num\":256,\"zero_expert_type\":\"identity\"",
     560664980480},
    {"Ling-3.0-flash",
     "\"model_type\":\"bailing_hybrid\",\"num_hidden_layers\":42,\"hidden_size\":2560,\"vocab_size\":157184,"
     "\"tie_word_embeddings\":false,\"first_k_dense_replace\":2,\"intermediate_size\":6144,\"num_attention_heads\":32,"
     "\"num_key_value_heads\":32,\"kv_lora_rank\":512,\"q_lora_rank\":null,\"qk_nope_head_dim\":128,\"qk_rope_head_dim\":64,"
     "\"v_head_dim\":128,\"head_dim\":128,\"gated_attention_proj_granularity_type\":\"head_wise\","
     "\"short_conv_kernel_size\":4,\"no_kda_lora\":true,\"kda_safe_gate\":true,\"kda_lower_bound\":-5.0,\"num_experts\":512,"
     "\"num_experts_per_tok\":8,\"num_shared_experts\":1,\"moe_intermediate_size\":768,"
     "\"moe_shared_expert_intermediate_size\":768,\"layer_group_size\":6,\"moe_router_enable_expert_bias\":true",
     124414211552},
    {"Ring-linear-2.0-mini",
     "\"model_type\":\"bailing_moe_linear\",\"hidden_size\":2048,\"intermediate_size\":5120,\"num_hidden_layers\":20,"
     "\"num_attention_heads\":16,\"num_key_value_heads\":4,\"head_dim\":128,\"vocab_size\":157184,"
     "\"max_position_embeddings\":131072,\"layer_group_size\":5,\"group_norm_size\":4,\"linear_silu\":false,"
     "\"use_qk_norm\":true,\"use_bias\":false,\"use_qkv_bias\":false,\"first_k_dense_replace\":1,\"num_experts\":256,"
     "\"num_experts_per_tok\":8,\"num_shared_experts\":1,\"moe_intermediate_size\":512,"
     "\"moe_router_enable_expert_bias\":true,\"tie_word_embeddings\":false,\"num_nextn_predict_layers\":0,"
     "\"use_rmsnorm\":true,\"norm_head\":false,\"norm_softmax\":false",
     16423448320},
    {"nanochat-d32",
     "\"model_type\":\"nanochat\",\"vocab_size\":65536,\"hidden_size\":2048,\"intermediate_size\":8192,"
     "\"num_hidden_layers\":32,\"num_attention_heads\":16,\"num_key_value_heads\":16,\"max_position_embeddings\":2048,"
     "\"tie_word_embeddings\":false,\"logits_soft_cap\":15.0,\"qkv_bias\":false",
     1879048192},
    {"OLMo-Hybrid-7B",
     "\"model_type\":\"olmo_hybrid\",\"vocab_size\":100352,\"hidden_size\":3840,\"intermediate_size\":11008,"
     "\"num_hidden_layers\":32,\"num_attention_heads\":30,\"num_key_value_heads\":30,\"max_position_embeddings\":65536,"
     "\"linear_num_key_heads\":30,\"linear_num_value_heads\":30,\"linear_key_head_dim\":96,\"linear_value_head_dim\":192,"
     "\"linear_conv_kernel_dim\":4,\"linear_allow_neg_eigval\":true,\"tie_word_embeddings\":false,\"attention_bias\":false",
     7430870688},
    {"Youtu-LLM-2B",
     "\"model_type\":\"youtu\",\"vocab_size\":128256,\"hidden_size\":2048,\"intermediate_size\":6144,"
     "\"num_hidden_layers\":32,\"num_attention_heads\":16,\"num_key_value_heads\":16,\"max_position_embeddings\":131072,"
     "\"q_lora_rank\":1536,\"kv_lora_rank\":512,\"qk_rope_head_dim\":64,\"qk_nope_head_dim\":128,\"v_head_dim\":128,"
     "\"qk_head_dim\":192,\"tie_word_embeddings\":true,\"attention_bias\":false",
     1961560064},
    {"cwm",
     "\"model_type\":\"cwm\",\"vocab_size\":128256,\"hidden_size\":6144,\"intermediate_size\":21504,"
     "\"num_hidden_layers\":64,\"num_attention_heads\":48,\"num_key_value_heads\":8,\"head_dim\":128,"
     "\"max_position_embeddings\":131072,\"sliding_window\":8192,\"tie_word_embeddings\":false",
     32581097472},
    {"vaultgemma-1b",
     "\"model_type\":\"vaultgemma\",\"vocab_size\":256000,\"hidden_size\":1152,\"intermediate_size\":6912,"
     "\"num_hidden_layers\":26,\"num_attention_heads\":4,\"num_key_value_heads\":4,\"head_dim\":256,"
     "\"max_position_embeddings\":1024,\"sliding_window\":512,\"query_pre_attn_scalar\":256,\"attention_bias\":false",
     1038741120},
    {"FlexOlmo-7x7B",
     "\"model_type\":\"flex_olmo\",\"vocab_size\":100352,\"hidden_size\":4096,\"intermediate_size\":11008,"
     "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":32,\"max_position_embeddings\":4096,"
     "\"num_experts\":7,\"num_experts_per_tok\":7,\"tie_word_embeddings\":false,\"attention_bias\":false",
     33270665216},
};

/* Forty layers, the sixth of every ten attention. */
static char *granite_layers(void)
{
    struct text t;
    text_init(&t);
    for (int i = 0; i < 40; i++) text_addf(&t, "%s\"%s\"", i ? "," : "", i % 10 == 5 ? "attention" : "mamba");
    return t.s;
}

static void read_sample(const char *dir, const struct sample *s, struct dse_llm *m)
{
    char *path = xasprintf("%s/config.json", dir), *layers = granite_layers();
    char *list = strstr(s->keys, "%s"),
         *keys = list ? xasprintf("%.*s%s]", (int)(list - s->keys), s->keys, layers) : xstrdup(s->keys);
    char *text = xasprintf("{%s}", keys);
    struct diags diags;
    struct llm_said said;
    diags_init(&diags);
    llm_said_init(&said);
    scratch_write(dir, "config.json", text);
    if (!llm_import(path, NULL, false, m, &said, &diags)) {
        diags_print(&diags, stderr, false);
        fail_msg("%s is refused", s->name);
    }
    llm_said_release(&said);
    diags_release(&diags);
    free(text);
    free(keys);
    free(layers);
    free(path);
}

static void llms__have_as_many_weights_as_their_files(void **state)
{
    (void)state;
    char *dir = scratch_new();
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct dse_llm m;
        struct dse_llm_counts c;
        read_sample(dir, &samples[i], &m);
        dse_llm_count(&m, &c);
        if (c.params != samples[i].params)
            fail_msg("%s: %" PRId64 " weights, not %" PRId64, samples[i].name, c.params, samples[i].params);
    }
    scratch_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llms__have_as_many_weights_as_their_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
