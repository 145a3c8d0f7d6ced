/* What a system costs and what its tokens do, by what must be bought for it: C18 to C22 of docs/cost.md. */
#include <dse/bound.h>
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
    return kind >= DSE_HBM2 && kind <= DSE_HBM3E;
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

static const char no_area[] = "nobody publishes the area of its die", no_node[] = "there are no constants of its node",
                  no_kind[] = "its memory does not say of what kind it is", no_reticle[] = "the die is larger than a reticle",
                  no_edge[] = "there are more stacks of memory than the long edges of the die hold",
                  no_price[] = "nobody publishes what it costs", no_rent[] = "nobody publishes what it is let for",
                  no_book[] = "the model makes no bill";

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
static double most_stacks(const struct dse_bill *b)
{
    enum { LONG_EDGES = 2 };
    const struct dse_costs *book = b->economics->costs;
    const int edge = DSE_C_edge_mm_hbm2 + b->memory_kind - DSE_HBM2;
    return b->dies * LONG_EDGES *
           dse_floor(dse_physical(book, DSE_C_reticle_long_mm) / dse_constant(book, edge, DSE_LOW, DSE_PRICE_YEAR_LAST));
}

static const char *why_no_system(const struct dse_bill *b)
{
    if (b->is_bought) return isnan(b->price_usd[b->economics->prices]) ? no_price : NULL;
    const char *why = why_no_die(b);
    if (!why && b->stacks > 0 && b->stacks > most_stacks(b)) why = no_edge;
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
    if (strcmp(metric, "die_usd") == 0) return b->economics ? why_no_die(b) : no_book;
    if (strcmp(metric, "system_usd") == 0) return b->economics ? why_no_system(b) : no_book;
    if (strcmp(metric, "embodied_kgco2") == 0 || strcmp(metric, "gco2_per_mtoken") == 0)
        return b->economics ? why_no_carbon(b) : no_book;
    if (strcmp(metric, "usd_per_mtoken") != 0) return NULL;
    if (!b->economics) return no_book;
    if (b->economics->tenure == DSE_RENTED) return isnan(b->rent_usd_h[b->economics->prices]) ? no_rent : NULL;
    return why_no_system(b);
}

/* ---- dollars ------------------------------------------------------------------------------------------------------------- */

static double die_usd(const struct dse_bill *b)
{
    struct dse_wafer wafer;
    const char *none;
    if (!dse_wafer_of(b->economics, b->node_nm, &wafer, &none)) return (double)NAN;
    if (!(b->die_mm2 <= b->dies * dse_physical(b->economics->costs, DSE_C_reticle_mm2))) return (double)NAN;
    const struct dse_die_price d = dse_die_of(&wafer, b->die_mm2 / b->dies);
    return d.good_usd * (1 + dse_price(b->economics, DSE_C_die_test_share));
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
static double built_usd(const struct dse_bill *b, double one_die_usd)
{
    const struct dse_economics *e = b->economics;
    if (b->stacks > 0 && b->stacks > most_stacks(b)) return (double)NAN;
    const double memory_usd = b->memory_gib == 0 ? 0 : memory_gib(b) * memory_price(b);
    const double beside = b->stacks > 0 ? b->stacks * dse_by_kind(e->costs, DSE_C_stack_mm2_hbm2, b->memory_kind) : 0;
    const struct dse_parts_of_package parts = {.count = b->dies + b->stacks,
                                               .silicon_mm2 = b->die_mm2 + beside,
                                               .usd = b->dies * one_die_usd + (b->stacks > 0 ? memory_usd : 0)};
    const int32_t packaging = e->packaging != DSE_PACKAGE_AUTO ? e->packaging : b->stacks > 0 ? DSE_INTERPOSER : DSE_ORGANIC;
    return b->dies * one_die_usd + memory_usd + dse_package_of(e, packaging, &parts).usd;
}

/* Watts of a server for each watt of the devices in it, and watts besides, of one device's share. */
static void server_watts(const struct dse_bill *b, double *ret_factor, double *ret_besides_w)
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
static double with_server_usd(const struct dse_bill *b, double device_usd, double peak_w)
{
    const struct dse_economics *e = b->economics;
    if (b->is_whole) return device_usd;
    if (b->is_server) return device_usd * dse_price(e, DSE_C_gpu_server_usd);
    const double parts = dse_price(e, DSE_C_server_board_usd) + dse_price(e, DSE_C_server_parts_usd) +
                         dse_price(e, DSE_C_server_chassis_usd) + dse_price(e, DSE_C_server_network_usd) +
                         dse_price(e, DSE_C_server_cpu_usd) + dse_price(e, DSE_C_server_fan_usd);
    return device_usd + parts / (double)e->devices_per_server + peak_w * dse_price(e, DSE_C_supply_usd_w);
}

static struct dse_ownership ownership(const struct dse_economics *e, double server_usd, double peak_w, double average_w)
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
static double embodied_g(const struct dse_bill *b)
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

/* ---- all of it ----------------------------------------------------------------------------------------------------------- */

void dse_bill_price(const struct dse_bill *b, double watts, double tokens_per_s, struct dse_priced *ret)
{
    const struct dse_economics *e = b->economics;
    const double unknown = (double)NAN;
    *ret = (struct dse_priced){unknown, unknown, unknown, unknown, unknown};
    if (!e) return;
    double factor, besides_w;
    server_watts(b, &factor, &besides_w);
    const double each_w = watts / b->devices, limit_w = isnan(b->peak_w) ? each_w : dse_max(b->peak_w, each_w);
    const double peak_w = limit_w * factor + besides_w, idle_w = isnan(b->idle_w) ? each_w : dse_min(b->idle_w, each_w);
    const double average_w = (e->busy_share * each_w + (1 - e->busy_share) * idle_w) * factor + besides_w;
    const double average_tokens_per_s = e->busy_share * tokens_per_s;
    const double a_mtoken = dse_usd_per_mtoken(1, e->life_years, average_tokens_per_s); /* of what is paid over the life */
    ret->die_usd = die_usd(b);
    const double device_usd = b->is_bought ? b->price_usd[e->prices] : built_usd(b, ret->die_usd);
    const double server_usd = with_server_usd(b, device_usd, peak_w);
    ret->system_usd = b->devices * server_usd;
    if (e->tenure == DSE_RENTED) {
        ret->usd_per_mtoken = b->devices * b->rent_usd_h[e->prices] / (SECONDS_PER_HOUR * average_tokens_per_s) * MILLION;
    } else {
        const struct dse_ownership o = ownership(e, server_usd, peak_w, average_w);
        ret->usd_per_mtoken = b->devices * dse_tco_of(&o).total * a_mtoken;
    }
    /* C22. */
    const double grams = b->devices * embodied_g(b), hours = e->life_years * HOURS_PER_YEAR;
    const double working =
        dse_operation_g(b->devices * average_w, hours, dse_physical(e->costs, DSE_C_grid_g_world + e->grid), e->pue);
    ret->embodied_kgco2 = grams / GRAMS_PER_KG;
    ret->gco2_per_mtoken = (grams + working) * a_mtoken;
}

/* ---- bounds ---------------------------------------------------------------------------------------------------------------- */

/* A bill of a box as it is priced in one year: of every number both ends, and the economics of both. */
struct range {
    struct dse_bill lo, hi;
    struct dse_economics at_lo, at_hi;
};

static void range_init(struct range *r, const struct dse_bill *lo, const struct dse_bill *hi, int64_t year)
{
    *r = (struct range){*lo, *hi, *lo->economics, *hi->economics};
    r->at_lo.price_year = r->at_hi.price_year = year;
    r->lo.economics = &r->at_lo;
    r->hi.economics = &r->at_hi;
}

/* From the least and the most of what grows all over the box; both are sums of a handful of products. */
static struct dse_interval between(double least, double most)
{
    return isnan(least) || isnan(most) ? dse_unbounded : dse_widened(least, most, 256);
}

/* A die's dollars grow with its area: fewer of them find room on a wafer (C2 to C4), and fewer of those are good (C1). Squares are
 * counted with a little slack. */
static struct dse_interval die_bound(const struct range *r)
{
    const double slack = r->at_lo.wafer_fit == DSE_FIT_SQUARES && r->lo.die_mm2 < r->hi.die_mm2 ? 1e-7 : 0;
    const double reticle = dse_physical(r->at_lo.costs, DSE_C_reticle_mm2);
    struct dse_bill least = r->lo, most = r->hi;
    least.dies = most.dies = 1;
    least.die_mm2 = r->lo.die_mm2 / r->hi.dies * (1 - slack);
    most.die_mm2 = dse_min(reticle, r->hi.die_mm2 / r->lo.dies * (1 + slack));
    return between(die_usd(&least), die_usd(&most));
}

/* C18 grows with dies, their dollars and areas, with stacks and memory: so do parts, silicon, layers, what is lost in bonding
 * (C6, C7). No more silicon than reticles hold, and no more stacks than there are edges for, is priced. */
static struct dse_interval built_bound(const struct range *r, struct dse_interval one_die_usd)
{
    const double silicon = r->hi.dies * dse_physical(r->at_lo.costs, DSE_C_reticle_mm2);
    struct dse_bill most = r->hi;
    if ((r->lo.stacks > 0) != (r->hi.stacks > 0)) return dse_unbounded; /* another package */
    if (most.stacks > 0) most.stacks = dse_min(most.stacks, most_stacks(&most));
    most.die_mm2 = dse_min(most.die_mm2, silicon);
    return between(built_usd(&r->lo, one_die_usd.lo), built_usd(&most, one_die_usd.hi));
}

static struct dse_interval device_bound(const struct range *r, struct dse_interval one_die_usd)
{
    const int32_t band = r->at_lo.prices;
    if (r->lo.is_bought) return between(r->lo.price_usd[band], r->hi.price_usd[band]);
    return built_bound(r, one_die_usd);
}

static struct dse_interval embodied_bound(const struct range *r)
{
    struct dse_bill least = r->lo, most = r->hi;
    least.economics = &r->at_hi; /* the more devices, the less of the server is one's */
    most.economics = &r->at_lo;
    return between(embodied_g(&least), embodied_g(&most));
}

/* What a box is priced with, for each token: device-seconds, and joules at the plug (E) of what is drawn (P: that the building is
 * made for). Years of life are divided out wherever they can. */
struct terms {
    struct dse_interval device_s, busy, life_s; /* life: seconds of it */
    struct dse_interval life;
    struct dse_interval peak_w, average_w;             /* of a device's share of its server */
    struct dse_interval peak_token_j, average_token_j; /* the same watts times device_s */
};

static struct dse_interval both_ends(double lo, double hi)
{
    return dse_iv(dse_min(lo, hi), dse_max(lo, hi));
}

/* Watts of a server, and joules of a token, of what one device draws by itself. */
static void at_the_plug(const struct range *r, struct dse_interval device_s, struct dse_interval *watts,
                        struct dse_interval *joules)
{
    double factor, least_w, most_w;
    server_watts(&r->lo, &factor, &most_w); /* besides: falls with the devices that share a server */
    server_watts(&r->hi, &factor, &least_w);
    const struct dse_interval besides = both_ends(least_w, most_w);
    *watts = dse_iv_add(dse_iv_scale(*watts, factor), besides);
    *joules = dse_iv_add(dse_iv_scale(*joules, factor), dse_iv_mul(besides, device_s));
}

static void terms_init(struct terms *t, const struct range *r, struct dse_interval watts, struct dse_interval tokens_per_s,
                       struct dse_interval joules_a_token)
{
    const struct dse_interval one = dse_iv_of(1), devices = dse_iv(r->lo.devices, r->hi.devices);
    const struct dse_interval each = dse_iv_div(watts, devices);
    t->device_s = dse_iv_div(devices, tokens_per_s);
    t->busy = dse_iv(r->at_lo.busy_share, r->at_hi.busy_share);
    t->life = dse_iv(r->at_lo.life_years, r->at_hi.life_years);
    t->life_s = dse_iv_scale(t->life, HOURS_PER_YEAR * SECONDS_PER_HOUR);
    struct dse_interval idle_w = each, idle_j = joules_a_token;
    t->peak_w = each;
    t->peak_token_j = joules_a_token;
    if (!isnan(r->lo.peak_w)) {
        const struct dse_interval peak = dse_iv(r->lo.peak_w, r->hi.peak_w);
        t->peak_w = dse_iv_max(peak, each);
        t->peak_token_j = dse_iv_max(dse_iv_mul(peak, t->device_s), joules_a_token);
    }
    if (!isnan(r->lo.idle_w)) {
        const struct dse_interval idle = dse_iv(r->lo.idle_w, r->hi.idle_w);
        idle_w = dse_iv_min(idle, each);
        idle_j = dse_iv_min(dse_iv_mul(idle, t->device_s), joules_a_token);
    }
    const struct dse_interval rest = dse_iv_positive(dse_iv_sub(one, t->busy));
    t->average_w = isnan(r->lo.idle_w) ? each : dse_iv_add(dse_iv_mul(t->busy, each), dse_iv_mul(rest, idle_w));
    t->average_token_j =
        isnan(r->lo.idle_w) ? joules_a_token : dse_iv_add(dse_iv_mul(t->busy, joules_a_token), dse_iv_mul(rest, idle_j));
    at_the_plug(r, t->device_s, &t->peak_w, &t->peak_token_j);
    at_the_plug(r, t->device_s, &t->average_w, &t->average_token_j);
}

/* with_server_usd in its two parts: without the supply, and the supply of a watt. */
static struct dse_interval server_bound(const struct range *r, struct dse_interval device_usd, double *ret_usd_w)
{
    *ret_usd_w = r->lo.is_whole || r->lo.is_server ? 0 : dse_price(&r->at_lo, DSE_C_supply_usd_w);
    if (!(device_usd.hi < (double)INFINITY) && !(device_usd.lo > -(double)INFINITY)) return dse_unbounded;
    return between(
        with_server_usd(&(struct dse_bill){.economics = &r->at_hi, .is_whole = r->lo.is_whole, .is_server = r->lo.is_server},
                        device_usd.lo, 0),
        with_server_usd(&(struct dse_bill){.economics = &r->at_lo, .is_whole = r->lo.is_whole, .is_server = r->lo.is_server},
                        device_usd.hi, 0));
}

/* C20: dollars of a million tokens, of an owned machine that costs server_usd and supply_usd_w for each watt at its peak. Of what is
 * paid over the life, the years are divided out; the server's share a year falls with them, interest and all: it is an annuity. */
static struct dse_interval owned_bound(const struct range *r, const struct terms *t, struct dse_interval server_usd,
                                       double supply_usd_w)
{
    enum { MONTHS = 12 };
    const struct dse_economics *e = &r->at_lo;
    const struct dse_ownership o = ownership(e, 0, 0, 0);
    const double of_server_lo = 1 + dse_interest(1, o.interest, t->life.lo) + o.server_upkeep_share;
    const double of_server_hi = 1 + dse_interest(1, o.interest, t->life.hi) + o.server_upkeep_share;
    const double building = o.building_usd_w / o.building_years * (1 + o.building_interest) + o.upkeep_usd_w_month * MONTHS;
    const struct dse_interval a_year = between(of_server_hi / t->life.hi, of_server_lo / t->life.lo);
    const struct dse_interval kwh = dse_iv(e->electricity_usd_kwh, r->at_hi.electricity_usd_kwh),
                              pue = dse_iv(e->pue, r->at_hi.pue);
    const struct dse_interval power = dse_iv_scale(dse_iv_mul(kwh, pue), o.hours_per_month * MONTHS / 1e3);
    const struct dse_interval of_server = dse_iv_mul(dse_iv_mul(server_usd, t->device_s), a_year);
    const struct dse_interval of_peak =
        dse_iv_mul(t->peak_token_j, dse_iv_add(dse_iv_of(building), dse_iv_scale(a_year, supply_usd_w)));
    const struct dse_interval of_work = dse_iv_mul(t->average_token_j, power);
    const struct dse_interval all = dse_iv_add(of_server, dse_iv_add(of_peak, of_work));
    return dse_iv_div(dse_iv_scale(all, MILLION / (HOURS_PER_YEAR * SECONDS_PER_HOUR)), t->busy);
}

/* C22. */
static struct dse_interval carbon_bound(const struct range *r, const struct terms *t, struct dse_interval grams)
{
    const double a_kwh = dse_physical(r->at_lo.costs, DSE_C_grid_g_world + r->at_lo.grid), joules_per_kwh = 1e3 * SECONDS_PER_HOUR;
    const struct dse_interval made = dse_iv_div(dse_iv_mul(grams, t->device_s), t->life_s);
    const struct dse_interval working =
        dse_iv_scale(dse_iv_mul(t->average_token_j, dse_iv(r->at_lo.pue, r->at_hi.pue)), a_kwh / joules_per_kwh);
    return dse_iv_div(dse_iv_scale(dse_iv_add(made, working), MILLION), t->busy);
}

static void price_bound(const struct range *r, const struct terms *t, struct dse_priced_bound *ret)
{
    const struct dse_interval devices = dse_iv(r->lo.devices, r->hi.devices), grams = embodied_bound(r);
    double supply_usd_w;
    const struct dse_interval one_die = die_bound(r);
    const struct dse_interval server = server_bound(r, device_bound(r, one_die), &supply_usd_w);
    const int32_t band = r->at_lo.prices;
    ret->die_usd = one_die;
    ret->system_usd = dse_iv_mul(devices, dse_iv_add(server, dse_iv_scale(t->peak_w, supply_usd_w)));
    ret->usd_per_mtoken =
        r->at_lo.tenure == DSE_RENTED
            ? dse_iv_div(dse_iv_scale(dse_iv_mul(between(r->lo.rent_usd_h[band], r->hi.rent_usd_h[band]), t->device_s),
                                      MILLION / SECONDS_PER_HOUR),
                         t->busy)
            : owned_bound(r, t, server, supply_usd_w);
    ret->embodied_kgco2 = dse_iv_scale(dse_iv_mul(devices, grams), 1 / GRAMS_PER_KG);
    ret->gco2_per_mtoken = carbon_bound(r, t, grams);
}

void dse_bill_bound(const struct dse_bill *lo, const struct dse_bill *hi, struct dse_interval watts,
                    struct dse_interval tokens_per_s, struct dse_interval joules_a_token, struct dse_priced_bound *ret)
{
    const struct dse_interval none = dse_unbounded;
    *ret = (struct dse_priced_bound){none, none, none, none, none};
    if (!lo->economics || !hi->economics) return;
    for (int64_t year = lo->economics->price_year; year <= hi->economics->price_year; year++) {
        struct range r;
        struct terms t;
        struct dse_priced_bound p;
        range_init(&r, lo, hi, year);
        terms_init(&t, &r, dse_iv_positive(watts), dse_iv_positive(tokens_per_s), dse_iv_positive(joules_a_token));
        price_bound(&r, &t, &p);
        const bool is_first = year == lo->economics->price_year;
        ret->die_usd = is_first ? p.die_usd : dse_iv_hull(ret->die_usd, p.die_usd);
        ret->system_usd = is_first ? p.system_usd : dse_iv_hull(ret->system_usd, p.system_usd);
        ret->usd_per_mtoken = is_first ? p.usd_per_mtoken : dse_iv_hull(ret->usd_per_mtoken, p.usd_per_mtoken);
        ret->embodied_kgco2 = is_first ? p.embodied_kgco2 : dse_iv_hull(ret->embodied_kgco2, p.embodied_kgco2);
        ret->gco2_per_mtoken = is_first ? p.gco2_per_mtoken : dse_iv_hull(ret->gco2_per_mtoken, p.gco2_per_mtoken);
    }
}
