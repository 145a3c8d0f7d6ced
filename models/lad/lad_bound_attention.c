/* The bound of LAD's attention (E8-E16), of one sequence. Sums over the heads' spread are made in plain numbers and rounded
 * outward by more than they can be off; what is subtracted is smaller than what stays. */
#include "lad_bound.h"

#include <dse/num.h>

#include <math.h>

enum { SUMMED = 512, SLOT_KINDS = 2, COUNTER_BYTES = 2 };

/* The nodes of the spread (E12), at both ends: positions that are active, fetched ahead (were there idle time for it, and as it
 * is), and seconds of the longest stage. */
struct nodes {
    int n;
    const double *weight;
    double active[2][LAD_NODES], wanted[2][LAD_NODES], fetched[2][LAD_NODES], compute_s[2][LAD_NODES];
};
enum { LO, HI };

/* Slots of a period over the sequences of the batch, or of the batch (E16): Sum of count max(hbm H, compute C). */
struct slot_kinds {
    int n;
    struct slot_kind {
        double count, hbm, compute;
    } kind[SLOT_KINDS];
};

static double sum_slots(const struct slot_kinds *s, double hbm_s, double compute_s)
{
    double sum = 0;
    for (int k = 0; k < s->n; k++) sum += s->kind[k].count * dse_max(s->kind[k].hbm * hbm_s, s->kind[k].compute * compute_s);
    return sum;
}

static double mean(const struct nodes *nodes, const double *of)
{
    double sum = 0;
    for (int i = 0; i < nodes->n; i++) sum += nodes->weight[i] * of[i];
    return sum;
}

static struct dse_interval mean_bound(const struct nodes *nodes, double of[2][LAD_NODES])
{
    return dse_widened(mean(nodes, of[LO]), mean(nodes, of[HI]), SUMMED);
}

/* ---- active positions ---------------------------------------------------------------------------------------------------- */

/* E12. A factor is x over the mean of all x, which is what the middle one falls with: x grows with the spread above it and falls
 * below, and the mean grows. */
static void factors_bound(struct dse_interval cv, struct nodes *nodes, double factor[2][LAD_NODES])
{
    struct lad_spread lo, hi;
    lad_spread_init(&hi, cv.hi);
    nodes->n = hi.nodes;
    nodes->weight = hi.weight;
    if (dse_iv_is_point(cv)) {
        for (int i = 0; i < hi.nodes; i++) factor[LO][i] = factor[HI][i] = hi.factor[i];
        return;
    }
    lad_spread_init(&lo, cv.lo);
    for (int i = 0; i < hi.nodes; i++) {
        const double middle = hi.factor[hi.nodes / 2], at_lo = lo.nodes == hi.nodes ? lo.factor[i] : 1;
        const double middle_lo = lo.nodes == hi.nodes ? lo.factor[hi.nodes / 2] : 1;
        const double x_lo = at_lo / middle_lo, x_hi = hi.factor[i] / middle;
        factor[LO][i] = dse_min(x_lo, x_hi) * middle;
        factor[HI][i] = dse_max(x_lo, x_hi) * middle_lo;
    }
}

static void active_bound(const struct lad_box *b, struct nodes *nodes)
{
    double factor[2][LAD_NODES];
    factors_bound(b->active_cv, nodes, factor);
    for (int i = 0; i < nodes->n; i++) {
        nodes->active[LO][i] = dse_min(b->at.active.lo * factor[LO][i], b->n.lo);
        nodes->active[HI][i] = dse_min(b->at.active.hi * factor[HI][i], b->n.hi);
    }
}

/* ---- compute stages ------------------------------------------------------------------------------------------------------ */

/* Cycles fall with lanes and widths, and grow with counts and with accumulator_cycles: `p` and `pt` are of the ends that belong
 * together. Only what active positions add differs among nodes. */
static struct lad_stages stages_end(const struct lad_box *b, const struct lad_params *p, const struct lad_point *pt,
                                    const struct nodes *nodes, int end, double cycles[LAD_NODES])
{
    struct dse_locality at = pt->at;
    at.active = 0;
    const bool exact = p->pipeline == LAD_EXACT;
    const struct lad_stages none = exact ? lad_stages_exact(p, b->d, pt->n, &at) : lad_stages_eq7(p, b->d, pt->n, &at);
    const double w = lad_passes(p, b->d) * lad_row_uses(p), md = (double)p->vpu_md, ac = (double)p->vpu_ac,
                 others = dse_max(none.eas, none.apid);
    struct lad_stages sum = {.eas = none.eas, .apid = none.apid};
    for (int i = 0; i < nodes->n; i++) {
        const double active = nodes->active[end][i];
        const double of_md = none.md + w * (exact ? dse_ceil(active / md) : active / md);
        const double of_ac = none.ac + w * (exact ? dse_ceil(active / ac) : active / ac);
        sum.md += nodes->weight[i] * of_md;
        sum.ac += nodes->weight[i] * of_ac;
        cycles[i] = dse_max(others, dse_max(of_md, of_ac));
    }
    return sum;
}

/* E42. */
static struct dse_interval uses_bound(const struct lad_box *b)
{
    return dse_iv(lad_row_uses(&b->lo), lad_row_uses(&b->hi));
}

/* Cycles times lanes: what a module does, whatever there is of it. Of Eq. 7 they are the work itself; whole cycles do a little
 * more, and the update of AC takes as many as if every lane had a position of its own. */
static void lanes_bound(const struct lad_box *b, struct dse_interval active, struct lad_attention_bound *a)
{
    const bool exact = b->lo.pipeline == LAD_EXACT;
    const struct dse_interval d = dse_iv_of(b->d), passes = dse_iv_ceil_div(d, b->width), three = dse_iv_of(3);
    const struct dse_interval uses = uses_bound(b), used = dse_iv_mul(active, uses);
    const struct dse_interval keys = dse_iv_mul(dse_iv_add(dse_iv_scale(b->at.centers, 2), b->at.large), uses);
    const struct dse_interval eas = dse_iv_add(dse_iv_mul(passes, keys), dse_iv_div(b->n, b->width));
    const struct dse_interval md = dse_iv_mul(passes, used);
    const struct dse_interval natural = dse_iv_mul(b->width, passes);
    const struct dse_interval lanes =
        dse_iv_is_point(b->width) ? natural : dse_iv(dse_max(natural.lo, b->d), dse_min(natural.hi, b->d + b->width.hi - 1));
    const struct dse_interval updates = dse_iv_mul(b->at.updates, dse_iv_add(d, three));
    a->eas_lanes = eas;
    a->apid_lanes = b->n;
    a->md_lanes = md;
    a->ac_lanes = dse_iv_mul(lanes, dse_iv_add(dse_iv_add(d, used), updates));
    if (!exact) return;
    const struct dse_interval up = dse_iv(0, (double)INFINITY); /* whole cycles */
    a->eas_lanes = dse_iv_both(dse_iv_mul(b->eas, a->eas), dse_iv_add(eas, up));
    a->apid_lanes = dse_iv_both(dse_iv_mul(b->apid, a->apid), dse_iv_add(b->n, up));
    a->md_lanes = dse_iv_both(dse_iv_mul(b->md, a->md), dse_iv_add(md, up));
    a->ac_lanes = dse_iv_both(dse_iv_mul(dse_iv_mul(b->width, b->ac), a->ac), dse_iv_add(a->ac_lanes, up));
}

static void stages_bound(const struct lad_box *b, struct nodes *nodes, struct lad_attention_bound *a)
{
    struct lad_params fast = b->hi, slow = b->lo;
    double cycles[2][LAD_NODES];
    fast.accumulator_cycles = b->lo.accumulator_cycles;
    slow.accumulator_cycles = b->hi.accumulator_cycles;
    fast.workload.kv_scale_bits = b->lo.workload.kv_scale_bits;
    slow.workload.kv_scale_bits = b->hi.workload.kv_scale_bits;
    const struct lad_stages lo = stages_end(b, &fast, &b->at_lo, nodes, LO, cycles[LO]);
    const struct lad_stages hi = stages_end(b, &slow, &b->at_hi, nodes, HI, cycles[HI]);
    a->eas = dse_widened(lo.eas, hi.eas, 8);
    a->apid = dse_widened(lo.apid, hi.apid, 8);
    a->md = dse_widened(lo.md, hi.md, SUMMED);
    a->ac = dse_widened(lo.ac, hi.ac, SUMMED);
    a->compute_cycles = mean_bound(nodes, cycles);
    for (int i = 0; i < nodes->n; i++) {
        nodes->compute_s[LO][i] = cycles[LO][i] / b->clock_hz.hi;
        nodes->compute_s[HI][i] = cycles[HI][i] / b->clock_hz.lo;
    }
}

/* ---- pre-fetching -------------------------------------------------------------------------------------------------------- */

/* E14: positions of a head-sample that the idle HBM time of a sequence has room for. Idle time is that of operators which compute
 * for longer than their bytes take; in bytes, so that no rate but that of computing is in it twice. */
static struct dse_interval idle_positions(const struct lad_box *b, const struct lad_op_bound *ops, int n_ops)
{
    const struct dse_interval zero = dse_iv_of(0), endless = dse_iv_of((double)INFINITY);
    struct dse_interval bytes = zero, each = dse_iv_scale(dse_iv_mul(dse_iv_mul(b->row, b->gather), b->active_share), 2);
    for (int i = 0; i < n_ops; i++) {
        if (b->lo.prefetch == LAD_PREFETCH_IDEAL ? !ops[i].is_linear : i > 0) continue;
        const struct dse_interval idle = dse_iv_sub(dse_iv_mul(ops[i].compute_s, b->stream_rate), ops[i].bytes);
        bytes = dse_iv_add(bytes, dse_iv_max(zero, idle));
    }
    if (b->lo.vain_prefetch == LAD_IGNORED) each = dse_iv_mul(each, b->at.hit_ratio);
    if (!(each.hi > 0)) return endless;
    const struct dse_interval share = dse_iv_scale(b->gather_slower, b->head_samples);
    return dse_iv_positive(dse_iv_div(dse_iv_positive(bytes), dse_iv_mul(each, share)));
}

/* E15: what fits SRAM, of the active positions; of a group, the union (E40). */
static void wanted_bound(const struct lad_box *b, double idle_hi, double idle_lo, struct nodes *nodes)
{
    const double positions_lo = (b->sram_bytes.lo - b->resident.hi) / (2 * b->row.hi),
                 positions_hi = (b->sram_bytes.hi - b->resident.lo) / (2 * b->row.lo);
    const double active_lo = (double)b->lo.resident_active, active_hi = (double)b->hi.resident_active;
    const bool limited = b->lo.prefetch == LAD_PREFETCH_LIMITED;
    const struct dse_interval share = dse_iv_mul(b->rounds, dse_iv_scale(b->active_share, (double)b->at_lo.group));
    for (int i = 0; i < nodes->n; i++) {
        const double lo = nodes->active[LO][i], hi = nodes->active[HI][i];
        const double least = dse_max(0, positions_lo - active_hi * hi) / share.hi,
                     most = dse_max(0, positions_hi - active_lo * lo) / share.lo;
        nodes->wanted[LO][i] = dse_min(lo, least);
        nodes->wanted[HI][i] = dse_min(hi, most);
        if (limited) nodes->wanted[LO][i] = dse_min(nodes->wanted[LO][i], idle_lo);
        if (limited) nodes->wanted[HI][i] = dse_min(nodes->wanted[HI][i], idle_hi);
    }
}

/* Of what is wanted, a node gets its share of the idle time: more of it the more it wants and the less others want. Returns the
 * mean of what is fetched. */
static struct dse_interval fetched_bound(const struct lad_box *b, const struct lad_op_bound *ops, int n_ops, struct nodes *nodes)
{
    for (int i = 0; i < nodes->n; i++)
        nodes->wanted[LO][i] = nodes->wanted[HI][i] = nodes->fetched[LO][i] = nodes->fetched[HI][i] = 0;
    if (b->lo.prefetch == LAD_PREFETCH_OFF) return dse_iv_of(0);
    const struct dse_interval idle = idle_positions(b, ops, n_ops);
    wanted_bound(b, idle.hi, idle.lo, nodes);
    const double all_lo = mean(nodes, nodes->wanted[LO]), all_hi = mean(nodes, nodes->wanted[HI]);
    for (int i = 0; i < nodes->n; i++) {
        const double lo = nodes->wanted[LO][i], hi = nodes->wanted[HI][i], more = nodes->weight[i] * (hi - lo);
        nodes->fetched[LO][i] = all_hi - more > idle.lo ? lo * dse_min(1, idle.lo / (all_hi - more)) : lo;
        nodes->fetched[HI][i] = all_lo + more > idle.hi ? hi * dse_min(1, idle.hi / (all_lo + more)) : hi;
    }
    return dse_widened(dse_min(all_lo, idle.lo), dse_min(all_hi, idle.hi), SUMMED);
}

/* ---- the HBM ------------------------------------------------------------------------------------------------------------- */

/* E13: bytes of a head-sample as long streams would take for them: fixed, of each active position, and of each that is fetched in
 * time of need; and the same on the bus. */
struct bytes {
    struct dse_interval fixed, active, missed;
    struct dse_interval centers, others, counters, position;
};

static struct bytes bytes_bound(const struct lad_box *b)
{
    const struct dse_interval row = dse_iv_mul(b->row, b->gather);
    const bool counted = b->lo.counters == LAD_COUNTED;
    struct bytes r = {.centers = dse_iv_mul(row, b->keys_read),
                      .others = dse_iv_scale(dse_iv_add(dse_iv_mul(b->n, b->position), b->cache), 2),
                      .counters = dse_iv_of(0),
                      .position = dse_iv_scale(dse_iv_mul(row, b->active_share), 2)};
    if (counted) r.counters = dse_iv_scale(dse_iv_i64(b->lo.intervals, b->hi.intervals), COUNTER_BYTES);
    r.fixed = dse_iv_add(dse_iv_mul(r.centers, b->gather_slower), r.others);
    r.active = dse_iv_scale(r.counters, 2);
    r.missed = dse_iv_mul(r.position, b->gather_slower);
    return r;
}

/* ---- slots --------------------------------------------------------------------------------------------------------------- */

static struct slot_kinds one_kind(double hbm, double compute)
{
    return (struct slot_kinds){.n = 1, .kind = {{1, hbm, compute}}};
}

/* With a barrier: all slots of a batch and a number of tiles, over `share` of them. */
static struct slot_kinds barrier(double batch, double tiles, double rounds, double share)
{
    const double full = rounds * tiles > batch ? rounds - 1 : rounds, rest = batch - full * tiles;
    struct slot_kinds s = {.n = 0};
    if (full > 0) s.kind[s.n++] = (struct slot_kind){full * share, tiles, 1};
    if (rest > 0) s.kind[s.n++] = (struct slot_kind){share, rest, 1};
    return s;
}

/* Slots at both ends, and those that the HBM passes in no more than the bytes of all head-samples take. Between a barrier and none
 * at all lies max(rounds C, b H) at least; at most all rounds are full, or neither waits while the other works. */
struct periods {
    struct slot_kinds lo, hi, apart;
    struct dse_interval hbm, compute; /* at most also their sum, with a barrier */
    bool may_sum;
};

static struct periods periods_of(const struct lad_box *b, bool of_sequence)
{
    const struct dse_interval batch = of_sequence ? dse_iv_of(1) : b->batch, rounds = of_sequence ? b->rounds_each : b->rounds;
    const struct dse_interval full = dse_iv_mul(b->tiles, rounds); /* head-samples of full rounds: no fewer than there are */
    const double full_lo = dse_max(full.lo, batch.lo);
    struct periods p = {.hbm = batch, .compute = rounds};
    p.apart = p.lo = one_kind(batch.lo, rounds.lo);
    p.hi = one_kind(batch.hi, rounds.hi);
    if (b->lo.slots == LAD_PARTITIONED) {
        p.lo = one_kind(full_lo, rounds.lo);
        p.hi = one_kind(full.hi, rounds.hi);
    } else if (b->lo.slots == LAD_BARRIER && dse_iv_is_point(b->batch) && dse_iv_is_point(b->tiles)) {
        p.apart = p.lo = p.hi = barrier(b->batch.lo, b->tiles.lo, b->rounds.lo, of_sequence ? 1 / b->batch.lo : 1);
    } else if (b->lo.slots == LAD_BARRIER) {
        p.hi = one_kind(full.hi, rounds.hi);
        p.may_sum = true;
    }
    return p;
}

/* The mean head's period at least. What is fetched ahead shortens it in two ways: no node by more than is fetched for it, and all
 * by no more than is fetched for all, of which each node may as well have the share k. */
static double period_lo(const struct lad_box *b, const struct nodes *nodes, const struct periods *p, const struct bytes *bytes,
                        double hits_hi)
{
    const double stream = b->stream_s.lo, hit_ratio = b->at.hit_ratio.hi, missed_hi = b->stream_s.hi * bytes->missed.hi;
    const double active_lo = mean(nodes, nodes->active[LO]), share = active_lo > 0 ? hits_hi / active_lo : 0;
    double by_node = 0, by_all = 0;
    for (int i = 0; i < nodes->n; i++) {
        const double active = nodes->active[LO][i], compute = nodes->compute_s[LO][i], k = active * share;
        const double fixed = bytes->fixed.lo + active * bytes->active.lo;
        const double missed = dse_max(active - hit_ratio * nodes->fetched[HI][i], active * (1 - hit_ratio));
        by_node += nodes->weight[i] * sum_slots(&p->lo, stream * (fixed + missed * bytes->missed.lo), compute);
        const double hbm = stream * (fixed + (active - k) * bytes->missed.lo);
        for (int j = 0; j < p->lo.n; j++) {
            const double waits = p->lo.kind[j].hbm * hbm,
                         works = p->lo.kind[j].compute * compute - dse_product(p->lo.kind[j].hbm * k, missed_hi);
            by_all += nodes->weight[i] * p->lo.kind[j].count * dse_max(waits, works);
        }
    }
    return dse_max(by_node, by_all);
}

static double period_hi(const struct lad_box *b, const struct nodes *nodes, const struct periods *p, const struct bytes *bytes)
{
    double sum = 0;
    for (int i = 0; i < nodes->n; i++) {
        const double active = nodes->active[HI][i], compute = nodes->compute_s[HI][i];
        const double missed = dse_max(0, active - b->at.hit_ratio.lo * nodes->fetched[LO][i]);
        const double hbm = b->stream_s.hi * (bytes->fixed.hi + active * bytes->active.hi + dse_product(missed, bytes->missed.hi));
        double most = sum_slots(&p->hi, hbm, compute);
        if (p->may_sum) most = dse_min(most, p->hbm.hi * hbm + p->compute.hi * compute);
        sum += nodes->weight[i] * most;
    }
    return sum;
}

static struct dse_interval period_bound(const struct lad_box *b, const struct nodes *nodes, const struct periods *p,
                                        const struct bytes *bytes, double hits_hi)
{
    return dse_widened(period_lo(b, nodes, p, bytes, hits_hi), period_hi(b, nodes, p, bytes), SUMMED);
}

/* Were nothing fetched ahead. */
static double period_apart(const struct lad_box *b, const struct nodes *nodes, const struct periods *p, const struct bytes *bytes)
{
    double sum = 0;
    for (int i = 0; i < nodes->n; i++) {
        const double active = nodes->active[LO][i];
        const double hbm = b->stream_s.lo * (bytes->fixed.lo + active * (bytes->active.lo + bytes->missed.lo));
        sum += nodes->weight[i] * sum_slots(&p->apart, hbm, nodes->compute_s[LO][i]);
    }
    return sum;
}

/* ---- all of it ----------------------------------------------------------------------------------------------------------- */

static void sum_bytes(const struct lad_box *b, const struct bytes *bytes, struct lad_attention_bound *a)
{
    const struct dse_interval of_active = dse_iv_add(bytes->others, dse_iv_scale(dse_iv_mul(a->active, bytes->counters), 2));
    const struct dse_interval missed = dse_iv_positive(dse_iv_sub(a->active, a->hits)), one = dse_iv_of(1);
    const bool counted = b->lo.vain_prefetch == LAD_COUNTED;
    const struct dse_interval vain = dse_iv_mul(a->prefetched, dse_iv_positive(dse_iv_sub(one, b->at.hit_ratio)));
    const struct dse_interval fetched = counted ? dse_iv_add(a->active, vain) : a->active; /* in need or ahead */
    const struct dse_interval d = dse_iv_of(b->d), square = dse_iv_of(b->d * b->d + 3 * b->d);
    const struct dse_interval keys = dse_iv_add(dse_iv_scale(b->at.centers, 2), b->at.large);
    const struct dse_interval used = dse_iv_mul(dse_iv_add(keys, dse_iv_scale(a->active, 2)), uses_bound(b));
    const struct dse_interval macs =
        dse_iv_add(dse_iv_add(dse_iv_mul(used, d), b->n), dse_iv_add(dse_iv_of(b->d * b->d), dse_iv_mul(b->at.updates, square)));
    const double hs = b->head_samples;
    a->centers_bytes = dse_iv_scale(bytes->centers, hs);
    a->others_bytes = dse_iv_scale(of_active, hs);
    a->active_bytes = dse_iv_scale(dse_iv_mul(bytes->position, missed), hs);
    a->prefetch_bytes = dse_iv_scale(dse_iv_mul(bytes->position, counted ? a->prefetched : a->hits), hs);
    a->period_bytes = dse_iv_add(dse_iv_add(a->centers_bytes, a->others_bytes), a->active_bytes);
    a->bytes = dse_iv_add(dse_iv_add(a->centers_bytes, a->others_bytes), dse_iv_scale(dse_iv_mul(bytes->position, fetched), hs));
    a->macs = dse_iv_scale(macs, hs);
}

static void sum_periods(const struct lad_box *b, const struct nodes *nodes, const struct bytes *bytes,
                        struct lad_attention_bound *a)
{
    const struct periods each = periods_of(b, true);
    const double fills = b->lo.fill == LAD_FILL_STEP ? 1 : b->lo.fill == LAD_FILL_LAYER ? (double)b->at_lo.llm->layers : 0;
    const struct dse_interval all =
        dse_iv_add(dse_iv_of(b->head_samples), dse_iv_div(dse_iv_of(fills * LAD_FILL_SLOTS), b->rounds));
    const struct dse_interval period = period_bound(b, nodes, &each, bytes, a->hits.hi);
    struct dse_interval of_step = dse_iv_mul(period, b->batch);
    if (!dse_iv_is_point(b->batch)) {
        const struct periods step = periods_of(b, false);
        of_step = period_bound(b, nodes, &step, bytes, a->hits.hi);
    }
    const struct dse_interval missed = dse_iv_positive(dse_iv_sub(a->active, a->hits));
    const struct dse_interval hbm = dse_iv_mul(
        b->stream_s, dse_iv_add(bytes->fixed, dse_iv_add(dse_iv_mul(a->active, bytes->active), dse_iv_mul(missed, bytes->missed))));
    a->time_s = dse_iv_mul(period, all);
    a->step_s = dse_iv_mul(of_step, all);
    a->apart_s = b->head_samples * period_apart(b, nodes, &each, bytes);
    a->slot_cycles = dse_iv_mul(dse_iv_div(of_step, b->rounds), b->clock_hz);
    a->memory_cycles = dse_iv_mul(dse_iv_mul(hbm, b->clock_hz), dse_iv_min(b->batch, b->tiles));
}

void lad_attention_bound(const struct lad_box *box, const struct lad_op_bound *ops, int n_ops, struct lad_attention_bound *ret)
{
    struct lad_attention_bound *a = ret;
    struct nodes nodes;
    const struct bytes bytes = bytes_bound(box);
    active_bound(box, &nodes);
    a->active = mean_bound(&nodes, nodes.active);
    stages_bound(box, &nodes, a);
    lanes_bound(box, a->active, a);
    a->prefetched = fetched_bound(box, ops, n_ops, &nodes);
    a->hits = dse_iv_mul(a->prefetched, box->at.hit_ratio);
    sum_bytes(box, &bytes, a);
    sum_periods(box, &nodes, &bytes, a);
}
