/* VEDA: conservation of bytes and work, limits where the answer is known, eviction, what is refused, and the published numbers. */
#include "veda_test.h"

#include <dse/units.h>

/* Llama-2 7B: weights of the layers and of the head; layers * query heads; bytes of K and V of a position. */
static const double weights = 32 * (4. * 4096 * 4096 + 3. * 4096 * 11008) + 4096. * 32000;
enum { HEADS = 32 * 32, KV_BYTES = 2 * 32 * 4096 * 2 };

static struct dse_breakdown parts_of(const struct point *p)
{
    struct dse_breakdown b = {0};
    estimate_parts(p, &b);
    return b;
}

/* ---- conservation ---------------------------------------------------------------------------------------------------------- */

static void bytes__of_a_step_are_weights_keys_values_and_votes(void **state)
{
    (void)state;
    struct point p = point_with("context=1000", NULL); /* 500 of them cached */
    struct named m = estimate(&p);
    double votes = 32 * 500 * 4, read = 500. * KV_BYTES;
    assert_near(m.dram_mib * DSE_MIB, 2 * weights + read + KV_BYTES + votes, 1e-12);
    assert_near(m.weights_mib * DSE_MIB, 2 * weights, 1e-12);
    assert_near(m.kv_mib * DSE_MIB, read, 1e-12);
    assert_near(m.vote_mib * DSE_MIB, votes, 1e-12);
    set(&p, "weight_bits", 4);
    set(&p, "kv_bits", 8);
    assert_near(estimate(&p).dram_mib * DSE_MIB, weights / 2 + (read + KV_BYTES) / 2 + votes, 1e-12);
}

/* However the array is built, it does the same work. */
static void work__is_that_of_the_llm_on_any_machine(void **state)
{
    (void)state;
    static const char *const machines[][2] = {{"pe_rows=3", "pe_columns=5"},
                                              {"pe_copies=16", "devices=3"},
                                              {"dataflow=adder-tree", "softmax=stage"},
                                              {"clock_ghz=3", "devices=8"}};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct point p = point_with(machines[i][0], machines[i][1], NULL);
        struct dse_breakdown b = parts_of(&p);
        double ops = 0;
        for (int k = 0; k < b.n; k++)
            if (b.part[k].depth == 0) ops += b.part[k].ops;
        assert_near(ops, 2 * weights + 4. * 4096 * 32 * 512, 1e-12);
        struct named m = estimate(&p);
        assert_near(m.matmul_gops * 1e9 * m.latency_us * 1e-6, ops, 1e-12);
    }
}

/* ---- limits ---------------------------------------------------------------------------------------------------------------- */

static void limit__much_bandwidth_leaves_the_cycles(void **state)
{
    (void)state;
    struct point p = DEFAULTS;
    set(&p, "bandwidth_gbs", 1e12);
    struct named m = estimate(&p);
    assert_near(m.latency_us, (weights / 128 + 2. * HEADS * 512) / 1e3 + starts_us(&p, STREAMS), 1e-9);
    assert_near(m.compute_utilization, 1, 3e-4);
    assert_string_equal(m.bound, "compute");
}

static void limit__a_fast_chip_leaves_the_bytes(void **state)
{
    (void)state;
    struct point p = DEFAULTS;
    set(&p, "clock_ghz", 1e9);
    struct named m = estimate(&p);
    assert_near(m.latency_us, m.dram_mib * DSE_MIB / 256e9 * 1e6 + starts_us(&p, STREAMS), 1e-9);
    assert_near(m.dram_utilization, 1, 3e-4);
    assert_string_equal(m.bound, "dram");
}

/* 256 bytes a cycle for 128 PEs: the published chip needs as long to read as to multiply. */
static void design__is_balanced(void **state)
{
    (void)state;
    struct point p = DEFAULTS;
    struct named m = estimate(&p);
    assert_near(m.compute_utilization, 1, 3e-4);
    assert_near(m.dram_utilization, 1, 3e-4);
    assert_near(m.array_utilization, 1, 1e-12);
}

static void rows__of_a_group_are_fetched_once_or_by_every_head(void **state)
{
    (void)state;
    struct point shared = point_with("llm=llama3-8b", NULL), apart = point_with("llm=llama3-8b", "sharing=nothing", NULL);
    struct named a = estimate(&shared), b = estimate(&apart);
    assert_near(a.kv_mib * DSE_MIB, 512. * 2 * 32 * 8 * 128 * 2, 1e-12);
    assert_near(b.kv_mib, 4 * a.kv_mib, 1e-12);
    assert_near(a.attention_us, b.attention_us, 1e-3); /* four queries a row take four cycles either way */
    assert_true(a.energy_mj < b.energy_mj);
}

/* Rows of 256 bytes, scattered: whole bursts, and less than the stream. */
static void gather__of_rows_is_slower_than_a_stream(void **state)
{
    (void)state;
    struct point p = point_with("gather=rows", NULL), stream = DEFAULTS;
    double efficiency = dse_dram_efficiency(dram_of(&p), 256);
    assert_true(efficiency < 1);
    assert_near((estimate(&p).attention_us - starts_us(&p, ATTENTIONS)) * efficiency,
                estimate(&stream).attention_us - starts_us(&stream, ATTENTIONS), 1e-3);
    set(&p, "kv_bits", 3); /* 48 bytes: one and a half bursts */
    assert_near(estimate(&p).kv_mib * DSE_MIB, 512. * 2 * HEADS * 64, 1e-12);
}

/* ---- eviction -------------------------------------------------------------------------------------------------------------- */

static void eviction__keeps_the_rounded_ratio_of_the_prompt(void **state)
{
    (void)state;
    struct point p = point_with("generate=100", "eviction_ratio=0.2", NULL);
    assert_true(estimate(&p).cached_positions == 102 && equation(&p, "target_length") == 102); /* 102.4 */
    assert_near(equation(&p, "reduced_positions"), 512 + 50.5 - 102, 1e-12);
    set(&p, "eviction_ratio", 0.05); /* 25.6, below the reserved length */
    assert_true(estimate(&p).cached_positions == 32);
    choose(&p, "eviction", "window");
    assert_true(estimate(&p).cached_positions == 26);
    set(&p, "cache_length", 560); /* the cache grows to 560 in 48 steps and stays */
    assert_near(estimate(&p).cached_positions, (48 * (512 + 24.5) + 52 * 560) / 100, 1e-12);
    set(&p, "cache_length", 4000); /* never reached */
    assert_near(estimate(&p).cached_positions, 512 + 50.5, 1e-12);
    choose(&p, "boundary", "as-listed");
    assert_true(estimate(&p).cached_positions == 512);
    set(&p, "generate", 0);
    set(&p, "cache_length", 0);
    choose(&p, "boundary", "bulk");
    set(&p, "eviction_ratio", 0.5);
    assert_true(estimate(&p).cached_positions == 512); /* of the context, 1024 */
}

static void eviction__policies_differ_in_traffic_alone(void **state)
{
    (void)state;
    struct point p = point_with("llm=llama3-8b", NULL);
    struct named voting = estimate(&p);
    choose(&p, "eviction", "h2o");
    struct named h2o = estimate(&p);
    choose(&p, "eviction", "window");
    struct named window = estimate(&p);
    assert_near(h2o.vote_mib, 8 * voting.vote_mib, 1e-12); /* one for each KV head */
    assert_true(window.vote_mib == 0);
    assert_near(voting.dram_mib - voting.vote_mib, window.dram_mib, 1e-12);
    assert_near(h2o.dram_mib - h2o.vote_mib, window.dram_mib, 1e-12);
    assert_true(window.energy_mj < voting.energy_mj && voting.energy_mj < h2o.energy_mj);
}

static void eviction__of_nothing_costs_the_votes(void **state)
{
    (void)state;
    struct point p = point_with("eviction_ratio=1", NULL), none = point_with("eviction=none", NULL);
    struct named a = estimate(&p), b = estimate(&none);
    assert_near(a.dram_mib - b.dram_mib, a.vote_mib, 1e-9);
    assert_near(a.latency_us, b.latency_us, 1e-5);
    assert_true(b.eviction_speedup == 1 && a.eviction_speedup <= 1);
}

/* ---- prefill, devices, chip -------------------------------------------------------------------------------------------------- */

static void prefill__is_as_many_gemvs_and_half_the_square(void **state)
{
    (void)state;
    struct point p = point_with("phase=prefill", "eviction=none", "context=512", "bandwidth_gbs=100000", NULL);
    double head = 4096. * 32000;
    double linear_us = (512 * (weights - head) + head) / 128 / 1e3, pairs = 512. * 513 / 2;
    struct named m = estimate(&p);
    assert_near(m.linear_us, linear_us + starts_us(&p, LINEAR_STREAMS), 1e-9);
    assert_near(m.attention_us, 2 * HEADS * pairs / 1e3 + starts_us(&p, ATTENTIONS), 1e-9);
    assert_near(m.tokens_per_s, 512 / (m.latency_us * 1e-6), 1e-12);
    choose(&p, "causal", "computed");
    assert_near(estimate(&p).attention_us, 2. * HEADS * 512 * 512 / 1e3 + starts_us(&p, ATTENTIONS), 1e-9);
    assert_near(estimate(&p).scores_utilization, pairs / (512 * 512), 1e-12);
    assert_near(equation(&p, "causal_share"), pairs / (512 * 512), 1e-12);
}

/* Keys and values of a head stay in half of the buffer, 128 KiB, up to 256 positions; a longer prompt reads them for every query.
 */
static void prefill__reads_a_cache_that_fits_the_buffer_once(void **state)
{
    (void)state;
    struct point p = point_with("phase=prefill", "eviction=none", "context=256", NULL);
    assert_near(estimate(&p).kv_mib * 256 * DSE_MIB, 256. * KV_BYTES, 1e-12);
    set(&p, "context", 257);
    assert_near(estimate(&p).kv_mib * 257 * DSE_MIB, 257. * 258 / 2 * KV_BYTES, 1e-12);
    set(&p, "buffer_kib", 1024);
    assert_near(estimate(&p).kv_mib * 257 * DSE_MIB, 257. * KV_BYTES, 1e-12);
}

static void batch__shares_weights_and_nothing_else(void **state)
{
    (void)state;
    struct point one = DEFAULTS, four = point_with("batch=4", "buffer_kib=1024", NULL);
    set(&one, "buffer_kib", 1024);
    struct named a = estimate(&one), b = estimate(&four);
    assert_near(b.weights_mib, a.weights_mib / 4, 1e-12);
    assert_near(b.kv_mib, a.kv_mib, 1e-12);
    assert_near(b.dram_mib - b.weights_mib, a.dram_mib - a.weights_mib, 1e-9);
    assert_near(b.latency_us, 4 * a.latency_us, 1e-3); /* the array is busy already */
}

static void devices__divide_the_work_and_add_up(void **state)
{
    (void)state;
    struct point one = DEFAULTS, two = point_with("devices=2", NULL), eight = point_with("devices=8", NULL);
    struct named a = estimate(&one), b = estimate(&two), c = estimate(&eight);
    assert_near(b.latency_us - starts_us(&two, STREAMS), (a.latency_us - starts_us(&one, STREAMS)) / 2, 1e-9);
    assert_near(b.energy_mj, a.energy_mj, 3e-4);
    assert_near(b.area_mm2, 2 * a.area_mm2, 1e-12);
    /* 22016 / 8 outputs fill 21.5 times 128 PEs, and 32000 / 8 fill 31.25: the array takes whole passes. */
    double padded_us = (32 * 4096 * 0.5 + 4096 * 0.75) / 1e3;
    assert_near(c.latency_us - starts_us(&eight, STREAMS), (a.latency_us - starts_us(&one, STREAMS)) / 8 + padded_us, 1e-6);
    set(&eight, "exchange_us", 3);
    assert_near(estimate(&eight).latency_us - c.latency_us, 2 * 32 * 3, 1e-6);
    struct point five = point_with("devices=5", NULL); /* seven of 32 heads on the device with most */
    assert_near(estimate(&five).attention_us - starts_us(&five, ATTENTIONS),
                (a.attention_us - starts_us(&one, ATTENTIONS)) * 7 / 32, 1e-3);
    assert_near(estimate(&five).dram_mib, a.dram_mib, 1e-12);
}

static double buffer_w(const struct point *p)
{
    return estimate(p).chip_power_w * equation(p, "buffer_power_percent") / 100;
}

/* mm2 and W of the array, the voting engine, the special functions and the buffer, and of the chip. */
static void assert_shares(const struct point *p, double mm2, double w, const double module[4][2])
{
    static const char *const names[] = {"pe", "vote", "sfu", "buffer"};
    assert_near(estimate(p).area_mm2, mm2, 1e-12);
    assert_near(estimate(p).chip_power_w, w, 1e-12);
    for (size_t i = 0; i < 4; i++) {
        char *area = xasprintf("%s_area_percent", names[i]), *power = xasprintf("%s_power_percent", names[i]);
        assert_near(equation(p, area), 100 * module[i][0] / mm2, 1e-12);
        assert_near(equation(p, power), 100 * module[i][1] / w, 1e-12);
        free(area);
        free(power);
    }
}

static void chip__is_table_1_scaled(void **state)
{
    (void)state;
    struct point p = point_with("eviction=none", NULL);
    const double published_w = buffer_w(&p);
    assert_shares(&p, 1.058, 0.37526, (const double[4][2]){{0.493, 0.17564}, {0.069, 0.02641}, {0.029, 0.01319}, {0.426, 0.14882}});
    set(&p, "pe_copies", 6);
    set(&p, "clock_ghz", 0.5);
    assert_near(estimate(&p).area_mm2, 1.058 + 2 * 0.493, 1e-12);
    assert_near(estimate(&p).chip_power_w, (0.37526 + 2 * 0.17564) / 2, 1e-12);
    p = point_with("eviction=none", "sfu_exp=1", "sfu_div=11", "vote_fifo=8192", "vote_lanes=5", NULL);
    assert_shares(&p, 1.058 + 9 * 0.069 + 2 * 0.029, 0.37526 + 9 * 0.02641 + 2 * 0.01319,
                  (const double[4][2]){{0.493, 0.17564}, {10 * 0.069, 10 * 0.02641}, {3 * 0.029, 3 * 0.01319}, {0.426, 0.14882}});
    p = point_with("technology=22nm", NULL);
    assert_near(estimate(&p).area_mm2, 1.058 * 0.22 / 0.35, 1e-12);
    assert_near(estimate(&p).chip_power_w, 0.37526 * 0.3 / 0.37, 1e-12);
    p = point_with("eviction=none", "sram=cacti-28nm-hp-1rw", NULL);
    assert_true(buffer_w(&p) > published_w && buffer_w(&p) < 1.6 * published_w);
    assert_true(equation(&p, "vote_area_percent") > 0);
    set(&p, "vote_fifo", 0);
    assert_true(equation(&p, "vote_area_percent") == 0);
}

/* ---- what is refused --------------------------------------------------------------------------------------------------------- */

static void check__says_why_a_point_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b, *why;
    } bad[] = {
        {"eviction_ratio=0", NULL, "an eviction ratio of 0 keeps no position"},
        {"eviction_ratio=0.0001", "eviction=h2o", "the eviction ratio keeps less than half a position"},
        {"eviction=snapkv", NULL,
         "the voting engine evicts one position per step: it cannot select from a prompt or choose pages (eviction)"},
        {"eviction_ratio=0.004", "eviction=window",
         "the cache is shorter than the positions its policy must keep (sinks, observed, page)"},
        {"vote_fifo=1000", NULL, "the voting engine's FIFO is shorter than the cache (vote_fifo)"},
        {"vote_fifo=500", "generate=10", "the voting engine's FIFO is shorter than the cache (vote_fifo)"}, /* of the prompt */
        {"kv_format=kivi eviction=none", "kv_bits=2 kv_scale_bits=16",
         "the array needs keys and values of one width, without scales per channel (kv_format)"},
        {"devices=2", "draft_tokens=2",
         "devices above 1 need a dense LLM without parallelism, drafts, chunks or context_spread (devices)"},
        {"draft_tokens=2", NULL, "eviction cannot be combined with draft_tokens, chunk_tokens or context_spread"},
        {"eviction=none chunk_tokens=64", "generate=10", "generate cannot be combined with chunk_tokens or context_spread"},
        {"context=5000", NULL, "the context is longer than the LLM's max_context"},
        {"prompt=4000", "generate=97", "the context is longer than the LLM's max_context"},
        {"dataflow=adder-tree", NULL, "element-serial softmax needs the flexible dataflow (softmax, dataflow)"},
        {"buffer_kib=16", NULL, "the on-chip buffer does not hold the vectors of one token (buffer_kib)"},
        {"capacity_gib=13", NULL, "weights and KV cache do not fit the DRAM (capacity_gib)"},
        {"sram=veda-table1", "buffer_kib=512", "the SRAM table has no macro of the buffer's capacity"},
        {"sram=cacti-28nm-hp-1rw", "sram_word_bits=32", "the SRAM table has no macro of this word width"},
        {"technology=stillmaker-hp-20nm-1.0v", NULL, "the technology's scaling method does not cover 28 nm, the node of Table I"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct point p = point_with(bad[i].a, bad[i].b, NULL);
        const char *why = p.model->desc->check(p.params);
        if (!why) fail_msg("%s is not refused", bad[i].a);
        assert_string_equal(why, bad[i].why);
    }
    struct point p = point_with("eviction_ratio=0", "eviction=none", NULL);
    assert_null(p.model->desc->check(p.params));
}

/* ---- published --------------------------------------------------------------------------------------------------------------- */

static void published__numbers_come_out(void **state)
{
    (void)state;
    struct point lo = point_with("generate=128", "eviction_ratio=0.5", NULL),
                 hi = point_with("generate=1024", "eviction_ratio=0.2", NULL),
                 full = point_with("generate=1024", "eviction=none", NULL);
    assert_true(fabs(estimate(&lo).eviction_speedup - 2.3) < 0.06 && fabs(estimate(&hi).eviction_speedup - 10.0) < 0.1);
    struct named m = estimate(&full);
    assert_true(fabs(m.tokens_per_s - 18.6) < 0.05);
    assert_true(fabs(equation(&full, "linear_gops") / 245 - 1) < 0.01);
    struct point flexible = point_with("generate=1024", "eviction=none", "softmax=stage", NULL),
                 tree = point_with("generate=1024", "eviction=none", "softmax=stage", "dataflow=adder-tree", NULL);
    double baseline = estimate(&tree).attention_us;
    double saved = 1 - estimate(&flexible).attention_us / baseline;
    assert_true(saved > 0.25 && saved < 0.251);                 /* fitted */
    assert_true(fabs(m.attention_us / baseline - 0.60) < 0.01); /* predicted */
}

/* ---- quality ---------------------------------------------------------------------------------------------------------------- */

static const struct dse_retention *retention_of(const struct point *p)
{
    return (const struct dse_retention *)(const void *)field_get(param_of(p, "retention"), p->params).ref;
}

static struct dse_retained looked_up(const struct point *p, const char *policy, double context, double ratio)
{
    struct dse_retained at = {(double)NAN, (double)NAN};
    dse_retention_at(retention_of(p), policy, context, ratio, &at);
    return at;
}

static void quality__is_the_profile_at_the_step(void **state)
{
    (void)state;
    static const char *const policies[] = {"voting", "h2o", "window"};
    for (size_t i = 0; i < 3; i++) {
        char *eviction = xasprintf("eviction=%s", policies[i]);
        struct point p = point_with(eviction, "context=1000", "eviction_ratio=0.3", NULL);
        struct named m = estimate(&p);
        struct dse_retained want = looked_up(&p, policies[i], 1000, 0.3);
        assert_near(m.retained_mass, want.mass, 1e-12);
        assert_near(m.attention_error, want.error, 1e-12);
        assert_true(m.retained_mass < 1 && m.attention_error > 0);
        free(eviction);
    }
}

static void quality__is_whole_when_nothing_is_evicted(void **state)
{
    (void)state;
    static const char *const settings[][2] = {{"eviction=none", "context=4096"},
                                              {"eviction_ratio=1", "context=4096"},
                                              {"boundary=as-listed", "context=4096"},
                                              {"phase=prefill", "context=512"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct point p = point_with(settings[i][0], settings[i][1], NULL);
        struct named m = estimate(&p);
        assert_true(m.retained_mass == 1 && m.attention_error == 0);
    }
}

/* A cache of a fixed size loses more the longer the generation. Its mean lies between its first and its last step. One position
 * leaves for each that comes, which is how a cache of the prompt's size is streamed. */
static void quality__of_a_generation_is_the_mean_of_its_steps(void **state)
{
    (void)state;
    struct point p =
        point_with("eviction=h2o", "prompt=600", "generate=400", "boundary=as-listed", "retention=codellama-13b", NULL);
    struct named m = estimate(&p);
    double mass = 0, error = 0;
    for (int i = 1; i <= 400; i++) {
        struct dse_retained at = looked_up(&p, "h2o", 600 + i, 600. / (600 + i));
        mass += at.mass / 400;
        error += at.error / 400;
    }
    assert_near(m.retained_mass, mass, 2e-3);
    assert_near(m.attention_error, error, 2e-2);
}

static void check_unknown(const struct point *p, const char *reason)
{
    struct named m = estimate(p);
    struct dse_standing s = {0};
    p->model->desc->stand(p->params, &s);
    assert_true(isnan(m.retained_mass) && isnan(m.attention_error) && m.latency_us > 0);
    assert_true(s.quality == DSE_QUALITY_UNKNOWN);
    assert_string_equal(s.unknown, p->model->desc->why_null(p->params, "retained_mass"));
    assert_non_null(strstr(s.unknown, reason));
    assert_null(p->model->desc->why_null(p->params, "latency_us"));
}

/* What was measured under another procedure than the one that is timed says nothing of it. */
static void quality__of_other_settings_is_unknown(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"retention=codellama-13b", "batch=1", "retention codellama-13b was measured only with boundary = token"},
        {"boundary=as-listed", "generate=100", "retention codellama-13b-bulk was measured only with boundary = bulk"},
        {"threshold_a=0.9", "batch=1", "retention codellama-13b-bulk was measured only with threshold_a = 1"},
        {"threshold_b=0.9", "batch=1", "threshold_b = 0.2"},
        {"reserved_length=0", "batch=1", "reserved_length = 32"},
        {"kv_bits=2", "batch=1", "kv_bits = 16"},
        {"generate=100", "batch=1", "the prompt's share of a generation falls"},
        {"eviction_ratio=0.01", "eviction=h2o", "does not cover this context and ratio"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct point p = point_with(cases[i][0], cases[i][1], NULL);
        check_unknown(&p, cases[i][2]);
    }
    /* The window keeps the same positions however they came, and h2o has no thresholds. */
    struct point p = point_with("eviction=window", "retention=codellama-13b", "threshold_a=0.9", NULL);
    assert_true(estimate(&p).retained_mass > 0);
    p = point_with("eviction=h2o", "threshold_a=0.9", "reserved_length=0", NULL);
    assert_true(estimate(&p).retained_mass > 0);
}

/* As timed: when the surplus of a prompt leaves at once, the sink leaves with it (V8). */
static void quality__of_the_defaults_is_of_what_is_timed(void **state)
{
    (void)state;
    struct point bulk = point_with("batch=1", NULL),
                 token = point_with("boundary=as-listed", "retention=codellama-13b", "prompt=512", "generate=512", NULL);
    assert_true(estimate(&bulk).retained_mass < 0.4 && estimate(&bulk).attention_error > 4);
    assert_true(estimate(&token).retained_mass > 0.9);
    struct dse_standing s = {0};
    bulk.model->desc->stand(bulk.params, &s);
    assert_true(s.quality == DSE_QUALITY_OTHER_LLM); /* of CodeLlama, for Llama 2 */
    assert_null(s.unknown);
    struct point none = point_with("eviction=none", NULL), few = point_with("eviction=none", "weight_bits=4", NULL);
    none.model->desc->stand(none.params, &s);
    assert_true(s.quality == DSE_QUALITY_EXACT);
    few.model->desc->stand(few.params, &s);
    assert_true(s.quality == DSE_QUALITY_ROUNDED);
}

static void quality__is_unknown_where_nothing_was_measured(void **state)
{
    (void)state;
    double lo, hi;
    struct point p = point_with("eviction_ratio=0.01", "eviction=h2o", NULL);
    assert_true(isnan(estimate(&p).retained_mass) && isnan(estimate(&p).attention_error));
    p = point_with("eviction_ratio=0.05", "context=2048", "eviction=h2o", NULL); /* 102 of 2048: a little below 0.05 */
    assert_true(estimate(&p).retained_mass > 0.5);
    p = point_with("context=4096", NULL);
    assert_true(dse_retention_range(retention_of(&p), "voting", &lo, &hi) && hi < 4096);
    struct named m = estimate(&p);
    assert_true(isnan(m.retained_mass) && isnan(m.attention_error) && m.latency_us > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes__of_a_step_are_weights_keys_values_and_votes),
        cmocka_unit_test(work__is_that_of_the_llm_on_any_machine),
        cmocka_unit_test(limit__much_bandwidth_leaves_the_cycles),
        cmocka_unit_test(limit__a_fast_chip_leaves_the_bytes),
        cmocka_unit_test(design__is_balanced),
        cmocka_unit_test(rows__of_a_group_are_fetched_once_or_by_every_head),
        cmocka_unit_test(gather__of_rows_is_slower_than_a_stream),
        cmocka_unit_test(eviction__keeps_the_rounded_ratio_of_the_prompt),
        cmocka_unit_test(eviction__policies_differ_in_traffic_alone),
        cmocka_unit_test(eviction__of_nothing_costs_the_votes),
        cmocka_unit_test(prefill__is_as_many_gemvs_and_half_the_square),
        cmocka_unit_test(prefill__reads_a_cache_that_fits_the_buffer_once),
        cmocka_unit_test(batch__shares_weights_and_nothing_else),
        cmocka_unit_test(devices__divide_the_work_and_add_up),
        cmocka_unit_test(chip__is_table_1_scaled),
        cmocka_unit_test(check__says_why_a_point_is_refused),
        cmocka_unit_test(quality__is_the_profile_at_the_step),
        cmocka_unit_test(quality__is_whole_when_nothing_is_evicted),
        cmocka_unit_test(quality__of_a_generation_is_the_mean_of_its_steps),
        cmocka_unit_test(quality__is_unknown_where_nothing_was_measured),
        cmocka_unit_test(quality__of_other_settings_is_unknown),
        cmocka_unit_test(quality__of_the_defaults_is_of_what_is_timed),
        cmocka_unit_test(published__numbers_come_out),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
