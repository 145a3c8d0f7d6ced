/* Experts at work: whom draws touch, what a profile of loads says, what operators and a batch have of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "expand_test.h"
#include "workload/expert_loads.h"
#include "workload/experts.h"
#include "workload/llm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct dse_choice choice_of(const struct dse_workload *w)
{
    return llm_choice(&w->llm->shape);
}

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
    const struct experts_at_work one = experts_at_work(&w, choice_of(&w), TOKENS, 1),
                                 eight = experts_at_work(&w, choice_of(&w), TOKENS, CHIPS);
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
            const struct experts_at_work mean = experts_at_work(&w, choice_of(&w), cases[i].tokens, cases[i].chips),
                                         drawn = experts_drawn(&w, choice_of(&w), cases[i].tokens, cases[i].chips, &draw),
                                         again = experts_drawn(&w, choice_of(&w), cases[i].tokens, cases[i].chips, &draw);
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
                const struct experts_at_work even = experts_at_work(&w, choice_of(&w), tokens, chips);
                w.routing = DSE_ROUTING_PROFILE;
                w.expert_loads = i ? uneven : loads_of("mixtral-8x7b");
                assert_null(dse_workload_check(&w, DSE_CAN_ALL));
                const struct dse_draw draw = {.seed = 11, .layers = LAYERS};
                const struct experts_at_work mean = experts_at_work(&w, choice_of(&w), tokens, chips),
                                             drawn = experts_drawn(&w, choice_of(&w), tokens, chips, &draw);
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
    assert_non_null(strstr(dse_workload_check(&w, DSE_CAN_ALL), "different numbers of experts"));
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
            assert_true(dse_experts_draw(&w, choice_of(&w), 9, 1, layer, a));
            for (int i = 0; i < 128; i++) {
                assert_true(a[i] >= 0 && a[i] <= 9 && a[i] == floor(a[i]));
                sum += a[i];
            }
            assert_true(sum == 9 * 8);
            assert_true(dse_experts_draw(&w, choice_of(&w), 9, 1, layer + 1, b) && memcmp(a, b, 128 * sizeof *a) != 0);
            assert_true(dse_experts_draw(&w, choice_of(&w), 9, 2, layer, b) && memcmp(a, b, 128 * sizeof *a) != 0);
            int64_t n;
            const int64_t first = dse_experts_fullest(128, a, 8, &n);
            assert_true(n == 16 && first % 16 == 0);
        }
    }
    w.routing = DSE_ROUTING_BALANCED;
    assert_false(dse_experts_draw(&w, choice_of(&w), 9, 1, 0, a));
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
    const struct experts_at_work work = experts_drawn(&w, choice_of(&w), 24, 8, &draw);
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
                        const struct experts_at_work now = experts_at_work(&w, choice_of(&w), tokens, chips);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(experts__touched_are_what_draws_touch),
        cmocka_unit_test(experts__drawn_are_the_mean_over_layers),
        cmocka_unit_test(experts__of_a_profile_are_the_sum_over_its_experts),
        cmocka_unit_test(experts__of_a_profile_are_drawn_by_it),
        cmocka_unit_test(experts__loads_that_are_none_are_refused),
        cmocka_unit_test(experts__are_drawn_layer_by_layer),
        cmocka_unit_test(experts__drawn_are_those_of_the_operators),
        cmocka_unit_test(experts__at_work_grow_with_tokens),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
