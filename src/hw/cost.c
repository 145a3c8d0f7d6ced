/* Dies, packages, ownership. Equations: docs/explanation/cost.md. */
#include <dse/cost.h>
#include <dse/num.h>
#include <dse/units.h>

static const double pi = 3.14159265358979323846;
#define MM2_PER_CM2 100.0
#define MONTHS 12.0
#define WATTS_PER_KW 1e3
#define SECONDS_PER_YEAR (365 * 24 * 3600.0)
#define MILLION 1e6

/* Powers are mostly whole ones: of dies, months, clusters. */
static double power(double base, double exponent)
{
    enum { MOST = 1024 };
    if (!(exponent >= 0 && exponent <= MOST) || exponent != dse_floor(exponent)) return pow(base, exponent);
    double result = 1;
    for (unsigned n = (unsigned)exponent; n; n >>= 1, base *= base)
        if (n & 1) result *= base;
    return result;
}

/* ---- dies: C1 to C5 ------------------------------------------------------------------------------------------------------ */

/* Dies that are made for a good one: 1 / yield. */
static double made_for_good(int32_t yield_model, double mm2, double defects_per_cm2, double alpha)
{
    const double x = mm2 / MM2_PER_CM2 * defects_per_cm2;
    switch ((enum dse_yield_model)yield_model) {
    case DSE_POISSON: return exp(x);
    case DSE_MURPHY: return x > 0 ? pow(-expm1(-x) / x, -2) : 1;
    case DSE_SEEDS: return 1 + x;
    case DSE_NEGATIVE_BINOMIAL: break;
    }
    return power(1 + x / alpha, alpha);
}

double dse_yield(int32_t yield_model, double mm2, double defects_per_cm2, double alpha)
{
    return 1 / made_for_good(yield_model, mm2, defects_per_cm2, alpha);
}

/* C2 of square dies of that side. */
static double dies_of_side(double side_mm, double wafer_mm)
{
    const double across = wafer_mm / side_mm, dies = pi * across * (across / 4 - sqrt(0.5));
    return dies > 0 ? dies : 0;
}

double dse_dies_by_area(double mm2, double wafer_mm)
{
    return dies_of_side(sqrt(mm2), wafer_mm);
}

double dse_dies_scribed(double mm2, double wafer_mm, double rim_mm, double scribe_mm)
{
    return dies_of_side(sqrt(mm2) + scribe_mm, wafer_mm - 2 * rim_mm);
}

/* Whole squares in rows above `from` (the lower edge of a row): a row is as long as the circle at its farther edge. */
static double squares_above(double radius, double side, double from)
{
    double n = 0;
    for (double low = from; low + side <= radius; low += side) {
        const double far = fmax(fabs(low), fabs(low + side));
        n += floor(2 * sqrt(radius * radius - far * far) / side);
    }
    return n;
}

double dse_dies_squares(double mm2, double wafer_mm, double gap_mm)
{
    const double side = sqrt(mm2) + gap_mm, radius = wafer_mm / 2;
    double best = 0;
    if (!(side <= wafer_mm)) return 0;
    /* The count changes only where a row just takes k squares: there its farther edge is as far out as k squares allow. */
    for (double k = 0; k * side <= wafer_mm; k++) {
        const double edge = sqrt(radius * radius - k * k * side * side / 4);
        const double rows = floor((radius + edge) / side); /* below that edge, so that the lowest is within the circle */
        const double from = edge - rows * side;
        /* Rounding must not cost the squares that just fit. */
        const double slack = 1e-9 * wafer_mm;
        best = fmax(best, squares_above(radius + slack, side, from));
    }
    return best;
}

bool dse_wafer_of(const struct dse_economics *e, double node_nm, struct dse_wafer *ret, const char **ret_lacks)
{
    const struct dse_costs *book = e->costs;
    const int node = dse_node_of(node_nm);
    *ret_lacks = "constants for its node";
    if (node < 0) return false;
    *ret = (struct dse_wafer){.usd = dse_price(e, DSE_C_wafer_usd_65nm + node),
                              .defects_per_cm2 = dse_physical(book, DSE_C_defect_density_65nm + node),
                              .alpha = dse_physical(book, DSE_C_yield_alpha),
                              .wafer_mm = dse_physical(book, DSE_C_wafer_mm),
                              .rim_mm = dse_physical(book, DSE_C_wafer_rim_mm),
                              .scribe_mm = dse_physical(book, DSE_C_scribe_mm),
                              .yield_model = e->yield_model,
                              .wafer_fit = e->wafer_fit};
    *ret_lacks = dse_constant_rows[(isnan(ret->usd) ? DSE_C_wafer_usd_65nm : DSE_C_defect_density_65nm) + node].name;
    return !isnan(ret->usd) && !isnan(ret->defects_per_cm2);
}

static double dies_of(const struct dse_wafer *w, double mm2)
{
    switch ((enum dse_wafer_fit)w->wafer_fit) {
    case DSE_FIT_AREA: return dse_dies_by_area(mm2, w->wafer_mm);
    case DSE_FIT_SQUARES: return dse_dies_squares(mm2, w->wafer_mm, w->scribe_mm);
    case DSE_FIT_SCRIBED: break;
    }
    return dse_dies_scribed(mm2, w->wafer_mm, w->rim_mm, w->scribe_mm);
}

struct dse_die_price dse_die_of(const struct dse_wafer *w, double mm2)
{
    const double made = made_for_good(w->yield_model, mm2, w->defects_per_cm2, w->alpha);
    struct dse_die_price d = {.per_wafer = dies_of(w, mm2), .yield = 1 / made, .made = made};
    d.raw_usd = d.per_wafer > 0 ? w->usd / d.per_wafer : (double)INFINITY;
    d.good_usd = d.raw_usd * made;
    return d;
}

/* ---- packages: C6, C7 ---------------------------------------------------------------------------------------------------- */

/* Layers of a substrate: 1 under one die; under several by the side of the package, 17 and 30 mm (Chiplet Actuary). */
static double layers(double count, double substrate_mm2)
{
    if (count <= 1) return 1;
    return substrate_mm2 > 30 * 30 ? 2 : substrate_mm2 > 17 * 17 ? 1.75 : 1.5;
}

static struct dse_package organic(const struct dse_economics *e, const struct dse_parts_of_package *parts)
{
    const double substrate_mm2 = parts->silicon_mm2 * dse_physical(e->costs, DSE_C_substrate_area_factor);
    struct dse_package p = {.bumps_usd = parts->silicon_mm2 * dse_price(e, DSE_C_c4_usd_mm2)};
    p.substrate_usd = substrate_mm2 * dse_price(e, DSE_C_substrate_usd_mm2) * layers(parts->count, substrate_mm2);
    p.usd = p.substrate_usd + p.bumps_usd;
    p.lost_usd = (parts->usd + p.usd) * (1 / power(dse_physical(e->costs, DSE_C_substrate_bond_yield), parts->count) - 1);
    p.usd += p.lost_usd;
    return p;
}

/* What interposers and redistribution layers are: the members of a row stand in the book in one order. */
static const struct carrier {
    int wafer, defects, alpha, area, bond;
} carriers[] = {
    [DSE_INTERPOSER] = {DSE_C_interposer_wafer_usd, DSE_C_interposer_defect_density, DSE_C_interposer_alpha,
                        DSE_C_interposer_area_factor, DSE_C_interposer_bond_yield},
    [DSE_FANOUT] = {DSE_C_fanout_wafer_usd, DSE_C_fanout_defect_density, DSE_C_fanout_alpha, DSE_C_fanout_area_factor,
                    DSE_C_fanout_bond_yield},
};

static struct dse_package on_carrier(const struct dse_economics *e, const struct carrier *c,
                                     const struct dse_parts_of_package *parts)
{
    const struct dse_costs *book = e->costs;
    const double mm2 = parts->silicon_mm2 * dse_physical(book, c->area);
    const struct dse_wafer wafer = {.usd = dse_price(e, c->wafer),
                                    .defects_per_cm2 = dse_physical(book, c->defects),
                                    .alpha = dse_physical(book, c->alpha),
                                    .wafer_mm = dse_physical(book, DSE_C_wafer_mm),
                                    .rim_mm = dse_physical(book, DSE_C_wafer_rim_mm),
                                    .scribe_mm = dse_physical(book, DSE_C_scribe_mm)};
    const struct dse_die_price d = dse_die_of(&wafer, mm2);
    struct dse_package p = {.bumps_usd = parts->silicon_mm2 * dse_price(e, DSE_C_microbump_usd_mm2)};
    p.interposer_usd = d.raw_usd + mm2 * dse_price(e, DSE_C_c4_usd_mm2);
    p.substrate_usd = mm2 * dse_physical(book, DSE_C_substrate_area_factor) * dse_price(e, DSE_C_substrate_usd_mm2);
    const double mounted = 1 / dse_physical(book, DSE_C_substrate_bond_yield);
    const double each = mounted / power(dse_physical(book, c->bond), parts->count); /* that are started for one that is whole */
    p.lost_usd = p.interposer_usd * (each * d.made - 1) + p.substrate_usd * (mounted - 1) + (parts->usd + p.bumps_usd) * (each - 1);
    p.usd = p.bumps_usd + p.interposer_usd + p.substrate_usd + p.lost_usd;
    return p;
}

struct dse_package dse_package_of(const struct dse_economics *e, int32_t packaging, const struct dse_parts_of_package *parts)
{
    return packaging == DSE_ORGANIC || packaging == DSE_PACKAGE_AUTO ? organic(e, parts)
                                                                     : on_carrier(e, &carriers[packaging], parts);
}

/* ---- ownership: C8, C9 --------------------------------------------------------------------------------------------------- */

double dse_interest(double usd, double a_year, double years)
{
    const double n = years * MONTHS, rate = a_year / MONTHS, grown = power(1 + rate, n);
    return usd * (rate * grown / (grown - 1) * n - 1);
}

struct dse_tco dse_tco_of(const struct dse_ownership *o)
{
    const double months = o->years * MONTHS, of_building = o->years / o->building_years;
    struct dse_tco t = {.building = o->building_usd_w * o->peak_w * of_building,
                        .upkeep = o->upkeep_usd_w_month * o->peak_w * months,
                        .server = o->server_usd,
                        .server_interest = dse_interest(o->server_usd, o->interest, o->years),
                        .server_upkeep = o->server_usd * o->server_upkeep_share,
                        .power = o->electricity_usd_kwh * o->average_w / WATTS_PER_KW * o->hours_per_month * months};
    t.building_interest = t.building * o->building_interest;
    t.pue_overhead = t.power * (o->pue - 1);
    t.total =
        t.building + t.building_interest + t.upkeep + t.server + t.server_interest + t.server_upkeep + t.power + t.pue_overhead;
    return t;
}

double dse_usd_per_mtoken(double usd, double years, double tokens_per_s)
{
    return usd * (MILLION / (years * SECONDS_PER_YEAR * tokens_per_s));
}
