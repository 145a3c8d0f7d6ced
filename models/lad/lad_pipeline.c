/* LAD's attention: the paper's counts (E1-E7), the compute stages, the bytes of the memory stages, the spread over heads, pre-
 * fetching and the slots of an attention period (E8-E16). */
#include "lad_llms.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

/* ---- the paper's equations ---------------------------------------------------------------------------------------------- */

double lad_cache_elements(double d)
{
    return d * d + 3 * d + 2; /* A: d x d; B, C, D: d each; E, F */
}

double lad_kv_elements(double positions, double d)
{
    return 2 * positions * d;
}

double lad_macs_text(double d, double active)
{
    return (d + 4 * active) * d; /* qA; q k^T and three weighted sums of v */
}

double lad_macs_hardware(double d, double active)
{
    return d * d + 2 * active * d; /* qA; q k^T in the MD; one weighted sum in the AC */
}

double lad_coefficient_entries(double intervals)
{
    return 2 * intervals; /* a and b */
}

double lad_passes(const struct lad_params *p, double d)
{
    return dse_ceil(d / (double)p->vpu_width);
}

double lad_row_uses(const struct lad_params *p)
{
    return 1 + dse_cache_widening(&p->workload) / DSE_OPS_PER_MAC;
}

struct lad_stages lad_stages_eq7(const struct lad_params *p, double d, double n, const struct dse_locality *at)
{
    double w = lad_passes(p, d), uses = lad_row_uses(p);
    return (struct lad_stages){
        .eas = (w * (2 * at->centers + at->large) * uses + n / (double)p->vpu_width) / (double)p->vpu_eas,
        .apid = n / (double)p->apid_width,
        .md = w * at->active * uses / (double)p->vpu_md,
        .ac = w * (d + at->active * uses + at->updates * d + 3 * at->updates) / (double)p->vpu_ac,
    };
}

/* What active positions add to the stages of a head that has none; w: passes of a row that is used. */
static void add_active(const struct lad_params *p, double w, double active, struct lad_stages *s)
{
    s->md += w * dse_ceil(active / (double)p->vpu_md);
    s->ac += w * dse_ceil(active / (double)p->vpu_ac);
}

struct lad_stages lad_stages_exact(const struct lad_params *p, double d, double n, const struct dse_locality *at)
{
    double w = lad_passes(p, d), used = w * lad_row_uses(p), eas = (double)p->vpu_eas, ac = (double)p->vpu_ac,
           load = (double)p->accumulator_cycles;
    double update = dse_max(1, dse_ceil(at->updates / ac)); /* AC.5 to AC.8: the lanes share U; at least one position ages a step */
    struct lad_stages s = {
        .eas =
            used * (2 * dse_ceil(at->centers / eas) + dse_ceil(at->large / eas)) + w + dse_ceil(n / ((double)p->vpu_width * eas)),
        .apid = dse_ceil(n / (double)p->apid_width),
        .ac = w * (dse_ceil(d / ac) + 2) + w * (d + 3) * (update + load),
    };
    add_active(p, used, at->active, &s);
    return s;
}

/* ---- grouped queries ------------------------------------------------------------------------------------------------------ */

/* (1 - (1 - y)^g) / (g y) with y the density behind the newest, as the mean of the powers of 1 - y below g; and 1 / g of the
 * newest. */
double lad_union_share(double n, double count, double newest, int64_t heads)
{
    if (heads == 1) return 1;
    const double same = dse_min(newest, count), each = 1 / (double)heads;
    if (same >= n) return each;
    double others = 1 - (count - same) / (n - same), sum = 1;
    for (int64_t i = 1; i < heads; i++) sum = 1 + others * sum;
    const double share = sum / (double)heads;
    return same > 0 ? share - same / count * (share - each) : share;
}

double lad_keys_read(const struct lad_point *pt)
{
    const struct dse_locality *at = &pt->at;
    return at->centers / (double)pt->group + at->large * lad_union_share(pt->n, at->large, 0, pt->group);
}

double lad_active_share(const struct lad_point *pt)
{
    return lad_union_share(pt->n, pt->at.active, pt->newest, pt->group);
}

/* Bytes of SRAM in which the active keys and values of the other heads of a group stay, beside those of a head. */
static double others_bytes(const struct lad_point *pt)
{
    if (pt->group == 1) return 0;
    const double others = (double)(pt->group - 1);
    return 2 * pt->row_bytes * others * pt->at.active * lad_union_share(pt->n, pt->at.active, pt->newest, pt->group - 1);
}

/* Keys of the centers and large modes of a group. */
static double resident_keys(const struct lad_point *pt)
{
    return pt->at.centers + (double)pt->group * pt->at.large * lad_union_share(pt->n, pt->at.large, 0, pt->group);
}

/* ---- SRAM ---------------------------------------------------------------------------------------------------------------- */

double lad_sram_resident(const struct lad_point *pt, double batch)
{
    const struct lad_params *p = pt->p;
    if (!pt->is_simple) return lad_llms_resident(pt, batch);
    double activations = batch * (double)pt->llm->hidden * (double)p->cache_bits / DSE_BITS_PER_BYTE;
    if (!pt->locality_aware) return (double)p->resident_activations * activations;
    return (double)p->resident_g * pt->n * pt->position_bytes + (double)p->resident_centers * pt->row_bytes * resident_keys(pt) +
           (double)p->resident_caches * pt->cache_bytes + (double)p->resident_activations * activations + others_bytes(pt);
}

double lad_rounds(const struct lad_point *pt, double batch)
{
    return dse_ceil(batch / (double)pt->p->tiles);
}

/* E15: positions that fit a tile besides the pipeline's data, shared by the head-samples of a batch on that tile; every active
 * position of the pipeline takes `per_active` of them. With E40 what is there for a group is the union of its heads. */
struct room {
    double positions, per_active, share;
};

static struct room sram_room(const struct lad_point *pt, double batch, double rounds)
{
    double position = 2 * pt->row_bytes;
    return (struct room){.positions = (pt->sram_bytes - lad_sram_resident(pt, batch)) / position,
                         .per_active = (double)pt->p->resident_active,
                         .share = 1 / (rounds * (double)pt->group * lad_active_share(pt))};
}

static double room_left(const struct room *r, double active)
{
    return dse_max(0, r->positions - r->per_active * active) * r->share;
}

double lad_room(const struct lad_point *pt, double batch, double rounds, double active)
{
    struct room room = sram_room(pt, batch, rounds);
    return room_left(&room, active);
}

/* ---- the spread over heads ------------------------------------------------------------------------------------------------- */

/* E12: weights exp(-z^2 / 2), normalised, of the nodes z = -1.8, -1.2, -0.8, -0.5, -0.25, 0, 0.25, 0.5, 0.8, 1.2, 1.8. */
static const double node_weights[LAD_NODES] = {
    0.026298619850100468, 0.06468416720244104, 0.09649743817895896, 0.11727439678700244, 0.1288007273297286,   0.132889301303537,
    0.1288007273297286,   0.11727439678700244, 0.09649743817895896, 0.06468416720244104, 0.026298619850100468,
};

/* u to the powers 36, 24, 16, 10, 5: z = 1.8, 1.2, 0.8, 0.5, 0.25. */
static void powers(double u, double ret[LAD_NODES / 2])
{
    double u2 = u * u, u4 = u2 * u2, u8 = u4 * u4, u16 = u8 * u8;
    ret[4] = u4 * u;
    ret[3] = ret[4] * ret[4];
    ret[2] = u16;
    ret[1] = u16 * u8;
    ret[0] = u16 * u16 * u4;
}

/* Factors exp(s z) over their mean, s^2 = ln(1 + cv^2): |J| of a head over that of the mean head. One exp: the nodes are
 * powers of u = exp(s / 20). */
void lad_spread_init(struct lad_spread *ret, double cv)
{
    if (cv <= 0) {
        static const double all = 1;
        *ret = (struct lad_spread){.weight = &all, .factor = {1}, .nodes = 1};
        return;
    }
    double u = exp(sqrt(log1p(cv * cv)) / 20), up[LAD_NODES / 2], down[LAD_NODES / 2];
    powers(u, up);
    powers(1 / u, down);
    double mean = node_weights[LAD_NODES / 2];
    for (int i = 0; i < LAD_NODES / 2; i++) mean += node_weights[i] * (up[i] + down[i]);
    double over_mean = 1 / mean;
    ret->nodes = LAD_NODES;
    ret->weight = node_weights;
    for (int i = 0; i < LAD_NODES / 2; i++) {
        ret->factor[i] = down[i] * over_mean;
        ret->factor[LAD_NODES - 1 - i] = up[i] * over_mean;
    }
    ret->factor[LAD_NODES / 2] = over_mean;
}

/* ---- pre-fetching --------------------------------------------------------------------------------------------------------- */

/* The nodes of the spread: active and pre-fetched positions of a head-sample, cycles of its stages. */
struct plan {
    double active[LAD_NODES], fetched[LAD_NODES];
    struct lad_stages stages[LAD_NODES];
};

/* E14. Of the fetched positions hit_ratio are active again. The time of QKV periods is there head by head; that of all
 * linear layers is shared by the heads as they need it. */
static void plan_prefetch(const struct lad_point *pt, const struct lad_spread *spread, double batch, double rounds, double idle_s,
                          struct plan *plan)
{
    int32_t mode = pt->p->prefetch;
    struct room room = sram_room(pt, batch, rounds);
    double bytes = 2 * pt->row_bytes * pt->gather_factor * lad_active_share(pt); /* of one position */
    if (pt->p->vain_prefetch == LAD_IGNORED) bytes *= pt->at.hit_ratio;
    double slack = idle_s / (pt->gather_s * pt->head_samples * batch), wanted = 0;
    for (int i = 0; i < spread->nodes; i++) {
        double active = dse_min(pt->at.active * spread->factor[i], pt->n);
        double fetched = mode == LAD_PREFETCH_OFF ? 0 : dse_min(active, room_left(&room, active));
        if (mode == LAD_PREFETCH_LIMITED && fetched * bytes > slack) fetched = slack / bytes;
        plan->active[i] = active;
        plan->fetched[i] = fetched;
        wanted += spread->weight[i] * fetched * bytes;
    }
    if (wanted <= slack) return;
    for (int i = 0; i < spread->nodes; i++) plan->fetched[i] *= slack / wanted;
}

/* ---- an attention period -------------------------------------------------------------------------------------------------- */

/* E16: an attention period is at most two kinds of slots: `count` of them, each as long as `hbm` head-samples keep the HBM busy or
 * `compute` pass the longest stage, whichever is longer. */
struct slots {
    double count, hbm, compute;
};

static void period_slots(const struct lad_point *pt, double batch, double rounds, struct slots ret[2])
{
    double tiles = (double)pt->p->tiles, full = rounds * tiles > batch ? rounds - 1 : rounds, rest = batch - full * tiles;
    ret[1] = (struct slots){0};
    switch (pt->p->slots) {
    case LAD_PARTITIONED: ret[0] = (struct slots){rounds, tiles, 1}; break;
    case LAD_BARRIER:
        ret[0] = (struct slots){full, tiles, 1};
        if (rest > 0) ret[1] = (struct slots){1, rest, 1};
        break;
    default: ret[0] = (struct slots){1, batch, rounds}; break;
    }
}

static enum lad_stage longest(const struct lad_stages *s)
{
    enum lad_stage at = LAD_EAS;
    double most = s->eas;
    if (s->apid > most) most = s->apid, at = LAD_APID;
    if (s->md > most) most = s->md, at = LAD_MD;
    if (s->ac > most) at = LAD_AC;
    return at;
}

/* E13: bytes on the bus of one head-sample in attention periods, but for the missing active positions; and HBM seconds. */
struct traffic {
    double centers, g, caches, counters; /* read or written once; counters: of one active position */
    double position;                     /* one active position: key and value, or its share of those of its group */
    double fixed_s, active_s, missed_s;  /* whatever is active; for each active position; for each one fetched in time of need */
};

static struct traffic head_traffic(const struct lad_point *pt)
{
    double row = pt->row_bytes * pt->gather_factor;
    struct traffic t = {.centers = row * lad_keys_read(pt),
                        .g = pt->n * pt->position_bytes,
                        .caches = pt->cache_bytes,
                        .position = 2 * row * lad_active_share(pt)};
    if (pt->p->counters == LAD_COUNTED) t.counters = (double)pt->p->intervals * LAD_COUNTER_BYTES;
    t.fixed_s = t.centers * pt->gather_s + 2 * (t.g + t.caches) * pt->stream_s;
    t.active_s = 2 * t.counters * pt->stream_s;
    t.missed_s = t.position * pt->gather_s;
    return t;
}

/* ---- all heads ------------------------------------------------------------------------------------------------------------ */

struct lad_macs lad_stage_macs(const struct lad_point *pt, double active)
{
    const struct dse_locality *at = &pt->at;
    double d = pt->d, md = active * d, uses = lad_row_uses(pt->p);
    return (struct lad_macs){.eas = (2 * at->centers + at->large) * d * uses + pt->n,
                             .md = md * uses,
                             .ac = lad_macs_hardware(d, active) - md + md * (uses - 1) + at->updates * (d * d + 3 * d)};
}

/* Stages of the point's head with `active` active positions. */
static struct lad_stages stages_at(const struct lad_point *pt, double active)
{
    struct dse_locality at = pt->at;
    at.active = active;
    return pt->p->pipeline == LAD_EXACT ? lad_stages_exact(pt->p, pt->d, pt->n, &at) : lad_stages_eq7(pt->p, pt->d, pt->n, &at);
}

/* The stages of all nodes, and their mean. Only what active positions add differs; in Eq. 7 that is a line. */
static struct lad_stages plan_stages(const struct lad_point *pt, const struct lad_spread *spread, struct plan *plan)
{
    struct lad_stages none = stages_at(pt, 0), one = stages_at(pt, 1), mean = {.eas = none.eas, .apid = none.apid};
    bool line = pt->p->pipeline == LAD_EQ7;
    double w = lad_passes(pt->p, pt->d) * lad_row_uses(pt->p);
    for (int i = 0; i < spread->nodes; i++) {
        struct lad_stages s = none;
        if (line) {
            s.md += plan->active[i] * (one.md - none.md);
            s.ac += plan->active[i] * (one.ac - none.ac);
        } else {
            add_active(pt->p, w, plan->active[i], &s);
        }
        plan->stages[i] = s;
        mean.md += spread->weight[i] * s.md;
        mean.ac += spread->weight[i] * s.ac;
    }
    return mean;
}

/* Sum over the nodes of the spread: per head and period. */
static void sum_heads(const struct lad_point *pt, const struct lad_spread *spread, const struct plan *plan,
                      const struct slots slots[2], const struct traffic *t, struct lad_attention *sum)
{
    double cycle_s = 1 / pt->clock_hz, hits = pt->at.hit_ratio, exposed = 0, alone_s = 0, cycles_sum = 0, active = 0, fetched = 0;
    int kinds = slots[1].count > 0 ? 2 : 1;
    for (int i = 0; i < spread->nodes; i++) {
        const struct lad_stages *s = &plan->stages[i];
        double weight = spread->weight[i], missed = plan->active[i] - hits * plan->fetched[i];
        double cycles = dse_max(dse_max(s->eas, s->apid), dse_max(s->md, s->ac)), compute_s = cycles * cycle_s;
        double hbm_s = t->fixed_s + plan->active[i] * t->active_s + missed * t->missed_s;
        for (int k = 0; k < kinds; k++) {
            if (slots[k].hbm * hbm_s >= slots[k].compute * compute_s)
                exposed += weight * slots[k].count * slots[k].hbm * hbm_s;
            else
                sum->exposed_s[longest(s)] += weight * slots[k].count * slots[k].compute * compute_s;
        }
        cycles_sum += weight * cycles;
        alone_s += weight * hbm_s;
        active += weight * plan->active[i];
        fetched += weight * plan->fetched[i];
    }
    sum->exposed_s[LAD_HBM] = exposed;
    sum->compute_cycles = cycles_sum;
    sum->memory_cycles = alone_s * pt->clock_hz;
    sum->active = active;
    sum->prefetched = fetched;
    sum->hits = fetched * hits;
}

/* Bytes of all head-samples from the positions of the mean one. */
static void sum_bytes(const struct lad_point *pt, double head_samples, const struct traffic *t, struct lad_attention *sum)
{
    double counters = sum->active * t->counters;
    sum->centers_bytes = head_samples * t->centers;
    sum->active_bytes = head_samples * t->position * dse_max(0, sum->active - sum->hits);
    sum->stage1_bytes = sum->centers_bytes + head_samples * (2 * t->g + t->caches + counters);
    sum->stage4_bytes = sum->active_bytes + head_samples * (t->caches + counters);
    sum->others_bytes = head_samples * 2 * (t->g + t->caches + counters);
    sum->prefetch_bytes = head_samples * t->position * (pt->p->vain_prefetch == LAD_COUNTED ? sum->prefetched : sum->hits);
    struct lad_macs macs = lad_stage_macs(pt, sum->active);
    sum->macs = head_samples * (macs.eas + macs.md + macs.ac);
}

void lad_attention_at(const struct lad_point *pt, const struct lad_spread *spread, double batch, double idle_s,
                      struct lad_attention *ret)
{
    double rounds = lad_rounds(pt, batch);
    struct plan plan;
    struct slots slots[2];
    struct traffic traffic = head_traffic(pt);
    for (int i = 0; i < LAD_STAGES; i++) ret->exposed_s[i] = 0;
    plan_prefetch(pt, spread, batch, rounds, idle_s, &plan);
    ret->stages = plan_stages(pt, spread, &plan);
    period_slots(pt, batch, rounds, slots);
    sum_heads(pt, spread, &plan, slots, &traffic, ret);
    sum_bytes(pt, pt->head_samples * batch, &traffic, ret);

    double period = 0; /* of the mean head */
    for (int i = 0; i < LAD_STAGES; i++) {
        period += ret->exposed_s[i];
        ret->exposed_s[i] *= pt->head_samples;
    }
    double fills = pt->p->fill == LAD_FILL_STEP ? 1 : pt->p->fill == LAD_FILL_LAYER ? pt->layers : 0;
    ret->fill_s = fills * LAD_FILL_SLOTS * period / rounds;
    ret->time_s = pt->head_samples * period + ret->fill_s;
    double hbm_s = ret->exposed_s[LAD_HBM] / (ret->stage1_bytes + ret->stage4_bytes);
    ret->stage1_s = hbm_s * ret->stage1_bytes;
    ret->stage4_s = hbm_s * ret->stage4_bytes;
    ret->memory_cycles *= dse_min(batch, (double)pt->p->tiles);
    ret->slot_cycles = period / rounds * pt->clock_hz;
}
