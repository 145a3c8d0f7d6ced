/* What kernels of GPUs ask that is no equation: how experts are dealt out, how attention is split over blocks, exchanges beyond a
 * system (models/flashdecoding/README.md, E13, E22, E31, E40). */
#include "graph/primitive_internal.h"

#include <dse/deal.h>
#include <dse/power.h>
#include <dse/units.h>

#include <string.h>

/* ---- experts (E31) ----------------------------------------------------------------------------------------------------------- */

/* Tokens, experts that are routed to and that each token chooses, groups of devices; experts of a profile with work and their rows;
 * whether rows that rounding leaves over go to neighbours. */
static struct dse_deal deal_of(const struct groups *g, const double *a)
{
    return (struct dse_deal){.routing = (enum dse_routing)g->workload->routing,
                             .exponent = g->workload->routing_exponent,
                             .tokens = a[0],
                             .experts = (int64_t)a[1],
                             .chosen = (int64_t)a[2],
                             .groups = (int64_t)a[3],
                             .touched = a[4],
                             .own = a[5],
                             .to_neighbours = a[6] != 0};
}

static bool is_deal(const double *a)
{
    const double most = 1e12;
    return a[0] > 0 && a[0] <= most && a[1] >= 1 && a[1] <= DSE_DEALT_MAX && a[2] >= 1 && a[2] <= a[1] && a[3] >= 1 &&
           a[3] <= most && a[4] >= 0 && a[4] <= most && a[5] >= 0 && a[5] <= most;
}

enum { DEAL_RESULTS = 6 };
static const double deal_rows[DEAL_RESULTS - 2] = {16, 64, 128, 256};

POINT(deal)
{
    struct dse_dealt dealt;
    for (int i = 0; i < DEAL_RESULTS; i++) ret[i] = (double)NAN;
    if (!is_deal(a)) return;
    const struct dse_deal of = deal_of(g, a);
    dse_deal_at(&of, &dealt);
    ret[0] = dealt.n;
    ret[1] = dealt.own;
    for (int i = 2; i < DEAL_RESULTS; i++) ret[i] = dse_dealt_tiles(&dealt, deal_rows[i - 2]);
}

/* What all experts get alike grows with the tokens, and so does how many get any; by a profile, with those that it says. */
BOX(deal_box)
{
    double lo[PRIMITIVE_ARGUMENTS_MAX] = {0}, hi[PRIMITIVE_ARGUMENTS_MAX] = {0};
    struct dse_dealt few, many;
    bool single = true, known = true;
    for (int i = 0; i < DEAL_RESULTS; i++) ret[i] = (struct graph_range){0, (double)INFINITY, false, false};
    for (int i = 0; i < 7; i++) {
        lo[i] = a[i].lo;
        hi[i] = a[i].hi;
        single = single && is_one(&a[i]);
        known = known && !a[i].none && (i == 0 || i == 4 || i == 5 || is_one(&a[i]));
    }
    const bool alike =
        g->lo.workload->routing == g->hi.workload->routing && g->lo.workload->routing_exponent == g->hi.workload->routing_exponent;
    const bool even = g->lo.workload->routing != DSE_ROUTING_POWER_LAW;
    if (!known || !alike || !is_deal(lo) || !is_deal(hi) || (!single && !even)) return;
    const struct dse_deal least = deal_of(&g->lo, lo), most = deal_of(&g->hi, hi);
    dse_deal_at(&least, &few);
    dse_deal_at(&most, &many);
    ret[0] = hull(few.n, many.n);
    ret[1] = hull(few.own, many.own);
    for (int i = 2; i < DEAL_RESULTS; i++)
        ret[i] = hull(dse_dealt_tiles(&few, deal_rows[i - 2]), dse_dealt_tiles(&many, deal_rows[i - 2]));
}

/* ---- attention that is split over blocks (E13, E22) -------------------------------------------------------------------------- */

enum { SPLITS_MAX = 128 };

static bool are_positive(const double *a, int n)
{
    bool ret = true;
    for (int i = 0; i < n; i++) ret = ret && a[i] > 0 && a[i] < 1e300;
    return ret;
}

POINT(flash2_splits)
{
    (void)g;
    ret[0] = are_positive(a, 3) ? dse_flash2_splits(a[0], a[1], a[2]) : (double)NAN;
}

BOX(flash2_splits_box)
{
    (void)g;
    const double ends[] = {a[0].lo, a[1].lo, a[2].lo};
    ret[0] = (struct graph_range){1, SPLITS_MAX, false, false};
    if (is_one(&a[0]) && is_one(&a[1]) && is_one(&a[2]) && are_positive(ends, 3))
        ret[0] = range_of(dse_flash2_splits(ends[0], ends[1], ends[2]));
    else if (!a[2].none && a[2].hi >= 1)
        ret[0].hi = dse_min(SPLITS_MAX, a[2].hi);
}

/* Positions, those of a tile, KV heads of all sequences, bytes; all bytes at the bandwidth of all, computing; blocks that run at a
 * time, what one draws; latencies of the memory and of the sum, the sum of one part; positions of a block, or 0. */
struct decode {
    double n, tile, groups, bytes, peak_s, compute_s, slots, block_stream, memory_s, sum_s, part_s, given;
};

static struct decode decode_of(const double *a)
{
    return (struct decode){a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]};
}

struct split {
    double load_s, fixed_s;
};

static struct split split_at(const struct decode *d, double splits)
{
    const double tiles = dse_ceil(d->n / d->tile), each = dse_ceil(tiles / splits), blocks = d->groups * dse_ceil(tiles / each);
    const double waves = dse_ceil(blocks / d->slots), block_bytes = d->bytes / d->groups * dse_min(1, each * d->tile / d->n);
    const double filled = dse_min(1, splits * d->tile / d->n) * dse_min(d->peak_s, d->compute_s);
    return (struct split){.load_s = dse_max(d->peak_s, waves * block_bytes / d->block_stream),
                          .fixed_s = waves * d->memory_s + filled + d->sum_s + splits * d->part_s};
}

static double given_splits(const struct decode *d)
{
    const double tiles = dse_ceil(d->n / d->tile);
    return d->given > 0 ? dse_ceil(tiles / dse_ceil(dse_min(d->given, d->n) / d->tile)) : 0;
}

/* The fastest number of splits; once the bandwidth of all is drawn, or computing takes longer, more cannot help. */
static struct split fastest_split(const struct decode *d)
{
    const double fixed = given_splits(d), last = dse_min(dse_ceil(d->n / d->tile), SPLITS_MAX),
                 least = dse_max(d->peak_s, d->compute_s);
    struct split best = {(double)NAN, (double)NAN};
    double best_s = (double)INFINITY;
    for (int splits = 1; splits <= (int)last; splits++) {
        const struct split at = split_at(d, fixed > 0 ? fixed : (double)splits);
        const double seconds = dse_max(at.load_s, d->compute_s) + at.fixed_s;
        if (seconds < best_s) {
            best_s = seconds;
            best = at;
        }
        if (fixed > 0 || at.load_s <= least) break;
    }
    return best;
}

POINT(decode)
{
    (void)g;
    const struct decode d = decode_of(a);
    const bool known =
        are_positive(a, 3) && are_positive(a + 6, 2) && a[3] >= 0 && a[4] >= 0 && a[5] >= 0 && a[8] >= 0 && a[9] >= 0 && a[10] >= 0;
    const struct split best = known ? fastest_split(&d) : (struct split){(double)NAN, (double)NAN};
    ret[0] = best.load_s;
    ret[1] = best.fixed_s;
    ret[2] = dse_max(best.load_s, d.compute_s) + best.fixed_s;
}

/* The least and the most that a number of splits takes, whichever of a box's points it is of. */
struct split_range {
    struct dse_interval load, fixed, seconds;
};

static struct split_range split_between(const struct decode *lo, const struct decode *hi, double least, double most)
{
    const double few = dse_ceil(lo->n / hi->tile), many = dse_ceil(hi->n / lo->tile);
    const double each_lo = dse_ceil(few / most), each_hi = dse_ceil(many / least);
    const double blocks_lo = lo->groups * dse_max(1, dse_min(least, few) > 1 ? dse_ceil(few / each_hi) : 1),
                 blocks_hi = hi->groups * dse_min(dse_ceil(many / dse_ceil(few / most)), dse_min(most, many));
    const double waves_lo = dse_ceil(blocks_lo / hi->slots), waves_hi = dse_ceil(blocks_hi / lo->slots);
    const double row_lo = lo->bytes / hi->groups, row_hi = hi->bytes / lo->groups;
    const double part_lo = dse_min(1, each_lo * lo->tile / hi->n), part_hi = dse_min(1, each_hi * hi->tile / lo->n);
    const double filled_lo = dse_min(1, least * lo->tile / hi->n) * dse_min(lo->peak_s, lo->compute_s),
                 filled_hi = dse_min(1, most * hi->tile / lo->n) * dse_min(hi->peak_s, hi->compute_s);
    struct split_range r;
    r.load = dse_iv(dse_max(lo->peak_s, waves_lo * row_lo * part_lo / hi->block_stream),
                    dse_max(hi->peak_s, waves_hi * row_hi * part_hi / lo->block_stream));
    r.fixed = dse_iv(waves_lo * lo->memory_s + filled_lo + lo->sum_s + least * lo->part_s,
                     waves_hi * hi->memory_s + filled_hi + hi->sum_s + most * hi->part_s);
    r.seconds = dse_iv(dse_max(r.load.lo, lo->compute_s) + r.fixed.lo, dse_max(r.load.hi, hi->compute_s) + r.fixed.hi);
    return r;
}

static struct graph_range around(double lo, double hi)
{
    return (struct graph_range){dse_below(lo, 16), dse_above(hi, 16), false, false};
}

BOX(decode_box)
{
    (void)g;
    double least[PRIMITIVE_ARGUMENTS_MAX], most[PRIMITIVE_ARGUMENTS_MAX];
    for (int i = 0; i < 3; i++) ret[i] = (struct graph_range){0, (double)INFINITY, true, false};
    bool single = true;
    for (int i = 0; i < 12; i++) {
        if (a[i].none || !(a[i].lo >= 0) || isinf(a[i].hi)) return;
        least[i] = a[i].lo;
        most[i] = a[i].hi;
        single = single && is_one(&a[i]);
    }
    if (!are_positive(least, 3) || !are_positive(least + 6, 2)) return;
    const struct decode lo = decode_of(least), hi = decode_of(most);
    if (single) {
        const struct split best = fastest_split(&lo);
        ret[0] = range_of(best.load_s);
        ret[1] = range_of(best.fixed_s);
        ret[2] = range_of(dse_max(best.load_s, lo.compute_s) + best.fixed_s);
        return;
    }
    const double last = dse_min(dse_ceil(hi.n / lo.tile), SPLITS_MAX), first_last = dse_min(dse_ceil(lo.n / hi.tile), SPLITS_MAX);
    struct split_range all = {{(double)INFINITY, 0}, {(double)INFINITY, 0}, {(double)INFINITY, (double)INFINITY}};
    if (lo.given > 0 && hi.given > 0) {
        const double from = dse_max(1, dse_ceil(dse_ceil(lo.n / hi.tile) / dse_ceil(dse_min(hi.given, hi.n) / lo.tile))),
                     to = dse_max(from, dse_ceil(dse_ceil(hi.n / lo.tile) / dse_ceil(dse_min(lo.given, lo.n) / hi.tile)));
        all = split_between(&lo, &hi, from, to);
    } else if (hi.given > 0) {
        return;
    }
    for (int s = 1; s <= (int)last && hi.given <= 0; s++) {
        const struct split_range r = split_between(&lo, &hi, s, s);
        all.load = dse_iv(dse_min(all.load.lo, r.load.lo), dse_max(all.load.hi, r.load.hi));
        all.fixed = dse_iv(dse_min(all.fixed.lo, r.fixed.lo), dse_max(all.fixed.hi, r.fixed.hi));
        all.seconds.lo = dse_min(all.seconds.lo, r.seconds.lo);
        if (s <= (int)first_last) all.seconds.hi = dse_min(all.seconds.hi, r.seconds.hi);
    }
    ret[0] = around(all.load.lo, dse_min(all.load.hi, all.seconds.hi));
    ret[1] = around(all.fixed.lo, dse_min(all.fixed.hi, all.seconds.hi));
    ret[2] = around(all.seconds.lo, all.seconds.hi);
}

/* ---- exchanges (E40) --------------------------------------------------------------------------------------------------------- */

/* A kind, devices, stride, bytes, imbalance; rate, latency and number of the devices that links join; the rate of a host that joins
 * the others, or 0: the network of a[9] does; start and share of filling. */
struct way {
    struct dse_links links;
    struct dse_interconnect host;
};

static bool is_way(const double *a)
{
    const double most = 1e9, bytes = 1e18;
    const bool kind = a[0] >= 0 && a[0] < DSE_COLLECTIVES && a[0] == floor(a[0]);
    return kind && a[1] >= 0 && a[1] <= most && (a[2] >= 1 || a[1] <= 1) && a[2] <= most && a[3] >= 0 && a[3] <= bytes &&
           a[4] >= 0 && a[4] <= most && a[5] > 0 && a[5] < bytes && a[6] >= 0 && a[6] < most && a[7] >= 1 && a[7] < most &&
           a[8] >= 0 && a[8] < bytes && a[10] >= 0 && a[10] < most && a[11] >= 0 && a[11] < most;
}

static void way_of(const struct groups *g, const double *a, struct way *ret)
{
    ret->host = (struct dse_interconnect){.link_gbs = a[8] / DSE_GIGA,
                                          .link_share = 1,
                                          .link_latency_us = a[6] * DSE_US_PER_S,
                                          .linked_devices = INT32_MAX,
                                          .link_topology = DSE_LINK_SWITCH};
    ret->links = (struct dse_links){.link_gbs = a[5] / DSE_GIGA,
                                    .link_share = 1,
                                    .link_latency_us = a[6] * DSE_US_PER_S,
                                    .linked_devices = (int64_t)a[7],
                                    .link_topology = DSE_LINK_SWITCH,
                                    .outer_interconnect = a[8] > 0 ? &ret->host : primitive_entry(g, a[9]),
                                    .allreduce = a[8] > 0 ? DSE_ALLREDUCE_RING : DSE_ALLREDUCE_SWITCH,
                                    .collective_start_us = a[10] * DSE_US_PER_S,
                                    .collective_fill_share = a[11]};
}

static struct dse_exchange exchange_of(const double *a)
{
    return (struct dse_exchange){
        .kind = (enum dse_collective)a[0], .devices = a[1], .stride = a[2], .bytes = a[3], .imbalance = a[4]};
}

POINT(boards)
{
    struct way w;
    struct dse_exchange_cost cost;
    ret[0] = ret[1] = ret[2] = (double)NAN;
    if (!is_way(a)) return;
    const struct dse_exchange x = exchange_of(a);
    way_of(g, a, &w);
    dse_exchange_at(&w.links, &x, &cost);
    ret[0] = cost.seconds;
    ret[1] = cost.bytes - cost.beyond_bytes;
    ret[2] = cost.beyond_bytes;
}

BOX(boards_box)
{
    double least[PRIMITIVE_ARGUMENTS_MAX], most[PRIMITIVE_ARGUMENTS_MAX];
    struct way slow, fast;
    struct dse_exchange_bound b;
    bool single = true;
    for (int i = 0; i < 3; i++) ret[i] = (struct graph_range){0, (double)INFINITY, true, false};
    for (int i = 0; i < 12; i++) {
        if (!positive(a[i])) return;
        least[i] = a[i].lo;
        most[i] = a[i].hi;
        single = single && is_one(&a[i]);
    }
    if (least[0] != most[0] || !is_way(least) || !is_way(most) || (least[8] > 0) != (most[8] > 0)) return;
    if (single) {
        double at[PRIMITIVE_RESULTS_MAX];
        primitive_boards(&g->lo, least, at);
        for (int i = 0; i < 3; i++) ret[i] = range_of(at[i]);
        return;
    }
    const struct dse_exchange few = exchange_of(least), many = exchange_of(most);
    const double host = least[8];
    least[8] = most[8];
    most[8] = host;
    way_of(&g->lo, least, &slow);
    way_of(&g->hi, most, &fast);
    dse_exchange_bound(&slow.links, &fast.links, &few, &many, &b);
    ret[0] = range_iv(b.seconds);
    ret[1] = ret[2] = around(0, b.bytes.hi);
}

/* ---- the board (E26) --------------------------------------------------------------------------------------------------------- */

/* Energy of a bit's way between the DRAM and an SM of the GPU a[0], whose die has a[1] square metres, a byte. */
POINT(gpu_way)
{
    const struct dse_gpu *gpu = primitive_entry(g, a[0]);
    ret[0] = a[1] >= 0 ? dse_gpu_way_pj_per_bit(g->economics->costs, gpu->make.kind, a[1] * 1e6) * DSE_PICO * DSE_BITS_PER_BYTE
                       : (double)NAN;
}

BOX(gpu_way_box)
{
    double lo, hi;
    const double least[] = {a[0].lo, a[1].lo}, most[] = {a[0].lo, a[1].hi};
    ret[0] = range_unknown;
    if (a[1].none || !(a[1].lo >= 0)) return;
    primitive_gpu_way(&g->lo, least, &lo);
    primitive_gpu_way(&g->hi, most, &hi);
    ret[0] = hull(lo, hi);
}
