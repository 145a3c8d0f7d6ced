/* The Neural Engine on LLMs of all kinds: windows, latents, experts and states in static shapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ane_llms_test.h"

#include <dse/num.h>
#include <dse/units.h>

static struct ane_call call_of(const struct ane_params *p, bool simple)
{
    struct ane_shape s;
    struct ane_call c;
    ane_shape_init(&s, p, (double)p->query_rows, ane_request_of(p).kept);
    s.simple = simple;
    ane_call_init(&c, p, &s);
    return c;
}

static bool has_indexer(const struct dse_llm *llm)
{
    for (size_t i = 0; i < llm->n_kinds; i++)
        if (llm->kinds[i].mixer == DSE_LATENT_TOPK) return true;
    return false;
}

/* Every LLM without an indexer runs; a call reads what its operators hold, and each of its parts is counted once. */
static void llms__read_what_their_operators_hold(void **state)
{
    (void)state;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct ane_params p = on(e->name);
        struct dse_breakdown parts;
        struct dse_oplist list;
        double held = 0, touched = 0;
        if (has_indexer(p.workload.llm)) {
            assert_non_null(dse_model_ane.check(&p));
            continue;
        }
        struct dse_workload w = p.workload;
        w.batch = p.query_rows;
        dse_workload_expand(&w, &list);
        for (int k = 0; k < list.n; k++) {
            held += list.op[k].held_bytes;
            touched += list.op[k].weight_bytes;
        }
        const struct ane_metrics m = estimate(&p, &parts);
        assert_close(e->name, m.weights_mib * DSE_MIB, held, 1e-9);
        const double all = m.weights_mib + m.kv_mib + m.concat_mib + m.transpose_mib + m.slide_mib + m.technique_mib;
        assert_close(e->name, m.common.dram_mib, all, 1e-9);
        const struct dse_part sum = sum_of_parts(&parts);
        assert_close(e->name, sum.dram_bytes, m.common.dram_mib * DSE_MIB, 1e-9);
        assert_close(e->name, sum.time_us, m.common.latency_us, 1e-9);
        assert_close(e->name, sum.energy_mj, m.common.energy_mj, 1e-9);
        p.workload.speculation.draft_tokens = 2;
        struct ane_shape shape;
        ane_shape_init(&shape, &p, (double)p.query_rows, ane_request_of(&p).kept);
        assert_close(e->name, ane_footprint(&p, &shape), estimate(&p, NULL).dram_footprint_gib * DSE_GIB, 1e-12);
        p.workload.speculation.draft_tokens = 0;
        p.expert_dispatch = ANE_GATHERED_EXPERTS;
        assert_close(e->name, estimate(&p, NULL).weights_mib * DSE_MIB, touched, 1e-9);
    }
}

/* What is written for all kinds of LLMs gives for a dense one what is written for it. */
static void llms__that_are_dense_are_so_either_way(void **state)
{
    (void)state;
    static const int32_t layouts[] = {ANE_EVEN, ANE_ROW, ANE_SQUARE};
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++)
        for (int32_t cache = ANE_TWO_MODEL; cache <= ANE_NONE; cache++) {
            struct ane_params p = on(e->name);
            if (!dse_llm_is_plain(p.workload.llm)) continue;
            p.cache = cache;
            p.layout = layouts[i % 3];
            p.fill_rows = 90;
            p.overlap = i % 2 ? ANE_MAX : ANE_SUM;
            p.workload.kv_bits = i % 4 < 2 ? 16 : 8;
            p.workload.kv_scale_bits = i % 4 < 2 ? 0 : 1;
            const struct ane_call own = call_of(&p, true), any = call_of(&p, false);
            const double pairs[][2] = {{any.time_s, own.time_s},
                                       {any.bytes, own.bytes},
                                       {any.ops, own.ops},
                                       {any.weight_bytes, own.weight_bytes},
                                       {any.kv_bytes, own.kv_bytes},
                                       {any.concat_bytes, own.concat_bytes},
                                       {any.transpose_bytes, own.transpose_bytes},
                                       {any.row_ops, own.row_ops},
                                       {any.head_ops, own.head_ops},
                                       {any.group[0].pair_ops, own.pair_ops},
                                       {ane_slide_of(&p, &any).time_s, ane_slide_of(&p, &own).time_s},
                                       {ane_footprint_of(&p, &any), ane_footprint_of(&p, &own)}};
            for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) assert_close(e->name, pairs[k][0], pairs[k][1], 1e-12);
        }
}

/* Gemma 3: of six layers five see 1024 positions. Blocks of 64 rows: 1023 before the first of a block are 16 of them. */
static void windows__slide_in_whole_blocks(void **state)
{
    (void)state;
    struct ane_params p = on("gemma3-4b");
    const struct dse_llm *llm = p.workload.llm;
    p.workload.context = 8192;
    p.query_rows = 64;
    const struct ane_call c = call_of(&p, false);
    double kept = 0;
    assert_int_equal(c.n_groups, 2);
    for (int i = 0; i < c.n_groups; i++) {
        const double rows = c.group[i].reach > 0 ? (double)llm->attention_window + 64 : 8192;
        assert_close("rows", c.group[i].window, rows, 1e-15);
        kept += c.group[i].layers * (2 * rows - 64);
    }
    const double row = 2 * 2 * (double)(llm->kv_heads * llm->head_dim);
    assert_close("kept", ane_llms_kept_bytes(&p, &c), kept * row, 1e-12);
    p.workload.context = 1024; /* no window is reached: as if all layers saw all */
    const struct ane_call shorter = call_of(&p, false);
    assert_close("rows", shorter.group[1].window, 1024, 1e-15);
}

/* DeepSeek-V2-Lite: one tensor of 576 elements for keys and values: the values are read with the keys, and slide with them. */
static void latents__are_kept_once(void **state)
{
    (void)state;
    struct ane_params p = on("deepseek-v2-lite");
    p.workload.context = 4096;
    const struct ane_call c = call_of(&p, false);
    const double row = 576 * 2, layers = 27;
    assert_int_equal(c.n_groups, 1);
    assert_close("a call", c.kv_bytes, layers * row * (4096 + 64), 1e-12);
    assert_close("transposed", c.transpose_bytes, 2 * layers * row * 64, 1e-12);
    assert_close("a slide", ane_slide_of(&p, &c).bytes, 2 * layers * row * (4096 - 64), 1e-12);
}

/* All experts cost the same whatever is chosen; those with work have the rows of the call; programs of their own cost
 * dispatches. */
static void experts__are_all_or_those_with_work(void **state)
{
    (void)state;
    struct ane_params p = on("qwen3-30b-a3b");
    p.workload.weight_bits = 4;
    p.query_rows = 8;
    const struct ane_metrics all = estimate(&p, NULL);
    p.workload.routing = DSE_ROUTING_BALANCED;
    assert_close("all", estimate(&p, NULL).common.latency_us, all.common.latency_us, 1e-15);
    p.expert_dispatch = ANE_GATHERED_EXPERTS;
    const struct ane_metrics half = estimate(&p, NULL);
    const double rest = 48 * (128.0 - 64) * 3 * 2048 * 768 / 2 / DSE_MIB; /* 8 rows of 8 experts each: 64 of 128 */
    assert_close("gathered", half.weights_mib, all.weights_mib - rest, 1e-9);
    p.expert_dispatch = ANE_EXPERT_PROGRAMS;
    assert_close("programs", estimate(&p, NULL).common.latency_us, half.common.latency_us + 48 * 64 * p.dispatch_us, 1e-9);
    p.workload.routing = DSE_ROUTING_POWER_LAW;
    p.workload.routing_exponent = 2;
    const double skewed = estimate(&p, NULL).weights_mib;
    assert_true(skewed < half.weights_mib);
    p.workload.routing_exponent = 1;
    assert_true(fabs(estimate(&p, NULL).weights_mib - skewed) > 1);
}

/* The state is read and written once a call, however many rows it has. */
static void states__move_once_a_call(void **state)
{
    (void)state;
    struct ane_params p = on("mamba2-2.7b");
    const struct ane_call c = call_of(&p, false);
    const double one = c.state_bytes;
    assert_int_equal(c.n_groups, 0);
    assert_close("bytes", c.kv_bytes, 2 * one, 1e-12);
    p.query_rows = 256;
    assert_close("bytes", call_of(&p, false).kv_bytes, 2 * one, 1e-12);
    assert_true(ane_slide_of(&p, &c).bytes <= 0);
    p.cache = ANE_NONE;
    assert_true(call_of(&p, false).kv_bytes <= 0);
}

/* What the shared parameters say moves the numbers, or is refused. */
static void workload__moves_what_it_says(void **state)
{
    (void)state;
    const struct ane_params moe = on("deepseek-v2-lite"), dense = on("qwen3-8b");
    struct ane_params p = moe;
    p.workload.latent_form = DSE_LATENT_EXPANDED;
    assert_non_null(refusal(p));
    p = moe;
    p.workload.tensor_parallel = 2;
    assert_non_null(refusal(p));
    p = moe;
    p.kept.eviction = 1;
    assert_non_null(refusal(p));
    p = dense;
    p.workload.activation_bits = 8;
    assert_non_null(refusal(p));
    p.workload.activation_bits = 32;
    assert_non_null(refusal(p));
    p = dense;
    p.workload.weight_scale_bits = 0.5;
    assert_non_null(refusal(p)); /* of 16 bits */
    p.workload.weight_bits = 4;
    const double scaled = estimate(&p, NULL).weights_mib;
    p.workload.weight_scale_bits = 0;
    assert_close("scales", scaled, estimate(&p, NULL).weights_mib * 4.5 / 4, 1e-9);
}

/* E20: rows that a call has anyway verify drafts, so that they pay as far as they are accepted. */
static void drafts__pay_as_far_as_they_are_accepted(void **state)
{
    (void)state;
    for (int32_t drafter = DSE_DRAFT_HEADS; drafter <= DSE_DRAFT_LLM; drafter++) {
        struct ane_params p = on("qwen3-8b");
        p.query_rows = 8;
        const double alone = estimate(&p, NULL).common.tokens_per_s;
        p.workload.speculation.draft_tokens = 3;
        p.workload.speculation.drafter = drafter;
        assert_parts_add_up("drafts", &p);
        assert_true(estimate(&p, NULL).common.tokens_per_s > 1.5 * alone);
        p.workload.speculation.acceptance = 0.3;
        const double fewer = estimate(&p, NULL).common.tokens_per_s;
        p.workload.speculation.acceptance_decay = 0.5;
        assert_true(estimate(&p, NULL).common.tokens_per_s < fewer);
        p.workload.speculation.accepted_length = 1;
        assert_true(estimate(&p, NULL).common.tokens_per_s < alone);
        p.workload.speculation.draft_tokens = 8;
        assert_non_null(refusal(p)); /* nine rows in eight */
    }
}

/* E20: one layer of 36 and its head, three times; its cache is a 37th. */
static void drafts__cost_a_layer_and_a_head_each(void **state)
{
    (void)state;
    struct ane_params p = on("qwen3-8b"), drafting = p;
    drafting.workload.speculation.draft_tokens = 3;
    const struct ane_call c = call_of(&p, false), d = call_of(&drafting, false);
    const struct dse_llm *llm = p.workload.llm;
    const double hidden = (double)llm->hidden, bytes = 2;
    const double each = dse_llm_layer_weights(llm) + dse_llm_head_weights(llm) + 2 * hidden * hidden;
    assert_close("read", d.weight_bytes - c.weight_bytes, 3 * each * bytes, 1e-9);
    assert_close("held", d.held_bytes - c.held_bytes, each * bytes, 1e-9);
    assert_close("slid", ane_llms_slid_bytes(&d),
                 ane_llms_slid_bytes(&c) * 37 / 36 * (double)(d.group[0].cached / c.group[0].cached), 1e-9);
}

/* E21: the window is the longest sequence's, and a chunk takes calls as a prompt does. */
static void mixes__take_the_longest_window_and_more_calls(void **state)
{
    (void)state;
    struct ane_params p = on("gemma3-4b"), q = p;
    p.workload.batch = q.workload.batch = 4;
    p.workload.context = 1024;
    p.workload.context_spread = 0.5;
    q.workload.context = 1536;
    assert_parts_add_up("unequal", &p);
    assert_close("time", estimate(&p, NULL).common.latency_us, estimate(&q, NULL).common.latency_us, 1e-12);
    assert_true(estimate(&p, NULL).common.compute_utilization < estimate(&q, NULL).common.compute_utilization);
    p.request.generate = 10;
    assert_non_null(refusal(p));
    q.workload.chunk_tokens = 200;
    q.workload.chunk_context = 1000;
    q.slide = ANE_EXPOSED;
    assert_parts_add_up("chunk", &q);
    struct ane_params prompt = q;
    prompt.workload.phase = DSE_PREFILL;
    prompt.workload.chunk_tokens = 0;
    prompt.workload.batch = 1;
    const double each = estimate(&prompt, NULL).common.latency_us / 24; /* 24 calls of 64 rows */
    const double with = estimate(&q, NULL).common.latency_us;
    q.workload.chunk_tokens = 0;
    assert_close("four calls", with - estimate(&q, NULL).common.latency_us, 4 * each, 1e-9);
    q.workload.chunk_tokens = 200;
    q.cache = ANE_NONE;
    assert_non_null(refusal(q));
}

/* E12, E13 are all that the levels differ by. */
static void levels__agree(void **state)
{
    (void)state;
    const unsigned ideal = DSE_IDEAL_FIFOS | DSE_IDEAL_DRAWS;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct ane_params p = on(e->name);
        p.expert_dispatch = (int32_t)(i % 3);
        p.programs = 1 + (int64_t)(i % 5);
        p.host_gap_us = 100;
        p.workload.speculation.draft_tokens = i % 4 == 1 ? 2 : 0;
        p.workload.speculation.drafter = (int32_t)(i % 3);
        p.workload.chunk_tokens = i % 4 == 2 ? 100 : 0;
        if (dse_model_ane.check(&p)) continue;
        const double closed = estimate(&p, NULL).common.latency_us;
        assert_close(e->name, simulated_us(&p, ideal), closed, 1e-6);
        const double full = simulated_us(&p, 0), least = p.expert_dispatch == ANE_ALL_EXPERTS ? 1 - 1e-6 : 0.97;
        if (!(full >= closed * least && full <= 1.15 * closed)) fail_msg("%s: %g us, %g in closed form", e->name, full, closed);
    }
}

/* E18: experts are drawn in each layer: by the seed, about their mean, and where not all are computed alone. */
static void events__draw_experts_about_their_mean(void **state)
{
    (void)state;
    enum { SEEDS = 40 };
    struct ane_params p = on("deepseek-v2-lite"); /* 26 of 27 layers have experts */
    p.query_rows = 8;
    p.overlap = ANE_SUM;
    p.expert_dispatch = ANE_EXPERT_PROGRAMS;
    const double closed = estimate(&p, NULL).common.latency_us;
    double sum = 0, least = (double)INFINITY, most = 0;
    for (p.seed = 0; p.seed < SEEDS; p.seed++) {
        const double us = simulated_us(&p, 0);
        assert_close("the same again", simulated_us(&p, 0), us, 1e-15);
        sum += us;
        least = fmin(least, us);
        most = fmax(most, us);
    }
    assert_close("mean", sum / SEEDS, closed, 5e-3);
    assert_true(least < closed * 0.999 && most > closed * 1.001);
    p.expert_dispatch = ANE_ALL_EXPERTS;
    const double all = simulated_us(&p, 0);
    p.seed = 1;
    assert_close("all", simulated_us(&p, 0), all, 1e-15);
}

/* A box of one point has its estimate; of drafts nothing is said, and boxes that are refused are empty. */
static void bound__is_the_estimate_of_a_point(void **state)
{
    (void)state;
    struct ane_params lo = on("gpt-oss-20b"), hi = lo;
    struct ane_metrics floor, ceiling;
    const struct ane_metrics m = estimate(&lo, NULL);
    assert_true(ane_bound(&lo, &hi, &floor, &ceiling));
    assert_close("floor", floor.common.latency_us, m.common.latency_us, 1e-15);
    assert_close("ceiling", ceiling.common.latency_us, m.common.latency_us, 1e-15);
    hi.workload.context = 4096;
    assert_true(ane_bound(&lo, &hi, &floor, &ceiling));
    assert_close("floor over contexts", floor.common.latency_us, m.common.latency_us, 1e-9);
    hi = lo = on("llama2-7b");
    hi.workload.speculation.draft_tokens = 4;
    assert_true(ane_bound(&lo, &hi, &floor, &ceiling));
    assert_false(floor.common.latency_us > estimate(&lo, NULL).common.latency_us);
    lo = hi = on("deepseek-v3.2");
    hi.workload.context = 4096;
    assert_false(ane_bound(&lo, &hi, &floor, &ceiling));
}

static int set_up_defaults(void **state)
{
    return set_up_defaults_of(state, &dse_model_ane, &defaults);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llms__read_what_their_operators_hold),
        cmocka_unit_test(llms__that_are_dense_are_so_either_way),
        cmocka_unit_test(windows__slide_in_whole_blocks),
        cmocka_unit_test(latents__are_kept_once),
        cmocka_unit_test(experts__are_all_or_those_with_work),
        cmocka_unit_test(states__move_once_a_call),
        cmocka_unit_test(workload__moves_what_it_says),
        cmocka_unit_test(drafts__pay_as_far_as_they_are_accepted),
        cmocka_unit_test(drafts__cost_a_layer_and_a_head_each),
        cmocka_unit_test(mixes__take_the_longest_window_and_more_calls),
        cmocka_unit_test(levels__agree),
        cmocka_unit_test(events__draw_experts_about_their_mean),
        cmocka_unit_test(bound__is_the_estimate_of_a_point),
    };
    return cmocka_run_group_tests(tests, set_up_defaults, tear_down);
}
