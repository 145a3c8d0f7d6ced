/* LAD's attention: the paper's counts (E1-E7), the compute stages, the bytes of the memory stages, the spread over heads, pre-fetching
 * and the slots of an attention period (E8-E16). */
#include "lad.h"

#include <dse/units.h>

#include <math.h>

enum { PAPER_WINDOW = 16, COUNTER_BYTES = 2 };

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

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

/* Rows of d elements take this many passes through a VPU. */
static double passes(const struct lad_params *p, double d)
{
    return ceil(d / (double)p->vpu_width);
}

struct lad_stages lad_stages_eq7(const struct lad_params *p, double d, double n, const struct dse_locality *at)
{
    double w = passes(p, d);
    return (struct lad_stages){
        .eas = (w * (2 * at->centers + at->large) + n / (double)p->vpu_width) / (double)p->vpu_eas,
        .apid = n / (double)p->apid_width,
        .md = w * at->active / (double)p->vpu_md,
        .ac = w * (d + at->active + at->updates * d + 3 * at->updates) / (double)p->vpu_ac,
    };
}

struct lad_stages lad_stages_exact(const struct lad_params *p, double d, double n, const struct dse_locality *at)
{
    double w = passes(p, d), eas = (double)p->vpu_eas, ac = (double)p->vpu_ac, load = (double)p->accumulator_cycles;
    double update = larger(1, ceil(at->updates / ac)); /* AC.5 to AC.8: the lanes share U; at least one position ages a step */
    return (struct lad_stages){
        .eas = w * (2 * ceil(at->centers / eas) + ceil(at->large / eas) + 1) + ceil(n / ((double)p->vpu_width * eas)),
        .apid = ceil(n / (double)p->apid_width),
        .md = w * ceil(at->active / (double)p->vpu_md),
        .ac = w * (ceil(d / ac) + 1 + ceil(at->active / ac) + 1) + w * (d + 3) * (update + load),
    };
}

/* ---- SRAM ---------------------------------------------------------------------------------------------------------------- */

double lad_sram_resident(const struct lad_point *pt, double batch)
{
    const struct lad_params *p = pt->p;
    double activations = batch * (double)pt->llm->hidden * (double)p->cache_bits / DSE_BITS_PER_BYTE;
    if (!pt->locality_aware) return (double)p->resident_activations * activations;
    return (double)p->resident_g * pt->n * pt->position_bytes +
           (double)p->resident_centers * pt->row_bytes * (pt->at.centers + pt->at.large) +
           (double)p->resident_caches * pt->cache_bytes + (double)p->resident_activations * activations;
}

double lad_rounds(const struct lad_point *pt, double batch)
{
    return ceil(batch / (double)pt->p->tiles);
}

/* E15: positions that fit a tile besides the pipeline's data, shared by the head-samples of a batch on that tile; every active position of
 * the pipeline takes `per_active` of them. */
struct room {
    double positions, per_active, share;
};

static struct room sram_room(const struct lad_point *pt, double batch)
{
    double position = 2 * pt->row_bytes;
    return (struct room){.positions = (pt->sram_bytes - lad_sram_resident(pt, batch)) / position,
                         .per_active = (double)pt->p->resident_active,
                         .share = 1 / lad_rounds(pt, batch)};
}

static double room_left(const struct room *r, double active)
{
    return larger(0, r->positions - r->per_active * active) * r->share;
}

double lad_sram_positions(const struct lad_point *pt, double batch, double active)
{
    struct room r = sram_room(pt, batch);
    return room_left(&r, active);
}

/* ---- pre-fetching --------------------------------------------------------------------------------------------------------- */

/* The nodes of the spread, and what is pre-fetched for a head-sample of each: positions. */
struct plan {
    double active[LAD_NODES], fetched[LAD_NODES];
};

/* E14. Of the fetched positions hit_ratio are active again. The time of QKV periods is there head by head; that of all
 * linear layers is shared by the heads as they need it. */
static void plan_prefetch(const struct lad_point *pt, double batch, double idle_s, struct plan *plan)
{
    int32_t mode = pt->p->prefetch;
    struct room room = sram_room(pt, batch);
    double bytes = 2 * pt->row_bytes * pt->gather_factor; /* of one position */
    if (pt->p->vain_prefetch == LAD_IGNORED) bytes *= pt->at.hit_ratio;
    double slack = idle_s * pt->gather_bps / (pt->head_samples * batch), wanted = 0;
    for (int i = 0; i < pt->nodes; i++) {
        double active = smaller(pt->at.active * pt->factor[i], pt->n);
        double fetched = mode == LAD_PREFETCH_OFF ? 0 : smaller(active, room_left(&room, active));
        if (mode == LAD_PREFETCH_LIMITED && fetched * bytes > slack) fetched = slack / bytes;
        plan->active[i] = active;
        plan->fetched[i] = fetched;
        wanted += pt->weight[i] * fetched * bytes;
    }
    if (wanted <= slack) return;
    for (int i = 0; i < pt->nodes; i++) plan->fetched[i] *= slack / wanted;
}

/* ---- an attention period -------------------------------------------------------------------------------------------------- */

/* E16: an attention period is at most two kinds of slots: `count` of them, each as long as `hbm` head-samples keep the HBM busy or
 * `compute` pass the longest stage, whichever is longer. */
struct slots {
    double count, hbm, compute;
};

static void period_slots(const struct lad_point *pt, double batch, struct slots ret[2])
{
    double tiles = (double)pt->p->tiles, rounds = lad_rounds(pt, batch), full = floor(batch / tiles), rest = batch - full * tiles;
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
    double position;                     /* one active position: key and value */
    double fixed_s, active_s, missed_s;  /* whatever is active; for each active position; for each one fetched in time of need */
};

static struct traffic head_traffic(const struct lad_point *pt)
{
    double row = pt->row_bytes * pt->gather_factor;
    struct traffic t = {.centers = row * (pt->at.centers + pt->at.large),
                        .g = pt->n * pt->position_bytes,
                        .caches = pt->cache_bytes,
                        .position = 2 * row};
    if (pt->p->counters == LAD_COUNTED) t.counters = (double)pt->p->intervals * COUNTER_BYTES;
    t.fixed_s = t.centers / pt->gather_bps + 2 * (t.g + t.caches) / pt->stream_bps;
    t.active_s = 2 * t.counters / pt->stream_bps;
    t.missed_s = t.position / pt->gather_bps;
    return t;
}

/* ---- all heads ------------------------------------------------------------------------------------------------------------ */

struct lad_macs lad_stage_macs(const struct lad_point *pt, double active)
{
    const struct dse_locality *at = &pt->at;
    double d = pt->d, md = active * d;
    return (struct lad_macs){.eas = (2 * at->centers + at->large + 1) * d + pt->n,
                             .md = md,
                             .ac = lad_macs_hardware(d, active) - md + at->updates * (d * d + 3 * d)};
}

/* Stages of a head with `active` active positions. Eq. 7 is linear in them: `none` and `slope` are its values at 0 and its growth. */
static struct lad_stages stages_at(const struct lad_point *pt, const struct lad_stages *none, const struct lad_stages *slope,
                                   double active)
{
    if (pt->p->pipeline == LAD_EXACT) {
        struct dse_locality at = pt->at;
        at.active = active;
        return lad_stages_exact(pt->p, pt->d, pt->n, &at);
    }
    struct lad_stages s = *none;
    s.md += active * slope->md;
    s.ac += active * slope->ac;
    return s;
}

/* Sum over the nodes of the spread; per head and period. */
static void sum_heads(const struct lad_point *pt, const struct plan *plan, const struct slots slots[2], const struct traffic *t,
                      struct lad_attention *sum)
{
    struct dse_locality at = pt->at;
    at.active = 0;
    struct lad_stages none = lad_stages_eq7(pt->p, pt->d, pt->n, &at);
    at.active = 1;
    struct lad_stages slope = lad_stages_eq7(pt->p, pt->d, pt->n, &at);
    slope.md -= none.md;
    slope.ac -= none.ac;
    double cycle_s = 1 / pt->clock_hz;
    for (int i = 0; i < pt->nodes; i++) {
        double weight = pt->weight[i], active = plan->active[i], hits = plan->fetched[i] * pt->at.hit_ratio;
        struct lad_stages s = stages_at(pt, &none, &slope, active);
        double cycles = larger(larger(s.eas, s.apid), larger(s.md, s.ac));
        double hbm_s = t->fixed_s + active * t->active_s + (active - hits) * t->missed_s;
        for (int k = 0; k < 2; k++) {
            double hbm = slots[k].hbm * hbm_s, compute = slots[k].compute * cycles * cycle_s;
            if (hbm >= compute)
                sum->exposed_s[LAD_HBM] += weight * slots[k].count * hbm;
            else
                sum->exposed_s[longest(&s)] += weight * slots[k].count * compute;
        }
        sum->stages.eas += weight * s.eas;
        sum->stages.apid += weight * s.apid;
        sum->stages.md += weight * s.md;
        sum->stages.ac += weight * s.ac;
        sum->compute_cycles += weight * cycles;
        sum->memory_cycles += weight * hbm_s;
        sum->active += weight * active;
        sum->prefetched += weight * plan->fetched[i];
    }
    sum->hits = sum->prefetched * pt->at.hit_ratio;
}

/* Bytes of all head-samples from the positions of the mean one. */
static void sum_bytes(const struct lad_point *pt, double head_samples, const struct traffic *t, struct lad_attention *sum)
{
    double counters = sum->active * t->counters;
    sum->centers_bytes = head_samples * t->centers;
    sum->active_bytes = head_samples * t->position * (sum->active - sum->hits);
    sum->stage1_bytes = sum->centers_bytes + head_samples * (2 * t->g + t->caches + counters);
    sum->stage4_bytes = sum->active_bytes + head_samples * (t->caches + counters);
    sum->others_bytes = head_samples * 2 * (t->g + t->caches + counters);
    sum->prefetch_bytes = head_samples * t->position * (pt->p->vain_prefetch == LAD_COUNTED ? sum->prefetched : sum->hits);
    struct lad_macs macs = lad_stage_macs(pt, sum->active);
    sum->macs = head_samples * (macs.eas + macs.md + macs.ac);
}

void lad_attention_at(const struct lad_point *pt, double batch, double idle_s, struct lad_attention *ret)
{
    struct plan plan;
    struct slots slots[2];
    struct traffic traffic = head_traffic(pt);
    *ret = (struct lad_attention){0};
    plan_prefetch(pt, batch, idle_s, &plan);
    period_slots(pt, batch, slots);
    sum_heads(pt, &plan, slots, &traffic, ret);
    sum_bytes(pt, pt->head_samples * batch, &traffic, ret);

    double period = 0, rounds = lad_rounds(pt, batch); /* of the mean head */
    for (int i = 0; i < LAD_STAGES; i++) {
        period += ret->exposed_s[i];
        ret->exposed_s[i] *= pt->head_samples;
    }
    double fills = pt->p->fill == LAD_FILL_STEP ? 1 : pt->p->fill == LAD_FILL_LAYER ? (double)pt->llm->layers : 0;
    ret->fill_s = fills * LAD_FILL_SLOTS * period / rounds;
    ret->time_s = pt->head_samples * period + ret->fill_s;
    ret->stage1_s = ret->exposed_s[LAD_HBM] * ret->stage1_bytes / (ret->stage1_bytes + ret->stage4_bytes);
    ret->slot_cycles = period / rounds * pt->clock_hz;
    ret->memory_cycles *= smaller(batch, (double)pt->p->tiles) * pt->clock_hz;
}

/* ---- the point ------------------------------------------------------------------------------------------------------------ */

/* E12: nodes z of the spread, symmetric, all multiples of 0.05; weights exp(-z^2 / 2) normalised. */
static const double node_weights[LAD_NODES / 2 + 1] = {
    0.026298619850100468, 0.06468416720244104, 0.09649743817895896, 0.11727439678700244, 0.1288007273297286, 0.132889301303537,
};

/* Factors exp(s z) over their mean, s^2 = ln(1 + cv^2): |J| of a head over that of the mean head. One exp: the nodes are
 * powers of u = exp(s / 20). */
static void spread(struct lad_point *pt)
{
    double cv = pt->p->active_cv;
    if (cv <= 0) {
        pt->nodes = 1;
        pt->weight[0] = pt->factor[0] = 1;
        return;
    }
    double u = exp(sqrt(log1p(cv * cv)) / 20), u4 = u * u * (u * u), u5 = u4 * u, u8 = u4 * u4, u10 = u5 * u5, u16 = u8 * u8;
    const double up[LAD_NODES / 2] = {u16 * u16 * u4, u16 * u8, u16, u10, u5}; /* z = 1.8, 1.2, 0.8, 0.5, 0.25 */
    double mean = node_weights[LAD_NODES / 2];
    for (int i = 0; i < LAD_NODES / 2; i++) mean += node_weights[i] * (up[i] + 1 / up[i]);
    pt->nodes = LAD_NODES;
    for (int i = 0; i < LAD_NODES / 2; i++) {
        pt->weight[i] = pt->weight[LAD_NODES - 1 - i] = node_weights[i];
        pt->factor[i] = 1 / (up[i] * mean);
        pt->factor[LAD_NODES - 1 - i] = up[i] / mean;
    }
    pt->weight[LAD_NODES / 2] = node_weights[LAD_NODES / 2];
    pt->factor[LAD_NODES / 2] = 1 / mean;
}

static const char *read_profile(struct lad_point *pt)
{
    double from, to;
    dse_profile_range(pt->p->profile, &from, &to);
    if (pt->n < from || pt->n > to) return "the context is outside of the attention profile";
    pt->at = dse_profile_at(pt->p->profile, pt->n);
    double active = pt->at.active + (double)(pt->p->recent - PAPER_WINDOW); /* A4 */
    pt->at.active = smaller(pt->n, larger(active, (double)pt->p->recent));
    spread(pt);
    return NULL;
}

const char *lad_point_init(struct lad_point *ret, const struct lad_params *p)
{
    const char *why = dse_workload_check(&p->workload);
    if (why) return why;
    const struct dse_llm *llm = p->workload.llm;
    double peak = p->dram.bandwidth_gbs * DSE_GIGA, d = (double)llm->head_dim;
    double row = d * (double)p->workload.kv_bits / DSE_BITS_PER_BYTE;
    *ret = (struct lad_point){
        .p = p,
        .llm = llm,
        .locality_aware = p->decoding == LAD_LOCALITY_AWARE && p->workload.phase == DSE_DECODE,
        .n = (double)p->workload.context,
        .d = d,
        .head_samples = (double)(llm->layers * llm->heads),
        .clock_hz = p->clock_ghz * DSE_GIGA,
        .row_bytes = row,
        .cache_bytes = lad_cache_elements(d) * (double)p->cache_bits / DSE_BITS_PER_BYTE,
        .position_bytes = (double)p->position_bits / DSE_BITS_PER_BYTE,
        .stream_bps = peak * p->dram.dram_efficiency,
        .gather_factor = 1,
        .sram_bytes = p->sram_mib * DSE_MIB,
    };
    ret->gather_bps = ret->stream_bps;
    if (!ret->locality_aware) return NULL;
    if (p->gather == LAD_GATHER_ROWS) {
        ret->gather_factor = dse_dram_moved(&p->dram, 1, row);
        ret->gather_bps = peak * dse_dram_efficiency(&p->dram, row) * ret->gather_factor;
    }
    return read_profile(ret);
}
