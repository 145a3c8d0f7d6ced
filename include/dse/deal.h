/* What kernels of GPUs share that is no formula: rows of the experts of a device, and blocks that attention is split over. All pure
 * and thread-safe. */
#ifndef DSE_DEAL_H
#define DSE_DEAL_H

#include <dse/workload.h>

#include <stdbool.h>

enum { DSE_DEALT_MAX = 1024 };

/* A layer of experts that tokens go to: models/flashdecoding/README.md, E31. */
struct dse_deal {
    enum dse_routing routing;
    double exponent;                 /* of a power law */
    double tokens;                   /* of all groups */
    int64_t experts, chosen, groups; /* routed; of a token; groups of devices that they are dealt out to */
    double touched, own;             /* by a profile of loads: experts with work on a device, and their rows; 0: by the law */
    bool to_neighbours;              /* of a power law: rows that rounding leaves over go to the first idle experts */
};
/* What each expert of the fullest device gets, in rows; experts that get none are left out. */
struct dse_dealt {
    double rows[DSE_DEALT_MAX];
    int n;
    bool even;       /* all the same */
    double all, own; /* rows of all devices: tokens times experts of a token; of those above */
};
/* Requires 1 <= chosen <= experts <= DSE_DEALT_MAX, tokens > 0. */
void dse_deal_at(const struct dse_deal *d, struct dse_dealt *ret);
/* Tiles of so many rows that all of these have, one below the other. */
double dse_dealt_tiles(const struct dse_dealt *d, double rows);

/* What FlashAttention-2 splits the positions of each of `groups` KV heads over: without need no split; else the fewest that use the
 * slots to 85 % as well as the best number does. */
double dse_flash2_splits(double groups, double slots, double tiles);

#endif
