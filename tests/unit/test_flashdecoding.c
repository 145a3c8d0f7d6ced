/* A step of the flashdecoding model: conservation, limits, devices, launches, softmax, engines. */
#include "flashdecoding_test.h"

static double weight_bytes(const struct point *p)
{
    const struct dse_llm *llm = llm_of(p);
    return ((double)llm->layers * dse_llm_layer_weights(llm) + dse_llm_head_weights(llm)) * get(p, "weight_bits") / 8;
}

static double kv_bytes(const struct point *p)
{
    return get(p, "batch") * get(p, "context") * dse_kv_bytes_per_token(llm_of(p), get(p, "kv_bits"));
}

/* ---- the cache --------------------------------------------------------------------------------------------------------------- */

/* Attention of a cache that keeps half is that of half the context; what the technique takes comes on top. */
static void cache__of_half_is_read_as_one_of_half_the_context(void **state)
{
    (void)state;
    const struct point short_one = point("context=1024 batch=8"), window = point("context=2048 batch=8 eviction=window"),
                       h2o = point("context=2048 batch=8 eviction=h2o"), quest = point("context=2048 batch=8 eviction=quest"),
                       whole = point("context=2048 batch=8"), two = point("tensor_parallel=2 eviction=voting");
    const struct metrics half = estimated(&short_one), w = estimated(&window), h = estimated(&h2o), q = estimated(&quest);
    const double heads = 32, layers = 32, batch = 8;
    assert_true(w.latency_us == half.latency_us && w.technique_us == 0 && w.cached_positions == 1024);
    assert_near(h.attention_us, half.attention_us + h.technique_us, 1e-12);
    assert_near(h.technique_mib * DSE_MIB, layers * heads * 1024 * (2 * 4 + 2 * 2), 1e-12); /* scores, and counts */
    assert_near(q.technique_mib * DSE_MIB, layers * heads * 2 * (2048. / 16) * 256, 1e-12);
    assert_near(h.dram_mib, half.dram_mib + h.technique_mib, 1e-12);
    assert_near((q.dram_footprint_gib - estimated(&whole).dram_footprint_gib) * DSE_GIB,
                batch * layers * heads * 2 * (2048. / 16) * 256, 1e-9);
    assert_true(h.attention_error > 0 && h.retained_mass > w.retained_mass);
    assert_non_null(strstr(refusal(&two), "all heads on one device"));
}

/* ---- bytes over bandwidth ---------------------------------------------------------------------------------------------------- */

/* What other systems are compared with: an engine whose efficiencies hold everything. */
static void fitted_engine__decodes_in_bytes_over_efficiency_and_nothing_else(void **state)
{
    (void)state;
    static const char *const machines[] = {"gpu=a100-40gb-pcie engine=vllm batch=8 context=2048",
                                           "gpu=a100-40gb-pcie engine=vllm batch=1 context=512"};
    for (size_t i = 0; i < 2; i++) {
        struct point p = point(machines[i]);
        const struct dse_entry *e;
        for (size_t l = 0; (e = catalog_at(catalog, DSE_KIND_LLM, l)); l++) {
            set_llm(&p, (const struct dse_llm *)e);
            if (refusal(&p) || !dse_llm_is_plain(llm_of(&p))) continue;
            struct metrics m = estimated(&p);
            if (llm_of(&p)->heads == llm_of(&p)->kv_heads) /* with shared heads decode may be bound by the vector units */
                assert_near(m.attention_us, kv_bytes(&p) / (1555e9 * get(&p, "attention_efficiency")) * 1e6, 1e-12);
            assert_near(m.linear_us, weight_bytes(&p) / (1555e9 * get(&p, "linear_efficiency")) * 1e6, 1e-12);
            assert_near(m.latency_us, m.linear_us + m.attention_us, 1e-12);
            assert_near(m.power_w, 250, 1e-12);
        }
    }
}

static void decode__moves_the_weights_once_and_the_cache_once(void **state)
{
    (void)state;
    static const char *const points[] = {"batch=1",
                                         "batch=16 context=4096",
                                         "batch=4 dataflow=static",
                                         "tensor_parallel=4 batch=8",
                                         "llm=chatglm2-6b batch=32 tensor_parallel=2",
                                         "weight_bits=4 kv_bits=8"};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        struct point p = point(points[i]);
        struct metrics m = estimated(&p);
        assert_near(m.dram_mib * get(&p, "batch") * DSE_MIB, weight_bytes(&p) + kv_bytes(&p), 1e-12);
    }
}

static void decode__shared_heads_read_a_group_once(void **state)
{
    (void)state;
    struct point p = point("llm=llama3-8b batch=4 kernel_losses=included"), all = p;
    struct dse_llm llm = *llm_of(&p);
    llm.kv_heads = llm.heads;
    assert_null(dse_llm_resolve(&llm));
    set_llm(&all, &llm);
    set(&p, "vector_tflops", 1e5);
    set(&all, "vector_tflops", 1e5);
    assert_near(estimated(&all).attention_us, 4 * estimated(&p).attention_us, 1e-9);
}

static void devices__hold_one_kv_head_at_least(void **state)
{
    (void)state;
    struct point p = point("llm=chatglm2-6b tensor_parallel=2 kernel_losses=included"),
                 more = point("llm=chatglm2-6b tensor_parallel=8 kernel_losses=included");
    set(&p, "launch_us", 0);
    set(&more, "launch_us", 0);
    set(&p, "vector_tflops", 1e5);
    set(&more, "vector_tflops", 1e5);
    assert_near(estimated(&more).attention_us, estimated(&p).attention_us, 1e-12);
    const double kv = kv_bytes(&p) / DSE_GIB; /* each of two devices has one of two heads */
    const double weights = estimated(&p).dram_footprint_gib * 2 - kv;
    assert_near(estimated(&more).dram_footprint_gib, weights / 8 + kv / 2, 1e-12);
}

/* ---- limits -------------------------------------------------------------------------------------------------------------- */

static void limit__infinite_bandwidth_leaves_the_tensor_cores(void **state)
{
    (void)state;
    struct point p = point("batch=64 context=64 dataflow=static");
    set(&p, "bandwidth_gbs", 1e9);
    set(&p, "l1_bytes", 1 << 30);
    set(&p, "launch_us", 0);
    double ops = 2 * 64 * (weight_bytes(&p) / 2);
    assert_near(estimated(&p).linear_us, ops / 312e12 * 1e6, 1e-3);
}

static void limit__prefill_is_bound_by_computing_and_counts_half_the_square(void **state)
{
    (void)state;
    struct point p = point("phase=prefill context=4096 softmax=synchronized kernel_losses=included"), twice = p;
    struct metrics m = estimated(&p);
    assert_string_equal(m.bound, "compute");
    double pairs = 4096. * 4097 / 2, ops = 4 * pairs * 128 * 32 * 32;
    assert_near(m.attention_us, 1.188 * ops / (0.7 * 312e12) * 1e6, 1e-9);
    assert_true(m.compute_utilization > 0.5 && m.compute_utilization < 1);
    set(&twice, "batch", 2);
    assert_near(estimated(&twice).attention_us, 2 * m.attention_us, 1e-9);
}

/* Of all layers, without the update and with: what loading or computing takes, whichever is longer, and what is fixed. */
static double drawn_us(const struct point *p)
{
    return estimated(p).sync_us / get(p, "sync_overhead");
}
static double fixed_us(const struct point *p)
{
    const struct metrics m = estimated(p);
    return m.attention_us - m.sync_us - drawn_us(p);
}

/* E13: what blocks draw, tail waves left out; and the fixed term. The event level takes 380, 468 and 2316 us without the gaps
 * between its kernels. */
static void attention__sees_how_many_sms_there_are(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double load_us;
    } cases[] = {
        {"sms=108", 329.2},                                 /* the bandwidth: 32 heads of 4 splits keep 128 of 216 slots busy */
        {"sms=54", 329.2 * 81 / 64},                        /* three waves of a part in 256, at what a block draws: 3 * 108 / 256 */
        {"sms=108 split_positions=1024", 329.2 * 108 / 32}, /* a block a head */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *settings = xasprintf("%s softmax=synchronized launch_us=0", cases[i].settings);
        struct point p = point(settings);
        assert_near(drawn_us(&p), cases[i].load_us, 1e-3);
        assert_true(fixed_us(&p) > 32 * 0.6 && fixed_us(&p) < 0.05 * drawn_us(&p) + 32 * 5);
        set(&p, "sms", 10);
        assert_true(drawn_us(&p) > 5.4 * 329.2 && drawn_us(&p) < 6.8 * 329.2);
        choose(&p, "kernel_losses", "included");
        assert_true(fabs(fixed_us(&p)) < 1e-9 * drawn_us(&p) && drawn_us(&p) > 5.3 * 329.2);
        free(settings);
    }
}

/* Twice the SMs halve what is bound by computing: a property of sms, whose rates are the catalog's. */
static void sms__bring_their_own_rates(void **state)
{
    (void)state;
    struct point p = point("phase=prefill context=4096 kernel_losses=included"), twice = p, faster = p;
    set(&twice, "sms", get(&twice, "sms") * 2);
    set(&faster, "clock_ghz", get(&faster, "clock_ghz") * 2);
    struct point *const all[] = {&p, &twice, &faster};
    for (size_t i = 0; i < 3; i++) {
        set(all[i], "bandwidth_gbs", 1e5);
        set(all[i], "l2_mib", 4096);
    }
    struct metrics one = estimated(&p);
    assert_near(estimated(&twice).attention_us, one.attention_us / 2, 1e-9);
    assert_near(estimated(&faster).attention_us, one.attention_us / 2, 1e-9);
    assert_true(estimated(&twice).linear_us < one.linear_us * 0.51);
}

/* ---- launches and fusion ------------------------------------------------------------------------------------------------- */

static void launch__only_kernels_shorter_than_it_wait(void **state)
{
    (void)state;
    struct point p = point("batch=1 context=1024"), slow = p;
    assert_near(estimated(&p).launch_wait_us, 0, 0);
    set(&slow, "launch_us", 1000);
    struct metrics m = estimated(&slow), free_of = estimated(&p);
    double kernels = 32 * 5 + 1; /* QKV, output, gate, up, down; the head */
    assert_near(m.linear_us, 1000 * kernels, 1e-12);
    assert_near(m.attention_us, 1000 * 2 * 32, 1e-12);
    assert_near(m.launch_wait_us, m.latency_us - free_of.latency_us, 1e-9);
    assert_string_equal(m.bound, "latency");
}

static void fusion__hides_small_kernels_and_its_lack_costs_launches(void **state)
{
    (void)state;
    struct point p = point("batch=1"), separate = p;
    set(&separate, "elementwise_kernels", 24);
    double fused = estimated(&p).latency_us;
    assert_near(fused, estimated(&p).linear_us + estimated(&p).attention_us, 1e-12);
    assert_near(estimated(&separate).latency_us - fused, 24 * 32 * 4, 1e-9);
}

/* ---- devices ------------------------------------------------------------------------------------------------------------- */

static void devices__divide_the_work_and_pay_the_ring(void **state)
{
    (void)state;
    struct point one = point("llm=llama2-13b batch=4 engine=vllm"), four = one;
    set(&four, "tensor_parallel", 4);
    struct metrics a = estimated(&one), b = estimated(&four);
    assert_near(b.linear_us, a.linear_us / 4, 1e-9);
    assert_near(b.attention_us, a.attention_us / 4, 1e-9);
    assert_near(b.power_w, 4 * a.power_w, 1e-12);
    assert_near(b.area_mm2, 4 * a.area_mm2, 1e-12);
    double bytes = 4. * 5120 * 2, ring = 2 * 3 * (bytes / 4 / 300e9 * 1e6 + 2);
    assert_near(b.communication_us, 2 * 40 * ring, 1e-12);
    assert_near(a.communication_us, 0, 0);
    assert_near(b.latency_us, b.linear_us + b.attention_us + b.communication_us, 1e-12);
}

/* ---- softmax ------------------------------------------------------------------------------------------------------------- */

static void softmax__asynchronous_pays_for_recomputation_alone(void **state)
{
    (void)state;
    static const char *const phases[] = {"phase=decode kernel_losses=included", "phase=prefill kernel_losses=included"};
    for (size_t i = 0; i < 2; i++) {
        struct point async = point(phases[i]), sync = async, never = async, always = async;
        choose(&sync, "softmax", "synchronized");
        set(&never, "recompute_percent", 0);
        set(&always, "recompute_percent", 100);
        double alone = estimated(&never).attention_us;
        assert_near(estimated(&never).sync_us, 0, 0);
        assert_near(estimated(&sync).attention_us, 1.188 * alone, 1e-12);
        assert_near(estimated(&async).attention_us, (1 + 0.0045 * 1.188) * alone, 1e-12);
        assert_near(estimated(&always).attention_us, 2.188 * alone, 1e-12); /* in vain, and again */
        assert_near(equated(&async).async_speedup, 1.188 / (1 + 0.0045 * 1.188), 1e-12);
    }
}

static void softmax__a_range_that_float32_cannot_hold_is_refused(void **state)
{
    (void)state;
    struct point p = point("context=1024");
    assert_near(equated(&p).exponent_range, 23.3, 1e-12);
    set(&p, "score_high", 81.7 + get(&p, "unified_max")); /* e^81.7 times 1024 is 3.4e38 */
    assert_null(refusal(&p));
    set(&p, "score_high", get(&p, "score_high") + 0.2);
    assert_non_null(strstr(refusal(&p), "overflows float32"));
    choose(&p, "softmax", "synchronized"); /* takes the true maximum */
    assert_null(refusal(&p));
    p = point("unified_max=71");
    assert_non_null(strstr(refusal(&p), "underflows"));
    p = point("score_low=7");
    assert_non_null(strstr(refusal(&p), "score_low"));
}

static void softmax__rows_leave_the_range_more_often_than_scores(void **state)
{
    (void)state;
    struct point p = point("context=1024");
    struct equations e = equated(&p);
    assert_near(e.recompute_at_9999_percent, 100 * (1 - pow(0.9999, 1024)), 1e-9);
    assert_near(1 - pow(e.inside_percent / 100, 1024), 0.0045, 1e-6);
}

/* ---- refusals ------------------------------------------------------------------------------------------------------------ */

static void check__names_what_does_not_fit(void **state)
{
    (void)state;
    struct point p = point("gpu=rtx-3090 llm=llama2-13b");
    assert_non_null(strstr(refusal(&p), "do not fit"));
    set(&p, "tensor_parallel", 2);
    assert_null(refusal(&p));
    p = point("tensor_parallel=64");
    assert_non_null(strstr(refusal(&p), "does not divide the LLM's heads"));
    p = point("context=8192");
    assert_non_null(strstr(refusal(&p), "longer than the LLM"));
}

/* ---- engines ------------------------------------------------------------------------------------------------------------- */

static const struct dse_engine *engine(const char *name)
{
    const struct dse_engine *e = (const struct dse_engine *)catalog_find(catalog, DSE_KIND_ENGINE, name);
    if (!e) fail_msg("no engine %s", name);
    return e;
}

/* The fitted exposed_share stands in flashdecoding.toml, where its fit is recorded, and in the engines that use it. */
static void engines__share_the_fitted_constant(void **state)
{
    (void)state;
    static const char *const with[] = {"flashdecoding++", "flashdecoding", "tensorrt-llm", "openppl", "deepspeed", "hugging-face"};
    struct binding *b = binding_new(registry_find("flashdecoding"), catalog, DSE_SOURCE_DATA, &diags);
    assert_non_null(b);
    double fitted = field_number(schema_find(&registry_find("flashdecoding")->params, "exposed_share"), b->defaults);
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) assert_near(engine(with[i])->exposed_share, fitted, 0);
    assert_near(engine("vllm")->exposed_share, 0, 0);
    binding_free(b);
}

static void engines__that_cannot_be_reproduced_are_marked_as_bounds(void **state)
{
    (void)state;
    static const char *const bounds[] = {"flashdecoding", "tensorrt-llm", "openppl", "deepspeed", "hugging-face"};
    struct point ours = point("batch=8 context=1024");
    double best = estimated(&ours).latency_us;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        if (strncmp(engine(bounds[i])->entry.source, "bound: ", 7) != 0) fail_msg("%s is not marked as a bound", bounds[i]);
        char *settings = xasprintf("batch=8 context=1024 engine=%s", bounds[i]);
        struct point p = point(settings);
        assert_true(estimated(&p).latency_us > best);
        free(settings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache__of_half_is_read_as_one_of_half_the_context),
        cmocka_unit_test(fitted_engine__decodes_in_bytes_over_efficiency_and_nothing_else),
        cmocka_unit_test(decode__moves_the_weights_once_and_the_cache_once),
        cmocka_unit_test(decode__shared_heads_read_a_group_once),
        cmocka_unit_test(devices__hold_one_kv_head_at_least),
        cmocka_unit_test(limit__infinite_bandwidth_leaves_the_tensor_cores),
        cmocka_unit_test(limit__prefill_is_bound_by_computing_and_counts_half_the_square),
        cmocka_unit_test(attention__sees_how_many_sms_there_are),
        cmocka_unit_test(sms__bring_their_own_rates),
        cmocka_unit_test(launch__only_kernels_shorter_than_it_wait),
        cmocka_unit_test(fusion__hides_small_kernels_and_its_lack_costs_launches),
        cmocka_unit_test(devices__divide_the_work_and_pay_the_ring),
        cmocka_unit_test(softmax__asynchronous_pays_for_recomputation_alone),
        cmocka_unit_test(softmax__a_range_that_float32_cannot_hold_is_refused),
        cmocka_unit_test(softmax__rows_leave_the_range_more_often_than_scores),
        cmocka_unit_test(check__names_what_does_not_fit),
        cmocka_unit_test(engines__share_the_fitted_constant),
        cmocka_unit_test(engines__that_cannot_be_reproduced_are_marked_as_bounds),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
