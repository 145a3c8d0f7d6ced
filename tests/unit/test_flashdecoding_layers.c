/* Layers that only equations have: experts (E31) and latent attention (E32); and what measured attention counts (E29). */
#include "flashdecoding_test.h"

/* ---- experts --------------------------------------------------------------------------------------------------------------- */

static const char mixtral[] = "experts=8 experts_active=2 moe_intermediate=14336 engine=vllm-0.14 ";

static struct equations layer(const char *settings)
{
    struct point p = point(settings);
    return equated(&p);
}

static struct equations experts(const char *settings)
{
    char *text = xasprintf("%s%s", mixtral, settings);
    const struct equations e = layer(text);
    free(text);
    return e;
}

static void experts__independent_choices_touch_what_probability_says(void **state)
{
    (void)state;
    for (int tokens = 1; tokens <= 64; tokens *= 4) {
        char *text = xasprintf("routing=uniform batch=%d", tokens); /* 8 of 256 by default */
        const struct point p = point(text);
        const struct equations e = equated(&p);
        assert_near(e.moe_touched, ceil(256 * (1 - pow(1 - 8 / 256., tokens)) - 1e-9), 1e-12);
        assert_near(e.moe_rows, 8. * tokens * e.moe_touched / (256 * (1 - pow(1 - 8 / 256., tokens))), 1e-9);
        free(text);
    }
}

static void experts__balanced_rows_are_all_of_them(void **state)
{
    (void)state;
    const struct equations few = experts("routing=balanced batch=1"), many = experts("routing=balanced batch=64");
    assert_near(few.moe_touched, 2, 0);
    assert_near(many.moe_touched, 8, 0);
    assert_near(many.moe_rows, 128, 1e-12);
    assert_near(many.moe_weights_mib, 8. * 3 * 4096 * 14336 * 2 / (1 << 20), 1e-12);
}

/* No expert has more rows than there are tokens; of one device all rows are there, of several its own, and no fewer than a fair
 * share. */
static void experts__a_power_law_loses_no_row(void **state)
{
    (void)state;
    for (int tokens = 1; tokens <= 4096; tokens *= 8) {
        char *one = xasprintf("routing=power-law batch=%d", tokens), *four = xasprintf("%s expert_devices=4", one);
        const struct equations all = experts(one), fullest = experts(four);
        assert_near(all.moe_rows, 2. * tokens, 1e-12);
        assert_true(fullest.moe_rows >= 2. * tokens / 4 && fullest.moe_rows <= all.moe_rows);
        assert_true(fullest.moe_touched <= 2);
        free(one);
        free(four);
    }
}

/* Few rows: the bytes of touched experts at what kernels stream. Eight times the devices, an eighth of them. */
static void experts__few_tokens_wait_for_weights(void **state)
{
    (void)state;
    const struct point p = point("");
    const struct equations e = experts("routing=balanced batch=8"), eighth = experts("routing=balanced batch=8 tensor_parallel=8");
    const double load_us = e.moe_weights_mib * (1 << 20) / (get(&p, "bandwidth_gbs") * get(&p, "kernel_stream_share") * 1e3);
    assert_true(e.moe_gemm_us >= load_us && e.moe_gemm_us < 1.35 * load_us);
    assert_near(eighth.moe_weights_mib, e.moe_weights_mib / 8, 1e-12);
}

static void experts__searched_tiles_are_faster_and_imbalance_is_not(void **state)
{
    (void)state;
    const struct equations searched = experts("routing=balanced batch=1024 gpu=h100"),
                           fixed = experts("routing=balanced batch=1024 gpu=h100 expert_tiles=default"),
                           uneven = experts("routing=power-law batch=1024 gpu=h100 expert_devices=8"),
                           even = experts("routing=balanced batch=1024 gpu=h100 expert_devices=8");
    assert_true(fixed.moe_gemm_us > 1.5 * searched.moe_gemm_us);
    assert_true(uneven.moe_us > even.moe_us);
}

/* One token of eight experts of 256: spread, one device has few of them; its neighbours, all. */
static void experts__ties_of_few_tokens_share_a_device(void **state)
{
    (void)state;
    const char *const few = "engine=vllm-0.14 experts=256 experts_active=8 routing=power-law expert_devices=8 batch=1";
    char *spread = xasprintf("%s expert_ties=spread", few), *neighbours = xasprintf("%s expert_ties=neighbours", few);
    assert_true(layer(spread).moe_touched < 8);
    assert_near(layer(neighbours).moe_touched, 8, 0);
    assert_near(layer(neighbours).moe_rows, 8, 0);
    free(spread);
    free(neighbours);
}

/* Where columns of weights are as long as a page of GDDR, a piece of 32 bytes costs as much as 92; in HBM it costs 32. */
static void experts__pieces_of_columns_open_pages(void **state)
{
    (void)state;
    const char *const set = "gpu=l40s routing=balanced batch=256 expert_tiles=default weight_bits=8 expert_activation_bits=8";
    char *whole = xasprintf("%s dram_piece_bytes=0", set);
    const double free_us = experts(whole).moe_gemm_us, paid_us = experts(set).moe_gemm_us;
    assert_true(paid_us > 2 * free_us && paid_us < 92. / 32 * free_us);
    assert_near(experts("gpu=h100 routing=balanced batch=256 expert_tiles=default").moe_us,
                experts("gpu=h100 routing=balanced batch=256 expert_tiles=default dram_piece_bytes=0").moe_us, 0);
    free(whole);
}

/* vLLM takes its tiles of few rows up to a token for each expert of the device. */
static void experts__default_tiles_follow_the_experts_of_a_device(void **state)
{
    (void)state;
    const char *const eighth =
        "engine=vllm-0.14 routing=balanced expert_tiles=default gpu=h100 experts=256 experts_active=8 expert_devices=8";
    char *few = xasprintf("%s batch=32", eighth), *more = xasprintf("%s batch=33", eighth);
    assert_near(layer(few).moe_touched, layer(more).moe_touched, 1);
    assert_true(layer(more).moe_gemm_us > 1.02 * layer(few).moe_gemm_us);
    free(few);
    free(more);
}

/* Data of half the cache come from there, what is beyond from the DRAM. */
static void streams__go_over_their_data_once(void **state)
{
    (void)state;
    const struct point p = point("gpu=h100");
    const double fixed_us = get(&p, "stream_fixed_cycles") / get(&p, "clock_ghz") / 1e3, half = get(&p, "l2_mib") / 2 * (1 << 20);
    const double near = get(&p, "kernel_cache_bytes") * get(&p, "clock_ghz") * 1e3 * get(&p, "sms"),
                 far = get(&p, "bandwidth_gbs") * get(&p, "kernel_stream_share") * 1e3;
    assert_near(layer("gpu=h100 stream_bytes=1e6").stream_us, fixed_us + 1e6 / near, 1e-9);
    assert_near(layer("gpu=h100 stream_bytes=1e9").stream_us, fixed_us + half / near + (1e9 - half) / far, 1e-9);
}

/* Once around the ring: half of what an all-reduce sends. One device sends nothing. */
static void collectives__go_around_once(void **state)
{
    (void)state;
    const char *const eight =
        "engine=tensorrt-llm-0.9 collectives=nccl launch_us=0 tensor_parallel=8 multicast_share=0 collective_bytes=1e9";
    char *once = xasprintf("%s collective=all-gather", eight), *twice = xasprintf("%s collective=all-reduce", eight),
         *scatter = xasprintf("%s collective=reduce-scatter", eight);
    assert_near(layer(twice).collective_us / layer(once).collective_us, 2, 0.05);
    assert_near(layer(scatter).collective_us, layer(once).collective_us, 0);
    assert_near(layer("collective=all-to-all").collective_us, 0, 0);
    free(once);
    free(twice);
    free(scatter);
}

/* A step has the layers of its LLM, whatever these say. */
static void layers__of_equations_move_no_metric(void **state)
{
    (void)state;
    const struct point p = point(""), other = point("experts=16 experts_active=4 kv_rank=256 latent_heads=16 expert_devices=8");
    const struct metrics a = estimated(&p), b = estimated(&other);
    assert_true(a.latency_us == b.latency_us && a.energy_mj == b.energy_mj);
    assert_true(a.dram_footprint_gib == b.dram_footprint_gib && a.vendor_gemm_us == b.vendor_gemm_us);
}

/* ---- latent attention ------------------------------------------------------------------------------------------------------- */

static void latent__decode_reads_each_position_once(void **state)
{
    (void)state;
    struct point p = point("batch=16 context=4096");
    assert_near(equated(&p).mla_cache_mib, 16. * 4096 * 576 * 2 / (1 << 20), 1e-12);
    assert_near(equated(&p).mla_gflop, 2. * 16 * 32 * 4096 * (576 + 512) / 1e9, 1e-12);
    p = point("batch=16 context=4096 latent_heads=16");
    assert_near(equated(&p).mla_cache_mib, 2. * 16 * 4096 * (576 + 512) * 2 / (1 << 20), 1e-12);
    p = point("batch=16 context=4096 kv_bits=8");
    assert_near(equated(&p).mla_cache_mib, 16. * 4096 * 576 / (1 << 20), 1e-12);
}

/* Over latents a prompt takes (2 * 512 + 64) / (2 * 128 + 64) times the operations, and nothing to expand. */
static void latent__a_prompt_pays_for_expanding_or_for_latents(void **state)
{
    (void)state;
    const struct point a = point("phase=prefill context=4096"), b = point("phase=prefill context=4096 latent_prefill=absorbed");
    const struct equations expanded = equated(&a), absorbed = equated(&b);
    assert_near(absorbed.mla_gflop / expanded.mla_gflop, 1088 / 320., 1e-12);
    assert_true(expanded.mla_expanding_us > 0 && absorbed.mla_expanding_us == 0);
    assert_true(expanded.mla_us < absorbed.mla_us);
}

/* ---- measured attention ------------------------------------------------------------------------------------------------------ */

static double attention_us(const char *settings)
{
    char *text = xasprintf("llm=llama3.1-8b engine=vllm-0.14 launch_us=0 %s", settings);
    const struct point p = point(text);
    free(text);
    return estimated(&p).attention_us / (double)llm_of(&p)->layers;
}

/* The sum of eight parts is a kernel of its own, and a wait for each of them. */
static void attention__fewer_kernels_are_faster(void **state)
{
    (void)state;
    const double three = attention_us("attention_kernels=3"), two = attention_us("attention_kernels=2"),
                 one = attention_us("attention_kernels=1");
    const struct point p = point("");
    const double fixed_us = get(&p, "kernel_fixed_cycles") / get(&p, "clock_ghz") / 1e3, parts = 8;
    assert_near(three - two, fixed_us, 1e-6);
    assert_near(two - one, fixed_us + parts * get(&p, "l2_latency_ns") / 1e3, 1e-6);
}

/* Results of several sequences and KV heads are brought into order by one kernel more, if kernels are apart. */
static void attention__results_of_a_batch_are_copied(void **state)
{
    (void)state;
    const struct point p = point("");
    const double fixed_us = get(&p, "kernel_fixed_cycles") / get(&p, "clock_ghz") / 1e3;
    const double apart = attention_us("attention_kernels=3 batch=2 context=128"),
                 joined = attention_us("attention_kernels=2 batch=2 context=128"),
                 alone = attention_us("attention_kernels=3 batch=2 context=128 tensor_parallel=8");
    assert_near(apart - joined, fixed_us, 1e-6);
    assert_true(apart - alone > fixed_us - 1e-6);
}

/* A KV head's blocks go through their tiles one after the other, a latency or a product of padded rows each, whatever the
 * bandwidth: with one block, and with as many as there are. */
static void attention__few_blocks_are_bound_by_their_tiles(void **state)
{
    (void)state;
    const char *const few = "gpu=h100 attention_head_blocks=1 tensor_parallel=8";
    char *shorter = xasprintf("%s context=32768", few), *longer = xasprintf("%s context=65536", few),
         *faster = xasprintf("%s context=32768 bandwidth_gbs=100000", few);
    const struct point p = point("gpu=h100");
    const double peak = get(&p, "tensor_tflops") * 1e6 / get(&p, "sms") * get(&p, "attention_tensor_share"); /* operations a us */
    const double products_us = 4.0 * 64 * 128 * 128 / peak, latency_us = get(&p, "memory_latency_ns") / 1e3;
    const double tile_us = fmax(products_us, latency_us) + get(&p, "gemm_exposed_share") * fmin(products_us, latency_us);
    assert_near(attention_us(longer) - attention_us(shorter), 256 * tile_us, 1e-6);
    assert_near(attention_us(faster), attention_us(shorter), 0.01);
    free(shorter);
    free(longer);
    free(faster);
}

/* Each part waits once more for the last-level cache. */
static double splits(const char *settings)
{
    char *late = xasprintf("attention_kernels=3 attention_tile=64 %s l2_latency_ns=1000", settings),
         *now = xasprintf("attention_kernels=3 attention_tile=64 %s l2_latency_ns=0", settings);
    const double ret = attention_us(late) - attention_us(now);
    free(late);
    free(now);
    return ret;
}

/* FlashAttention-2 splits 128 KV heads in 216 slots over three blocks each, eight over all of their tiles, and none where four
 * fifths are taken: no parts then. */
static void attention__positions_are_split_as_flash_attention_does(void **state)
{
    (void)state;
    assert_near(splits("batch=16 context=4096"), 3, 1e-9);
    assert_near(splits("batch=1 context=512"), 8, 1e-9);
    assert_true(splits("batch=22 context=4096") == 0);
}

/* Long prompts are computed, short ones of many sequences move four times their keys and values, and more. */
static void attention__short_prompts_move_query_rows(void **state)
{
    (void)state;
    const struct point p = point("");
    const double stream = get(&p, "bandwidth_gbs") * get(&p, "kernel_stream_share") * 1e3, row = 2 * 128 * 2;
    const double moved_us = 256 * 128 * row * (32 + 8 + 2 * 8) / stream;
    assert_true(attention_us("phase=prefill batch=256 context=128") > moved_us);
    const double two = attention_us("phase=prefill context=32768"), one = attention_us("phase=prefill context=16384");
    assert_near(two / one, 4, 0.1);
}

/* A cache of 0.7 of the last level is read from there when it is warm. */
static void attention__a_warm_cache_has_what_it_holds(void **state)
{
    (void)state;
    assert_true(attention_us("batch=4 context=1024 cache=warm") < attention_us("batch=4 context=1024"));
    assert_near(attention_us("batch=16 context=8192 cache=warm"), attention_us("batch=16 context=8192"), 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(experts__independent_choices_touch_what_probability_says),
        cmocka_unit_test(experts__balanced_rows_are_all_of_them),
        cmocka_unit_test(experts__a_power_law_loses_no_row),
        cmocka_unit_test(experts__few_tokens_wait_for_weights),
        cmocka_unit_test(experts__searched_tiles_are_faster_and_imbalance_is_not),
        cmocka_unit_test(experts__ties_of_few_tokens_share_a_device),
        cmocka_unit_test(experts__pieces_of_columns_open_pages),
        cmocka_unit_test(experts__default_tiles_follow_the_experts_of_a_device),
        cmocka_unit_test(streams__go_over_their_data_once),
        cmocka_unit_test(collectives__go_around_once),
        cmocka_unit_test(layers__of_equations_move_no_metric),
        cmocka_unit_test(latent__decode_reads_each_position_once),
        cmocka_unit_test(latent__a_prompt_pays_for_expanding_or_for_latents),
        cmocka_unit_test(attention__fewer_kernels_are_faster),
        cmocka_unit_test(attention__results_of_a_batch_are_copied),
        cmocka_unit_test(attention__few_blocks_are_bound_by_their_tiles),
        cmocka_unit_test(attention__positions_are_split_as_flash_attention_does),
        cmocka_unit_test(attention__short_prompts_move_query_rows),
        cmocka_unit_test(attention__a_warm_cache_has_what_it_holds),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
