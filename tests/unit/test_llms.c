/* LLMs of the catalog: their counts against those of an independent program, whole number by whole number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "config/catalog.h"
#include "config/llm_import.h"
#include "dse_config.h"
#include "rows.h"
#include "scratch.h"

#include <dse/llm.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct catalog *catalog;

static const struct dse_llm *find(const char *name)
{
    return (const struct dse_llm *)(const void *)catalog_find(catalog, DSE_KIND_LLM, name);
}

/* One cell of the file against ours; an empty one says nothing. */
static void check(const struct rows *r, size_t row, const char *column, int64_t ours)
{
    const char *text = rows_string(r, row, column);
    if (!*text) return;
    if (strtoll(text, NULL, 10) != ours)
        fail_msg("%s, %s: %" PRId64 ", expected %s", rows_string(r, row, "name"), column, ours, text);
}

static void check_at(const struct rows *r, size_t row, const struct dse_llm *m, const char *tag, int64_t context)
{
    char column[64];
    snprintf(column, sizeof column, "kv_bytes_%s", tag);
    check(r, row, column, 2 * dse_llm_kv_elements(m, context));
    snprintf(column, sizeof column, "macs_%s", tag);
    check(r, row, column, dse_llm_macs(m, context, DSE_LATENT_ABSORBED));
    snprintf(column, sizeof column, "macs_mla_expanded_%s", tag);
    check(r, row, column, dse_llm_macs(m, context, DSE_LATENT_EXPANDED));
}

static void llms__count_what_an_independent_program_counts(void **state)
{
    (void)state;
    struct rows file, *r = &file;
    rows_read_csv(r, DSE_SOURCE_DATA "/tests/data/llms/expected.csv");
    assert_int_equal(r->n, 42);
    for (size_t i = 0; i < r->n; i++) {
        const struct dse_llm *m = find(rows_string(r, i, "name"));
        if (!m) fail_msg("no LLM %s", rows_string(r, i, "name"));
        struct dse_llm_counts c;
        dse_llm_count(m, &c);
        check(r, i, "params_total", c.params);
        check(r, i, "params_active", c.params_active);
        check(r, i, "params_active_with_input_embedding", c.params_active_with_input);
        check(r, i, "params_embedding_tables", c.params_tables);
        check(r, i, "params_routed_experts", c.params_routed);
        check(r, i, "params_norms_biases_small", c.params_small);
        check(r, i, "linear_macs_per_token", c.linear_macs);
        check(r, i, "kv_bytes_per_token_unbounded_layers", 2 * c.kv_elements);
        check(r, i, "kv_bytes_per_token_window_layers", 2 * c.kv_window_elements);
        check(r, i, "index_bytes_per_token_8bit", c.index_elements);
        check(r, i, "state_elements", c.state_elements);
        check(r, i, "conv_state_elements", c.conv_state_elements);
        check_at(r, i, m, "1k", 1024);
        check_at(r, i, m, "8k", 8192);
        check_at(r, i, m, "32k", 32768);
        check_at(r, i, m, "128k", 131072);
    }
    rows_release(r);
}

/* What is read of a configuration counts what the entry of that name counts, whole number by whole number. */
static void llms__of_a_configuration_are_those_of_the_catalog(void **state)
{
    (void)state;
    struct rows file, *r = &file;
    size_t n = 0;
    rows_read_csv(r, DSE_SOURCE_DATA "/tests/data/llms/expected.csv");
    for (size_t i = 0; i < r->n; i++) {
        const char *name = rows_string(r, i, "name");
        char *path = xasprintf("%s/tests/data/llms/configs/%s.json", DSE_SOURCE_DATA, name);
        if (access(path, R_OK) == 0) {
            struct diags diags;
            struct llm_said said;
            struct dse_llm m;
            diags_init(&diags);
            llm_said_init(&said);
            if (!llm_import(path, NULL, false, &m, &said, &diags)) {
                diags_print(&diags, stderr, false);
                fail_msg("%s is refused", path);
            }
            struct dse_llm_counts ours, theirs;
            dse_llm_count(&m, &ours);
            dse_llm_count(find(name), &theirs);
            if (memcmp(&ours, &theirs, sizeof ours) != 0)
                fail_msg("%s: %" PRId64 " parameters, %" PRId64 " in the catalog", path, ours.params, theirs.params);
            for (int64_t context = 100; context < 300000; context *= 3) {
                assert_int_equal(dse_llm_kv_elements(&m, context), dse_llm_kv_elements(find(name), context));
                assert_int_equal(dse_llm_macs(&m, context, DSE_LATENT_EXPANDED),
                                 dse_llm_macs(find(name), context, DSE_LATENT_EXPANDED));
            }
            assert_int_equal(m.max_context, find(name)->max_context);
            if (m.details.mtp_layers) assert_int_equal(m.details.mtp_layers, find(name)->details.mtp_layers);
            llm_said_release(&said);
            diags_release(&diags);
            n++;
        }
        free(path);
    }
    rows_release(r);
    assert_true(n >= 29);
}

/* A configuration of eight layers with `keys`, read. */
static struct dse_llm read_qwen(const char *model_type, const char *keys)
{
    static const char experts[] = "\"num_experts\": 8, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 512,";
    const bool dense = strcmp(model_type, "qwen2") == 0 || strcmp(model_type, "qwen3") == 0;
    char *dir = scratch_new(), *path = xasprintf("%s/config.json", dir);
    char *text = xasprintf("{\"model_type\": \"%s\", \"num_hidden_layers\": 8, \"hidden_size\": 1024, \"vocab_size\": 32000,"
                           " \"num_attention_heads\": 16, \"num_key_value_heads\": 4, \"intermediate_size\": 4096,%s %s}",
                           model_type, dense ? "" : experts, keys);
    struct diags diags;
    struct llm_said said;
    struct dse_llm m;
    diags_init(&diags);
    llm_said_init(&said);
    scratch_write(dir, "config.json", text);
    if (!llm_import(path, NULL, false, &m, &said, &diags)) {
        diags_print(&diags, stderr, false);
        fail_msg("%s is refused", text);
    }
    llm_said_release(&said);
    diags_release(&diags);
    free(text);
    free(path);
    scratch_remove(dir);
    return m;
}

/* How many of the first `n` layers see a window. */
static int64_t windows(const struct dse_llm *m, int64_t n)
{
    int64_t ret = 0;
    for (int64_t i = 0; i < n; i++) ret += m->attention.n > 0 && m->attention.at[i % m->attention.n] == DSE_WINDOW;
    return ret;
}

/* Of dense Qwen the layers from max_window_layers on have windows, of Qwen's experts all, and none where they are not switched
 * on. */
static void llms__of_qwen_have_windows_in_their_last_layers(void **state)
{
    (void)state;
    struct dse_llm m = read_qwen("qwen3", "\"use_sliding_window\": true, \"sliding_window\": 512, \"max_window_layers\": 6");
    assert_true(m.attention_window == 512 && windows(&m, 6) == 0 && windows(&m, 8) == 2);
    m = read_qwen("qwen3", "\"use_sliding_window\": true, \"sliding_window\": 512, \"max_window_layers\": 0");
    assert_true(m.attention_window == 512 && windows(&m, 8) == 8);
    m = read_qwen("qwen2", "\"use_sliding_window\": true, \"sliding_window\": 512"); /* 28 of 8 are full */
    assert_true(m.attention_window == 0 && windows(&m, 8) == 0);
    m = read_qwen("qwen2", "\"use_sliding_window\": false, \"sliding_window\": 512, \"max_window_layers\": 6");
    assert_true(m.attention_window == 0 && windows(&m, 8) == 0);
    m = read_qwen("qwen2",
                  "\"use_sliding_window\": true, \"sliding_window\": 512, \"layer_types\": [\"full_attention\","
                  "\"sliding_attention\",\"full_attention\",\"sliding_attention\",\"full_attention\",\"sliding_attention\","
                  "\"full_attention\",\"sliding_attention\"]");
    assert_true(m.attention_window == 512 && m.attention.n == 2 && windows(&m, 8) == 4);
    m = read_qwen("qwen3_moe", "\"use_sliding_window\": true, \"sliding_window\": 512, \"max_window_layers\": 6");
    assert_true(m.attention_window == 512 && windows(&m, 8) == 8);
}

/* Configurations that leave out what their class has by default, as nested text models do, or say it in another way; and how many
 * parameters there are then: those of the weights that were published with them, or of the same keys said in full. */
static const struct {
    const char *text;
    int64_t params;
    const char *note; /* said beside the entry; NULL: whatever */
} sparse[] = {
    /* Gemma 3 4B */
    {"{\"model_type\": \"gemma3\", \"text_config\": {\"model_type\": \"gemma3_text\", \"hidden_size\": 2560, "
     "\"intermediate_size\": 10240, \"num_hidden_layers\": 34, \"rope_scaling\": {\"factor\": 8.0, \"rope_type\": \"linear\"}, "
     "\"sliding_window\": 1024}}",
     3880263168, "vocab_size is not in the file: 262208"},
    /* LLaVA 1.5: Vicuna 7B with 64 more tokens */
    {"{\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"llama\", \"max_position_embeddings\": 4096, \"vocab_size\": "
     "32064}}",
     6738939904, "intermediate_size is not in the file: 11008"},
    /* Phi-4-mini: tied, and a window that nothing reaches */
    {"{\"model_type\": \"phi3\", \"attention_bias\": false, \"hidden_size\": 3072, \"intermediate_size\": 8192, \"vocab_size\": "
     "200064, \"max_position_embeddings\": 131072, \"num_attention_heads\": 24, \"num_hidden_layers\": 32, "
     "\"num_key_value_heads\": 8, \"sliding_window\": 262144, \"tie_word_embeddings\": true}",
     3836021760, "sliding_window 262144 is no shorter than the longest context"},
    /* Qwen3 0.6B without its head_dim, which is not hidden_size over heads */
    {"{\"model_type\": \"qwen3\", \"hidden_size\": 1024, \"num_hidden_layers\": 28, \"vocab_size\": 151936, "
     "\"num_attention_heads\": 16, \"num_key_value_heads\": 8, \"intermediate_size\": 3072, \"max_position_embeddings\": 40960, "
     "\"tie_word_embeddings\": true, \"sliding_window\": null, \"use_sliding_window\": false, \"max_window_layers\": 28}",
     596049920, "head_dim is not in the file: 128"},
    /* Qwen1.5-MoE-A2.7B */
    {"{\"model_type\": \"qwen2_moe\", \"decoder_sparse_step\": 1, \"hidden_size\": 2048, \"intermediate_size\": 5632,"
     " \"max_position_embeddings\": 8192, \"max_window_layers\": 21, \"moe_intermediate_size\": 1408, \"num_attention_heads\": 16,"
     " \"num_experts\": 60, \"num_experts_per_tok\": 4, \"num_hidden_layers\": 24, \"num_key_value_heads\": 16,"
     " \"shared_expert_intermediate_size\": 5632, \"sliding_window\": 32768, \"tie_word_embeddings\": false,"
     " \"use_sliding_window\": false, \"vocab_size\": 151936}",
     14315784192, NULL},
    /* Jamba v0.1 with what "auto" is */
    {"{\"model_type\": \"jamba\", \"hidden_size\": 4096, \"intermediate_size\": 14336, \"num_hidden_layers\": 32, "
     "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"num_experts\": 16, \"num_experts_per_tok\": 2, \"vocab_size\": "
     "65536, \"mamba_dt_rank\": \"auto\"}",
     51570323328, NULL},
    /* Mixtral 8x7B by another name of its experts, and without its KV heads */
    {"{\"model_type\": \"mixtral\", \"vocab_size\": 32000, \"hidden_size\": 4096, \"num_hidden_layers\": 32, "
     "\"num_attention_heads\": 32, \"max_position_embeddings\": 32768, \"num_experts\": 8, \"num_experts_per_tok\": 2, "
     "\"intermediate_size\": 14336}",
     46702792704, "num_key_value_heads is not in the file: 8"},
};

static void llms__of_configurations_that_leave_out_defaults(void **state)
{
    (void)state;
    char *dir = scratch_new(), *path = xasprintf("%s/config.json", dir);
    for (size_t i = 0; i < sizeof sparse / sizeof *sparse; i++) {
        struct diags diags;
        struct llm_said said;
        struct dse_llm m;
        struct dse_llm_counts c;
        diags_init(&diags);
        llm_said_init(&said);
        scratch_write(dir, "config.json", sparse[i].text);
        if (!llm_import(path, NULL, false, &m, &said, &diags)) {
            diags_print(&diags, stderr, false);
            fail_msg("%s is refused", sparse[i].text);
        }
        dse_llm_count(&m, &c);
        if (c.params != sparse[i].params) fail_msg("%s: %" PRId64 " parameters", sparse[i].text, c.params);
        if (sparse[i].note && !strstr(said.notes.s, sparse[i].note)) fail_msg("%s: %s", sparse[i].text, said.notes.s);
        llm_said_release(&said);
        diags_release(&diags);
    }
    free(path);
    scratch_remove(dir);
}

/* The layers with experts, a bit each from the first on. */
static unsigned routed(const struct dse_llm *m)
{
    unsigned bits = 0;
    for (int64_t i = 0; i < m->layers; i++) bits |= (unsigned)(dse_llm_layer(m, i)->feed_forward == DSE_FFN_EXPERTS) << i;
    return bits;
}

static void llms__of_a_configuration_have_experts_where_it_says(void **state)
{
    (void)state;
#define LATENT \
    "\"kv_lora_rank\": 128, \"q_lora_rank\": null, \"qk_nope_head_dim\": 32, \"qk_rope_head_dim\": 16, \"v_head_dim\": 32," \
    "\"max_position_embeddings\": 4096, \"n_routed_experts\": 8, "
    struct dse_llm m =
        read_qwen("deepseek_v3", LATENT "\"n_shared_experts\": null, \"first_k_dense_replace\": 1, \"moe_layer_freq\": 1");
    assert_true(routed(&m) == 0xfe && m.moe.shared_ffn == 0 && m.latent.q_rank == 0);
    m = read_qwen("deepseek_v3", LATENT "\"n_shared_experts\": 2, \"first_k_dense_replace\": 1, \"moe_layer_freq\": 2");
    assert_true(routed(&m) == 0x54 && m.moe.shared_ffn == 1024);
    m = read_qwen("deepseek_v2",
                  LATENT "\"n_shared_experts\": 1, \"first_k_dense_replace\": 1, \"moe_layer_freq\": [0, 1, 0, 1, 1, 1, 0, 1]");
    assert_true(routed(&m) == 0xba);
    m = read_qwen("deepseek_v32", "\"kv_lora_rank\": 128, \"qk_nope_head_dim\": 32, \"qk_rope_head_dim\": 16, \"v_head_dim\": 32,"
                                  "\"max_position_embeddings\": 4096, \"n_routed_experts\": 8, \"index_topk\": 512");
    assert_true(m.latent.index_heads == 64 && m.latent.index_dim == 128 && m.latent.index_topk == 512 && m.latent.q_rank == 1536);
    m = read_qwen("deepseek_v3", LATENT "\"n_shared_experts\": 1"); /* three dense layers, as the class has */
    assert_true(routed(&m) == 0xf8);
    m = read_qwen("glm4_moe_lite", LATENT "\"n_shared_experts\": 1, \"mlp_layer_types\": [\"dense\", \"dense\", \"sparse\","
                                          "\"sparse\", \"sparse\", \"sparse\", \"sparse\", \"sparse\"]");
    assert_true(routed(&m) == 0xfc);
    m = read_qwen("qwen3_moe", "\"decoder_sparse_step\": 2, \"mlp_only_layers\": [3]");
    assert_true(routed(&m) == 0xa2);
    m = read_qwen("qwen3_moe", "\"decoder_sparse_step\": 1, \"mlp_only_layers\": null");
    assert_true(routed(&m) == 0xff && m.ffn == 0);
#undef LATENT
}

/* The keys of GLM-5.2's file, by which 21 of 78 layers have an indexer, are the entry of the catalog. */
static void llms__of_glm_5_2_have_indexers_in_21_layers(void **state)
{
    (void)state;
    static const char keys[] =
        "{\"model_type\": \"glm_moe_dsa\", \"num_hidden_layers\": 78, \"hidden_size\": 6144, \"vocab_size\": 154880,"
        "\"num_attention_heads\": 64, \"intermediate_size\": 12288, \"max_position_embeddings\": 1048576, \"q_lora_rank\": 2048,"
        "\"kv_lora_rank\": 512, \"qk_nope_head_dim\": 192, \"qk_rope_head_dim\": 64, \"v_head_dim\": 256, \"index_n_heads\": 32,"
        "\"index_head_dim\": 128, \"index_topk\": 2048, \"index_topk_freq\": 4, \"index_skip_topk_offset\": 3,"
        "\"n_routed_experts\": 256, \"n_shared_experts\": 1, \"num_experts_per_tok\": 8, \"moe_intermediate_size\": 2048,"
        "\"first_k_dense_replace\": 3,\"num_nextn_predict_layers\": 1, \"head_dim\": 192, \"index_share_for_mtp_iteration\": true}";
    char *dir = scratch_new(), *path = xasprintf("%s/config.json", dir);
    struct diags diags;
    struct llm_said said;
    struct dse_llm m;
    struct dse_llm_counts ours, theirs;
    diags_init(&diags);
    llm_said_init(&said);
    scratch_write(dir, "config.json", keys);
    assert_true(llm_import(path, NULL, false, &m, &said, &diags));
    dse_llm_count(&m, &ours);
    dse_llm_count(find("glm-5.2"), &theirs);
    assert_memory_equal(&ours, &theirs, sizeof ours);
    assert_int_equal(ours.index_elements, 21 * 128);
    for (int64_t i = 0; i < m.layers; i++)
        assert_int_equal(dse_llm_layer(&m, i)->attention, dse_llm_layer(find("glm-5.2"), i)->attention);
    const double ops = 2 * (double)dse_llm_macs(&m, m.max_context, DSE_LATENT_ABSORBED);
    assert_true(ops > 283.1e9 && ops < 283.3e9); /* of the longest context; 773.9e9 with 78 indexers */
    llm_said_release(&said);
    diags_release(&diags);
    free(path);
    scratch_remove(dir);
}

static struct dse_llm like(const char *name)
{
    return *find(name);
}

static void llms__that_do_not_fit_together_are_refused(void **state)
{
    (void)state;
    struct dse_llm bad = like("gpt-oss-120b");
    bad.attention = (struct dse_pattern){.n = 5};
    assert_string_equal(dse_llm_resolve(&bad),
                        "attention has 5 names, which do not cover 36 layers: all of them, or a number that divides it");
    bad = like("gpt-oss-120b");
    bad.attention_window = 0;
    assert_string_equal(dse_llm_resolve(&bad), "attention to a window or a chunk needs attention_window");
    bad = like("mixtral-8x7b");
    bad.moe.experts_active = 9;
    assert_string_equal(dse_llm_resolve(&bad), "experts_active is greater than experts");
    bad = like("deepseek-v3");
    bad.latent.nope_dim = 0;
    assert_string_equal(dse_llm_resolve(&bad), "latent attention needs heads, kv_rank, nope_dim, rope_dim and v_head_dim");
    bad = like("deepseek-v3");
    bad.dense_layers = 62;
    assert_string_equal(dse_llm_resolve(&bad), "dense_layers is greater than layers");
    bad = like("llama2-7b");
    bad.formats.bits[DSE_WEIGHTS_EXPERTS] = 4;
    assert_string_equal(dse_llm_resolve(&bad), "the LLM has no weights of this class: experts_bits, experts_scale_bits");
    bad = like("llama2-7b");
    bad.ffn = 0;
    assert_string_equal(dse_llm_resolve(&bad), "a dense feed-forward network needs ffn");
}

/* More experts active use more weights, and a window never keeps or sees more than full attention. */
static void llms__grow_with_what_they_are_made_of(void **state)
{
    (void)state;
    struct dse_llm more = like("mixtral-8x7b");
    struct dse_llm_counts a, b;
    dse_llm_count(&more, &a);
    more.moe.experts_active++;
    assert_null(dse_llm_resolve(&more));
    dse_llm_count(&more, &b);
    assert_true(b.params == a.params && b.params_active > a.params_active && b.linear_macs > a.linear_macs);

    struct dse_llm full = like("gpt-oss-120b"), window = full;
    full.attention.n = 0;
    assert_null(dse_llm_resolve(&full));
    for (int64_t n = 1; n <= 131072; n *= 2) {
        const bool inside = n <= window.attention_window;
        const int64_t kept = dse_llm_kv_elements(&window, n), all = dse_llm_kv_elements(&full, n);
        assert_true(inside ? kept == all : kept < all);
        const int64_t macs = dse_llm_macs(&window, n, DSE_LATENT_ABSORBED), most = dse_llm_macs(&full, n, DSE_LATENT_ABSORBED);
        assert_true(inside ? macs == most : macs < most);
    }
}

/* The totals of their indexes. */
static void llms__have_the_bytes_of_their_checkpoints(void **state)
{
    (void)state;
    const struct {
        const char *name;
        double bytes;
    } released[] = {{"gpt-oss-120b", 65248815744}, {"gpt-oss-20b", 13761264768}};
    for (size_t i = 0; i < sizeof released / sizeof *released; i++) {
        const struct dse_llm *m = (const struct dse_llm *)(const void *)catalog_find(catalog, DSE_KIND_LLM, released[i].name);
        assert_float_equal(dse_llm_checkpoint_bytes(m), released[i].bytes, 0);
    }
    const struct dse_llm *dense = (const struct dse_llm *)(const void *)catalog_find(catalog, DSE_KIND_LLM, "llama3.1-8b");
    assert_float_equal(dse_llm_checkpoint_bytes(dense), 16060522496, 0); /* 16 bits in all */
}

struct sums {
    const struct dse_llm *llm;
    int64_t of[DSE_WEIGHT_CLASSES];
};

static void add_matrix(void *arg, const struct dse_llm_matrix *m)
{
    struct sums *sums = (struct sums *)arg;
    sums->of[m->class] += (m->kind < 0 ? 1 : sums->llm->kinds[m->kind].layers) * m->times * m->rows * m->columns;
}

/* Matrices one by one have as many elements as those of a class together. */
static void llms__have_matrices_whose_sums_are_counted(void **state)
{
    (void)state;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        const struct dse_llm *llm = (const struct dse_llm *)(const void *)e;
        struct sums sums = {.llm = llm};
        struct dse_llm_counts n;
        dse_llm_count(llm, &n);
        dse_llm_each_matrix(llm, add_matrix, &sums);
        for (int c = 0; c < DSE_WEIGHTS_OTHER; c++)
            if (sums.of[c] != n.matrices[c])
                fail_msg("%s, %s: %lld, not %lld", e->name, dse_weight_class_names[c], (long long)sums.of[c],
                         (long long)n.matrices[c]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llms__have_matrices_whose_sums_are_counted),
        cmocka_unit_test(llms__count_what_an_independent_program_counts),
        cmocka_unit_test(llms__of_a_configuration_are_those_of_the_catalog),
        cmocka_unit_test(llms__of_qwen_have_windows_in_their_last_layers),
        cmocka_unit_test(llms__of_configurations_that_leave_out_defaults),
        cmocka_unit_test(llms__of_a_configuration_have_experts_where_it_says),
        cmocka_unit_test(llms__of_glm_5_2_have_indexers_in_21_layers),
        cmocka_unit_test(llms__that_do_not_fit_together_are_refused),
        cmocka_unit_test(llms__grow_with_what_they_are_made_of),
        cmocka_unit_test(llms__have_the_bytes_of_their_checkpoints),
    };
    struct diags diags;
    diags_init(&diags);
    catalog = catalog_open(&diags);
    int failed = catalog ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    catalog_free(catalog);
    diags_release(&diags);
    return failed;
}
