/* Physics of the LAD model: conservation, limits where the answer is known, directions, and its tables. */
#include "lad_test.h"

#include <dse/units.h>

static void assert_near(double a, double b, double relative)
{
    if (fabs(a - b) <= relative * fmax(fabs(a), fabs(b))) return;
    fail_msg("%.17g is not %.17g", a, b);
}

/* A profile that is the same at every context from 500 to 8192. */
static struct dse_profile *constant_profile(struct dse_locality at)
{
    const double context[] = {500, 2048, 8192};
    const struct dse_locality points[] = {at, at, at};
    struct dse_profile *p = profile_new("constant", "", context, points, 3, &(struct row_fault){0});
    assert_non_null(p);
    return p;
}

/* One kind of head, no fill: what is left is Eq. 7 and the bytes. */
static struct lad_params plain(const struct dse_profile *profile)
{
    struct lad_params p = f.defaults;
    p.local.profile = profile;
    p.local.active_cv = 0;
    p.local.center_scale = 1;
    p.fill = LAD_FILL_IGNORED;
    return p;
}

static void set_bandwidth(struct lad_params *p, double gbs)
{
    p->dram.bandwidth_gbs = gbs;
    dse_dram_resolve(&p->dram);
}

struct stages {
    double eas, apid, md, ac;
};

/* Cycles of the mean head. */
static struct stages stages_of(struct lad_params p, struct dse_locality at, int pipeline)
{
    struct dse_profile *profile = constant_profile(at);
    p.local.profile = profile;
    p.local.active_cv = 0;
    p.pipeline = pipeline;
    p.sram_mib = 8;
    const struct lad_metrics m = estimate(&p);
    profile_free(profile);
    return (struct stages){m.eas_cycles, m.apid_cycles, m.md_cycles, m.ac_cycles};
}

/* ---- the stages ------------------------------------------------------------------------------------------------------------ */

/* Cycles worked out by hand from Eq. 7 and from Alg. 2, for |C| = 70, |M| = 60, |J| = 133 at 512 positions. */
static void stages__are_those_of_eq_7_and_of_alg_2(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    struct dse_locality at = {.centers = 70, .large = 60, .active = 133, .updates = 1};
    p.workload.context = 512;
    struct stages eq7 = stages_of(p, at, LAD_EQ7), exact = stages_of(p, at, LAD_EXACT);
    assert_near(eq7.eas, 102, 1e-12);
    assert_near(eq7.apid, 512. / 12, 1e-12);
    assert_near(eq7.md, 66.5, 1e-12);
    assert_near(eq7.ac, 392. / 3, 1e-12);
    assert_near(exact.eas, 103, 1e-12);
    assert_near(exact.apid, 43, 1e-12);
    assert_near(exact.md, 67, 1e-12);
    assert_near(exact.ac, 221, 1e-12); /* AC.5 takes d cycles for one update: three lanes share U, not d */
    p.accumulator_cycles = 1;
    assert_near(stages_of(p, at, LAD_EXACT).ac, 352, 1e-12);
    at.updates = 4;
    assert_near(stages_of(p, at, LAD_EXACT).ac, 483, 1e-12);
}

static void stages__exact_is_never_faster_than_eq_7(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    for (int64_t lanes = 1; lanes <= 8; lanes++)
        for (int64_t width = 32; width <= 256; width += 32)
            for (int64_t n = 512; n <= 4096; n += 500) {
                struct dse_locality at = dse_profile_at(f.profile, (double)n);
                p.workload.context = n;
                p.vpu_eas = p.vpu_md = p.vpu_ac = lanes;
                p.vpu_width = width;
                struct stages eq7 = stages_of(p, at, LAD_EQ7), exact = stages_of(p, at, LAD_EXACT);
                assert_true(exact.eas >= eq7.eas && exact.apid >= eq7.apid && exact.md >= eq7.md && exact.ac >= eq7.ac);
            }
}

/* Bytes of one head-sample: 75.0 KB in stage 1 and 47.2 KB in stage 4 at |J| = 133 and 80 % hits. */
static void traffic__of_a_head_sample_is_that_of_stages_1_and_4(void **state)
{
    (void)state;
    struct dse_locality at = {.centers = 70, .large = 60, .active = 133, .updates = 1, .hit_ratio = 0.8};
    struct dse_profile *profile = constant_profile(at);
    struct lad_params p = plain(profile);
    p.workload.context = 512;
    struct dse_breakdown parts = {0};
    struct lad_metrics m;
    dse_model_lad.estimate(&p, &m, &parts);
    double head_samples = 32. * 32 * 12, stage1 = 0, stage4 = 0;
    for (int i = 0; i < parts.n; i++) {
        if (strcmp(parts.part[i].name, "stage1_hbm") == 0) stage1 = parts.part[i].dram_bytes / head_samples;
        if (strcmp(parts.part[i].name, "stage4_hbm") == 0) stage4 = parts.part[i].dram_bytes / head_samples;
    }
    assert_near(stage1, 16 * 512 + 256 * 130 + 33540, 1e-12);
    assert_near(stage4, 33540 + 512 * 133 * 0.2, 1e-12);
    assert_near((m.centers_mib + m.active_mib + m.others_mib) * DSE_MIB, (stage1 + stage4) * 32 * 32, 1e-12);
    assert_near(m.hit_ratio, 0.8, 1e-12);
    assert_near(m.prefetch_mib * DSE_MIB, 512 * 133 * 0.8 * 32 * 32, 1e-12);
    profile_free(profile);
}

/* ---- limits ---------------------------------------------------------------------------------------------------------------- */

static void limit__infinite_bandwidth_leaves_eq_7(void **state)
{
    (void)state;
    struct dse_locality at = {.centers = 64, .large = 64, .active = 280, .updates = 2, .hit_ratio = 1};
    struct dse_profile *profile = constant_profile(at);
    struct lad_params p = plain(profile);
    set_bandwidth(&p, 1e12);
    for (p.workload.batch = 1; p.workload.batch <= 24; p.workload.batch++) {
        struct lad_metrics m = estimate(&p);
        const double eas = (2 * 64 + 64 + 2048. / 128) / 2, apid = 2048. / 12, md = 280. / 2, ac = (128 + 280 + 2 * (128 + 3)) / 3.;
        double cycles = fmax(fmax(eas, apid), fmax(md, ac)), rounds = ceil((double)p.workload.batch / 6);
        assert_near(m.common.attention_us, 32 * 32 * rounds * cycles / 1e3, 1e-9);
        assert_near(m.compute_cycles, cycles, 1e-12);
    }
    profile_free(profile);
}

static void limit__little_bandwidth_leaves_the_bytes(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    p.fill = LAD_FILL_IGNORED;
    p.prefetch = LAD_PREFETCH_OFF;
    p.vpu_eas = p.vpu_md = p.vpu_ac = 64;
    p.apid_width = 1024;
    set_bandwidth(&p, 10);
    struct lad_metrics m = estimate(&p);
    double bytes = m.common.dram_mib * DSE_MIB * 12;
    assert_near(m.common.latency_us, bytes / (10e9 * p.dram.dram_efficiency) * 1e6, 1e-9);
    assert_near(m.common.dram_utilization, p.dram.dram_efficiency, 1e-9);
}

/* Every position active, none pre-fetched: LAD reads the KV cache and its own data besides. */
static void limit__all_positions_active_reads_the_whole_cache(void **state)
{
    (void)state;
    struct dse_profile *profile = constant_profile((struct dse_locality){.active = 500, .updates = 1});
    struct lad_params p = plain(profile), full;
    p.workload.context = 500;
    p.sram_mib = 3.5;
    full = p;
    full.local.decoding = DSE_FULL_CACHE;
    struct lad_metrics m = estimate(&p), ideal = estimate(&full);
    assert_near(m.active_mib, ideal.active_mib, 1e-12);
    assert_near(m.active_mib, m.full_cache_mib, 1e-12);
    assert_true(m.common.attention_us > ideal.common.attention_us);
    profile_free(profile);
}

static void limit__full_cache_moves_weights_and_kv_of_the_workload(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    p.local.decoding = DSE_FULL_CACHE;
    struct lad_metrics m = estimate(&p);
    struct dse_oplist ops;
    double weights = 0, read = 0, written = 0, count = 0;
    dse_workload_expand(&p.workload, &ops);
    for (int i = 0; i < ops.n; i++) {
        weights += ops.op[i].weight_bytes;
        read += ops.op[i].kv_read_bytes;
        written += ops.op[i].kv_write_bytes;
        if (ops.op[i].kind != DSE_OP_ELEMENTWISE) count += ops.op[i].ops;
    }
    assert_near(m.common.dram_mib * DSE_MIB * 12, weights + read + written, 1e-12);
    assert_near(m.common.attention_us, read / (1536e9 * p.dram.dram_efficiency) * 1e6, 1e-9);
    assert_near(m.common.compute_utilization * m.common.latency_us * 1e-6 * 2 * 5376e9, count, 1e-12);
}

/* Linear layers of LLaMA2-7B: 1.229 ms a token of computing, 9.9 ms a step of weights; compute-bound from 9 sequences on. */
static void limit__linear_layers_turn_compute_bound_at_nine_sequences(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    for (p.workload.batch = 1; p.workload.batch <= 12; p.workload.batch++) {
        double macs = 6.6071e9, compute = 1e6 * macs * (double)p.workload.batch / 5376e9,
               stream = 1e6 * 2 * macs / (1536e9 * p.dram.dram_efficiency);
        assert_near(estimate(&p).linear_us, fmax(compute, stream), 1e-3);
        assert_int_equal(compute > stream, p.workload.batch >= 9);
    }
}

/* ---- directions -------------------------------------------------------------------------------------------------------------- */

static void direction__more_bandwidth_is_never_slower(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    double last = INFINITY;
    for (double gbs = 128; gbs <= 16384; gbs *= 1.25) {
        set_bandwidth(&p, gbs);
        double us = estimate(&p).common.latency_us;
        assert_true(us <= last * (1 + 1e-12));
        last = us;
    }
}

/* A faster clock leaves less idle HBM time to pre-fetch in; what is then fetched later takes no longer than what was saved, but
 * filling the pipeline does. */
static void direction__a_faster_clock_is_never_slower(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    for (p.pipeline = LAD_EQ7; p.pipeline <= LAD_EXACT; p.pipeline++)
        for (p.prefetch = LAD_PREFETCH_OFF; p.prefetch <= LAD_PREFETCH_IDEAL; p.prefetch++) {
            p.fill = LAD_FILL_IGNORED;
            double last = INFINITY;
            for (p.clock_ghz = 0.1; p.clock_ghz < 6; p.clock_ghz *= 1.2) {
                double us = estimate(&p).common.latency_us;
                assert_true(us <= last * (1 + 1e-12));
                last = us;
            }
        }
}

static void direction__more_sram_hits_more_and_more_tiles_are_larger(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    double hits = 0, area = 0;
    p.workload.context = 4096;
    for (p.sram_mib = 1; p.sram_mib <= 8; p.sram_mib += 0.25) {
        struct lad_metrics m = estimate(&p);
        assert_true(m.hit_ratio >= hits && m.common.area_mm2 > area);
        hits = m.hit_ratio;
        area = m.common.area_mm2;
    }
    assert_near(hits, 0.85, 1e-9);
    p = f.defaults;
    double one = estimate(&p).common.area_mm2 / 6;
    for (p.tiles = 1; p.tiles <= 16; p.tiles++) assert_near(estimate(&p).common.area_mm2, (double)p.tiles * one, 1e-12);
}

static void direction__prefetching_is_bounded_by_idle_time(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    p.workload.context = 4096;
    p.sram_mib = 3.5;
    struct lad_metrics m[3];
    for (int32_t i = LAD_PREFETCH_OFF; i <= LAD_PREFETCH_IDEAL; i++) {
        p.prefetch = i;
        m[i] = estimate(&p);
    }
    assert_true(m[LAD_PREFETCH_OFF].hit_ratio == 0);
    /* L6: the QKV periods of 12 sequences have about 60 % of the time that the published hit ratio needs. */
    double share = m[LAD_PREFETCH_LIMITED].hit_ratio / m[LAD_PREFETCH_IDEAL].hit_ratio;
    print_message("QKV periods of batch 12 at 4096 positions reach %.0f %% of the ideal hits\n", 100 * share);
    assert_true(share > 0.4 && share < 0.8);
    p.vain_prefetch = LAD_COUNTED;
    assert_near(estimate(&p).prefetch_mib * 0.85, m[LAD_PREFETCH_IDEAL].prefetch_mib, 1e-9);
    p.workload.batch = 4; /* linear layers wait for weights: no idle time at all */
    assert_true(estimate(&p).hit_ratio == 0);
}

/* E51, by hand: latency of hbm2-5cube in two phases behind full queues, and the turns of its bus, in every slot; as published
 * every slot is the HBM's. E52: the projections' part is that of linear layers, which compute longer. */
static void slots__end_behind_latency_and_turns_of_the_bus(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    const double without = estimate(&p).common.attention_us, way_ns = 3 * 14.161 + 256 / 19.2;
    const double turn_ns = 4.998 + 8.33 + 2 * 14.161, slots = 32 * 32 * 2 + 5;
    p.slot_ends = LAD_COUNTED;
    for (int write = LAD_WRITE_BEFORE; write <= LAD_WRITE_AFTER; write++) {
        p.write_back = write;
        const double ends_ns = 4 * way_ns + (write == LAD_WRITE_BEFORE ? 3 : 2) * turn_ns;
        assert_near(estimate(&p).common.attention_us - without, slots * ends_ns / 1e3, 1e-6);
    }
}

static void direction__looser_slots_are_never_slower(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    for (p.workload.batch = 1; p.workload.batch <= 20; p.workload.batch++)
        for (double gbs = 256; gbs <= 8192; gbs *= 2) {
            double us[3];
            set_bandwidth(&p, gbs);
            for (int32_t i = LAD_PARTITIONED; i <= LAD_BALANCED; i++) {
                p.slots = i;
                us[i] = estimate(&p).common.attention_us;
            }
            assert_true(us[LAD_BARRIER] <= us[LAD_PARTITIONED] * (1 + 1e-12));
            assert_true(us[LAD_BALANCED] <= us[LAD_BARRIER] * (1 + 1e-12));
            if (p.workload.batch % 6 != 0) continue;
            assert_near(us[LAD_BARRIER], us[LAD_PARTITIONED], 1e-12);
            assert_near(estimate(&p).idle_slots, 0, 0);
        }
}

static void direction__options_that_count_more_cost_more(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    p.fill = LAD_FILL_IGNORED;
    double base = estimate(&p).common.latency_us, fill[3];
    for (p.fill = LAD_FILL_IGNORED; p.fill <= LAD_FILL_LAYER; p.fill++) fill[p.fill] = estimate(&p).common.attention_us;
    /* 32 layers x 32 heads x 2 rounds of slots; five slots more, once or in every layer */
    assert_near(fill[LAD_FILL_STEP] / fill[LAD_FILL_IGNORED], 1 + 5. / 2048, 1e-12);
    assert_near(fill[LAD_FILL_LAYER] / fill[LAD_FILL_IGNORED], 1 + 32 * 5. / 2048, 1e-12);
    p.fill = LAD_FILL_IGNORED;
    p.gather = LAD_GATHER_ROWS;
    assert_true(estimate(&p).common.latency_us > base);
    p.gather = LAD_GATHER_STREAM;
    p.counters = LAD_COUNTED;
    assert_true(estimate(&p).others_mib > 0 && estimate(&p).common.latency_us > base);
    p.counters = LAD_IGNORED;
    p.elementwise = LAD_EXPOSED;
    assert_true(estimate(&p).common.latency_us > base);
    assert_true(estimate(&p).common.latency_us < 1.02 * base);
}

/* ---- conservation ---------------------------------------------------------------------------------------------------------- */

static void check_breakdown(const struct lad_params *p)
{
    struct dse_breakdown parts = {0};
    struct lad_metrics m;
    assert_null(dse_model_lad.check(p));
    dse_model_lad.estimate(p, &m, &parts);
    double sum[2][3] = {{0}}, attention[3] = {0};
    for (int i = 0; i < parts.n; i++) {
        const struct dse_part *part = &parts.part[i];
        assert_true(part->depth <= 1);
        sum[part->depth][0] += part->time_us;
        sum[part->depth][1] += part->dram_bytes;
        sum[part->depth][2] += part->energy_mj;
        if (strcmp(part->name, "attention") != 0) continue;
        attention[0] = part->time_us;
        attention[1] = part->dram_bytes;
        attention[2] = part->energy_mj;
    }
    double tokens = (double)m.batch_used * (p->workload.phase == DSE_PREFILL ? (double)p->workload.context : 1);
    assert_near(sum[0][0], m.common.latency_us, 1e-9);
    assert_near(sum[0][1], m.common.dram_mib * DSE_MIB * tokens, 1e-9);
    assert_near(sum[0][2], m.common.energy_mj * tokens, 1e-9);
    for (int i = 0; i < 3; i++) assert_near(sum[1][i], attention[i], 1e-9);
    assert_near(attention[0], m.common.attention_us, 1e-12);
    assert_near(attention[2], m.attention_energy_mj * tokens, 1e-9);
    assert_near(m.energy_dram_mj + m.energy_sram_mj + m.energy_modules_mj, m.common.energy_mj, 1e-12);
    assert_near(m.common.power_w * m.common.latency_us / 1e3, m.common.energy_mj * tokens, 1e-12);
    assert_near(m.energy_sram_mj + m.energy_modules_mj, m.chip_power_w * m.common.latency_us / 1e3 / tokens, 1e-9);
}

static void conservation__parts_add_up_to_the_step(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    for (int32_t decoding = DSE_LOCALITY_AWARE; decoding <= DSE_FULL_CACHE; decoding++)
        for (int32_t phase = DSE_DECODE; phase <= DSE_PREFILL; phase++)
            for (p.workload.batch = 1; p.workload.batch <= 12; p.workload.batch += 3)
                for (p.clock_ghz = 0.1; p.clock_ghz < 2; p.clock_ghz *= 3) {
                    p.local.decoding = decoding;
                    p.workload.phase = phase;
                    check_breakdown(&p);
                }
}

/* ---- tables ---------------------------------------------------------------------------------------------------------------- */

static void tables__names_end_in_their_units(void **state)
{
    (void)state;
    struct schema params, metrics;
    schema_init_params(&params, dse_model_lad.params);
    schema_init_metrics(&metrics, dse_model_lad.metrics, NULL);
    const struct schema *both[] = {&params, &metrics};
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < both[s]->n; i++) {
            const struct field *field = &both[s]->fields[i];
            const struct dse_unit *unit = unit_find(NULL, field->unit);
            assert_non_null(unit);
            size_t n = strlen(field->name), k = strlen(unit->suffix);
            if (n < k || strcmp(field->name + n - k, unit->suffix) != 0) fail_msg("%s is in %s", field->name, field->unit);
            assert_true(*field->doc != '\0');
        }
    schema_release(&params);
    schema_release(&metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages__are_those_of_eq_7_and_of_alg_2),
        cmocka_unit_test(stages__exact_is_never_faster_than_eq_7),
        cmocka_unit_test(traffic__of_a_head_sample_is_that_of_stages_1_and_4),
        cmocka_unit_test(limit__infinite_bandwidth_leaves_eq_7),
        cmocka_unit_test(limit__little_bandwidth_leaves_the_bytes),
        cmocka_unit_test(limit__all_positions_active_reads_the_whole_cache),
        cmocka_unit_test(limit__full_cache_moves_weights_and_kv_of_the_workload),
        cmocka_unit_test(limit__linear_layers_turn_compute_bound_at_nine_sequences),
        cmocka_unit_test(direction__more_bandwidth_is_never_slower),
        cmocka_unit_test(direction__a_faster_clock_is_never_slower),
        cmocka_unit_test(direction__more_sram_hits_more_and_more_tiles_are_larger),
        cmocka_unit_test(direction__prefetching_is_bounded_by_idle_time),
        cmocka_unit_test(slots__end_behind_latency_and_turns_of_the_bus),
        cmocka_unit_test(direction__looser_slots_are_never_slower),
        cmocka_unit_test(direction__options_that_count_more_cost_more),
        cmocka_unit_test(conservation__parts_add_up_to_the_step),
        cmocka_unit_test(tables__names_end_in_their_units),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
