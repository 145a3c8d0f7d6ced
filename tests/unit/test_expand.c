/* A step as operators, of every LLM of the catalog: what is computed, held and read equals counts that were made another way, and
 * what chips share adds up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "expand_test.h"

#include <dse/units.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sums {
    double macs, weights, held, read, kept, exchanged, scalars;
};

static struct sums sum(const struct dse_workload *w)
{
    struct dse_oplist list;
    struct sums s = {0};
    dse_workload_expand(w, &list);
    for (int i = 0; i < list.n; i++) {
        const struct dse_op *op = &list.op[i];
        assert_true(op->repeat > 0 && op->m > 0 && op->ops >= 0 && op->weight_bytes >= 0 && isfinite(op->ops));
        assert_true(op->held_bytes >= op->weight_bytes * (1 - 1e-12));
        assert_true(op->copies > 0 && op->rows > 0 && op->rows <= (double)op->m + 1e-9);
        if (op->attention >= 0) assert_true(op->attention < list.n_attentions && op->in_attention);
        if (op->kind == DSE_OP_ELEMENTWISE)
            s.scalars += op->ops;
        else
            s.macs += op->ops / DSE_OPS_PER_MAC;
        s.weights += op->weight_bytes;
        s.held += op->held_bytes;
        s.read += op->kv_read_bytes;
        s.exchanged += (double)op->repeat * op->exchange.bytes;
    }
    for (int i = 0; i < list.n_attentions; i++) {
        const struct dse_attention *a = &list.attention[i];
        assert_true(a->heads % a->kv_heads == 0 && a->positions > 0 && a->pairs > 0);
        s.kept += (double)(a->layers * a->sequences * a->kept) * a->cached_bytes;
    }
    return s;
}

static void assert_same(const struct dse_llm *llm, const char *what, double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * fabs(want))) fail_msg("%s: %s %.17g, not %.17g", llm->entry.name, what, got, want);
}

/* ---- against counts --------------------------------------------------------------------------------------------------------- */

static void operators__compute_what_is_counted(void **state)
{
    (void)state;
    static const int64_t contexts[] = {1, 100, 1024, 3000, 20000, 131072};
    for (size_t i = 0; nth(i); i++) {
        for (size_t c = 0; c < sizeof contexts / sizeof *contexts; c++) {
            struct dse_workload w = decode(nth(i), 1, contexts[c]);
            for (int form = DSE_LATENT_ABSORBED; form <= DSE_LATENT_EXPANDED; form++) {
                w.latent_form = form;
                assert_same(w.llm, "multiply-adds", sum(&w).macs,
                            (double)dse_llm_macs(w.llm, w.context, (enum dse_latent_form)form));
            }
            w.batch = 7;
            assert_same(w.llm, "multiply-adds of seven", sum(&w).macs,
                        7 * (double)dse_llm_macs(w.llm, w.context, DSE_LATENT_EXPANDED));
        }
    }
}

/* A prompt computes what its positions compute one after another, but for output heads. */
static void operators__of_a_prompt_are_those_of_its_positions(void **state)
{
    (void)state;
    enum { PROMPT = 300 };
    for (size_t i = 0; nth(i); i++) {
        struct dse_llm llm = *nth(i);
        if (llm.attention_window > 100) llm.attention_window = 100; /* so that it matters */
        if (llm.latent.index_topk > 100) llm.latent.index_topk = 100;
        assert_null(dse_llm_resolve(&llm));
        struct dse_workload w = decode(&llm, 1, 1);
        double all = 0;
        w.latent_form = DSE_LATENT_ABSORBED;
        for (w.context = 1; w.context <= PROMPT; w.context++) all += sum(&w).macs;
        w.context = PROMPT;
        w.phase = DSE_PREFILL;
        assert_same(&llm, "multiply-adds of a prompt", sum(&w).macs, all - (PROMPT - 1) * (double)llm.vocab * (double)llm.hidden);
    }
}

static void weights__held_are_all_but_the_small_ones(void **state)
{
    (void)state;
    for (size_t i = 0; nth(i); i++) {
        struct dse_llm_counts c;
        const struct dse_workload w = decode(nth(i), 1, 1000);
        dse_llm_count(w.llm, &c);
        const double input = (double)(c.params_tables - w.llm->vocab * w.llm->hidden); /* all tables but the output head's */
        double idle = 0;
        for (int k = 0; k < DSE_WEIGHT_CLASSES; k++) idle += (double)c.idle[k];
        const struct sums s = sum(&w);
        assert_same(w.llm, "weights held", s.held, BYTES * ((double)(c.params - c.params_small) - input - idle));
        assert_same(w.llm, "weights read by one", s.weights, BYTES * ((double)c.linear_macs));
        const double cache = dse_llm_cache_bytes(w.llm, w.context, BYTES); /* what summaries say, too */
        assert_same(w.llm, "positions kept", s.kept, cache - dse_llm_state_bytes(w.llm));
        assert_same(w.llm, "footprint", dse_workload_footprint(&w), s.held + BYTES * (input + idle) + cache);
        if (dse_llm_kv_elements(w.llm, 1) * w.context == dse_llm_kv_elements(w.llm, w.context)) /* nothing is full */
            assert_same(w.llm, "a token", (double)w.context * dse_llm_token_bytes(w.llm, BYTES), s.kept);
    }
}

/* ---- several chips ---------------------------------------------------------------------------------------------------------- */

static void chips__share_what_one_does(void **state)
{
    (void)state;
    size_t tried = 0;
    for (size_t i = 0; nth(i); i++) {
        for (int64_t tensor = 2; tensor <= 8; tensor *= 2) {
            struct dse_workload one = decode(nth(i), 16, 5000), some = one;
            some.tensor_parallel = tensor;
            if (dse_workload_check(&some, DSE_CAN_ALL)) continue;
            const struct sums a = sum(&one), b = sum(&some);
            tried++;
            assert_true((double)tensor * b.macs >= a.macs * (1 - 1e-12));
            assert_true(b.macs <= a.macs && b.held <= a.held && b.kept <= a.kept && b.scalars <= a.scalars);
            assert_true(a.exchanged == 0 && b.exchanged > 0);
            if (dse_llm_is_plain(one.llm) && one.llm->kv_heads % tensor == 0 && one.llm->ffn % tensor == 0 &&
                one.llm->vocab % tensor == 0) {
                assert_same(one.llm, "multiply-adds of chips", (double)tensor * b.macs, a.macs);
                assert_same(one.llm, "weights of chips", (double)tensor * b.held, a.held);
                assert_same(one.llm, "positions of chips", (double)tensor * b.kept, a.kept);
                /* Shoeybi et al., arXiv:1909.08053: two all-reduces a layer of batch x hidden; and the logits */
                assert_same(one.llm, "bytes exchanged", b.exchanged,
                            16.0 * BYTES * (2 * (double)(one.llm->layers * one.llm->hidden) + (double)one.llm->vocab));
            }
        }
    }
    assert_true(tried > 80);
}

static void experts__are_dealt_out(void **state)
{
    (void)state;
    struct dse_workload one = decode(find("deepseek-v3"), 256, 4096), many = one;
    many.data_parallel = many.expert_parallel = 32;
    assert_null(dse_workload_check(&many, DSE_CAN_ALL));
    struct dse_oplist a, b;
    dse_workload_expand(&one, &a);
    dse_workload_expand(&many, &b);
    double rows_one = 0, rows_many = 0, held_one = 0, held_many = 0, moved = 0;
    for (int i = 0; i < a.n; i++) {
        if (strcmp(a.op[i].name, "experts_up") != 0) continue;
        rows_one = a.op[i].rows * a.op[i].copies;
        held_one = a.op[i].held_bytes;
    }
    for (int i = 0; i < b.n; i++) {
        if (b.op[i].exchange.kind == DSE_ALL_TO_ALL && b.op[i].kind == DSE_OP_COLLECTIVE)
            moved += (double)b.op[i].repeat * b.op[i].exchange.bytes;
        if (strcmp(b.op[i].name, "experts_up") != 0) continue;
        rows_many = b.op[i].rows * b.op[i].copies;
        held_many = b.op[i].held_bytes;
    }
    assert_same(one.llm, "rows", rows_one, 256 * 8);
    assert_same(one.llm, "experts held", 32 * held_many, held_one);
    assert_true(rows_many > 256 * 8 / 32.0 && rows_many < 2 * 256 * 8 / 32.0);                 /* the fullest chip */
    assert_same(one.llm, "dispatched and combined", moved, 2 * 58 * (8 * 8 * 7168.0 * BYTES)); /* of eight sequences */
}

static void stages__hold_their_layers(void **state)
{
    (void)state;
    struct dse_workload w = decode(find("llama2-70b"), 64, 2048);
    const struct sums one = sum(&w);
    w.pipeline_parallel = 4;
    const struct sums four = sum(&w);
    const double head = BYTES * (double)(w.llm->vocab * w.llm->hidden);
    assert_int_equal(dse_workload_sequences(&w), 16);
    assert_int_equal(dse_workload_passes(&w), 4);
    assert_same(w.llm, "weights of a stage", four.held - head, (one.held - head) / 4);
    assert_same(w.llm, "positions of a pass", four.kept, one.kept / 16);
    w.batch = 1;
    assert_int_equal(dse_workload_passes(&w), 1); /* the rest is bubble */
}

static void degrees__that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct dse_workload w = decode(find("deepseek-v3"), 8, 1000);
    w.tensor_parallel = 3;
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "tensor_parallel does not divide the LLM's heads"));
    w.tensor_parallel = 2;
    w.expert_parallel = 3;
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "expert_parallel does not divide"));
    w.expert_parallel = 512;
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "expert_parallel is more than the LLM's experts"));
    w.expert_parallel = 1;
    w.pipeline_parallel = 62;
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "pipeline_parallel is more than the LLM's layers"));
    w.pipeline_parallel = 1;
    assert_null(dse_workload_check(&w, DSE_CAN_ALL));
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_LAYERS), "one chip"));
    assert_non_null(dse_workload_check(&w, DSE_CAN_PARALLEL));
    w = decode(find("llama2-7b"), 8, 1000);
    w.expert_parallel = 2;
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "needs an LLM with experts"));
}

/* ---- drafts, chunks, unequal contexts --------------------------------------------------------------------------------------- */

static const struct dse_drafts *drafts_of(const char *name)
{
    return (const struct dse_drafts *)(const void *)catalog_find(catalog, DSE_KIND_DRAFTS, name);
}

static void drafts__yield_what_the_law_says(void **state)
{
    (void)state;
    struct dse_speculation s = {.draft_tokens = 4, .acceptance = 0.8, .acceptance_decay = 1};
    const double a = 0.8;
    assert_true(fabs(dse_accepted(&s) - (1 - pow(a, 5)) / (1 - a)) < 1e-12); /* arXiv:2211.17192, Eq. 1 */
    s.acceptance = 0;
    assert_true(dse_accepted(&s) == 1);
    s.acceptance = 1;
    assert_true(dse_accepted(&s) == 5);
    s.acceptance_decay = 0;
    assert_true(dse_accepted(&s) == 2);
    const struct dse_drafts *law = drafts_of("law"), *kimi = drafts_of("kimi-k2.5-nvfp4-eagle3");
    const double by_law = dse_accepted(&s);
    s.drafts = law;
    assert_true(dse_accepted(&s) == by_law && !dse_drafts_measured(law));
    s.drafts = kimi;
    const int64_t k = s.draft_tokens;
    s.draft_tokens = 4;
    assert_true(dse_accepted(&s) == 3.24);
    struct dse_workload w = decode(find("kimi-k2"), 1, 1000);
    w.speculation = s;
    assert_null(dse_workload_check(&w, DSE_CAN_ALL));
    w.speculation.draft_tokens = 9;
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "has no measurement at this draft_tokens"));
    w.speculation.draft_tokens = 4;
    w.speculation.accepted_length = 2;
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "accepted_length and drafts cannot be combined"));
    for (size_t i = 0; catalog_at(catalog, DSE_KIND_DRAFTS, i); i++) { /* never more than were drafted, and never none */
        const struct dse_drafts *d = (const struct dse_drafts *)(const void *)catalog_at(catalog, DSE_KIND_DRAFTS, i);
        for (int64_t n = 1; dse_drafts_measured(d) && n <= DSE_DRAFTS_MAX; n++)
            assert_true(dse_drafts_length(d, n) > 1 && dse_drafts_length(d, n) <= 1 + (double)n);
        assert_true(isnan(dse_drafts_length(d, 0)) && isnan(dse_drafts_length(d, DSE_DRAFTS_MAX + 1)));
    }
    s.draft_tokens = k;
    s.drafts = law;
    s.accepted_length = 3.33;
    assert_true(dse_accepted(&s) == 3.33);
    s.draft_tokens = 0;
    assert_true(dse_accepted(&s) == 1);
}

static void drafts__cost_their_layers_and_a_wider_step(void **state)
{
    (void)state;
    struct dse_workload w = decode(find("llama2-7b"), 2, 1000);
    const struct sums plain = sum(&w);
    w.speculation =
        (struct dse_speculation){.draft_tokens = 3, .drafter = DSE_DRAFT_LLM, .draft = find("llama3.2-1b"), .acceptance = 0.5};
    assert_null(dse_workload_check(&w, DSE_CAN_ALL));
    const struct sums drafted = sum(&w);
    struct dse_workload draft = decode(find("llama3.2-1b"), 2, 1003), wide = decode(find("llama2-7b"), 2, 1000);
    double verified = 0;
    for (wide.context = 1000; wide.context <= 1003; wide.context++) verified += sum(&wide).macs;
    assert_same(w.llm, "multiply-adds", drafted.macs, verified + 3 * sum(&draft).macs);
    assert_same(w.llm, "weights", drafted.weights, plain.weights + 3 * sum(&draft).weights);
    w.speculation.drafter = DSE_DRAFT_LAYER;
    const double layer = dse_llm_layer_weights(w.llm), head = dse_llm_head_weights(w.llm), join = 2.0 * 4096 * 4096;
    assert_same(w.llm, "weights of a layer", sum(&w).weights, plain.weights + 3 * BYTES * (layer + head + join));
    w.speculation.drafter = DSE_DRAFT_HEADS;
    assert_same(w.llm, "weights of heads", sum(&w).weights, plain.weights + 3 * BYTES * (4096.0 * 4096 + head));
    w.speculation.drafter = DSE_DRAFT_LLM;
    w.speculation.draft = find("gemma3-1b");
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "full attention"));
}

static void chunks__are_work_beside_the_step(void **state)
{
    (void)state;
    for (size_t i = 0; nth(i); i++) {
        struct dse_workload w = decode(nth(i), 4, 1000), alone = w;
        w.latent_form = alone.latent_form = DSE_LATENT_ABSORBED;
        w.chunk_tokens = 1;
        w.chunk_context = 499;
        const struct sums both = sum(&w);
        alone.batch = 1;
        alone.context = 500;
        struct dse_workload four = decode(nth(i), 4, 1000);
        four.latent_form = DSE_LATENT_ABSORBED;
        const double head = (double)w.llm->vocab * (double)w.llm->hidden;
        assert_same(w.llm, "a chunk of one token", both.macs, sum(&four).macs + sum(&alone).macs - head);
    }
}

static void contexts__that_differ_have_their_mean(void **state)
{
    (void)state;
    struct dse_workload w = decode(find("llama2-7b"), 9, 2000);
    const struct sums alike = sum(&w);
    w.context_spread = 0.5;
    struct dse_oplist list;
    dse_workload_expand(&w, &list);
    assert_int_equal(list.n_attentions, 2);
    double mean = 0, square = 0;
    for (int i = 0; i < 2; i++) mean += (double)(list.attention[i].sequences * list.attention[i].positions) / 9;
    for (int i = 0; i < 2; i++)
        square += (double)list.attention[i].sequences * pow((double)list.attention[i].positions - mean, 2) / 9;
    assert_true(fabs(mean / 2000 - 1) < 1e-3 && fabs(sqrt(square) / 1000 - 1) < 1e-3);
    assert_true(fabs(sum(&w).read / alike.read - 1) < 1e-3); /* grouped attention is linear in the context */
    w.llm = find("mistral-7b-v0.1");
    w.context = 4096;
    struct dse_workload same = w;
    same.context_spread = 0;
    assert_true(sum(&w).read < sum(&same).read); /* a window is not: it cuts the longer ones */
}

/* ---- properties ------------------------------------------------------------------------------------------------------------- */

static int64_t any(int64_t least, int64_t most)
{
    return least + (int64_t)((double)rand() / ((double)RAND_MAX + 1) * (double)(most - least + 1));
}

static void operators__keep_their_order_on_random_points(void **state)
{
    (void)state;
    size_t n = 0;
    srand(17);
    while (nth(n)) n++;
    for (int i = 0; i < 10000; i++) {
        struct dse_llm llm = *nth((size_t)any(0, (int64_t)n - 1));
        struct dse_workload w = decode(&llm, any(1, 300), any(1, 200000));
        w.routing = (int32_t)any(0, 2);
        w.latent_form = (int32_t)any(0, 2);
        w.speculation.draft_tokens = any(0, 4);
        w.chunk_tokens = any(0, 1) * any(1, 500);
        w.context_spread = any(0, 1) ? 0.3 : 0;
        w.tensor_parallel = 1 << any(0, 3);
        w.data_parallel = any(1, 5);
        w.pipeline_parallel = any(1, 4);
        w.expert_parallel = llm.moe.experts ? 1 << any(0, 3) : 1;
        if (dse_workload_check(&w, DSE_CAN_ALL)) continue;
        const struct sums s = sum(&w);
        if (w.speculation.draft_tokens == 0) assert_true(dse_workload_footprint(&w) >= s.kept);
        if (llm.moe.experts > llm.moe.experts_active) { /* one more expert for each token */
            llm.moe.experts_active++;
            assert_null(dse_llm_resolve(&llm));
            const struct sums more = sum(&w);
            assert_true(more.weights >= s.weights * (1 - 1e-12) && more.macs > s.macs);
            llm.moe.experts_active--;
            assert_null(dse_llm_resolve(&llm));
        }
        if (llm.attention_window > 0) { /* a longer window */
            llm.attention_window *= 2;
            assert_null(dse_llm_resolve(&llm));
            const struct sums longer = sum(&w);
            bool is_chunk = false;
            for (size_t k = 0; k < llm.n_kinds; k++) is_chunk = is_chunk || llm.kinds[k].attention == DSE_CHUNK;
            if (!is_chunk) assert_true(longer.read >= s.read && longer.macs >= s.macs);
            assert_true(longer.kept >= s.kept);
            llm.attention_window /= 2;
            assert_null(dse_llm_resolve(&llm));
        }
        w.batch += any(1, 50);
        if (w.context_spread == 0) assert_true(sum(&w).macs >= s.macs && sum(&w).weights >= s.weights);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators__compute_what_is_counted),
        cmocka_unit_test(operators__of_a_prompt_are_those_of_its_positions),
        cmocka_unit_test(weights__held_are_all_but_the_small_ones),
        cmocka_unit_test(chips__share_what_one_does),
        cmocka_unit_test(experts__are_dealt_out),
        cmocka_unit_test(stages__hold_their_layers),
        cmocka_unit_test(degrees__that_do_not_fit_are_refused),
        cmocka_unit_test(drafts__yield_what_the_law_says),
        cmocka_unit_test(drafts__cost_their_layers_and_a_wider_step),
        cmocka_unit_test(chunks__are_work_beside_the_step),
        cmocka_unit_test(contexts__that_differ_have_their_mean),
        cmocka_unit_test(operators__keep_their_order_on_random_points),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
