/* Exchanges over links in closed form: dse/interconnect.h. Equations I1 to I9 stand in docs/explanation/interconnects.md. */
#include "hw/interconnect_ways.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

/* Links of one kind, among the `joined` devices that they join. */
struct level {
    bool beyond;
    double rate, reduce_rate; /* bytes a second */
    double latency_s, reduce_s;
    double joined;
    int32_t topology;
};

static struct level island_of(const struct dse_links *l)
{
    return (struct level){.rate = l->link_gbs * l->link_share * DSE_GIGA,
                          .reduce_rate = l->link_gbs * l->link_reduce_share * DSE_GIGA,
                          .latency_s = l->link_latency_us / DSE_US_PER_S,
                          .reduce_s = l->link_reduce_us / DSE_US_PER_S,
                          .joined = (double)l->linked_devices,
                          .topology = l->link_topology};
}

static struct level beyond_of(const struct dse_links *l)
{
    const struct dse_interconnect *b = l->outer_interconnect;
    return (struct level){.beyond = true,
                          .rate = b->link_gbs * b->link_share * DSE_GIGA,
                          .reduce_rate = b->link_gbs * b->link_reduce_share * DSE_GIGA,
                          .latency_s = b->link_latency_us / DSE_US_PER_S,
                          .reduce_s = b->link_reduce_us / DSE_US_PER_S,
                          .joined = (double)b->linked_devices,
                          .topology = b->link_topology};
}

/* ---- topologies (I2) ----------------------------------------------------------------------------------------------------- */

static double dimensions(int32_t topology)
{
    return topology == DSE_LINK_RING ? 1 : topology == DSE_LINK_TORUS_2 ? 2 : 3;
}

static bool is_direct(int32_t topology)
{
    return topology == DSE_LINK_SWITCH || topology == DSE_LINK_MESH;
}

/* Share of a device's links that n of the joined devices can use among themselves. */
static double used_share(const struct level *v, double n)
{
    if (v->topology == DSE_LINK_SWITCH || n >= v->joined) return 1;
    if (v->topology == DSE_LINK_MESH) return (n - 1) / (v->joined - 1);
    return dse_min(1, log2(n) / (2 * dimensions(v->topology)));
}

/* The same from one device to a neighbour. */
static double pair_share(const struct level *v)
{
    if (v->topology == DSE_LINK_SWITCH || v->joined <= 2) return 1;
    return v->topology == DSE_LINK_MESH ? 1 / (v->joined - 1) : 1 / (2 * dimensions(v->topology));
}

/* Devices along a side of the block that n make. */
static double side(int32_t topology, double n)
{
    return topology == DSE_LINK_RING ? n : topology == DSE_LINK_TORUS_2 ? sqrt(n) : cbrt(n);
}

/* Does a half go from everybody to everybody at once? */
static bool to_all(const struct level *v, enum way way)
{
    return is_direct(v->topology) && way != WAY_RING && way != WAY_SWITCH;
}

/* Steps of a reduce-scatter or an all-gather: round a ring, dimension by dimension of a torus, or at once. */
static double half_steps(const struct level *v, double n, enum way way)
{
    const double rounding = 1e-9;
    if (is_direct(v->topology)) return to_all(v, way) ? 1 : n - 1;
    return dse_max(1, dse_ceil(dimensions(v->topology) * (side(v->topology, n) - 1) - rounding));
}

/* Bytes over a device's links for each byte that it has for all n: what it sends, and what it hands on for others. A ring of a
 * devices is a / 4 links wide on average. */
static double alltoall_load(const struct level *v, double n)
{
    const double own = (n - 1) / n, ring_width = 4;
    if (is_direct(v->topology)) return own;
    return dse_max(own, dimensions(v->topology) * side(v->topology, n) / ring_width);
}

static double alltoall_steps(const struct level *v, double n)
{
    return is_direct(v->topology) ? 1 : dse_max(1, dse_ceil(dimensions(v->topology) * side(v->topology, n) / 2));
}

/* ---- phases -------------------------------------------------------------------------------------------------------------- */

static void add_phase(struct dse_exchange_plan *plan, const struct level *v, double n, double steps, double bytes, bool to_all)
{
    plan->phase[plan->n++] = (struct dse_exchange_phase){.beyond = v->beyond,
                                                         .steps = steps,
                                                         .bytes = bytes,
                                                         .messages = to_all ? n - 1 : 1,
                                                         .rate = v->rate * used_share(v, n),
                                                         .latency_s = v->latency_s};
}

/* A reduce-scatter or an all-gather of `bytes` among n (I3). */
static void add_half(struct dse_exchange_plan *plan, const struct level *v, double n, double bytes, enum way way)
{
    add_phase(plan, v, n, half_steps(v, n, way), (n - 1) / n * bytes, to_all(v, way));
}

/* Steps up or down a binary tree of n (I5a). */
static double tree_depth(double n)
{
    const double rounding = 1e-9;
    return dse_ceil(log2(n) - rounding);
}

/* An all-reduce of `bytes` among n (I3 to I5a). */
static void add_allreduce(struct dse_exchange_plan *plan, const struct level *v, double n, double bytes, enum way way)
{
    if (way == WAY_SWITCH) {
        add_phase(plan, v, n, 1, (1 + 1 / n) * bytes, true);
        plan->phase[plan->n - 1].rate = v->reduce_rate;
        plan->phase[plan->n - 1].latency_s += v->reduce_s;
    } else if (way == WAY_TREE)
        add_phase(plan, v, n, 2 * tree_depth(n), 2 * bytes, false);
    else if (way == WAY_ONE_SHOT)
        add_phase(plan, v, n, 1, (n - 1) * bytes, true);
    else
        add_phase(plan, v, n, 2 * half_steps(v, n, way), 2 * (n - 1) / n * bytes, to_all(v, way));
}

/* Inside of islands, between them, inside again (I7). */
static void plan_allreduce(struct dse_exchange_plan *plan, const struct level *in, const struct level *out, const struct group *g,
                           double bytes, enum way way, enum way half)
{
    if (g->islands <= 1) {
        add_allreduce(plan, in, g->island, bytes, way);
    } else if (g->island <= 1) {
        add_allreduce(plan, out, g->islands, bytes, way);
    } else {
        add_half(plan, in, g->island, bytes, half);
        add_allreduce(plan, out, g->islands, bytes / g->island, way);
        add_half(plan, in, g->island, bytes, half);
    }
}

/* The parts of an island's devices go to their like in other islands first; a reduce-scatter is the same backwards. */
static void plan_half(struct dse_exchange_plan *plan, const struct level *in, const struct level *out, const struct group *g,
                      double bytes, enum way way)
{
    if (g->islands > 1) add_half(plan, out, g->islands, bytes / g->island, way);
    if (g->island > 1) add_half(plan, in, g->island, bytes, way);
}

/* Both kinds of links at the same time (I6). */
static void plan_alltoall(struct dse_exchange_plan *plan, const struct level *in, const struct level *out, const struct group *g,
                          double bytes)
{
    plan->together = true;
    if (g->island > 1)
        add_phase(plan, in, g->island, alltoall_steps(in, g->island), alltoall_load(in, g->island) * g->island / g->n * bytes,
                  is_direct(in->topology));
    if (g->islands <= 1) return;
    const double others = (g->n - g->island) / g->n, spread = alltoall_load(out, g->islands) / ((g->islands - 1) / g->islands);
    add_phase(plan, out, g->islands, alltoall_steps(out, g->islands), others * spread * bytes, is_direct(out->topology));
}

static void plan_pair(struct dse_exchange_plan *plan, const struct level *v, double bytes)
{
    add_phase(plan, v, 2, 1, bytes, false);
    plan->phase[0].rate = v->rate * pair_share(v);
    plan->fill_share = 0; /* one hop has no pipeline to fill */
}

/* ---- ways ---------------------------------------------------------------------------------------------------------------- */

struct group group_of(const struct dse_exchange *x, double linked_devices)
{
    struct group g = {.n = x->devices};
    g.island = dse_min(g.n, dse_max(1, dse_floor(linked_devices / x->stride)));
    g.islands = dse_ceil(g.n / g.island);
    return g;
}

int ways_of(const struct dse_links *l, const struct dse_exchange *x, const struct group *g, enum way ret[WAYS])
{
    const bool out = g->islands > 1, adds = x->kind == DSE_ALL_REDUCE;
    const int32_t topology = out ? l->outer_interconnect->link_topology : l->link_topology;
    const double reduce_share = out ? l->outer_interconnect->link_reduce_share : l->link_reduce_share,
                 among = out ? g->islands : g->island;
    const bool at_once = l->allreduce == DSE_ALLREDUCE_BEST || l->allreduce == DSE_ALLREDUCE_ONE_SHOT;
    const bool by_switch = l->allreduce == DSE_ALLREDUCE_BEST || l->allreduce == DSE_ALLREDUCE_SWITCH;
    int n = 0;
    ret[n++] = at_once ? WAY_TWO_SHOT : WAY_RING;
    if (adds && at_once && is_direct(topology)) ret[n++] = WAY_ONE_SHOT;
    if (adds && by_switch && reduce_share > 0 && among > 2) ret[n++] = WAY_SWITCH;
    if (adds && l->allreduce == DSE_ALLREDUCE_SWITCH && out && topology == DSE_LINK_SWITCH && among > 2) ret[n++] = WAY_TREE;
    return n;
}

void plan_by(const struct dse_links *l, const struct dse_exchange *x, const struct group *g, enum way way,
             struct dse_exchange_plan *ret)
{
    const struct level in = island_of(l), out = beyond_of(l);
    const bool ring = l->allreduce == DSE_ALLREDUCE_RING || l->allreduce == DSE_ALLREDUCE_SWITCH;
    const enum way half = ring ? WAY_RING : WAY_TWO_SHOT;
    *ret = (struct dse_exchange_plan){
        .start_s = l->collective_start_us / DSE_US_PER_S, .fill_share = l->collective_fill_share, .island = g->island};
    switch (x->kind) {
    case DSE_ALL_REDUCE: plan_allreduce(ret, &in, &out, g, x->bytes, way, half); break;
    case DSE_REDUCE_SCATTER:
    case DSE_ALL_GATHER: plan_half(ret, &in, &out, g, x->bytes, half); break;
    case DSE_ALL_TO_ALL: plan_alltoall(ret, &in, &out, g, x->bytes * x->imbalance); break;
    default: plan_pair(ret, g->islands > 1 ? &out : &in, x->bytes); break;
    }
}

double plan_bytes(const struct dse_exchange_plan *plan, bool beyond)
{
    double sum = 0;
    for (int i = 0; i < plan->n; i++)
        if (plan->phase[i].beyond == beyond) sum += plan->phase[i].bytes;
    return sum;
}

double plan_joules(const struct dse_links *l, const struct dse_exchange_plan *plan)
{
    return DSE_PICO * DSE_BITS_PER_BYTE *
           (plan_bytes(plan, false) * l->link_pj_per_bit + plan_bytes(plan, true) * l->outer_interconnect->link_pj_per_bit);
}

/* ---- what is asked for --------------------------------------------------------------------------------------------------- */

static double filled(const struct dse_exchange_plan *plan, double waiting_s, double moving_s)
{
    return waiting_s + moving_s + (plan->fill_share > 0 ? plan->fill_share * sqrt(waiting_s * moving_s) : 0);
}

double dse_exchange_plan_seconds(const struct dse_exchange_plan *plan)
{
    double waiting = plan->start_s, moving = 0, longest = 0;
    for (int i = 0; i < plan->n; i++) {
        const struct dse_exchange_phase *p = &plan->phase[i];
        const double w = p->steps * p->latency_s, v = p->bytes / p->rate;
        waiting += w;
        moving += v;
        if (plan->together) longest = dse_max(longest, filled(plan, plan->start_s + w, v));
    }
    if (plan->n == 0) return 0;
    return plan->together ? longest : filled(plan, waiting, moving);
}

static void fastest(const struct dse_links *l, const struct dse_exchange *x, struct dse_exchange_plan *ret, double *ret_s)
{
    const struct group g = group_of(x, (double)l->linked_devices);
    enum way ways[WAYS];
    const int n = ways_of(l, x, &g, ways);
    plan_by(l, x, &g, ways[0], ret);
    *ret_s = dse_exchange_plan_seconds(ret);
    for (int i = 1; i < n; i++) {
        struct dse_exchange_plan other;
        plan_by(l, x, &g, ways[i], &other);
        const double s = dse_exchange_plan_seconds(&other);
        if (s >= *ret_s) continue;
        *ret = other;
        *ret_s = s;
    }
}

void dse_exchange_plan_at(const struct dse_links *l, const struct dse_exchange *x, struct dse_exchange_plan *ret)
{
    double s;
    *ret = (struct dse_exchange_plan){0};
    if (x->devices > 1 && x->bytes > 0) fastest(l, x, ret, &s);
}

void dse_exchange_at(const struct dse_links *l, const struct dse_exchange *x, struct dse_exchange_cost *ret)
{
    struct dse_exchange_plan plan;
    *ret = (struct dse_exchange_cost){0};
    if (x->devices <= 1 || !(x->bytes > 0)) return;
    fastest(l, x, &plan, &ret->seconds);
    ret->beyond_bytes = plan_bytes(&plan, true);
    ret->bytes = ret->beyond_bytes + plan_bytes(&plan, false);
    ret->joules = plan_joules(l, &plan);
}

const char *dse_links_check(const struct dse_links *l, double devices)
{
    static const char too_many[] = "more devices than interconnect and outer_interconnect can join";
    return devices > (double)l->linked_devices * (double)l->outer_interconnect->linked_devices ? too_many : NULL;
}

double dse_collective_seconds(const struct dse_links *l, enum dse_collective kind, double devices, double bytes)
{
    struct dse_exchange_cost cost;
    dse_exchange_at(l, &(struct dse_exchange){kind, devices, 1, bytes, 1}, &cost);
    return cost.seconds;
}
