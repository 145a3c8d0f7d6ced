/* Links between chips, and what it takes to add, gather and exchange over them: closed forms and their bounds. All pure and
 * thread-safe; docs/explanation/interconnects.md has the equations (I1 to I9) and their sources.
 *
 * A model embeds struct dse_links with DSE_EMBED(..., struct dse_links, dse_links_params), says in its defaults.toml what the
 * catalog's entry does not (interconnect, outer_interconnect, allreduce, collective_start_us, collective_fill_share), and asks
 *
 *     struct dse_exchange sums = {DSE_ALL_REDUCE, .devices = tensor, .stride = 1, .bytes = rows * hidden * 2, .imbalance = 1};
 *     struct dse_exchange_cost cost;
 *     dse_exchange_at(&p->links, &sums, &cost);
 *
 * or, at event level, what dse/net.h has. All devices are alike, and stand in a row: `linked_devices` of them are joined by
 * the interconnect (an island), islands by `outer_interconnect`. One device and its partners are told by how many take part and how
 * far apart they stand.
 */
#ifndef DSE_INTERCONNECT_H
#define DSE_INTERCONNECT_H

#include <dse/catalog.h>
#include <dse/costs.h>
#include <dse/interval.h>

/* How an all-reduce goes, and by "ring" and "one-shot" also its halves, reduce-scatter and all-gather. */
enum dse_allreduce {
    DSE_ALLREDUCE_BEST,     /* the fastest of those below that the interconnect can do */
    DSE_ALLREDUCE_RING,     /* a ring: 2 (n - 1) steps of an n-th of the bytes */
    DSE_ALLREDUCE_ONE_SHOT, /* everybody sends to everybody at once, all of it in one step, or an n-th in each of two */
    DSE_ALLREDUCE_SWITCH,   /* as NCCL does: a ring, by switches that add, or between islands by trees, whichever is faster */
};
extern const char *const dse_allreduce_names[]; /* "best", "ring", "one-shot", "switch", NULL */

/* Parameters of the links of a chip. `interconnect` sets the defaults of all rows that its entry has; `outer_interconnect` sets
 * none. */
struct dse_links {
    const struct dse_interconnect *interconnect;
    double link_gbs, link_share, link_latency_us, link_pj_per_bit;
    int64_t linked_devices;
    int32_t link_topology; /* enum dse_link_topology */
    double link_reduce_share, link_reduce_us;
    const struct dse_interconnect *outer_interconnect; /* between islands, a link a device */
    int32_t allreduce;                                 /* enum dse_allreduce */
    double collective_start_us, collective_fill_share;
};
extern const struct dse_param dse_links_params[];

enum dse_collective {
    DSE_ALL_REDUCE,     /* `bytes` of every device are summed, and every device has the sum */
    DSE_REDUCE_SCATTER, /* `bytes` of every device are summed, and every device has its part of the sum */
    DSE_ALL_GATHER,     /* every device has a part of `bytes`, and then all of them */
    DSE_ALL_TO_ALL,     /* every device has `bytes`, a part for each device */
    DSE_POINT_TO_POINT, /* `bytes` from one device to the next of the group */
    DSE_COLLECTIVES
};
extern const char *const dse_collective_names[]; /* "all-reduce", ..., NULL */

/* What is asked for. */
struct dse_exchange {
    enum dse_collective kind;
    double devices;   /* that take part; one and fewer: nothing is done */
    double stride;    /* from one of them to the next: 1 for neighbours; `tensor` for the stages or replicas of groups of so many */
    double bytes;     /* see above */
    double imbalance; /* all-to-all: bytes of the fullest device over the mean; 1 and more */
};
struct dse_exchange_cost {
    double seconds;
    double bytes;        /* that leave a device, over both kinds of links */
    double beyond_bytes; /* of them, to other islands */
    double joules;       /* of these bytes; times the devices, of all */
};

/* Grows with bytes, imbalance, latencies, collective_start_us and collective_fill_share, falls with link_gbs, link_share and
 * link_reduce_share (no increase, where another term is longer). The sum of seconds is that of the way taken; its bytes and joules
 * may jump where another way becomes the fastest. */
void dse_exchange_at(const struct dse_links *l, const struct dse_exchange *x, struct dse_exchange_cost *ret);
/* Among neighbours, without imbalance. */
double dse_collective_seconds(const struct dse_links *l, enum dse_collective kind, double devices, double bytes);

/* NULL, or why so many devices cannot be joined. A model asks in its check(). */
const char *dse_links_check(const struct dse_links *l, double devices);

/* As dse_exchange_at over a box (bound.h says what that is): numbers of links and exchange between those of lo and hi. Where
 * devices, stride and linked_devices are single values it is as tight as the ways differ; where they are not, each pair of whole
 * numbers is tried, or, if those are more than DSE_EXCHANGE_TRIED, nothing is known but that it is not negative. */
enum { DSE_EXCHANGE_TRIED = 64 };
struct dse_exchange_bound {
    struct dse_interval seconds, bytes, joules;
};
void dse_exchange_bound(const struct dse_links *lo, const struct dse_links *hi, const struct dse_exchange *x_lo,
                        const struct dse_exchange *x_hi, struct dse_exchange_bound *ret);

/* ---- what links are on a chip ---------------------------------------------------------------------------------------------- */

/* Of the links inside of an island; those beyond it are of a card or switch beside the chip. */
struct dse_links_die {
    double mm2;     /* PHYs, which do not shrink with the node, and controllers, which do; NaN where no source knows them */
    double edge_mm; /* of UCIe, whose density along an edge is known; else 0 */
    double busy_w;  /* with bytes leaving at link_gbs all the time: SerDes that are never put to sleep draw it always */
};
/* I10: as many units as link_gbs needs, of link_units for the link_gbs of the entry. All grow with link_gbs, busy_w with
 * link_pj_per_bit: over a box the ends are the bounds. */
void dse_links_die_at(const struct dse_costs *book, const struct dse_links *l, double node_nm, struct dse_links_die *ret);

/* ---- the plan that both levels follow -------------------------------------------------------------------------------------- */

/* One phase: `steps` after each other, each of which sends bytes / steps of a device over its links and takes a latency. */
struct dse_exchange_phase {
    bool beyond; /* over the links between islands */
    double steps, bytes;
    double messages;  /* that a step sends, each to another partner, of equal size */
    double rate;      /* bytes a second that leave a device in this phase */
    double latency_s; /* of a step */
};
enum { DSE_EXCHANGE_PHASES = 3 };
struct dse_exchange_plan {
    int n; /* phases */
    struct dse_exchange_phase phase[DSE_EXCHANGE_PHASES];
    bool together; /* phases go on at the same time, on links of their own; else one after the other */
    double start_s, fill_share;
    double island; /* devices of the group in an island */
};
/* The way that dse_exchange_at takes. n = 0: nothing is to be done. */
void dse_exchange_plan_at(const struct dse_links *l, const struct dse_exchange *x, struct dse_exchange_plan *ret);
/* (I1): with w, start and latencies of all steps, and v, bytes over rates: w + v + collective_fill_share sqrt(w v). */
double dse_exchange_plan_seconds(const struct dse_exchange_plan *plan);

#endif
