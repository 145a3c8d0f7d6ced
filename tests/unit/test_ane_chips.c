/* Several machines with a Neural Engine: stages take turns, groups share the sequences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ane_llms_test.h"

#include <dse/num.h>
#include <dse/units.h>

static struct ane_params on_chips(const char *llm, int64_t stages, int64_t groups, int64_t batch)
{
    struct ane_params p = on(llm);
    p.workload.pipeline_parallel = stages;
    p.workload.data_parallel = groups;
    p.workload.batch = batch;
    return p;
}

/* E22: as many sequences as stages keep all of them at work; fewer leave bubbles; each call hands on 64 rows of 4096 numbers. */
static void stages__take_turns(void **state)
{
    (void)state;
    enum { STAGES = 4 };
    struct ane_params full = on_chips("qwen3-8b", STAGES, 1, STAGES), one = on_chips("qwen3-8b", STAGES, 1, 1);
    const struct ane_metrics m = estimate(&full, NULL), single = estimate(&one, NULL);
    assert_parts_add_up("full", &full);
    assert_parts_add_up("one", &one);
    assert_close("tokens", m.common.tokens_per_s, STAGES * single.common.tokens_per_s, 1e-12);
    assert_close("latency", m.common.latency_us, single.common.latency_us, 1e-12);
    assert_true(m.common.energy_mj < single.common.energy_mj);
    const double bytes = 64.0 * 4096 * 2,
                 sent = full.links.link_latency_us + bytes / (full.links.link_gbs * full.links.link_share * 1e3);
    assert_close("communication", m.communication_us, STAGES * sent, 1e-9);
    assert_close("of one", single.communication_us, sent, 1e-9);
    assert_close("links", m.energy_links_mj, STAGES * bytes * 8 * full.links.link_pj_per_bit * 1e-9, 1e-9);
    full.links.link_latency_us = 0;
    full.links.link_gbs = 1e9;
    const double free_us = estimate(&full, NULL).common.latency_us;
    assert_close("without links", free_us, m.common.latency_us - m.communication_us, 1e-6);
    full.workload.batch = 6; /* the fullest stage is never idle */
    assert_close("six", estimate(&full, NULL).common.latency_us, free_us * 6 / STAGES, 1e-9);
    /* A token passes all layers, and the head is counted with each stage. */
    struct ane_params whole = on("qwen3-8b");
    const double head_us = 3 * 151936.0 * 4096 * 2 / (dse_dram_stream_rate(&whole.dram) / 1e6);
    const double extra_us = 3.0 * whole.dispatch_us + head_us + 3 * whole.dispatch_us * (double)whole.slide_programs / 64;
    assert_close("a token", free_us, estimate(&whole, NULL).common.latency_us + extra_us, 1e-6);
}

/* All stages together move what one chip moves, but for the heads. */
static void stages__move_what_one_chip_moves(void **state)
{
    (void)state;
    for (int64_t stages = 2; stages <= 36; stages = stages * 3 - stages % 2) {
        if (36 % stages != 0) continue;
        struct ane_params one = on("qwen3-8b"), p = on_chips("qwen3-8b", stages, 1, 5);
        one.workload.batch = 5;
        const struct ane_metrics a = estimate(&one, NULL), b = estimate(&p, NULL);
        const double head_mib = 151936.0 * 4096 * 2 / DSE_MIB;
        assert_close("weights", b.weights_mib, a.weights_mib + (double)(stages - 1) * head_mib, 1e-12);
        assert_close("kv", b.kv_mib, a.kv_mib, 1e-12);
        assert_close("concat", b.concat_mib, a.concat_mib, 1e-12);
        assert_close("transpose", b.transpose_mib, a.transpose_mib, 1e-12);
        assert_close("slide", b.slide_mib, a.slide_mib, 1e-12);
        assert_true(b.common.system_usd > 0.999 * (double)stages * a.common.system_usd);
    }
}

/* E23: groups do the same side by side; one without a sequence waits. */
static void groups__share_the_sequences(void **state)
{
    (void)state;
    struct ane_params one = on("gpt-oss-20b"), two = on_chips("gpt-oss-20b", 1, 2, 4);
    one.workload.batch = 2;
    one.host_gap_us = two.host_gap_us = 300;
    const struct ane_metrics a = estimate(&one, NULL), b = estimate(&two, NULL);
    assert_close("tokens", b.common.tokens_per_s, 2 * a.common.tokens_per_s, 1e-12);
    assert_close("latency", b.common.latency_us, a.common.latency_us, 1e-12);
    assert_close("energy", b.common.energy_mj, a.common.energy_mj, 1e-12);
    assert_close("bytes", b.common.dram_mib, a.common.dram_mib, 1e-12);
    assert_close("room of a chip", b.dram_footprint_gib, a.dram_footprint_gib, 1e-12);
    assert_close("utilization", b.common.compute_utilization, a.common.compute_utilization, 1e-12);
    two.workload.batch = 3;
    const struct ane_metrics c = estimate(&two, NULL);
    assert_close("the fuller group", c.common.latency_us, a.common.latency_us, 1e-12);
    assert_close("three", c.common.tokens_per_s, 1.5 * a.common.tokens_per_s, 1e-12);
    const double idle_mj = two.engine_idle_w * a.common.latency_us / 2 * 1e-3;
    assert_close("one waits", 3 * c.common.energy_mj, 3 * a.common.energy_mj + idle_mj, 1e-9);
    assert_parts_add_up("three", &two);
}

/* Every LLM, at both levels. */
static void chips__run_every_llm(void **state)
{
    (void)state;
    const unsigned ideal = DSE_IDEAL_FIFOS | DSE_IDEAL_DRAWS;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct ane_params p = on_chips(e->name, 2 + (int64_t)(i % 3), 1 + (int64_t)(i % 2), 1 + (int64_t)(i % 7));
        p.workload.weight_bits = 4;
        p.expert_dispatch = (int32_t)(i % 3);
        p.host_gap_us = 100;
        p.workload.speculation.draft_tokens = i % 4 == 1 ? 2 : 0;
        p.workload.phase = i % 5 == 2 ? DSE_PREFILL : DSE_DECODE;
        if (dse_model_ane.check(&p)) continue;
        struct dse_breakdown parts;
        const struct ane_metrics m = estimate(&p, &parts);
        const struct dse_part sum = sum_of_parts(&parts);
        const double tokens = dse_workload_tokens(&p.workload);
        assert_close(e->name, sum.time_us, m.common.latency_us, 1e-9);
        assert_close(e->name, sum.energy_mj, m.common.energy_mj * tokens, 1e-9);
        assert_close(e->name, sum.dram_bytes, m.common.dram_mib * DSE_MIB * tokens, 1e-9);
        assert_true(m.common.compute_utilization <= 1 && m.communication_us > 0);
        assert_close(e->name, simulated_us(&p, ideal), m.common.latency_us, 1e-6);
    }
}

/* What stages have room for one chip need not have; what would have to be exchanged within a call is refused. */
static void chips__have_room_and_limits(void **state)
{
    (void)state;
    struct ane_params p = on_chips("qwen3-8b", 4, 1, 4);
    p.dram.capacity_gib = 8;
    assert_null(refusal(p));
    p.workload.pipeline_parallel = 1;
    assert_non_null(refusal(p));
    p.workload.data_parallel = 4;
    assert_non_null(refusal(p));
    p = on_chips("qwen3-8b", 37, 1, 4); /* of 36 layers */
    assert_non_null(refusal(p));
    p = on_chips("qwen3-8b", 2, 1, 4);
    p.workload.chunk_tokens = 64;
    assert_non_null(refusal(p));
    p = on("gpt-oss-20b");
    p.workload.data_parallel = p.workload.expert_parallel = 2;
    assert_non_null(refusal(p));
    struct ane_params lo = on_chips("gpt-oss-20b", 2, 2, 4), hi = lo;
    struct ane_metrics floor, ceiling;
    const double us = estimate(&lo, NULL).common.latency_us;
    assert_true(ane_bound(&lo, &hi, &floor, &ceiling));
    assert_close("a point", floor.common.latency_us, us, 1e-15);
    hi.workload.pipeline_parallel = 3;
    hi.workload.tensor_parallel = 8;
    assert_true(ane_bound(&lo, &hi, &floor, &ceiling));
    assert_false(floor.common.latency_us > us || ceiling.common.latency_us < us);
    lo.workload.tensor_parallel = 2;
    assert_false(ane_bound(&lo, &hi, &floor, &ceiling));
}

static int set_up_defaults(void **state)
{
    return set_up_defaults_of(state, &dse_model_ane, &defaults);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages__take_turns),          cmocka_unit_test(stages__move_what_one_chip_moves),
        cmocka_unit_test(groups__share_the_sequences), cmocka_unit_test(chips__run_every_llm),
        cmocka_unit_test(chips__have_room_and_limits),
    };
    return cmocka_run_group_tests(tests, set_up_defaults, tear_down);
}
