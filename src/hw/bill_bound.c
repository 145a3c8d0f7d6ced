/* Bills over a box: dse/bound.h. C1 to C7 and C18 to C22 of docs/explanation/cost.md, of which die, package and server grow with
 * all they are made of; dollars and carbon of a token are put together term by term, so that the years of a life and the tokens of
 * watts are divided out. */
#include "hw/bill.h"

#include <dse/bound.h>
#include <dse/num.h>

#define MILLION 1e6
#define GRAMS_PER_KG 1e3
#define HOURS_PER_YEAR (365 * 24.0)
#define SECONDS_PER_HOUR 3600.0

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
 * counted with a little slack, so that dies of an area that is not a point are, too. */
static double die_end(const struct dse_bill *b, double mm2, double slack)
{
    struct dse_wafer wafer;
    const char *none;
    if (!dse_wafer_of(b->economics, b->node_nm, &wafer, &none) || !(mm2 <= dse_physical(b->economics->costs, DSE_C_reticle_mm2)))
        return (double)NAN;
    const double tested = 1 + dse_price(b->economics, DSE_C_die_test_share);
    const struct dse_die_price die = dse_die_of(&wafer, mm2);
    const double raw_usd = slack == 0 ? die.raw_usd : dse_die_of(&wafer, mm2 * (1 + slack)).raw_usd;
    return raw_usd * die.made * tested;
}

static struct dse_interval die_bound(const struct range *r)
{
    const double slack = r->at_lo.wafer_fit == DSE_FIT_SQUARES && r->lo.die_mm2 < r->hi.die_mm2 ? 1e-7 : 0;
    const double reticle = dse_physical(r->at_lo.costs, DSE_C_reticle_mm2);
    return between(die_end(&r->lo, r->lo.die_mm2 / r->hi.dies, -slack),
                   die_end(&r->lo, dse_min(reticle, r->hi.die_mm2 / r->lo.dies), slack));
}

/* C18 grows with dies, their dollars and areas, with stacks and memory: so do parts, silicon, layers, what is lost in bonding
 * (C6, C7). No more silicon than reticles hold, and no more stacks than there are edges for, is priced. */
static struct dse_interval built_bound(const struct range *r, struct dse_interval one_die_usd)
{
    const double silicon = r->hi.dies * dse_physical(r->at_lo.costs, DSE_C_reticle_mm2);
    struct dse_bill most = r->hi;
    if ((r->lo.stacks > 0) != (r->hi.stacks > 0)) return dse_unbounded; /* another package */
    if (most.stacks > 0) most.stacks = dse_min(most.stacks, bill_most_stacks(&most));
    most.die_mm2 = dse_min(most.die_mm2, silicon);
    return between(bill_built_usd(&r->lo, one_die_usd.lo), bill_built_usd(&most, one_die_usd.hi));
}

/* C24 of one die: it grows with the area and the sets of masks, and falls with the units, from one on; none is nothing. */
static struct dse_interval design_bound(const struct range *r)
{
    const int64_t few = r->at_lo.units > 0 ? r->at_lo.units : 1, many = r->at_hi.units;
    if (r->lo.is_bought || many == 0) return dse_iv_of(0);
    struct dse_bill least = r->lo, most = r->hi;
    least.dies = r->hi.dies;
    most.dies = r->lo.dies;
    const struct dse_interval some = between(bill_design_usd(&least, (double)many), bill_design_usd(&most, (double)few));
    return r->at_lo.units > 0 ? some : dse_iv_hull(dse_iv_of(0), some);
}

static struct dse_interval device_bound(const struct range *r, struct dse_interval one_die_usd)
{
    const int32_t band = r->at_lo.prices;
    if (r->lo.is_bought) return between(r->lo.price_usd[band], r->hi.price_usd[band]);
    const struct dse_interval dies = dse_iv(r->lo.dies, r->hi.dies);
    return dse_iv_add(built_bound(r, one_die_usd), dse_iv_mul(dies, design_bound(r)));
}

static struct dse_interval embodied_bound(const struct range *r)
{
    struct dse_bill least = r->lo, most = r->hi;
    least.economics = &r->at_hi; /* the more devices, the less of the server is one's */
    most.economics = &r->at_lo;
    return between(bill_embodied_g(&least), bill_embodied_g(&most));
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
    bill_server_watts(&r->lo, &factor, &most_w); /* besides: falls with the devices that share a server */
    bill_server_watts(&r->hi, &factor, &least_w);
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
        bill_with_server_usd(&(struct dse_bill){.economics = &r->at_hi, .is_whole = r->lo.is_whole, .is_server = r->lo.is_server},
                             device_usd.lo, 0),
        bill_with_server_usd(&(struct dse_bill){.economics = &r->at_lo, .is_whole = r->lo.is_whole, .is_server = r->lo.is_server},
                             device_usd.hi, 0));
}

/* C20: dollars of a million tokens, of an owned machine that costs server_usd and supply_usd_w for each watt at its peak. Of what
 * is paid over the life, the years are divided out; the server's share a year falls with them, interest and all: it is an
 * annuity. */
static struct dse_interval owned_bound(const struct range *r, const struct terms *t, struct dse_interval server_usd,
                                       double supply_usd_w)
{
    enum { MONTHS = 12 };
    const struct dse_economics *e = &r->at_lo;
    const struct dse_ownership o = bill_ownership(e, 0, 0, 0);
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
    const struct dse_interval design = design_bound(r);
    ret->die_usd = dse_iv_add(one_die, design);
    ret->design_usd = dse_iv_mul(devices, dse_iv_mul(dse_iv(r->lo.dies, r->hi.dies), design));
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
    *ret = (struct dse_priced_bound){none, none, none, none, none, none};
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
        ret->design_usd = is_first ? p.design_usd : dse_iv_hull(ret->design_usd, p.design_usd);
        ret->system_usd = is_first ? p.system_usd : dse_iv_hull(ret->system_usd, p.system_usd);
        ret->usd_per_mtoken = is_first ? p.usd_per_mtoken : dse_iv_hull(ret->usd_per_mtoken, p.usd_per_mtoken);
        ret->embodied_kgco2 = is_first ? p.embodied_kgco2 : dse_iv_hull(ret->embodied_kgco2, p.embodied_kgco2);
        ret->gco2_per_mtoken = is_first ? p.gco2_per_mtoken : dse_iv_hull(ret->gco2_per_mtoken, p.gco2_per_mtoken);
    }
}
