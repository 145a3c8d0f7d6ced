/* The supply voltage that a clock asks for: dse/chip.h. */
#include <dse/bound.h>

#include <math.h>
#include <string.h>

const char *const dse_power_names[] = {"activity", "constant", NULL};
const char *const dse_area_names[] = {"die", "core", NULL};

/* Of a node and library. */
struct law {
    double vt, alpha, low, high, exponent;
};

enum { FIRST_PLANAR_NM = 20 };

static bool is_low_power(const struct dse_technology *t)
{
    size_t n = strlen(t->method);
    if (n > 3 && strcmp(t->method + n - 3, "-lp") == 0) return true;
    if (n > 3 && strcmp(t->method + n - 3, "-hp") == 0) return false;
    return t->node_nm >= FIRST_PLANAR_NM;
}

/* False: no source has one. */
static bool law_of(const struct dse_costs *book, const struct dse_technology *t, struct law *ret)
{
    int node = dse_node_of(t->node_nm);
    if (node < 0) return false;
    if (is_low_power(t))
        *ret = (struct law){dse_physical(book, DSE_C_vt_lp_v_65nm + node), dse_physical(book, DSE_C_alpha_lp_65nm + node),
                            dse_physical(book, DSE_C_v_low_lp_v_65nm + node), dse_physical(book, DSE_C_v_high_lp_v_65nm + node),
                            dse_physical(book, DSE_C_energy_exponent_lp_65nm + node)};
    else
        *ret = (struct law){dse_physical(book, DSE_C_vt_hp_v_65nm + node), dse_physical(book, DSE_C_alpha_hp_65nm + node),
                            dse_physical(book, DSE_C_v_low_hp_v_65nm + node), dse_physical(book, DSE_C_v_high_hp_v_65nm + node),
                            dse_physical(book, DSE_C_energy_exponent_hp_65nm + node)};
    return !isnan(ret->vt + ret->alpha + ret->low + ret->high + ret->exponent);
}

/* ln of (V - Vt)^alpha / V. */
static double log_speed(const struct law *l, double volts)
{
    return l->alpha * log(volts - l->vt) - log(volts);
}

/* The supply at which log_speed is `wanted`, between low and high, whose own are log_low and log_high: Newton's method from the
 * chord. log_speed is concave, so that it comes from below and does not overshoot: three steps are good to 1e-6 V. */
static double solve(const struct law *l, double wanted, double log_low, double log_high)
{
    double v = l->low + (l->high - l->low) * (wanted - log_low) / (log_high - log_low);
    for (int i = 0; i < 3; i++) v += (wanted - log_speed(l, v)) / (l->alpha / (v - l->vt) - 1 / v);
    return v;
}

/* What the node reaches at its nominal supply, and that supply; NaN where it is not known. */
static double nominal_of(const struct dse_costs *book, const struct dse_technology *node, double published_nm, double published_ghz,
                         double *ret_volts)
{
    *ret_volts = isnan(node->vdd_v) ? dse_by_node(book, DSE_C_v_nominal_v_65nm, node->node_nm) : node->vdd_v;
    if (node->node_nm == published_nm) return published_ghz;
    double delay = dse_tech_ratio(node, published_nm, DSE_TECH_DELAY);
    return isnan(delay) ? published_ghz : published_ghz / delay;
}

bool dse_supply_at(const struct dse_costs *book, const struct dse_technology *node, double published_nm, double published_ghz,
                   double clock_ghz, struct dse_supply *ret)
{
    struct law law;
    double nominal, nominal_ghz = nominal_of(book, node, published_nm, published_ghz, &nominal);
    *ret = (struct dse_supply){isnan(nominal) ? 1 : nominal, nominal_ghz, 1, 1, 1};
    if (clock_ghz == nominal_ghz) return true;
    if (isnan(nominal) || !law_of(book, node, &law) || nominal <= law.vt) return clock_ghz < nominal_ghz;
    double at_nominal = log_speed(&law, nominal), wanted = at_nominal + log(clock_ghz / nominal_ghz);
    double log_low = log_speed(&law, law.low), log_high = log_speed(&law, law.high);
    if (wanted > log_high) {
        ret->max_ghz = nominal_ghz * exp(log_high - at_nominal);
        ret->volts = law.high;
        return false;
    }
    ret->volts = wanted <= log_low ? law.low : solve(&law, wanted, log_low, log_high);
    double over = ret->volts / nominal;
    ret->energy = pow(over, law.exponent);
    ret->clock_tree = over * over;
    ret->leakage = over;
    return true;
}

bool dse_supply_reaches(const struct dse_costs *book, const struct dse_technology *node, double published_nm, double published_ghz,
                        double clock_ghz)
{
    double volts;
    struct dse_supply s;
    return clock_ghz <= nominal_of(book, node, published_nm, published_ghz, &volts) ||
           dse_supply_at(book, node, published_nm, published_ghz, clock_ghz, &s);
}

const char dse_too_fast[] = "the clock needs more than the highest supply voltage of the node (power = \"constant\" ignores it)";

bool dse_supply_shortage(const struct dse_supply *supply, double clock_ghz, const char *reason, struct dse_shortage *ret)
{
    *ret = (struct dse_shortage){clock_ghz, supply->max_ghz, "GHz"};
    return reason == dse_too_fast;
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

/* V / f falls with the clock where V'(f) f < V: by f ~ (V - Vt)^alpha / V, where 2 (V - Vt) < alpha V, a line in V, so that both
 * ends say it of all between; and where V is the lowest. */
static struct dse_interval volts_a_ghz(const struct law *law, struct dse_interval volts, struct dse_interval ghz)
{
    const bool falls = 2 * (volts.lo - law->vt) < law->alpha * volts.lo && 2 * (volts.hi - law->vt) < law->alpha * volts.hi;
    if (!falls) return dse_iv_div(volts, ghz);
    return dse_widened(volts.hi / ghz.hi, volts.lo / ghz.lo, 4);
}

/* The voltage grows with the clock, and its solution is within 1e-6 V of it (solve); energy, clock tree and leakage are powers of
 * it. */
static void law_bound(const struct law *law, double nominal, double volts_lo, double volts_hi, struct dse_interval ghz,
                      struct dse_supply_bound *ret)
{
    const double solved = 1e-6;
    ret->volts = dse_iv(volts_lo - solved, volts_hi + solved);
    ret->leakage = dse_iv_scale(ret->volts, 1 / nominal);
    ret->clock_tree = dse_iv_mul(ret->leakage, ret->leakage);
    ret->energy = dse_iv_pow(ret->leakage, law->exponent);
    const struct dse_interval a_ghz = volts_a_ghz(law, dse_iv(volts_lo, volts_hi), ghz);
    const double share = solved / volts_lo; /* that the volts of both ends may be off */
    ret->leakage_a_ghz = dse_iv_scale(dse_iv(a_ghz.lo * (1 - share), a_ghz.hi * (1 + share)), 1 / nominal);
}

bool dse_supply_bound(const struct dse_costs *book, const struct dse_technology *node, double published_nm, double published_ghz,
                      struct dse_interval clock_ghz, struct dse_supply_bound *ret)
{
    struct dse_supply lo, hi;
    if (!dse_supply_at(book, node, published_nm, published_ghz, clock_ghz.lo, &lo)) return false;
    const bool is_point = dse_iv_is_point(clock_ghz);
    *ret = (struct dse_supply_bound){dse_iv_of(lo.volts), dse_iv_of(lo.energy), dse_iv_of(lo.clock_tree), dse_iv_of(lo.leakage),
                                     dse_iv_div(dse_iv_of(lo.leakage), clock_ghz)};
    if (is_point) return true;
    double nominal;
    struct law law;
    const bool reached = dse_supply_at(book, node, published_nm, published_ghz, clock_ghz.hi, &hi);
    nominal_of(book, node, published_nm, published_ghz, &nominal);
    if (isnan(nominal) || !law_of(book, node, &law) || nominal <= law.vt) return true; /* one supply for all clocks */
    law_bound(&law, nominal, lo.volts, hi.volts, dse_iv(clock_ghz.lo, reached ? clock_ghz.hi : hi.max_ghz), ret);
    return true;
}
