/* What a system costs and what its tokens do, by what must be bought for it: C18 to C22 of docs/explanation/cost.md. */
#include "hw/bill.h"

#include <dse/num.h>
#include <dse/units.h>

#include <string.h>

#define GRAMS_PER_KG 1e3
#define MILLION 1e6
#define MM2_PER_CM2 100.0
#define HOURS_PER_YEAR (365 * 24.0)
#define SECONDS_PER_HOUR 3600.0

#define WHY(id, unit, least, doc) [DSE_C_##id] = "the book of costs has no " #id,
static const char *const lacking[DSE_CONSTANT_COUNT] = {DSE_CONSTANTS(WHY)};
#undef WHY

static bool is_stacked(int32_t kind)
{
    return kind >= DSE_HBM2 && kind <= DSE_HBM4;
}

double dse_stacks_of(const struct dse_costs *book, int32_t kind, double gbs, double gib)
{
    enum { LAST = DSE_PRICE_YEAR_LAST };
    const double slack = 0.01; /* data sheets round */
    if (!is_stacked(kind)) return 0;
    const int member = kind - DSE_HBM2;
    const double by_rate = gbs / dse_constant(book, DSE_C_unit_gbs_hbm2 + member, DSE_HIGH, LAST);
    const double by_room = gib / dse_physical(book, DSE_C_unit_gb_hbm2 + member);
    return dse_max(1, dse_max(dse_ceil(by_rate - slack), dse_ceil(by_room - slack)));
}

struct dse_bill dse_bill_of_chip(const struct dse_economics *e, double devices, double die_mm2, double node_nm,
                                 const struct dse_dram *dram)
{
    const int32_t kind = dram->memory->make.kind;
    const double gbs = dse_dram_peak(dram) / DSE_GIGA, none = (double)NAN;
    return (struct dse_bill){.economics = e,
                             .devices = devices,
                             .dies = 1,
                             .die_mm2 = die_mm2,
                             .node_nm = node_nm,
                             .memory_kind = kind,
                             .memory_gib = dram->capacity_gib,
                             .stacks = dse_stacks_of(e->costs, kind, gbs, dram->capacity_gib),
                             .price_usd = {none, none, none},
                             .rent_usd_h = {none, none, none},
                             .peak_w = none,
                             .idle_w = none};
}

static double or_else(double v, double without)
{
    return isnan(v) ? without : v;
}

struct dse_bill dse_bill_of_boards(const struct dse_economics *e, double devices, const struct dse_trade *t)
{
    const double none = (double)NAN;
    return (struct dse_bill){
        .economics = e,
        .devices = devices,
        .dies = 1,
        .die_mm2 = none,
        .node_nm = t->node_nm,
        .is_bought = true,
        .price_usd = {or_else(t->low_usd, t->price_usd), t->price_usd, or_else(t->high_usd, t->price_usd)},
        .rent_usd_h = {or_else(t->low_usd_h, t->rent_usd_h), t->rent_usd_h, or_else(t->high_usd_h, t->rent_usd_h)},
        .peak_w = none,
        .idle_w = none};
}

struct dse_bill dse_bill_of_gpus(const struct dse_economics *e, double devices, const struct dse_gpu *gpu)
{
    struct dse_bill b = dse_bill_of_boards(e, devices, &gpu->trade);
    b.die_mm2 = gpu->die_mm2;
    b.dies = dse_ceil(gpu->die_mm2 / dse_physical(e->costs, DSE_C_reticle_mm2));
    b.memory_kind = gpu->make.kind;
    b.memory_gib = gpu->capacity_gib;
    b.stacks = dse_stacks_of(e->costs, b.memory_kind, gpu->bandwidth_gbs, gpu->capacity_gib);
    b.is_server = true;
    b.peak_w = gpu->board_power_w;
    return b;
}

/* ---- why something is not known ------------------------------------------------------------------------------------------ */

static const char no_area[] = "the area of its die is not published",
                  no_node[] = "the book of costs has no constants of the chip's node",
                  no_kind[] = "the memory's entry does not name the kind of DRAM",
                  no_reticle[] = "the die is larger than a reticle",
                  no_edge[] = "the die's long edges have no room for so many memory stacks",
                  no_price[] = "its price is not published", no_rent[] = "its rent is not published",
                  no_book[] = "this model computes no costs";

static bool lacks(const struct dse_economics *e, int id)
{
    return isnan(dse_price(e, id));
}

static const char *why_no_die(const struct dse_bill *b)
{
    const struct dse_economics *e = b->economics;
    if (isnan(b->die_mm2)) return no_area;
    const int node = dse_node_of(b->node_nm);
    if (node < 0) return no_node;
    if (lacks(e, DSE_C_wafer_usd_65nm + node)) return lacking[DSE_C_wafer_usd_65nm + node];
    if (lacks(e, DSE_C_defect_density_65nm + node)) return lacking[DSE_C_defect_density_65nm + node];
    return b->die_mm2 > b->dies * dse_physical(e->costs, DSE_C_reticle_mm2) ? no_reticle : NULL;
}

static const char *why_no_memory(const struct dse_bill *b, int family)
{
    if (b->memory_gib == 0) return NULL;
    if (b->memory_kind == DSE_MEMORY_OTHER) return no_kind;
    const int id = family + b->memory_kind - DSE_HBM2;
    return lacks(b->economics, id) ? lacking[id] : NULL;
}

/* Stacks that find room along the two long edges of a die as long as a reticle, at the shortest edge that one takes. */
double bill_most_stacks(const struct dse_bill *b)
{
    enum { LONG_EDGES = 2 };
    const struct dse_costs *book = b->economics->costs;
    const int edge = DSE_C_edge_mm_hbm2 + b->memory_kind - DSE_HBM2;
    return b->dies * LONG_EDGES *
           dse_floor(dse_physical(book, DSE_C_reticle_long_mm) / dse_constant(book, edge, DSE_LOW, DSE_PRICE_YEAR_LAST));
}

/* Of a chip that is built, where its design is counted. */
static const char *why_no_design(const struct dse_bill *b)
{
    const struct dse_economics *e = b->economics;
    if (b->is_bought || e->units == 0) return NULL;
    if (isnan(b->die_mm2)) return no_area;
    const int node = dse_node_of(b->node_nm), first = DSE_C_design_usd_65nm + node, more = DSE_C_mask_set_usd_65nm + node;
    if (node < 0) return no_node;
    if (lacks(e, first)) return lacking[first];
    if (e->mask_sets > 1 && lacks(e, more)) return lacking[more];
    return isnan(dse_physical(e->costs, DSE_C_design_area_share)) ? lacking[DSE_C_design_area_share] : NULL;
}

/* With its share of the design. */
static const char *why_no_whole_die(const struct dse_bill *b)
{
    const char *why = why_no_die(b);
    return why ? why : why_no_design(b);
}

static const char *why_no_system(const struct dse_bill *b)
{
    if (b->is_bought) return isnan(b->price_usd[b->economics->prices]) ? no_price : NULL;
    const char *why = why_no_whole_die(b);
    if (!why && b->stacks > 0 && b->stacks > bill_most_stacks(b)) why = no_edge;
    return why ? why : why_no_memory(b, DSE_C_memory_usd_gb_hbm2);
}

static const char *why_no_carbon(const struct dse_bill *b)
{
    struct dse_fab fab;
    if (isnan(b->die_mm2)) return no_area;
    if (dse_node_of(b->node_nm) < 0) return no_node;
    if (!dse_fab_of(b->economics->costs, b->node_nm, &fab)) return lacking[DSE_C_fab_kwh_cm2_65nm + dse_node_of(b->node_nm)];
    return why_no_memory(b, DSE_C_memory_g_gb_hbm2);
}

const char *dse_bill_why_null(const struct dse_bill *b, const char *metric)
{
    if (strcmp(metric, "die_usd") == 0) return b->economics ? why_no_whole_die(b) : no_book;
    if (strcmp(metric, "design_usd") == 0) return b->economics ? why_no_design(b) : no_book;
    if (strcmp(metric, "system_usd") == 0) return b->economics ? why_no_system(b) : no_book;
    if (strcmp(metric, "embodied_kgco2") == 0 || strcmp(metric, "gco2_per_mtoken") == 0)
        return b->economics ? why_no_carbon(b) : no_book;
    if (strcmp(metric, "usd_per_mtoken") != 0) return NULL;
    if (!b->economics) return no_book;
    if (b->economics->tenure == DSE_RENTED) return isnan(b->rent_usd_h[b->economics->prices]) ? no_rent : NULL;
    return why_no_system(b);
}

/* ---- dollars ------------------------------------------------------------------------------------------------------------- */

/* A good die, tested: C5. NaN where it is larger than a reticle, or the book lacks a constant. */
static double bill_die_usd(const struct dse_bill *b)
{
    struct dse_wafer wafer;
    const char *none;
    if (!dse_wafer_of(b->economics, b->node_nm, &wafer, &none)) return (double)NAN;
    if (!(b->die_mm2 <= b->dies * dse_physical(b->economics->costs, DSE_C_reticle_mm2))) return (double)NAN;
    const struct dse_die_price d = dse_die_of(&wafer, b->die_mm2 / b->dies);
    return d.good_usd * (1 + dse_price(b->economics, DSE_C_die_test_share));
}

double dse_design_usd(const struct dse_economics *e, double node_nm, double mm2)
{
    const double of_mm2 = 300; /* what the book has */
    const int node = dse_node_of(node_nm);
    if (node < 0) return (double)NAN;
    const double by_area = dse_physical(e->costs, DSE_C_design_area_share);
    const double masks = e->mask_sets > 1 ? (double)(e->mask_sets - 1) * dse_price(e, DSE_C_mask_set_usd_65nm + node) : 0;
    return dse_price(e, DSE_C_design_usd_65nm + node) * (1 - by_area + by_area * mm2 / of_mm2) + masks;
}

double bill_design_usd(const struct dse_bill *b, double units)
{
    if (b->is_bought || units == 0) return 0;
    return dse_design_usd(b->economics, b->node_nm, b->die_mm2 / b->dies) / units;
}

/* Memory is bought in stacks that hold no less than a stack does. */
static double memory_gib(const struct dse_bill *b)
{
    if (b->stacks == 0) return b->memory_gib;
    const int least = DSE_C_unit_gb_hbm2 + b->memory_kind - DSE_HBM2;
    return dse_max(b->memory_gib, b->stacks * dse_constant(b->economics->costs, least, DSE_LOW, DSE_PRICE_YEAR_LAST));
}

static double memory_price(const struct dse_bill *b)
{
    if (b->memory_kind == DSE_MEMORY_OTHER) return (double)NAN;
    return dse_price(b->economics, DSE_C_memory_usd_gb_hbm2 + b->memory_kind - DSE_HBM2);
}

/* C18. Of one device that is built: dies, memory and package. */
double bill_built_usd(const struct dse_bill *b, double one_die_usd)
{
    const struct dse_economics *e = b->economics;
    if (b->stacks > 0 && b->stacks > bill_most_stacks(b)) return (double)NAN;
    const double memory_usd = b->memory_gib == 0 ? 0 : memory_gib(b) * memory_price(b);
    const double beside = b->stacks > 0 ? b->stacks * dse_by_kind(e->costs, DSE_C_stack_mm2_hbm2, b->memory_kind) : 0;
    const struct dse_parts_of_package parts = {.count = b->dies + b->stacks,
                                               .silicon_mm2 = b->die_mm2 + beside,
                                               .usd = b->dies * one_die_usd + (b->stacks > 0 ? memory_usd : 0)};
    const int32_t packaging = e->packaging != DSE_PACKAGE_AUTO ? e->packaging : b->stacks > 0 ? DSE_INTERPOSER : DSE_ORGANIC;
    return b->dies * one_die_usd + memory_usd + dse_package_of(e, packaging, &parts).usd;
}

/* Watts of a server for each watt of the devices in it, and watts besides, of one device's share. */
void bill_server_watts(const struct dse_bill *b, double *ret_factor, double *ret_besides_w)
{
    const struct dse_costs *book = b->economics->costs;
    *ret_factor = *ret_besides_w = 0;
    if (b->is_whole) {
        *ret_factor = 1;
    } else if (b->is_server) {
        *ret_factor = dse_physical(book, DSE_C_gpu_server_power);
    } else {
        *ret_factor = 1 / (dse_physical(book, DSE_C_supply_efficiency) * dse_physical(book, DSE_C_regulator_efficiency));
        *ret_besides_w = (dse_physical(book, DSE_C_server_cpu_w) + dse_physical(book, DSE_C_server_fan_w)) /
                         (double)b->economics->devices_per_server;
    }
}

/* C19. What one device and its share of a server cost: of a GPU's server a factor, of Chiplet Cloud's its parts. */
double bill_with_server_usd(const struct dse_bill *b, double device_usd, double peak_w)
{
    const struct dse_economics *e = b->economics;
    if (b->is_whole) return device_usd;
    if (b->is_server) return device_usd * dse_price(e, DSE_C_gpu_server_usd);
    const double parts = dse_price(e, DSE_C_server_board_usd) + dse_price(e, DSE_C_server_parts_usd) +
                         dse_price(e, DSE_C_server_chassis_usd) + dse_price(e, DSE_C_server_network_usd) +
                         dse_price(e, DSE_C_server_cpu_usd) + dse_price(e, DSE_C_server_fan_usd);
    return device_usd + parts / (double)e->devices_per_server + peak_w * dse_price(e, DSE_C_supply_usd_w);
}

struct dse_ownership bill_ownership(const struct dse_economics *e, double server_usd, double peak_w, double average_w)
{
    const struct dse_costs *book = e->costs;
    return (struct dse_ownership){.server_usd = server_usd,
                                  .peak_w = peak_w,
                                  .average_w = average_w,
                                  .years = e->life_years,
                                  .electricity_usd_kwh = e->electricity_usd_kwh,
                                  .hours_per_month = dse_physical(book, DSE_C_hours_per_month),
                                  .pue = e->pue,
                                  .interest = dse_physical(book, DSE_C_interest),
                                  .building_usd_w = dse_price(e, DSE_C_building_usd_w),
                                  .building_years = dse_physical(book, DSE_C_building_years),
                                  .building_interest = book->building_interest,
                                  .upkeep_usd_w_month = dse_price(e, DSE_C_upkeep_usd_w_month),
                                  .server_upkeep_share = dse_physical(book, DSE_C_server_upkeep_share)};
}

/* ---- carbon -------------------------------------------------------------------------------------------------------------- */

/* C21. Of one device and its share of a server. */
double bill_embodied_g(const struct dse_bill *b)
{
    const struct dse_costs *book = b->economics->costs;
    const int node = dse_node_of(b->node_nm);
    if (node < 0) return (double)NAN;
    const double package_g = dse_physical(book, DSE_C_package_g), stacks = b->stacks > 0 ? b->stacks : 1;
    double g = b->die_mm2 / MM2_PER_CM2 * book->fab_g_cm2[node] + b->dies * package_g;
    if (b->memory_gib > 0)
        g += dse_memory_g(memory_gib(b), dse_by_kind(book, DSE_C_memory_g_gb_hbm2, b->memory_kind),
                          dse_physical(book, DSE_C_carbon_yield), stacks, package_g);
    return g + dse_physical(book, DSE_C_server_kg) * GRAMS_PER_KG / (double)b->economics->devices_per_server;
}

/* ---- kinds of dollars ---------------------------------------------------------------------------------------------------- */

const char *const dse_dollars_names[] = {"cost", "price", "rent", NULL};
_Static_assert(sizeof dse_dollars_names / sizeof *dse_dollars_names == DSE_DOLLARS_COUNT + 1, "every kind has a name");

int32_t dse_dollars_of(const struct dse_bill *b)
{
    if (b->economics && b->economics->tenure == DSE_RENTED) return DSE_DOLLARS_RENT;
    return b->is_bought ? DSE_DOLLARS_PRICE : DSE_DOLLARS_COST;
}

/* ---- all of it ----------------------------------------------------------------------------------------------------------- */

void dse_bill_build(const struct dse_bill *b, struct dse_built *ret)
{
    *ret = (struct dse_built){0};
    if (!b->economics) return;
    bill_server_watts(b, &ret->watt_factor, &ret->besides_w);
    ret->die_usd = bill_die_usd(b);
    ret->design_usd = bill_design_usd(b, (double)b->economics->units);
    ret->device_usd =
        b->is_bought ? b->price_usd[b->economics->prices] : bill_built_usd(b, ret->die_usd) + b->dies * ret->design_usd;
    ret->embodied_g = bill_embodied_g(b);
}

void dse_bill_price_built(const struct dse_bill *b, const struct dse_built *built, double watts, double tokens_per_s,
                          struct dse_priced *ret)
{
    const struct dse_economics *e = b->economics;
    const double unknown = (double)NAN;
    *ret = (struct dse_priced){unknown, unknown, unknown, unknown, unknown, unknown};
    if (!e) return;
    const double each_w = watts / b->devices, limit_w = isnan(b->peak_w) ? each_w : dse_max(b->peak_w, each_w);
    const double peak_w = limit_w * built->watt_factor + built->besides_w,
                 idle_w = isnan(b->idle_w) ? each_w : dse_min(b->idle_w, each_w);
    const double average_w = (e->busy_share * each_w + (1 - e->busy_share) * idle_w) * built->watt_factor + built->besides_w;
    const double average_tokens_per_s = e->busy_share * tokens_per_s;
    const double a_mtoken = dse_usd_per_mtoken(1, e->life_years, average_tokens_per_s); /* of what is paid over the life */
    ret->die_usd = built->die_usd + built->design_usd;
    ret->design_usd = b->devices * b->dies * built->design_usd;
    const double server_usd = bill_with_server_usd(b, built->device_usd, peak_w);
    ret->system_usd = b->devices * server_usd;
    if (e->tenure == DSE_RENTED) {
        ret->usd_per_mtoken = b->devices * b->rent_usd_h[e->prices] / (SECONDS_PER_HOUR * average_tokens_per_s) * MILLION;
    } else {
        const struct dse_ownership o = bill_ownership(e, server_usd, peak_w, average_w);
        ret->usd_per_mtoken = b->devices * dse_tco_of(&o).total * a_mtoken;
    }
    /* C22. */
    const double grams = b->devices * built->embodied_g, hours = e->life_years * HOURS_PER_YEAR;
    const double working =
        dse_operation_g(b->devices * average_w, hours, dse_physical(e->costs, DSE_C_grid_g_world + e->grid), e->pue);
    ret->embodied_kgco2 = grams / GRAMS_PER_KG;
    ret->gco2_per_mtoken = (grams + working) * a_mtoken;
}

void dse_bill_price(const struct dse_bill *b, double watts, double tokens_per_s, struct dse_priced *ret)
{
    struct dse_built built;
    dse_bill_build(b, &built);
    dse_bill_price_built(b, &built, watts, tokens_per_s, ret);
}
