/* Headers of files of weights: LLMs of the catalog written as GGUF come back as they were, the bytes of a checkpoint are those of
 * its tensors, files that contradict the configuration are refused, and damaged ones do no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "config/catalog.h"
#include "config/llm_import.h"
#include "dse_config.h"
#include "scratch.h"

#include <dse/llm.h>
#include <math.h>

static struct catalog *catalog;
static char *dir;

static int set_up(void **state)
{
    (void)state;
    struct diags diags;
    diags_init(&diags);
    catalog = catalog_new(DSE_SOURCE_DATA, &diags);
    diags_release(&diags);
    dir = scratch_new();
    return catalog ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    catalog_free(catalog);
    scratch_remove(dir);
    return 0;
}

/* ---- bytes ----------------------------------------------------------------------------------------------------------------- */

struct bytes {
    unsigned char *at;
    size_t n, capacity;
};

static void put(struct bytes *b, const void *from, size_t n)
{
    while (b->n + n > b->capacity) {
        b->capacity = 2 * b->capacity + 1024;
        b->at = xrealloc(b->at, b->capacity, 1);
    }
    memcpy(b->at + b->n, from, n);
    b->n += n;
}

static void put_number(struct bytes *b, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++) put(b, &(unsigned char){(unsigned char)(v >> 8 * i)}, 1);
}

static void put_text(struct bytes *b, const char *s)
{
    put_number(b, strlen(s), 8);
    put(b, s, strlen(s));
}

static void write_bytes(const char *path, const unsigned char *from, size_t n)
{
    FILE *out = fopen(path, "wb");
    assert_true(out && fwrite(from, 1, n, out) == n && fclose(out) == 0);
}

/* ---- a GGUF ---------------------------------------------------------------------------------------------------------------- */

enum { F32 = 0, F16 = 1, Q8 = 8, Q4_K = 12, MXFP4 = 39 };
struct gguf {
    struct bytes pairs, tensors;
    uint64_t n_pairs, n_tensors;
    const char *architecture;
};

static void pair(struct gguf *g, const char *key, int64_t v)
{
    char *name = xasprintf("%s.%s", g->architecture, key);
    put_text(&g->pairs, name);
    put_number(&g->pairs, 4, 4);
    put_number(&g->pairs, (uint64_t)v, 4);
    g->n_pairs++;
    free(name);
}

static void tensor(struct gguf *g, int type, int64_t a, int64_t b, int64_t c, const char *fmt, int64_t layer)
{
    char name[64];
    snprintf(name, sizeof name, fmt, (long)layer);
    put_text(&g->tensors, name);
    put_number(&g->tensors, 3, 4);
    put_number(&g->tensors, (uint64_t)a, 8);
    put_number(&g->tensors, (uint64_t)b, 8);
    put_number(&g->tensors, (uint64_t)c, 8);
    put_number(&g->tensors, (uint64_t)type, 4);
    put_number(&g->tensors, 0, 8);
    g->n_tensors++;
}

static void begin(struct gguf *g, const char *architecture, const struct dse_llm *m)
{
    enum { TOKENS = 9 };
    *g = (struct gguf){.architecture = architecture};
    put_text(&g->pairs, "general.architecture");
    put_number(&g->pairs, 8, 4);
    put_text(&g->pairs, architecture);
    put_text(&g->pairs, "tokenizer.ggml.tokens"); /* a list of texts, and one of numbers */
    put_number(&g->pairs, 9, 4);
    put_number(&g->pairs, 8, 4);
    put_number(&g->pairs, TOKENS, 8);
    for (int i = 0; i < TOKENS; i++) put_text(&g->pairs, "token");
    put_text(&g->pairs, "tokenizer.ggml.scores");
    put_number(&g->pairs, 9, 4);
    put_number(&g->pairs, 6, 4);
    put_number(&g->pairs, TOKENS, 8);
    for (int i = 0; i < TOKENS; i++) put_number(&g->pairs, 0, 4);
    g->n_pairs = 3;
    pair(g, "block_count", m->layers);
    pair(g, "embedding_length", m->hidden);
    pair(g, "context_length", m->max_context);
    pair(g, "vocab_size", m->vocab);
    pair(g, "attention.head_count", m->heads);
    pair(g, "feed_forward_length", m->ffn ? m->ffn : m->moe.expert_ffn);
    tensor(g, Q8, m->hidden, m->vocab, 1, "token_embd.weight", 0);
    if (m->embedding_tables > 1) tensor(g, F16, m->hidden, m->vocab, 1, "output.weight", 0);
    tensor(g, F32, m->hidden, 1, 1, "output_norm.weight", 0);
}

static char *end(struct gguf *g, const char *name)
{
    struct bytes all = {0};
    char *path = xasprintf("%s/%s", dir, name);
    put(&all, "GGUF", 4);
    put_number(&all, 3, 4);
    put_number(&all, g->n_tensors, 8);
    put_number(&all, g->n_pairs, 8);
    put(&all, g->pairs.at, g->pairs.n);
    put(&all, g->tensors.at, g->tensors.n);
    write_bytes(path, all.at, all.n);
    free(all.at);
    free(g->pairs.at);
    free(g->tensors.at);
    return path;
}

static void grouped(struct gguf *g, const struct dse_llm *m)
{
    const int64_t q = m->heads * m->head_dim, kv = m->kv_heads * m->head_dim;
    pair(g, "attention.head_count_kv", m->kv_heads);
    pair(g, "attention.key_length", m->head_dim);
    pair(g, "attention.value_length", m->head_dim);
    if (m->attention_window) pair(g, "attention.sliding_window", m->attention_window);
    for (int64_t i = 0; i < m->layers; i++) {
        tensor(g, F32, m->hidden, 1, 1, "blk.%ld.attn_norm.weight", i);
        tensor(g, Q4_K, m->hidden, q, 1, "blk.%ld.attn_q.weight", i);
        tensor(g, Q4_K, m->hidden, kv, 1, "blk.%ld.attn_k.weight", i);
        tensor(g, Q4_K, m->hidden, kv, 1, "blk.%ld.attn_v.weight", i);
        tensor(g, Q4_K, q, m->hidden, 1, "blk.%ld.attn_output.weight", i);
    }
}

static void latent(struct gguf *g, const struct dse_llm *m)
{
    const struct dse_llm_latent *l = &m->latent;
    pair(g, "attention.head_count_kv", 1);
    pair(g, "attention.q_lora_rank", l->q_rank);
    pair(g, "attention.kv_lora_rank", l->kv_rank);
    pair(g, "attention.key_length", l->kv_rank + l->rope_dim);
    pair(g, "attention.value_length", l->kv_rank);
    pair(g, "attention.key_length_mla", l->nope_dim + l->rope_dim);
    pair(g, "attention.value_length_mla", l->v_head_dim);
    pair(g, "rope.dimension_count", l->rope_dim);
    for (int64_t i = 0; i < m->layers; i++) {
        tensor(g, Q8, m->hidden, l->q_rank, 1, "blk.%ld.attn_q_a.weight", i);
        tensor(g, Q8, l->q_rank, m->heads * (l->nope_dim + l->rope_dim), 1, "blk.%ld.attn_q_b.weight", i);
        tensor(g, Q8, m->hidden, l->kv_rank + l->rope_dim, 1, "blk.%ld.attn_kv_a_mqa.weight", i);
        tensor(g, Q8, l->nope_dim, l->kv_rank, m->heads, "blk.%ld.attn_k_b.weight", i);
        tensor(g, Q8, l->kv_rank, l->v_head_dim, m->heads, "blk.%ld.attn_v_b.weight", i);
        tensor(g, Q8, m->heads * l->v_head_dim, m->hidden, 1, "blk.%ld.attn_output.weight", i);
    }
}

static void dense(struct gguf *g, const struct dse_llm *m, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) {
        tensor(g, Q4_K, m->hidden, m->ffn, 1, "blk.%ld.ffn_gate.weight", i);
        tensor(g, Q4_K, m->hidden, m->ffn, 1, "blk.%ld.ffn_up.weight", i);
        tensor(g, Q4_K, m->ffn, m->hidden, 1, "blk.%ld.ffn_down.weight", i);
    }
}

static void experts(struct gguf *g, const struct dse_llm *m, int64_t from)
{
    const struct dse_llm_experts *e = &m->moe;
    pair(g, "expert_count", e->experts);
    pair(g, "expert_used_count", e->experts_active);
    pair(g, "expert_feed_forward_length", e->expert_ffn);
    if (e->shared_ffn) pair(g, "expert_shared_count", e->shared_ffn / e->expert_ffn);
    for (int64_t i = from; i < m->layers; i++) {
        tensor(g, F32, m->hidden, e->experts, 1, "blk.%ld.ffn_gate_inp.weight", i);
        tensor(g, MXFP4, m->hidden, e->expert_ffn, e->experts, "blk.%ld.ffn_gate_exps.weight", i);
        tensor(g, MXFP4, m->hidden, e->expert_ffn, e->experts, "blk.%ld.ffn_up_exps.weight", i);
        tensor(g, MXFP4, e->expert_ffn, m->hidden, e->experts, "blk.%ld.ffn_down_exps.weight", i);
        if (!e->shared_ffn) continue;
        tensor(g, Q8, m->hidden, e->shared_ffn, 1, "blk.%ld.ffn_gate_shexp.weight", i);
        tensor(g, Q8, m->hidden, e->shared_ffn, 1, "blk.%ld.ffn_up_shexp.weight", i);
        tensor(g, Q8, e->shared_ffn, m->hidden, 1, "blk.%ld.ffn_down_shexp.weight", i);
    }
}

/* ---- what comes of it ------------------------------------------------------------------------------------------------------ */

struct answer {
    bool ok;
    struct dse_llm llm;
    struct llm_said said;
    char *error;
};

static void ask(const char *path, const char *weights, bool approximate, struct answer *a)
{
    struct diags diags;
    struct text error;
    *a = (struct answer){0};
    diags_init(&diags);
    text_init(&error);
    llm_said_init(&a->said);
    a->ok = llm_import(path, weights, approximate, &a->llm, &a->said, &diags);
    for (size_t i = 0; i < diags.n; i++) text_addf(&error, "%s\n", diags.list[i].message);
    a->error = text_detach(&error);
    diags_release(&diags);
}

static void release(struct answer *a)
{
    llm_said_release(&a->said);
    free(a->error);
}

static const struct dse_llm *find(const char *name)
{
    const struct dse_entry *e = catalog_find(catalog, DSE_KIND_LLM, name);
    if (!e) fail_msg("no LLM %s", name);
    return (const struct dse_llm *)(const void *)e;
}

static void says(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("\"%s\" is not in \"%s\"", part, text);
}

static char *gguf_of(const char *name, const char *architecture, bool sigmoid)
{
    const struct dse_llm *m = find(name);
    const int64_t first = m->moe.experts == 0 ? m->layers : m->ffn ? 3 : 0; /* with experts; of DeepSeek-V3 */
    struct gguf g;
    begin(&g, architecture, m);
    if (m->latent.kv_rank)
        latent(&g, m);
    else
        grouped(&g, m);
    if (sigmoid) pair(&g, "expert_gating_func", 2);
    if (m->moe.experts && m->ffn) pair(&g, "leading_dense_block_count", first);
    if (m->ffn) dense(&g, m, 0, first);
    if (m->moe.experts) experts(&g, m, first);
    return end(&g, "some.gguf");
}

static void gguf__of_an_llm_of_the_catalog_is_that_llm(void **state)
{
    (void)state;
    static const struct {
        const char *llm, *architecture;
        bool sigmoid;
        double attention, experts;
    } all[] = {{"llama3.1-8b", "llama", false, 4.5, 0},
               {"mixtral-8x7b", "llama", false, 4.5, 4.25},
               {"qwen3-8b", "qwen3", false, 4.5, 0},
               {"qwen2.5-7b", "qwen2", false, 4.5, 0},
               {"qwen3-30b-a3b", "qwen3moe", false, 4.5, 4.25},
               {"gpt-oss-20b", "gpt-oss", false, 4.5, 4.25},
               {"phi-3-mini-4k", "phi3", false, 4.5, 0},
               {"gemma2-9b", "gemma2", false, 4.5, 0},
               {"gemma3-12b", "gemma3", false, 4.5, 0},
               {"deepseek-v3", "deepseek2", true, 8.5, 4.25}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct answer a;
        struct dse_llm_counts is, was;
        char *path = gguf_of(all[i].llm, all[i].architecture, all[i].sigmoid);
        ask(path, NULL, false, &a);
        if (!a.ok) fail_msg("%s: %s", all[i].llm, a.error);
        dse_llm_count(&a.llm, &is);
        dse_llm_count(find(all[i].llm), &was);
        if (is.params - is.params_small != was.params - was.params_small || is.kv_elements != was.kv_elements)
            fail_msg("%s: %lld parameters", all[i].llm, (long long)is.params);
        assert_int_equal(a.llm.max_context, find(all[i].llm)->max_context);
        assert_int_equal(a.llm.attention_window, find(all[i].llm)->attention_window);
        assert_float_equal(a.llm.formats.bits[DSE_WEIGHTS_ATTENTION], all[i].attention, 0);
        if (all[i].experts > 0) {
            assert_float_equal(a.llm.formats.bits[DSE_WEIGHTS_EXPERTS], all[i].experts, 0);
            assert_float_equal(a.llm.formats.bits[DSE_WEIGHTS_ROUTER], 32, 0);
        }
        assert_float_equal(a.llm.formats.bits[DSE_WEIGHTS_TABLES], 8.5, 0);
        assert_true(isnan(a.llm.formats.bits[DSE_WEIGHTS_HEAD])); /* 16, as without the key */
        release(&a);
        free(path);
    }
}

static void gguf__that_contradicts_itself_is_refused(void **state)
{
    (void)state;
    struct dse_llm wrong = *find("llama3.1-8b");
    struct answer a;
    struct gguf g;
    wrong.ffn = 14000;
    begin(&g, "llama", &wrong);
    grouped(&g, &wrong);
    dense(&g, find("llama3.1-8b"), 0, wrong.layers);
    char *path = end(&g, "wrong.gguf");
    ask(path, NULL, false, &a);
    assert_false(a.ok);
    says(a.error, "weights of class dense: 5637144576 in the tensors, 5505024000 by the configuration");
    release(&a);
    ask(path, NULL, true, &a);
    assert_true(a.ok && a.llm.details.approximate);
    release(&a);
    wrong = *find("llama3.2-1b");
    wrong.attention_window = 4096; /* which dse does not know of llama */
    begin(&g, "llama", &wrong);
    grouped(&g, &wrong);
    dense(&g, &wrong, 0, wrong.layers);
    free(path);
    path = end(&g, "window.gguf");
    ask(path, NULL, false, &a);
    assert_false(a.ok);
    says(a.error, "which may change a number of the entry: attention.sliding_window");
    release(&a);
    begin(&g, "rwkv7", &wrong);
    free(path);
    path = end(&g, "unknown.gguf");
    ask(path, NULL, false, &a);
    assert_false(a.ok);
    says(a.error, "general.architecture: \"rwkv7\" of GGUF is not known");
    release(&a);
    free(path);
}

/* Cut at any place, and with bytes that are others. */
static void gguf__that_is_damaged_does_no_harm(void **state)
{
    (void)state;
    enum { FLIPS = 1500, CUTS = 300 };
    struct dse_llm small = *find("llama3.2-1b");
    struct gguf g;
    small.layers = 2;
    begin(&g, "llama", &small);
    grouped(&g, &small);
    dense(&g, &small, 0, 2);
    char *path = end(&g, "sound.gguf"), *hurt = xasprintf("%s/hurt.gguf", dir);
    FILE *in = fopen(path, "rb");
    unsigned char sound[8192], other[8192];
    assert_non_null(in);
    const size_t n = fread(sound, 1, sizeof sound, in);
    fclose(in);
    assert_true(n > 1000 && n < sizeof sound);
    uint64_t seed = 1;
    int refused = 0;
    for (int i = 0; i < FLIPS + CUTS; i++) {
        struct answer a;
        memcpy(other, sound, n);
        for (int k = 0; k < 3 && i < FLIPS; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            other[(seed >> 33) % n] = (unsigned char)(seed >> 25);
        }
        write_bytes(hurt, other, i < FLIPS ? n : n * (size_t)(i - FLIPS) / CUTS);
        ask(hurt, NULL, i % 2, &a);
        refused += !a.ok;
        assert_true(a.ok || a.error[0] || i >= FLIPS);
        release(&a);
    }
    assert_true(refused > CUTS);
    free(path);
    free(hurt);
}

/* ---- .safetensors ---------------------------------------------------------------------------------------------------------- */

/* A config.json, and beside it a file that has nothing but a header. */
static char *write_checkpoint(const char *config, const char *header)
{
    struct bytes b = {0};
    char *path = xasprintf("%s/model.safetensors", dir);
    put_number(&b, strlen(header), 8);
    put(&b, header, strlen(header));
    write_bytes(path, b.at, b.n);
    free(b.at);
    free(path);
    scratch_write(dir, "config.json", config);
    return xasprintf("%s/config.json", dir);
}

static void add(struct text *t, uint64_t *at, const char *name, const char *type, int64_t a, int64_t b, int64_t each)
{
    text_addf(t, "%s\"%s\": {\"dtype\": \"%s\", \"shape\": [%lld, %lld], \"data_offsets\": [%llu, ", t->n > 1 ? ", " : "", name,
              type, (long long)a, (long long)b, (unsigned long long)*at);
    *at += (uint64_t)(a * b * each);
    text_addf(t, "%llu]}", (unsigned long long)*at);
}

#define CONFIG(more) \
    "{\"model_type\": \"llama\", \"hidden_size\": 200, \"num_attention_heads\": 4, \"num_key_value_heads\": 4, " \
    "\"num_hidden_layers\": 1, \"intermediate_size\": 300, \"vocab_size\": 1000, " \
    "\"max_position_embeddings\": 4096, \"tie_word_embeddings\": false" more "}"

/* One layer of width 200 and 300 in fp8: blocks of 128 x 128, of which two do not fill a matrix, have a scale of 32 bits each. */
static uint64_t add_layer(struct text *t, uint64_t *at)
{
    static const struct {
        const char *name;
        int64_t out, in;
    } all[] = {{"self_attn.q_proj", 200, 200}, {"self_attn.k_proj", 200, 200}, {"self_attn.v_proj", 200, 200},
               {"self_attn.o_proj", 200, 200}, {"mlp.gate_proj", 300, 200},    {"mlp.up_proj", 300, 200},
               {"mlp.down_proj", 200, 300}};
    uint64_t scales = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const int64_t rows = (all[i].out + 127) / 128, columns = (all[i].in + 127) / 128;
        char *name = xasprintf("model.layers.0.%s.weight", all[i].name), *scale = xasprintf("%s_scale_inv", name);
        add(t, at, name, "F8_E4M3", all[i].out, all[i].in, 1);
        add(t, at, scale, "F32", rows, columns, 4);
        scales += (uint64_t)(rows * columns * 4);
        free(name);
        free(scale);
    }
    add(t, at, "lm_head.weight", "BF16", 1000, 200, 2);
    add(t, at, "model.embed_tokens.weight", "BF16", 1000, 200, 2);
    add(t, at, "model.norm.weight", "BF16", 200, 1, 2);
    add(t, at, "model.layers.0.input_layernorm.weight", "BF16", 200, 1, 2);
    add(t, at, "model.layers.0.post_attention_layernorm.weight", "BF16", 200, 1, 2);
    return scales;
}

static void safetensors__say_the_bytes_of_the_checkpoint(void **state)
{
    (void)state;
    struct text t;
    struct answer a;
    uint64_t at = 0;
    text_init(&t);
    text_add(&t, "{");
    const uint64_t scales = add_layer(&t, &at), of_llm = at;
    add(&t, &at, "visual.patch.weight", "BF16", 10, 10, 2);
    add(&t, &at, "model.layers.1.mlp.up_proj.weight", "BF16", 10, 10, 2); /* a layer that drafts */
    text_add(&t, "}");
    char *path = write_checkpoint(CONFIG(""), t.s), *line = xasprintf("checkpoint: %llu bytes", (unsigned long long)of_llm);
    ask(path, NULL, false, &a);
    if (!a.ok) fail_msg("%s", a.error);
    assert_true(fabs(dse_llm_checkpoint_bytes(&a.llm) - (double)of_llm) < 0.01);
    assert_float_equal(a.llm.formats.bits[DSE_WEIGHTS_DENSE], 8, 0);
    assert_true(scales == 4 * 4 * 4 + 3 * 6 * 4);
    assert_float_equal(a.llm.formats.scale_bits[DSE_WEIGHTS_DENSE], 8.0 * 72 / 180000, 1e-15);
    says(a.said.formats.s, line);
    says(a.said.formats.s,
         "not counted: visual.patch: 1 tensors of 200 bytes\nnot counted: model.layers.1.mlp: 1 tensors of 200 bytes\n");
    assert_null(strstr(a.said.formats.s, "than counted"));
    release(&a);
    scratch_write(dir, "model.safetensors.index.json", "{\"weight_map\": {\"x\": \"model-00001-of-00002.safetensors\"}}");
    ask(path, NULL, false, &a); /* the files of the index are not there */
    assert_true(a.ok && !strstr(a.said.formats.s, "tensors:"));
    release(&a);
    char *index = xasprintf("%s/model.safetensors.index.json", dir);
    assert_int_equal(remove(index), 0);
    free(index);
    free(line);
    free(path);
    text_release(&t);
}

static void safetensors__that_are_wrong_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header, *error;
    } all[] = {{"[]", "no .safetensors: its header is no object"},
               {"{\"x\": {\"dtype\": \"F16\", \"shape\": [1], \"data_offsets\": [4, 2]}}",
                "tensor \"x\" needs dtype, shape and data_offsets"},
               {"{\"x\": 1}", "tensor \"x\" needs dtype, shape and data_offsets"},
               {"{\"model.embed_tokens.weight\": {\"dtype\": \"F16\", \"shape\": [999, 200], \"data_offsets\": [0, 399600]}}",
                "weights of class attention: 0 in the tensors, 160000 by the configuration"},
               {"{\"model.layers.0.self_attn.o_proj.weight\": {\"dtype\": \"F16\", \"shape\": [200, 100], \"data_offsets\": "
                "[0, 40000]}}",
                "by the configuration: model.layers.0.self_attn.o_proj.weight has 20000, not 200 x 200"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct answer a;
        char *path = write_checkpoint(CONFIG(""), all[i].header);
        ask(path, NULL, false, &a);
        assert_false(a.ok);
        says(a.error, all[i].error);
        release(&a);
        free(path);
    }
    struct answer a;
    char *path = write_checkpoint(CONFIG(""), "{}");
    ask(path, path, false, &a); /* a config.json is no file of weights */
    assert_false(a.ok);
    says(a.error, "no .safetensors");
    release(&a);
    free(path);
}

/* ---- params.json ----------------------------------------------------------------------------------------------------------- */

static void params__of_mistral_and_meta_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t params, ffn;
        const char *error;
    } all[] = {
        {"{\"dim\": 4096, \"n_layers\": 32, \"head_dim\": 128, \"hidden_dim\": 14336, \"n_heads\": 32, \"n_kv_heads\": 8, "
         "\"norm_eps\": 1e-5, \"vocab_size\": 32768, \"rope_theta\": 1e6}",
         7248023552, 14336, NULL}, /* Mistral-7B-v0.3: 7.25 billion */
        {"{\"dim\": 4096, \"n_layers\": 32, \"n_heads\": 32, \"n_kv_heads\": 8, \"vocab_size\": 128256, \"multiple_of\": 1024, "
         "\"ffn_dim_multiplier\": 1.3, \"norm_eps\": 1e-5, \"rope_theta\": 5e5, \"use_scaled_rope\": true}",
         8030261248, 14336, NULL}, /* Llama-3.1-8B */
        {"{\"dim\": 6144, \"n_layers\": 56, \"head_dim\": 128, \"hidden_dim\": 16384, \"n_heads\": 48, \"n_kv_heads\": 8, "
         "\"norm_eps\": 1e-5, \"vocab_size\": 32768, \"moe\": {\"num_experts_per_tok\": 2, \"num_experts\": 8}}",
         140630071296, 0, NULL}, /* Mixtral-8x22B-v0.3 */
        {"{\"dim\": 4096, \"n_layers\": 32, \"head_dim\": 128, \"hidden_dim\": 14336, \"n_heads\": 32, \"n_kv_heads\": 8, "
         "\"vocab_size\": 32768, \"n_new_things\": 3}",
         0, 0, "n_new_things"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct answer a;
        struct dse_llm_counts n;
        scratch_write(dir, "params.json", all[i].text);
        char *path = xasprintf("%s/params.json", dir);
        ask(path, NULL, false, &a);
        if (a.ok != !all[i].error) fail_msg("%s: %s", all[i].text, a.error);
        if (a.ok) {
            dse_llm_count(&a.llm, &n);
            assert_int_equal(n.params, all[i].params);
            assert_int_equal(a.llm.ffn, all[i].ffn);
            assert_int_equal(a.llm.attention_window, 0);
        } else {
            says(a.error, all[i].error);
        }
        release(&a);
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gguf__of_an_llm_of_the_catalog_is_that_llm),
        cmocka_unit_test(gguf__that_contradicts_itself_is_refused),
        cmocka_unit_test(gguf__that_is_damaged_does_no_harm),
        cmocka_unit_test(safetensors__say_the_bytes_of_the_checkpoint),
        cmocka_unit_test(safetensors__that_are_wrong_are_refused),
        cmocka_unit_test(params__of_mistral_and_meta_are_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
