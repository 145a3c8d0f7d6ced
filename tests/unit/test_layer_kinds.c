/* LLMs whose layers are of several kinds: against counts by hand, and through a file and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "config/catalog.h"
#include "config/llm_import.h"
#include "dse_config.h"
#include "scratch.h"

#include <dse/llm.h>
#include <dse/workload.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct catalog *catalog;

static int set_up(void **state)
{
    (void)state;
    struct diags diags;
    diags_init(&diags);
    catalog = catalog_new(DSE_SOURCE_DATA, &diags);
    diags_release(&diags);
    return catalog ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    catalog_free(catalog);
    return 0;
}

static const struct dse_llm *find(const char *name)
{
    const struct dse_entry *e = catalog_find(catalog, DSE_KIND_LLM, name);
    if (!e) fail_msg("no LLM %s", name);
    return (const struct dse_llm *)(const void *)e;
}

static void import(const char *path, struct dse_llm *ret, struct llm_said *said)
{
    struct diags diags;
    diags_init(&diags);
    llm_said_init(said);
    if (!llm_import(path, NULL, false, ret, said, &diags)) {
        diags_print(&diags, stderr, false);
        fail_msg("%s is refused", path);
    }
    diags_release(&diags);
}

/* MiMo-V2 in small: one layer sees everything, five have a window, two KV heads and sinks. Keys have 48 elements, values 32. */
static void counts__of_two_kinds_are_those_by_hand(void **state)
{
    (void)state;
    enum { HIDDEN = 512, HEADS = 8, KEY = 48, VALUE = 32, FFN = 16384, VOCAB = 1000, WINDOWS = 5, WINDOW = 128, LAYERS = 6 };
    struct dse_llm m;
    struct dse_llm_counts c;
    struct llm_said said;
    import(DSE_SOURCE_DATA "/tests/data/llms/cases/per_kind_heads.json", &m, &said);
    dse_llm_count(&m, &c);
    const int64_t full = HIDDEN * (HEADS * KEY + KEY + VALUE) + HEADS * VALUE * HIDDEN,
                  window = HIDDEN * (HEADS * KEY + 2 * (KEY + VALUE)) + HEADS * VALUE * HIDDEN;
    const int64_t matrices = full + WINDOWS * window + LAYERS * 3 * HIDDEN * FFN;
    const int64_t norms = (2 * LAYERS + 1) * HIDDEN, sinks = WINDOWS * HEADS, tables = 2 * VOCAB * HIDDEN;
    assert_int_equal(c.params, matrices + norms + sinks + tables);
    assert_int_equal(c.kv_elements, KEY + VALUE);
    assert_int_equal(c.kv_window_elements, WINDOWS * 2 * (KEY + VALUE));
    const int64_t far = 1000, scores = HEADS * (KEY + VALUE) * (far + WINDOWS * WINDOW);
    assert_int_equal(dse_llm_macs(&m, far, DSE_LATENT_ABSORBED), matrices + VOCAB * HIDDEN + scores);
    llm_said_release(&said);
}

/* The multiply-adds of a token that stand in matrices, and the weights of experts that one chip holds, of a list of operators. */
static void sum_operators(const struct dse_llm *m, int64_t groups, double *ret_macs, double *ret_held)
{
    const struct dse_workload w = {.llm = m,
                                   .batch = 1,
                                   .context = 100,
                                   .data_parallel = groups,
                                   .expert_parallel = groups,
                                   .weight_bits = 16,
                                   .kv_bits = 16,
                                   .activation_bits = 16};
    static struct dse_oplist list;
    dse_workload_expand(&w, &list);
    *ret_macs = *ret_held = 0;
    for (int i = 0; i < list.n; i++) {
        const struct dse_op *op = &list.op[i];
        const bool routed = op->role == DSE_ROLE_EXPERT_UP || op->role == DSE_ROLE_EXPERT_DOWN;
        assert_true((op->choice.routed > 0) == routed && (op->choice.chosen > 0) == routed);
        if (op->kind == DSE_OP_LINEAR) *ret_macs += op->ops / 2;
        if (routed) *ret_held += op->held_bytes / 2;
    }
}

/* gpt-oss-puzzle in small: 16, 12, 16 and 8 experts, of which a token chooses two, and three of the last. */
static void experts__of_unequal_numbers_are_those_by_hand(void **state)
{
    (void)state;
    enum { HIDDEN = 256, HEADS = 8, HEAD = 64, KV = 2, FFN = 512, LAST_FFN = 384, VOCAB = 1000, LAYERS = 4 };
    struct dse_llm m;
    struct dse_llm_counts c;
    struct llm_said said;
    double macs, held, part, share;
    import(DSE_SOURCE_DATA "/tests/data/llms/cases/unequal_experts.json", &m, &said);
    dse_llm_count(&m, &c);
    const int64_t one = 3 * HIDDEN * FFN, last = 3 * HIDDEN * LAST_FFN, biases = 2 * FFN + HIDDEN,
                  last_biases = 2 * LAST_FFN + HIDDEN;
    const int64_t attention = HIDDEN * (HEADS + 2 * KV) * HEAD + HEADS * HEAD * HIDDEN, routers = (16 + 12 + 16 + 8) * HIDDEN;
    const int64_t routed = (16 + 12 + 16) * (one + biases) + 8 * (last + last_biases);
    const int64_t used = 3 * 2 * (one + biases) + 3 * (last + last_biases);
    const int64_t small = LAYERS * ((HEADS + 2 * KV) * HEAD + HIDDEN + HEADS + 2 * HIDDEN) + 16 + 12 + 16 + 8 + HIDDEN;
    assert_int_equal(c.params_routed, routed);
    assert_int_equal(c.params, LAYERS * attention + routers + routed + small + 2 * VOCAB * HIDDEN);
    assert_int_equal(c.params_active, LAYERS * attention + routers + used + small + VOCAB * HIDDEN);
    assert_int_equal(dse_llm_fewest_experts(&m), 8);
    assert_int_equal(c.kv_elements, 2 * 2 * KV * HEAD);
    sum_operators(&m, 1, &macs, &held);
    assert_true(macs == (double)c.linear_macs && held == (double)c.matrices[DSE_WEIGHTS_EXPERTS]);
    sum_operators(&m, 4, &part, &share); /* four chips: 4, 3, 4 and 2 experts of each layer */
    assert_true(share == held / 4);
    llm_said_release(&said);
}

/* Nemotron-H-Puzzle in small: widths and choices of three layers with experts, which share router and shared expert where they are
 * alike. */
static void experts__of_blocks_are_those_by_hand(void **state)
{
    (void)state;
    enum { HIDDEN = 512, LATENT = 128, SHARED = 640 };
    struct dse_llm m;
    struct dse_llm_counts c;
    struct llm_said said;
    double macs, held;
    import(DSE_SOURCE_DATA "/tests/data/llms/cases/blocks_of_experts.json", &m, &said);
    dse_llm_count(&m, &c);
    const int64_t routed = 2 * LATENT * (32 * 160 + 32 * 352 + 24 * 352), used = 2 * LATENT * (2 * 160 + 6 * 352 + 5 * 352);
    assert_int_equal(c.matrices[DSE_WEIGHTS_EXPERTS], routed);
    assert_int_equal(c.matrices[DSE_WEIGHTS_ROUTER], HIDDEN * (32 + 32 + 24));
    assert_int_equal(c.matrices[DSE_WEIGHTS_SHARED], 3 * (2 * HIDDEN * SHARED + 2 * HIDDEN * LATENT));
    assert_int_equal(c.params - c.params_active, routed - used + 1000 * HIDDEN);
    sum_operators(&m, 1, &macs, &held);
    assert_true(macs == (double)c.linear_macs && held == (double)routed);
    llm_said_release(&said);
}

/* Gemma 4 E2B: 20 of 35 layers read the cache of the last three full layers and twelve with windows before them. */
static void caches__that_are_shared_are_kept_once_and_read_by_all(void **state)
{
    (void)state;
    enum { FULL = 512, NARROW = 256, OWN_FULL = 3, OWN_WINDOWS = 12, ALL_FULL = 7, ALL_WINDOWS = 28, WINDOW = 512, CONTEXT = 4096 };
    const struct dse_llm *m = find("gemma4-e2b");
    struct dse_llm_counts c;
    dse_llm_count(m, &c);
    assert_int_equal(c.kv_elements, OWN_FULL * 2 * FULL);
    assert_int_equal(c.kv_window_elements, OWN_WINDOWS * 2 * NARROW);
    const struct dse_workload w = {
        .llm = m, .batch = 1, .context = CONTEXT, .weight_bits = 16, .kv_bits = 16, .activation_bits = 16};
    static struct dse_oplist list;
    double read = 0, written = 0;
    dse_workload_expand(&w, &list);
    for (int i = 0; i < list.n; i++) {
        read += list.op[i].kv_read_bytes;
        written += list.op[i].kv_write_bytes;
    }
    assert_true(read == 2. * 2 * (ALL_FULL * FULL * CONTEXT + ALL_WINDOWS * NARROW * WINDOW));
    assert_true(written == 2. * 2 * (OWN_FULL * FULL + OWN_WINDOWS * NARROW));
}

/* Gemma 3n: AltUp's four streams, a low rank beside attention, inputs of each layer, caches of the last layers shared. */
static void counts__of_gemma_3n_are_those_by_hand(void **state)
{
    (void)state;
    enum { H = 2048, HEAD = 256, HEADS = 8, KV = 2, WIDTH = 256, RANK = 64, STREAMS = 4, VOCAB = 262400, ROWS = 262144 };
    static const struct {
        const char *name;
        int64_t layers, ffn, shared;
        double published; /* llama-bench, in billions */
    } llms[] = {{"gemma3n-e2b", 30, 8192, 10, 4.46}, {"gemma3n-e4b", 35, 16384, 15, 6.87}};
    for (size_t i = 0; i < sizeof llms / sizeof *llms; i++) {
        const struct dse_llm *m = find(llms[i].name);
        const int64_t layers = llms[i].layers, keys = 2 * H * KV * HEAD, small = 2 * HEAD + 4 * H;
        const int64_t altup = H * STREAMS + STREAMS * STREAMS + STREAMS * STREAMS * STREAMS + 2 * H;
        const int64_t layer =
            2 * H * HEADS * HEAD + keys + small + 3 * H * llms[i].ffn + altup + 2 * H * RANK + H + 2 * H * WIDTH + H;
        const int64_t once = 2 * (STREAMS - 1) * H * H + H * layers * WIDTH + WIDTH + H, table = ROWS * layers * WIDTH;
        struct dse_llm_counts c;
        dse_llm_count(m, &c);
        assert_int_equal(c.params, layers * layer + once + table + VOCAB * H);
        assert_int_equal((int64_t)((double)c.params / 1e7 + 0.5), (int64_t)(llms[i].published * 100 + 0.5));
        assert_int_equal(c.params_idle, llms[i].shared * (keys + HEAD));
        assert_int_equal(c.params_active, c.params - table - c.params_idle);
        assert_int_equal(c.kv_elements + c.kv_window_elements, (layers - llms[i].shared) * 2 * KV * HEAD);
        double macs, held;
        sum_operators(m, 1, &macs, &held);
        assert_true(macs == (double)c.linear_macs);
    }
}

/* The widths of networks may be a list. */
static void configurations__of_gemma_3n_are_the_catalog_s(void **state)
{
    (void)state;
    struct dse_llm m;
    struct llm_said said;
    struct dse_llm_counts ours, theirs;
    import(DSE_SOURCE_DATA "/tests/data/llms/cases/gemma3n_e4b.json", &m, &said);
    dse_llm_count(&m, &ours);
    dse_llm_count(find("gemma3n-e4b"), &theirs);
    assert_memory_equal(&ours, &theirs, sizeof ours);
    llm_said_release(&said);
}

/* Llama 3.2 Vision 11B: eight of 40 layers are of cross attention. Its repository has 10,670,220,835 weights; what sees has
 * 863,567,379 of them, and the matrix behind it 31,461,376. */
static void layers__of_cross_attention_are_held_and_not_used(void **state)
{
    (void)state;
    enum { H = 4096, KV = 8 * 128, FFN = 14336, VOCAB = 128256, HEAD = 128, SELF = 32, CROSS = 8, ROWS = 8 };
    const int64_t all = 10670220835, seeing = 863567379 + 31461376;
    struct dse_llm m;
    struct llm_said said;
    struct dse_llm_counts c, llama;
    import(DSE_SOURCE_DATA "/tests/data/llms/cases/cross_attention.json", &m, &said);
    dse_llm_count(&m, &c);
    dse_llm_count(find("llama3.1-8b"), &llama);
    const int64_t layer = 2 * H * H + 2 * H * KV + 3 * H * FFN, cross = layer + 2 * H + 2 * HEAD + 2;
    assert_int_equal(c.params, SELF * (layer + 2 * H) + CROSS * cross + (2 * VOCAB + ROWS) * H + H);
    assert_int_equal(c.params, all - seeing);
    assert_int_equal(c.params_idle, CROSS * cross);
    assert_int_equal(c.params_active, llama.params_active); /* a text is that of Llama 3.1 8B */
    assert_int_equal(c.linear_macs, llama.linear_macs);
    struct dse_workload w = {.llm = &m, .batch = 1, .context = 1000, .weight_bits = 16, .kv_bits = 16, .activation_bits = 16};
    const double with = dse_workload_footprint(&w);
    w.llm = find("llama3.1-8b");
    assert_true(with - dse_workload_footprint(&w) == 2. * (double)(CROSS * layer + ROWS * H));
    llm_said_release(&said);
}

/* Kimi-K3: its tensors, added up by their shapes. As they are stored, with two weights of experts in a byte, a scale for each 32,
 * and with what sees (447,358,976), they are the 1,503,647,073,024 elements of its files. */
static void counts__of_kimi_k3_are_those_of_its_tensors(void **state)
{
    (void)state;
    enum { H = 7168, LAYERS = 93, KDA = 69, LATENT = 24, ROUTED = 92, EXPERTS = 896, INNER = 3072, WIDTH = 3584, SHARED = 6144 };
    enum { VALUES = 96 * 128, CHANNELS = 128, FFN = 33792, VOCAB = 163840, RANK = 512, QUERIES = 1536, ROPE = 64 };
    struct dse_llm m;
    struct llm_said said;
    struct dse_llm_counts c;
    import(DSE_SOURCE_DATA "/tests/data/llms/cases/kimi_k3.json", &m, &said);
    dse_llm_count(&m, &c);
    const int64_t kda = 3 * VALUES * H + 96 * H + CHANNELS * H + VALUES * CHANNELS + 3 * VALUES * 4 + VALUES + 2 * CHANNELS;
    const int64_t latent = (RANK + ROPE) * H + RANK + 2 * VALUES * RANK + QUERIES * H + QUERIES + 96 * 192 * QUERIES;
    const int64_t one = 3L * INNER * WIDTH, routed = (int64_t)ROUTED * EXPERTS * one;
    const int64_t beside = EXPERTS * (H + 1) + 2 * WIDTH * H + WIDTH + 3 * SHARED * H;
    const int64_t every = 2L * VALUES * H + 2 * H + 4 * H, once = 3L * FFN * H + 3 * H + 2L * VOCAB * H;
    const int64_t all = KDA * kda + LATENT * latent + routed + ROUTED * beside + LAYERS * every + once;
    assert_int_equal(c.params, all);
    assert_int_equal(c.params_routed, routed);
    assert_int_equal(all - routed + routed / 2 + routed / 32 + 447358976, 1503647073024);
    assert_true(m.formats.bits[DSE_WEIGHTS_EXPERTS] == 4 && m.formats.scale_bits[DSE_WEIGHTS_EXPERTS] == 0.25);
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) assert_true(i == DSE_WEIGHTS_EXPERTS || isnan(m.formats.bits[i]));
    double macs, held;
    sum_operators(&m, 1, &macs, &held);
    assert_true(macs == (double)c.linear_macs && held == (double)routed);
    llm_said_release(&said);
}

/* Attention and a recurrence take one input: it is normed once, and both give of it. */
static void mixers__side_by_side_are_both_computed(void **state)
{
    (void)state;
    const struct dse_llm *m = find("falcon-h1-0.5b");
    const struct dse_workload w = {.llm = m, .batch = 3, .context = 100, .weight_bits = 16, .kv_bits = 16, .activation_bits = 16};
    static struct dse_oplist list;
    int64_t attention = 0, recurrence = 0, norms = 0;
    dse_workload_expand(&w, &list);
    for (int i = 0; i < list.n; i++) {
        if (list.op[i].role == DSE_ROLE_ATTENTION_OUTPUT) attention += list.op[i].repeat;
        if (list.op[i].role == DSE_ROLE_RECURRENCE) recurrence += list.op[i].repeat;
        if (list.op[i].follows_norm) norms += list.op[i].repeat;
    }
    assert_int_equal(attention, m->layers);
    assert_int_equal(recurrence, m->layers);
    assert_int_equal(norms, 2 * m->layers + 1);
}

/* What an import or `dse list --toml` writes is read as the same LLM. */
static void kinds__are_the_same_through_a_file(void **state)
{
    (void)state;
    size_t kinds = 0, n = 0;
    while (catalog_at(catalog, DSE_KIND_LLM, n)) n++;
    for (size_t i = 0; i < n; i++) {
        const struct dse_entry *e = catalog_at(catalog, DSE_KIND_LLM, i);
        const struct dse_llm *llm = (const struct dse_llm *)(const void *)e;
        struct diags diags;
        struct text text;
        if (llm->layer_kinds.n == 0) continue;
        kinds++;
        text_init(&text);
        diags_init(&diags);
        catalog_write_entry(catalog, DSE_KIND_LLM, e, "again", &text);
        if (!catalog_restore(catalog, text.s, &diags)) {
            diags_print(&diags, stderr, false);
            fail_msg("%s", text.s);
        }
        struct dse_llm_counts a, b;
        dse_llm_count(llm, &a);
        dse_llm_count(find("again"), &b);
        assert_memory_equal(&a, &b, sizeof a);
        for (int64_t context = 1; context <= llm->max_context; context *= 7)
            assert_int_equal(dse_llm_macs(llm, context, DSE_LATENT_ABSORBED),
                             dse_llm_macs(find("again"), context, DSE_LATENT_ABSORBED));
        diags_release(&diags);
        text_release(&text);
    }
    assert_true(kinds >= 5);
}

/* A kind has the LLM's numbers where it gives none, also in an entry that is like another. */
static void kinds__follow_the_llm(void **state)
{
    (void)state;
    struct diags diags;
    diags_init(&diags);
    assert_true(catalog_restore(catalog, "[llms.wider]\nlike = \"mimo-v2-flash\"\nhead_dim = 256\nsource = \"a test\"\n", &diags));
    const struct dse_llm *was = find("mimo-v2-flash"), *wider = find("wider");
    for (size_t i = 0; i < wider->n_kinds; i++) {
        assert_int_equal(wider->kinds[i].shape.head_dim, 256);
        assert_int_equal(wider->kinds[i].shape.kv_heads, was->kinds[i].shape.kv_heads);
        assert_int_equal(wider->kinds[i].layers, was->kinds[i].layers);
    }
    diags_release(&diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts__of_two_kinds_are_those_by_hand),
        cmocka_unit_test(experts__of_unequal_numbers_are_those_by_hand),
        cmocka_unit_test(experts__of_blocks_are_those_by_hand),
        cmocka_unit_test(caches__that_are_shared_are_kept_once_and_read_by_all),
        cmocka_unit_test(counts__of_gemma_3n_are_those_by_hand),
        cmocka_unit_test(configurations__of_gemma_3n_are_the_catalog_s),
        cmocka_unit_test(layers__of_cross_attention_are_held_and_not_used),
        cmocka_unit_test(counts__of_kimi_k3_are_those_of_its_tensors),
        cmocka_unit_test(mixers__side_by_side_are_both_computed),
        cmocka_unit_test(kinds__are_the_same_through_a_file),
        cmocka_unit_test(kinds__follow_the_llm),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
