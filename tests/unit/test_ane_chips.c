/* Several machines with a Neural Engine: stages take turns, groups share the sequences. */
#include "ane_test.h"

#include <dse/interconnect.h>

static struct point on_chips(const char *llm, int64_t stages, int64_t groups, int64_t batch)
{
    struct point p = on(llm);
    set(&p, "pipeline_parallel", (double)stages);
    set(&p, "data_parallel", (double)groups);
    set(&p, "batch", (double)batch);
    return p;
}

/* E22: as many sequences as stages keep all of them at work; fewer leave bubbles; each call hands on 64 rows of 4096 numbers. */
static void stages__take_turns(void **state)
{
    (void)state;
    enum { STAGES = 4 };
    struct point full = on_chips("qwen3-8b", STAGES, 1, STAGES), one = on_chips("qwen3-8b", STAGES, 1, 1);
    const struct named m = estimate(&full), single = estimate(&one);
    assert_parts_add_up("full", &full);
    assert_parts_add_up("one", &one);
    assert_close("tokens", m.tokens_per_s, STAGES * single.tokens_per_s, 1e-12);
    assert_close("latency", m.latency_us, single.latency_us, 1e-12);
    assert_true(m.energy_mj < single.energy_mj);
    const double bytes = 64.0 * 4096 * 2,
                 sent = get(&full, "link_latency_us") + bytes / (get(&full, "link_gbs") * get(&full, "link_share") * 1e3);
    assert_close("communication", m.communication_us, STAGES * sent, 1e-9);
    assert_close("of one", single.communication_us, sent, 1e-9);
    assert_close("links", m.energy_links_mj, STAGES * bytes * 8 * get(&full, "link_pj_per_bit") * 1e-9, 1e-9);
    set(&full, "link_latency_us", 0);
    set(&full, "link_gbs", 1e9);
    const double free_us = estimate(&full).latency_us;
    assert_close("without links", free_us, m.latency_us - m.communication_us, 1e-6);
    set(&full, "batch", 6); /* the fullest stage is never idle */
    assert_close("six", estimate(&full).latency_us, free_us * 6 / STAGES, 1e-9);
    /* A token passes all layers, and the head is counted with each stage. */
    struct point whole = on("qwen3-8b");
    const double head_us = 3 * 151936.0 * 4096 * 2 / (dse_dram_stream_rate(dram_of(&whole)) / 1e6);
    const double extra_us =
        3 * get(&whole, "dispatch_us") + head_us + 3 * get(&whole, "dispatch_us") * get(&whole, "slide_programs") / 64;
    assert_close("a token", free_us, estimate(&whole).latency_us + extra_us, 2e-2);
}

/* All stages together move what one chip moves, but for the heads. */
static void stages__move_what_one_chip_moves(void **state)
{
    (void)state;
    for (int64_t stages = 2; stages <= 36; stages = stages * 3 - stages % 2) {
        if (36 % stages != 0) continue;
        struct point one = on("qwen3-8b"), p = on_chips("qwen3-8b", stages, 1, 5);
        set(&one, "batch", 5);
        const struct named a = estimate(&one), b = estimate(&p);
        const double head_mib = 151936.0 * 4096 * 2 / DSE_MIB;
        assert_close("weights", b.weights_mib, a.weights_mib + (double)(stages - 1) * head_mib, 1e-12);
        assert_close("kv", b.kv_mib, a.kv_mib, 1e-12);
        assert_close("concat", b.concat_mib, a.concat_mib, 1e-12);
        assert_close("transpose", b.transpose_mib, a.transpose_mib, 1e-12);
        assert_close("slide", b.slide_mib, a.slide_mib, 1e-12);
        assert_true(b.system_usd > 0.999 * (double)stages * a.system_usd);
    }
}

/* E23: groups do the same side by side; one without a sequence waits. */
static void groups__share_the_sequences(void **state)
{
    (void)state;
    struct point one = on("gpt-oss-20b"), two = on_chips("gpt-oss-20b", 1, 2, 4);
    set(&one, "batch", 2);
    set(&one, "host_gap_us", 300);
    set(&two, "host_gap_us", 300);
    const struct named a = estimate(&one), b = estimate(&two);
    assert_close("tokens", b.tokens_per_s, 2 * a.tokens_per_s, 1e-12);
    assert_close("latency", b.latency_us, a.latency_us, 1e-12);
    assert_close("energy", b.energy_mj, a.energy_mj, 1e-12);
    assert_close("bytes", b.dram_mib, a.dram_mib, 1e-12);
    assert_close("room of a chip", b.dram_footprint_gib, a.dram_footprint_gib, 1e-12);
    assert_close("utilization", b.compute_utilization, a.compute_utilization, 1e-12);
    set(&two, "batch", 3);
    const struct named c = estimate(&two);
    assert_close("the fuller group", c.latency_us, a.latency_us, 1e-12);
    assert_close("three", c.tokens_per_s, 1.5 * a.tokens_per_s, 1e-12);
    const double idle_mj = get(&two, "engine_idle_w") * a.latency_us / 2 * 1e-3;
    assert_close("one waits", 3 * c.energy_mj, 3 * a.energy_mj + idle_mj, 1e-9);
    assert_parts_add_up("three", &two);
}

/* Every LLM, at both levels. */
static void chips__run_every_llm(void **state)
{
    (void)state;
    const unsigned ideal = DSE_IDEAL_FIFOS | DSE_IDEAL_DRAM | DSE_IDEAL_DRAWS;
    static const char *const dispatches[] = {"all", "gathered", "programs"};
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct point p = on_chips(e->name, 2 + (int64_t)(i % 3), 1 + (int64_t)(i % 2), 1 + (int64_t)(i % 7));
        set(&p, "weight_bits", 4);
        choose(&p, "expert_dispatch", dispatches[i % 3]);
        set(&p, "host_gap_us", 100);
        set(&p, "draft_tokens", i % 4 == 1 ? 2 : 0);
        choose(&p, "phase", i % 5 == 2 ? "prefill" : "decode");
        if (refusal(&p)) continue;
        struct dse_breakdown parts;
        const struct named m = estimate_parts(&p, &parts);
        const struct dse_part sum = sum_of_parts(&parts);
        const double tokens = dse_workload_tokens(workload_of(&p));
        assert_close(e->name, sum.time_us, m.latency_us, 1e-9);
        assert_close(e->name, sum.energy_mj, m.energy_mj * tokens, 1e-9);
        assert_close(e->name, sum.dram_bytes, m.dram_mib * DSE_MIB * tokens, 1e-9);
        assert_true(m.compute_utilization <= 1 && m.communication_us > 0);
        assert_close(e->name, simulated_us(&p, ideal), m.latency_us, 1e-6);
    }
}

/* What stages have room for one chip need not have; what would have to be exchanged within a call is refused. */
static void chips__have_room_and_limits(void **state)
{
    (void)state;
    struct point p = on_chips("qwen3-8b", 4, 1, 4);
    set(&p, "capacity_gib", 8);
    assert_null(refusal(&p));
    set(&p, "pipeline_parallel", 1);
    assert_non_null(refusal(&p));
    set(&p, "data_parallel", 4);
    assert_non_null(refusal(&p));
    p = on_chips("qwen3-8b", 37, 1, 4); /* of 36 layers */
    assert_non_null(refusal(&p));
    p = on_chips("qwen3-8b", 2, 1, 4);
    set(&p, "chunk_tokens", 64);
    assert_non_null(refusal(&p));
    p = on("gpt-oss-20b");
    set(&p, "data_parallel", 2);
    set(&p, "expert_parallel", 2);
    assert_non_null(refusal(&p));
    struct point lo = on_chips("gpt-oss-20b", 2, 2, 4), hi = lo;
    struct named floor, ceiling;
    const double us = estimate(&lo).latency_us;
    assert_true(bound_between(&lo, &hi, &floor, &ceiling));
    assert_close("a point", floor.latency_us, us, 1e-15);
    set(&hi, "pipeline_parallel", 3);
    set(&hi, "tensor_parallel", 8);
    assert_true(bound_between(&lo, &hi, &floor, &ceiling));
    assert_false(floor.latency_us > us || ceiling.latency_us < us);
    set(&lo, "tensor_parallel", 2);
    assert_false(bound_between(&lo, &hi, &floor, &ceiling));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages__take_turns),          cmocka_unit_test(stages__move_what_one_chip_moves),
        cmocka_unit_test(groups__share_the_sequences), cmocka_unit_test(chips__run_every_llm),
        cmocka_unit_test(chips__have_room_and_limits),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
