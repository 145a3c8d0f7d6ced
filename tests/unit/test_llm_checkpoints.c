/* Quantised checkpoints against the bytes of their files: the configuration, cut down to its shape, and the total that is published
 * of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "config/llm_import.h"
#include "scratch.h"

#include <dse/llm.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *dir, *path, rotary[8192];

/* The names of one table of rotary embedding a layer. */
static void name_rotary(void)
{
    size_t n = (size_t)snprintf(rotary, sizeof rotary, ", \"weight_map\": {");
    for (int i = 0; i < 61; i++)
        n += (size_t)snprintf(rotary + n, sizeof rotary - n, "%s\"model.layers.%d.self_attn.rotary_emb.inv_freq\": \"x\"",
                              i ? ", " : "", i);
    snprintf(rotary + n, sizeof rotary - n, "}");
}

static int set_up(void **state)
{
    (void)state;
    dir = scratch_new();
    path = xasprintf("%s/config.json", dir);
    name_rotary();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_remove(dir);
    free(path);
    return 0;
}

/* ---- shapes ---------------------------------------------------------------------------------------------------------------- */

#define LLAMA_70B(vocab) \
    "{\"model_type\": \"llama\", \"hidden_size\": 8192, \"intermediate_size\": 28672, \"num_hidden_layers\": 80, " \
    "\"num_attention_heads\": 64, \"num_key_value_heads\": 8, \"vocab_size\": " #vocab ", \"max_position_embeddings\": 4096, " \
    "\"tie_word_embeddings\": false"
#define QWEN3(hidden, inner, layers, heads) \
    "{\"model_type\": \"qwen3\", \"hidden_size\": " #hidden ", \"intermediate_size\": " #inner ", \"num_hidden_layers\": " #layers \
    ", \"num_attention_heads\": " #heads ", \"num_key_value_heads\": 8, \"head_dim\": 128, \"vocab_size\": 151936, " \
    "\"max_position_embeddings\": 40960, \"attention_bias\": false, \"use_sliding_window\": false, \"tie_word_embeddings\": false"
#define QWEN3_30B \
    "{\"model_type\": \"qwen3_moe\", \"hidden_size\": 2048, \"intermediate_size\": 6144, \"moe_intermediate_size\": 768, " \
    "\"num_experts\": 128, \"num_experts_per_tok\": 8, \"norm_topk_prob\": true, \"decoder_sparse_step\": 1, " \
    "\"mlp_only_layers\": [], \"num_hidden_layers\": 48, \"num_attention_heads\": 32, \"num_key_value_heads\": 4, " \
    "\"head_dim\": 128, \"vocab_size\": 151936, \"max_position_embeddings\": 40960, \"attention_bias\": false, " \
    "\"use_sliding_window\": false, \"tie_word_embeddings\": false"
#define DEEPSEEK_V3 \
    "{\"model_type\": \"deepseek_v3\", \"hidden_size\": 7168, \"intermediate_size\": 18432, \"moe_intermediate_size\": 2048, " \
    "\"n_routed_experts\": 256, \"n_shared_experts\": 1, \"num_experts_per_tok\": 8, \"n_group\": 8, \"topk_group\": 4, " \
    "\"first_k_dense_replace\": 3, \"moe_layer_freq\": 1, \"num_hidden_layers\": 61, \"num_nextn_predict_layers\": 1, " \
    "\"num_attention_heads\": 128, \"num_key_value_heads\": 128, \"q_lora_rank\": 1536, \"kv_lora_rank\": 512, " \
    "\"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, \"v_head_dim\": 128, \"vocab_size\": 129280, " \
    "\"max_position_embeddings\": 163840, \"topk_method\": \"noaux_tc\", \"scoring_func\": \"sigmoid\", " \
    "\"tie_word_embeddings\": false"

#define KIMI_K2 \
    "{\"model_type\": \"kimi_k2\", \"hidden_size\": 7168, \"intermediate_size\": 18432, \"moe_intermediate_size\": 2048, " \
    "\"n_routed_experts\": 384, \"n_shared_experts\": 1, \"num_experts_per_tok\": 8, \"first_k_dense_replace\": 1, " \
    "\"moe_layer_freq\": 1, \"num_hidden_layers\": 61, \"num_attention_heads\": 64, \"num_key_value_heads\": 64, " \
    "\"q_lora_rank\": 1536, \"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, \"v_head_dim\": 128, " \
    "\"vocab_size\": 163840, \"max_position_embeddings\": 131072, \"topk_method\": \"noaux_tc\", " \
    "\"scoring_func\": \"sigmoid\", \"tie_word_embeddings\": false"
#define GLM_5_2 \
    "{\"model_type\": \"glm_moe_dsa\", \"num_hidden_layers\": 78, \"hidden_size\": 6144, \"vocab_size\": 154880, " \
    "\"num_attention_heads\": 64, \"intermediate_size\": 12288, \"max_position_embeddings\": 1048576, \"q_lora_rank\": 2048, " \
    "\"kv_lora_rank\": 512, \"qk_nope_head_dim\": 192, \"qk_rope_head_dim\": 64, \"v_head_dim\": 256, \"index_n_heads\": 32, " \
    "\"index_head_dim\": 128, \"index_topk\": 2048, \"index_topk_freq\": 4, \"index_skip_topk_offset\": 3, " \
    "\"n_routed_experts\": 256, \"n_shared_experts\": 1, \"num_experts_per_tok\": 8, \"moe_intermediate_size\": 2048, " \
    "\"first_k_dense_replace\": 3, \"num_nextn_predict_layers\": 1, \"head_dim\": 192, \"tie_word_embeddings\": false"

#define OF_12(x) x ", " x ", " x ", " x ", " x ", " x ", " x ", " x ", " x ", " x ", " x ", " x
#define HEADS_48 OF_12("48, 72, 72, 72")
#define TYPES_4 "\"full_attention\", \"sliding_attention\", \"sliding_attention\", \"sliding_attention\""
#define TYPES_48 OF_12(TYPES_4)
#define LAGUNA_SHAPE \
    "{\"model_type\": \"laguna\", \"hidden_size\": 3072, \"num_hidden_layers\": 48, \"head_dim\": 128, " \
    "\"num_attention_heads\": 48, \"num_key_value_heads\": 8, \"sliding_window\": 512, \"mlp_only_layers\": [0], " \
    "\"decoder_sparse_step\": 1, \"intermediate_size\": 12288, \"num_experts\": 256, \"num_experts_per_tok\": 10, " \
    "\"moe_intermediate_size\": 1024, \"shared_expert_intermediate_size\": 1024, \"norm_topk_prob\": true, " \
    "\"moe_routed_scaling_factor\": 2.5, \"moe_router_logit_softcapping\": 0.0, \"gating\": \"per-head\", " \
    "\"attention_bias\": false, \"vocab_size\": 100352, \"tie_word_embeddings\": false, " \
    "\"max_position_embeddings\": 1048576, "
#define LAGUNA_LISTS "\"num_attention_heads_per_layer\": [" HEADS_48 "], \"layer_types\": [" TYPES_48 "]"
#define LAGUNA_S LAGUNA_SHAPE LAGUNA_LISTS

#define QUANTISED(keys) ", \"quantization_config\": {" keys "}}"
#define AWQ(group) "\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": " #group ", \"zero_point\": true, \"version\": \"gemm\""
#define GPTQ(bits) "\"quant_method\": \"gptq\", \"bits\": " #bits ", \"group_size\": 128, \"desc_act\": true, \"sym\": true"
#define FP8_BLOCKS \
    "\"quant_method\": \"fp8\", \"fmt\": \"e4m3\", \"activation_scheme\": \"dynamic\", \"weight_block_size\": [128, 128]"
#define FP8_CHANNELS \
    "\"quant_method\": \"compressed-tensors\", \"format\": \"float-quantized\", \"ignore\": [\"lm_head\"], \"config_groups\": " \
    "{\"group_0\": {\"targets\": [\"Linear\"], \"input_activations\": {\"num_bits\": 8, \"dynamic\": true, " \
    "\"strategy\": \"token\", \"type\": \"float\"}, \"weights\": {\"num_bits\": 8, \"strategy\": \"channel\", " \
    "\"symmetric\": true, \"type\": \"float\"}}}"
#define INT4_EXPERTS \
    "\"quant_method\": \"compressed-tensors\", \"format\": \"pack-quantized\", \"ignore\": [\"lm_head\", \"re:.*self_attn.*\", " \
    "\"re:.*shared_experts.*\", \"re:.*mlp\\\\.(gate|up|gate_up|down)_proj.*\"], \"config_groups\": {\"group_0\": {\"targets\": " \
    "[\"Linear\"], \"input_activations\": null, \"weights\": {\"num_bits\": 4, \"group_size\": 32, \"strategy\": \"group\", " \
    "\"symmetric\": true, \"type\": \"int\"}}}"
#define INT4_BUT_OF_3_LAYERS \
    "\"quant_method\": \"compressed-tensors\", \"format\": \"pack-quantized\", \"ignore\": [\"lm_head\", " \
    "\"model.layers.0.self_attn\", \"model.layers.46.self_attn\", \"model.layers.47.self_attn\", \"model.layers.0.mlp\", " \
    "\"model.layers.46.mlp.experts\", \"model.layers.47.mlp.experts\", \"re:.*self_attn.g_proj\", \"re:.*mlp.gate\", " \
    "\"re:.*mlp.shared_expert\"], \"config_groups\": {\"group_0\": {\"targets\": [\"Linear\"], \"input_activations\": null, " \
    "\"weights\": {\"num_bits\": 4, \"group_size\": 32, \"strategy\": \"group\", \"symmetric\": false, \"type\": \"int\"}}}"
#define NVFP4 "\"quant_algo\": \"NVFP4\", \"kv_cache_quant_algo\": \"FP8\", \"group_size\": 16, \"exclude_modules\": [\"lm_head\"]"

#define DRAFT "\"model.layers.61."
static const char drafts[] =
    ", \"weight_map\": {" DRAFT "embed_tokens.weight\": \"x\", " DRAFT "shared_head.head.weight\": \"x\", " DRAFT
    "shared_head.norm.weight\": \"x\", " DRAFT "enorm.weight\": \"x\", " DRAFT "hnorm.weight\": \"x\", " DRAFT
    "eh_proj.weight\": \"x\", " DRAFT "eh_proj.bias_of_no_kind\": \"x\", " DRAFT "mlp.gate.weight\": \"x\"}";

#define GLM_DRAFT "\"model.layers.78."
static const char glm_drafts[] =
    ", \"weight_map\": {" GLM_DRAFT "shared_head.norm.weight\": \"x\", " GLM_DRAFT "enorm.weight\": \"x\", " GLM_DRAFT
    "hnorm.weight\": \"x\", " GLM_DRAFT "eh_proj.weight\": \"x\", " GLM_DRAFT "self_attn.indexer.wk.weight\": \"x\"}";
#define BY_HEAD ", \"modules_to_not_convert\": [\"lm_head\", \"re:.*self_attn.indexers_proj\", \"model.layers.3.mlp.gate\"]"

/* ---- totals ---------------------------------------------------------------------------------------------------------------- */

/* Where a total is from: metadata.total_size of an index that is in a public repository; the elements of each type of number that
 * Hugging Face's page of the files says, times their widths; the length of the one file less that of its header. */
static const struct checkpoint {
    const char *name, *config, *names;
    double bytes;
    const char *how; /* what the total says that the configuration does not */
} checkpoints[] = {
    /* index in root-hypercube/qwen3-mlx */
    {"Qwen3-14B-MLX-4bit", QWEN3(5120, 17408, 40, 40) ", \"quantization\": {\"group_size\": 64, \"bits\": 4}}", "", 8307783680, ""},
    /* index quoted in a test of llm-operator's inference-manager: 9 files with qweight, 80 layers. It names no LLM: this one is
     * inferred. */
    {"Llama-3.1-70B-AWQ", LLAMA_70B(128256) QUANTISED(AWQ(128)), "", 39767785472, ""},
    /* index in kvcache-ai/sglang_awq: 74 files of AWQ, with all projections of latent attention. No configuration is beside it:
     * the LLM is inferred by its names, groups of 64 by the total. */
    {"DeepSeek-V3-AWQ", DEEPSEEK_V3 QUANTISED(AWQ(64)), "", 364589799936, ""},
    /* BF16 3,918,786,560; F8_E4M3 680,571,043,840; F32 41,555,600 */
    {"DeepSeek-R1", DEEPSEEK_V3 QUANTISED(FP8_BLOCKS), drafts, 688574839360,
     ", with router biases and decays of 32 bits, 15424227552 bytes of layers that draft"},
    /* BF16 1,558,406,144; F8_E4M3 31,205,621,760 */
    {"Qwen3-32B-FP8", QWEN3(5120, 25600, 64, 64) QUANTISED(FP8_BLOCKS), "", 34322434048, ", with scales of 16 bits"},
    /* BF16 636,948,480; F8_E4M3 29,896,998,912 */
    {"Qwen3-30B-A3B-FP8",
     QWEN3_30B QUANTISED(FP8_BLOCKS ", \"modules_to_not_convert\": [\"lm_head\", \"model.layers.0.mlp.gate\"]"), "", 31170895872,
     ", with scales of 16 bits"},
    /* index of zai-org/GLM-5.2-FP8 (and of GLM-5.3), of which layer 78 has 10,032,632,960 bytes, as several public audits of the
     * files say; in 21 of 78 layers one of three matrices of an indexer is not quantised */
    {"GLM-5.2-FP8", GLM_5_2 QUANTISED(FP8_BLOCKS BY_HEAD), glm_drafts, 755617140416,
     ", with router biases and decays of 32 bits, 10032632960 bytes of layers that draft"},
    /* index of mlx-community/GLM-5.2-mxfp4, quoted in a public note on its headers */
    {"GLM-5.2-mxfp4", GLM_5_2 ", \"quantization\": {\"group_size\": 32, \"bits\": 4, \"mode\": \"mxfp4\"}}", "", 395094087168,
     ", with routers of 16 bits, router biases and decays of 32 bits"},
    /* 61 and 62 files whose headers were read and summed one by one, in a public audit of the seven releases of Kimi. Its 139,644
     * tensors are one a layer more than matrices, scales and norms, which is taken for a table of rotary embedding; the bytes of it
     * are what remains. */
    {"Kimi-K2-Instruct", KIMI_K2 QUANTISED(FP8_BLOCKS), rotary, 1029173256720,
     ", with router biases and decays of 32 bits, 6832 bytes of rotary_emb"},
    {"Kimi-K2-Instruct-0905", KIMI_K2 QUANTISED(FP8_BLOCKS), rotary, 1029173265504,
     ", with router biases and decays of 32 bits, 15616 bytes of rotary_emb"},
    {"Kimi-K2-Thinking", KIMI_K2 QUANTISED(INT4_EXPERTS), rotary, 594205920512,
     ", with shapes of 32 bits, router biases and decays of 32 bits, 15616 bytes of rotary_emb"},
    /* cyankiwi's AWQ of it in 15 files, by a public record of its headers: zero points, and 1,788 modules that keep 16 bits: all of
     * layers 0, 46 and 47, gates of heads, shared experts */
    {"Laguna-S-2.1-AWQ-INT4", LAGUNA_S QUANTISED(INT4_BUT_OF_3_LAYERS), "", 76813095232, ""},
    /* BF16 2,109,382,656; F8_E4M3 68,451,041,280 */
    {"Llama-3.3-70B-Instruct-FP8-dynamic", LLAMA_70B(128256) QUANTISED(FP8_CHANNELS), "", 72669806592, ""},
    /* BF16 2,102,665,536; F8_E4M3 4,278,190,080; U8 34,225,520,640; F32 960. The scales of whole matrices are 56 bytes a layer both
     * there (12 of 32 bits, 4 of 16) and here (14 of 32). */
    {"Llama-3.3-70B-Instruct-FP4", LLAMA_70B(128256) QUANTISED(NVFP4), "", 42709045632, ""},
    /* The pointers of the files in itdevwu/Genz-70b-GPTQ say 36,652,345,792 and 28,029,117,672 bytes. A header of all tensors by
     * name is 338,088 and 336,848 of them; 280 more in both are taken for AutoGPTQ's settings in it, which were not seen. */
    {"Genz-70b-GPTQ, 4 bits", LLAMA_70B(32000) QUANTISED(GPTQ(4)), "", 36652007424, ", with a bias for each output"},
    {"Genz-70b-GPTQ, 3 bits", LLAMA_70B(32000) QUANTISED(GPTQ(3)), "", 28028780544, ", with a bias for each output"},
};

/* The import of it, and of the same one 2 bytes longer. */
static void read_checkpoint(const struct checkpoint *k, double bytes, struct dse_llm *m, struct llm_said *said)
{
    struct diags diags;
    char *index = xasprintf("{\"metadata\": {\"total_size\": %.0f}%s}", bytes, k->names);
    diags_init(&diags);
    llm_said_init(said);
    scratch_write(dir, "config.json", k->config);
    scratch_write(dir, "model.safetensors.index.json", index);
    if (!llm_import(path, NULL, false, m, said, &diags)) {
        diags_print(&diags, stderr, false);
        fail_msg("%s is refused", k->name);
    }
    diags_release(&diags);
    free(index);
}

static void checkpoints__have_the_bytes_of_their_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof checkpoints / sizeof *checkpoints; i++) {
        const struct checkpoint *k = &checkpoints[i];
        struct dse_llm m;
        struct llm_said said;
        char *line = xasprintf("index.json: %.0f bytes, as counted%s\n", k->bytes, k->how);
        read_checkpoint(k, k->bytes, &m, &said);
        if (!strstr(said.formats.s, line)) fail_msg("%s: no \"%s\" in\n%s", k->name, line, said.formats.s);
        if (!*k->how && fabs(dse_llm_checkpoint_bytes(&m) - k->bytes) > 0.5) fail_msg("%s: its entry has other bytes", k->name);
        assert_null(strstr(said.formats.s, "; about:"));
        llm_said_release(&said);
        read_checkpoint(k, k->bytes + 2, &m, &said);
        assert_non_null(strstr(said.formats.s, " than counted: "));
        llm_said_release(&said);
        free(line);
    }
}

/* unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit: the sum of 8,248,929,342 elements that the Hub gave of it counts bytes twice, and
 * other elements once. That leaves 38,687 bytes for the texts of 224 quant_states, each with an offset of its own. */
static void checkpoints__of_nf4_have_a_text_for_each_matrix(void **state)
{
    (void)state;
    static const double wide = 1050939392, packed = 6979321856 / 2.0, scales = 6979321856 / 64.0, matrices = 224;
    static const double others = 6979321856 / 64.0 / 256 + 224 * (256 + 16), texts = 38687;
    static const struct checkpoint k = {
        "Llama-3.1-8B-bnb-4bit",
        "{\"model_type\": \"llama\", \"hidden_size\": 4096, \"intermediate_size\": 14336, \"num_hidden_layers\": 32, "
        "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"vocab_size\": 128256, \"max_position_embeddings\": 131072, "
        "\"tie_word_embeddings\": false" QUANTISED("\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true, "
                                                   "\"bnb_4bit_quant_type\": \"nf4\", \"bnb_4bit_use_double_quant\": true"),
        "", 5702577951, ""};
    struct dse_llm m;
    struct llm_said said;
    assert_true(fabs(wide + others + 2 * (packed + scales + texts) - 8248929342) < 0.5);
    assert_true(fabs(2 * wide + 4 * others + packed + scales + texts - k.bytes) < 0.5);
    assert_true(texts / matrices > 170 && texts / matrices < 175);
    read_checkpoint(&k, k.bytes, &m, &said);
    assert_non_null(strstr(said.formats.s, ": 5702577951 bytes, 38687 more than counted"));
    llm_said_release(&said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkpoints__have_the_bytes_of_their_files),
        cmocka_unit_test(checkpoints__of_nf4_have_a_text_for_each_matrix),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
