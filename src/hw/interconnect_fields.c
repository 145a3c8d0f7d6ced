/* The rows of an interconnect of the catalog, and of a chip's links. */
#include <dse/interconnect.h>

const char *const dse_link_topology_names[] = {"switch", "mesh", "ring", "torus-2d", "torus-3d", NULL};
const char *const dse_link_phy_names[] = {"other",           "pcie4", "pcie5",  "nvlink3", "nvlink4",
                                          "infinity-fabric", "ucie",  "serdes", "xsr",     NULL};
const char *const dse_allreduce_names[] = {"best", "ring", "one-shot", "switch", NULL};
const char *const dse_collective_names[] = {"all-reduce", "reduce-scatter", "all-gather", "all-to-all", "point-to-point", NULL};

#define Y struct dse_link_phy
const struct dse_param dse_link_phy_fields[] = {
    DSE_PARAM_ENUM(Y, link_phy, dse_link_phy_names, "kind of PHY; the book of costs has its area", ""),
    DSE_PARAM_F64(Y, link_units, "", 0, 4096, "lanes, links or modules of link_phy that make up link_gbs", ""),
    DSE_PARAM_END,
};
#undef Y

/* Numbers that an entry has, and a model may set: the same words in both tables. */
#define LINK_ROWS(S) \
    DSE_PARAM_F64(S, link_gbs, "GB/s", 0.001, 1e6, "peak of all links of a device within its island, one direction", "I2"), \
        DSE_PARAM_F64(S, link_share, "", 0.01, 1, "share of link_gbs that messages reach after protocol and packets", "I2"), \
        DSE_PARAM_F64(S, link_latency_us, "us", 0, 1000, "latency from one device to the next, switch included", "I1"), \
        DSE_PARAM_F64(S, link_pj_per_bit, "pJ/bit", 0, 1000, "energy of a transfer between two devices, both ends", "I9"), \
        DSE_PARAM_I64(S, linked_devices, 1, 1048576, "devices that the interconnect joins into an island", "I7"), \
        DSE_PARAM_ENUM(S, link_topology, dse_link_topology_names, "how the devices of an island reach each other", "I2"), \
        DSE_PARAM_F64(S, link_reduce_share, "", 0, 1, \
                      "share of link_gbs at which switches reduce and multicast; 0: switches cannot", "I5"), \
        DSE_PARAM_F64(S, link_reduce_us, "us", 0, 1000, "latency of a reduction in the switches", "I5")

const struct dse_param dse_interconnect_fields[] = {
    LINK_ROWS(struct dse_interconnect),
    DSE_EMBED_OPTIONAL(struct dse_interconnect, phy, struct dse_link_phy, dse_link_phy_fields),
    DSE_PARAM_END,
};

#define L struct dse_links
const struct dse_param dse_links_params[] = {
    DSE_PARAM_REF(L, interconnect, struct dse_interconnect, DSE_KIND_INTERCONNECT,
                  "links within an island of devices; sets the defaults of the other link parameters",
                  "docs/explanation/interconnects.md"),
    LINK_ROWS(L),
    DSE_PARAM_REF_ALONE(L, outer_interconnect, struct dse_interconnect, DSE_KIND_INTERCONNECT,
                        "links between islands, for more than linked_devices devices; used as in the catalog", "I7"),
    DSE_PARAM_ENUM(L, allreduce, dse_allreduce_names,
                   "all-reduce algorithm: the fastest, a ring, one-shot to all, or NCCL's choice of ring, switches and trees",
                   "I3 to I5"),
    DSE_PARAM_F64(L, collective_start_us, "us", 0, 1e6, "time of an exchange before its first byte: launch, library, handshake",
                  "I1"),
    DSE_PARAM_F64(L, collective_fill_share, "", 0, 2,
                  "pipeline fill of chunks, over the geometric mean of latency and transfer time; 1: NCCL; 0: hardware that "
                  "streams words",
                  "I1"),
    DSE_PARAM_END,
};
#undef L

const char *dse_interconnect_check(const struct dse_interconnect *link)
{
    if (link->link_reduce_share > 0 && link->link_topology != DSE_LINK_SWITCH)
        return "link_reduce_share is not 0, but link_topology is not \"switch\"";
    if (link->phy.link_phy != DSE_LINK_PHY_OTHER && !(link->phy.link_units > 0)) return "link_phy is given without link_units";
    return NULL;
}
