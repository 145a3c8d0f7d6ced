/* LAD at event level: agreement with the closed form where that is exact, conservation of bytes and work, order among machines
 * that differ in one thing, and that every way of the model to decode runs. Most runs are without banks (DSE_IDEAL_DRAM): what
 * they test is LAD, not DRAM. */
#include "lad_test.h"
#include "samples.h"

#include "lad/lad_draws.h"
#include "sim/sim.h"

#include <dse/units.h>

enum { ALL = DSE_IDEAL_FIFOS | DSE_IDEAL_REFRESH | DSE_IDEAL_DRAM | DSE_IDEAL_DRAWS | DSE_IDEAL_SYNC };

static struct lad_metrics simulate(const struct lad_params *p, unsigned ideal)
{
    struct dse_sim *sim = sim_new(&(struct sim_options){.ideal = ideal});
    struct lad_metrics m = {0};
    assert_null(dse_model_lad.check(p));
    if (!dse_model_lad.simulate(p, sim, &m, NULL)) fail_msg("%s", dse_sim_error(sim));
    sim_free(sim);
    return m;
}

/* One layer, heads alike, nothing that the closed form ignores. */
static struct lad_params plain(void)
{
    struct lad_params p = f.defaults;
    p.events.layers_simulated = 1;
    p.local.active_cv = 0;
    p.fill = LAD_FILL_IGNORED;
    p.prefetch = LAD_PREFETCH_OFF;
    p.workload.context = 1024;
    return p;
}

/* Layers as those of opt-2.7b, with less of what is not attention and goes burst by burst. */
static struct dse_llm less_linear(void)
{
    struct dse_llm llm = *fixture_llm(&f, "opt-2.7b");
    llm.vocab = samples(4000, (int)llm.vocab);
    llm.ffn = samples(2560, (int)llm.ffn);
    assert_null(dse_llm_resolve(&llm));
    return llm;
}

static void set_bandwidth(struct lad_params *p, double gbs)
{
    p->dram.bandwidth_gbs = gbs;
    dse_dram_resolve(&p->dram);
}

/* Cycles that the HBM takes for bytes. */
static double hbm_cycles(const struct lad_params *p, double bytes)
{
    return bytes / (p->dram.bandwidth_gbs * p->dram.dram_efficiency * DSE_GIGA) * p->clock_ghz * DSE_GIGA;
}

/* ---- where the closed form is exact -------------------------------------------------------------------------------------- */

/* A slot differs by what rounding to whole positions (active, center, large) makes on every tile, and to whole cycles in each
 * stage. */
static double slot_bound(const struct lad_params *p)
{
    double row = (double)(p->workload.llm->head_dim * p->workload.kv_bits) / 8;
    return hbm_cycles(p, (double)p->tiles * 4 * row) + 5;
}

/* Linear layers: a job may wait for its first chunk to come and for its last to be computed when nothing else goes on; a layer of
 * this LLM has three jobs besides those of the heads, and the step one more. In a head's job the buffer is full at first: the HBM
 * waits until a chunk is computed, and at the end for the last. */
static double linear_bound_us(const struct lad_params *p)
{
    double chunk = p->weight_buffer_kib * DSE_KIB * (double)p->tiles / 8;
    double macs = (double)(p->tiles * (p->vpu_eas + p->vpu_md + p->vpu_ac) * p->vpu_width);
    double compute = chunk / 2 * (double)p->workload.batch / macs, jobs = 3 * (double)p->workload.llm->layers + 1;
    return (jobs * (hbm_cycles(p, chunk) + compute) + 32 * 32 * 2 * compute) / (p->clock_ghz * 1e3);
}

/* Where linear layers wait for weights, the weight buffer is loading when a period begins, and goes on: up to a buffer full is in
 * attention's time instead of theirs. The step is the same. */
static void ideal__steps_are_those_of_the_closed_form(void **state)
{
    (void)state;
    static const double bandwidths[] = {768, 1536, 6144}; /* with one VPU in the AC, computing takes longer than the last */
    for (size_t i = 0; i < sizeof bandwidths / sizeof *bandwidths; i++)
        for (int pipeline = LAD_EQ7; pipeline <= LAD_EXACT; pipeline++)
            for (int batch = 6; batch <= 12; batch += 6) {
                struct lad_params p = plain();
                set_bandwidth(&p, bandwidths[i]);
                p.pipeline = pipeline;
                p.workload.batch = batch;
                if (bandwidths[i] > 6000) p.vpu_ac = 1;
                struct lad_metrics closed = estimate(&p), events = simulate(&p, ALL);
                double periods = 32 * 32, rounds = batch / 6.0, slots_us = periods * rounds * slot_bound(&p) / 1e3;
                double step = events.common.latency_us - closed.common.latency_us, slot = events.slot_cycles - closed.slot_cycles;
                if (fabs(step) > slots_us + linear_bound_us(&p))
                    fail_msg("%g GB/s, batch %d: %g us, %g in closed form", bandwidths[i], batch, events.common.latency_us,
                             closed.common.latency_us);
                bool waits = closed.linear_us * 1e-6 * bandwidths[i] * 1e9 * 0.871 < closed.weights_mib * DSE_MIB * batch * 1.001;
                double buffer = waits ? hbm_cycles(&p, p.weight_buffer_kib * DSE_KIB * 6) / rounds : 0;
                if (slot < -slot_bound(&p) || slot > slot_bound(&p) + buffer)
                    fail_msg("%g GB/s, batch %d: a slot of %g cycles, %g in closed form", bandwidths[i], batch, events.slot_cycles,
                             closed.slot_cycles);
                assert_int_equal(events.attention_bound, closed.attention_bound);
            }
}

/* Out of step: the same, but for a transfer a period: the one that is being served at its end goes on in the linear layer, or the
 * HBM waits for one. */
static void ideal__tiles_of_their_own_way_agree_but_for_one_transfer_a_period(void **state)
{
    (void)state;
    for (double gbs = 1536; gbs <= 6144; gbs *= 2) {
        struct lad_params p = plain();
        set_bandwidth(&p, gbs);
        if (gbs > 6000) p.vpu_ac = 1;
        p.slots = LAD_BALANCED;
        struct lad_metrics closed = estimate(&p), events = simulate(&p, ALL);
        double row = 256, active = row * 2 * closed.active, stored = 8 * 1024 + 33540, rounds = 2;
        double transfer = hbm_cycles(&p, fmax(active, stored)) / rounds;
        double difference = events.slot_cycles - closed.slot_cycles;
        if (fabs(difference) > transfer + slot_bound(&p))
            fail_msg("%g GB/s: a slot of %g cycles, %g in closed form; a transfer is %g", gbs, events.slot_cycles,
                     closed.slot_cycles, transfer);
    }
}

/* The closed form's fill is five full slots; the slots that fill and drain have less to do. */
static void ideal__filling_the_pipeline_takes_at_most_five_slots(void **state)
{
    (void)state;
    for (int fill = LAD_FILL_STEP; fill <= LAD_FILL_LAYER; fill++) {
        struct lad_params p = plain();
        p.fill = fill;
        struct lad_metrics closed = estimate(&p), events = simulate(&p, ALL);
        p.fill = LAD_FILL_IGNORED;
        double none = simulate(&p, ALL).common.attention_us, fills = fill == LAD_FILL_STEP ? 1 : 32;
        double slot_us = closed.slot_cycles / 1e3;
        double bound = fills * LAD_FILL_SLOTS * slot_us + 32 * 32 * 2 * slot_bound(&p) / 1e3;
        if (events.common.attention_us < none * (1 - 1e-9) || events.common.attention_us > none + bound)
            fail_msg("fill %d: %g us, without %g", fill, events.common.attention_us, none);
    }
}

/* ---- conservation -------------------------------------------------------------------------------------------------------- */

/* Caches end in a burst that is moved whole; active positions are whole numbers, off by less than one in all. */
static void conservation__bytes_are_those_of_the_closed_form_in_whole_bursts(void **state)
{
    (void)state;
    for (int vain = LAD_IGNORED; vain <= LAD_COUNTED; vain++) {
        struct lad_params p = plain();
        p.workload.batch = 9;
        p.prefetch = vain ? LAD_PREFETCH_IDEAL : LAD_PREFETCH_OFF;
        struct lad_metrics closed = estimate(&p), events = simulate(&p, ALL);
        double samples = 32 * 32 * 9, rounded = samples * 2 * (33568 - 33540), whole = samples * 256 * 4;
        double difference = (events.common.dram_mib - closed.common.dram_mib) * DSE_MIB * 9;
        if (difference < rounded - whole || difference > rounded + whole)
            fail_msg("%g bytes more than the closed form, %g expected", difference, rounded);
        double work = events.common.compute_utilization * events.common.latency_us;
        assert_true(fabs(work / (closed.common.compute_utilization * closed.common.latency_us) - 1) < 1e-4);
    }
}

/* Banks and refresh cost time, not bytes; and never give any. */
static void conservation__the_dram_changes_time_not_bytes(void **state)
{
    (void)state;
    const struct dse_llm llm = less_linear();
    struct lad_params p = plain();
    p.workload.llm = &llm;
    p.workload.weight_bits = 4;
    struct lad_metrics ideal = simulate(&p, ALL), real = simulate(&p, DSE_IDEAL_DRAWS);
    struct lad_metrics awake = simulate(&p, DSE_IDEAL_DRAWS | DSE_IDEAL_REFRESH);
    assert_true(ideal.common.dram_mib == real.common.dram_mib);
    assert_true(real.common.attention_us >= awake.common.attention_us);
    assert_true(real.common.dram_utilization < 1);
}

/* A refresh takes a channel for tRFC in every tREFI. Before it a row that has just opened stays for tRAS, and the channels of a
 * bus close theirs one after the other (tRP each); behind it all banks open theirs again, four in tFAW, and the last is read
 * after tRCD. More than all that together is never lost, and streams that wait for nothing but the DRAM lose at least tRFC. */
static void refresh__costs_its_time_and_rows_opened_again_at_most(void **state)
{
    (void)state;
    for (int decoding = DSE_LOCALITY_AWARE; decoding <= DSE_FULL_CACHE; decoding++) {
        const struct dse_llm llm = less_linear();
        struct lad_params p = plain();
        p.workload.llm = &llm;
        p.workload.weight_bits = 4;
        p.local.decoding = decoding;
        const struct dse_dram_timing *t = &p.dram.timing;
        double closing = t->t_ras_ns + (double)p.dram.memory->detail.bus_channels * t->t_rp_ns;
        double reopened = closing + (double)t->banks / 4 * t->t_faw_ns + t->t_rcd_ns,
               most = (t->t_rfc_ns + reopened) / t->t_refi_ns;
        struct lad_metrics with = simulate(&p, DSE_IDEAL_DRAWS), without = simulate(&p, DSE_IDEAL_DRAWS | DSE_IDEAL_REFRESH);
        double attention = with.common.attention_us / without.common.attention_us, linear = with.linear_us / without.linear_us;
        print_message("refresh: attention %.2f %%, linear layers %.2f %% longer; tRFC / tREFI is %.2f %%, with rows %.2f %%\n",
                      100 * (attention - 1), 100 * (linear - 1), 100 * t->t_rfc_ns / t->t_refi_ns, 100 * most);
        assert_true(attention - 1 <= most / (1 - most) && linear - 1 <= most / (1 - most));
        assert_true(with.common.latency_us >= without.common.latency_us);
        if (decoding == DSE_FULL_CACHE) assert_true(attention - 1 >= t->t_rfc_ns / t->t_refi_ns);
    }
}

/* ---- one thing more or less ---------------------------------------------------------------------------------------------- */

static double attention_us(const struct lad_params *p, unsigned ideal)
{
    return simulate(p, ideal).common.attention_us;
}

/* Of tiles that go their own way. In step, a FIFO that is full can be faster than one that is not: stage 4 takes a head-sample
 * before its slot then. */
static void fifos__a_single_entry_is_never_faster_than_room_for_all(void **state)
{
    (void)state;
    struct lad_params p = plain();
    p.slots = LAD_BALANCED;
    p.local.active_cv = 0.7;
    for (p.prefetch = LAD_PREFETCH_OFF; p.prefetch <= LAD_PREFETCH_IDEAL; p.prefetch++) {
        p.active_fifo = p.update_fifo = 1;
        double one = attention_us(&p, DSE_IDEAL_DRAM), all = attention_us(&p, DSE_IDEAL_DRAM | DSE_IDEAL_FIFOS);
        if (one < all) fail_msg("prefetch %d: %g us with one entry, %g with room for all", p.prefetch, one, all);
    }
}

static void sram__fewer_ports_are_never_faster(void **state)
{
    (void)state;
    struct lad_params p = plain();
    struct lad_metrics before = simulate(&p, ALL);
    for (p.sram_ports = 8; p.sram_ports >= 1; p.sram_ports /= 2) {
        struct lad_metrics now = simulate(&p, ALL);
        assert_true(now.common.attention_us >= before.common.attention_us && now.linear_us >= before.linear_us);
        before = now;
    }
}

/* With unlike sequences every slot of a barrier lasts as long as its slowest tile; compute-bound, so that the tiles do not share
 * the time. */
static void barrier__costs_what_unlike_tiles_wait(void **state)
{
    (void)state;
    struct lad_params p = plain();
    set_bandwidth(&p, 24576);
    p.workload.context = 4096;
    p.pipeline = LAD_EXACT;
    p.sequence_cv = 0.5;
    p.vpu_md = p.vpu_ac = 1;
    double together = attention_us(&p, DSE_IDEAL_DRAM), alone = attention_us(&p, DSE_IDEAL_DRAM | DSE_IDEAL_SYNC);
    double alike = attention_us(&p, DSE_IDEAL_DRAM | DSE_IDEAL_DRAWS);
    print_message("attention: %.0f us in step, %.0f each its own way, %.0f of heads that are alike\n", together, alone, alike);
    assert_true(together > alone && together > 1.2 * alike);
}

static void runs__are_the_same_from_the_same_seed_only(void **state)
{
    (void)state;
    struct lad_params p = plain();
    p.local.active_cv = 0.7;
    p.prefetch = LAD_PREFETCH_LIMITED;
    struct lad_metrics a = simulate(&p, DSE_IDEAL_DRAM), b = simulate(&p, DSE_IDEAL_DRAM);
    assert_memory_equal(&a, &b, sizeof a);
    p.events.seed = 2;
    assert_true(simulate(&p, DSE_IDEAL_DRAM).common.attention_us != a.common.attention_us);
}

/* What is drawn for the layers that are simulated stands for all: |J| of the mean head is that of the profile. */
static void draws__have_the_mean_of_the_profile(void **state)
{
    (void)state;
    struct lad_params p = plain();
    p.local.active_cv = 0.7;
    double closed = estimate(&p).active;
    double sum = 0;
    for (p.events.seed = 1; p.events.seed <= 10; p.events.seed++) sum += simulate(&p, DSE_IDEAL_DRAM).active;
    print_message("|J| drawn: %.1f, of the profile: %.1f\n", sum / 10, closed);
    assert_true(fabs(sum / 10 / closed - 1) < 0.03);
}

/* ---- a recording, replayed ----------------------------------------------------------------------------------------------- */

static struct lad_params replay(double context)
{
    struct lad_params p = plain();
    p.local.draws = DSE_DRAWS_REPLAY;
    p.workload.context = (int64_t)context;
    return p;
}

/* What a run deals, and how often each step of each recorded head comes. */
static void deal(struct dse_sim *sim, const struct lad_params *p, const struct lad_point *pt, uint32_t layers, uint32_t batch,
                 struct lad_draws *ret)
{
    dse_sim_seed(sim, (uint64_t)p->events.seed);
    lad_draws_init(ret, sim, pt, layers, (uint32_t)pt->heads, batch);
}

/* With batch * heads a multiple of what was recorded, every step is replayed as often as any other: as it was recorded, |J|, |U|,
 * |C|, |M| and hits, among them in the positions that the DMA fetches. */
static void replay__deals_every_step_as_often(void **state)
{
    (void)state;
    struct lad_params p = replay(512);
    size_t heads = dse_recording_heads(f.recording), steps = dse_recording_steps(f.recording);
    for (p.events.seed = 1; p.events.seed <= 3; p.events.seed++) {
        const struct lad_events_reads reads = {.sequence_cv = p.sequence_cv};
        const struct lad_point pt = {.p = &reads,
                                     .local = &p.local,
                                     .locality_aware = true,
                                     .n = (double)p.workload.context,
                                     .heads = 32,
                                     .kv_heads = 32,
                                     .group = 1};
        struct lad_draws draws;
        struct dse_sim *sim = sim_new(NULL);
        deal(sim, &p, &pt, 2, (uint32_t)steps / 2, &draws);
        uint32_t *times = xcalloc(heads * steps, sizeof *times);
        for (uint32_t i = 0; i < 2 * draws.heads * draws.batch; i++) {
            uint32_t layer = i / draws.batch / draws.heads, head = i / draws.batch % draws.heads, sequence = i % draws.batch;
            struct lad_sample s = lad_draw(&draws, layer, head, sequence);
            size_t at = (size_t)layer * draws.heads + head, step = (draws.first_step[at] + sequence) % steps;
            struct dse_recorded r = dse_recording_at(f.recording, 512, draws.recorded[at], step);
            times[draws.recorded[at] * steps + step]++;
            assert_true(s.active == r.active && s.updates == r.updates && s.centers == r.centers && s.large == r.large);
            struct lad_positions positions = lad_active_positions(&draws, &s);
            uint32_t position, n = 0, hits = 0, last = 0;
            for (bool repeated; lad_positions_next(&positions, &position, &repeated); n++, last = position) {
                assert_true(n == 0 || position > last);
                hits += repeated;
            }
            assert_true(n == r.active && hits == r.hits && last == 511);
        }
        for (size_t i = 0; i < heads * steps; i++) assert_int_equal(times[i], 2 * draws.heads / heads * draws.batch / steps);
        free(times);
        sim_free(sim);
    }
}

/* A run's |J| is the mean of the record, whatever the seed; between two contexts it is that of both, but for rounding to whole
 * positions. */
static void replay__conserves_the_means_of_the_record(void **state)
{
    (void)state;
    struct lad_params p = replay(512);
    p.workload.batch = 16;
    double cv, mean = dse_recording_mean(f.recording, 512, &cv).active;
    for (p.events.seed = 1; p.events.seed <= 2; p.events.seed++)
        assert_true(fabs(simulate(&p, DSE_IDEAL_DRAM).active - mean) < 1e-9);
    p.workload.context = 700;
    mean = dse_recording_mean(f.recording, 700, &cv).active;
    assert_true(fabs(simulate(&p, DSE_IDEAL_DRAM).active - mean) < 4 * 0.5 / sqrt(32 * 16));
    assert_true(fabs(simulate(&p, DSE_IDEAL_DRAM | DSE_IDEAL_DRAWS).active / mean - 1) < 0.01);
}

static void replay__is_the_same_from_the_same_seed_only(void **state)
{
    (void)state;
    struct lad_params p = replay(1024);
    p.prefetch = LAD_PREFETCH_IDEAL;
    struct lad_metrics a = simulate(&p, DSE_IDEAL_DRAM), b = simulate(&p, DSE_IDEAL_DRAM);
    assert_memory_equal(&a, &b, sizeof a);
    p.events.seed = 2;
    assert_true(simulate(&p, DSE_IDEAL_DRAM).common.attention_us != a.common.attention_us);
    p.events.seed = 1;
    p.local.active_cv = 3; /* nothing is drawn from these */
    p.sequence_cv = 3;
    b = simulate(&p, DSE_IDEAL_DRAM);
    assert_memory_equal(&a, &b, sizeof a);
}

/* In closed form a recording is a profile of its means, with the spread of its heads. */
static void replay__is_a_profile_of_the_means_in_closed_form(void **state)
{
    (void)state;
    size_t n;
    const double *contexts = dse_recording_contexts(f.recording, &n);
    struct dse_locality *at = xcalloc(n, sizeof *at);
    double cv;
    for (size_t i = 0; i < n; i++) at[i] = dse_recording_mean(f.recording, contexts[i], &cv);
    struct dse_profile *profile = profile_new("means", "", contexts, at, n, &(struct row_fault){0});
    for (size_t i = 0; i < n; i++) {
        struct lad_params p = replay(contexts[i]), q = p;
        p.local.center_scale = q.local.center_scale = 0.9;
        q.local.draws = DSE_DRAWS_PROFILE;
        q.local.profile = profile;
        dse_recording_mean(f.recording, contexts[i], &q.local.active_cv);
        struct lad_metrics a = estimate(&p), b = estimate(&q);
        assert_true(fabs(a.common.latency_us / b.common.latency_us - 1) < 1e-12 && fabs(a.hit_ratio - b.hit_ratio) < 1e-12);
        assert_true(fabs(a.active / b.active - 1) < 1e-12 && isnan(a.attention_error));
        p.local.recent = q.local.recent = 24; /* not measured: no statistics, but a time */
        a = estimate(&p), b = estimate(&q);
        assert_true(fabs(a.common.latency_us / b.common.latency_us - 1) < 1e-12 && isnan(a.hit_ratio) && isnan(b.active));
    }
    profile_free(profile);
    free(at);
    struct lad_params p = replay(4096);
    assert_string_equal(dse_model_lad.check(&p), "the context is outside the recording's range (context, recording)");
    p.local.decoding = DSE_FULL_CACHE;
    assert_null(dse_model_lad.check(&p));
}

/* Weights of two layers are twice those of one: what is not simulated is taken to be like what is. */
static void layers__that_are_not_simulated_are_like_the_others(void **state)
{
    (void)state;
    struct lad_params p = plain();
    struct lad_metrics one = simulate(&p, ALL);
    p.events.layers_simulated = 0;
    struct lad_metrics all = simulate(&p, ALL);
    assert_true(fabs(all.common.latency_us / one.common.latency_us - 1) < 1e-3);
    assert_true(fabs(all.common.dram_mib / one.common.dram_mib - 1) < 1e-4);
}

/* E51: where heads are alike, samples of heads and of weights give what all give; positions are fetched ahead in the same time. */
static void samples__stand_for_all_heads_and_weights(void **state)
{
    (void)state;
    struct lad_params p = plain();
    for (p.prefetch = LAD_PREFETCH_OFF; p.prefetch <= LAD_PREFETCH_IDEAL; p.prefetch++) {
        p.heads_simulated = 0;
        p.stream_mib = 0;
        const struct lad_metrics all = simulate(&p, ALL);
        p.heads_simulated = 8;
        p.stream_mib = 4;
        const struct lad_metrics some = simulate(&p, ALL);
        assert_true(fabs(some.common.latency_us / all.common.latency_us - 1) < 2e-3);
        assert_true(fabs(some.common.attention_us / all.common.attention_us - 1) < 5e-3);
        assert_true(fabs(some.linear_us / all.linear_us - 1) < 1e-3);
        assert_true(fabs(some.common.dram_mib / all.common.dram_mib - 1) < 1e-3);
        assert_true(fabs(some.common.energy_mj / all.common.energy_mj - 1) < 1e-3);
    }
}

/* ---- every way to decode ------------------------------------------------------------------------------------------------- */

static void ways__all_run(void **state)
{
    (void)state;
    struct lad_params p = plain();
    p.workload.batch = 7;
    p.local.active_cv = 0.7;
    int runs = 0;
    for (p.slots = LAD_PARTITIONED; p.slots <= LAD_BALANCED; p.slots++)
        for (p.fill = LAD_FILL_IGNORED; p.fill <= LAD_FILL_LAYER; p.fill++)
            for (p.prefetch = LAD_PREFETCH_OFF; p.prefetch <= LAD_PREFETCH_IDEAL; p.prefetch++)
                for (p.counters = LAD_IGNORED; p.counters <= LAD_COUNTED; p.counters++, runs++) {
                    struct lad_metrics m = simulate(&p, DSE_IDEAL_DRAM);
                    assert_true(isfinite(m.common.latency_us) && m.common.latency_us > 0);
                }
    p = plain();
    p.local.decoding = DSE_FULL_CACHE;
    p.elementwise = LAD_EXPOSED;
    struct lad_metrics full = simulate(&p, ALL), closed = estimate(&p);
    assert_true(fabs(full.common.latency_us / closed.common.latency_us - 1) < 2e-3);
    p.workload.phase = DSE_PREFILL;
    p.workload.batch = 2;
    full = simulate(&p, ALL);
    closed = estimate(&p);
    assert_true(fabs(full.common.latency_us / closed.common.latency_us - 1) < 2e-3);
    p = plain();
    p.workload.llm = fixture_llm(&f, "llama3-8b"); /* grouped queries */
    p.batch_policy = LAD_BATCH_BEST_THROUGHPUT;
    p.workload.batch = 24;
    assert_int_equal(simulate(&p, DSE_IDEAL_DRAM).batch_used, estimate(&p).batch_used);
    print_message("%d combinations\n", runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ideal__steps_are_those_of_the_closed_form),
        cmocka_unit_test(ideal__tiles_of_their_own_way_agree_but_for_one_transfer_a_period),
        cmocka_unit_test(ideal__filling_the_pipeline_takes_at_most_five_slots),
        cmocka_unit_test(conservation__bytes_are_those_of_the_closed_form_in_whole_bursts),
        cmocka_unit_test(conservation__the_dram_changes_time_not_bytes),
        cmocka_unit_test(refresh__costs_its_time_and_rows_opened_again_at_most),
        cmocka_unit_test(fifos__a_single_entry_is_never_faster_than_room_for_all),
        cmocka_unit_test(sram__fewer_ports_are_never_faster),
        cmocka_unit_test(barrier__costs_what_unlike_tiles_wait),
        cmocka_unit_test(runs__are_the_same_from_the_same_seed_only),
        cmocka_unit_test(draws__have_the_mean_of_the_profile),
        cmocka_unit_test(replay__deals_every_step_as_often),
        cmocka_unit_test(replay__conserves_the_means_of_the_record),
        cmocka_unit_test(replay__is_the_same_from_the_same_seed_only),
        cmocka_unit_test(replay__is_a_profile_of_the_means_in_closed_form),
        cmocka_unit_test(layers__that_are_not_simulated_are_like_the_others),
        cmocka_unit_test(samples__stand_for_all_heads_and_weights),
        cmocka_unit_test(ways__all_run),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
