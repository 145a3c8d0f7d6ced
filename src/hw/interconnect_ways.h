/* The ways of an exchange, for its closed form and its bound. */
#ifndef DSE_HW_INTERCONNECT_WAYS_H
#define DSE_HW_INTERCONNECT_WAYS_H

#include <dse/interconnect.h>

enum way { WAY_RING, WAY_TWO_SHOT, WAY_ONE_SHOT, WAY_SWITCH, WAY_TREE, WAYS };

/* Who takes part where: n = island devices of each of `islands`, but for the last. */
struct group {
    double n, island, islands;
};
struct group group_of(const struct dse_exchange *x, double linked_devices);

/* The ways that `allreduce` allows for the exchange, the first of which always is there; returns how many. */
int ways_of(const struct dse_links *l, const struct dse_exchange *x, const struct group *g, enum way ret[WAYS]);
void plan_by(const struct dse_links *l, const struct dse_exchange *x, const struct group *g, enum way way,
             struct dse_exchange_plan *ret);
/* Bytes of a plan that leave a device, and joules of them. */
double plan_bytes(const struct dse_exchange_plan *plan, bool beyond);
double plan_joules(const struct dse_links *l, const struct dse_exchange_plan *plan);

#endif
