/* Steps of LLMs with layers of several kinds, and of several chips (E36 to E40). Laws that hold for all models are in
 * test_models_llms.c; that an ideal run is the closed form, of these LLMs too, in test_flashdecoding_events.c. */
#include "flashdecoding_test.h"

/* Of operators of that name, with what they wait. */
static double seconds_of(const struct dse_breakdown *b, const char *name)
{
    return part_named(b, name)->time_us / DSE_US_PER_S;
}

/* Operations that a step is charged for, over the same peak. */
static double ops_of(const struct point *p)
{
    const struct metrics m = estimated(p);
    return m.compute_utilization * m.latency_us;
}

/* An LLM with full attention and dense networks comes out as it does by E1 to E15, when its operators are taken one by one, as
 * those of devices that share sequences are. */
static void dense__llms_are_the_same_both_ways(void **state)
{
    (void)state;
    static const char *const cases[] = {"",
                                        "batch=8 context=777",
                                        "phase=prefill context=900 batch=2",
                                        "engine=hugging-face batch=5",
                                        "engine=vllm-0.14 gpu=h100 batch=16",
                                        "engine=vllm-0.14 gpu=h100 phase=prefill",
                                        "kernel_losses=included kv_bits=4 kv_scale_bits=1 batch=8",
                                        "llm=chatglm2-6b batch=32"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct point plain = point(cases[i]);
        struct point parts = plain; /* of two devices with a half of the sequences each */
        set(&parts, "data_parallel", 2);
        set(&parts, "batch", 2 * get(&plain, "batch"));
        const struct metrics a = estimated(&plain), b = estimated(&parts);
        const struct dse_breakdown of_a = parts_of(&plain), of_b = parts_of(&parts);
        assert_near(b.linear_us, a.linear_us, 1e-12);
        assert_near(b.attention_us, a.attention_us, 1e-12);
        assert_near(seconds_of(&of_b, "elementwise"), seconds_of(&of_a, "elementwise"), 1e-12);
        assert_near(b.dram_mib, a.dram_mib, 1e-12);
        assert_near(ops_of(&parts), ops_of(&plain), 1e-12);
        assert_near(b.latency_us - part_named(&of_b, "host")->time_us, a.latency_us - part_named(&of_a, "host")->time_us, 1e-12);
    }
}

/* A matrix of 16 bits multiplies activations of 16, whatever narrow activations the others get and what peak they have: E36. */
static void operands__are_both_narrow_or_both_wide(void **state)
{
    (void)state;
    static const char wide[] = "engine=vllm-0.14 gpu=h100 phase=prefill context=8192 llm=gpt-oss-20b format=mxfp4-experts";
    char *text = xasprintf("%s activation_bits=8", wide);
    const struct point p = point(wide), q = point(text);
    const struct dse_breakdown a = parts_of(&p), b = parts_of(&q);
    static const char *const same[] = {"qkv_projection", "output_projection", "router", "lm_head"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) assert_near(seconds_of(&b, same[i]), seconds_of(&a, same[i]), 1e-12);
    assert_true(seconds_of(&b, "experts_up") < 0.8 * seconds_of(&a, "experts_up"));
    free(text);
}

static void assert_between(double low, double v, double high)
{
    if (!(low <= v && v <= high)) fail_msg("%g is not between %g and %g", v, low, high);
}

/* A GEMM of 8 bits runs at the fp8 peak, with half the energy an operation; attention stays as it is (E26, E28). */
static void narrow__gemms_run_at_the_peak_of_their_format(void **state)
{
    (void)state;
    static const char wide[] = "engine=vllm-0.14 gpu=h100 llm=llama2-70b phase=prefill context=4096 capacity_gib=1000 "
                               "gemm_narrow_share=1 gemm_reach_bytes=4096";
    char *half = xasprintf("%s weight_bits=8", wide), *eight = xasprintf("%s weight_bits=8 activation_bits=8", wide),
         *fast = xasprintf("%s weight_bits=8 activation_bits=8 fp8_tflops=3957.8", wide);
    const struct point p = point(wide), q = point(half), r = point(eight), s = point(fast);
    const struct dse_breakdown a = parts_of(&p), b = parts_of(&q), c = parts_of(&r), d = parts_of(&s);
    const double up = seconds_of(&a, "ffn_up");
    assert_near(seconds_of(&b, "ffn_up"), up, 0.02); /* they are computed in 16 bits, whatever they are stored in */
    assert_between(0.45 * up, seconds_of(&c, "ffn_up"), 0.6 * up);
    assert_true(seconds_of(&d, "ffn_up") < 0.7 * seconds_of(&c, "ffn_up"));
    assert_near(seconds_of(&c, "attention"), seconds_of(&a, "attention"), 1e-12);
    assert_near(ops_of(&q), ops_of(&p), 1e-12);
    assert_between(0.5 * ops_of(&p), ops_of(&r), 0.55 * ops_of(&p)); /* they are what the energy is charged for */
    free(half);
    free(eight);
    free(fast);
}

/* What the tensor cores do not have is refused where it was asked for, and computed in 16 bits where the format would have it. */
static void narrow__numbers_without_a_peak_are_refused_or_wide(void **state)
{
    (void)state;
    static const char same[] = "engine=vllm-0.14 gpu=a100-80gb llm=llama3.1-8b phase=prefill context=2048 ";
    static const struct {
        const char *settings, *why;
    } cases[] = {
        {"weight_bits=8 activation_bits=8", "no peak of fp8: give fp8_tflops, or narrow_numbers = integer"},
        {"weight_bits=8 activation_bits=8 narrow_numbers=integer", NULL},
        {"activation_bits=4 weight_bits=4 narrow_numbers=integer", "integers of 4 bits are not computed in"},
        {"weight_bits=8 activation_bits=8 fp8_tflops=500", NULL},
        {"activation_bits=4 weight_bits=4 fp8_tflops=500", "no peak of fp4: give fp4_tflops"},
        {"activation_bits=8 fp8_tflops=500 weight_bits=4", NULL},
        {"activation_bits=8 weight_bits=16", NULL},
        {"weight_bits=8 activation_bits=8 narrow_numbers=integer tensor_tflops=624", "tensor_tflops is the peak of 16 bits"},
        {"weight_bits=8 activation_bits=8 narrow_numbers=integer tensor_tflops=624 int8_tops=1248", NULL},
        {"format=fp8-blocks", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = xasprintf("%s%s", same, cases[i].settings);
        const struct point p = point(text);
        const char *why = refusal(&p);
        if (cases[i].why ? !why || !strstr(why, cases[i].why) : why != NULL) fail_msg("%s: %s", text, why ? why : "accepted");
        free(text);
    }
    char *blocks = xasprintf("%sformat=fp8-blocks", same);
    const struct point p = point(blocks), q = point("engine=vllm-0.14 gpu=h100 llm=llama3.1-8b format=fp8-blocks");
    struct dse_standing a100 = {0}, h100 = {0};
    p.model->desc->stand(p.params, &a100);
    p.model->desc->stand(q.params, &h100);
    assert_non_null(strstr(a100.beyond[a100.n_beyond - 1], "have 16 bits here"));
    assert_non_null(strstr(h100.beyond[h100.n_beyond - 1], "the loss from activations below 16 bits"));
    const struct point wide = point(same), wide_h100 = point("engine=vllm-0.14 gpu=h100 llm=llama3.1-8b");
    assert_near(ops_of(&p), ops_of(&wide), 1e-12);
    assert_between(0.5 * ops_of(&wide_h100), ops_of(&q), 0.7 * ops_of(&wide_h100)); /* the head has 16 bits */
    free(blocks);
}

/* Where the cache is cold and activations stay in the last-level cache, decode moves what the operators do. */
static void decode__moves_the_bytes_of_the_operators(void **state)
{
    (void)state;
    const struct dse_entry *e;
    struct point p = point("batch=4 context=3000 gpu=h200 capacity_gib=100000 kernel_losses=included dataflow=static");
    for (size_t l = 0; (e = catalog_at(catalog, DSE_KIND_LLM, l)); l++) {
        set_llm(&p, (const struct dse_llm *)(const void *)e);
        if (refusal(&p)) continue;
        const struct dse_breakdown b = parts_of(&p);
        struct dse_oplist ops;
        double moved = 0, wanted = 0, appended = 0;
        dse_workload_expand(work_of(&p), &ops);
        for (int i = 0; i < b.n; i++) moved += b.part[i].depth == 0 ? b.part[i].dram_bytes : 0;
        for (int i = 0; i < ops.n; i++) {
            const struct dse_op *op = &ops.op[i];
            wanted += op->weight_bytes + op->kv_read_bytes;
            appended += op->kv_write_bytes; /* of states; the newest position counts as read (E13) */
            if (op->kind != DSE_OP_RECURRENCE) appended -= op->kv_write_bytes;
        }
        assert_near(moved, wanted + appended, 1e-9);
    }
}

/* The fastest kernel of measured experts is E31's, with the LLM's shape in place of the parameters. */
static void experts__of_measured_kernels_are_those_of_the_equations(void **state)
{
    (void)state;
    static const char same[] = "engine=vllm-0.14 gpu=h100 batch=64 context=16 launches=queued capacity_gib=100000";
    char *step = xasprintf("llm=mixtral-8x7b %s", same),
         *layer = xasprintf("llm=llama2-7b experts=8 experts_active=2 moe_intermediate=14336 %s", same);
    const struct point p = point(step), alone = point(layer);
    const struct dse_breakdown b = parts_of(&p);
    assert_near(seconds_of(&b, "experts_up") + seconds_of(&b, "experts_down"), 32 * equated(&alone).moe_us / DSE_US_PER_S, 1e-12);
    free(step);
    free(layer);
}

/* Latents that all heads share cost what E32 says of a layer. */
static void latents__of_measured_kernels_are_those_of_the_equations(void **state)
{
    (void)state;
    struct point p = point("llm=deepseek-v2-lite engine=vllm-0.14 gpu=h100 batch=8 context=4000"),
                 alone = point("engine=vllm-0.14 gpu=h100 batch=8 context=4000 kv_rank=512 rope_dim=64 capacity_gib=1000");
    struct dse_llm shape = *llm_of(&alone); /* E32 takes heads and their width from the LLM */
    shape.heads = shape.kv_heads = llm_of(&p)->heads;
    assert_null(dse_llm_resolve(&shape));
    set_llm(&alone, &shape);
    const struct dse_breakdown b = parts_of(&p);
    assert_near(part_named(&b, "kv_cache")->time_us, (double)llm_of(&p)->layers * equated(&alone).mla_us, 1e-9);
    assert_true(part_named(&b, "attention")->time_us >= part_named(&b, "kv_cache")->time_us);
}

/* What a device does in its passes. */
static double kernels_us(const struct dse_breakdown *b)
{
    double sum = 0;
    for (int i = 0; i < b->n; i++) sum += b->part[i].depth == 0 ? b->part[i].time_us : 0;
    return sum - part_named(b, "bubble")->time_us - part_named(b, "host")->time_us;
}

/* A device of a pipeline works in the passes that there are sequences for, and waits in the others. */
static void pipeline__waits_for_other_stages(void **state)
{
    (void)state;
    const char *machine_of = "llm=llama3.1-70b gpu=h200 engine=vllm-0.14 context=2000";
    char *one = xasprintf("%s pipeline_parallel=4 batch=1", machine_of),
         *four = xasprintf("%s pipeline_parallel=4 batch=4", machine_of);
    const struct point p = point(one), full = point(four);
    const struct dse_breakdown s = parts_of(&p), busy = parts_of(&full);
    assert_true(fabs(seconds_of(&busy, "bubble")) < 1e-12);
    assert_near(part_named(&s, "bubble")->time_us, 3 * kernels_us(&s), 1e-12);
    assert_near(part_named(&busy, "ffn_up")->dram_bytes, 4 * part_named(&s, "ffn_up")->dram_bytes, 1e-12);
    assert_near(estimated(&full).latency_us - part_named(&busy, "host")->time_us,
                estimated(&p).latency_us - part_named(&s, "host")->time_us, 1e-9); /* micro-batches of one sequence */
    free(one);
    free(four);
}

static void check__says_what_such_llms_cannot_have(void **state)
{
    (void)state;
    const struct point p = point("llm=gpt-oss-20b eviction=h2o context=2000");
    assert_non_null(strstr(refusal(&p), "(eviction, llm)"));
    const struct point stages = point("llm=llama2-7b eviction=h2o context=2000 pipeline_parallel=2");
    assert_non_null(strstr(refusal(&stages), "with tensor parallelism only"));
    const struct point narrow = point("activation_bits=8"), vendor = point("activation_bits=8 engine=vllm-0.14");
    assert_non_null(strstr(refusal(&narrow), "need dataflow = vendor"));
    assert_null(refusal(&vendor));
}

/* E41: what devices send takes energy that the boards' power has already. */
static void links__take_energy_of_the_boards(void **state)
{
    (void)state;
    const struct point eight = point("llm=llama2-70b tensor_parallel=8"),
                       none = point("llm=llama2-70b tensor_parallel=8 link_pj_per_bit=0"), one = point("llm=llama2-7b"),
                       dealt = point("llm=gpt-oss-20b batch=64 tensor_parallel=2 expert_parallel=2 data_parallel=2");
    const struct metrics m = estimated(&eight), free = estimated(&none), alone = estimated(&one), experts = estimated(&dealt);
    const double bytes = 2 * 80 * (2.0 * 7 / 8) * 8192 * 2; /* two all-reduces a layer */
    assert_near(m.energy_links_mj, 8 * bytes * 8 * 11e-12 * 1e3, 1e-12);
    assert_true(free.energy_links_mj == 0 && alone.energy_links_mj == 0 && experts.energy_links_mj > 0);
    assert_true(free.energy_mj == m.energy_mj);
}

/* What devices send has the width of exchanges, whatever they compute in, of a plain LLM as of others. */
static void links__carry_exchanges_of_their_width(void **state)
{
    (void)state;
    static const char *const llms[] = {"llm=qwen3-8b", "llm=gpt-oss-20b"};
    for (size_t i = 0; i < sizeof llms / sizeof *llms; i++) {
        char wide[128], narrow[160], computed[160];
        snprintf(wide, sizeof wide, "%s engine=vllm-0.14 gpu=h100 tensor_parallel=2 batch=4", llms[i]);
        snprintf(narrow, sizeof narrow, "%s exchange_bits=8", wide);
        snprintf(computed, sizeof computed, "%s activation_bits=8", wide);
        const struct point p16 = point(wide), p8 = point(narrow), p = point(computed);
        const double links_mj = estimated(&p16).energy_links_mj;
        assert_near(estimated(&p8).energy_links_mj, links_mj / 2, 1e-12);
        assert_near(estimated(&p).energy_links_mj, links_mj, 1e-12);
    }
}

/* E42: what vLLM reported of an RTX 4090 with Llama-3.1 8B (its log in LLMServingSim's runs: 41,408 tokens), and what more or less
 * memory, sequences and devices change. */
static void memory__that_an_engine_keeps_is_not_the_sequences(void **state)
{
    (void)state;
    static const char same[] = "llm=llama3.1-8b gpu=rtx-4090 context=1024";
    char *served = xasprintf("%s engine=vllm-0.14", same), *twice = xasprintf("%s engine=vllm-0.14 tensor_parallel=2", same),
         *large = xasprintf("%s engine=vllm-0.14 batch=42", same), *fits = xasprintf("%s engine=vllm-0.14 batch=40", same);
    const struct point p = point(served), q = point(same), r = point(twice), s = point(large), t = point(fits);
    assert_near(estimated(&p).fitting_tokens, 41408, 0.01);
    assert_true(estimated(&p).fitting_sequences == 40);
    assert_null(refusal(&t));
    assert_non_null(strstr(refusal(&s), "do not fit"));
    const double all = 24 * DSE_GIB, weights = estimated(&q).dram_footprint_gib * DSE_GIB - 1024 * 131072.0;
    assert_near(estimated(&q).fitting_tokens, floor((all - weights) / 131072), 1e-12);
    assert_true(estimated(&r).fitting_tokens > 3 * estimated(&p).fitting_tokens);
    assert_true(fmod(estimated(&p).fitting_tokens, 16) == 0);
    free(served);
    free(twice);
    free(large);
    free(fits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense__llms_are_the_same_both_ways),
        cmocka_unit_test(operands__are_both_narrow_or_both_wide),
        cmocka_unit_test(narrow__gemms_run_at_the_peak_of_their_format),
        cmocka_unit_test(narrow__numbers_without_a_peak_are_refused_or_wide),
        cmocka_unit_test(memory__that_an_engine_keeps_is_not_the_sequences),
        cmocka_unit_test(decode__moves_the_bytes_of_the_operators),
        cmocka_unit_test(experts__of_measured_kernels_are_those_of_the_equations),
        cmocka_unit_test(latents__of_measured_kernels_are_those_of_the_equations),
        cmocka_unit_test(pipeline__waits_for_other_stages),
        cmocka_unit_test(links__take_energy_of_the_boards),
        cmocka_unit_test(links__carry_exchanges_of_their_width),
        cmocka_unit_test(check__says_what_such_llms_cannot_have),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
