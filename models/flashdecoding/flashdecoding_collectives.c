/* Exchanges between devices. All-reduces within a system: a ring as in textbooks (E15), and as they were measured (E30); all others
 * as docs/explanation/interconnects.md has them (E40). */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

/* From NCCL's tuning table: when bytes take so long, a pair leaves the protocol of short waits; what switches that add wait. */
static const double pair_short_s = 4e-6, multicast_s = 23e-6;
/* What an engine registers with its own kernel; larger messages are NCCL's (vLLM). */
static const double own_bytes = 8 * DSE_MIB;

static void boards_of(struct dse_boards *ret, const struct fd_params *p, double started_s)
{
    const bool ring = p->collectives == FD_RING;
    *ret = (struct dse_boards){.link_gbs = p->link_gbs,
                               .link_share = ring ? 1 : p->link.link_share,
                               .link_latency_us = p->link_latency_us,
                               .link_pj_per_bit = p->link_pj_per_bit,
                               .linked_devices = p->link.linked_devices,
                               .host_path_gbs = p->link.host_path_gbs,
                               .system_devices = p->link.system_devices,
                               .outer_interconnect = p->outer_interconnect,
                               .collective_start_us = ring ? 0 : started_s * DSE_US_PER_S,
                               .collective_fill_share = ring ? 0 : 1};
}

const char *fd_links_check(const struct fd_params *p)
{
    static const char too_many[] = "more devices than system_devices and outer_interconnect can join";
    const double systems = ceil((double)dse_workload_chips(&p->workload) / p->link.system_devices);
    return systems > (double)p->outer_interconnect->linked_devices ? too_many : NULL;
}

void fd_link_init(struct fd_link *ret, const struct fd_params *p)
{
    const double peak = p->link_gbs * DSE_GIGA;
    *ret = (struct fd_link){.how = (enum fd_collectives)p->collectives,
                            .peak = peak,
                            .rate = peak * p->link.link_share,
                            .multicast = peak * p->link.multicast_share,
                            .host_path = p->link.host_path_gbs * DSE_GIGA,
                            .joined = p->link.linked_devices,
                            .waits = {.latency_s = p->link_latency_us / DSE_US_PER_S,
                                      .started_s = p->nccl_start_cycles / (p->gpu->clock_ghz * DSE_GIGA),
                                      .pair = p->nccl_pair_waits,
                                      .own_s = p->own_start_us / DSE_US_PER_S,
                                      .own_device_s = p->own_device_us / DSE_US_PER_S,
                                      .own_half_s = p->own_half_us / DSE_US_PER_S,
                                      .launch_s = p->launches == FD_QUEUED ? 0 : p->launch_us / DSE_US_PER_S}};
    boards_of(&ret->boards, p, ret->waits.started_s);
}

static bool through_host(const struct fd_link *l, double devices)
{
    return devices > dse_max(2, l->joined);
}

/* A pipeline whose chunks balance filling against latency: their geometric mean comes on top of waiting and moving. */
static double pipelined(double waiting_s, double moving_s)
{
    return waiting_s + moving_s + sqrt(waiting_s * moving_s);
}

/* NCCL: rings, or switches that add, whichever is faster. */
static double nccl(const struct fd_link *l, double devices, double bytes)
{
    const double hops = 2 * (devices - 1), crossings = devices / l->joined;
    const double rate = through_host(l, devices) ? dse_min(l->rate, l->host_path / crossings) : l->rate;
    const double moving = hops / devices * bytes / rate, longer = devices <= 2 && moving > pair_short_s ? l->waits.pair : 1;
    const double ring = pipelined(longer * (l->waits.started_s + hops * l->waits.latency_s), moving);
    if (devices <= 2 || l->multicast <= 0 || through_host(l, devices)) return ring;
    return dse_min(ring, pipelined(multicast_s, (1 + 1 / devices) * bytes / l->multicast));
}

/* A kernel of the engine itself, in a graph: every device reads what it adds from all others, all of it in one go, or its part in
 * two. */
static double one_shot(const struct fd_link *l, double devices, double bytes)
{
    const struct fd_waits *w = &l->waits;
    const double fixed_s = w->own_s + w->latency_s + devices * w->own_device_s, share = (devices - 1) / devices;
    const double once = (devices - 1) * bytes / l->rate, twice = w->own_half_s + w->latency_s + 2 * share * bytes / l->rate;
    return fixed_s + dse_min(once, twice);
}

double fd_allreduce(const struct fd_link *l, double devices, double bytes)
{
    if (devices <= 1) return 0;
    if (l->how == FD_RING) return 2 * (devices - 1) * (bytes / (devices * l->peak) + l->waits.latency_s);
    const double by_nccl = nccl(l, devices, bytes);
    const bool own = l->how == FD_ONE_SHOT && bytes < own_bytes && !through_host(l, devices);
    return dse_max(l->waits.launch_s, own ? dse_min(by_nccl, one_shot(l, devices, bytes)) : by_nccl);
}

void fd_exchange_at(const struct fd_link *l, const struct dse_exchange *x, struct dse_exchange_cost *ret)
{
    const struct dse_boards *b = &l->boards;
    const bool sum = x->kind == DSE_ALL_REDUCE;
    if (sum && dse_boards_are_one_system(b, x)) {
        const double bytes = x->devices > 1 ? 2 * (x->devices - 1) / x->devices * x->bytes : 0; /* by rings and by halves alike */
        *ret = (struct dse_exchange_cost){.seconds = fd_allreduce(l, x->devices, x->bytes),
                                          .bytes = bytes,
                                          .joules = bytes * DSE_BITS_PER_BYTE * DSE_PICO * b->link_pj_per_bit};
        return;
    }
    struct dse_boards_links links;
    dse_boards_links_at(b, x, &links);
    dse_exchange_at(&links.links, x, ret);
    if (!(sum && l->how == FD_RING)) ret->seconds = dse_max(ret->seconds, l->waits.launch_s); /* E15 has no launches */
}

/* A collective goes around a ring once, where an all-reduce goes twice; an all-to-all sends to all devices at once. */
double fd_collective(const struct fd_link *l, enum fd_collective what, double devices, double bytes)
{
    static const enum dse_collective kinds[] = {[FD_ALL_REDUCE] = DSE_ALL_REDUCE,
                                                [FD_ALL_GATHER] = DSE_ALL_GATHER,
                                                [FD_REDUCE_SCATTER] = DSE_REDUCE_SCATTER,
                                                [FD_ALL_TO_ALL] = DSE_ALL_TO_ALL,
                                                [FD_POINT_TO_POINT] = DSE_POINT_TO_POINT};
    const struct dse_exchange x = {kinds[what], devices, 1, bytes, 1};
    struct dse_exchange_cost cost;
    if (what == FD_ALL_REDUCE || what == FD_POINT_TO_POINT || !dse_boards_are_one_system(&l->boards, &x)) {
        fd_exchange_at(l, &x, &cost);
        return cost.seconds;
    }
    if (devices <= 1) return 0;
    const double hops = devices - 1, share = (devices - 1) / devices;
    const double rate = through_host(l, devices) ? dse_min(l->rate, l->host_path / (devices / l->joined)) : l->rate;
    const double moving = share * bytes / rate, longer = devices <= 2 && moving > pair_short_s ? l->waits.pair : 1;
    return dse_max(l->waits.launch_s, pipelined(longer * (l->waits.started_s + hops * l->waits.latency_s), moving));
}
