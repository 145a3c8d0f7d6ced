/* Exchanges among boards of GPUs: dse/interconnect.h. */
#include <dse/interconnect.h>

#include <dse/num.h>

#include <math.h>

bool dse_boards_are_one_system(const struct dse_boards *b, const struct dse_exchange *x)
{
    return x->devices <= 1 || x->devices * x->stride <= b->system_devices;
}

/* What a board has of the way to the others of its system, if all of them send: of its links, or of its host. */
static double rate_within(const struct dse_boards *b)
{
    const double links = b->link_gbs * b->link_share;
    return b->linked_devices < b->system_devices ? dse_min(links, b->host_path_gbs * b->linked_devices / b->system_devices) : links;
}

void dse_boards_links_at(const struct dse_boards *b, const struct dse_exchange *x, struct dse_boards_links *ret)
{
    const bool within = dse_boards_are_one_system(b, x);
    ret->host = (struct dse_interconnect){.link_gbs = b->host_path_gbs,
                                          .link_share = 1,
                                          .link_latency_us = b->link_latency_us,
                                          .link_pj_per_bit = b->link_pj_per_bit,
                                          .linked_devices = INT32_MAX,
                                          .link_topology = DSE_LINK_SWITCH};
    ret->links = (struct dse_links){.link_gbs = within ? b->link_gbs : rate_within(b),
                                    .link_share = within ? b->link_share : 1,
                                    .link_latency_us = b->link_latency_us,
                                    .link_pj_per_bit = b->link_pj_per_bit,
                                    .linked_devices = (int64_t)(within ? b->linked_devices : b->system_devices),
                                    .link_topology = DSE_LINK_SWITCH,
                                    .outer_interconnect = within ? &ret->host : b->outer_interconnect,
                                    .allreduce = within ? DSE_ALLREDUCE_RING : DSE_ALLREDUCE_SWITCH,
                                    .collective_start_us = b->collective_start_us,
                                    .collective_fill_share = b->collective_fill_share};
}

/* The ends, where the faster host belongs to the end that the fast links are taken from. */
void dse_boards_exchange_bound(const struct dse_boards *lo, const struct dse_boards *hi, const struct dse_exchange *x_lo,
                               const struct dse_exchange *x_hi, struct dse_exchange_bound *ret)
{
    const bool within = dse_boards_are_one_system(lo, x_hi);
    const bool mixed = within != dse_boards_are_one_system(hi, x_lo) || lo->system_devices != hi->system_devices;
    if (x_hi->devices > 1 && mixed) {
        const struct dse_interval unknown = {0, (double)INFINITY};
        *ret = (struct dse_exchange_bound){unknown, unknown, unknown};
        return;
    }
    struct dse_boards_links slow, fast;
    dse_boards_links_at(lo, x_lo, &slow);
    dse_boards_links_at(hi, x_hi, &fast);
    const double host_gbs = slow.host.link_gbs;
    slow.host.link_gbs = fast.host.link_gbs;
    fast.host.link_gbs = host_gbs;
    dse_exchange_bound(&slow.links, &fast.links, x_lo, x_hi, ret);
}
