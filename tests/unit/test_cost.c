/* What things cost: the published outputs of tests/data/cost/worked.csv, recomputed from their inputs. (What must hold of costs
 * whatever the numbers is in test_cost_physics.c.)
 *
 * Areas, dies, yields, packages, ownership, carbon and ratios of supplies come from the functions that the models use; constants
 * that the inputs do not give are those of a book. A quarter of the cases tests none of our code: bandwidths, sums of prices of
 * memory, rents, watts over tokens and areas of PHYs are a product or a quotient of the inputs, written out here, and show that a
 * published number follows from published inputs. One case cannot be reproduced: it is printed and not compared. */
#include "cost_bed.h"
#include "cost_cases.h"

#include <stdio.h>

static struct cost_cases cases;

/* ---- area ---------------------------------------------------------------------------------------------------------------- */

static struct dse_core_plan plan_of(const struct cost_case *c)
{
    struct dse_core_plan p = {.sublanes = case_number(c, "sublanes"),
                              .vector_width = case_number(c, "vector_width"),
                              .int32_units = case_number(c, "int32"),
                              .fp32_units = case_number(c, "fp32"),
                              .fp64_units = case_number(c, "fp64"),
                              .sram_bytes = case_number(c, "core_sram_KB") * 1024};
    int bits = 0;
    assert_int_equal(sscanf(case_word(c, "systolic"), "%lfx%lf fp%d", &p.array_rows, &p.array_columns, &bits), 3);
    p.array_mantissa = bits == 64 ? 52 : bits == 32 ? 23 : 10;
    assert_int_equal(
        sscanf(case_word(c, "regfile"), "%lfx%lfx%lfb %lf", &p.register_files, &p.registers, &p.register_bits, &p.register_ports),
        4);
    return p;
}

/* Interfaces that a die may name, and the constants of one lane or link of them. */
static const struct interface {
    const char *key, *words;
    int phy, controller;
} interfaces[] = {
    {"hbm2e_stacks", "stacks", DSE_C_phy_mm2_hbm2e, DSE_C_controller_mtr_hbm2e},
    {"pcie5_lanes", "lanes", DSE_C_pcie5_phy_mm2, DSE_C_pcie5_controller_mtr},
    {"pcie4_lanes", "PCIe 4 lanes", DSE_C_pcie4_phy_mm2, DSE_C_pcie4_controller_mtr},
    {"nvlink3", "links", DSE_C_nvlink3_phy_mm2, DSE_C_nvlink3_controller_mtr},
    {"nvlink4", "NVLink 4 links", DSE_C_nvlink4_phy_mm2, DSE_C_nvlink4_controller_mtr},
};
enum { INTERFACES = sizeof interfaces / sizeof *interfaces };

static double gpu_die_mm2(const struct cost_case *c)
{
    const struct dse_costs *book = book_of("public");
    const struct dse_core_plan plan = plan_of(c);
    const double node = case_number(c, "node"), cores = case_number(c, "cores");
    double mm2 = cores * dse_core_mm2(book, &plan, node) + dse_crossbar_mm2(book, cores, node) +
                 dse_cache_mm2(book, case_number(c, "L2_MB") * 1048576, node);
    for (int i = 0; i < INTERFACES; i++) {
        const double n = case_number(c, interfaces[i].key);
        if (isnan(n)) continue;
        mm2 +=
            n * (dse_physical(book, interfaces[i].phy) + dse_logic_mm2(book, dse_physical(book, interfaces[i].controller), node));
    }
    return mm2;
}

/* A node whose density is the one that is given. */
static double node_of_density(const struct dse_costs *book, double mtr_mm2)
{
    static const double nodes[] = {28, 20, 14, 10, 7, 6, 5};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        if (dse_by_node(book, DSE_C_density_65nm, nodes[i]) == mtr_mm2) return nodes[i];
    return (double)NAN;
}

/* Units of a PHY that the book knows at that area each. */
static double phys_mm2(const struct cost_case *c)
{
    for (int i = 0; i < INTERFACES; i++)
        if (dse_physical(book_of("public"), interfaces[i].phy) == case_at(c, 1))
            return case_at(c, 0) * dse_physical(book_of("public"), interfaces[i].phy);
    return (double)NAN;
}

static double area(const struct cost_case *c)
{
    const struct dse_costs *book = book_of("public");
    if (case_word(c, "mac"))
        return dse_die_around(case_number(c, "tflops") * case_number(c, "mac") +
                                  case_number(c, "sram_MB") * case_number(c, "sram") +
                                  strtod(case_word(c, "io"), NULL) * strtod(strstr(case_word(c, "io"), "x") + 1, NULL) +
                                  case_number(c, "other") + case_number(c, "hbm_channels") * case_number(c, "hbm_per_channel"),
                              case_number(c, "core_ratio"), case_number(c, "padring"));
    if (strcmp(c->quantity, "core area") == 0) {
        const struct dse_core_plan plan = plan_of(c);
        return dse_core_mm2(book, &plan, case_number(c, "node"));
    }
    if (case_word(c, "cores")) return gpu_die_mm2(c);
    if (case_has(c, "Gb/s over")) return case_at(c, 0) / 8 / case_at(c, 1);
    if (case_has(c, "efficiency")) {
        const double node = case_at(c, 2) == 0.17 ? 7 : case_at(c, 2) == 0.14 ? 6 : 5;
        return dse_cache_mm2(book, case_at(c, 0) * 1048576, node);
    }
    if (case_has(c, " M")) return dse_logic_mm2(book, case_at(c, 0) * case_at(c, 1), node_of_density(book, case_at(c, 2)));
    return phys_mm2(c);
}

static double bandwidth(const struct cost_case *c)
{
    return case_has(c, "bit x") ? case_at(c, 0) * case_at(c, 1) / 8 : case_at(c, 0) / case_at(c, 1);
}

/* ---- dies, yields, packages, memory --------------------------------------------------------------------------------------- */

static double or_else(double v, double without)
{
    return isnan(v) ? without : v;
}

static double die(const struct cost_case *c)
{
    const double mm2 = case_number(c, "area"), scribe = case_number(c, "scribe"), gap = case_number(c, "gap");
    const struct dse_wafer w = {.usd = case_number(c, "wafer"),
                                .defects_per_cm2 = case_number(c, "D0"),
                                .alpha = case_number(c, "alpha"),
                                .wafer_mm = or_else(case_number(c, "diameter"), 300),
                                .rim_mm = or_else(case_number(c, "edge"), 0),
                                .scribe_mm = or_else(scribe, or_else(gap, 0)),
                                .yield_model = DSE_NEGATIVE_BINOMIAL,
                                .wafer_fit = !isnan(gap)      ? DSE_FIT_SQUARES
                                             : !isnan(scribe) ? DSE_FIT_SCRIBED
                                                              : DSE_FIT_AREA};
    const struct dse_die_price d = dse_die_of(&w, mm2);
    if (strcmp(c->quantity, "gross dies per wafer") == 0) return d.per_wafer;
    if (strcmp(c->quantity, "die cost without yield") == 0) return d.raw_usd;
    if (strstr(c->quantity, "yield")) return d.yield;
    return d.good_usd * (1 + or_else(case_number(c, "test"), 0));
}

static double yield(const struct cost_case *c)
{
    const int model = case_begins(c, "poisson")  ? DSE_POISSON
                      : case_begins(c, "murphy") ? DSE_MURPHY
                      : case_begins(c, "seeds")  ? DSE_SEEDS
                                                 : DSE_NEGATIVE_BINOMIAL;
    const double alpha = model == DSE_NEGATIVE_BINOMIAL ? strtod(strstr(c->name, "_a") + 2, NULL) : 1;
    return dse_yield(model, 100, case_number(c, "A*D0"), alpha);
}

/* Chiplet Actuary's Fig. 5: one die of AMD's cores and I/O at 7 nm, over the dies of the product: eight of 74 mm2 at 7 nm and one
 * of 416 mm2 at 14 nm, with their bumps. */
static double against_chiplets(const struct cost_case *c, const struct dse_economics *e)
{
    struct dse_wafer at_7, at_14;
    const char *lacks;
    assert_true(dse_wafer_of(e, 7, &at_7, &lacks) && dse_wafer_of(e, 14, &at_14, &lacks));
    const double bumps = dse_price(e, DSE_C_c4_usd_mm2), mm2 = case_at(c, 0) * case_at(c, 1) + case_at(c, 2);
    const double chiplets = 8 * dse_die_of(&at_7, 74).good_usd + dse_die_of(&at_14, 416).good_usd + (8 * 74 + 416) * bumps;
    const struct dse_die_price one = dse_die_of(&at_7, mm2);
    return (strstr(c->quantity, "defect") ? one.good_usd - one.raw_usd : one.raw_usd + mm2 * bumps) / chiplets;
}

static double package(const struct cost_case *c)
{
    const struct dse_economics e = economics_of("actuary", 2022);
    if (case_begins(c, "actuary_amd")) return against_chiplets(c, &e);
    if (case_word(c, "packages")) return case_number(c, "wafer") / case_number(c, "packages");
    const double dies = case_number(c, "dies"), share = case_number(c, "die-to-die area") / 100;
    const double mm2 = case_number(c, "modules") / dies * (dies > 1 ? 1 + share : 1);
    const char *kind = case_word(c, "package");
    const int packaging = strncmp(kind, "fanout", 6) == 0        ? DSE_FANOUT
                          : strncmp(kind, "interposer", 10) == 0 ? DSE_INTERPOSER
                                                                 : DSE_ORGANIC;
    return system_usd(&e, case_number(c, "node"), mm2, dies, packaging);
}

static double sum_behind(const char *word)
{
    char *end;
    double v = strtod(word, &end);
    return *end == '+' ? v + strtod(end + 1, NULL) : v;
}

static double memory(const struct cost_case *c)
{
    if (case_word(c, "throughput ratio"))
        return case_number(c, "throughput ratio") * sum_behind(case_word(c, "cost A100")) / sum_behind(case_word(c, "cost design"));
    const struct dse_economics e = economics_of("public", 2023);
    const double usd_gb = case_at(c, 1), known = dse_price(&e, DSE_C_memory_usd_gb_ddr5);
    return case_at(c, 0) * (usd_gb == known ? known : usd_gb); /* the book has the corrected price, not the published one */
}

/* ---- ownership, carbon, power --------------------------------------------------------------------------------------------- */

static double tco_part(const struct cost_case *c)
{
    const struct dse_ownership o = {.server_usd = case_number(c, "server_price"),
                                    .peak_w = case_number(c, "server_watts"),
                                    .average_w = case_number(c, "server_watts"),
                                    .years = case_number(c, "life"),
                                    .electricity_usd_kwh = case_number(c, "electricity"),
                                    .hours_per_month = case_number(c, "month") * 24,
                                    .pue = case_number(c, "pue"),
                                    .interest = case_number(c, "interest"),
                                    .building_usd_w = case_number(c, "dc_capex"),
                                    .building_years = case_number(c, "dc_life"),
                                    .building_interest = dse_interest(1, case_number(c, "interest"), case_number(c, "dc_life")),
                                    .upkeep_usd_w_month = case_number(c, "dc_opex"),
                                    .server_upkeep_share = case_number(c, "server_opex")};
    const struct dse_tco t = dse_tco_of(&o);
    const struct {
        const char *quantity;
        double usd;
    } parts[] = {{"dc_amortisation", t.building},
                 {"dc_interest", t.building_interest},
                 {"dc_opex", t.upkeep},
                 {"server_amortisation", t.server},
                 {"server_interest", t.server_interest},
                 {"server_opex", t.server_upkeep},
                 {"power", t.power},
                 {"pue_overhead", t.pue_overhead},
                 {"total", t.total}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(c->quantity, parts[i].quantity) == 0) return parts[i].usd;
    return (double)NAN;
}

static double tco(const struct cost_case *c)
{
    const double hours_per_year = 365 * 24;
    if (case_word(c, "server_price")) return tco_part(c);
    if (case_word(c, "capex"))
        return dse_usd_per_mtoken(case_number(c, "capex") + case_number(c, "opex"), case_number(c, "life"),
                                  case_number(c, "batch") * case_number(c, "out") /
                                      (case_number(c, "prefill_s") + case_number(c, "decode_s")));
    if (case_word(c, "$/h"))
        return case_number(c, "nodes") * case_number(c, "gpus") * case_number(c, "$/h") * case_number(c, "hours");
    if (case_has(c, "tokens/s a node")) return dse_usd_per_mtoken(case_at(c, 1) * case_at(c, 2), 1 / hours_per_year, case_at(c, 0));
    if (case_has(c, " / ")) return dse_usd_per_mtoken(case_at(c, 0), 1 / 365.0, case_at(c, 1) / (24 * 3600));
    if (case_has(c, " = ")) return case_at(c, 0) / case_at(c, 1);
    return (double)NAN;
}

/* A constant of a family by the word that its name ends in. */
static double named(const char *family, const char *word, size_t n)
{
    char *name = xasprintf("%s_%.*s", family, (int)n, word);
    int id = 0;
    while (id < DSE_CONSTANT_COUNT && strcmp(dse_constant_rows[id].name, name) != 0) id++;
    free(name);
    return id < DSE_CONSTANT_COUNT ? dse_physical(book_of("public"), id) : (double)NAN;
}

/* The word of a memory ("ddr3_30nm") in the inputs, and grams a GB of it. */
static double memory_g_gb(const char *near)
{
    static const char *const families[] = {"dram_g_gb", "ssd_g_gb"};
    for (const char *p = near; *p; p += strcspn(p, " ;"), p += *p != '\0')
        for (size_t i = 0; i < 2; i++) {
            const double g = named(families[i], p, strcspn(p, " ;"));
            if (!isnan(g)) return g;
        }
    return (double)NAN;
}

/* The number that stands before a unit: "36 GB". */
static double before(const char *inputs, const char *unit)
{
    const char *p = strstr(inputs, unit);
    if (!p) return (double)NAN;
    while (p > inputs && p[-1] == ' ') p--;
    while (p > inputs && (isdigit((unsigned char)p[-1]) || p[-1] == '.')) p--;
    return strtod(p, NULL);
}

static double packages_of(const struct cost_case *c, int i)
{
    const char *p = strstr(c->inputs, "packages");
    if (!p) return 0;
    if (strstr(strchr(c->inputs, '='), " and ")) {
        double both[2] = {0, 0};
        const char *list = strrchr(c->inputs, ';') + 1;
        assert_int_equal(sscanf(list, "%lf and %lf", &both[0], &both[1]), 2);
        return both[i];
    }
    return before(c->inputs, "packages");
}

/* Modules of memory: "12 modules of 36 GB ddr3_50nm", or two of them joined by "and". */
static double memories_g(const struct cost_case *c)
{
    const double package_g = dse_physical(book_of("public"), DSE_C_package_g), yield = case_number(c, "yield");
    const double modules = case_has(c, "modules of") ? before(c->inputs, "modules of") : 1;
    double sum = 0;
    const char *at = c->inputs;
    for (int i = 0; at; i++) {
        const char *next = strstr(at, " and ");
        if (next && next > strchr(c->inputs, '=')) next = NULL;
        const double g_gb = case_has(c, "g/GB") ? before(at, "g/GB") : memory_g_gb(at);
        const char *gb_at = case_has(c, "g/GB") ? strstr(at, ";") : at;
        sum += dse_memory_g(before(gb_at, " GB"), g_gb, yield, packages_of(c, i), package_g);
        at = next ? next + 5 : NULL;
    }
    return modules * sum;
}

static double grid_of(const struct cost_case *c)
{
    const char *word = case_word(c, "grid");
    if (word) return strpbrk(word, "0123456789") ? strtod(strpbrk(word, "0123456789"), NULL) : (double)NAN;
    for (const char *p = c->inputs; *p; p += strcspn(p, ";"), p += *p != '\0') {
        const double g = named("source_g", p, strcspn(p, ";"));
        if (!isnan(g)) return g;
    }
    return (double)NAN;
}

static double carbon(const struct cost_case *c)
{
    const struct dse_costs *book = book_of("public");
    const double scale = strcmp(c->unit, "kg") == 0 ? 1e-3 : 1, package_g = dse_physical(book, DSE_C_package_g);
    if (case_has(c, "duty")) {
        const double hours = before(c->inputs, "years") * before(c->inputs, " d;") * 24 * case_number(c, "duty");
        const char *grid = strrchr(c->inputs, ' ');
        return scale * dse_operation_g(before(c->inputs, "mW") / 1e3, hours, strtod(grid, NULL), 1);
    }
    if (case_has(c, " GB") || case_has(c, "GB;")) return scale * memories_g(c);
    struct dse_fab f;
    const double node = case_word(c, "node") ? case_number(c, "node") : before(c->inputs, "nm;");
    assert_true(dse_fab_of(book, node, &f));
    const double abatement = case_number(c, "abatement");
    const int gases = abatement == 95   ? DSE_C_gas_95_g_cm2_65nm
                      : abatement == 99 ? DSE_C_gas_99_g_cm2_65nm
                                        : DSE_C_gas_97_g_cm2_65nm;
    f.gas_g_cm2 = dse_by_node(book, gases, node);
    f.yield = or_else(case_number(c, "yield"), 1);
    f.grid_g_kwh = grid_of(c);
    if (strcmp(c->quantity, "energy part") == 0) return f.kwh_cm2 * f.grid_g_kwh;
    if (strcmp(c->quantity, "gas part") == 0) return f.gas_g_cm2;
    if (strcmp(c->quantity, "carbon per area") == 0) return dse_fab_g_cm2(&f);
    const double chips = case_at(c, 0);
    return scale * chips * dse_chip_g(&f, before(c->inputs, "mm2"), packages_of(c, 0), package_g);
}

/* "HP7;0.5 V against 0.8 V": a ratio of a node at two supplies. */
static double supply_ratio(const struct cost_case *c)
{
    char library[3] = "", method[32];
    int node;
    double first, second;
    assert_int_equal(sscanf(c->inputs, "%2[A-Z]%d;%lf V against %lf V", library, &node, &first, &second), 4);
    snprintf(method, sizeof method, "stillmaker-%s", strcmp(library, "HP") == 0 ? "hp" : "lp");
    const enum dse_tech_metric metric = strstr(c->quantity, "delay") ? DSE_TECH_DELAY : DSE_TECH_ENERGY;
    const struct dse_technology *t;
    for (size_t i = 0; (t = (const void *)catalog_at(catalog, DSE_KIND_TECHNOLOGY, i)) != NULL; i++)
        if (strcmp(t->method, method) == 0 && t->node_nm == node)
            return dse_tech_at_supply(t, first, metric) / dse_tech_at_supply(t, second, metric);
    return (double)NAN;
}

static double power(const struct cost_case *c)
{
    if (case_has(c, " V against ")) return supply_ratio(c);
    if (case_word(c, "tokens/s")) return case_number(c, "watts") / case_number(c, "tokens/s");
    if (case_word(c, "latency")) return case_number(c, "energy") / case_number(c, "latency");
    if (case_has(c, "TFLOP/s")) return case_at(c, 0) * case_at(c, 1) + case_at(c, 2) * case_at(c, 3);
    return case_at(c, 0) * 1e6 / 3.6e6; /* joules a token in kWh a million */
}

/* ---- all of them ---------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *group;
    double (*compute)(const struct cost_case *c);
} groups[] = {{"area", area}, {"bandwidth", bandwidth}, {"die", die},    {"yield", yield}, {"package", package}, {"memory", memory},
              {"tco", tco},   {"carbon", carbon},       {"power", power}};

static double compute(const struct cost_case *c)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(c->group, groups[i].group) == 0) return groups[i].compute(c);
    return (double)NAN;
}

/* Chiplet Actuary (chiplet-actuary@b85c29f84397, parameter.ini and spec.py): of the cost at 300 mm2, a half goes by the area of the
 * modules, 0.3 by that of the chip, and the rest is fixed: a chip of one module of that size has all three. */
static void design__is_that_of_chiplet_actuary(void **state)
{
    (void)state;
    static const struct {
        double node_nm, at_300_mm2, mm2;
    } designs[] = {{7, 29.8e7, 800}, {7, 29.8e7, 400}, {5, 54.2e7, 800}, {14, 10.6e7, 450}, {28, 5.1e7, 300}, {3, 100e7, 100}};
    const struct dse_economics e = economics_of("public", 2026);
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        const double at = designs[i].at_300_mm2, mm2 = designs[i].mm2;
        const double theirs = mm2 * (0.5 * at / 300) + mm2 * (0.3 * at / 300) + (1 - 0.5 - 0.3) * at;
        assert_true(fabs(dse_design_usd(&e, designs[i].node_nm, mm2) / theirs - 1) < 1e-12);
    }
    assert_true(fabs(dse_design_usd(&e, 7, 800) - 695333333.333) < 1);
    assert_true(isnan(dse_design_usd(&e, 2, 100)));
}

/* Each chip pays its share: of a system of four devices in 7 nm, half a million chips and one respin (10.5 million dollars). */
static void design__is_paid_by_the_chips_that_are_made(void **state)
{
    (void)state;
    struct dse_economics free = economics_of("public", 2026), paid = free;
    paid.units = 500000;
    paid.mask_sets = 2;
    const double none = (double)NAN, each = (29.8e7 * (0.2 + 0.8 * 400 / 300) + 10.5e6) / 500000;
    struct dse_bill bill = {&free, .devices = 4, .dies = 1, .die_mm2 = 400, .node_nm = 7, .peak_w = none, .idle_w = none};
    struct dse_priced before, after, bought;
    dse_bill_price(&bill, 400, 1000, &before);
    bill.economics = &paid;
    dse_bill_price(&bill, 400, 1000, &after);
    assert_true(before.design_usd == 0);
    assert_true(fabs(after.die_usd - before.die_usd - each) < 1e-9 * each);
    assert_true(fabs(after.design_usd - 4 * each) < 1e-9 * each);
    assert_true(fabs(after.system_usd - before.system_usd - 4 * each) < 1e-9 * after.system_usd);
    assert_true(after.usd_per_mtoken > before.usd_per_mtoken);
    bill.is_bought = true; /* its price has it */
    bill.price_usd[DSE_TYPICAL] = 10000;
    dse_bill_price(&bill, 400, 1000, &bought);
    assert_true(bought.design_usd == 0 && bought.die_usd == before.die_usd);
    bill.is_bought = false;
    bill.node_nm = 65;
    assert_non_null(dse_bill_why_null(&bill, "design_usd"));
    bill.node_nm = 3;
    assert_string_equal(dse_bill_why_null(&bill, "design_usd"), "the book of costs has no mask_set_usd_3nm");
    paid.mask_sets = 1;
    assert_null(dse_bill_why_null(&bill, "design_usd"));
}

static void worked__every_case_comes_out(void **state)
{
    (void)state;
    size_t wrong = 0, without = 0;
    for (size_t i = 0; i < cases.n; i++) {
        const struct cost_case *c = &cases.list[i];
        const double ours = compute(c), off = ours / c->value - 1;
        if (isnan(c->tolerance)) {
            without++;
            print_message("%s: cannot be reproduced: %s\n", c->name, c->note);
        } else if (!(fabs(off) <= c->tolerance * (1 + 1e-9))) {
            wrong++;
            print_error("%s: %.10g, published %s, off by %.3g, allowed %s\n", c->name, ours, c->published, off, c->rel_tol);
        }
    }
    assert_int_equal(cases.n, 107);
    assert_int_equal(without, 1);
    assert_int_equal(wrong, 0);
}

static int set_up(void **state)
{
    (void)state;
    open_books();
    cases_read(&cases, DSE_SOURCE_DATA "/tests/data/cost/worked.csv");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    catalog_free(catalog);
    cases_release(&cases);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked__every_case_comes_out),
        cmocka_unit_test(design__is_that_of_chiplet_actuary),
        cmocka_unit_test(design__is_paid_by_the_chips_that_are_made),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
