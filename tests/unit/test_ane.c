/* The Neural Engine's static-shape KV cache: conservation, and limits where the answer is known. */
#include "ane_test.h"
#include "samples.h"

#include <dse/units.h>

/* ---- the cache ------------------------------------------------------------------------------------------------------------ */

/* The length of the cache is the shape: a call costs what one of that window costs, and what is counted. */
static void cache__that_keeps_half_has_the_shape_of_half(void **state)
{
    (void)state;
    struct at half = good("context=1024"), window = good("context=2048 eviction=window"), h2o = good("context=2048 eviction=h2o"),
              voting = good("context=2048 eviction=voting"), odd = good("context=2048 eviction=window cache_length=1000");
    assert_true(window.m.call_us == half.m.call_us && window.m.dram_footprint_gib == half.m.dram_footprint_gib);
    assert_true(odd.m.call_us == half.m.call_us && odd.m.cached_positions == 1000); /* whole blocks */
    const double layers = 32, heads = 32, read = 64. * 1024 * heads * 2, counts = 2. * 1024 * 2;
    assert_near(h2o.m.technique_mib * DSE_MIB, layers * (read + heads * counts), 1e-12);
    assert_near(voting.m.technique_mib * DSE_MIB, layers * (2 * read + counts), 1e-12);
    assert_near(h2o.m.dram_mib, half.m.dram_mib + h2o.m.technique_mib, 1e-12);
    assert_true(h2o.m.retained_mass > window.m.retained_mass && h2o.m.attention_error > 0 && half.m.attention_error == 0);
}

static void cache__that_a_static_graph_cannot_keep_is_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"eviction=quest", "cannot select pages"},
                                           {"eviction=snapkv", "share one static shape"},
                                           {"eviction=h2o boundary=bulk", "share one static shape"},
                                           {"eviction=h2o cache=chunks", "a second model slides"},
                                           {"eviction=h2o cache=none", "a second model slides"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct at a = at(cases[i][0]);
        if (!a.why || !strstr(a.why, cases[i][1])) fail_msg("%s: %s", cases[i][0], a.why ? a.why : "accepted");
    }
    const struct at b = good("context=512 window=256 overflow=discard");
    assert_true(isnan(b.m.attention_error) &&
                strstr(b.p.model->desc->why_null(b.p.params, "attention_error"), "discarding the oldest"));
}

/* ---- a call --------------------------------------------------------------------------------------------------------------- */

static void call__streams_the_weights_once_and_computes_every_row(void **state)
{
    (void)state;
    struct at a = good("query_rows=64 window=512");
    const struct dse_llm *llm = find_llm("llama2-7b");
    double weights = (double)llm->layers * dse_llm_layer_weights(llm) + dse_llm_head_weights(llm);
    assert_near(a.m.weights_mib * DSE_MIB, 2 * weights, 1e-12);
    /* K and V: 64 rows returned, 512 read. */
    assert_near(a.m.kv_mib * DSE_MIB, (64 + 512) * dse_kv_bytes_per_token(llm, 16), 1e-12);
    double linear = 2 * 64 * weights, attention = 4. * 64 * 512 * 4096 * 32;
    assert_near(sum_ops(&a), linear + attention, 0.001); /* softmax, norms and the like come on top */
    assert_true(sum_ops(&a) > linear + attention);
    double parts = a.m.weights_mib + a.m.kv_mib + a.m.concat_mib + a.m.transpose_mib + a.m.slide_mib;
    assert_near(parts, a.m.dram_mib, 1e-12);
}

/* Without bandwidth or computing to wait for, what is left is the other one. */
static void call__meets_both_roofs(void **state)
{
    (void)state;
    struct at fast_memory = good("bandwidth_gbs=10000 dispatch_us=0 cache=none"),
              fast_engine = good("engine_tflops=1000 dispatch_us=0"), both = good("overlap=sum dispatch_us=0"),
              engine = good("bandwidth_gbs=10000 concat_gbs=10000 transpose_gbs=10000 dispatch_us=0 overlap=sum");
    double ops = sum_ops(&fast_memory);
    assert_near(fast_memory.m.call_us, ops / 12e12 * 1e6, 0.002);
    double call = fast_engine.m.dram_mib - fast_engine.m.slide_mib;
    assert_near(fast_engine.m.call_us, call * DSE_MIB / 85e9 * 1e6, 5e-3); /* copies turn the channels round */
    assert_near(both.m.call_us, fast_engine.m.call_us + sum_ops(&engine) / 12e12 * 1e6, 1e-3);
}

static void call__costs_the_same_whatever_the_stage(void **state)
{
    (void)state;
    struct at one = good("window=512 context=65"), full = good("window=512 context=512"),
              prompt = good("window=512 context=512 phase=prefill"), part = good("window=512 context=449 phase=prefill");
    assert_near(one.m.latency_us, full.m.latency_us, 1e-12);
    assert_near(prompt.m.call_us, full.m.call_us, 1e-12);
    assert_near(part.m.latency_us, prompt.m.latency_us, 1e-12);
    assert_near(prompt.m.latency_us, 8 * (prompt.m.call_us + prompt.m.slide_us), 1e-12);
    assert_near(full.m.latency_us, full.m.call_us + full.m.slide_us / 64, 1e-12);
    assert_near(full.m.wasted_rows, 63. / 64, 1e-12);
    assert_near(prompt.m.wasted_rows + 1, 1, 1e-12);
}

/* The engine computes rows eight by eight. */
static void call__pads_rows_to_the_multiple_of_the_engine(void **state)
{
    (void)state;
    struct at odd = good("query_rows=57"), even = good("query_rows=64"), exact = good("query_rows=57 row_multiple=1");
    assert_near(sum_ops(&odd) / sum_ops(&even), 1, 0.001); /* 513 positions instead of 512 */
    assert_near(sum_ops(&exact) / sum_ops(&even), 57. / 64, 0.001);
    assert_true(odd.m.wasted_rows > 1 - 1. / 57);
}

/* Nothing is shared by sequences: each has its calls. */
static void batch__is_one_sequence_after_another(void **state)
{
    (void)state;
    struct at one = good("batch=1"), five = good("batch=5");
    assert_near(five.m.latency_us, 5 * one.m.latency_us, 1e-12);
    assert_near(five.m.tokens_per_s, one.m.tokens_per_s, 1e-12);
    assert_near(five.m.energy_mj, one.m.energy_mj, 1e-12);
    assert_true(five.m.dram_footprint_gib > one.m.dram_footprint_gib);
}

static void head__on_the_last_row_leaves_the_others_out(void **state)
{
    (void)state;
    struct at every = good("head_rows=every-row"), last = good("head_rows=last-row");
    assert_near(sum_ops(&every) - sum_ops(&last), 2. * 63 * 32000 * 4096, 1e-9);
    assert_near(every.m.dram_mib, last.m.dram_mib, 1e-12);
}

/* ---- window --------------------------------------------------------------------------------------------------------------- */

static void window__follows_the_context_in_whole_blocks(void **state)
{
    (void)state;
    assert_near(good("context=512").e.rows_k, 512, 0);
    assert_near(good("context=449").e.rows_k, 512, 0);
    assert_near(good("context=513").e.rows_k, 576, 0);
    assert_near(good("context=513 cache=none").e.rows_k, 513, 0);
    assert_near(good("prompt=100 generate=29").e.rows_k, 192, 0); /* 129 positions */
    assert_near(good("window=512").m.latency_us, good("window=0").m.latency_us, 1e-12);
}

static void window__that_is_longer_is_slower(void **state)
{
    (void)state;
    const char *caches[] = {"two-model", "slid-output", "chunks", "lazy-softmax", "stacked", "late-transpose", "stateful", "none"};
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        double last = 0;
        for (int window = 512; window <= 4096; window += 448) {
            char *text = xasprintf("cache=%s window=%d", caches[i], window);
            double now = good(text).m.latency_us;
            assert_true(now > last);
            last = now;
            free(text);
        }
    }
}

static void window__refuses_what_it_cannot_hold_unless_told_to_forget(void **state)
{
    (void)state;
    assert_non_null(strstr(at("window=512 context=513").why, "window"));
    assert_non_null(strstr(at("window=512 prompt=512 generate=1").why, "window"));
    assert_non_null(strstr(at("window=500 context=500").why, "window")); /* eight blocks of 64 do not fit 500 rows */
    assert_non_null(strstr(at("cache=none window=512 context=513").why, "window"));
    assert_non_null(strstr(at("context=63").why, "query_rows"));
    assert_non_null(strstr(at("window=32 context=32").why, "query_rows"));
    assert_non_null(strstr(at("context=4097").why, "max_context"));
    assert_non_null(strstr(at("prompt=4000 generate=97").why, "max_context"));
    assert_non_null(strstr(at("llm=llama2-13b capacity_gib=20").why, "capacity_gib"));
    assert_non_null(strstr(at("phase=prefill cache=none window=512 context=1024 overflow=discard").why, "needs a cache"));
    assert_null(at("phase=prefill cache=none window=1024 context=1024 overflow=discard").why);
    assert_null(at("prompt=4000 generate=96").why);
    struct at forgets = good("window=512 context=2048 overflow=discard"), holds = good("window=512 context=512");
    assert_near(forgets.m.latency_us, holds.m.latency_us, 1e-12);
    assert_near(forgets.m.compute_utilization, holds.m.compute_utilization, 1e-12);
}

/* ---- the cache ------------------------------------------------------------------------------------------------------------ */

/* Rows worked out by hand, for one K of 512 rows in blocks of 64. */
static void designs__move_the_rows_that_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double concat_rows, transposed, slid;
    } known[] = {
        {"cache=two-model", 512, 64, 448},
        {"cache=slid-output", 512 + 448, 64, 0},
        {"cache=chunks joining=at-once", 512, 64, 0},
        {"cache=chunks joining=pairwise", 128 + 192 + 256 + 320 + 384 + 448 + 512, 64, 0},
        {"cache=stacked joining=at-once", 512 + 448 + 64, 64, 448},
        {"cache=stacked joining=pairwise", 512 + 448 + 64 * (64 * 65 / 2 - 1) / 64., 64, 448},
        {"cache=late-transpose", 512, 512, 448},
        {"cache=stateful", 64, 64, 0},
        {"cache=none", 0, 512, 0},
    };
    double both = 32 * 2 * 2 * 8192 / DSE_MIB; /* a row of K and of V in each layer, read and written */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct at a = good(known[i].settings);
        assert_near(a.e.concat_call_mib + 1, both * known[i].concat_rows + 1, 1e-12);
        assert_near(a.e.transpose_call_mib, both / 2 * known[i].transposed, 1e-12);
        assert_near(a.e.one_slide_mib + 1, both * known[i].slid + 1, 1e-12);
    }
    /* 8 partial results written, 8 rescaled, 7 additions: 45 tensors of 64 rows of 4096 fp16 a layer */
    assert_near(good("cache=lazy-softmax").e.concat_call_mib, 32 * 45. * 64 * 8192 / DSE_MIB, 1e-12);
}

/* A window of one block has no cache to join or slide; it is the cache-less model. */
static void designs__with_one_block_are_the_cacheless_model(void **state)
{
    (void)state;
    struct at none = good("cache=none phase=prefill"), one = good("query_rows=512 phase=prefill"),
              chunks = good("query_rows=512 cache=chunks phase=prefill");
    assert_near(one.m.latency_us, none.m.latency_us, 1e-12);
    assert_near(chunks.m.latency_us, none.m.latency_us, 1e-12);
    assert_true(one.e.concats_per_k == 0 && isnan(one.e.prefill_calls_per_slide));
}

/* A state keeps K and V where they are: a call joins and returns nothing, no slide follows it, and no copy of the cache is held. */
static void designs__with_a_state_move_the_new_rows_alone(void **state)
{
    (void)state;
    struct at two = good("cache=two-model phase=prefill"), kept = good("cache=stateful phase=prefill");
    assert_true(kept.e.concats_per_k == 0 && kept.e.returned_rows == 0 && isnan(kept.e.prefill_calls_per_slide));
    assert_true(kept.m.latency_us < two.m.latency_us && kept.m.dram_footprint_gib < two.m.dram_footprint_gib);
    assert_near(good("cache=stateful query_rows=512 phase=prefill").m.latency_us, good("cache=none phase=prefill").m.latency_us,
                1e-12);
}

/* The order in the post. In prefill the two models beat the slid output as soon as the host leaves the engine idle for a dispatch.
 */
static void designs__are_slower_than_two_models_as_the_post_says(void **state)
{
    (void)state;
    const char *others[] = {"slid-output", "chunks", "lazy-softmax", "stacked", "late-transpose", "none"};
    struct at two = good("cache=two-model host_gap_us=300"), prompt = good("cache=two-model host_gap_us=300 phase=prefill");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char *text = xasprintf("cache=%s host_gap_us=300", others[i]);
        assert_true(good(text).m.latency_us > two.m.latency_us);
        free(text);
    }
    assert_true(good("cache=slid-output host_gap_us=300 phase=prefill").m.latency_us > prompt.m.latency_us);
    assert_true(good("cache=chunks host_gap_us=300 phase=prefill").m.latency_us > prompt.m.latency_us);
}

static void slide__hides_in_the_gap_of_the_host(void **state)
{
    (void)state;
    struct at none = good("phase=prefill"), some = good("phase=prefill host_gap_us=2000"),
              all = good("phase=prefill host_gap_us=9000"), on_top = good("phase=prefill host_gap_us=9000 slide=exposed");
    assert_near(none.m.exposed_slide_us, 8 * none.m.slide_us, 1e-12);
    assert_true(some.m.slide_us > none.m.slide_us); /* the host reads meanwhile */
    assert_near(some.m.exposed_slide_us, 8 * (some.m.slide_us - 2000), 1e-12);
    assert_near(some.m.latency_us, 8 * (some.m.call_us + some.m.slide_us), 1e-12); /* the gap is where the slide is */
    assert_true(all.m.exposed_slide_us == 0);
    assert_near(all.m.latency_us, 8 * (all.m.call_us + 9000), 1e-12);
    assert_near(on_top.m.latency_us, 8 * (all.m.call_us + 9000 + none.m.slide_us), 1e-12);
    const double idle_mj = get(&all.p, "engine_idle_w") * 8 * (9000 - all.m.slide_us) / 1e3 / 512,
                 longer_mj = get(&all.p, "engine_base_w") * 8 * (all.m.slide_us - none.m.slide_us) / 1e3 / 512;
    assert_near(all.m.energy_mj, none.m.energy_mj + longer_mj + idle_mj, 1e-12); /* hidden, not undone */
}

/* ---- requests and the best number of query rows ------------------------------------------------------------------------------ */

static void request__is_its_prompt_and_its_generation(void **state)
{
    (void)state;
    struct at a = good("prompt=300 generate=100"), prompt = good("prompt=300 generate=100 phase=prefill");
    assert_near(a.m.request_ms, a.e.prefill_ms + a.e.generate_ms, 1e-12);
    assert_near(a.e.generate_ms, 100 * a.m.latency_us / 1e3, 1e-12);
    assert_near(a.e.prefill_ms, prompt.m.latency_us / 1e3, 1e-12);
    assert_near(prompt.m.tokens_per_s, 300 / (a.e.prefill_ms / 1e3), 1e-12);
    assert_true(prompt.m.calls == 5);
}

/* The same point at other query rows. */
static void at_rows(struct at *a, int rows)
{
    set(&a->p, "query_rows", rows);
    a->why = refusal(&a->p);
    if (!a->why) a->m = estimate(&a->p);
}

/* Against every multiple of 8 up to 512 and of 32 above, at several mixes, windows, designs. */
static void best_query_rows__are_those_of_an_exhaustive_search(void **state)
{
    (void)state;
    const char *mixes[] = {"prompt=512 generate=256", "prompt=100 generate=10",  "prompt=1024 generate=16",
                           "prompt=3000 generate=2",  "prompt=40 generate=1000", "context=2048"};
    const char *machines[] = {"cache=two-model", "cache=two-model overlap=sum", "cache=chunks", "cache=two-model window=4096",
                              "cache=two-model window=1024 overflow=discard"};
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++)
        for (size_t j = 0; j < sizeof machines / sizeof *machines; j++) {
            char *text = xasprintf("%s %s", mixes[i], machines[j]);
            struct at a = at(text);
            double best_ms = (double)INFINITY;
            for (int rows = 8; rows <= 4096; rows += rows < 512 ? 8 : 32) {
                at_rows(&a, rows);
                if (!a.why) best_ms = fmin(best_ms, a.m.request_ms);
            }
            const double found_ms = equation(&a.p, "best_request_ms");
            free(text);
            if (!(found_ms <= best_ms * 1.0005))
                fail_msg("%s %s: %g ms, but %g ms can be had", mixes[i], machines[j], found_ms, best_ms);
        }
}

/* More generation wants fewer rows, a longer prompt more. */
static void best_query_rows__follow_the_mix(void **state)
{
    (void)state;
    double chat = good("overlap=sum prompt=128 generate=1024").e.best_query_rows,
           even = good("overlap=sum prompt=512 generate=256").e.best_query_rows,
           summary = good("overlap=sum prompt=3000 generate=64").e.best_query_rows;
    assert_true(chat < even && even < summary);
}

/* Squares are faster by square_gain where weights take most of the time, and never faster than the engine; reshaping is not
 * free. */
static void layout__costs_rows_that_nobody_computes(void **state)
{
    (void)state;
    const char *only_computing = "bandwidth_gbs=1e5 concat_gbs=1e4 transpose_gbs=1e4 dispatch_us=0 context=64";
    char *even = xasprintf("%s layout=even", only_computing), *row = xasprintf("%s layout=row fill_rows=64", only_computing),
         *square = xasprintf("%s layout=square fill_rows=64", only_computing),
         *none = xasprintf("%s layout=row fill_rows=0", only_computing);
    const double even_us = good(even).m.latency_us, row_us = good(row).m.latency_us, square_us = good(square).m.latency_us;
    assert_near(good(none).m.latency_us, even_us, 1e-12);
    assert_near(row_us / even_us, 2, 0.02); /* 64 rows and as many again; not of attention */
    assert_true(square_us < row_us && square_us > even_us);
    /* with so many rows, or so great a gain, only the projections are left to be slower */
    char *wide = xasprintf("%s square_gain=100", square);
    const double projections = 3.0 * 4096 * 4096 / (4.0 * 4096 * 4096 + 3.0 * 4096 * 11008 + 4096.0 * 32000 / 32);
    assert_near((good(wide).m.latency_us / even_us - 1), projections, 0.05);
    free(even), free(row), free(square), free(none), free(wide);
}

/* 4 bits stream 2.37 times as fast as 16 at most, where the engine waits for them. */
static void weights__that_are_narrow_stream_no_faster_than_they_expand(void **state)
{
    (void)state;
    const char *streaming = "query_rows=8 engine_tflops=1000 dispatch_us=0";
    char *wide = xasprintf("%s weight_bits=16", streaming), *narrow = xasprintf("%s weight_bits=4", streaming),
         *free_ = xasprintf("%s weight_bits=4 narrow_gain=16", streaming);
    const struct at w = good(wide), n = good(narrow), f = good(free_);
    const double weights_us = w.m.weights_mib * DSE_MIB / 85e9 * 1e6;
    assert_near(w.m.latency_us - n.m.latency_us, weights_us * (1 - 1 / 2.37), 1e-4);
    assert_near(w.m.latency_us - f.m.latency_us, weights_us * (1 - 1 / 4.0), 1e-4);
    assert_true(n.m.weights_mib == f.m.weights_mib); /* the bytes are those stored */
    free(wide), free(narrow), free(free_);
}

static void slide__after_each_call_and_in_many_programs_costs_them_all(void **state)
{
    (void)state;
    const struct at block = good("slide=exposed"), each = good("slide=exposed slide_each=call"),
                    many = good("slide=exposed slide_each=call slide_programs=32");
    assert_near(each.m.exposed_slide_us, 64 * block.m.exposed_slide_us, 1e-12);
    assert_near(many.m.slide_us, each.m.slide_us + 31 * 230, 1e-12);
    assert_near(many.m.latency_us, many.m.call_us + many.m.slide_us, 1e-12);
}

/* Waiting takes idle power; the same work takes the same energy whenever it is done. */
static void power__of_an_engine_that_waits_is_idle_power(void **state)
{
    (void)state;
    const struct at none = good("slide=exposed"), gap = good("slide=exposed host_gap_us=1e6");
    assert_near((gap.m.energy_mj - none.m.energy_mj) / 1e3, 0.8, 1e-9);
    const struct at hidden = good("slide=hidden host_gap_us=1e6"); /* the slide runs in a part of the gap */
    assert_near((gap.m.energy_mj - hidden.m.energy_mj) / 1e3, 0.8 * gap.m.slide_us / 64 / 1e6, 1e-2);
    assert_string_equal(at("engine_base_w=0.5").why, "engine_idle_w is above engine_base_w");
    const struct at constant = good("power=constant host_gap_us=5000");
    assert_near(constant.m.engine_power_w, 4.2, 1e-9);
    assert_true(good("host_gap_us=1e6").m.engine_power_w < 0.5 * none.m.engine_power_w);
}

static void points__at_random_are_no_faster_than_either_roof(void **state)
{
    (void)state;
    const struct point base = point_of("ane", "");
    int feasible = 0, points = samples(5000, 20000);
    for (int i = 0; i < points; i++) {
        struct point p = base;
        if (!random_point(p.model, base.params, 0.15, p.params)) continue;
        struct dse_breakdown parts = {0};
        const struct named m = estimate_parts(&p, &parts);
        double ops = 0, bytes = 0;
        for (int k = 0; k < parts.n; k++)
            if (parts.part[k].depth == 0) {
                ops += parts.part[k].ops;
                bytes += parts.part[k].dram_bytes;
            }
        double s = m.latency_us / 1e6 * (1 + 1e-9) * (double)dse_workload_chips(workload_of(&p));
        assert_true(s >= ops / (get(&p, "engine_tflops") * 1e12) && s >= bytes / (get(&p, "bandwidth_gbs") * 1e9));
        assert_true(m.wasted_rows >= -1e-12 && m.wasted_rows < 1);
        feasible++;
    }
    assert_true(feasible > points / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache__that_keeps_half_has_the_shape_of_half),
        cmocka_unit_test(cache__that_a_static_graph_cannot_keep_is_refused),
        cmocka_unit_test(call__streams_the_weights_once_and_computes_every_row),
        cmocka_unit_test(call__meets_both_roofs),
        cmocka_unit_test(call__costs_the_same_whatever_the_stage),
        cmocka_unit_test(call__pads_rows_to_the_multiple_of_the_engine),
        cmocka_unit_test(batch__is_one_sequence_after_another),
        cmocka_unit_test(head__on_the_last_row_leaves_the_others_out),
        cmocka_unit_test(window__follows_the_context_in_whole_blocks),
        cmocka_unit_test(window__that_is_longer_is_slower),
        cmocka_unit_test(window__refuses_what_it_cannot_hold_unless_told_to_forget),
        cmocka_unit_test(designs__move_the_rows_that_they_say),
        cmocka_unit_test(designs__with_one_block_are_the_cacheless_model),
        cmocka_unit_test(designs__with_a_state_move_the_new_rows_alone),
        cmocka_unit_test(designs__are_slower_than_two_models_as_the_post_says),
        cmocka_unit_test(slide__hides_in_the_gap_of_the_host),
        cmocka_unit_test(request__is_its_prompt_and_its_generation),
        cmocka_unit_test(best_query_rows__are_those_of_an_exhaustive_search),
        cmocka_unit_test(best_query_rows__follow_the_mix),
        cmocka_unit_test(layout__costs_rows_that_nobody_computes),
        cmocka_unit_test(weights__that_are_narrow_stream_no_faster_than_they_expand),
        cmocka_unit_test(slide__after_each_call_and_in_many_programs_costs_them_all),
        cmocka_unit_test(power__of_an_engine_that_waits_is_idle_power),
        cmocka_unit_test(points__at_random_are_no_faster_than_either_roof),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
