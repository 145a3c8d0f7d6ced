/* Files of others as the import of LLMs finds them: what they say beside the shape, what they are not, how Python writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "config/llm_import.h"
#include "dse_config.h"
#include "scratch.h"

#include <dse/llm.h>
#include <dse/units.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *dir, *path;

struct answer {
    bool ok;
    struct dse_llm llm;
    struct dse_llm_counts counts;
    struct llm_said said;
    char *error; /* messages and hints */
};

static void ask_file(const char *file, bool approximate, struct answer *a)
{
    struct diags diags;
    struct text error;
    *a = (struct answer){0};
    diags_init(&diags);
    text_init(&error);
    llm_said_init(&a->said);
    a->ok = llm_import(file, NULL, approximate, &a->llm, &a->said, &diags);
    if (a->ok) dse_llm_count(&a->llm, &a->counts);
    for (size_t i = 0; i < diags.n; i++) {
        const struct diag *d = &diags.list[i];
        text_addf(&error, "%d:%d: %s; %s\n", d->line, d->column, d->message, d->hint ? d->hint : "");
    }
    a->error = text_detach(&error);
    diags_release(&diags);
}

static void release(struct answer *a)
{
    llm_said_release(&a->said);
    free(a->error);
}

static void ask(const char *text, bool approximate, struct answer *a)
{
    scratch_write(dir, "config.json", text);
    ask_file(path, approximate, a);
}

static void ask_case(const char *name, bool approximate, struct answer *a)
{
    char *file = xasprintf("%s/tests/data/llms/cases/%s.json", DSE_SOURCE_DATA, name);
    ask_file(file, approximate, a);
    free(file);
}

static void must(const struct answer *a, const char *what)
{
    if (!a->ok) fail_msg("%s is refused: %s", what, a->error);
}

static void says(const char *what, const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("%s: \"%s\" is not in \"%s\"", what, part, text);
}

/* A small LLM of the kind of llama, with more keys. */
#define SMALL \
    "\"hidden_size\": 64, \"num_attention_heads\": 4,\"num_hidden_layers\": 4, \"intermediate_size\": 128, \"vocab_size\": 1000, " \
    "\"max_position_embeddings\": 4096, \"tie_word_embeddings\": false"
#define LLAMA "{\"model_type\": \"llama\", " SMALL

/* ---- keys ------------------------------------------------------------------------------------------------------------------ */

/* What a library writes of every class by default, beside the keys of 20 LLMs: no count changes, and nothing is said. */
static void keys__without_effect_are_read_without_a_word(void **state)
{
    (void)state;
    static const char noise[] =
        "\"_name_or_path\": \"x\", \"add_cross_attention\": false, \"bad_words_ids\": null, \"begin_suppress_tokens\": null,"
        " \"chunk_size_feed_forward\": 0, \"cross_attention_hidden_size\": null, \"decoder_start_token_id\": null,"
        " \"diversity_penalty\": 0.0, \"do_sample\": false, \"early_stopping\": false, \"encoder_no_repeat_ngram_size\": 0,"
        " \"exponential_decay_length_penalty\": null, \"finetuning_task\": null, \"forced_bos_token_id\": null,"
        " \"id2label\": {\"0\": \"A\"}, \"is_decoder\": false, \"is_encoder_decoder\": false, \"label2id\": {\"LABEL_0\": 0},"
        " \"length_penalty\": 1.0, \"max_length\": 20, \"min_length\": 0, \"no_repeat_ngram_size\": 0, \"num_beam_groups\": 1,"
        " \"num_beams\": 1, \"num_return_sequences\": 1, \"output_attentions\": false, \"output_hidden_states\": false,"
        "\"output_scores\": false,\"prefix\": null, \"problem_type\": null, \"pruned_heads\": {}, \"remove_invalid_values\": false,"
        " \"repetition_penalty\": 1.0, \"return_dict\": true, \"return_dict_in_generate\": false, \"sep_token_id\": null,"
        " \"suppress_tokens\": null, \"task_specific_params\": null, \"temperature\": 1.0, \"tf_legacy_loss\": false,"
        " \"tie_encoder_decoder\": false, \"tokenizer_class\": null, \"top_k\": 50, \"top_p\": 1.0, \"torchscript\": false,"
        " \"transformers_version\": \"4.56.2\", \"typical_p\": 1.0, \"use_bfloat16\": false, \"use_cache\": true,"
        " \"pretraining_tp\": 1, \"rope_theta\": 1e4, \"rope_scaling\": {\"factor\": 8.0}, \"hidden_act\": \"silu\","
        " \"initializer_range\": 0.02, \"attention_dropout\": 0.0, \"unsloth_version\": \"2025.1\", \"torch_dtype\": \"bfloat16\",";
    static const char *const names[] = {"llama3.1-8b", "qwen2.5-7b",   "gemma2-2b",     "mixtral-8x7b",       "deepseek-v3.2",
                                        "kimi-k2",     "gpt-oss-120b", "glm-4.5",       "minimax-text-01",    "minimax-m2.5",
                                        "jamba-v0.1",  "mamba2-2.7b",  "nemotron-h-8b", "qwen3-next-80b-a3b", "phi-4",
                                        "qwen3.5-27b", "llama4-scout", "gemma3-27b",    "qwen3-30b-a3b",      "mistral-7b-v0.1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *file = xasprintf("%s/tests/data/llms/configs/%s.json", DSE_SOURCE_DATA, names[i]), *text;
        struct diags diags;
        struct answer plain, noisy;
        diags_init(&diags);
        assert_true(text_read_file(file, 1 << 20, &text, NULL, &diags));
        char *both = xasprintf("{%s%s", noise, strchr(text, '{') + 1);
        ask_file(file, false, &plain);
        ask(both, false, &noisy);
        must(&plain, names[i]);
        must(&noisy, names[i]);
        assert_memory_equal(&plain.counts, &noisy.counts, sizeof plain.counts);
        assert_string_equal(plain.said.notes.s, noisy.said.notes.s);
        assert_int_equal(noisy.llm.details.approximate, 0);
        release(&plain);
        release(&noisy);
        diags_release(&diags);
        free(both);
        free(text);
        free(file);
    }
    struct answer a;
    ask_case("generic_noise", false, &a);
    must(&a, "generic_noise");
    assert_null(strstr(a.said.notes.s, "top_k"));
    release(&a);
}

/* A key that is not known is an error that names it and says what to do; --approximate imports the rest and marks the entry. */
static void keys__that_are_not_known_are_refused_or_marked(void **state)
{
    (void)state;
    struct answer a;
    ask(LLAMA ", \"head_shape_by_layer\": [1, 2], \"experts_per_token\": 2}", false, &a);
    assert_false(a.ok);
    says("unknown keys", a.error, "head_shape_by_layer, experts_per_token");
    says("unknown keys", a.error, "--approximate");
    release(&a);
    ask(LLAMA ", \"head_shape_by_layer\": [1, 2], \"experts_per_token\": 2}", true, &a);
    must(&a, "unknown keys");
    assert_int_equal(a.llm.details.approximate, 1);
    assert_string_equal(a.said.left_out.s, "head_shape_by_layer, experts_per_token");
    release(&a);
    ask(LLAMA ", \"head_shape_by_layer\": null}", true, &a); /* none of it */
    must(&a, "null");
    assert_int_equal(a.llm.details.approximate, 0);
    release(&a);
    /* values that the counts are made for, and others */
    ask(LLAMA ", \"pruned_heads\": {\"1\": [0, 2]}}", false, &a);
    assert_false(a.ok);
    says("pruned heads", a.error, "pruned_heads");
    release(&a);
    ask(LLAMA ", \"mlp_bias\": true}", false, &a);
    assert_false(a.ok);
    says("biases", a.error, "mlp_bias");
    release(&a);
    ask(LLAMA ", \"mlp_bias\": true}", true, &a);
    must(&a, "biases");
    assert_int_equal(a.llm.details.approximate, 1);
    release(&a);
}

/* Beside a nested text model stands what sees and hears; a key that is neither is not known. */
static void keys__beside_a_text_model_are_those_of_other_senses(void **state)
{
    (void)state;
    struct answer a;
#define NESTED(keys) \
    "{\"model_type\": \"llava\", \"architectures\": [\"LlavaForConditionalGeneration\"], \"text_config\": " LLAMA "}, " keys "}"
    ask(NESTED("\"vision_config\": {\"hidden_size\": 1152}, \"image_token_index\": 32000, \"projector_hidden_act\": \"gelu\", "
               "\"vision_feature_layer\": -2, \"my_config\": {\"layers\": 3}, \"ignore_index\": -100"),
        false, &a);
    must(&a, "nested");
    release(&a);
    ask(NESTED("\"experts_beside\": 8"), false, &a);
    assert_false(a.ok);
    says("nested", a.error, "experts_beside");
    release(&a);
#undef NESTED
}

/* An architecture that is not known is an error with the nearest name and the same offer, not a list of all. */
static void architectures__that_are_not_known_are_refused_or_marked(void **state)
{
    (void)state;
    struct answer a;
    ask("{\"model_type\": \"lama\", " SMALL "}", false, &a);
    assert_false(a.ok);
    says("lama", a.error, "did you mean llama?");
    says("lama", a.error, "--approximate");
    assert_true(strlen(a.error) < 300);
    release(&a);
    ask("{\"model_type\": \"lama\", " SMALL ", \"num_experts\": 8, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 32}",
        true, &a);
    must(&a, "lama");
    assert_int_equal(a.llm.details.approximate, 1);
    assert_int_equal(a.llm.moe.experts, 8);
    assert_string_equal(a.said.left_out.s, "model_type");
    release(&a);
    ask("{\"model_type\": \"lama\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"num_hidden_layers\": 4, "
        "\"vocab_size\": 1000}",
        true, &a);
    assert_false(a.ok); /* it has no longest context */
    says("lama", a.error, "there is no max_position_embeddings");
    release(&a);
}

/* ---- what a file is of ------------------------------------------------------------------------------------------------------ */

static void architectures__tell_what_is_no_causal_llm(void **state)
{
    (void)state;
    static const struct {
        const char *keys, *what; /* what: NULL: a causal LLM */
    } files[] = {
        {"\"architectures\": [\"LlamaForCausalLM\"]", NULL},
        {"\"architectures\": [\"LlamaForCausalLMEagle3\"]", "EAGLE"},
        {"\"architectures\": [\"EagleLlamaForCausalLM\"]", "EAGLE"},
        {"\"architectures\": [\"Eagle3Speculator\"]", "EAGLE"},
        {"\"architectures\": [\"LlamaForCausalLM\"], \"draft_vocab_size\": 32000", "drafts"},
        {"\"architectures\": [\"MedusaModel\"]", "Medusa"},
        {"\"architectures\": [\"DeepSeekMTPModel\"]", "multi-token-prediction"},
        {"\"architectures\": [\"LlamaForSequenceClassification\"]", "classifier or reranker"},
        {"\"architectures\": [\"LlamaForTokenClassification\"]", "classifier of tokens"},
        {"\"architectures\": [\"LlamaForRewardModel\"]", "reward model"},
        {"\"architectures\": [\"LlamaModel\"]", "without an output head"},
        {"\"architectures\": [\"LlamaBidirectionalModel\"]", "both directions"},
        {"\"architectures\": [\"ModernBertForMaskedLM\"]", "masked language model"},
        {"\"architectures\": [\"LlamaForCausalLM\"], \"is_encoder_decoder\": true", "encoder with a decoder"},
        {"\"architectures\": [\"LlamaForCausalLM\"], \"use_bidirectional_attention\": true", "both directions"},
        {"\"architectures\": [\"LlamaForSomethingNew\"]", "not known to be a causal LLM"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *text = xasprintf(LLAMA ", %s}", files[i].keys);
        struct answer a;
        ask(text, false, &a);
        if (a.ok != (files[i].what == NULL)) fail_msg("%s: %s", files[i].keys, a.error);
        if (files[i].what) says(files[i].keys, a.error, files[i].what);
        release(&a);
        free(text);
    }
    struct answer a;
    ask_case("eagle3_head_as_llm", true, &a); /* nothing to approximate: it is another thing */
    assert_false(a.ok);
    says("eagle3_head_as_llm", a.error, "EAGLE");
    release(&a);
}

static void files__beside_a_configuration_are_told_from_it(void **state)
{
    (void)state;
    struct answer a;
    ask("{\"quantization\": {\"quant_algo\": \"NVFP4\"}}", false, &a);
    says("hf_quant_config", a.error, "hf_quant_config.json");
    says("hf_quant_config", a.error, "import the config.json beside it");
    release(&a);
    ask("{\"peft_type\": \"LORA\", \"r\": 8}", false, &a);
    says("adapter", a.error, "adapter_config.json");
    release(&a);
}

/* ---- as Python writes it ---------------------------------------------------------------------------------------------------- */

static void json__of_python_is_read(void **state)
{
    (void)state;
    struct answer a;
    ask_case("python_json_infinity", false, &a);
    must(&a, "Infinity");
    assert_int_equal(a.llm.layers, 4);
    release(&a);
    ask("{\"model_type\": \"llama\", " SMALL ", \"attention_dropout\": NaN, \"norm_eps\": -Infinity, \"model_max_length\": "
        "1000000000000000019884624838656, \"_name_or_path\": \"NaN, Infinity\\\" NaN\", \"num_hidden_layers\": 2, "
        "\"num_hidden_layers\": 3}",
        false, &a);
    must(&a, "duplicates"); /* the last wins */
    assert_int_equal(a.llm.layers, 3);
    release(&a);
    ask("{\"model_type\": \"llama\", " SMALL ",\n \"intermediate_size\": Infinity}", false, &a); /* at its own place */
    assert_false(a.ok);
    says("Infinity", a.error, "2:23: intermediate_size: a whole number");
    release(&a);
    ask("{\"model_type\": \"llama\", \"hidden_size\": Infinite}", false, &a);
    says("no JSON", a.error, "not JSON");
    release(&a);
}

static void keys__that_others_imply_may_be_missing(void **state)
{
    (void)state;
    static const char keys[] = "\"hidden_size\": 64, \"num_attention_heads\": 4, \"intermediate_size\": 128, \"vocab_size\": 1000, "
                               "\"max_position_embeddings\": 4096, \"num_key_value_heads\": 2, \"head_dim\": 16, ";
    static const char states[] = "\"mamba_num_heads\": 4, \"mamba_head_dim\": 32, \"ssm_state_size\": 16, \"n_groups\": 1, ";
    struct answer a;
    char *text = xasprintf("{\"model_type\": \"nemotron_h\", %s%s\"hybrid_override_pattern\": \"M-M*-\"}", keys, states);
    ask(text, false, &a);
    must(&a, "letters");
    assert_int_equal(a.llm.layers, 5);
    release(&a);
    free(text);
    text =
        xasprintf("{\"model_type\": \"nemotron_h\", %s%s\"layers_block_type\": [\"mamba\", \"mlp\", \"attention\"]}", keys, states);
    ask(text, false, &a);
    must(&a, "words");
    assert_int_equal(a.llm.layers, 3);
    says("words", a.said.notes.s, "num_hidden_layers is not in the file: 3, as many as layers_block_type has");
    release(&a);
    free(text);
    text = xasprintf("{\"model_type\": \"ernie4_5_moe\", %s\"num_hidden_layers\": 4, \"moe_num_experts\": 8, \"moe_k\": 2, "
                     "\"moe_intermediate_size\": 32, \"moe_layer_start_index\": 1, \"moe_layer_end_index\": -1}",
                     keys);
    ask(text, false, &a);
    must(&a, "-1: the last layer");
    assert_int_equal(dse_llm_layer(&a.llm, 3)->feed_forward, DSE_FFN_EXPERTS);
    assert_int_equal(dse_llm_layer(&a.llm, 0)->feed_forward, DSE_FFN_DENSE);
    release(&a);
    free(text);
    ask("{\"model_type\": \"mistral\", " SMALL ", \"num_key_value_heads\": 2, \"sliding_window\": -1}", false, &a);
    must(&a, "-1: no window");
    assert_int_equal(a.llm.attention_window, 0);
    release(&a);
    ask("{\"model_type\": \"llama\", " SMALL ", \"num_key_value_heads\": -1}", false, &a); /* no class has that */
    assert_false(a.ok);
    release(&a);
}

/* ---- indexers that layers share ---------------------------------------------------------------------------------------------- */

static void indexers__that_layers_share_are_counted_once(void **state)
{
    (void)state;
    enum { CONTEXT = 100000 };
    struct answer shared, full;
    ask_case("glm52_shared_indexer", false, &shared);
    ask_case("generic_noise", false, &full); /* the same, with six indexers */
    must(&shared, "shared");
    must(&full, "full");
    assert_int_equal(full.counts.params - shared.counts.params, 104640); /* 3 (128 4 32 + 512 32 + 512 4 + 2 32) */
    assert_int_equal(full.counts.index_elements, 6 * 32);
    assert_int_equal(shared.counts.index_elements, 3 * 32);
    assert_int_equal(full.counts.kv_elements, shared.counts.kv_elements);
    const int64_t index = 3 * (128 * 4 * 32 + 512 * 32 + 512 * 4) + 3 * 4 * 32 * (int64_t)CONTEXT; /* of three layers */
    assert_int_equal(
        dse_llm_macs(&full.llm, CONTEXT, DSE_LATENT_ABSORBED) - dse_llm_macs(&shared.llm, CONTEXT, DSE_LATENT_ABSORBED), index);
    release(&full);
    release(&shared);
}

/* The keys of small LLMs with an indexer, and how many layers have one. */
static void indexers__are_where_each_key_says(void **state)
{
    (void)state;
#define DSA \
    "{\"model_type\": \"glm_moe_dsa\", " SMALL ", \"q_lora_rank\": 32, \"kv_lora_rank\": 16, \"qk_nope_head_dim\": 16, " \
    "\"qk_rope_head_dim\": 16, \"v_head_dim\": 16, \"index_n_heads\": 2, \"index_head_dim\": 16, \"n_routed_experts\": 4, " \
    "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 32, \"first_k_dense_replace\": 1"
    static const struct {
        const char *keys;
        int owners; /* a bit a layer, the first the lowest; -1: refused */
    } files[] = {
        {"", 0xf},
        {", \"indexer_types\": null, \"index_topk_pattern\": null, \"index_topk_freq\": 1", 0xf},
        {", \"indexer_types\": [\"full\", \"shared\", \"full\", \"shared\"]", 0x5},
        {", \"index_topk_pattern\": \"FSSF\"", 0x9},
        {", \"index_topk_freq\": 2", 0xb},                                /* layers 0 and 1, then every second from there */
        {", \"index_topk_freq\": 4, \"index_skip_topk_offset\": 3", 0x7}, /* as GLM-5.2 */
        {", \"index_topk_freq\": 4, \"indexer_types\": [\"full\", \"full\", \"full\", \"full\"]", 0xf},
        {", \"indexer_types\": [\"shared\", \"full\", \"full\", \"full\"]", -1},
        {", \"indexer_types\": [\"full\", \"full\"]", -1},
        {", \"indexer_types\": [\"full\", \"full\", \"half\", \"full\"]", -1},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *text = xasprintf(DSA "%s}", files[i].keys);
        struct answer a;
        int owners = 0;
        ask(text, false, &a);
        if (a.ok != (files[i].owners >= 0)) fail_msg("%s: %s", files[i].keys, a.error);
        for (int64_t k = 0; a.ok && k < a.llm.layers; k++) owners |= (dse_llm_layer(&a.llm, k)->attention == DSE_LATENT_TOPK) << k;
        if (a.ok) assert_int_equal(owners, files[i].owners);
        release(&a);
        free(text);
    }
#undef DSA
}

/* ---- formats ---------------------------------------------------------------------------------------------------------------- */

static void formats__are_said_with_the_nearest_settings(void **state)
{
    (void)state;
    static const struct {
        const char *config, *nearest;
    } files[] = {
        {"{\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128, \"zero_point\": true}",
         "weight_bits=4 --set weight_scale_bits=0.15625;"},
        {"{\"quant_method\": \"gptq\", \"bits\": 8, \"group_size\": -1, \"sym\": true}", "weight_bits=8;"},
        {"{\"quant_method\": \"fp8\", \"fmt\": \"e4m3\", \"weight_block_size\": [128, 128]}",
         "weight_bits=8 --set weight_scale_bits=0.001953125 --set activation_bits=8;"},
        {"{\"quant_method\": \"mxfp4\", \"modules_to_not_convert\": [\"lm_head\"]}", "weight_bits=4 --set weight_scale_bits=0.25;"},
        {"{\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true, \"load_in_8bit\": false}",
         "weight_bits=4 --set weight_scale_bits=0.5;"},
        {"{\"quant_method\": \"bitsandbytes\", \"load_in_8bit\": true}", "weight_bits=8 --set activation_bits=8;"},
        {"{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": {\"input_activations\": null, \"weights\": "
         "{\"num_bits\": 4, \"type\": \"int\", \"group_size\": 32, \"symmetric\": true}}}, \"kv_cache_scheme\": null}",
         "weight_bits=4 --set weight_scale_bits=0.5;"},
        {"{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": {\"input_activations\": {\"num_bits\": 8}, "
         "\"weights\": {\"num_bits\": 8, \"type\": \"float\", \"group_size\": null}}}, \"kv_cache_scheme\": {\"num_bits\": 8}}",
         "weight_bits=8 --set activation_bits=8 --set kv_bits=8;"},
        {"{\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\", \"config_groups\": {\"group_0\": {\"input_activations\": "
         "{\"num_bits\": 4, \"type\": \"float\", \"group_size\": 16}, \"weights\": {\"num_bits\": 4, \"type\": \"float\", "
         "\"group_size\": 16}}}, \"kv_cache_scheme\": {\"num_bits\": 8, \"type\": \"float\"}}",
         "weight_bits=4 --set weight_scale_bits=0.5 --set activation_bits=4 --set kv_bits=8;"},
        {"{\"quant_method\": \"modelopt\", \"quant_algo\": \"W4A16_AWQ\", \"group_size\": 128}",
         "weight_bits=4 --set weight_scale_bits=0.125;"},
        {"{\"quant_method\": \"exl2\", \"bits\": 4.25}", "weight_bits=4 --set weight_scale_bits=0.25;"},
        {"{\"quant_method\": \"hqq\", \"quant_config\": {\"weight_quant_params\": {\"nbits\": 3, \"group_size\": 64}}}",
         "weight_bits=3 --set weight_scale_bits=0.25;"},
        {"{\"quant_method\": \"quanto\", \"weights\": \"int4\", \"activations\": null}", "weight_bits=4;"},
        {"{\"quant_method\": \"something new\"}", "no width was found"},
        {"{\"quant_method\": \"something new\"}", "checkpoint: of unknown size"},
        {"{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 1}", "no width was found"},
        {"{\"quant_method\": \"gptq\", \"bits\": 1e9, \"group_size\": 128}", "no width was found"},
        {"{\"quant_method\": \"fp8\", \"weight_block_size\": [1, 1]}", "no width was found"},
        {"{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": {\"input_activations\": {\"num_bits\": 8}, "
         "\"weights\": {\"num_bits\": 8, \"type\": \"float\"}}}, \"kv_cache_scheme\": {\"num_bits\": 8}}",
         "; --set format=checkpoint --set kv_bits=8 takes each class"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *text = xasprintf(LLAMA ", \"quantization_config\": %s}", files[i].config);
        struct answer a;
        ask(text, false, &a);
        must(&a, text);
        says(files[i].config, a.said.formats.s, files[i].nearest);
        assert_int_equal(a.llm.details.approximate, 0);
        release(&a);
        free(text);
    }
    struct answer a;
    ask_case("quantization_config_dropped", false, &a);
    says("case", a.said.formats.s, "quantization_config: awq, weights of 4 bits in groups of 128; not lm_head\nnearest: ");
    release(&a);
}

static void take_away(const char *name)
{
    char *file = xasprintf("%s/%s", dir, name);
    remove(file);
    free(file);
}

static void formats__of_hf_quant_config_are_read_beside_the_configuration(void **state)
{
    (void)state;
    struct answer a;
    scratch_write(dir, "hf_quant_config.json",
                  "{\"producer\": {\"name\": \"modelopt\"}, \"quantization\": {\"quant_algo\": \"NVFP4\", \"kv_cache_quant_algo\": "
                  "\"FP8\", \"group_size\": 16, \"exclude_modules\": [\"lm_head\"]}}");
    ask(LLAMA "}", false, &a);
    must(&a, "beside");
    says("beside", a.said.formats.s, "hf_quant_config.json: NVFP4, weights of 4 bits in groups of 16");
    says("beside", a.said.formats.s, "--set weight_bits=4 --set weight_scale_bits=0.5 --set activation_bits=4 --set kv_bits=8");
    assert_true(a.llm.formats.activation_bits[DSE_WEIGHTS_DENSE] == 4 && isnan(a.llm.formats.activation_bits[DSE_WEIGHTS_HEAD]));
    release(&a);
    scratch_write(dir, "hf_quant_config.json",
                  "{\"quantization\": {\"quant_algo\": \"MIXED_PRECISION\", \"kv_cache_quant_algo\": null, \"quantized_layers\": {"
                  "\"a\": {\"quant_algo\": \"FP8\"}, \"b\": {\"quant_algo\": \"NVFP4\"}, \"c\": {\"quant_algo\": \"NVFP4\"}}}}");
    ask(LLAMA "}", false, &a);
    must(&a, "mixed");
    says("mixed", a.said.formats.s, "FP8 in 1 matrices, NVFP4 in 2 matrices");
    says("mixed", a.said.formats.s, "nearest: --set weight_bits=4 ");
    release(&a);
    scratch_write(dir, "hf_quant_config.json", "{");
    ask(LLAMA "}", false, &a);
    assert_false(a.ok);
    release(&a);
    take_away("hf_quant_config.json");
}

#define GPT_OSS \
    "{\"model_type\": \"gpt_oss\", \"hidden_size\": 2880, \"num_hidden_layers\": 24, \"num_attention_heads\": 64, " \
    "\"num_key_value_heads\": 8, \"head_dim\": 64, \"intermediate_size\": 2880, \"num_local_experts\": 32, " \
    "\"num_experts_per_tok\": 4, \"vocab_size\": 201088, \"sliding_window\": 128, \"max_position_embeddings\": 131072, " \
    "\"attention_bias\": true, \"tie_word_embeddings\": false, \"quantization_config\": {\"quant_method\": "

static void answer_with_index(const char *config, const char *index, const char *says_this)
{
    struct answer a;
    scratch_write(dir, "model.safetensors.index.json", index);
    ask(config, false, &a);
    must(&a, config);
    says(config, a.said.formats.s, says_this);
    release(&a);
    take_away("model.safetensors.index.json");
}

/* 13,761,264,768 bytes are the total of gpt-oss-20b's index. */
static void checkpoints__are_compared_with_their_index(void **state)
{
    (void)state;
    static const char config[] = GPT_OSS "\"mxfp4\", \"modules_to_not_convert\": [\"model.layers.*.self_attn\", "
                                         "\"model.layers.*.mlp.router\", \"model.embed_tokens\", \"lm_head\"]}}";
    answer_with_index(config, "{\"metadata\": {\"total_size\": 13761264768}}", "13761264768 bytes, as counted\n");
    answer_with_index(config, "{\"metadata\": {\"total_size\": 13761264770}}", "13761264770 bytes, 2 more than counted");
    answer_with_index(config, "{}", "checkpoint: 13761264768 bytes, 12.82 GiB\n");
    struct answer a;
    scratch_write(dir, "model.safetensors.index.json", "{\"metadata\": ");
    ask(config, false, &a);
    assert_false(a.ok);
    release(&a);
    take_away("model.safetensors.index.json");
}

/* Two more totals of public indices. Qwen3-1.7B in bf16. Qwen3.5-9B in MLX's 8 bits (leo-kreisman/Qwen3.5-9B-MLX-8bit): what is
 * more than the text model is its vision tower in bf16, here by hand, and the decays of 24 recurrent layers in 32 bits. */
static void checkpoints__of_public_files_are_counted_to_the_byte(void **state)
{
    (void)state;
    static const int64_t wide = 1152, inner = 4304, merged = 4 * 1152, out = 4096;
    const int64_t block = wide * 3 * wide + 3 * wide + wide * wide + wide + 2 * wide * inner + inner + wide + 4 * wide;
    const int64_t merger = 2 * wide + merged * merged + merged + merged * out + out;
    const int64_t tower = 27 * block + merger + wide * 3 * 2 * 16 * 16 + wide + 2304 * wide, decays = 24 * 32;
    char *more = xasprintf("10426433504 bytes, %" PRId64 " more than counted", 2 * tower + 2 * decays);
    answer_with_index("{\"model_type\": \"qwen3\", \"head_dim\": 128, \"hidden_size\": 2048, \"intermediate_size\": 6144, "
                      "\"max_position_embeddings\": 40960, \"num_attention_heads\": 16, \"num_hidden_layers\": 28, "
                      "\"num_key_value_heads\": 8, \"tie_word_embeddings\": true, \"vocab_size\": 151936, "
                      "\"attention_bias\": false, \"use_sliding_window\": false}",
                      "{\"metadata\": {\"total_size\": 3441149952}}", "3441149952 bytes, as counted\n");
    answer_with_index("{\"model_type\": \"qwen3_5\", \"quantization\": {\"group_size\": 64, \"bits\": 8, \"mode\": \"affine\"}, "
                      "\"tie_word_embeddings\": false, \"text_config\": {\"model_type\": \"qwen3_5_text\", \"hidden_size\": 4096, "
                      "\"head_dim\": 256, \"intermediate_size\": 12288, \"attention_bias\": false, \"attn_output_gate\": true, "
                      "\"full_attention_interval\": 4, \"linear_conv_kernel_dim\": 4, \"linear_key_head_dim\": 128, "
                      "\"linear_num_key_heads\": 16, \"linear_num_value_heads\": 32, \"linear_value_head_dim\": 128, "
                      "\"max_position_embeddings\": 262144, \"num_attention_heads\": 16, \"num_hidden_layers\": 32, "
                      "\"num_key_value_heads\": 4, \"vocab_size\": 248320, \"mtp_num_hidden_layers\": 1}}",
                      "{\"metadata\": {\"total_size\": 10426433504}}", more);
    free(more);
}

static double held_bits(const struct dse_llm *llm, enum dse_weight_class class)
{
    return DSE_BITS_PER_BYTE * dse_held_bytes(dse_llm_held(llm, class));
}

/* Bits of a class with its scales; 16: as without a format. */
static void formats__are_those_of_their_classes(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        double attention, dense, head, tables;
        bool is_exact;
    } files[] = {
        {"{\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 64, \"zero_point\": true}", 4.3125, 4.3125, 16, 16, true},
        {"{\"bits\": 4, \"group_size\": 64}", 4.5, 4.5, 4.5, 4.5, true}, /* MLX */
        {"{\"quant_method\": \"fp8\", \"ignored_layers\": [\"lm_head\", \"re:.*self_attn.*\"]}", 16, 8, 16, 16, true},
        {"{\"quant_method\": \"fp8\", \"ignored_layers\": [\"model.layers.0.self_attn\"]}", 10, 8, 16, 16, true},
        {"{\"quant_method\": \"fp8\", \"ignored_layers\": [\"model.layers.*.mlp.down_proj\"]}", 8, 32.0 / 3, 16, 16, true},
        {"{\"quant_method\": \"fp8\", \"ignored_layers\": [\"re:.*\\\\.self_attn\\\\.q_proj$\", \"re:.*self_attn.(k|v)_proj\", "
         "\"re:.*k_proj\", \"model.layers.*.self_attn.o_proj\"]}",
         16, 8, 16, 16, true},
        {"{\"quant_method\": \"fp8\", \"ignored_layers\": [\"re:.*\\\\.self_attn\\\\.(q_proj|k_proj|v_proj|o_proj)$\", "
         "\"re:.*mlp.(gate|up|gate_up|down)_proj.*\"]}",
         16, 16, 16, 16, true},
        {"{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"a\": {\"targets\": [\"re:.*attn.*(q|k|v|o)_proj$\"], "
         "\"weights\": {\"num_bits\": 8}}, \"b\": {\"targets\": [\"re:.*mlp.*(gate|up|down)_proj$\"], "
         "\"weights\": {\"num_bits\": 4, \"type\": \"float\", \"group_size\": 16}}}}",
         8, 4.5, 16, 16, true},
        {"{\"quant_algo\": \"MIXED_PRECISION\", \"quantized_layers\": {\"layers.0.mlp\": {\"quant_algo\": \"NVFP4\"}, "
         "\"layers.1.mlp\": {\"quant_algo\": \"FP8\"}, \"lm_head\": {\"quant_algo\": \"FP8\"}}}",
         16, 8, 8, 16, false},
        {"{\"quant_method\": \"fp8\", \"ignored_layers\": [\"visual.blocks.0.attn.qkv\", \"model.layers.1.self_attn.qkv_proj\", "
         "\"model.layers.2.mlp.gate_up_proj\"]}",
         9.5, 28.0 / 3, 16, 16, true},
        {"{\"quant_method\": \"fp8\", \"ignored_layers\": [7, \"model.layers.99999999999999999999.mlp\"]}", 8, 8, 16, 16, true},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *text = xasprintf(LLAMA ", \"quantization_config\": %s}", files[i].config);
        struct answer a;
        ask(text, false, &a);
        must(&a, text);
        assert_float_equal(held_bits(&a.llm, DSE_WEIGHTS_ATTENTION), files[i].attention, 0);
        assert_float_equal(held_bits(&a.llm, DSE_WEIGHTS_DENSE), files[i].dense, 0);
        assert_float_equal(held_bits(&a.llm, DSE_WEIGHTS_HEAD), files[i].head, 0);
        assert_float_equal(held_bits(&a.llm, DSE_WEIGHTS_TABLES), files[i].tables, 0);
        assert_int_equal(strstr(a.said.formats.s, "; about:") == NULL, files[i].is_exact);
        release(&a);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys__without_effect_are_read_without_a_word),
        cmocka_unit_test(keys__that_are_not_known_are_refused_or_marked),
        cmocka_unit_test(keys__beside_a_text_model_are_those_of_other_senses),
        cmocka_unit_test(architectures__that_are_not_known_are_refused_or_marked),
        cmocka_unit_test(architectures__tell_what_is_no_causal_llm),
        cmocka_unit_test(files__beside_a_configuration_are_told_from_it),
        cmocka_unit_test(json__of_python_is_read),
        cmocka_unit_test(keys__that_others_imply_may_be_missing),
        cmocka_unit_test(indexers__that_layers_share_are_counted_once),
        cmocka_unit_test(indexers__are_where_each_key_says),
        cmocka_unit_test(formats__are_said_with_the_nearest_settings),
        cmocka_unit_test(formats__of_hf_quant_config_are_read_beside_the_configuration),
        cmocka_unit_test(checkpoints__are_compared_with_their_index),
        cmocka_unit_test(checkpoints__of_public_files_are_counted_to_the_byte),
        cmocka_unit_test(formats__are_those_of_their_classes),
    };
    dir = scratch_new();
    path = xasprintf("%s/config.json", dir);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(path);
    scratch_remove(dir);
    return failed;
}
