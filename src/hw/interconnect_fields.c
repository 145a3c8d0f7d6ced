/* The rows of an interconnect of the catalog, and of a chip's links. */
#include <dse/interconnect.h>

const char *const dse_link_topology_names[] = {"switch", "mesh", "ring", "torus-2d", "torus-3d", NULL};
const char *const dse_link_phy_names[] = {"other",           "pcie4", "pcie5",  "nvlink3", "nvlink4",
                                          "infinity-fabric", "ucie",  "serdes", "xsr",     NULL};
const char *const dse_allreduce_names[] = {"best", "ring", "one-shot", "switch", NULL};
const char *const dse_collective_names[] = {"all-reduce", "reduce-scatter", "all-gather", "all-to-all", "point-to-point", NULL};

#define Y struct dse_link_phy
const struct dse_param dse_link_phy_fields[] = {
    DSE_PARAM_ENUM(Y, link_phy, dse_link_phy_names, "what the book of constants knows its area by", ""),
    DSE_PARAM_F64(Y, link_units, "", 0, 4096, "lanes, links or modules of it that make link_gbs", ""),
    DSE_PARAM_END,
};
#undef Y

/* Numbers that an entry has, and a model may set: the same words in both tables. */
#define LINK_ROWS(S) \
    DSE_PARAM_F64(S, link_gbs, "GB/s", 0.001, 1e6, \
                  "peak of a device's links to the others of its island, one direction, all links together", "I2"), \
        DSE_PARAM_F64(S, link_share, "", 0.01, 1, "share of it that messages reach: protocol, packets", "I2"), \
        DSE_PARAM_F64(S, link_latency_us, "us", 0, 1000, "from a device to the next, with the switch between them", "I1"), \
        DSE_PARAM_F64(S, link_pj_per_bit, "pJ/bit", 0, 1000, "energy of a bit from a device to another, both ends", "I9"), \
        DSE_PARAM_I64(S, linked_devices, 1, 1048576, "devices of an island, which the interconnect joins", "I7"), \
        DSE_PARAM_ENUM(S, link_topology, dse_link_topology_names, "how the devices of an island reach each other", "I2"), \
        DSE_PARAM_F64(S, link_reduce_share, "", 0, 1, "share of link_gbs at which switches add and spread; 0: they cannot", "I5"), \
        DSE_PARAM_F64(S, link_reduce_us, "us", 0, 1000, "before switches add", "I5")

const struct dse_param dse_interconnect_fields[] = {
    LINK_ROWS(struct dse_interconnect),
    DSE_EMBED_OPTIONAL(struct dse_interconnect, phy, struct dse_link_phy, dse_link_phy_fields),
    DSE_PARAM_END,
};

#define L struct dse_links
const struct dse_param dse_links_params[] = {
    DSE_PARAM_REF(L, interconnect, struct dse_interconnect, DSE_KIND_INTERCONNECT,
                  "what joins the devices of an island; sets the defaults of the rows below", "docs/explanation/interconnects.md"),
    LINK_ROWS(L),
    DSE_PARAM_REF_ALONE(L, outer_interconnect, struct dse_interconnect, DSE_KIND_INTERCONNECT,
                        "what joins islands, where more devices than linked_devices take part; as its entry has it", "I7"),
    DSE_PARAM_ENUM(
        L, allreduce, dse_allreduce_names,
        "how devices add up what each has a part of: by the fastest way, a ring, everybody to everybody, or as NCCL does",
        "I3 to I5"),
    DSE_PARAM_F64(L, collective_start_us, "us", 0, 1e6, "of an exchange before its first byte: launch, library, handshake", "I1"),
    DSE_PARAM_F64(L, collective_fill_share, "", 0, 2,
                  "of the geometric mean of waiting and moving, which chunks add as they fill a pipeline: 1 as NCCL, 0 where "
                  "hardware sends words as they come",
                  "I1"),
    DSE_PARAM_END,
};
#undef L

const char *dse_interconnect_check(const struct dse_interconnect *link)
{
    if (link->link_reduce_share > 0 && link->link_topology != DSE_LINK_SWITCH)
        return "link_reduce_share is not 0, but link_topology has no switch that could add";
    if (link->phy.link_phy != DSE_LINK_PHY_OTHER && !(link->phy.link_units > 0))
        return "link_phy is given, but not how many of it (link_units)";
    return NULL;
}
