/* The Neural Engine's static-shape KV cache: the post's counts, its one measurement, and what others measured. */
#include "ane_test.h"

#include <dse/units.h>

static void post__counts_are_met(void **state)
{
    (void)state;
    struct at a = good("window=512 query_rows=64 cache=two-model"), chunks = good("window=512 cache=chunks"),
              lazy = good("window=512 cache=lazy-softmax");
    assert_true(a.e.prefill_calls == 8 && a.e.cached_rows == 448 && a.e.concats_per_k == 1 && a.e.returned_rows == 64);
    assert_true(a.e.prefill_calls_per_slide == 1 && a.e.generate_calls_per_slide == 64 && a.e.transpose_rows == 64);
    assert_true(chunks.e.chunk_inputs == 7 && chunks.e.concat_pieces == 8 && lazy.e.additions_per_k == 7);
    assert_true(good("cache=none context=3").e.rows_q == 3);
    struct at cached = good("query_rows=1 context=4");
    assert_true(cached.e.rows_q == 1 && cached.e.rows_k == 4 && cached.e.cached_rows == 3);
}

/* About 4x on Llama 2 7B while computing falls eightfold: predicted from the engine's rates alone. */
static void post__speedup_is_predicted_within_13_percent(void **state)
{
    (void)state;
    struct at cached = good("window=512"), none = good("window=512 cache=none");
    double speedup = none.m.latency_us / cached.m.latency_us;
    assert_near(sum_ops(&none) / sum_ops(&cached), 8, 1e-9);
    assert_near(good("").e.balanced_rows, 141, 0.002);
    assert_true(speedup > 3.46 && speedup < 3.49);
}

/* Two numbers of the engine's power give a third one: 5.5 W at a sustained 8.1 Tflop/s. */
static void power__of_a_sustained_matmul_is_that_measured(void **state)
{
    (void)state;
    const struct at a = good("");
    assert_near(get(&a.p, "engine_base_w") + 8.1e12 * get(&a.p, "engine_op_pj") * DSE_PICO, 5.5, 0.01);
}

/* The author's repository: LLaMA2-7B of 4 bits in 13 programs, one program a layer that slides. The first was fitted to. */
#define REPOSITORY "weight_bits=4 programs=13 slide_programs=32 "

static void repository__is_as_fast_and_draws_as_much_as_measured(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double tokens_per_s, within, watts, within_w;
    } measured[] = {{REPOSITORY "layout=square", 7.02, 0.001, 4.2, 0.06},
                    {REPOSITORY "layout=square slide_each=call", 6.42, 0.01, 4.0, 0.05},
                    {REPOSITORY "layout=row slide_each=call", 4.97, 0.03, 3.6, 0.02},
                    {REPOSITORY "layout=row slide_each=call npu=m2", 6.76, 0.03, 0, 0},
                    {REPOSITORY "layout=row slide_each=call npu=m3", 7.12, 0.08, 5.6, 0.08}};
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        const struct at a = good(measured[i].settings);
        assert_near(a.m.tokens_per_s, measured[i].tokens_per_s, measured[i].within);
        if (measured[i].watts > 0) assert_near(a.m.engine_power_w, measured[i].watts, measured[i].within_w);
    }
}

/* All rows at one rate would be 7 times as fast with a cache; the post says about 4. */
static void repository__is_about_four_times_as_fast_with_a_cache(void **state)
{
    (void)state;
    const double with = good(REPOSITORY "layout=square").m.latency_us,
                 without = good(REPOSITORY "layout=square cache=none").m.latency_us;
    assert_near(without / with, 4, 0.08);
    assert_true(good(REPOSITORY "cache=none").m.latency_us / good(REPOSITORY).m.latency_us > 6.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(post__counts_are_met),
        cmocka_unit_test(post__speedup_is_predicted_within_13_percent),
        cmocka_unit_test(power__of_a_sustained_matmul_is_that_measured),
        cmocka_unit_test(repository__is_as_fast_and_draws_as_much_as_measured),
        cmocka_unit_test(repository__is_about_four_times_as_fast_with_a_cache),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
