/* FlashDecoding++ at event level: what it has in common with the closed form, and what the closed form leaves out. */
#include "flashdecoding_test.h"
#include "sim/sim.h"

static const unsigned all_ideal = DSE_IDEAL_FIFOS | DSE_IDEAL_REFRESH | DSE_IDEAL_DRAM | DSE_IDEAL_DRAWS | DSE_IDEAL_SYNC;

struct events {
    struct metrics m;
    struct dse_breakdown parts;
    uint64_t handled;
    double launched, vectors_again, layers_again;
};

static struct events simulate_ideal(const struct point *p, unsigned ideal)
{
    struct events e = {.parts.n = 0};
    const char *why = refusal(p);
    if (why) fail_msg("infeasible: %s", why);
    struct dse_sim *sim = sim_new(&(struct sim_options){.ideal = ideal});
    void *all = xcalloc(1, p->model->desc->metrics_size);
    if (!p->model->desc->simulate(p->params, sim, all, &e.parts)) fail_msg("%s", dse_sim_error(sim));
    e.m = metrics_of(p->model, all);
    free(all);
    e.handled = sim_events(sim);
    for (size_t i = 0; i < sim_notes(sim); i++) {
        struct sim_note note = sim_note(sim, i);
        if (strcmp(note.name, "launches") == 0) e.launched = note.value;
        if (strcmp(note.name, "vectors_again") == 0) e.vectors_again = note.value;
        if (strcmp(note.name, "layers_again") == 0) e.layers_again = note.value;
    }
    sim_free(sim);
    return e;
}

static struct events simulate(const struct point *p)
{
    return simulate_ideal(p, 0);
}

static struct events at(const char *settings)
{
    struct point p = point(settings);
    return simulate(&p);
}

/* ---- the closed form ----------------------------------------------------------------------------------------------------- */

static void assert_parts_near(const struct dse_breakdown *a, const struct dse_breakdown *b, double relative, double slack_us)
{
    assert_int_equal(a->n, b->n);
    for (int i = 0; i < a->n; i++) {
        const struct dse_part *x = &a->part[i], *y = &b->part[i];
        assert_string_equal(x->name, y->name);
        if (fabs(x->time_us - y->time_us) > relative * fabs(y->time_us) + slack_us)
            fail_msg("%s: %.12g us is not %.12g", x->name, x->time_us, y->time_us);
        if (fabs(x->dram_bytes - y->dram_bytes) > 1e-9 * fabs(y->dram_bytes)) fail_msg("%s: bytes", x->name);
        if (fabs(x->ops - y->ops) > 1e-9 * fabs(y->ops)) fail_msg("%s: operations", x->name);
    }
}

/* Kernels are rounded to picoseconds; the clock of runs that take days is coarser, and the limit of a board makes all of it longer.
 */
static void assert_ideal_is_closed(const struct point *p)
{
    struct dse_breakdown parts;
    const struct metrics closed = broken_down(p, &parts);
    struct point unlimited = *p;
    choose(&unlimited, "power", "constant");
    const double unlimited_us = estimated(&unlimited).latency_us;
    struct events e = simulate_ideal(p, all_ideal);
    double slack = 1e-6 * e.launched * closed.latency_us / unlimited_us + 1e-12 * closed.latency_us;
    assert_parts_near(&e.parts, &parts, 1e-6, slack);
    assert_near(e.m.latency_us, closed.latency_us, 1e-6);
    assert_near(e.m.dram_mib, closed.dram_mib, 1e-9);
    assert_near(e.m.energy_mj, closed.energy_mj, 1e-6);
    assert_near(e.m.flat_gemm_us, closed.flat_gemm_us, 1e-6);
    assert_near(e.m.library_gemm_us, closed.library_gemm_us, 1e-6);
    assert_near(e.m.gemv_us, closed.gemv_us, 1e-6);
}

static void ideal__run_is_the_closed_form(void **state)
{
    (void)state;
    static const char *const settings[] = {"",
                                           "phase=prefill",
                                           "batch=8",
                                           "batch=64 context=300",
                                           "gpu=mi210 batch=8",
                                           "double_buffering=off batch=40",
                                           "phase=prefill context=100",
                                           "phase=prefill softmax=synchronized batch=3",
                                           "llm=llama2-13b tensor_parallel=4 batch=7 engine=hugging-face",
                                           "engine=flashdecoding launch_us=40",
                                           "engine=vllm batch=16",
                                           "llm=chatglm2-6b context=32768 tile_k=100",
                                           "recompute_percent=100",
                                           "tile_n=24 batch=16 resident_blocks=5",
                                           "context=2048 batch=8 eviction=h2o",
                                           "context=2048 batch=3 eviction=voting launch_us=40",
                                           "context=2048 batch=8 eviction=quest engine=vllm",
                                           "context=2048 phase=prefill eviction=snapkv boundary=bulk",
                                           "context=2048 batch=16 kv_bits=4 kv_scale_bits=1",
                                           "llm=deepseek-v2-lite batch=126 kv_bits=4 kv_scale_bits=13.9 compute_efficiency=0.1"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct point p = point(settings[i]);
        assert_ideal_is_closed(&p);
    }
}

static void ideal__run_is_the_closed_form_at_random_points(void **state)
{
    (void)state;
    const struct point base = point("");
    int feasible = 0;
    for (int i = 0; i < 3000; i++) {
        struct point p;
        if (!random_near(&base, i % 2 ? 0.1 : 0.4, &p)) continue;
        assert_ideal_is_closed(&p);
        feasible++;
    }
    assert_true(feasible > 300);
}

static double part(const struct dse_breakdown *b, const char *name, bool bytes)
{
    for (int i = 0; i < b->n; i++)
        if (strcmp(b->part[i].name, name) == 0) return bytes ? b->part[i].dram_bytes : b->part[i].time_us;
    fail_msg("no part %s", name);
    return 0;
}

/* The same work; and from DRAM no more than K and V that are read again. No kernel but those that wait for launches is faster. */
static void events__do_the_work_of_the_closed_form(void **state)
{
    (void)state;
    const struct point base = point("lookup=closed-form launch_us=0");
    int feasible = 0;
    for (int i = 0; i < 1500; i++) {
        struct point p;
        struct dse_breakdown parts;
        if (!random_near(&base, 0.1, &p)) continue;
        choose(&p, "lookup", "closed-form");
        set(&p, "launch_us", 0);
        choose(&p, "power", "constant"); /* a limit slows both down, each for what it draws */
        broken_down(&p, &parts);
        struct events e = simulate_ideal(&p, llm_of(&p)->moe.experts > 0 ? DSE_IDEAL_DRAWS : 0); /* draws touch others */
        for (int k = 0; k < parts.n; k++) {
            const struct dse_part *x = &parts.part[k], *y = &e.parts.part[k];
            assert_near(y->ops + 1, x->ops + 1, 1e-9);
            bool again = strcmp(x->name, "attention") == 0 || strcmp(x->name, "kv_cache") == 0;
            double most = again ? e.vectors_again * get(&p, "tensor_parallel") * 2 * get(&p, "context") *
                                      (double)llm_of(&p)->head_dim * 32 / 8
                                : 0;
            assert_true(y->dram_bytes >= x->dram_bytes * (1 - 1e-9) && y->dram_bytes <= x->dram_bytes * (1 + 1e-9) + most + 1);
            /* E13: waves are not always whole; an update takes a share of them. */
            const double least = strcmp(x->name, "kv_cache") == 0 ? 0.8 : strcmp(x->name, "synchronization") == 0 ? 0.6 : 1 - 1e-6;
            /* A host that runs ahead waits for the GPU the shorter, the longer the GPU takes. */
            const bool ahead = strcmp(x->name, "host") == 0 && is_chosen(&p, "launches", "queued");
            if (!ahead && strcmp(x->name, "elementwise") != 0 && strcmp(x->name, "recomputation") != 0 &&
                strcmp(x->name, "attention") != 0)
                if (y->time_us < x->time_us * least - 1e-3)
                    fail_msg("%s: %.12g us is faster than %.12g", x->name, y->time_us, x->time_us);
        }
        feasible++;
    }
    assert_true(feasible > 200);
}

/* kernel_losses = "included": whatever the GPU, an engine whose efficiencies hold everything is what the closed form says. */
static void included__losses_are_not_counted_twice(void **state)
{
    (void)state;
    static const char *const settings[] = {"engine=vllm batch=8", "engine=veda-baseline",
                                           "engine=vllm phase=prefill gpu=rtx-3090 context=512",
                                           "kernel_losses=included launch_us=30"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct point p = point(settings[i]);
        struct metrics closed = estimated(&p);
        assert_near(simulate(&p).m.latency_us, closed.latency_us, 1e-6);
    }
}

/* ---- linear operators ---------------------------------------------------------------------------------------------------- */

/* One wave: what the closed form leaves out is the latency of the first load; further waves have one each. */
static void flat_gemm__of_one_wave_adds_the_first_latency(void **state)
{
    (void)state;
    struct point p = point("batch=8 tile_n=64 memory_latency_ns=700");
    struct metrics closed = estimated(&p);
    assert_int_equal(closed.flat_blocks, 192);
    assert_int_equal(closed.flat_waves, 1);
    assert_near(simulate(&p).m.flat_gemm_us, closed.flat_gemm_us + 0.7, 1e-9);
}

/* 216 slots: 216 blocks are one wave, 217 are two, and the second draws what one block can. */
static void flat_gemm__has_a_tail(void **state)
{
    (void)state;
    struct point p = point("batch=8 gemm=given tile_n=32 memory_latency_ns=0 exposed_share=0");
    set(&p, "gemm_n", 216 * 32);
    double full = simulate(&p).m.flat_gemm_us;
    assert_near(full, estimated(&p).flat_gemm_us, 1e-9);
    set(&p, "gemm_n", 217 * 32);
    struct metrics closed = estimated(&p);
    double tail = simulate(&p).m.flat_gemm_us - full, block_us = 4096. * 32 * 2 /
                                                                 (get(&p, "block_share") * board_of(&p)->bandwidth_gbs * DSE_GIGA /
                                                                  (double)board_of(&p)->sms * get(&p, "linear_efficiency")) *
                                                                 1e6;
    assert_true(tail > block_us && tail < block_us * 1.1); /* and the last tile's products */
    assert_true(closed.flat_gemm_us < full * 1.02);        /* the closed form hides it under the bandwidth of all */
}

/* The table is made with the machine at hand, so that it is never worse than one made by the closed form. */
static void lookup__profiled_is_never_slower(void **state)
{
    (void)state;
    for (int batch = 1; batch <= 128; batch *= 2)
        for (int gpu = 0; gpu < 4; gpu++) {
            static const char *const gpus[] = {"a100-80gb", "rtx-3090", "mi210", "h100"};
            char *a = xasprintf("batch=%d context=128 gpu=%s", batch, gpus[gpu]), *b = xasprintf("%s lookup=closed-form", a);
            struct point pa = point(a), pb = point(b);
            if (!refusal(&pa)) assert_true(simulate(&pa).m.linear_us <= simulate(&pb).m.linear_us * (1 + 1e-9));
            free(a);
            free(b);
        }
}

/* ---- attention ----------------------------------------------------------------------------------------------------------- */

static void softmax__synchronized_is_never_faster_without_overflow(void **state)
{
    (void)state;
    const struct point base = point("");
    int feasible = 0;
    for (int i = 0; i < 600; i++) {
        struct point p;
        if (!random_near(&base, 0.1, &p)) continue;
        set(&p, "recompute_percent", 0);
        choose(&p, "power", "constant"); /* under a limit, kernels that wait draw less, and are held back less */
        choose(&p, "softmax", "asynchronous");
        if (refusal(&p)) continue;
        struct events a = simulate(&p);
        choose(&p, "softmax", "synchronized");
        struct events s = simulate(&p);
        assert_true(s.m.attention_us >= a.m.attention_us * (1 - 1e-6) - 1e-3);
        assert_true(a.m.sync_us == 0 && a.vectors_again == 0);
        feasible++;
    }
    assert_true(feasible > 50);
}

static void recomputation__grows_with_its_frequency(void **state)
{
    (void)state;
    static const char *const settings[] = {"batch=4", "batch=64 context=512", "phase=prefill context=512",
                                           "batch=16 recompute_blocks=one"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        double vectors = 0, us = 0;
        for (double percent = 0.05; percent <= 100; percent *= 4) {
            struct point p = point(settings[i]);
            set(&p, "recompute_percent", percent);
            struct events e = simulate(&p);
            double time = part(&e.parts, "recomputation", false);
            assert_true(e.vectors_again >= vectors && time >= us * (1 - 1e-9));
            vectors = e.vectors_again;
            us = time;
        }
        assert_true(us > 0);
    }
}

/* As many as were to be expected, within five standard deviations; all of them; none. */
static void recomputation__is_drawn_vector_by_vector(void **state)
{
    (void)state;
    for (int seed_now = 1; seed_now <= 20; seed_now++) {
        struct point p = point("batch=16");
        set(&p, "seed", seed_now);
        double all = 16. * 32 * 32, expected = 0.0045 * all;
        assert_true(fabs(simulate(&p).vectors_again - expected) < 5 * sqrt(expected));
    }
    struct point all = point("recompute_percent=100"), none = point("recompute_percent=0");
    assert_near(simulate(&all).vectors_again, 32. * 32, 0);
    assert_true(simulate(&none).vectors_again == 0);
}

/* Layers that are not drawn are like those that are. */
static void recomputation__of_one_layer_stands_for_all(void **state)
{
    (void)state;
    struct point p = point("batch=16 layers_simulated=1");
    struct events e = simulate(&p);
    assert_near(fmod(e.vectors_again, 32), 0, 0);
    assert_true(e.layers_again == 0 || e.layers_again == 32);
}

/* One block for all positions, or as many as are free: the same work, sooner done. */
static void recomputation__split_is_not_slower(void **state)
{
    (void)state;
    for (int batch = 1; batch <= 64; batch *= 4) {
        char *a = xasprintf("batch=%d recompute_blocks=split", batch), *b = xasprintf("batch=%d recompute_blocks=one", batch);
        struct events split = at(a), one = at(b);
        assert_true(split.vectors_again == one.vectors_again);
        assert_true(split.m.attention_us <= one.m.attention_us);
        assert_near(split.m.dram_mib, one.m.dram_mib, 1e-12);
        free(a);
        free(b);
    }
}

/* What is read again comes from the cache if the layer's K and V fit it, else from DRAM. */
static void recomputation__hits_the_cache_where_it_fits(void **state)
{
    (void)state;
    struct events fits = at("recompute_percent=5"), not = at("recompute_percent=5 l2_mib=15");
    struct point p = point("");
    double closed = estimated(&p).dram_mib, row = 2. * 1024 * 128 * 2;
    assert_near(fits.m.dram_mib, closed, 1e-9);
    assert_near((not .m.dram_mib - closed) * DSE_MIB, not .vectors_again * row, 1e-6);
}

/* ---- launches ------------------------------------------------------------------------------------------------------------ */

/* Without anything else to wait for, each kernel but the first waits for its gap; slow launches make the step wait for each of
 * them. */
static void launches__are_counted_kernel_by_kernel(void **state)
{
    (void)state;
    /* 32 layers of QKV, attention and its sum, output, gate, up, down; and the head */
    struct events none = at("launch_us=0 kernel_gap_us=0"), gaps = at("launch_us=0 kernel_gap_us=5"), slow = at("launch_us=1000");
    assert_near(none.launched, 32 * 7 + 1, 0);
    assert_true(none.m.launch_wait_us == 0);
    assert_near(gaps.m.latency_us - none.m.latency_us, 5 * (none.launched - 1), 1e-9);
    assert_near(gaps.m.launch_wait_us, 5 * (none.launched - 1), 1e-9);
    assert_near(slow.m.latency_us, 1000 * none.launched + part(&none.parts, "lm_head", false), 1e-9);
    assert_near(at("phase=prefill").launched, 32 * 6 + 1, 0);
    assert_near(at("engine=hugging-face").launched, 32 * (7 + 24) + 1, 0);
}

/* The host runs ahead: what a short kernel waits for in the closed form was launched while a long one ran. */
static void launches__run_ahead(void **state)
{
    (void)state;
    struct point p = point("engine=hugging-face kernel_gap_us=0");
    assert_true(estimated(&p).launch_wait_us > 6000);
    assert_near(simulate(&p).m.launch_wait_us, get(&p, "launch_us"), 1e-9); /* the first one */
}

/* E35: what counts and bounds take is kernels of the queue: launched, waited for, and no shorter than their bytes allow. */
static void technique__has_kernels_of_its_own(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        int kernels;
    } cases[] = {{"window", 0}, {"h2o", 1}, {"voting", 2}, {"quest", 2}, {"snapkv boundary=bulk", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char settings[128];
        snprintf(settings, sizeof settings, "context=2048 batch=8 launch_us=0 kernel_gap_us=0 eviction=%s", cases[i].policy);
        struct point p = point(settings);
        const struct metrics closed = estimated(&p);
        const struct events e = simulate(&p);
        assert_near(e.launched, 32 * (7 + cases[i].kernels) + 1, 0);
        assert_near(e.m.technique_mib, closed.technique_mib, 1e-12);
        assert_near(e.m.technique_us, part(&e.parts, "technique", false), 1e-9);
        if (cases[i].kernels == 0) {
            assert_true(e.m.technique_us == 0);
            continue;
        }
        const double bytes_us = closed.technique_mib * 8 * DSE_MIB / (get(&p, "bandwidth_gbs") * DSE_GIGA) * 1e6;
        assert_true(e.m.technique_us > closed.technique_us && e.m.technique_us > bytes_us);
        /* Each kernel waits once for the memory, and computes its last tile alone. */
        const double waits_us = 32 * cases[i].kernels * get(&p, "memory_latency_ns") / 1e3;
        assert_true(e.m.technique_us > closed.technique_us + 0.9 * waits_us);
        set(&p, "kernel_gap_us", 5);
        assert_near(simulate(&p).m.technique_us, e.m.technique_us + 5 * 32 * cases[i].kernels, 1e-9);
    }
}

static double elementwise_us(const char *settings)
{
    struct events e = at(settings);
    return part(&e.parts, "elementwise", false);
}

/* An element-wise kernel of its own waits for its activations, and moves them; a fused one does not. */
static void elementwise__kernels_read_and_write_their_activations(void **state)
{
    (void)state;
    const double kernels = 32 * 24;
    double none = elementwise_us("engine=hugging-face l2_latency_ns=0");
    double late = elementwise_us("engine=hugging-face l2_latency_ns=1000");
    assert_near(late - none, kernels, 1e-6); /* a microsecond each */
    double few = elementwise_us("engine=hugging-face phase=prefill context=512 kernel_gap_us=0");
    double many = elementwise_us("engine=hugging-face phase=prefill context=1024 kernel_gap_us=0");
    struct point p = point("engine=hugging-face phase=prefill context=1024");
    double moved_us = 2 * 512 * 4096 * 2 / (get(&p, "sms") * get(&p, "l2_bytes") * get(&p, "clock_ghz") * 1e3);
    assert_near(many - few, kernels * moved_us, 1e-6);
    assert_near(elementwise_us("l2_latency_ns=1000 recompute_percent=0"), 0, 1e-12);
}

/* A step takes what the host needs for its launches or what the GPU needs with the gaps, whichever is longer. */
static void launches__bind_a_step_only_where_the_gpu_is_faster(void **state)
{
    (void)state;
    struct events gpu = at("engine=hugging-face launch_us=0");
    for (double launch_us = 2; launch_us < 40; launch_us *= 1.5) {
        char settings[64];
        snprintf(settings, sizeof settings, "engine=hugging-face launch_us=%.17g", launch_us);
        struct events e = at(settings);
        double host_us = launch_us * e.launched, latency_us = e.m.latency_us;
        assert_true(latency_us >= gpu.m.latency_us && latency_us >= host_us);
        assert_true(latency_us <= fmax(gpu.m.latency_us, host_us) * 1.05); /* what one of them waits for once */
    }
}

/* ---- runs ---------------------------------------------------------------------------------------------------------------- */

static void runs__repeat_themselves_and_follow_the_seed(void **state)
{
    (void)state;
    struct events a = at("batch=16"), b = at("batch=16"), other = at("batch=16 seed=2");
    assert_memory_equal(&a.m, &b.m, sizeof a.m);
    assert_int_equal(a.handled, b.handled);
    assert_true(a.m.attention_us != other.m.attention_us);
    struct events c = at("batch=16 recompute_percent=0"), d = at("batch=16 recompute_percent=0 seed=2");
    assert_memory_equal(&c.m, &d.m, sizeof c.m);
}

/* Cost does not follow the number of blocks. */
static void runs__of_long_prompts_stay_short(void **state)
{
    (void)state;
    assert_true(at("phase=prefill context=4096 batch=4").handled < 20000);
    assert_true(at("llm=chatglm2-6b phase=prefill context=32768 batch=8").handled < 100000);
    assert_true(at("batch=32 context=4096 capacity_gib=1000").handled < 20000);
}

/* E28 at event level: no kernel of another dataflow takes its place, which the lookup table of the heuristic one would. */
static void vendor__kernels_stay_the_makers(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "weight_bits=4", "tensor_parallel=8", "batch=64", "phase=prefill"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *settings = xasprintf("engine=gpt-fast kernel_losses=apart %s", cases[i]);
        const struct point p = point(settings);
        const double closed = estimated(&p).linear_us, events = simulate(&p).m.linear_us;
        if (!(events > 0.999 * closed && events < 1.15 * closed))
            fail_msg("%s: %.6g us, closed form %.6g", cases[i], events, closed);
        free(settings);
    }
}

static double expert_bytes(const struct events *e)
{
    return part(&e->parts, "experts_up", true) + part(&e->parts, "experts_down", true);
}

/* Experts are drawn layer by layer: by seed others, the same for the same, and on the mean those of the closed form. */
static void events__draw_experts(void **state)
{
    (void)state;
    enum { SEEDS = 12 };
    static const char *const settings[] = {
        "llm=qwen3-30b-a3b gpu=h100 batch=8 context=1000",
        "llm=qwen3-30b-a3b gpu=h100 batch=8 context=1000 dataflow=vendor routing=power-law",
        "llm=mixtral-8x7b gpu=h200 batch=3 context=1000 dataflow=vendor routing=profile",
        "llm=deepseek-v3 gpu=h200 batch=64 context=1000 data_parallel=16 expert_parallel=16 weight_bits=8"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct point p = point(settings[i]);
        const struct events mean = simulate_ideal(&p, DSE_IDEAL_DRAWS);
        double bytes = 0, last_us = 0;
        int others = 0;
        for (int seed_now = 1; seed_now <= SEEDS; seed_now++) {
            set(&p, "seed", seed_now);
            const struct events e = simulate(&p), again = simulate(&p);
            assert_true(e.m.latency_us == again.m.latency_us && expert_bytes(&e) == expert_bytes(&again));
            bytes += expert_bytes(&e) / SEEDS;
            others += e.m.latency_us != last_us;
            last_us = e.m.latency_us;
        }
        assert_true(others == SEEDS);
        if (fabs(bytes / expert_bytes(&mean) - 1) > 0.02)
            fail_msg("%s: %g bytes, %g on the mean", settings[i], bytes, expert_bytes(&mean));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vendor__kernels_stay_the_makers),
        cmocka_unit_test(ideal__run_is_the_closed_form),
        cmocka_unit_test(ideal__run_is_the_closed_form_at_random_points),
        cmocka_unit_test(events__do_the_work_of_the_closed_form),
        cmocka_unit_test(events__draw_experts),
        cmocka_unit_test(included__losses_are_not_counted_twice),
        cmocka_unit_test(flat_gemm__of_one_wave_adds_the_first_latency),
        cmocka_unit_test(flat_gemm__has_a_tail),
        cmocka_unit_test(lookup__profiled_is_never_slower),
        cmocka_unit_test(softmax__synchronized_is_never_faster_without_overflow),
        cmocka_unit_test(recomputation__grows_with_its_frequency),
        cmocka_unit_test(recomputation__is_drawn_vector_by_vector),
        cmocka_unit_test(recomputation__of_one_layer_stands_for_all),
        cmocka_unit_test(recomputation__split_is_not_slower),
        cmocka_unit_test(recomputation__hits_the_cache_where_it_fits),
        cmocka_unit_test(launches__are_counted_kernel_by_kernel),
        cmocka_unit_test(launches__run_ahead),
        cmocka_unit_test(technique__has_kernels_of_its_own),
        cmocka_unit_test(launches__bind_a_step_only_where_the_gpu_is_faster),
        cmocka_unit_test(elementwise__kernels_read_and_write_their_activations),
        cmocka_unit_test(runs__repeat_themselves_and_follow_the_seed),
        cmocka_unit_test(runs__of_long_prompts_stay_short),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
