/* SwiftKV: physics first (bytes and work are conserved, limits where the answer is known), then the published numbers. */
#include "model_points.h"
#include "swiftkv/swiftkv.h"

#include <dse/units.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SETTINGS_MAX = 8 };

/* A point of the model, as `dse eval swiftkv --set ...` sees it. */
struct point {
    struct swiftkv_params params;
    struct swiftkv_metrics metrics;
    struct swiftkv_equations equations;
    struct dse_breakdown parts;
    const char *reason; /* why it is infeasible, or NULL; then there are no metrics */
};

static struct point point(const char *settings) /* separated by spaces */
{
    size_t n;
    const struct model *models = registry_models(&n), *m = NULL;
    for (size_t i = 0; i < n; i++)
        if (models[i].desc == &dse_model_swiftkv) m = &models[i];
    assert_non_null(m);
    char *copy = xstrdup(settings), *list[SETTINGS_MAX], *rest = copy;
    size_t count = 0;
    for (char *word; (word = strsep(&rest, " ")) != NULL;)
        if (*word) {
            assert_true(count < SETTINGS_MAX);
            list[count++] = word;
        }
    struct one o;
    bool ok = one_init(&o, m, list, count);
    diags_print(&diags, stderr, false);
    assert_true(ok);
    struct point p = {0};
    memcpy(&p.params, space_fixed(o.space), sizeof p.params);
    one_release(&o);
    free(copy);
    p.reason = m->desc->check(&p.params);
    if (!p.reason) m->desc->estimate(&p.params, &p.metrics, &p.parts);
    return p;
}

static struct point equated(const char *settings)
{
    struct point p = point(settings);
    dse_model_swiftkv.equate(&p.params, &p.equations);
    return p;
}

static double latency(const char *settings)
{
    struct point p = point(settings);
    if (p.reason) fail_msg("%s: %s", settings, p.reason);
    return p.metrics.common.latency_us;
}

static void assert_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * fabs(want))) fail_msg("%.12g is not %.12g within %g", got, want, tolerance);
}

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
        {"context=5000", "the context is longer than the LLM was made for (max_context)"},
        {"lut_bits=9 q_frac_bits=8", "the table of the exponential has a longer index than there are fraction bits"},
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

/* ---- the cache ------------------------------------------------------------------------------------------------------------- */

/* A cache that keeps S of n positions is read as one of S positions; what is counted of them comes on top. */
static void cache__of_half_is_read_as_one_of_half_the_context(void **state)
{
    (void)state;
    struct point half = point("context=1024 kv_bits=4"), window = point("context=2048 kv_bits=4 eviction=window"),
                 h2o = point("context=2048 kv_bits=4 eviction=h2o"), voting = point("context=2048 kv_bits=4 eviction=voting");
    const double heads = 32, layers = 32, cycle_us = 1 / 225., counted = 2. * 1024 * 2;
    assert_true(window.metrics.common.latency_us == half.metrics.common.latency_us);
    assert_true(window.metrics.common.dram_mib == half.metrics.common.dram_mib && window.metrics.technique_mib == 0);
    assert_true(window.metrics.cached_positions == 1024);
    assert_near(h2o.metrics.technique_mib * DSE_MIB, layers * heads * counted, 1e-12);
    assert_near(voting.metrics.technique_mib * DSE_MIB, layers * counted, 1e-12); /* one decision a layer */
    assert_near(h2o.metrics.common.dram_mib - half.metrics.common.dram_mib, h2o.metrics.technique_mib, 1e-9);
    /* One head a processor: each weight is made once more, and passes a threshold. */
    assert_near(h2o.metrics.common.attention_us - half.metrics.common.attention_us, layers * 1024 * cycle_us, 1e-6);
    assert_near(voting.metrics.common.attention_us - half.metrics.common.attention_us, layers * 2048 * cycle_us, 1e-6);
}

/* Passes that know their weights count them on the way. */
static void cache__passes_with_weights_at_hand_count_for_nothing(void **state)
{
    (void)state;
    struct point whole = point("context=1024 attention=native"), h2o = point("context=2048 attention=native eviction=h2o");
    assert_true(h2o.metrics.common.attention_us == whole.metrics.common.attention_us && h2o.metrics.technique_mib > 0);
}

/* A prompt that is kept whole needs room for all of it. */
static void cache__holds_the_prompt_unless_it_is_streamed(void **state)
{
    (void)state;
    struct point none = point("context=2048"), bulk = point("context=2048 eviction=window"),
                 streamed = point("context=2048 eviction=window boundary=streamed"), half = point("context=1024");
    assert_true(bulk.metrics.dram_footprint_gib == none.metrics.dram_footprint_gib);
    assert_true(streamed.metrics.dram_footprint_gib == half.metrics.dram_footprint_gib);
    struct point prompt = point("context=2048 eviction=window boundary=streamed phase=prefill");
    assert_non_null(strstr(prompt.reason, "a decode step a token"));
    assert_non_null(strstr(point("eviction=h2o eviction_ratio=0").reason, "keeps no position"));
}

/* Pages: everything stays, and bounds of two keys a page are read and multiplied besides. Selection: a prompt pays for it once. */
static void cache__pays_for_pages_and_selection(void **state)
{
    (void)state;
    struct point half = point("context=1024 kv_bits=4"), whole = point("context=2048 kv_bits=4"),
                 quest = point("context=2048 kv_bits=4 eviction=quest"), snapkv = point("context=2048 kv_bits=4 eviction=snapkv"),
                 prompt = point("context=2048 kv_bits=4 eviction=snapkv phase=prefill"),
                 exact = point("context=2048 kv_bits=4 phase=prefill");
    const double layers = 32, heads = 32, pages = 2048 / 16, row = 64, cycle_us = 1 / 225.;
    assert_near(quest.metrics.technique_mib * DSE_MIB, layers * heads * 2 * pages * row, 1e-12);
    assert_near(quest.metrics.common.attention_us - half.metrics.common.attention_us, layers * (2 * 4 + 1) * pages * cycle_us,
                1e-6);
    assert_near((quest.metrics.dram_footprint_gib - whole.metrics.dram_footprint_gib) * DSE_GIB, layers * heads * 2 * pages * row,
                1e-6);
    assert_true(snapkv.metrics.common.latency_us == half.metrics.common.latency_us && snapkv.metrics.technique_mib == 0);
    const double pairs = 32 * 2048 - 32 * 31 / 2.;
    assert_near(prompt.metrics.common.attention_us - exact.metrics.common.attention_us, layers * pairs * cycle_us, 1e-6);
    assert_near(prompt.metrics.technique_mib * DSE_MIB * 2048, layers * heads * 4 * 1024 * row, 1e-9);
    assert_true(prompt.metrics.attention_error == 0);
    assert_non_null(strstr(point("context=2048 eviction=snapkv boundary=as-listed").reason, "needs it whole"));
    assert_non_null(strstr(point("context=32 eviction=quest page=32").reason, "holds apart"));
    assert_non_null(strstr(point("context=2048 eviction=snapkv pool=8").reason, "odd"));
}

static void cache__has_the_quality_that_was_measured(void **state)
{
    (void)state;
    struct dse_retained at;
    struct point p = point("context=1024 eviction=h2o eviction_ratio=0.25 kv_bits=16 quality_from=retention");
    assert_true(dse_retention_at(p.params.cache.retention, "h2o", 1024, 0.25, &at));
    assert_near(p.metrics.retained_mass, at.mass, 1e-12);
    assert_near(p.metrics.attention_error, at.error, 1e-12);
    struct point narrow = point("context=1024 eviction=h2o eviction_ratio=0.25 quality_from=retention");
    assert_true(isnan(narrow.metrics.retained_mass));
    assert_non_null(strstr(dse_model_swiftkv.why_null(&narrow.params, "retained_mass"), "kv_bits"));
    /* A surface says how heads differ, too. */
    struct dse_quality_query q = {.method = "h2o", .context = 1024, .ratio = 0.25};
    struct dse_quality_place place;
    struct point surface = point("context=1024 eviction=h2o eviction_ratio=0.25 kv_bits=16 boundary=streamed");
    assert_null(dse_quality_find(surface.params.cache.surface, &q, &place));
    assert_near(surface.metrics.attention_error, dse_quality_mean(&place, DSE_Q_ATTENTION_ERROR), 1e-12);
    assert_near(surface.metrics.attention_error_sd, dse_quality_stat(&place, DSE_Q_ATTENTION_ERROR, DSE_Q_SD), 1e-12);
    assert_true(isnan(p.metrics.attention_error_sd) && surface.metrics.attention_error_sd > 0);
    assert_non_null(strstr(dse_model_swiftkv.why_null(&p.params, "attention_error_sd"), "how heads differ"));
    /* Fixed point loses a little of its own; dropped bits more than rounded ones, fewer bits more; beyond what was measured: unknown. */
    struct point fixed = point("context=1024 arithmetic_error=measured"),
                 both =
                     point("context=1024 eviction=h2o eviction_ratio=0.25 kv_bits=16 boundary=streamed arithmetic_error=measured");
    assert_near(both.metrics.attention_error, surface.metrics.attention_error + fixed.metrics.attention_error, 1e-12);
    assert_true(fixed.metrics.attention_error > 0 && fixed.metrics.attention_error < 0.02);
    assert_true(point("context=1024 arithmetic_error=measured exp_rounding=round").metrics.attention_error <
                fixed.metrics.attention_error);
    assert_true(point("context=1024 arithmetic_error=measured q_frac_bits=14").metrics.attention_error >
                fixed.metrics.attention_error);
    struct point far = point("context=4096 arithmetic_error=measured");
    assert_true(isnan(far.metrics.attention_error) && far.metrics.retained_mass == 1);
    struct point whole = point("context=1024");
    assert_true(whole.metrics.retained_mass == 1 && whole.metrics.attention_error == 0);
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
        cmocka_unit_test(cache__of_half_is_read_as_one_of_half_the_context),
        cmocka_unit_test(cache__passes_with_weights_at_hand_count_for_nothing),
        cmocka_unit_test(cache__holds_the_prompt_unless_it_is_streamed),
        cmocka_unit_test(cache__pays_for_pages_and_selection),
        cmocka_unit_test(cache__has_the_quality_that_was_measured),
        cmocka_unit_test(published__one_constant_serves_both_latencies),
        cmocka_unit_test(published__equations_give_the_papers_digits),
        cmocka_unit_test(published__held_out_numbers_are_predicted),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
