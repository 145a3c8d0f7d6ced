/* Links to try exchanges on: one of each topology. */
#ifndef TESTS_LINKS_BED_H
#define TESTS_LINKS_BED_H

#include <dse/interconnect.h>
#include <dse/units.h>
#include <math.h>

static const struct dse_interconnect bed_beyond = {
    .link_gbs = 50, .link_share = 0.96, .link_latency_us = 2.7, .link_pj_per_bit = 56, .linked_devices = 2048};

static inline struct dse_links bed_links(int32_t topology)
{
    return (struct dse_links){.interconnect = &bed_beyond,
                              .link_gbs = 300,
                              .link_share = 0.8,
                              .link_latency_us = 0.8,
                              .link_pj_per_bit = 11,
                              .linked_devices = 16,
                              .link_topology = topology,
                              .outer_interconnect = &bed_beyond,
                              .allreduce = DSE_ALLREDUCE_BEST};
}

static inline struct dse_exchange_cost bed_cost(const struct dse_links *l, enum dse_collective kind, double devices, double bytes)
{
    struct dse_exchange_cost cost;
    dse_exchange_at(l, &(struct dse_exchange){kind, devices, 1, bytes, 1}, &cost);
    return cost;
}

#endif
