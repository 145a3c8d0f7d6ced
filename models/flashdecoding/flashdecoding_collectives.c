/* All-reduces (E15, E30). */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

/* NCCL's rings: what is fixed and one latency a hop; bytes at the link's share; and the filling of a pipeline whose chunks balance the
 * two, their geometric mean. */
static double nccl(const struct fd_params *p, double devices, double bytes, double link, double latency_s)
{
    const double fixed_s = 6e-6, hops = 2 * (devices - 1), waiting = fixed_s + hops * latency_s;
    const double moving = hops / devices * bytes / (link * p->link_share);
    return waiting + moving + sqrt(waiting * moving);
}

/* A kernel of the engine itself, in a graph: every device reads what it adds from all others, all of it in one go, or its part in two. */
static double one_shot(const struct fd_params *p, double devices, double bytes, double link, double latency_s)
{
    const double fixed_s = 4e-6, rate = link * p->link_share;
    const double once = latency_s + (devices - 1) * bytes / rate,
                 twice = 2 * latency_s + 2 * (devices - 1) / devices * bytes / rate;
    return fixed_s + dse_min(once, twice);
}

double fd_allreduce(const struct fd_params *p, double devices, double bytes, double link_gbs, double latency_us)
{
    const double link = link_gbs * DSE_GIGA, latency_s = latency_us / DSE_US_PER_S, hops = 2 * (devices - 1);
    if (devices <= 1) return 0;
    const double ring = hops * (bytes / (devices * link) + latency_s);
    if (p->collectives == FD_RING) return ring;
    const double by_nccl = nccl(p, devices, bytes, link, latency_s);
    return p->collectives == FD_NCCL ? by_nccl : dse_min(by_nccl, one_shot(p, devices, bytes, link, latency_s));
}
