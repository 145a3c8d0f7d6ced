/* What memory, technology, SRAM, supply, die and links say. */
#include "graph/primitive_internal.h"

#include <dse/units.h>

/* ---- the memory ------------------------------------------------------------------------------------------------------------- */

POINT(peak)
{
    NO_ARGUMENTS;
    ret[0] = dse_dram_peak(g->memory);
}

BOX(peak_box)
{
    NO_ARGUMENTS;
    ret[0] = range_iv(dse_dram_peak_bound(g->lo.memory, g->hi.memory));
}

POINT(rate)
{
    NO_ARGUMENTS;
    ret[0] = dse_dram_stream_rate(g->memory);
}

BOX(rate_box)
{
    NO_ARGUMENTS;
    ret[0] = range_iv(dse_dram_stream_rate_bound(g->lo.memory, g->hi.memory));
}

POINT(stream)
{
    NO_ARGUMENTS;
    ret[0] = dse_dram_stream_seconds(g->memory, 1);
}

BOX(stream_box)
{
    NO_ARGUMENTS;
    ret[0] = range_iv(dse_dram_stream_seconds_bound(g->lo.memory, g->hi.memory, dse_iv_of(1)));
}

POINT(capacity)
{
    NO_ARGUMENTS;
    ret[0] = g->memory->capacity_gib * DSE_GIB;
}

BOX(capacity_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(g->lo.memory->capacity_gib * DSE_GIB, g->hi.memory->capacity_gib * DSE_GIB);
}

POINT(energy)
{
    NO_ARGUMENTS;
    ret[0] = dse_dram_joules(g->memory, 1);
}

BOX(energy_box)
{
    NO_ARGUMENTS;
    ret[0] = range_iv(dse_dram_joules_bound(g->lo.memory, g->hi.memory, dse_iv_of(1)));
}

/* Bytes in accesses of so many: no others are moved. */
static bool is_access(const double *a)
{
    return a[0] >= 0 && a[1] > 0 && a[1] < (double)INFINITY;
}

POINT(seconds)
{
    ret[0] = is_access(a) ? dse_dram_seconds(g->memory, a[0], a[1]) : (double)NAN;
}

BOX(seconds_box)
{
    const bool known = positive(a[0]) && positive(a[1]) && a[1].lo > 0 && a[1].hi < (double)INFINITY;
    ret[0] = known ? range_iv(dse_dram_seconds_bound(g->lo.memory, g->hi.memory, iv(a[0]), iv(a[1]))) : range_unknown;
}

POINT(moved)
{
    ret[0] = is_access(a) ? dse_dram_moved(g->memory, a[0], a[1]) : (double)NAN;
}

BOX(moved_box)
{
    const bool known = positive(a[0]) && positive(a[1]) && a[1].lo > 0 && a[1].hi < (double)INFINITY;
    ret[0] = known ? range_iv(dse_dram_moved_bound(g->lo.memory, g->hi.memory, iv(a[0]), iv(a[1]))) : range_unknown;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------------------ */

const void *primitive_entry(const struct groups *g, double place)
{
    return *(const void *const *)(const void *)((const char *)g->params + (size_t)place);
}

double nm_of_metres(double metres)
{
    const double nm = 1e9, digits = 1e6;
    return rint(metres * nm * digits) / digits;
}

static double ratio(const struct dse_technology *to, double metres, enum dse_tech_metric metric)
{
    return to->node_nm == nm_of_metres(metres) ? 1 : dse_tech_ratio(to, nm_of_metres(metres), metric);
}

POINT(technology)
{
    const struct dse_technology *t = primitive_entry(g, a[0]);
    ret[0] = ratio(t, a[1], DSE_TECH_AREA);
    ret[1] = ratio(t, a[1], DSE_TECH_SRAM_AREA);
    ret[2] = ratio(t, a[1], DSE_TECH_ENERGY);
    ret[3] = ratio(t, a[1], DSE_TECH_POWER);
}

void primitive_at(const struct primitive *p, const struct groups *g, const struct graph_range *a, struct graph_range *ret)
{
    double at[PRIMITIVE_ARGUMENTS_MAX] = {0}, answer[PRIMITIVE_RESULTS_MAX];
    for (int i = 0; i < PRIMITIVE_ARGUMENTS_MAX && p->arguments[i]; i++) at[i] = a[i].lo;
    p->of(g, at, answer);
    for (int i = 0; i < p->n_results; i++) ret[i] = range_of(answer[i]);
}

struct graph_moves primitive_moves(const struct primitive *p, int which, const struct graph_moves *args, uint32_t of_groups)
{
    struct graph_moves ret = moves_any(of_groups);
    for (int i = 0; i < PRIMITIVE_ARGUMENTS_MAX && p->arguments[i]; i++) {
        const char how = p->moves[which] ? p->moves[which][i] : '?';
        if (how != '-' && how != '0') ret.up |= args[i].up, ret.down |= args[i].down;
        if (how != '+' && how != '0') ret.up |= args[i].down, ret.down |= args[i].up;
    }
    return ret;
}

POINT(sram_beyond)
{
    ret[0] = dse_tech_sram_beyond(primitive_entry(g, a[0]), nm_of_metres(a[1])) != NULL;
}

POINT(technology_node)
{
    const struct dse_technology *t = primitive_entry(g, a[0]);
    ret[0] = t->node_nm * 1e-9;
}

POINT(sram_node)
{
    ret[0] = dse_sram_node_nm(primitive_entry(g, a[0])) * 1e-9;
}

/* ---- SRAM ------------------------------------------------------------------------------------------------------------------- */

/* The macro of a[1] bytes in words of a[2]; its numbers are NaN where the table has none. */
POINT(sram)
{
    struct dse_sram m = {(double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN};
    if (a[1] > 0 && a[2] > 0) dse_sram_at(primitive_entry(g, a[0]), a[1] / DSE_MIB, a[2] * DSE_BITS_PER_BYTE, &m);
    ret[0] = m.area_mm2 * 1e-6;
    ret[1] = m.read_pj * DSE_PICO;
    ret[2] = m.leakage_mw / DSE_MW_PER_W;
    ret[3] = m.dynamic_mw / DSE_MW_PER_W;
    ret[4] = m.write_pj * DSE_PICO;
}

/* The least and the largest capacity of the table. */
POINT(sram_range)
{
    double from, to;
    dse_sram_range(primitive_entry(g, a[0]), &from, &to);
    ret[0] = from * DSE_MIB;
    ret[1] = to * DSE_MIB;
}

/* What a table does not give it gives at no point. `all`: there is a macro at all points. */
static struct graph_range given(struct dse_interval v, double scale, bool all)
{
    if (isinf(v.lo) && isinf(v.hi)) return range_nothing;
    const struct dse_interval scaled = dse_iv_scale(v, scale);
    return (struct graph_range){scaled.lo, scaled.hi, !all, false};
}

BOX(sram_box)
{
    const struct dse_sram_table *t = primitive_entry(&g->lo, a[0].lo);
    const struct dse_interval mib = {a[1].lo / DSE_MIB, a[1].hi / DSE_MIB},
                              bits = {a[2].lo * DSE_BITS_PER_BYTE, a[2].hi * DSE_BITS_PER_BYTE}; /* powers of two: exact */
    struct dse_sram_bound b;
    double least, most;
    for (int i = 0; i < PRIMITIVE_RESULTS_MAX; i++) ret[i] = range_unknown;
    if (a[1].none || a[2].none || !(a[1].lo > 0) || !(a[2].lo > 0)) return;
    dse_sram_range(t, &least, &most);
    if (!dse_sram_bound(t, mib, bits, &b)) {
        for (int i = 0; i < PRIMITIVE_RESULTS_MAX; i++) ret[i] = range_nothing;
        return;
    }
    struct dse_sram corner;
    const bool all = dse_sram_at(t, mib.lo, bits.lo, &corner) && dse_sram_at(t, mib.hi, bits.hi, &corner);
    ret[0] = given(b.area_mm2, 1e-6, all);
    ret[1] = given(b.read_pj, DSE_PICO, all);
    ret[2] = given(b.leakage_mw, 1 / DSE_MW_PER_W, all);
    ret[3] = given(b.dynamic_mw, 1 / DSE_MW_PER_W, all);
    ret[4] = given(b.write_pj, DSE_PICO, all);
}

/* ---- supply and die --------------------------------------------------------------------------------------------------------- */

static bool is_clock(double hz)
{
    return hz >= 1 && hz < 1e18;
}

/* A technology, and the node and the clock that something was published in. */
static bool is_chip(const double *a)
{
    return a[1] > 0 && a[1] < 1 && is_clock(a[2]);
}

/* Of a[0], published in a[1] at a[2], clocked at a[3]; no numbers where that is too fast. */
POINT(supply)
{
    struct dse_supply s;
    const bool ok =
        is_chip(a) && is_clock(a[3]) &&
        dse_supply_at(g->economics->costs, primitive_entry(g, a[0]), nm_of_metres(a[1]), a[2] / DSE_GIGA, a[3] / DSE_GIGA, &s);
    ret[0] = ok ? s.volts : (double)NAN;
    ret[1] = ok ? s.energy : (double)NAN;
    ret[2] = ok ? s.leakage : (double)NAN;
    ret[3] = ok ? s.clock_tree : (double)NAN;
    ret[4] = ok ? s.leakage / a[3] : (double)NAN;
}

static bool is_single(struct graph_range a)
{
    return !a.none && a.lo == a.hi;
}

BOX(supply_box)
{
    struct dse_supply_bound b;
    for (int i = 0; i < PRIMITIVE_RESULTS_MAX; i++) ret[i] = range_unknown;
    const double chip[] = {0, a[1].lo, a[2].lo};
    if (!is_single(a[1]) || !is_single(a[2]) || !is_chip(chip) || a[3].none || !is_clock(a[3].lo) || !is_clock(a[3].hi)) return;
    const struct dse_interval ghz = is_single(a[3]) ? dse_iv_of(a[3].lo / DSE_GIGA) : dse_iv_div(iv(a[3]), dse_iv_of(DSE_GIGA));
    if (!dse_supply_bound(g->lo.economics->costs, primitive_entry(&g->lo, a[0].lo), nm_of_metres(a[1].lo), a[2].lo / DSE_GIGA, ghz,
                          &b)) {
        for (int i = 0; i < PRIMITIVE_RESULTS_MAX; i++) ret[i] = range_nothing;
        return;
    }
    struct dse_supply fastest;
    const bool all = dse_supply_at(g->lo.economics->costs, primitive_entry(&g->lo, a[0].lo), nm_of_metres(a[1].lo),
                                   a[2].lo / DSE_GIGA, ghz.hi, &fastest);
    const struct dse_interval numbers[] = {b.volts, b.energy, b.leakage, b.clock_tree,
                                           dse_iv_div(b.leakage_a_ghz, dse_iv_of(DSE_GIGA))};
    for (int i = 0; i < 5; i++) ret[i] = (struct graph_range){numbers[i].lo, numbers[i].hi, !all, false};
}

/* The fastest clock of such a chip, which `supply` reaches in spite of rounding; infinite where the node has no law. */
POINT(fastest)
{
    const double any_ghz = 1e9, reached = 1 - 1e-12;
    struct dse_supply s;
    ret[0] = (double)NAN;
    if (!is_chip(a)) return;
    const bool all = dse_supply_at(g->economics->costs, primitive_entry(g, a[0]), nm_of_metres(a[1]), a[2] / DSE_GIGA, any_ghz, &s);
    ret[0] = all ? (double)INFINITY : s.max_ghz * reached * DSE_GIGA;
}

POINT(clock_share)
{
    NO_ARGUMENTS;
    ret[0] = dse_physical(g->economics->costs, DSE_C_clock_share);
}

POINT(leakage_share)
{
    ret[0] = dse_by_node(g->economics->costs, DSE_C_leakage_share_65nm, nm_of_metres(a[0]));
}

POINT(interface_energy)
{
    ret[0] = dse_interface_joules(g->economics->costs, g->memory->memory, a[0]);
}

BOX(interface_box)
{
    const bool known = !isnan(dse_interface_joules(g->lo.economics->costs, g->lo.memory->memory, 0));
    ret[0] = range_unknown;
    if (range_is_nothing(a[0]) || !known || !(a[0].lo >= 0)) return;
    ret[0] = range_iv(dse_interface_joules_bound(g->lo.economics->costs, g->lo.memory->memory, iv(a[0])));
    ret[0].none = a[0].none;
}

/* One array of a[0] square metres in the node a[1], with the interfaces of its memory. */
POINT(die)
{
    struct dse_die d;
    dse_die_at(g->economics->costs, DSE_AREA_DIE, a[0] * 1e6, 1, g->memory, nm_of_metres(a[1]), &d);
    ret[0] = d.area_mm2 * 1e-6;
    ret[1] = d.phy_mm2 * 1e-6;
    ret[2] = dse_die_check(g->economics->costs, &d) == NULL;
    ret[3] = d.edge_mm * 1e-3;
    ret[4] = d.edge_there_mm * 1e-3;
}

/* Where the area is no number, it does not fit, and the interfaces are what they are. */
BOX(die_box)
{
    struct dse_die_bound b, made;
    for (int i = 0; i < 5; i++) ret[i] = range_unknown;
    if (range_is_nothing(a[0]) || !(a[0].lo >= 0) || !is_single(a[1])) return;
    const struct dse_interval core = dse_iv_scale(iv(a[0]), 1e6);
    const struct dse_costs *book = g->lo.economics->costs;
    const double nm = nm_of_metres(a[1].lo);
    dse_die_bound(book, DSE_AREA_DIE, core, dse_iv_of(1), g->lo.memory, g->hi.memory, nm, false, &b);
    const bool some = dse_die_bound(book, DSE_AREA_DIE, core, dse_iv_of(1), g->lo.memory, g->hi.memory, nm, true, &made);
    struct dse_die smallest, largest;
    dse_die_at(book, DSE_AREA_DIE, core.lo, 1, g->lo.memory, nm, &smallest);
    dse_die_at(book, DSE_AREA_DIE, core.hi, 1, g->hi.memory, nm, &largest);
    const struct dse_interval area = dse_iv_scale(b.area_mm2, 1e-6), phy = dse_iv_scale(b.phy_mm2, 1e-6);
    ret[0] = (struct graph_range){area.lo, area.hi, a[0].none || isinf(area.hi), false};
    ret[1] = (struct graph_range){phy.lo, phy.hi, isinf(phy.hi), false};
    ret[2] = (struct graph_range){!a[0].none && some && !dse_die_check(book, &largest), some, false, false};
    ret[3] = hull(smallest.edge_mm * 1e-3, largest.edge_mm * 1e-3);
    ret[4] = hull(smallest.edge_there_mm * 1e-3, largest.edge_there_mm * 1e-3);
}

POINT(reticle)
{
    NO_ARGUMENTS;
    ret[0] = dse_physical(g->economics->costs, DSE_C_reticle_mm2) * 1e-6;
}

/* The network over tiles of a[0] square metres in all, which are a[1]: none over one. */
POINT(network)
{
    const double share = dse_physical(g->economics->costs, DSE_C_noc_area_share);
    ret[0] = a[1] > 1 ? a[0] * share / (1 - share) : 0;
}

BOX(network_box)
{
    const double share = dse_physical(g->lo.economics->costs, DSE_C_noc_area_share);
    ret[0] = range_unknown;
    if (range_is_nothing(a[0]) || a[1].none || !(a[0].lo >= 0)) return;
    const struct dse_interval all = dse_iv_scale(iv(a[0]), share / (1 - share));
    ret[0] = (struct graph_range){a[1].lo > 1 ? dse_below(all.lo, 4) : 0, a[1].hi > 1 ? dse_above(all.hi, 4) : 0,
                                  a[0].none && a[1].hi > 1, false};
}

/* ---- links ------------------------------------------------------------------------------------------------------------------ */

/* What an exchange may be of, whatever a formula says: a kind, and numbers of devices and bytes that there are. */
static bool is_exchange(const double *a)
{
    const double most = 1e9, bytes = 1e18;
    const bool kind = a[0] >= 0 && a[0] < DSE_COLLECTIVES && a[0] == floor(a[0]);
    return kind && a[1] >= 0 && a[1] <= most && (a[2] >= 1 || a[1] <= 1) && a[2] <= most && a[3] >= 0 && a[3] <= bytes &&
           a[4] >= 0 && a[4] <= most;
}

static struct dse_exchange exchange_of(const double *a)
{
    return (struct dse_exchange){
        .kind = (enum dse_collective)a[0], .devices = a[1], .stride = a[2], .bytes = a[3], .imbalance = a[4]};
}

POINT(exchange)
{
    struct dse_exchange_cost cost;
    ret[0] = ret[1] = (double)NAN;
    if (!is_exchange(a)) return;
    const struct dse_exchange x = exchange_of(a);
    dse_exchange_at(g->links, &x, &cost);
    ret[0] = cost.seconds;
    ret[1] = cost.joules;
}

BOX(exchange_box)
{
    struct dse_exchange_bound b;
    double lo[PRIMITIVE_ARGUMENTS_MAX], hi[PRIMITIVE_ARGUMENTS_MAX];
    ret[0] = ret[1] = range_unknown;
    for (int i = 0; i < PRIMITIVE_ARGUMENTS_MAX; i++) {
        if (!positive(a[i])) return;
        lo[i] = a[i].lo;
        hi[i] = a[i].hi;
    }
    if (lo[0] != hi[0] || !is_exchange(lo) || !is_exchange(hi)) return;
    const struct dse_exchange least = exchange_of(lo), most = exchange_of(hi);
    dse_exchange_bound(g->lo.links, g->hi.links, &least, &most, &b);
    ret[0] = range_iv(b.seconds);
    ret[1] = range_iv(b.joules);
}

static void links_of(const struct groups *g, double metres, double ret[2])
{
    struct dse_links_die d;
    dse_links_die_at(g->economics->costs, g->links, nm_of_metres(metres), &d);
    ret[0] = d.mm2 * 1e-6;
    ret[1] = d.edge_mm * 1e-3;
}

POINT(links_area)
{
    links_of(g, a[0], ret);
}

/* What nobody published is so of both ends: they have one kind of link. */
BOX(links_area_box)
{
    double lo[2], hi[2];
    ret[0] = ret[1] = range_unknown;
    if (!is_single(a[0])) return;
    links_of(&g->lo, a[0].lo, lo);
    links_of(&g->hi, a[0].lo, hi);
    for (int i = 0; i < 2; i++) ret[i] = isnan(lo[i]) && isnan(hi[i]) ? range_nothing : hull(lo[i], hi[i]);
}
