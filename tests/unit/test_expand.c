/* A step as operators, of every LLM of the catalog: what is computed, held and read equals counts that were made another way, and what
 * chips share adds up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "config/catalog.h"
#include "base/diag.h"
#include "workload/expert_loads.h"
#include "workload/experts.h"

#include <dse/units.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 16, BYTES = 2 };

static struct catalog *catalog;

static const struct dse_llm *nth(size_t i)
{
    return (const struct dse_llm *)(const void *)catalog_at(catalog, DSE_KIND_LLM, i);
}

static const struct dse_llm *find(const char *name)
{
    const struct dse_entry *e = catalog_find(catalog, DSE_KIND_LLM, name);
    if (!e) fail_msg("no LLM %s", name);
    return (const struct dse_llm *)(const void *)e;
}

static struct dse_workload decode(const struct dse_llm *llm, int64_t batch, int64_t context)
{
    return (struct dse_workload){.llm = llm,
                                 .phase = DSE_DECODE,
                                 .batch = batch,
                                 .context = context,
                                 .weight_bits = BITS,
                                 .kv_bits = BITS,
                                 .latent_form = DSE_LATENT_BY_PHASE,
                                 .routing = DSE_ROUTING_UNIFORM,
                                 .speculation = {.drafter = DSE_DRAFT_LAYER, .acceptance = 0.8, .acceptance_decay = 1}};
}

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
        const double input = (double)(w.llm->embedding_tables - 1) * (double)(w.llm->vocab * w.llm->hidden);
        const struct sums s = sum(&w);
        assert_same(w.llm, "weights held", s.held, BYTES * ((double)(c.params - c.params_small) - input));
        assert_same(w.llm, "weights read by one", s.weights, BYTES * ((double)c.linear_macs));
        const double states = 4 * (double)c.state_elements + 2 * (double)c.conv_state_elements;
        const double cache = BYTES * (double)dse_llm_kv_elements(w.llm, w.context) + (double)c.index_elements * (double)w.context;
        assert_same(w.llm, "positions kept", s.kept, cache);
        assert_same(w.llm, "footprint", dse_workload_footprint(&w), s.held + BYTES * input + cache + states);
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
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "tensor_parallel does not divide heads"));
    w.tensor_parallel = 2;
    w.expert_parallel = 3;
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "expert_parallel does not divide"));
    w.expert_parallel = 512;
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "more groups of chips than experts"));
    w.expert_parallel = 1;
    w.pipeline_parallel = 62;
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "more stages than layers"));
    w.pipeline_parallel = 1;
    assert_null(dse_workload_check(&w, DSE_CAN_ALL));
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_LAYERS), "one chip"));
    assert_non_null(dse_workload_check(&w, DSE_CAN_PARALLEL));
    w = decode(find("llama2-7b"), 8, 1000);
    w.expert_parallel = 2;
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "no experts"));
}

/* ---- experts ---------------------------------------------------------------------------------------------------------------- */

/* Draws, against the mean: a token chooses different experts. */
static void experts__touched_are_what_draws_touch(void **state)
{
    (void)state;
    enum { DRAWS = 400, EXPERTS = 128, ACTIVE = 8, CHIPS = 8, TOKENS = 24 };
    const struct dse_workload w = decode(find("qwen3-30b-a3b"), TOKENS, 1000);
    double touched = 0, fullest = 0;
    assert_int_equal(w.llm->moe.experts, EXPERTS);
    srand(5);
    for (int d = 0; d < DRAWS; d++) {
        int rows[EXPERTS] = {0}, most = 0;
        for (int t = 0; t < TOKENS; t++) {
            int chosen[ACTIVE];
            for (int k = 0; k < ACTIVE; k++) {
                bool again;
                do {
                    chosen[k] = rand() % EXPERTS;
                    again = false;
                    for (int j = 0; j < k; j++) again = again || chosen[j] == chosen[k];
                } while (again);
                rows[chosen[k]]++;
            }
        }
        for (int c = 0; c < CHIPS; c++) {
            int of_chip = 0;
            for (int e = 0; e < EXPERTS / CHIPS; e++) of_chip += rows[c * (EXPERTS / CHIPS) + e];
            most = of_chip > most ? of_chip : most;
        }
        for (int e = 0; e < EXPERTS; e++) touched += rows[e] > 0;
        fullest += most;
    }
    const struct experts_at_work one = experts_at_work(&w, TOKENS, 1), eight = experts_at_work(&w, TOKENS, CHIPS);
    assert_true(fabs(touched / DRAWS / one.touched - 1) < 0.01);
    assert_true(fabs(fullest / DRAWS / eight.rows - 1) < 0.03);
    assert_true(one.rows == TOKENS * ACTIVE && fabs(eight.touched * CHIPS / one.touched - 1) < 1e-12);
}

/* Of many layers: what is drawn is the mean of the closed form on the mean, of all tokens that there are. */
static void experts__drawn_are_the_mean_over_layers(void **state)
{
    (void)state;
    enum { LAYERS = 300 };
    const struct {
        const char *llm;
        double tokens, chips;
    } cases[] = {{"mixtral-8x7b", 1, 1},  {"mixtral-8x7b", 5, 2},     {"qwen3-30b-a3b", 1, 1},    {"qwen3-30b-a3b", 24, 8},
                 {"deepseek-v3", 64, 32}, {"qwen3-30b-a3b", 2000, 4}, {"qwen3-30b-a3b", 3e5, 16}, {"llama4-scout", 7, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dse_workload w = decode(find(cases[i].llm), 1, 1000);
        w.routing_exponent = 1.2;
        for (int routing = DSE_ROUTING_BALANCED; routing <= DSE_ROUTING_POWER_LAW; routing++) {
            w.routing = routing;
            const struct dse_draw draw = {.seed = 7, .layers = LAYERS};
            const struct experts_at_work mean = experts_at_work(&w, cases[i].tokens, cases[i].chips),
                                         drawn = experts_drawn(&w, cases[i].tokens, cases[i].chips, &draw),
                                         again = experts_drawn(&w, cases[i].tokens, cases[i].chips, &draw);
            const bool uneven = routing == DSE_ROUTING_POWER_LAW;
            assert_true(drawn.touched == again.touched && drawn.rows == again.rows && drawn.held == mean.held);
            if (fabs(drawn.touched / mean.touched - 1) > (uneven ? 0.03 : 0.015))
                fail_msg("%s, routing %d: %g touched, %g on the mean", cases[i].llm, routing, drawn.touched, mean.touched);
            if (fabs(drawn.rows / mean.rows - 1) > (cases[i].chips == 1 ? 1e-9 : uneven ? 0.2 : 0.1))
                fail_msg("%s, routing %d: %g rows on the fullest chip, %g on the mean", cases[i].llm, routing, drawn.rows,
                         mean.rows);
        }
    }
}

static const struct dse_expert_loads *loads_of(const char *name)
{
    return (const struct dse_expert_loads *)(const void *)catalog_find(catalog, DSE_KIND_EXPERT_LOADS, name);
}

/* Sum over experts of 1 - (1 - p)^tokens, the mean over layers. */
static double touched_one_by_one(const struct dse_expert_loads *l, double active, double tokens)
{
    double sum = 0;
    for (int64_t layer = 0; layer < dse_expert_loads_layers(l); layer++)
        for (int64_t i = 0; i < dse_expert_loads_experts(l); i++)
            sum += 1 - pow(1 - active * dse_expert_loads_share(l, layer, i), tokens);
    return sum / (double)dse_expert_loads_layers(l);
}

/* Loads over four decades, one expert without any. */
static struct dse_expert_loads *uneven_loads(void)
{
    enum { EXPERTS = 128, LAYERS = 8 };
    struct expert_loads_row rows[EXPERTS * LAYERS];
    struct row_fault fault = {0};
    srand(3);
    for (int i = 0; i < EXPERTS * LAYERS; i++)
        rows[i] = (struct expert_loads_row){i / EXPERTS, i % EXPERTS, i == 77 ? 0 : pow(10, 4.0 * rand() / RAND_MAX)};
    return expert_loads_new("uneven", "", rows, EXPERTS * LAYERS, &fault);
}

static void experts__of_a_profile_are_the_sum_over_its_experts(void **state)
{
    (void)state;
    struct dse_expert_loads *uneven = uneven_loads();
    const struct {
        const struct dse_expert_loads *loads;
        double active;
    } cases[] = {{loads_of("mixtral-8x7b"), 2}, {uneven, 8}, {uneven, 1}};
    for (size_t i = 0; i < 3; i++) {
        const struct dse_expert_loads *l = cases[i].loads;
        for (double tokens = 1; tokens < 1e7; tokens = floor(tokens * 1.9 + 0.5)) {
            const double exact = touched_one_by_one(l, cases[i].active, tokens),
                         ours = expert_loads_touched(l, cases[i].active, tokens);
            if (fabs(ours / exact - 1) > 5e-5)
                fail_msg("%s, %g tokens: %.12g, expected %.12g", ((const struct dse_entry *)(const void *)l)->name, tokens, ours,
                         exact);
        }
        assert_true(fabs(expert_loads_fullest(l, dse_expert_loads_experts(l)) - 1) < 1e-12);
    }
    expert_loads_free(uneven);
}

/* Skewed loads touch fewer than even ones, fill one chip more, and what is drawn of them is the closed form on the mean. */
static void experts__of_a_profile_are_drawn_by_it(void **state)
{
    (void)state;
    enum { LAYERS = 640 };
    struct dse_expert_loads *uneven = uneven_loads();
    for (int i = 0; i < 2; i++) {
        for (double chips = 1; chips <= 8; chips *= 2) {
            for (double tokens = 1; tokens < 3000; tokens *= 7) {
                struct dse_workload w = decode(find(i ? "qwen3-30b-a3b" : "mixtral-8x7b"), 1, 1000);
                w.routing = DSE_ROUTING_UNIFORM;
                const struct experts_at_work even = experts_at_work(&w, tokens, chips);
                w.routing = DSE_ROUTING_PROFILE;
                w.expert_loads = i ? uneven : loads_of("mixtral-8x7b");
                assert_null(dse_workload_check(&w, DSE_CAN_ALL));
                const struct dse_draw draw = {.seed = 11, .layers = LAYERS};
                const struct experts_at_work mean = experts_at_work(&w, tokens, chips),
                                             drawn = experts_drawn(&w, tokens, chips, &draw);
                assert_true(mean.touched <= even.touched * (1 + 1e-9) && mean.rows >= even.rows * (1 - 1e-9));
                const double far = chips == 1 ? 2e-3 : 0.12;
                if (fabs(drawn.touched / mean.touched - 1) > 0.01 || fabs(drawn.rows / mean.rows - 1) > far)
                    fail_msg("%s, %g tokens, %g chips: %g touched, %g rows; %g, %g on the mean", w.llm->entry.name, tokens, chips,
                             drawn.touched, drawn.rows, mean.touched, mean.rows);
            }
        }
    }
    struct dse_workload w = decode(find("deepseek-v3"), 1, 1000);
    w.routing = DSE_ROUTING_PROFILE;
    w.expert_loads = uneven;
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "another number of experts"));
    w.llm = find("llama2-7b"); /* which has none */
    assert_null(dse_workload_check(&w, DSE_CAN_ALL));
    expert_loads_free(uneven);
}

static void experts__loads_that_are_none_are_refused(void **state)
{
    (void)state;
    const struct {
        struct expert_loads_row rows[4];
        size_t n;
        const char *why;
    } cases[] = {{{{0}}, 0, "no rows"},
                 {{{0, 0, 1}, {0, 1, -1}}, 2, "load -1 is below 0"},
                 {{{0, 0, 1}, {0, 2, 1}}, 2, "layer 0, expert 2 stand where 0, 1 should"},
                 {{{1, 0, 1}, {1, 1, 1}, {0, 0, 1}, {0, 1, 1}}, 4, "layer 0 does not grow"},
                 {{{0, 0, 1}, {0, 1, 1}, {1, 0, 1}}, 3, "ends inside of layer 1, which needs 2 rows"},
                 {{{0, 0, 0}, {0, 1, 0}}, 2, "layer 0 has no loads"},
                 {{{0.5, 0, 1}}, 1, "layer 0.5 is not a whole number"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct row_fault fault = {0};
        assert_null(expert_loads_new("x", "", cases[i].rows, cases[i].n, &fault));
        if (!strstr(fault.why, cases[i].why)) fail_msg("%s", fault.why);
        free(fault.why);
    }
}

/* Each layer for itself: every token chooses `active` different experts, and another layer or seed others. */
static void experts__are_drawn_layer_by_layer(void **state)
{
    (void)state;
    double a[DSE_EXPERTS_DRAWN_MAX], b[DSE_EXPERTS_DRAWN_MAX];
    struct dse_workload w = decode(find("qwen3-30b-a3b"), 1, 1000);
    w.routing_exponent = 1.2;
    for (int routing = DSE_ROUTING_UNIFORM; routing <= DSE_ROUTING_POWER_LAW; routing++) {
        w.routing = routing;
        for (int64_t layer = 0; layer < 50; layer++) {
            double sum = 0;
            assert_true(dse_experts_draw(&w, 9, 1, layer, a));
            for (int i = 0; i < 128; i++) {
                assert_true(a[i] >= 0 && a[i] <= 9 && a[i] == floor(a[i]));
                sum += a[i];
            }
            assert_true(sum == 9 * 8);
            assert_true(dse_experts_draw(&w, 9, 1, layer + 1, b) && memcmp(a, b, 128 * sizeof *a) != 0);
            assert_true(dse_experts_draw(&w, 9, 2, layer, b) && memcmp(a, b, 128 * sizeof *a) != 0);
            int64_t n;
            const int64_t first = dse_experts_fullest(&w, a, 8, &n);
            assert_true(n == 16 && first % 16 == 0);
        }
    }
    w.routing = DSE_ROUTING_BALANCED;
    assert_false(dse_experts_draw(&w, 9, 1, 0, a));
}

/* An expansion that draws says of experts what was drawn, and of all else the same. */
static void experts__drawn_are_those_of_the_operators(void **state)
{
    (void)state;
    struct dse_oplist mean, drawn;
    struct dse_workload w = decode(find("qwen3-30b-a3b"), 24, 1000);
    w.tensor_parallel = 1;
    w.data_parallel = w.expert_parallel = 8;
    const struct dse_draw draw = {.seed = 3, .layer = 5, .layers = 1};
    const struct experts_at_work work = experts_drawn(&w, 24, 8, &draw);
    dse_workload_expand(&w, &mean);
    dse_workload_expand_drawn(&w, -1, &draw, &drawn);
    assert_int_equal(mean.n, drawn.n);
    for (int i = 0; i < mean.n; i++) {
        const struct dse_op *a = &mean.op[i], *b = &drawn.op[i];
        assert_string_equal(a->name, b->name);
        if (strncmp(a->name, "experts_", 8) == 0) {
            assert_true(b->copies == work.touched && fabs(b->rows * b->copies / work.rows - 1) < 1e-9);
            assert_true(fabs(b->weight_bytes / b->copies / (a->weight_bytes / a->copies) - 1) < 1e-12);
        } else if (a->kind == DSE_OP_COLLECTIVE && a->exchange.kind == DSE_ALL_TO_ALL) {
            assert_true(fabs(b->exchange.imbalance - work.rows / (3 * 8)) < 1e-9);
        } else if (strcmp(a->name, "elementwise") != 0) {
            assert_true(a->ops == b->ops && a->weight_bytes == b->weight_bytes && a->rows == b->rows);
        }
    }
    dse_workload_expand_drawn(&w, -1, &(struct dse_draw){.seed = 3}, &drawn); /* not drawn */
    for (int i = 0; i < mean.n; i++) assert_true(mean.op[i].ops == drawn.op[i].ops && mean.op[i].copies == drawn.op[i].copies);
}

static void experts__at_work_grow_with_tokens(void **state)
{
    (void)state;
    for (size_t i = 0; nth(i); i++) {
        struct dse_workload w = decode(nth(i), 1, 1000);
        if (w.llm->moe.experts == 0) continue;
        for (int routing = DSE_ROUTING_BALANCED; routing <= DSE_ROUTING_POWER_LAW; routing++) {
            w.routing = routing;
            for (w.routing_exponent = 0; w.routing_exponent < 3; w.routing_exponent += 0.4) {
                for (double chips = 1; chips <= (double)w.llm->moe.experts; chips *= 2) {
                    struct experts_at_work last = {0};
                    for (double tokens = 1; tokens < 1e5; tokens *= 1.7) {
                        const struct experts_at_work now = experts_at_work(&w, tokens, chips);
                        assert_true(now.touched <= now.held * (1 + 1e-12) && now.touched > 0);
                        assert_true(now.touched >= last.touched && now.rows >= last.rows);
                        assert_true(now.rows >= tokens * (double)w.llm->moe.experts_active / chips * (1 - 1e-12));
                        last = now;
                    }
                }
            }
        }
    }
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
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "nobody measured"));
    w.speculation.draft_tokens = 4;
    w.speculation.accepted_length = 2;
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "two measured lengths"));
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
            const struct sums more = sum(&w);
            assert_true(more.weights >= s.weights * (1 - 1e-12) && more.macs > s.macs);
            llm.moe.experts_active--;
        }
        if (llm.attention_window > 0) { /* a longer window */
            llm.attention_window *= 2;
            const struct sums longer = sum(&w);
            bool is_chunk = false;
            for (size_t k = 0; k < llm.n_kinds; k++) is_chunk = is_chunk || llm.kinds[k].mixer == DSE_CHUNK;
            if (!is_chunk) assert_true(longer.read >= s.read && longer.macs >= s.macs);
            assert_true(longer.kept >= s.kept);
            llm.attention_window /= 2;
        }
        w.batch += any(1, 50);
        if (w.context_spread == 0) assert_true(sum(&w).macs >= s.macs && sum(&w).weights >= s.weights);
    }
}

static int set_up(void **state)
{
    (void)state;
    struct diags diags;
    diags_init(&diags);
    catalog = catalog_open(&diags);
    diags_release(&diags);
    return catalog ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    catalog_free(catalog);
    return 0;
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
        cmocka_unit_test(experts__touched_are_what_draws_touch),
        cmocka_unit_test(experts__drawn_are_the_mean_over_layers),
        cmocka_unit_test(experts__are_drawn_layer_by_layer),
        cmocka_unit_test(experts__of_a_profile_are_the_sum_over_its_experts),
        cmocka_unit_test(experts__of_a_profile_are_drawn_by_it),
        cmocka_unit_test(experts__loads_that_are_none_are_refused),
        cmocka_unit_test(experts__drawn_are_those_of_the_operators),
        cmocka_unit_test(experts__at_work_grow_with_tokens),
        cmocka_unit_test(drafts__yield_what_the_law_says),
        cmocka_unit_test(drafts__cost_their_layers_and_a_wider_step),
        cmocka_unit_test(chunks__are_work_beside_the_step),
        cmocka_unit_test(contexts__that_differ_have_their_mean),
        cmocka_unit_test(operators__keep_their_order_on_random_points),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
