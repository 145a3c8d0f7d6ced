/* dse/chip.h: the supply that a clock asks for, and the edges of a die. */
#include "rows.h"

#include "chip_points.h"

#include <dse/chip.h>
#include <dse/units.h>

static const struct dse_costs *book(void)
{
    return (const struct dse_costs *)(const void *)catalog_find(catalog, DSE_KIND_COSTS, "public");
}

/* ---- supply --------------------------------------------------------------------------------------------------------------- */

/* A technology of a method of its own: of one node, at one supply. */
static struct dse_technology alone(const char *method, double nm, double volts)
{
    return (struct dse_technology){.entry = {.name = "alone", .source = ""}, .method = method, .node_nm = nm, .vdd_v = volts};
}

static double polynomial(const struct rows *r, size_t i, const char *const *names, size_t n, double v)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum = sum * v + rows_number(r, i, names[k]);
    return sum;
}

/* The delays and energies that the laws were fitted to, not the laws. The supply of a clock is steep where the delay is flat. */
static void supply__is_that_of_the_delays_published_for_a_library(void **state)
{
    (void)state;
    static const char *const delay[] = {"a3", "a2", "a1", "a0"}, *const energy[] = {"b2", "b1", "b0"};
    struct rows r;
    rows_read_csv(&r, DSE_SOURCE_DATA "/tests/data/stillmaker_polynomials.csv");
    assert_int_equal(r.n, 6);
    double worst_clock = 0, worst_energy = 0;
    for (size_t i = 0; i < r.n; i++) {
        double low = rows_number(&r, i, "v_low"), high = rows_number(&r, i, "v_high"), middle = (low + high) / 2;
        char *method = xasprintf("test-%s", rows_string(&r, i, "device"));
        struct dse_technology t = alone(method, rows_number(&r, i, "node_nm"), middle);
        t.sibling = &t;
        for (int k = 0; k <= 20; k++) {
            double v = low + (high - low) * k / 20;
            double clock = polynomial(&r, i, delay, 4, middle) / polynomial(&r, i, delay, 4, v);
            double joules = polynomial(&r, i, energy, 3, v) / polynomial(&r, i, energy, 3, middle);
            struct dse_supply at;
            /* how fast the law is at v, by way of the supply it gives: bisect the clock */
            double slow = 0.1, fast = 10;
            for (int b = 0; b < 60; b++) {
                double half = (slow + fast) / 2;
                bool reached = dse_supply_at(book(), &t, t.node_nm, 1, half, &at) && at.volts <= v * (1 + 1e-12);
                *(reached ? &slow : &fast) = half;
            }
            worst_clock = fmax(worst_clock, fabs(slow / clock - 1));
            assert_true(dse_supply_at(book(), &t, t.node_nm, 1, slow, &at));
            worst_energy = fmax(worst_energy, fabs(at.energy / joules - 1));
        }
        free(method);
    }
    print_message("the law against the delays it was fitted to: clock %.3f, energy %.3f at worst\n", worst_clock, worst_energy);
    assert_true(worst_clock < 0.045 && worst_energy < 0.08);
    rows_release(&r);
}

static void supply__grows_with_the_clock_and_ends_where_the_law_does(void **state)
{
    (void)state;
    static const struct {
        const char *technology;
        double low, high, nominal_v; /* clocks in GHz over that at the nominal supply */
    } cases[] = {{"22nm", 0.5307, 1.5098, 0.8},
                 {"28nm", 0.4371, 1.2439, 0.9},
                 {"14nm", 0.5735, 1.0902, 0.8},
                 {"10nm", 0.4926, 1.1126, 0.75},
                 {"7nm", 0.5852, 1.0643, 0.75}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dse_technology *t =
            (const struct dse_technology *)(const void *)catalog_find(catalog, DSE_KIND_TECHNOLOGY, cases[i].technology);
        struct dse_supply s, before = {0};
        assert_true(dse_supply_at(book(), t, t->node_nm, 1, 1, &s));
        assert_true(s.volts == cases[i].nominal_v && s.energy == 1 && s.clock_tree == 1 && s.leakage == 1);
        assert_false(dse_supply_at(book(), t, t->node_nm, 1, 10, &s));
        assert_near("the fastest clock", s.max_ghz, cases[i].high, 1e-3);
        assert_false(dse_supply_at(book(), t, t->node_nm, 1, s.max_ghz * 1.0001, &s));
        struct dse_supply slow, slower;
        assert_true(dse_supply_at(book(), t, t->node_nm, 1, cases[i].low * 0.999, &slow));
        assert_true(dse_supply_at(book(), t, t->node_nm, 1, cases[i].low * 0.5, &slower));
        assert_true(slow.volts == slower.volts && slow.energy == slower.energy); /* the lowest supply */
        for (int k = 20; k < 100 * cases[i].high; k++) {
            double ghz = 0.01 * k;
            assert_true(dse_supply_at(book(), t, t->node_nm, 1, ghz, &s));
            assert_true(s.volts >= before.volts && s.energy >= before.energy && s.leakage >= before.leakage);
            before = s;
        }
    }
}

/* The foundry announces two numbers of a node over the one before: how much faster it is at the same power, which the catalog has,
 * and what it takes at the same speed, which it has not. The law of supplies makes the second of the first. */
static void supply__gives_the_power_at_the_same_speed_that_was_announced(void **state)
{
    (void)state;
    static const struct {
        const char *technology;
        double before_nm, power, within; /* over the node before, at its speed */
    } cases[] = {{"tsmc-22nm", 28, 0.65, 0.2}, {"tsmc-16nm", 28, 0.3 / 0.7, 0.26}, {"tsmc-7nm", 16, 0.4, 0.18},
                 {"tsmc-5nm", 7, 0.7, 0.08},   {"tsmc-4nm", 5, 0.78, 0.08},        {"tsmc-3nm", 5, 0.66, 0.08},
                 {"tsmc-2nm", 3, 0.725, 0.08}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dse_technology *t =
            (const struct dse_technology *)(const void *)catalog_find(catalog, DSE_KIND_TECHNOLOGY, cases[i].technology);
        struct dse_supply s;
        assert_non_null(t);
        assert_true(dse_supply_at(book(), t, cases[i].before_nm, 1, 1, &s));
        const double power = dse_tech_ratio(t, cases[i].before_nm, DSE_TECH_ENERGY) * s.energy;
        print_message("%s over %g nm at the same speed: %.3f of its power, announced %.3f\n", cases[i].technology,
                      cases[i].before_nm, power, cases[i].power);
        assert_near("power at the same speed", power / cases[i].power, 1, cases[i].within);
    }
}

/* The node is faster by its delay: the same clock asks for less. A node without a law runs at its nominal supply, no faster. */
static void supply__of_another_node_goes_by_its_delay(void **state)
{
    (void)state;
    const struct dse_technology *seven =
                                    (const struct dse_technology *)(const void *)catalog_find(catalog, DSE_KIND_TECHNOLOGY, "7nm"),
                                *old =
                                    (const struct dse_technology *)(const void *)catalog_find(catalog, DSE_KIND_TECHNOLOGY, "65nm");
    struct dse_supply s;
    assert_true(dse_supply_at(book(), seven, 22, 1, 1, &s));
    assert_true(s.volts < 0.75 && s.energy < 1);
    assert_true(dse_supply_at(book(), seven, 22, 1, 0.62 / 0.53, &s));
    assert_near("the nominal supply", s.volts, 0.75, 1e-9);
    assert_true(dse_supply_at(book(), old, 22, 1, 0.6, &s) && s.energy == 1);
    assert_false(dse_supply_at(book(), old, 22, 1, 1, &s));
    assert_near("0.62 GHz", s.max_ghz, 0.62, 1e-9);
}

/* ---- the die -------------------------------------------------------------------------------------------------------------- */

/* HBM2E as the book has it: 461 GB/s a stack of 16 channels. */
static struct dse_die die_of(double gbs, double nm, const struct dse_memory *m)
{
    struct dse_dram d = {.memory = m, .channel_gbs = m->channel_gbs, .burst_bytes = m->burst_bytes, .bandwidth_gbs = gbs};
    dse_dram_resolve(&d);
    struct dse_die die;
    dse_die_at(book(), DSE_AREA_DIE, 20, 6, &d, nm, &die);
    return die;
}

static void die__has_the_stacks_that_its_bandwidth_takes(void **state)
{
    (void)state;
    struct dse_memory m = {.channels = 16, .channel_gbs = 461.0 / 16, .burst_bytes = 32, .make.kind = DSE_HBM2E};
    struct dse_die one = die_of(256, 7, &m), nine = die_of(4096, 7, &m), old = die_of(256, 22, &m);
    assert_true(one.units == 1 && nine.units == 9);
    assert_near("PHY and controller of a stack", one.phy_mm2, 10.45 + 552.743 / 96.3, 1e-9); /* 16.2 mm2 */
    assert_near("nine of them", nine.phy_mm2, 9 * one.phy_mm2, 1e-12);                       /* 146 mm2 */
    assert_true(one.edge_mm == 11 && nine.edge_mm == 99 && nine.edge_there_mm == 66);
    assert_near("the network", one.noc_mm2, 20 * 0.07 / 0.93, 1e-12);
    assert_near("the sum", one.area_mm2, one.core_mm2 + one.phy_mm2 + one.noc_mm2, 1e-12);
    /* the controller grows in an older node, the PHY does not */
    assert_near("a controller in 22 nm", (old.phy_mm2 - 10.45) / (one.phy_mm2 - 10.45), 96.3 / 19.9, 1e-9);
    assert_null(dse_die_check(book(), &one));
    const char *why = dse_die_check(book(), &nine);
    struct dse_shortage s;
    assert_non_null(why);
    assert_true(dse_die_shortage(book(), &nine, why, &s) && s.needed == 99 && s.there == 66);
    assert_string_equal(s.unit, "mm");
}

/* The pins of every memory of the catalog are those of its product. */
static void die__counts_the_pins_of_every_memory(void **state)
{
    (void)state;
    static const struct {
        const char *memory;
        double units;
    } cases[] = {{"hbm2-5cube", 5},        {"hbm2-a100-40gb", 5},      {"hbm2e-a100-80gb", 5},   {"hbm2-u280", 2},
                 {"hbm-256", 1},           {"hbm3-h100-80gb", 5},      {"ddr4-3200-2ch", 2},     {"gddr6-14gbps-256bit", 4},
                 {"lpddr5-m1-ane", 4},     {"lpddr5-6400-16ch", 4},    {"hbm3e-h200-141gb", 6},  {"lpddr5x-8533-16ch", 4},
                 {"lpddr5x-8000-8ch", 2},  {"gddr7-28gbps-512bit", 8}, {"hbm4-8gbps-6stack", 6}, {"ddr5-6400-16ch", 8},
                 {"lpddr6-10667-16ch", 2}, {"hbm2-dramsim3", 1},       {"hbm2-ramulator2", 1},   {"hbm2-ramulator2-16ch", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dse_memory *m =
            (const struct dse_memory *)(const void *)catalog_find(catalog, DSE_KIND_MEMORY, cases[i].memory);
        struct dse_die die = die_of((double)m->channels * m->channel_gbs, 7, m);
        if (die.units != cases[i].units) fail_msg("%s has %g units, not %g", cases[i].memory, die.units, cases[i].units);
        if (dse_die_check(book(), &die)) fail_msg("%s: %s", cases[i].memory, dse_die_check(book(), &die));
    }
}

static void die__of_more_bandwidth_is_never_smaller(void **state)
{
    (void)state;
    const struct dse_entry *e;
    for (size_t k = 0; (e = catalog_at(catalog, DSE_KIND_MEMORY, k)) != NULL; k++) {
        const struct dse_memory *m = (const struct dse_memory *)(const void *)e;
        double area = 0, edge = 0;
        for (int step = 0; step < 100; step++) {
            struct dse_die die = die_of(4 * pow(1.1, step), 7, m);
            assert_true(die.area_mm2 >= area && die.edge_mm >= edge);
            area = die.area_mm2;
            edge = die.edge_mm;
        }
        assert_true(edge > 66);
    }
}

/* ---- what the models refuse ----------------------------------------------------------------------------------------------- */

static void refused(const char *model, const char *settings, const char *why_part, double needed, double there, const char *unit)
{
    const struct dse_model *m = registry_find(model)->desc;
    const struct point p = chip_point(model, settings);
    const char *why = m->check(p.params);
    if (!why || !strstr(why, why_part)) fail_msg("%s %s: %s", model, settings, why ? why : "feasible");
    struct dse_shortage s = {0};
    assert_true(m->shortage(p.params, why, &s) == (unit != NULL));
    if (unit) {
        assert_near("what it needs", s.needed, needed, 1e-3);
        assert_near("what is there", s.there, there, 1e-3);
        assert_string_equal(s.unit, unit);
    }
}

static void models__refuse_what_no_die_has_with_numbers(void **state)
{
    (void)state;
    refused("lad", "clock_ghz=2", "highest supply", 2, 1.5098, "GHz");
    refused("veda", "clock_ghz=1.3", "highest supply", 1.3, 1.2439, "GHz");
    refused("lad", "bandwidth_gbs=4096", "more die edge", 154, 66, "mm");
    refused("veda", "bandwidth_gbs=2048", "more die edge", 88, 66, "mm");
    refused("lad", "tiles=256 batch=256 capacity_gib=1024 sram_mib=3.5", "larger than a reticle", 1223.6, 858, "mm2");
    refused("lad", "technology=65nm clock_ghz=0.6", "interface in this node", 0, 0, NULL);
    const struct lad_params fast = lad_params_of("clock_ghz=5 power=constant"),
                            wide = lad_params_of("bandwidth_gbs=4096 area=core"),
                            old = lad_params_of("technology=65nm clock_ghz=0.6 area=core");
    assert_null(dse_model_lad.check(&fast));
    assert_null(dse_model_lad.check(&wide));
    assert_null(dse_model_lad.check(&old));
}

static void area__is_the_sum_of_its_parts_and_says_what_is_not_priced(void **state)
{
    (void)state;
    struct lad_metrics l = lad_metrics_of(""), core = lad_metrics_of("area=core");
    struct named v = veda_metrics_of(""), eight = veda_metrics_of("devices=8");
    assert_near("LAD's area", l.common.area_mm2, l.core_mm2 + l.phy_mm2 + l.noc_mm2, 1e-12);
    assert_near("VEDA's area", v.area_mm2, v.core_mm2 + v.phy_mm2, 1e-12);
    assert_near("eight chips", eight.area_mm2, 8 * v.area_mm2, 1e-12);
    assert_true(core.common.area_mm2 == l.core_mm2 && core.phy_mm2 == 0 && core.noc_mm2 == 0 && v.noc_mm2 == 0);
    assert_near("one tile has no network", lad_metrics_of("tiles=1 batch=2").noc_mm2, 0, 0);
    struct lad_params fast = lad_params_of("clock_ghz=1.4"), published = lad_params_of("");
    struct dse_standing s = {0}, none = {0};
    dse_model_lad.stand(&fast, &s);
    dse_model_lad.stand(&published, &none);
    assert_true(s.n_beyond == none.n_beyond + 1 && strstr(s.beyond[0], "no source relates area to clock"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(supply__is_that_of_the_delays_published_for_a_library),
        cmocka_unit_test(supply__grows_with_the_clock_and_ends_where_the_law_does),
        cmocka_unit_test(supply__gives_the_power_at_the_same_speed_that_was_announced),
        cmocka_unit_test(supply__of_another_node_goes_by_its_delay),
        cmocka_unit_test(die__has_the_stacks_that_its_bandwidth_takes),
        cmocka_unit_test(die__counts_the_pins_of_every_memory),
        cmocka_unit_test(die__of_more_bandwidth_is_never_smaller),
        cmocka_unit_test(models__refuse_what_no_die_has_with_numbers),
        cmocka_unit_test(area__is_the_sum_of_its_parts_and_says_what_is_not_priced),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
