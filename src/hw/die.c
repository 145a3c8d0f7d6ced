/* The edges of a die: dse/chip.h. */
#include <dse/bound.h>
#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

enum { LONG_EDGES = 2 };

/* Data pins of a unit (costs.h): JESD270-4 doubles those of a stack, and JESD209-6 has channels of 24 bits. */
static double unit_bits(int32_t kind)
{
    enum { STACK = 1024, STACK_OF_HBM4 = 2048, FOUR_OF_LPDDR6 = 96, CHANNEL = 64 };
    switch (kind) {
    case DSE_HBM2:
    case DSE_HBM2E:
    case DSE_HBM3:
    case DSE_HBM3E: return STACK;
    case DSE_HBM4: return STACK_OF_HBM4;
    case DSE_LPDDR6: return FOUR_OF_LPDDR6;
    default: return CHANNEL;
    }
}

/* Transfers of a burst: JESD235 (HBM2), JESD238 (HBM3), JESD270-4 (HBM4), JESD79-4, JESD79-5, JESD209-4, JESD209-5, JESD212,
 * JESD250, JESD239 (GDDR7: 8 pins a channel), JESD209-6 (LPDDR6: a ninth of it is no data). */
static double burst_length(int32_t kind)
{
    switch (kind) {
    case DSE_HBM2:
    case DSE_HBM2E: return 4;
    case DSE_HBM3:
    case DSE_HBM3E:
    case DSE_HBM4:
    case DSE_DDR4:
    case DSE_GDDR5: return 8;
    case DSE_LPDDR6: return 24;
    case DSE_GDDR7: return 32;
    default: return 16;
    }
}

/* Data pins of one channel. */
static double channel_bits(const struct dse_memory *m)
{
    const double beside_data = m->make.kind == DSE_LPDDR6 ? 9 / 8.0 : 1;
    return (double)m->burst_bytes * DSE_BITS_PER_BYTE * beside_data / burst_length(m->make.kind);
}

void dse_die_at(const struct dse_costs *book, int32_t area, double core_mm2, int64_t tiles, const struct dse_dram *dram,
                double node_nm, struct dse_die *ret)
{
    *ret = (struct dse_die){.core_mm2 = core_mm2, .area_mm2 = core_mm2};
    if (area == DSE_AREA_CORE) return;
    int32_t kind = dram->memory->make.kind;
    double bits = (double)dram->channels * channel_bits(dram->memory);
    double edge = dse_by_kind(book, DSE_C_edge_mm_hbm2, kind), share = dse_physical(book, DSE_C_noc_area_share);
    double phy = dse_by_kind(book, DSE_C_phy_mm2_hbm2, kind), transistors = dse_by_kind(book, DSE_C_controller_mtr_hbm2, kind);
    double controller = transistors > 0 ? transistors / dse_by_node(book, DSE_C_density_65nm, node_nm) : transistors;
    ret->units = dse_ceil(bits / unit_bits(kind));
    ret->noc_mm2 = tiles > 1 ? core_mm2 * share / (1 - share) : 0;
    ret->phy_mm2 = ret->units * (phy + controller);
    ret->area_mm2 = core_mm2 + ret->noc_mm2 + ret->phy_mm2;
    ret->edge_mm = ret->units * edge;
    ret->edge_there_mm = LONG_EDGES * dse_floor(dse_physical(book, DSE_C_reticle_long_mm) / edge) * edge;
}

static const char no_source[] = "no source gives the area of this memory's interface in this node (area = \"core\" needs none)",
                  no_edge[] = "the memory interfaces need more die edge than the two long sides of a reticle",
                  no_reticle[] = "the die is larger than a reticle";

const char *dse_die_check(const struct dse_costs *book, const struct dse_die *die)
{
    if (isnan(die->area_mm2) || isnan(die->edge_mm)) return no_source;
    if (die->edge_mm > die->edge_there_mm) return no_edge;
    return die->area_mm2 > dse_physical(book, DSE_C_reticle_mm2) ? no_reticle : NULL;
}

bool dse_die_shortage(const struct dse_costs *book, const struct dse_die *die, const char *reason, struct dse_shortage *ret)
{
    if (reason == no_edge)
        *ret = (struct dse_shortage){die->edge_mm, die->edge_there_mm, "mm"};
    else
        *ret = (struct dse_shortage){die->area_mm2, dse_physical(book, DSE_C_reticle_mm2), "mm2"};
    return reason == no_edge || reason == no_reticle;
}

const char dse_no_interface[] = "no source gives the energy of this memory's interface (power = \"constant\" needs none)";

double dse_interface_joules(const struct dse_costs *book, const struct dse_memory *memory, double hop)
{
    double pj_bit = dse_by_kind(book, DSE_C_phy_pj_hbm2, memory->make.kind);
    return DSE_PICO * (DSE_BITS_PER_BYTE * pj_bit + hop * dse_physical(book, DSE_C_noc_pj_byte_hop_12nm));
}

bool dse_interface_known(const struct dse_costs *book, const struct dse_memory *memory)
{
    return !isnan(dse_by_kind(book, DSE_C_phy_pj_hbm2, memory->make.kind));
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

/* Units grow with the channels; the areas of PHYs and network grow with units and core. */
bool dse_die_bound(const struct dse_costs *book, int32_t area, struct dse_interval core_mm2, struct dse_interval tiles,
                   const struct dse_dram *lo, const struct dse_dram *hi, double node_nm, bool accepted, struct dse_die_bound *ret)
{
    struct dse_die least, most;
    const double reticle = dse_physical(book, DSE_C_reticle_mm2);
    dse_die_at(book, area, core_mm2.lo, (int64_t)tiles.lo, lo, node_nm, &least);
    dse_die_at(book, area, core_mm2.hi, (int64_t)tiles.hi, hi, node_nm, &most);
    if (accepted && area != DSE_AREA_CORE && dse_die_check(book, &least)) return false;
    const double units = least.area_mm2 == most.area_mm2 ? 0 : 4; /* one die is what it is */
    *ret = (struct dse_die_bound){core_mm2, dse_widened(least.noc_mm2, most.noc_mm2, units),
                                  dse_widened(least.phy_mm2, most.phy_mm2, units),
                                  dse_widened(least.area_mm2, most.area_mm2, units), dse_iv(least.units, most.units)};
    if (isnan(most.area_mm2)) ret->phy_mm2 = ret->area_mm2 = dse_unbounded;
    if (!accepted || area == DSE_AREA_CORE) return true;
    ret->area_mm2.hi = dse_min(ret->area_mm2.hi, reticle);
    ret->phy_mm2.hi = dse_min(ret->phy_mm2.hi, reticle - core_mm2.lo);
    return true;
}

struct dse_interval dse_interface_joules_bound(const struct dse_costs *book, const struct dse_memory *memory,
                                               struct dse_interval hop)
{
    const double none = dse_interface_joules(book, memory, 0), a_hop = dse_physical(book, DSE_C_noc_pj_byte_hop_12nm);
    if (isnan(none)) return dse_unbounded;
    if (dse_iv_is_point(hop)) return dse_iv_of(dse_interface_joules(book, memory, hop.lo));
    return dse_iv_add(dse_iv_of(none), dse_iv_scale(hop, DSE_PICO * a_hop));
}
