/* What links take of a chip (I10 of docs/explanation/interconnects.md): dse/interconnect.h. */
#include <dse/cost.h>
#include <dse/interconnect.h>
#include <dse/units.h>

#include <math.h>

/* Constants of the book, by enum dse_link_phy_kind: of the PHY of a unit and of its controller; -1: there is none, or it is in the
 * PHY's. */
static const struct {
    int phy_mm2, controller_mtr;
} phys[] = {[DSE_LINK_PHY_OTHER] = {-1, -1},
            [DSE_LINK_PHY_PCIE4] = {DSE_C_pcie4_phy_mm2, DSE_C_pcie4_controller_mtr},
            [DSE_LINK_PHY_PCIE5] = {DSE_C_pcie5_phy_mm2, DSE_C_pcie5_controller_mtr},
            [DSE_LINK_PHY_NVLINK3] = {DSE_C_nvlink3_phy_mm2, DSE_C_nvlink3_controller_mtr},
            [DSE_LINK_PHY_NVLINK4] = {DSE_C_nvlink4_phy_mm2, DSE_C_nvlink4_controller_mtr},
            [DSE_LINK_PHY_INFINITY_FABRIC] = {DSE_C_infinity_fabric_phy_mm2, DSE_C_infinity_fabric_controller_mtr},
            [DSE_LINK_PHY_UCIE] = {DSE_C_ucie_module_mm2, -1},
            [DSE_LINK_PHY_SERDES] = {DSE_C_serdes_lane_mm2, -1},
            [DSE_LINK_PHY_XSR] = {DSE_C_xsr_lane_mm2, -1}};

void dse_links_die_at(const struct dse_costs *book, const struct dse_links *l, double node_nm, struct dse_links_die *ret)
{
    const struct dse_link_phy *phy = &l->interconnect->phy;
    const double both_ways = 2;
    *ret = (struct dse_links_die){.mm2 = (double)NAN,
                                  .busy_w = DSE_PICO * DSE_GIGA * DSE_BITS_PER_BYTE * l->link_gbs * l->link_pj_per_bit};
    if (phy->link_phy == DSE_LINK_PHY_UCIE) ret->edge_mm = both_ways * l->link_gbs / dse_physical(book, DSE_C_ucie_gbs_mm);
    if (phys[phy->link_phy].phy_mm2 < 0) return;
    const double units = phy->link_units * l->link_gbs / l->interconnect->link_gbs;
    const int controller = phys[phy->link_phy].controller_mtr;
    ret->mm2 = units * dse_physical(book, phys[phy->link_phy].phy_mm2);
    if (controller >= 0) ret->mm2 += units * dse_logic_mm2(book, dse_physical(book, controller), node_nm);
}
