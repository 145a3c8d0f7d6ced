/* The workload: shapes against published parameter counts, conservation of bytes and operations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "config/catalog.h"
#include "entries.h"

#include <dse/units.h>

static struct catalog *catalog;

static const struct dse_llm *llm(const char *name)
{
    const struct dse_entry *e = catalog_find(catalog, DSE_KIND_LLM, name);
    if (!e) fail_msg("no LLM %s", name);
    return (const struct dse_llm *)(const void *)e;
}

/* The i-th of those whose layers are all alike, with full attention and a dense network. */
static const struct dse_llm *plain(size_t i)
{
    const struct dse_entry *e;
    for (size_t k = 0; (e = catalog_at(catalog, DSE_KIND_LLM, k)); k++) {
        const struct dse_llm *m = (const struct dse_llm *)(const void *)e;
        if (dse_llm_is_plain(m) && i-- == 0) return m;
    }
    return NULL;
}

static struct dse_workload decode(const char *name, int64_t batch, int64_t context)
{
    return (struct dse_workload){
        .llm = llm(name), .phase = DSE_DECODE, .batch = batch, .context = context, .weight_bits = 16, .kv_bits = 16};
}

/* Sums over a step; `arithmetic` leaves out the elementwise operators. */
struct sums {
    double weights, read, written, arithmetic, attention, elementwise;
};

static struct sums sum(const struct dse_workload *w)
{
    struct dse_oplist list;
    dse_workload_expand(w, &list);
    struct sums s = {0};
    for (int i = 0; i < list.n; i++) {
        const struct dse_op *op = &list.op[i];
        s.weights += op->weight_bytes;
        s.read += op->kv_read_bytes;
        s.written += op->kv_write_bytes;
        bool attention = op->kind == DSE_OP_SCORES || op->kind == DSE_OP_VALUES;
        assert_true(op->in_attention == (attention || strcmp(op->name, "softmax") == 0));
        if (attention) s.attention += op->ops;
        if (op->kind == DSE_OP_ELEMENTWISE)
            s.elementwise += op->ops;
        else
            s.arithmetic += op->ops;
    }
    return s;
}

static void assert_close(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want))) fail_msg("got %.17g, want %.17g (%g %%)", got, want, 100 * (got / want - 1));
}

static void llms__name_every_row_within_its_range(void **state)
{
    (void)state;
    size_t n = 0;
    for (const struct dse_llm *m; (m = plain(n)); n++) assert_true(m->n_kinds == 1);
    assert_true(n >= 23);
}

static void llms__that_do_not_fit_together_are_refused(void **state)
{
    (void)state;
    struct dse_llm bad = *llm("llama3-8b");
    bad.kv_heads = 5;
    assert_string_equal(dse_llm_resolve(&bad), "heads is not a multiple of kv_heads");
    bad.kv_heads = 64;
    assert_string_equal(dse_llm_resolve(&bad), "kv_heads is greater than heads");
}

/* Weights of the published checkpoints, to the last one: what the shape gives, plus norms, biases and learned positions. */
static void llms__have_the_published_number_of_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double published, norms, biases_a_layer, positions; /* norms in vectors of `hidden` */
    } known[] = {
        {"opt-2.7b", 2651596800, 2 * (2 * 32 + 1), 4 * 2560 + 10240 + 2560, 2050},
        {"opt-6.7b", 6658473984, 2 * (2 * 32 + 1), 4 * 4096 + 16384 + 4096, 2050},
        {"llama2-7b", 6738415616, 65, 0, 0},
        {"llama2-13b", 13015864320, 81, 0, 0},
        {"chatglm-6b", 6173286400, 2 * (2 * 28 + 1), 4 * 4096 + 16384 + 4096, 0},
        {"chatglm2-6b", 6243584000, 57, 4096 + 512, 0},
        {"llama3-8b", 8030261248, 65, 0, 0},
        {"qwen3-8b", 8190735360, 73, 2 * 128 /* norms of q and k */, 0},
        {"mistral-7b", 7241732096, 65, 0, 0},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct dse_llm *m = llm(known[i].name);
        double layers = (double)m->layers, hidden = (double)m->hidden;
        double shape = layers * dse_llm_layer_weights(m) + (double)m->embedding_tables * dse_llm_head_weights(m);
        double small = (known[i].norms + known[i].positions) * hidden + layers * known[i].biases_a_layer;
        assert_true(shape + small == known[i].published);
        assert_true(small < 0.0025 * known[i].published);
        struct dse_workload w = decode(known[i].name, 1, 1);
        assert_true(dse_workload_footprint(&w) == 2 * shape + dse_kv_bytes_per_token(m, 16));
    }
}

static void workload__weights_and_kv_bytes_are_those_of_the_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double layer, kv_kib;
    } known[] = {
        {"opt-2.7b", 78643200, 320},    {"opt-6.7b", 201326592, 512},   {"llama2-7b", 202375168, 512},
        {"llama2-13b", 317194240, 800}, {"chatglm-6b", 201326592, 448},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_true(dse_llm_layer_weights(llm(known[i].name)) == known[i].layer);
        assert_true(dse_kv_bytes_per_token(llm(known[i].name), 16) == known[i].kv_kib * DSE_KIB);
    }
    assert_close((double)llm("llama2-7b")->layers * dse_llm_layer_weights(llm("llama2-7b")), 6.4760e9, 5e-6);
}

static void workload__reads_every_weight_once(void **state)
{
    (void)state;
    for (size_t i = 0; plain(i); i++) {
        const struct dse_llm *m = llm(plain(i)->entry.name);
        struct dse_workload w = decode(plain(i)->entry.name, 7, 100);
        w.weight_bits = 4;
        double want = ((double)m->layers * dse_llm_layer_weights(m) + dse_llm_head_weights(m)) / 2;
        assert_true(sum(&w).weights == want);
        w.phase = DSE_PREFILL;
        assert_true(sum(&w).weights == want);
    }
}

static void workload__reads_and_appends_the_kv_cache_once(void **state)
{
    (void)state;
    for (size_t i = 0; plain(i); i++) {
        struct dse_workload w = decode(plain(i)->entry.name, 3, 1000);
        w.kv_bits = 8;
        double token = dse_kv_bytes_per_token(w.llm, 8);
        assert_close(sum(&w).read, 3 * 1000 * token, 1e-15);
        assert_close(sum(&w).written, 3 * token, 1e-15);
        w.phase = DSE_PREFILL;
        assert_close(sum(&w).written, 3 * 1000 * token, 1e-15);
    }
}

/* models of 7 billion parameters and 512 positions: 13.483 billion operations, the figure behind SwiftKV's 13.5 GOP a token */
static void workload__counts_the_operations_of_a_token(void **state)
{
    (void)state;
    struct dse_workload w = decode("llama2-7b", 1, 512);
    double d = 4096, layer = 4 * d * d + 3 * d * 11008;
    assert_true(sum(&w).arithmetic == 2 * (32 * layer + 32000 * d) + 4 * d * 32 * 512);
    assert_close(sum(&w).arithmetic, 13.483e9, 1e-4);
}

static void workload__is_linear_in_the_batch_but_for_the_weights(void **state)
{
    (void)state;
    for (int phase = DSE_DECODE; phase <= DSE_PREFILL; phase++)
        for (size_t i = 0; plain(i); i++) {
            struct dse_workload one = decode(plain(i)->entry.name, 1, 777), many = decode(plain(i)->entry.name, 24, 777);
            one.phase = many.phase = phase;
            struct sums a = sum(&one), b = sum(&many);
            assert_true(b.weights == a.weights);
            assert_close(b.read, 24 * a.read, 1e-15);
            assert_close(b.written, 24 * a.written, 1e-15);
            assert_close(b.arithmetic, 24 * a.arithmetic, 1e-15);
            assert_close(b.elementwise, 24 * a.elementwise, 1e-15);
            assert_true(dse_workload_tokens(&many) == 24 * dse_workload_tokens(&one));
        }
}

/* Causality: the attention of a prompt of n tokens is that of n decode steps over 1, 2, ... n positions. */
static void workload__prefill_attention_is_the_sum_of_the_decode_steps(void **state)
{
    (void)state;
    enum { N = 300 };
    for (size_t i = 0; plain(i); i++) {
        double attention = 0, softmax = 0;
        for (int n = 1; n <= N; n++) {
            struct dse_workload w = decode(plain(i)->entry.name, 2, n);
            attention += sum(&w).attention;
            struct dse_oplist list;
            dse_workload_expand(&w, &list);
            for (int k = 0; k < list.n; k++)
                if (strcmp(list.op[k].name, "softmax") == 0) softmax += list.op[k].ops;
        }
        struct dse_workload prompt = decode(plain(i)->entry.name, 2, N);
        prompt.phase = DSE_PREFILL;
        assert_close(sum(&prompt).attention, attention, 1e-12);
        struct dse_oplist list;
        dse_workload_expand(&prompt, &list);
        for (int k = 0; k < list.n; k++)
            if (strcmp(list.op[k].name, "softmax") == 0) assert_close(list.op[k].ops, softmax, 1e-12);
    }
}

static void workload__prefill_applies_the_head_to_the_last_position_only(void **state)
{
    (void)state;
    struct dse_workload w = decode("llama3-8b", 3, 500);
    struct dse_oplist d, p;
    dse_workload_expand(&w, &d);
    w.phase = DSE_PREFILL;
    dse_workload_expand(&w, &p);
    assert_int_equal(d.n, p.n);
    for (int i = 0; i < d.n; i++) {
        if (d.op[i].kind != DSE_OP_LINEAR) continue;
        bool head = strcmp(d.op[i].name, "lm_head") == 0;
        assert_true(p.op[i].ops == (head ? 1 : 500) * d.op[i].ops);
        assert_int_equal(p.op[i].m, (head ? 1 : 500) * d.op[i].m);
    }
}

/* Eight query heads' scores read one key head: bytes shrink with kv_heads, operations do not. */
static void workload__grouped_heads_share_keys_and_values(void **state)
{
    (void)state;
    struct dse_llm shared = *llm("llama3-8b"), apart = shared;
    apart.kv_heads = apart.heads;
    assert_null(dse_llm_resolve(&apart));
    struct dse_workload w = decode("llama3-8b", 5, 2000);
    w.llm = &shared;
    struct sums a = sum(&w);
    w.llm = &apart;
    struct sums b = sum(&w);
    assert_true(b.read == 4 * a.read);
    assert_true(b.written == 4 * a.written);
    assert_true(b.attention == a.attention);
    assert_true(b.weights - a.weights == 2.0 * 32 * 4096 * 2 * (32 - 8) * 128);
}

static void workload__linear_operators_have_the_shape_they_count(void **state)
{
    (void)state;
    for (size_t i = 0; plain(i); i++) {
        struct dse_workload w = decode(plain(i)->entry.name, 4, 64);
        struct dse_oplist list;
        dse_workload_expand(&w, &list);
        for (int k = 0; k < list.n; k++) {
            const struct dse_op *op = &list.op[k];
            double shape = (double)op->m * (double)op->k * (double)op->n * (double)op->repeat;
            if (op->kind == DSE_OP_LINEAR) {
                assert_true(op->ops == 2 * shape);
                assert_true(op->weight_bytes == 2.0 * (double)op->k * (double)op->n * (double)op->repeat);
            } else if (op->kind != DSE_OP_ELEMENTWISE)
                assert_true(op->ops == 2 * shape * (double)w.llm->heads * (double)w.batch);
            for (int other = 0; other < k; other++) assert_string_not_equal(op->name, list.op[other].name);
        }
    }
}

static void workload__elementwise_operators_are_a_small_share(void **state)
{
    (void)state;
    for (size_t i = 0; plain(i); i++)
        for (int64_t n = 128; n <= 4096; n *= 2) {
            struct dse_workload w = decode(plain(i)->entry.name, 1, n);
            struct sums s = sum(&w);
            /* Of a row of `hidden` numbers some operations each, against as many multiply-adds with each of them. */
            assert_true(s.elementwise > 0.5 / (double)w.llm->hidden * s.arithmetic && s.elementwise < 0.005 * s.arithmetic);
        }
}

/* LAD's introduction: one layer of LLaMA2-7B, fp16, batch 32. Its 0.29 GB of weights leave the gate matrix out: 0.377 GiB. */
static void workload__gives_the_bytes_of_lads_introduction(void **state)
{
    (void)state;
    struct dse_workload w = decode("llama2-7b", 32, 1024);
    assert_true(sum(&w).read / 32 == 0.5 * DSE_GIB);
    w.context = 4096;
    assert_true(sum(&w).read / 32 == 2 * DSE_GIB);
    double weights = 2 * dse_llm_layer_weights(w.llm);
    assert_close(weights, 0.377 * DSE_GIB, 1e-3);
    assert_close(sum(&w).read / 32 / weights, 5.3, 2e-3);
    struct dse_llm no_gate = *w.llm;
    no_gate.ffn_matrices = 2;
    assert_null(dse_llm_resolve(&no_gate));
    assert_close(2 * dse_llm_layer_weights(&no_gate), 0.29 * DSE_GIB, 0.011);
}

static void workload__refuses_a_context_the_llm_was_not_made_for(void **state)
{
    (void)state;
    struct dse_workload w = decode("opt-6.7b", 1, 2048);
    assert_null(dse_workload_check(&w, 0));
    w.context = 2049;
    assert_non_null(dse_workload_check(&w, 0));
}

static void tables__names_end_in_their_units(void **state)
{
    (void)state;
    const struct dse_param *const tables[] = {dse_workload_params, dse_llm_fields, dse_dram_params, dse_memory_fields};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct schema s;
        schema_init_params(&s, tables[i]);
        for (size_t k = 0; k < s.n; k++) {
            const struct dse_unit *unit = unit_find(NULL, s.fields[k].unit);
            const char *name = s.fields[k].name;
            assert_non_null(unit);
            assert_true(strlen(name) >= strlen(unit->suffix));
            assert_string_equal(name + strlen(name) - strlen(unit->suffix), unit->suffix);
            assert_true(strlen(s.fields[k].doc) > 4);
            assert_true(s.fields[k].type > DSE_TYPE_I64 || s.fields[k].min < s.fields[k].max);
        }
        schema_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llms__name_every_row_within_its_range),
        cmocka_unit_test(llms__that_do_not_fit_together_are_refused),
        cmocka_unit_test(llms__have_the_published_number_of_parameters),
        cmocka_unit_test(workload__weights_and_kv_bytes_are_those_of_the_shapes),
        cmocka_unit_test(workload__reads_every_weight_once),
        cmocka_unit_test(workload__reads_and_appends_the_kv_cache_once),
        cmocka_unit_test(workload__counts_the_operations_of_a_token),
        cmocka_unit_test(workload__is_linear_in_the_batch_but_for_the_weights),
        cmocka_unit_test(workload__prefill_attention_is_the_sum_of_the_decode_steps),
        cmocka_unit_test(workload__prefill_applies_the_head_to_the_last_position_only),
        cmocka_unit_test(workload__grouped_heads_share_keys_and_values),
        cmocka_unit_test(workload__linear_operators_have_the_shape_they_count),
        cmocka_unit_test(workload__elementwise_operators_are_a_small_share),
        cmocka_unit_test(workload__gives_the_bytes_of_lads_introduction),
        cmocka_unit_test(workload__refuses_a_context_the_llm_was_not_made_for),
        cmocka_unit_test(tables__names_end_in_their_units),
    };
    struct diags diags;
    diags_init(&diags);
    catalog = catalog_open(&diags);
    if (!catalog) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    catalog_free(catalog);
    diags_release(&diags);
    return failed;
}
