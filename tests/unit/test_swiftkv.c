/* SwiftKV: physics first (bytes and work are conserved, limits where the answer is known), then the published numbers. */
#include "swiftkv_test.h"

#include <dse/units.h>

/* ---- work and bytes --------------------------------------------------------------------------------------------------------- */

/* What the workload asks for is what the breakdown has: nothing is read less than once. */
static void swiftkv__moves_and_does_what_the_workload_asks_for(void **state)
{
    (void)state;
    for (size_t i = 0; catalog_at(catalog, DSE_KIND_LLM, i); i++) {
        if (!dse_llm_is_plain((const void *)catalog_at(catalog, DSE_KIND_LLM, i))) continue;
        char *settings = xasprintf("llm=%s head=included capacity_gib=256", catalog_at(catalog, DSE_KIND_LLM, i)->name);
        struct point p = point(settings);
        free(settings);
        assert_null(p.reason);
        struct dse_oplist list;
        dse_workload_expand(&p.params.workload, &list);
        double bytes = 0, ops = 0, got = 0;
        for (int k = 0; k < list.n; k++) {
            bytes += list.op[k].weight_bytes + list.op[k].kv_read_bytes + list.op[k].kv_write_bytes;
            ops += list.op[k].ops;
        }
        for (int k = 0; k < p.parts.n; k++)
            if (p.parts.part[k].depth == 0) got += p.parts.part[k].ops;
        assert_near(p.metrics.common.dram_mib * 1048576, bytes, 1e-12);
        assert_near(got, ops, 1e-12);
    }
}

static void swiftkv__heads_that_fetch_alone_read_their_group_again(void **state)
{
    (void)state;
    const char *llama3 = "llm=llama3-8b context=4096 weight_bits=4";
    char *alone = xasprintf("%s kv_fetch=head", llama3);
    struct point group = point(llama3), head = point(alone);
    double kv = 4096 * dse_kv_bytes_per_token(group.params.workload.llm, 8) / 1048576;
    assert_near(head.metrics.common.dram_mib - group.metrics.common.dram_mib, 3 * kv, 1e-9); /* four heads a group */
    free(alone);
    assert_true(latency("kv_fetch=head") == latency("kv_fetch=group")); /* Llama-2 has groups of one */
}

/* A group that does not fit one round is read once a round. */
static void swiftkv__few_processors_read_a_group_in_every_round(void **state)
{
    (void)state;
    struct point two = point("llm=llama3-8b processors=2"), four = point("llm=llama3-8b processors=4");
    double kv = 512 * dse_kv_bytes_per_token(two.params.workload.llm, 8) / 1048576;
    assert_near(two.metrics.common.dram_mib - four.metrics.common.dram_mib, kv, 1e-9);
}

/* GEMV after GEMV: a prompt is as many single steps, with attention over what there is so far. */
static void swiftkv__prefill_is_the_sum_of_its_tokens(void **state)
{
    (void)state;
    double sum = 0;
    for (int n = 1; n <= 40; n++) {
        char *one = xasprintf("context=%d attention=flash block=16", n);
        sum += latency(one);
        free(one);
    }
    assert_near(latency("context=40 phase=prefill attention=flash block=16"), sum, 1e-9);
    assert_near(latency("batch=3"), 3 * latency("batch=1"), 1e-9);
}

static void swiftkv__reuse_of_weights_saves_bytes_not_cycles(void **state)
{
    (void)state;
    struct point alone = point("batch=8 weight_bits=8"), shared = point("batch=8 weight_bits=8 weight_reuse=8");
    double weights = 32 * dse_llm_layer_weights(alone.params.workload.llm) / 1048576;
    assert_near((alone.metrics.common.dram_mib - shared.metrics.common.dram_mib) * 8, 7 * weights, 1e-9);
    double array_us = 8 * 32 * 50688 / (225 * alone.params.gemv_efficiency);
    assert_near(shared.metrics.linear_us, array_us, 1e-9);
    assert_true(alone.metrics.common.bound == DSE_BOUND_DRAM && shared.metrics.common.bound == DSE_BOUND_COMPUTE);
}

/* ---- limits ------------------------------------------------------------------------------------------------------------------ */

static void swiftkv__without_a_memory_wall_the_arrays_pace_it(void **state)
{
    (void)state;
    struct point p = point("bandwidth_gbs=100000 gemv_efficiency=1 rope_cycles=0");
    assert_near(p.metrics.common.latency_us, 32 * (50688 + 4 * 512) / 225.0, 1e-12);
    struct point ideal = point("bandwidth_gbs=100000 gemv_efficiency=1 rope_cycles=0 attention=swiftkv llm=opt-6.7b");
    assert_near(ideal.metrics.common.compute_utilization, 1, 1e-12); /* every width is a multiple of 4096: no lane is idle */
}

static void swiftkv__with_little_bandwidth_the_hbm_paces_it(void **state)
{
    (void)state;
    struct point p = point("bandwidth_gbs=1 dram_efficiency=1 rope_cycles=0");
    assert_near(p.metrics.common.dram_utilization, 1, 1e-12);
    assert_int_equal(p.metrics.common.bound, DSE_BOUND_DRAM);
    /* half of the bandwidth is twice the time when stalls are everywhere, and not when they are in the arrays */
    double both = latency("gemv_stalls=both rope_cycles=0 kv_bits=16"),
           half = latency("gemv_stalls=both rope_cycles=0 kv_bits=16 bandwidth_gbs=230");
    assert_near(half, 2 * both, 0.03);
    assert_true(latency("bandwidth_gbs=230") < 1.35 * latency("bandwidth_gbs=460"));
}

static void swiftkv__an_input_wider_than_the_array_takes_another_pass(void **state)
{
    (void)state;
    struct swiftkv_params p = point("").params;
    assert_true(swiftkv_gemv_cycles(&p, 1, 4096, 1000) == 1000);
    assert_true(swiftkv_gemv_cycles(&p, 1, 4097, 1000) == 2000);
    assert_true(swiftkv_gemv_cycles(&p, 5, 80, 1000) == 5000);
    p.gemv_mapping = SWIFTKV_SEVERAL_OUTPUTS;
    assert_true(swiftkv_gemv_cycles(&p, 1, 4096, 1000) == 1000);
    assert_true(swiftkv_gemv_cycles(&p, 1, 2049, 1000) == 1000);
    assert_true(swiftkv_gemv_cycles(&p, 1, 2048, 1001) == 501);
    assert_true(swiftkv_gemv_cycles(&p, 1, 1, 4097) == 2);
}

static void swiftkv__update_takes_the_cycles_and_dsps_that_it_says(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double cycles, dsps;
    } cases[] = {
        {"value_update=ideal", 4, 4480},
        {"value_update=own", 4, 8576},
        {"value_update=shared", 8, 4480},
        {"value_update=single", 5, 4480},
        {"attention=streaming", 4, 4480},
        {"value_update=single kv_bits=32", 4 + 2, 4480},
        {"llm=opt-2.7b", 3, 4480},
        {"llm=opt-2.7b value_update=shared", 6, 4480},
        {"dsps_per_processor=512", 1, 16768},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct point p = equated(cases[i].settings);
        double got = p.equations.dot_cycles + p.equations.update_cycles;
        if (got != cases[i].cycles) fail_msg("%s: %g cycles, not %g", cases[i].settings, got, cases[i].cycles);
        assert_true(p.equations.array_dsps == cases[i].dsps);
    }
    assert_true(point("value_update=own").metrics.common.compute_utilization <
                point("value_update=shared").metrics.common.compute_utilization);
}

/* Grouped heads, odd head dimensions, more heads than processors. */
static void swiftkv__rounds_follow_from_heads_and_processors(void **state)
{
    (void)state;
    const char *fast = "bandwidth_gbs=100000 rope_cycles=0";
    static const struct {
        const char *settings;
        double cycles; /* of attention */
    } cases[] = {
        {"llm=llama2-13b", 40 * 2 * 512 * 4}, /* 40 heads, 32 processors: two rounds */
        {"processors=40 llm=llama2-13b", 40 * 512 * 4},
        {"processors=31", 32 * 2 * 512 * 4},
        {"llm=llama3-8b processors=31", 32 * 2 * 512 * 4},  /* 7 whole groups of 4 */
        {"llm=chatglm2-6b processors=8", 28 * 4 * 512 * 4}, /* 2 groups of 16 in two rounds each */
        {"llm=opt-2.7b batch=2", 32 * 2 * 512 * 3},
        {"attention=flash block=100 context=401", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *settings = xasprintf("%s %s", fast, cases[i].settings);
        struct point p = point(settings);
        free(settings);
        assert_null(p.reason);
        double want = cases[i].cycles, each = 4 + p.params.t_s_cycles + p.params.t_v_cycles;
        if (want == 0) want = 32 * (401 * each + 5 * p.params.t_b_cycles);
        assert_near(p.metrics.common.attention_us, want / 225, 1e-12);
    }
}

/* ---- what does not fit --------------------------------------------------------------------------------------------------- */

static void swiftkv__refuses_what_cannot_be_built(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"processors=65", "more DSPs than the FPGA has"},
        {"processors=96 dsps_per_processor=64 extra_dsps=0", NULL},
        {"processors=34 value_update=own", "more DSPs than the FPGA has"},
        {"processors=400 dsps_per_processor=30 extra_dsps=0 gemv_dsps=1", "more DSPs than the FPGA has"},
        {"processors=90 dsps_per_processor=100 extra_dsps=0", "more DSPs than the FPGA has"},
        {"processors=1024 dsps_per_processor=8 extra_dsps=0", NULL},
        {"dsps_per_processor=3 processors=1", "the MAC array has fewer DSPs than one product of attention needs"},
        {"dsps_per_processor=3 processors=1 gemv_dsps=4", "the MAC array has fewer DSPs than one weight-activation product needs"},
        {"weight_bits=16 fpga=u280", "weights and KV cache do not fit the DRAM"},
        {"weight_bits=16", NULL},
        {"context=5000", "the context is longer than the LLM's max_context"},
        {"lut_bits=9 q_frac_bits=8", "lut_bits is more than q_frac_bits"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *reason = point(cases[i][0]).reason, *want = cases[i][1];
        if ((reason == NULL) != (want == NULL) || (want && strcmp(reason, want) != 0))
            fail_msg("%s: %s", cases[i][0], reason ? reason : "feasible");
    }
}

static void swiftkv__each_resource_can_be_the_one_that_is_short(void **state)
{
    (void)state;
    struct swiftkv_params p = point("").params;
    const struct {
        struct dse_fpga fpga;
        const char *want;
    } cases[] = {
        {{.luts = 517000, .ffs = 408000, .brams = 406, .dsps = 4518}, NULL},
        {{.luts = 516999, .ffs = 408000, .brams = 406, .dsps = 4518}, "more LUTs than the FPGA has"},
        {{.luts = 517000, .ffs = 407999, .brams = 406, .dsps = 4518}, "more flip-flops than the FPGA has"},
        {{.luts = 517000, .ffs = 408000, .brams = 405, .dsps = 4518}, "more block RAMs than the FPGA has"},
        {{.luts = 517000, .ffs = 408000, .brams = 406, .dsps = 4517}, "more DSPs than the FPGA has"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        p.fpga = &cases[i].fpga;
        const char *reason = swiftkv_chip_check(&p);
        assert_true(cases[i].want ? reason && strcmp(reason, cases[i].want) == 0 : !reason);
    }
}

/* ---- arithmetic ---------------------------------------------------------------------------------------------------------- */

static void swiftkv__products_take_the_dsps_of_their_widths(void **state)
{
    (void)state;
    static const int64_t cases[][3] = {{4, 8, 1},   {8, 8, 1},   {16, 16, 1}, {18, 27, 1}, {27, 18, 1}, {19, 19, 2},
                                       {27, 27, 2}, {28, 18, 2}, {32, 8, 2},  {32, 32, 4}, {35, 53, 4}, {36, 53, 6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(swiftkv_product_dsps(cases[i][0], cases[i][1]) == (double)cases[i][2]);
        assert_true(swiftkv_product_dsps(cases[i][1], cases[i][0]) == (double)cases[i][2]);
    }
}

static void swiftkv__exponential_error_is_what_a_sweep_finds(void **state)
{
    (void)state;
    for (int64_t bits = 1; bits <= 12; bits++) {
        double exact = swiftkv_exp_error(bits), swept = swiftkv_exp_swept(bits, 18, false), bound = swiftkv_exp_estimate(bits);
        assert_true(swept <= exact * (1 + 1e-6));
        assert_near(swept, exact, 1e-4);
        assert_near(exact, bound, 0.36 / (double)(1 << bits)); /* the bound leaves out the third order of the step */
        assert_true(swiftkv_exp_swept(bits, 18, true) >= swept);
    }
    assert_near(swiftkv_exp_swept(5, 24, true), swiftkv_exp_error(5), 0.005); /* enough bits: rounding is no matter */
}

static void swiftkv__rotary_drift_stays_under_its_bound(void **state)
{
    (void)state;
    static const int64_t bits[] = {8, 12, 17, 24}, positions[] = {1, 7, 64, 512, 4096, 32768};
    for (size_t b = 0; b < 4; b++)
        for (size_t i = 0; i < 6; i++) {
            double bound = swiftkv_rope_bound(bits[b], (double)positions[i]);
            double drift = swiftkv_rope_simulated(bits[b], 10000, 128, positions[i]);
            if (!(drift <= bound)) fail_msg("%d bits, %d positions: %g above %g", (int)bits[b], (int)positions[i], drift, bound);
            if (bound < 0.5) assert_true(drift > bound / 4);
        }
    assert_true(swiftkv_rope_bound(8, 1048576) == 2 && swiftkv_rope_simulated(8, 10000, 128, 131072) == 2);
}

/* ---- power --------------------------------------------------------------------------------------------------------------- */

static void swiftkv__power_follows_size_and_clock(void **state)
{
    (void)state;
    assert_near(point("power=constant").metrics.chip_power_w, 18.3, 1e-12);
    assert_near(point("power=constant clock_mhz=112.5").metrics.chip_power_w, 18.3 / 2, 1e-12);
    assert_near(point("power=constant clock_mhz=112.5 static_share=0.5").metrics.chip_power_w, 18.3 * 0.75, 1e-12);
    assert_near(point("power=constant processors=16").metrics.chip_power_w, 18.3 * (14 + 503 / 2.0) / 517, 1e-12);
    struct point p = point("");
    assert_near(p.metrics.common.power_w, p.metrics.chip_power_w + p.metrics.dram_power_w, 1e-12);
    assert_near(p.metrics.tokens_per_j, p.metrics.common.tokens_per_s / p.metrics.common.power_w, 1e-12);
}

/* Where the paper measured its 18.3 W, both ways of counting give them; elsewhere the chip draws for what it does. */
static void swiftkv__logic_draws_for_what_it_does(void **state)
{
    (void)state;
    const struct swiftkv_metrics full = point("").metrics;
    assert_near(full.chip_power_w, 18.3, 1e-9);
    assert_near(full.common.energy_mj, point("power=constant").metrics.common.energy_mj, 1e-9);
    /* Starved of bandwidth the same products take longer: the step pays leakage and clock for that time and nothing else. */
    const struct swiftkv_metrics starved = point("bandwidth_gbs=46").metrics;
    const double longer_s = (starved.common.latency_us - full.common.latency_us) / 1e6;
    assert_true(longer_s > 0.01 && starved.chip_power_w < 0.6 * 18.3);
    assert_near((starved.common.energy_mj - full.common.energy_mj) / 1e3, 18.3 * (0.15 + 0.85 * 0.33) * longer_s, 1e-6);
    /* Twice the processors on an LLM that cannot use them: their clock, and no more. */
    const struct swiftkv_metrics few = point("bandwidth_gbs=46").metrics,
                                 many = point("bandwidth_gbs=46 processors=64 fpga=u55c").metrics;
    assert_near(many.common.latency_us, few.common.latency_us, 0.01);
    const double clock_w = 18.3 * 0.85 * 0.33 * 503 / 517;
    assert_near(many.chip_power_w - few.chip_power_w, clock_w, 0.02);
}

/* At half the clock the same work takes no less energy of logic, and leaks for longer. */
static void swiftkv__a_slower_clock_saves_no_logic(void **state)
{
    (void)state;
    const struct swiftkv_metrics fast = point("").metrics, slow = point("clock_mhz=112.5").metrics;
    const double leaked_mj = 18.3 * 0.15 * (slow.common.latency_us - fast.common.latency_us) / 1e3;
    const double clock_mj = 18.3 * 0.85 * 0.33 * (slow.common.latency_us / 2 - fast.common.latency_us) / 1e3;
    assert_near(slow.common.energy_mj - fast.common.energy_mj, leaked_mj + clock_mj, 1e-6);
}

/* ---- the published numbers: the rest are claims (claims.toml) ------------------------------------------------------------ */

static void published__one_constant_serves_both_latencies(void **state)
{
    (void)state;
    assert_near(latency(""), 12300, 1e-5); /* fitted */
    double held_out = latency("llm=chatglm-6b") / 10400 - 1;
    print_message("ChatGLM-6B: %+.2f %%\n", 100 * held_out);
    assert_true(fabs(held_out) < 0.005);
}

static void published__equations_give_the_papers_digits(void **state)
{
    (void)state;
    struct point p = equated("");
    const struct swiftkv_equations *e = &p.equations;
    assert_true(e->gemv_lanes == 128 && e->gemv_width == 4096 && e->fxp_lanes == 32 && e->position_cycles == 4);
    assert_near(e->gemv_peak_gops, 1836, 1e-12);
    assert_true(e->layer_gemv_cycles == 50688 && e->layer_ideal_cycles == 49408);
    assert_true(equated("llm=chatglm-6b").equations.layer_gemv_cycles == 49152);
    assert_near(e->token_ops, 13.483e9, 1e-4);
    assert_true(e->budget_dsps == 8192);
    assert_near(p.metrics.exp_error_percent, 0.005865, 1e-4);
    assert_near(e->rope_simulated_drift, 2.4e-3, 0.03);
    assert_near(equated("context=4096").equations.rope_simulated_drift, 1.9e-2, 0.03);
    assert_true(p.metrics.luts == 517e3 && p.metrics.ffs == 408e3 && p.metrics.brams == 406 && p.metrics.dsps == 4518);
}

static void published__held_out_numbers_are_predicted(void **state)
{
    (void)state;
    struct point ours = point(""), native = point("attention=native"), flash = point("attention=flash");
    assert_near(native.metrics.common.attention_us / flash.metrics.common.attention_us, 1.46, 0.015);
    assert_near(ours.metrics.dram_power_w, 15.5, 0.0105);
    assert_true(ours.metrics.attention_share > 0.0237 && ours.metrics.attention_share < 0.03); /* published: 3.19 % */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swiftkv__moves_and_does_what_the_workload_asks_for),
        cmocka_unit_test(swiftkv__heads_that_fetch_alone_read_their_group_again),
        cmocka_unit_test(swiftkv__few_processors_read_a_group_in_every_round),
        cmocka_unit_test(swiftkv__prefill_is_the_sum_of_its_tokens),
        cmocka_unit_test(swiftkv__reuse_of_weights_saves_bytes_not_cycles),
        cmocka_unit_test(swiftkv__without_a_memory_wall_the_arrays_pace_it),
        cmocka_unit_test(swiftkv__with_little_bandwidth_the_hbm_paces_it),
        cmocka_unit_test(swiftkv__an_input_wider_than_the_array_takes_another_pass),
        cmocka_unit_test(swiftkv__update_takes_the_cycles_and_dsps_that_it_says),
        cmocka_unit_test(swiftkv__rounds_follow_from_heads_and_processors),
        cmocka_unit_test(swiftkv__refuses_what_cannot_be_built),
        cmocka_unit_test(swiftkv__each_resource_can_be_the_one_that_is_short),
        cmocka_unit_test(swiftkv__products_take_the_dsps_of_their_widths),
        cmocka_unit_test(swiftkv__exponential_error_is_what_a_sweep_finds),
        cmocka_unit_test(swiftkv__rotary_drift_stays_under_its_bound),
        cmocka_unit_test(swiftkv__power_follows_size_and_clock),
        cmocka_unit_test(swiftkv__logic_draws_for_what_it_does),
        cmocka_unit_test(swiftkv__a_slower_clock_saves_no_logic),
        cmocka_unit_test(published__one_constant_serves_both_latencies),
        cmocka_unit_test(published__equations_give_the_papers_digits),
        cmocka_unit_test(published__held_out_numbers_are_predicted),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
