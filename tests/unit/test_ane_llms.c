/* The Neural Engine on LLMs of all kinds: windows, latents, experts and states in static shapes. */
#include "ane_test.h"

#include <dse/num.h>

static bool has_indexer(const struct dse_llm *llm)
{
    for (size_t i = 0; i < llm->n_kinds; i++)
        if (llm->kinds[i].shape.latent.index_topk > 0) return true;
    return false;
}

/* Every LLM without an indexer runs; a call reads what its operators hold, and each of its parts is counted once. */
static void llms__read_what_their_operators_hold(void **state)
{
    (void)state;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct point p = on(e->name);
        struct dse_breakdown parts;
        struct dse_oplist list;
        double held = 0, touched = 0;
        struct dse_workload w = *workload_of(&p);
        if (has_indexer(w.llm)) {
            assert_non_null(refusal(&p));
            continue;
        }
        w.batch = (int64_t)get(&p, "query_rows");
        dse_workload_expand(&w, &list);
        for (int k = 0; k < list.n; k++) {
            held += list.op[k].held_bytes;
            touched += list.op[k].weight_bytes;
        }
        const struct named m = estimate_parts(&p, &parts);
        assert_close(e->name, m.weights_mib * DSE_MIB, held, 1e-9);
        const double all = m.weights_mib + m.kv_mib + m.concat_mib + m.transpose_mib + m.slide_mib + m.technique_mib;
        assert_close(e->name, m.dram_mib, all, 1e-9);
        const struct dse_part sum = sum_of_parts(&parts);
        assert_close(e->name, sum.dram_bytes, m.dram_mib * DSE_MIB, 1e-9);
        assert_close(e->name, sum.time_us, m.latency_us, 1e-9);
        assert_close(e->name, sum.energy_mj, m.energy_mj, 1e-9);
        choose(&p, "expert_dispatch", "gathered");
        assert_close(e->name, estimate(&p).weights_mib * DSE_MIB, touched, 1e-9);
    }
}

/* One path serves all LLMs: of a dense one it comes to what the workload's operators and rows say. */
static void llms__that_are_dense_hold_their_weights_and_rows(void **state)
{
    (void)state;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct point p = on(e->name);
        const struct dse_llm *llm = workload_of(&p)->llm;
        if (!dse_llm_is_plain(llm)) continue;
        set(&p, "batch", 3);
        set(&p, "kv_bits", 8);
        set(&p, "kv_scale_bits", 1);
        struct dse_workload w = *workload_of(&p);
        w.context = 0;
        const double row = dse_kv_bytes_per_token(llm, 9), kept = (3. * 512 + 448) * row;
        assert_close(e->name, estimate(&p).dram_footprint_gib * DSE_GIB, dse_workload_footprint(&w) + kept, 1e-12);
        assert_close(e->name, estimate(&p).kv_mib * DSE_MIB, (512 + 64) * row, 1e-12);
        assert_close(e->name, equation(&p, "one_slide_mib") * DSE_MIB, 2 * 448 * row, 1e-12);
        assert_close(e->name, equation(&p, "concat_call_mib") * DSE_MIB, 2 * 512 * row, 1e-12);
    }
}

/* A step of eight sequences with one position is eight rows; experts have the work that eight rows give them. */
static void rows__are_what_a_step_is_made_of(void **state)
{
    (void)state;
    enum { ROWS = 8, DRAFTED = 2 };
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct point p = on("llama2-7b");
        struct dse_workload w;
        memcpy(&w, workload_of(&p), sizeof w);
        w.llm = find_llm(e->name);
        struct dse_oplist row, step, drafting;
        dse_workload_expand_row(&w, &row);
        w.batch = ROWS;
        w.context = 1;
        dse_workload_expand(&w, &step);
        assert_int_equal(row.n, step.n);
        for (int k = 0; k < row.n; k++) {
            const bool experts = step.op[k].role == DSE_ROLE_EXPERT_UP || step.op[k].role == DSE_ROLE_EXPERT_DOWN;
            assert_close(step.op[k].name, ROWS * row.op[k].ops, step.op[k].ops, 1e-9);
            assert_close(step.op[k].name, ROWS * row.op[k].kv_write_bytes, step.op[k].kv_write_bytes, 1e-12);
            assert_close(step.op[k].name, row.op[k].held_bytes, step.op[k].held_bytes, 1e-12);
            if (experts) assert_close(step.op[k].name, dse_experts_at_work(&w, step.op[k].choice, ROWS), step.op[k].copies, 1e-12);
        }
        w.speculation.draft_tokens = DRAFTED;
        w.phase = DSE_PREFILL; /* whatever the step is */
        dse_workload_expand_row(&w, &drafting);
        for (int k = 0; k < drafting.n; k++) assert_true(drafting.op[k].is_draft == (k >= row.n));
        for (int k = 0; k < drafting.n_attentions; k++) assert_true(drafting.attention[k].is_draft == (k >= row.n_attentions));
    }
}

/* Gemma 3: of six layers five see 1024 positions. Blocks of 64 rows: 1023 before the first of a block are 16 of them. */
static void windows__slide_in_whole_blocks(void **state)
{
    (void)state;
    struct point p = on("gemma3-4b"), two = p;
    const struct dse_llm *llm = workload_of(&p)->llm;
    const double row = 2 * 2 * (double)(llm->kv_heads * llm->head_dim), layers = (double)llm->layers, full = 5;
    const double limited = (double)llm->attention_window + 64; /* rows of a window */
    set(&p, "context", 8192);
    set(&two, "context", 8192);
    set(&two, "batch", 2);
    const double kept = (full * 8192 + (layers - full) * limited) * row;
    assert_close("kept", (estimate(&two).dram_footprint_gib - estimate(&p).dram_footprint_gib) * DSE_GIB, kept, 1e-9);
    assert_close("read", estimate(&p).kv_mib * DSE_MIB, kept + 64 * layers * row, 1e-12);
    assert_close("slid", equation(&p, "one_slide_mib") * DSE_MIB, 2 * (kept - 64 * layers * row), 1e-12);
    set(&p, "context", 1024); /* no window is reached: as if all layers saw all */
    assert_close("short", estimate(&p).kv_mib * DSE_MIB, (1024 + 64) * layers * row, 1e-12);
}

/* DeepSeek-V2-Lite: one tensor of 576 elements for keys and values: the values are read with the keys, and slide with them. */
static void latents__are_kept_once(void **state)
{
    (void)state;
    struct point p = on("deepseek-v2-lite");
    set(&p, "context", 4096);
    const double row = 576 * 2, layers = 27;
    assert_close("a call", estimate(&p).kv_mib * DSE_MIB, layers * row * (4096 + 64), 1e-12);
    assert_close("transposed", estimate(&p).transpose_mib * DSE_MIB, 2 * layers * row * 64, 1e-12);
    assert_close("a slide", equation(&p, "one_slide_mib") * DSE_MIB, 2 * layers * row * (4096 - 64), 1e-12);
}

/* All experts cost the same whatever is chosen; those with work have the rows of the call; programs of their own cost
 * dispatches. */
static void experts__are_all_or_those_with_work(void **state)
{
    (void)state;
    struct point p = on("qwen3-30b-a3b");
    set(&p, "weight_bits", 4);
    set(&p, "query_rows", 8);
    const struct named all = estimate(&p);
    choose(&p, "routing", "balanced");
    assert_close("all", estimate(&p).latency_us, all.latency_us, 1e-15);
    choose(&p, "expert_dispatch", "gathered");
    const struct named half = estimate(&p);
    const double rest = 48 * (128.0 - 64) * 3 * 2048 * 768 / 2 / DSE_MIB; /* 8 rows of 8 experts each: 64 of 128 */
    assert_close("gathered", half.weights_mib, all.weights_mib - rest, 1e-9);
    choose(&p, "expert_dispatch", "programs");
    assert_close("programs", estimate(&p).latency_us, half.latency_us + 48 * 64 * get(&p, "dispatch_us"), 1e-9);
    choose(&p, "routing", "power-law");
    set(&p, "routing_exponent", 2);
    const double skewed = estimate(&p).weights_mib;
    assert_true(skewed < half.weights_mib);
    set(&p, "routing_exponent", 1);
    assert_true(fabs(estimate(&p).weights_mib - skewed) > 1);
}

/* The state is read and written once a call, however many rows it has. */
static void states__move_once_a_call(void **state)
{
    (void)state;
    struct point p = on("mamba2-2.7b"), two = p;
    set(&two, "batch", 2);
    const double one_mib = (estimate(&two).dram_footprint_gib - estimate(&p).dram_footprint_gib) * 1024; /* of a sequence */
    assert_close("bytes", estimate(&p).kv_mib, 2 * one_mib, 1e-9);
    set(&p, "query_rows", 256);
    assert_close("bytes", estimate(&p).kv_mib, 2 * one_mib, 1e-9);
    assert_true(equation(&p, "one_slide_mib") <= 0);
    choose(&p, "cache", "none");
    assert_true(estimate(&p).kv_mib <= 0);
}

/* What the shared parameters say moves the numbers, or is refused. */
static void workload__moves_what_it_says(void **state)
{
    (void)state;
    const struct point moe = on("deepseek-v2-lite"), dense = on("qwen3-8b");
    struct point p = moe;
    choose(&p, "latent_form", "expanded");
    assert_non_null(refusal(&p));
    p = moe;
    set(&p, "tensor_parallel", 2);
    assert_non_null(refusal(&p));
    p = moe;
    choose(&p, "eviction", "h2o");
    assert_non_null(refusal(&p));
    p = dense;
    set(&p, "activation_bits", 8);
    assert_non_null(refusal(&p));
    set(&p, "activation_bits", 32);
    assert_non_null(refusal(&p));
    p = dense;
    set(&p, "weight_scale_bits", 0.5);
    assert_non_null(refusal(&p)); /* of 16 bits */
    set(&p, "weight_bits", 4);
    const double scaled = estimate(&p).weights_mib;
    set(&p, "weight_scale_bits", 0);
    assert_close("scales", scaled, estimate(&p).weights_mib * 4.5 / 4, 1e-9);
}

/* E20: rows that a call has anyway verify drafts, so that they pay as far as they are accepted. */
static void drafts__pay_as_far_as_they_are_accepted(void **state)
{
    (void)state;
    static const char *const drafters[] = {"heads", "layer", "llm"};
    for (size_t i = 0; i < sizeof drafters / sizeof *drafters; i++) {
        struct point p = on("qwen3-8b");
        set(&p, "query_rows", 8);
        const double alone = estimate(&p).tokens_per_s;
        set(&p, "draft_tokens", 3);
        choose(&p, "drafter", drafters[i]);
        assert_parts_add_up("drafts", &p);
        assert_true(estimate(&p).tokens_per_s > 1.5 * alone);
        set(&p, "acceptance", 0.3);
        const double fewer = estimate(&p).tokens_per_s;
        set(&p, "acceptance_decay", 0.5);
        assert_true(estimate(&p).tokens_per_s < fewer);
        set(&p, "accepted_length", 1);
        assert_true(estimate(&p).tokens_per_s < alone);
        set(&p, "draft_tokens", 8);
        assert_non_null(refusal(&p)); /* nine rows in eight */
    }
}

/* E20: one layer of 36 and its head, three times; its cache is a 37th. */
static void drafts__cost_a_layer_and_a_head_each(void **state)
{
    (void)state;
    struct point p = on("qwen3-8b"), drafting = p;
    set(&drafting, "draft_tokens", 3);
    set(&drafting, "accepted_length", 1); /* a token a call */
    set(&p, "context", 509);              /* three more positions are kept */
    set(&drafting, "context", 509);
    const struct named c = estimate(&p), d = estimate(&drafting);
    const struct dse_llm *llm = workload_of(&p)->llm;
    const double hidden = (double)llm->hidden, bytes = 2, row = dse_kv_bytes_per_token(llm, 16) / (double)llm->layers;
    const double each = dse_llm_layer_weights(llm) + dse_llm_head_weights(llm) + 2 * hidden * hidden;
    assert_close("read", (d.weights_mib - c.weights_mib) * DSE_MIB, 3 * each * bytes, 1e-9);
    assert_close("held", (d.dram_footprint_gib - c.dram_footprint_gib) * DSE_GIB, each * bytes + (512 + 448) * row, 1e-9);
    assert_close("slid", equation(&drafting, "one_slide_mib"), equation(&p, "one_slide_mib") * 37 / 36, 1e-9);
}

/* E21: the window is the longest sequence's, and a chunk takes calls as a prompt does. */
static void mixes__take_the_longest_window_and_more_calls(void **state)
{
    (void)state;
    struct point p = on("gemma3-4b"), q = p;
    set(&p, "batch", 4);
    set(&q, "batch", 4);
    set(&p, "context", 1024);
    set(&p, "context_spread", 0.5);
    set(&q, "context", 1536);
    assert_parts_add_up("unequal", &p);
    assert_close("time", estimate(&p).latency_us, estimate(&q).latency_us, 1e-12);
    assert_true(estimate(&p).compute_utilization < estimate(&q).compute_utilization);
    set(&p, "generate", 10);
    assert_non_null(refusal(&p));
    set(&q, "chunk_tokens", 200);
    set(&q, "chunk_context", 1000);
    choose(&q, "slide", "exposed");
    assert_parts_add_up("chunk", &q);
    struct point prompt = q;
    choose(&prompt, "phase", "prefill");
    set(&prompt, "chunk_tokens", 0);
    set(&prompt, "batch", 1);
    const double each = estimate(&prompt).latency_us / 24; /* 24 calls of 64 rows */
    const double with = estimate(&q).latency_us;
    set(&q, "chunk_tokens", 0);
    assert_close("four calls", with - estimate(&q).latency_us, 4 * each, 1e-9);
    set(&q, "chunk_tokens", 200);
    choose(&q, "cache", "none");
    assert_non_null(refusal(&q));
}

/* E12, E13 are all that the levels differ by. */
static void levels__agree(void **state)
{
    (void)state;
    static const char *const dispatches[] = {"all", "gathered", "programs"}, *const drafters[] = {"heads", "layer", "llm"};
    const unsigned ideal = DSE_IDEAL_FIFOS | DSE_IDEAL_DRAM | DSE_IDEAL_DRAWS;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct point p = on(e->name);
        choose(&p, "expert_dispatch", dispatches[i % 3]);
        set(&p, "programs", (double)(1 + i % 5));
        set(&p, "host_gap_us", 100);
        set(&p, "draft_tokens", i % 4 == 1 ? 2 : 0);
        choose(&p, "drafter", drafters[i % 3]);
        set(&p, "chunk_tokens", i % 4 == 2 ? 100 : 0);
        if (refusal(&p)) continue;
        const double closed = estimate(&p).latency_us;
        assert_close(e->name, simulated_us(&p, ideal), closed, 1e-6);
        const double full = simulated_us(&p, 0), least = i % 3 == 0 ? 0.97 : 0.94;
        if (!(full >= closed * least && full <= 1.15 * closed)) fail_msg("%s: %g us, %g in closed form", e->name, full, closed);
    }
}

/* E18: experts are drawn in each layer: by the seed, about their mean, and where not all are computed alone. */
static void events__draw_experts_about_their_mean(void **state)
{
    (void)state;
    enum { SEEDS = 20 };
    struct point p = on("deepseek-v2-lite"); /* 26 of 27 layers have experts */
    set(&p, "query_rows", 8);
    choose(&p, "overlap", "sum");
    choose(&p, "expert_dispatch", "programs");
    const double closed = estimate(&p).latency_us;
    double sum = 0, least = (double)INFINITY, most = 0;
    for (int drawn = 0; drawn < SEEDS; drawn++) {
        set(&p, "seed", drawn);
        const double us = simulated_us(&p, 0);
        assert_close("the same again", simulated_us(&p, 0), us, 1e-15);
        sum += us;
        least = fmin(least, us);
        most = fmax(most, us);
    }
    assert_close("mean", sum / SEEDS, closed, 1e-2);
    assert_true(least < closed * 0.999 && most > closed * 1.001);
    choose(&p, "expert_dispatch", "all");
    const double all = simulated_us(&p, 0);
    set(&p, "seed", 1);
    assert_close("all", simulated_us(&p, 0), all, 1e-15);
}

/* A box of one point has its estimate; of drafts nothing is said, and boxes that are refused are empty. */
static void bound__is_the_estimate_of_a_point(void **state)
{
    (void)state;
    struct point lo = on("gpt-oss-20b"), hi = lo;
    struct named floor, ceiling;
    const struct named m = estimate(&lo);
    assert_true(bound_between(&lo, &hi, &floor, &ceiling));
    assert_close("floor", floor.latency_us, m.latency_us, 1e-15);
    assert_close("ceiling", ceiling.latency_us, m.latency_us, 1e-15);
    set(&hi, "context", 4096);
    assert_true(bound_between(&lo, &hi, &floor, &ceiling));
    assert_close("floor over contexts", floor.latency_us, m.latency_us, 1e-3);
    hi = lo = on("llama2-7b");
    set(&hi, "draft_tokens", 4);
    assert_true(bound_between(&lo, &hi, &floor, &ceiling));
    assert_false(floor.latency_us > estimate(&lo).latency_us);
    lo = hi = on("deepseek-v3.2");
    set(&hi, "context", 4096);
    assert_false(bound_between(&lo, &hi, &floor, &ceiling));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llms__read_what_their_operators_hold),
        cmocka_unit_test(llms__that_are_dense_hold_their_weights_and_rows),
        cmocka_unit_test(rows__are_what_a_step_is_made_of),
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
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
