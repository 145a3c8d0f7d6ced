/* Keys that newer files have: what they change, and what of them is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "config/llm_import.h"
#include "scratch.h"

#include <dse/llm.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SMALL \
    "\"hidden_size\": 64, \"num_attention_heads\": 4, \"num_hidden_layers\": 4, \"intermediate_size\": 128, " \
    "\"vocab_size\": 1000, \"max_position_embeddings\": 4096, \"num_key_value_heads\": 2, \"head_dim\": 16, "
#define EXPERTS "\"num_experts\": 8, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 32, "
#define LATENT \
    "\"q_lora_rank\": 32, \"kv_lora_rank\": 32, \"qk_nope_head_dim\": 16, \"qk_rope_head_dim\": 16, \"v_head_dim\": 16, " \
    "\"n_routed_experts\": 8, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 32, \"first_k_dense_replace\": 1"
#define LAGUNA "\"model_type\": \"laguna\", " SMALL EXPERTS "\"sliding_window\": 512, "
#define EXAONE "\"model_type\": \"exaone_moe\", " SMALL EXPERTS
#define HYBRID \
    "\"linear_num_key_heads\": 2, \"linear_num_value_heads\": 2, \"linear_key_head_dim\": 16, \"linear_value_head_dim\": 16, " \
    "\"layer_types\": [\"linear_attention\", \"linear_attention\", \"linear_attention\", \"full_attention\"]"
#define MINIMAX \
    "\"model_type\": \"minimax_m3\", " SMALL \
    "\"num_local_experts\": 8, \"num_experts_per_tok\": 2, \"dense_intermediate_size\": 128, \"moe_layer_freq\": [0, 1, 1, 1], " \
    "\"sparse_attention_config\": {\"sparse_attention_freq\": [0, 1, 1, 1]}, \"num_mtp_modules\": 7"
#define ARCTIC \
    "\"model_type\": \"arctic\", " SMALL "\"num_local_experts\": 8, \"num_experts_per_tok\": 2, \"moe_layer_frequency\": 2, "
#define LONGCAT \
    "\"model_type\": \"longcat_flash\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"num_layers\": 2, " \
    "\"vocab_size\": 1000, \"max_position_embeddings\": 4096, \"q_lora_rank\": 32, \"kv_lora_rank\": 32, " \
    "\"qk_nope_head_dim\": 16, \"qk_rope_head_dim\": 16, \"v_head_dim\": 16, \"ffn_hidden_size\": 128, " \
    "\"expert_ffn_hidden_size\": 32, \"n_routed_experts\": 8, \"zero_expert_num\": 4, "
#define BAILING \
    "\"model_type\": \"bailing_hybrid\", " SMALL EXPERTS \
    "\"num_shared_experts\": 1, \"layer_group_size\": 2, \"short_conv_kernel_size\": 4, \"kv_lora_rank\": 32, " \
    "\"q_lora_rank\": 32, \"qk_nope_head_dim\": 16, \"qk_rope_head_dim\": 16, \"v_head_dim\": 16, "
#define LFM2 \
    SMALL "\"model_type\": \"lfm2\", \"conv_L_cache\": 3, " \
          "\"layer_types\": [\"conv\", \"conv\", \"full_attention\", \"conv\"]"
#define DBRX \
    "\"model_type\": \"dbrx\", \"d_model\": 64, \"n_heads\": 4, \"n_layers\": 4, \"max_seq_len\": 4096, \"vocab_size\": 1000, " \
    "\"attn_config\": {\"kv_n_heads\": 2}, "
#define BAMBA "\"model_type\": \"bamba\", " SMALL "\"mamba_n_heads\": 8, \"mamba_d_head\": 16, \"mamba_d_state\": 16, "
#define MPT \
    "\"model_type\": \"mpt\", \"d_model\": 64, \"n_heads\": 4, \"n_layers\": 4, \"max_seq_len\": 4096, \"vocab_size\": 1000, " \
    "\"no_bias\": true, \"attn_config\": "
#define MAMBA \
    "\"model_type\": \"mamba\", \"hidden_size\": 64, \"num_hidden_layers\": 4, \"vocab_size\": 1000, \"state_size\": 16, " \
    "\"time_step_rank\": \"auto\""
enum { HIDDEN = 64, HEADS = 4, HEAD_DIM = 16, LAYERS = 4 };

static char *dir;

/* The reason of a refusal in *ret_error, or NULL. */
static void ask(const char *keys, struct dse_llm *m, char **ret_error)
{
    char *path = xasprintf("%s/config.json", dir), *text = xasprintf("{%s}", keys);
    struct diags diags;
    struct llm_said said;
    diags_init(&diags);
    llm_said_init(&said);
    scratch_write(dir, "config.json", text);
    const bool ok = llm_import(path, NULL, false, m, &said, &diags);
    *ret_error = ok || diags.n == 0 ? NULL : xstrdup(diags.list[0].message);
    if (!ok) assert_non_null(*ret_error);
    llm_said_release(&said);
    diags_release(&diags);
    free(text);
    free(path);
}

static int64_t weights_of(const char *keys)
{
    struct dse_llm m;
    struct dse_llm_counts n;
    char *error;
    ask(keys, &m, &error);
    if (error) fail_msg("%s: %s", keys, error);
    dse_llm_count(&m, &n);
    return n.params;
}

/* Two files of one architecture, and how many weights the second has more. */
static const struct {
    const char *one, *other;
    int64_t more;
} pairs[] = {
    {LAGUNA "\"gating\": true", LAGUNA "\"gating\": \"per-head\"", 0},
    {LAGUNA "\"gating\": true", LAGUNA "\"gating\": \"per-element\"", LAYERS *HIDDEN *HEADS *(HEAD_DIM - 1)},
    {LAGUNA "\"gating\": false", LAGUNA "\"gating\": true", LAYERS *HIDDEN *HEADS},
    {LAGUNA "\"gating\": true",
     LAGUNA "\"gating\": \"per-head\", \"gating_types\": [\"per_head\", \"per_head\", \"per_head\", \"per_head\"]", 0},
    {LAGUNA "\"mlp_layer_types\": [\"dense\", \"sparse\", \"sparse\", \"sparse\"]",
     LAGUNA "\"mlp_only_layers\": [0], \"decoder_sparse_step\": 1", 0},
    {EXAONE "\"first_k_dense_replace\": 1", EXAONE "\"is_moe_layer\": [false, true, true, true], \"first_last_k_dense_replace\": 1",
     0},
    {EXAONE "\"first_k_dense_replace\": 1", EXAONE "\"mlp_layer_types\": [\"dense\", \"sparse\", \"sparse\", \"sparse\"]", 0},
    {"\"model_type\": \"kimi_k2\", " SMALL LATENT, "\"model_type\": \"kimi_k25\", " SMALL LATENT, 0},
    {"\"model_type\": \"qwen3_5_text\", " SMALL HYBRID,
     "\"model_type\": \"qwen3_5_text\", \"output_gate_type\": \"swish\", " SMALL HYBRID, 0},
    {MINIMAX, MINIMAX ", \"num_nextn_predict_layers\": 1, \"num_reward_heads\": 0, \"process_image_mode\": \"dynamic_res\"", 0},
    {"\"model_type\": \"exaone4_5_text\", " SMALL "\"rope_theta\": 1e6",
     "\"model_type\": \"exaone4_5_text\", " SMALL
     "\"num_nextn_predict_layers\": 1, \"_num_mtp_layers\": 1, \"mtp_share_layers\": true",
     0},
    {LFM2,
     "\"model_type\": \"lfm2_vl\", \"text_config\": {" LFM2 "}, \"max_tiles\": 10, \"min_tiles\": 2, \"tile_size\": 512, "
     "\"do_image_splitting\": true, \"downsample_factor\": 2, \"encoder_patch_size\": 16, \"max_image_tokens\": 256, "
     "\"min_image_tokens\": 64, \"max_pixels_tolerance\": 2.0, \"use_image_special_tokens\": true",
     0},
    {"\"model_type\": \"glm4\", " SMALL "\"attention_bias\": true",
     "\"model_type\": \"glm4v\", \"text_config\": {\"model_type\": \"glm4v_text\", " SMALL "\"attention_bias\": true}", 0},
    {"\"model_type\": \"qwen3_moe\", " SMALL EXPERTS "\"tie_word_embeddings\": false",
     "\"model_type\": \"qwen3_omni_moe\", \"thinker_config\": {\"text_config\": {\"model_type\": \"qwen3_omni_moe_text\", " SMALL
         EXPERTS "\"tie_word_embeddings\": false}}",
     0},
    {"\"model_type\": \"qwen2\", " SMALL "\"tie_word_embeddings\": false",
     "\"model_type\": \"qwen2_5_omni\", \"thinker_config\": {\"text_config\": {\"model_type\": \"qwen2_5_omni_text\", " SMALL
     "\"tie_word_embeddings\": false}}",
     0},
    {"\"model_type\": \"phi3\", " SMALL "\"sliding_window\": null",
     "\"model_type\": \"phi4mm\", " SMALL "\"sliding_window\": null, \"embd_layer\": {}, \"vision_lora\": {\"r\": 256}", 0},
    {MPT "{\"alibi\": true}", MPT "{\"alibi\": false}", 4096 * HIDDEN},
    {MPT "{\"alibi\": true, \"attn_type\": \"multiquery_attention\"}",
     MPT "{\"alibi\": true, \"attn_type\": \"multihead_attention\"}", LAYERS * 2 * HIDDEN *HIDDEN *(HEADS - 1) / HEADS},
    /* Norms of queries and keys with a shift, and no weights in norms: two a layer and one at the end. */
    {"\"model_type\": \"phi\", " SMALL "\"qk_layernorm\": false", "\"model_type\": \"phi\", " SMALL "\"qk_layernorm\": true",
     LAYERS * 4 * HEAD_DIM},
    {"\"model_type\": \"olmo\", " SMALL "\"clip_qkv\": null", "\"model_type\": \"llama\", " SMALL "\"rope_theta\": 1e4",
     (2 * LAYERS + 1) * HIDDEN},
    /* Experts that do nothing are columns of the router, with a bias: the router is in every second layer. */
    {LONGCAT "\"moe_topk\": 3, \"zero_expert_num\": 4", LONGCAT "\"moe_topk\": 3, \"zero_expert_num\": 16",
     LAYERS / 2 * 12 * (HIDDEN + 1)},
    /* Two of four layers are latent attention, of which heads have a gate; the others have decays and gates of a rank. */
    {BAILING "\"no_kda_lora\": true", BAILING "\"no_kda_lora\": true, \"gated_attention_proj_granularity_type\": \"head_wise\"",
     2 * HIDDEN *HEADS},
    {BAILING "\"no_kda_lora\": false", BAILING "\"no_kda_lora\": true",
     2 * (2 * HIDDEN * HEADS * HEAD_DIM - 2 * (HIDDEN + HEADS * HEAD_DIM) * HEAD_DIM)},
    {MAMBA ", \"expand\": 2", MAMBA ", \"expand\": 16, \"intermediate_size\": 128", 0},
    /* Two of four layers: a network as wide as the hidden state, and its norm. */
    {ARCTIC "\"use_residual\": false", ARCTIC "\"use_residual\": true, \"parallel_attn_mlp_res\": true",
     2 * (3 * HIDDEN * HIDDEN + HIDDEN)},
};

static void keys__of_newer_files_change_what_they_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const int64_t more = weights_of(pairs[i].other) - weights_of(pairs[i].one);
        if (more != pairs[i].more) fail_msg("%s: %" PRId64 " more weights, not %" PRId64, pairs[i].other, more, pairs[i].more);
    }
}

static const struct {
    const char *keys, *why;
} refused[] = {
    {LAGUNA "\"gating\": \"per-layer\"", "\"per-layer\" is no gate"},
    {LAGUNA "\"gating\": true, \"gating_types\": [\"per_head\", \"per_element\"]", "\"per_element\" is not what gating says"},
    {EXAONE "\"is_moe_layer\": [0, 1, 1, 1]", "a list of true and false is needed"},
    {EXAONE "\"is_moe_layer\": [false, true]", "2 entries for 4 layers"},
    {EXAONE "\"first_last_k_dense_replace\": 1", "first_last_k_dense_replace"},
    {ARCTIC "\"use_residual\": true", "only both are known"},
    {DBRX "\"ffn_config\": {\"ffn_hidden_size\": 128, \"moe_num_experts\": 4}", "there is no moe_top_k"},
    {MPT "{\"alibi\": true, \"attn_type\": \"grouped_query_attention\"}", "there is no kv_n_heads"},
    {MPT "{\"alibi\": true, \"qk_ln\": true}", "norms of queries and keys"},
    {"\"model_type\": \"deepseek_v2\", \"use_mla\": false, " SMALL LATENT, "but use_mla is false"},
    {"\"model_type\": \"zamba2\", " SMALL "\"adapter_rank\": 128", "layers that share the weights of a block"},
    {"\"model_type\": \"rwkv7\", " SMALL "\"head_size\": 64", "its recurrence is not counted"},
    {LONGCAT "\"moe_topk\": 5", "5 of 12 experts are no whole number"},
    {LONGCAT "\"moe_topk\": 3, \"router_bias\": true", "a bias of the router"},
    {LONGCAT "\"num_layers\": 600", "num_layers: 1 to"},
    {BAILING "\"gated_attention_proj_granularity_type\": \"layer_wise\"", "neither head_wise nor element_wise"},
    {"\"model_type\": \"bailing_hybrid\", " SMALL EXPERTS "\"num_shared_experts\": 1", "layer_group_size"},
    {"\"model_type\": \"phi3small\", " SMALL "\"ff_intermediate_size\": 128, \"dense_attention_every_n_layers\": 2",
     "differ from head to head"},
    {"\"model_type\": \"hy_v3\", " SMALL EXPERTS "\"expert_hidden_dim\": 64", "expert_hidden_dim is not moe_intermediate_size"},
    {BAMBA "\"attn_layer_indices\": [4]", "there is no layer 4"},
    {"\"model_type\": \"minicpm\", " SMALL "\"sparse_config\": {\"topk\": 64}", "chosen blocks of positions"},
    {"\"model_type\": \"gpt_neo\", \"hidden_size\": 64, \"num_layers\": 4, \"num_heads\": 4, \"vocab_size\": 1000",
     "there is no attention_layers"},
    {"\"model_type\": \"apertus\", " SMALL "\"post_norm\": true", "post_norm"},
};

static void keys__that_no_rule_knows_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct dse_llm m;
        char *error;
        ask(refused[i].keys, &m, &error);
        if (!error) fail_msg("%s is imported", refused[i].keys);
        if (!strstr(error, refused[i].why)) fail_msg("%s: \"%s\" says nothing of: %s", refused[i].keys, error, refused[i].why);
        free(error);
    }
}

static int make_dir(void **state)
{
    (void)state;
    dir = scratch_new();
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    scratch_remove(dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys__of_newer_files_change_what_they_say),
        cmocka_unit_test(keys__that_no_rule_knows_are_refused),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
