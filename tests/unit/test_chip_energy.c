/* Energy by activity of the chips: LAD (E35) and VEDA (E28). */
#include "chip_points.h"

#include <dse/cost.h>
#include <dse/costs.h>
#include <dse/units.h>

/* Table I, in mW. */
static const double array_mw = 175.64, engine_mw = 26.41, sfu_mw = 13.19, schedule_mw = 11.20, buffer_mw = 148.82;

/* What a chip of VEDA at 1 GHz has, and what it does in a step of Llama-2 7B. */
struct veda_at_work {
    const char *settings;
    double pes, sfus, lanes, ops_a_score, votes_a_score;
};

static void assert_draws_table_1(const struct veda_at_work *w)
{
    const double heads = 32 * 32, norms = (2 * 32 + 1) * 4096, pj = 1e-9; /* a mW for a ns, in mJ */
    struct point p = chip_point("veda", w->settings);
    struct dse_breakdown parts;
    const struct named m = estimate_parts(&p, &parts);
    const struct dse_economics *economics = group_of(&p, "costs", offsetof(struct dse_economics, costs));
    const double leaks = 0.12, trees = dse_physical(economics->costs, DSE_C_clock_share), works = (1 - leaks) * (1 - trees),
                 ns = m.latency_us * 1e3, scores = heads * m.cached_positions,
                 modules_mw = array_mw * w->pes / 128 + sfu_mw * w->sfus / 4 + engine_mw * w->lanes + schedule_mw;
    double macs = 0;
    for (int i = 0; i < parts.n; i++) macs += parts.part[i].depth == 0 ? parts.part[i].ops / 2 : 0;
    const double at_work = (array_mw / 128 + schedule_mw / w->pes) * macs + sfu_mw / 4 * (w->ops_a_score * scores + norms) +
                           engine_mw * w->votes_a_score * scores;
    assert_near("modules", m.energy_modules_mj, works * at_work * pj, 1e-9);
    assert_near("buffer", m.energy_sram_mj, (1 - leaks) * buffer_mw / 128 * macs * pj, 1e-9);
    assert_near("clock", m.energy_clock_mj, (1 - leaks) * trees * modules_mw * ns * pj, 1e-9);
    assert_near("power", m.chip_power_w * m.latency_us / 1e3,
                m.energy_modules_mj + m.energy_sram_mj + m.energy_clock_mj + m.energy_leakage_mj, 1e-9);
    assert_near("leakage", m.energy_leakage_mj, leaks * (modules_mw + buffer_mw) * ns * pj, 1e-9);
    choose(&p, "power", "constant");
    assert_near("all of it", estimate(&p).chip_power_w * 1e3, modules_mw + buffer_mw, 1e-9);
}

/* Each unit draws what Table I has of it in the cycles that it works, but for its leakage and its clock, which it draws in all of
 * them: at work in every cycle the chip draws the table. The schedule works when the array does. */
static void veda__at_work_in_every_cycle_draws_table_1(void **state)
{
    (void)state;
    static const struct veda_at_work cases[] = {
        {"", 128, 4, 1, 3, 2}, /* voting counts in a second pass */
        {"eviction=h2o", 128, 4, 1, 3, 1},
        {"eviction=none softmax=stage softmax_passes=2", 128, 4, 1, 4, 0},
        {"pe_copies=6 sfu_exp=5 sfu_div=3 vote_lanes=3", 384, 8, 3, 3, 2},
        {"pe_rows=4 pe_columns=6 sfu_exp=1 sfu_div=3", 48, 4, 1, 3, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_draws_table_1(&cases[i]);
    assert_near("Table I", veda_metrics_of("power=constant").chip_power_w * 1e3, 375.26, 1e-9);
}

/* ---- the same work ----------------------------------------------------------------------------------------------------------- */

static double lad_work_mj(const struct lad_metrics *m)
{
    return m->energy_modules_mj + m->energy_sram_mj + m->energy_dram_mj + m->energy_interface_mj;
}

/* Tiles that have nothing to do leak and clock, and nothing else: 16 mJ and 1537 mJ with the power of Table III. */
static void lad__idle_tiles_leak_and_clock_and_nothing_else(void **state)
{
    (void)state;
    static const char *const tiles[] = {"1", "6", "24", "96"};
    struct lad_metrics one = lad_metrics_of("tiles=1 batch=1");
    double idle_w = (one.energy_leakage_mj + one.energy_clock_mj) / one.common.latency_us;
    for (size_t i = 1; i < 4; i++) {
        char *settings = xasprintf("tiles=%s batch=1", tiles[i]);
        struct lad_metrics m = lad_metrics_of(settings);
        assert_near("energy of the work", lad_work_mj(&m), lad_work_mj(&one), 1e-9);
        assert_near("the rest, a second", (m.energy_leakage_mj + m.energy_clock_mj) / m.common.latency_us, idle_w * atof(tiles[i]),
                    1e-9);
        assert_near("energy", m.common.energy_mj, lad_work_mj(&m) + m.energy_leakage_mj + m.energy_clock_mj, 1e-9);
        free(settings);
    }
}

static double veda_work_mj(const struct named *m)
{
    return m->energy_modules_mj + m->energy_sram_mj + m->energy_dram_mj + m->energy_interface_mj;
}

/* More PEs, special functions and chips do the same work, but for the schedule, of which a chip has one. */
static void veda__idle_units_leak_and_clock_and_nothing_else(void **state)
{
    (void)state;
    struct named one = veda_metrics_of("");
    static const char *const more[] = {"sfu_exp=16 sfu_div=16", "vote_lanes=1 pe_copies=32", "devices=8"};
    for (size_t i = 0; i < 3; i++) {
        struct named m = veda_metrics_of(more[i]);
        assert_true(veda_work_mj(&m) <= veda_work_mj(&one) * (1 + 1e-9));
        assert_near(more[i], veda_work_mj(&m), veda_work_mj(&one), 2e-3);
        assert_true(m.energy_leakage_mj / m.latency_us > one.energy_leakage_mj / one.latency_us);
    }
}

/* No step takes more of the chip than everything at work would: the published power is the most there is, at its supply. */
static void activity__is_never_more_than_the_published_power(void **state)
{
    (void)state;
    static const char *const lad[] = {"",
                                      "tiles=1 batch=12 bandwidth_gbs=256",
                                      "tiles=24 batch=24 context=4096 capacity_gib=80 sram_mib=3.5",
                                      "decoding=full-cache",
                                      "batch=48 context=512 elementwise=exposed",
                                      "phase=prefill context=2048"};
    static const char *const veda[] = {"", "eviction=none", "batch=4", "phase=prefill context=512", "devices=8", "pe_copies=8"};
    for (size_t i = 0; i < 6; i++) {
        char *constant = xasprintf("%s power=constant", lad[i]);
        struct lad_metrics a = lad_metrics_of(lad[i]), c = lad_metrics_of(constant);
        if (a.chip_power_w > c.chip_power_w * (1 + 1e-9))
            fail_msg("lad %s: %g W, and Table III %g W", lad[i], a.chip_power_w, c.chip_power_w);
        assert_true(a.common.latency_us == c.common.latency_us && a.energy_dram_mj == c.energy_dram_mj);
        free(constant);
    }
    for (size_t i = 0; i < 6; i++) {
        char *constant = xasprintf("%s power=constant", veda[i]);
        struct named a = veda_metrics_of(veda[i]), c = veda_metrics_of(constant);
        if (a.chip_power_w > c.chip_power_w * (1 + 1e-9))
            fail_msg("veda %s: %g W, and Table I %g W", veda[i], a.chip_power_w, c.chip_power_w);
        assert_true(a.latency_us == c.latency_us && a.energy_dram_mj == c.energy_dram_mj);
        free(constant);
    }
}

/* ---- the clock --------------------------------------------------------------------------------------------------------------- */

/* A faster clock never takes less energy but by leaking for less time. */
static void clock__never_saves_energy_but_leakage(void **state)
{
    (void)state;
    static const char *const lad[] = {"", "tiles=1 batch=12", "bandwidth_gbs=256 prefetch=off", "decoding=full-cache"};
    static const char *const veda[] = {"", "pe_copies=1", "eviction=none softmax=stage"};
    for (size_t i = 0; i < 4; i++) {
        double before = 0;
        for (int k = 1; k <= 15; k++) {
            char *settings = xasprintf("%s clock_ghz=%g", lad[i], 0.1 * k);
            struct lad_metrics m = lad_metrics_of(settings);
            double rest = m.common.energy_mj - m.energy_leakage_mj;
            if (rest < before * (1 - 1e-9)) fail_msg("lad %s: %.12g mJ, and %.12g before", settings, rest, before);
            before = rest;
            free(settings);
        }
        assert_true(before > 0);
    }
    for (size_t i = 0; i < 3; i++) {
        double before = 0;
        for (int k = 1; k <= 12; k++) {
            char *settings = xasprintf("%s clock_ghz=%g", veda[i], 0.1 * k);
            struct named m = veda_metrics_of(settings);
            double rest = m.energy_mj - m.energy_leakage_mj;
            if (rest < before * (1 - 1e-9)) fail_msg("veda %s: %.12g mJ, and %.12g before", settings, rest, before);
            before = rest;
            free(settings);
        }
        assert_true(before > 0);
    }
}

/* Above the lowest supply an operation costs more, by V^1.76: between 0.6 and 1.05 V 2.68 times. */
static void clock__makes_operations_dearer_by_the_law_of_the_library(void **state)
{
    (void)state;
    struct lad_metrics slow = lad_metrics_of("clock_ghz=0.4"), fast = lad_metrics_of("clock_ghz=1.5095");
    assert_near("an operation", fast.energy_modules_mj / slow.energy_modules_mj, pow(1.05 / 0.6, 1.76), 1e-3);
    assert_near("the SRAM", fast.energy_sram_mj / slow.energy_sram_mj, pow(1.05 / 0.6, 1.76), 1e-3);
    assert_near("the DRAM", fast.energy_dram_mj, slow.energy_dram_mj, 1e-9);
    assert_true(slow.supply_v == 0.6);
    assert_near("the highest supply", fast.supply_v, 1.05, 1e-3);
}

/* ---- both fidelities --------------------------------------------------------------------------------------------------------- */

/* What moves and works is the same, so its energy is; leakage and clock go with the time. */
static void both_fidelities__price_the_same_work_alike(void **state)
{
    (void)state;
    static const char *const models[] = {"lad", "veda"}, *const causes[] = {"modules", "sram", "dram", "interface"};
    for (size_t i = 0; i < 2; i++) {
        const struct model *m = registry_find(models[i]);
        const struct point p = chip_point(models[i], "llm=thin context=256 batch=1 layers_simulated=1");
        const void *params = p.params;
        void *metrics = xcalloc(1, m->desc->metrics_size);
        struct dse_breakdown closed = {0}, events = {0};
        m->desc->estimate(params, metrics, &closed);
        struct runner *r = runner_new(FIDELITY_EVENT_LEVEL, NULL);
        if (runner_run(r, m->desc, params, metrics, &events) != RUN_DONE) fail_msg("%s: %s", models[i], runner_error(r));
        assert_true(closed.n_causes == 6 && events.n_causes == 6);
        for (int k = 0; k < 4; k++) {
            assert_string_equal(events.cause[k].name, causes[k]);
            double error = events.cause[k].energy_mj / closed.cause[k].energy_mj - 1;
            print_message("%s, %s: events %+.2f %%\n", models[i], causes[k], 100 * error);
            assert_true(fabs(error) < 0.05);
        }
        runner_free(r);
        free(metrics);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(veda__at_work_in_every_cycle_draws_table_1),
        cmocka_unit_test(lad__idle_tiles_leak_and_clock_and_nothing_else),
        cmocka_unit_test(veda__idle_units_leak_and_clock_and_nothing_else),
        cmocka_unit_test(activity__is_never_more_than_the_published_power),
        cmocka_unit_test(clock__never_saves_energy_but_leakage),
        cmocka_unit_test(clock__makes_operations_dearer_by_the_law_of_the_library),
        cmocka_unit_test(both_fidelities__price_the_same_work_alike),
    };
    return cmocka_run_group_tests(tests, set_up_thin, tear_down);
}
