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

/* ---- one head ------------------------------------------------------------------------------------------------------------ */

/* E13: bytes of one head-sample on the bus, by class, and its HBM time when it has the HBM alone. */
struct traffic {
    double centers, active, others; /* in attention periods */
    double stage1, stage4;          /* the same bytes by stage */
    double seconds;
};

static struct traffic head_traffic(const struct lad_point *pt, double active, double hits)
{
    double row = pt->row_bytes * pt->gather_factor;
    double counters = pt->p->counters == LAD_COUNTED ? active * (double)pt->p->intervals * COUNTER_BYTES : 0;
    double g = pt->n * pt->position_bytes;
    struct traffic t = {.centers = row * (pt->at.centers + pt->at.large), .active = 2 * row * (active - hits)};
    double streamed1 = 2 * g + pt->cache_bytes + counters, streamed4 = pt->cache_bytes + counters;
    t.others = streamed1 + streamed4;
    t.stage1 = t.centers + streamed1;
    t.stage4 = t.active + streamed4;
    t.seconds = t.others / pt->stream_bps + (t.centers + t.active) / pt->gather_bps;
    return t;
}

/* E14: positions pre-fetched for a head-sample, of which hit_ratio are active again. */
static double prefetched(const struct lad_point *pt, double batch, double active, double slack_bytes)
{
    if (pt->p->prefetch == LAD_PREFETCH_OFF) return 0;
    double bytes = 2 * pt->row_bytes * pt->gather_factor; /* of one position */
    double positions = smaller(active, lad_sram_positions(pt, batch, active));
    if (pt->p->vain_prefetch == LAD_IGNORED) bytes *= pt->at.hit_ratio;
    return positions * bytes > slack_bytes ? slack_bytes / bytes : positions;
}

double lad_rounds(const struct lad_point *pt, double batch)
{
    return ceil(batch / (double)pt->p->tiles);
}

/* E16: time of one attention period, split by what bounds its slots. */
struct period {
    double hbm_s, compute_s;
};

static void add_slots(struct period *t, double slots, double hbm_s, double compute_s)
{
    if (hbm_s >= compute_s)
        t->hbm_s += slots * hbm_s;
    else
        t->compute_s += slots * compute_s;
}

static struct period attention_period(const struct lad_point *pt, double batch, double hbm_s, double compute_s)
{
    struct period t = {0};
    double tiles = (double)pt->p->tiles, rounds = lad_rounds(pt, batch), full = floor(batch / tiles), rest = batch - full * tiles;
    switch (pt->p->slots) {
    case LAD_PARTITIONED: add_slots(&t, rounds, tiles * hbm_s, compute_s); break;
    case LAD_BARRIER:
        add_slots(&t, full, tiles * hbm_s, compute_s);
        if (rest > 0) add_slots(&t, 1, rest * hbm_s, compute_s);
        break;
    default: add_slots(&t, 1, batch * hbm_s, rounds * compute_s); break;
    }
    return t;
}

double lad_sram_resident(const struct lad_point *pt, double batch)
{
    const struct lad_params *p = pt->p;
    double activations = batch * (double)pt->llm->hidden * (double)p->cache_bits / DSE_BITS_PER_BYTE;
    if (!pt->locality_aware) return (double)p->resident_activations * activations;
    return (double)p->resident_g * pt->n * pt->position_bytes +
           (double)p->resident_centers * pt->row_bytes * (pt->at.centers + pt->at.large) +
           (double)p->resident_caches * pt->cache_bytes + (double)p->resident_activations * activations;
}

double lad_sram_positions(const struct lad_point *pt, double batch, double active)
{
    double position = 2 * pt->row_bytes;
    double free_bytes = pt->sram_bytes - lad_sram_resident(pt, batch) - (double)pt->p->resident_active * position * active;
    return larger(0, free_bytes) / (lad_rounds(pt, batch) * position);
}

/* ---- all heads ----------------------------------------------------------------------------------------------------------- */

static enum lad_stage longest(struct lad_stages s)
{
    enum lad_stage at = LAD_EAS;
    double most = s.eas;
    if (s.apid > most) most = s.apid, at = LAD_APID;
    if (s.md > most) most = s.md, at = LAD_MD;
    if (s.ac > most) at = LAD_AC;
    return at;
}

struct lad_macs lad_stage_macs(const struct lad_point *pt, double active)
{
    const struct dse_locality *at = &pt->at;
    double d = pt->d, md = active * d;
    return (struct lad_macs){.eas = (2 * at->centers + at->large + 1) * d + pt->n,
                             .md = md,
                             .ac = lad_macs_hardware(d, active) - md + at->updates * (d * d + 3 * d)};
}

/* Add the heads of one node of the spread, a share `weight` of all. */
static void add_heads(const struct lad_point *pt, double batch, double slack_bytes, double weight, double active,
                      struct lad_attention *sum)
{
    struct dse_locality at = pt->at;
    at.active = active;
    struct lad_stages s =
        pt->p->pipeline == LAD_EXACT ? lad_stages_exact(pt->p, pt->d, pt->n, &at) : lad_stages_eq7(pt->p, pt->d, pt->n, &at);
    enum lad_stage stage = longest(s);
    double cycles = larger(larger(s.eas, s.apid), larger(s.md, s.ac));
    double fetched = prefetched(pt, batch, active, slack_bytes), hits = fetched * pt->at.hit_ratio;
    struct traffic t = head_traffic(pt, active, hits);
    struct period period = attention_period(pt, batch, t.seconds, cycles / pt->clock_hz);

    sum->exposed_s[LAD_HBM] += weight * period.hbm_s;
    sum->exposed_s[stage] += weight * period.compute_s;
    sum->stage1_s += weight * period.hbm_s * (t.stage1 / (t.stage1 + t.stage4));
    sum->stage1_bytes += weight * t.stage1;
    sum->stage4_bytes += weight * t.stage4;
    sum->centers_bytes += weight * t.centers;
    sum->active_bytes += weight * t.active;
    sum->others_bytes += weight * t.others;
    sum->prefetch_bytes += weight * 2 * pt->row_bytes * pt->gather_factor * (pt->p->vain_prefetch == LAD_COUNTED ? fetched : hits);
    sum->stages.eas += weight * s.eas;
    sum->stages.apid += weight * s.apid;
    sum->stages.md += weight * s.md;
    sum->stages.ac += weight * s.ac;
    sum->compute_cycles += weight * cycles;
    sum->memory_cycles += weight * t.seconds;
    sum->active += weight * active;
    sum->prefetched += weight * fetched;
    sum->hits += weight * hits;
}

void lad_attention_at(const struct lad_point *pt, double batch, double idle_s, struct lad_attention *ret)
{
    struct lad_attention sum = {0};
    double tiles = (double)pt->p->tiles, rounds = lad_rounds(pt, batch);
    double head_samples = pt->head_samples * batch;
    double slack_bytes = idle_s * pt->gather_bps / head_samples;
    for (int i = 0; i < pt->nodes; i++)
        add_heads(pt, batch, slack_bytes, pt->weight[i], smaller(pt->at.active * pt->factor[i], pt->n), &sum);

    double period = 0; /* of the mean head */
    for (int i = 0; i < LAD_STAGES; i++) period += sum.exposed_s[i];
    double fills = pt->p->fill == LAD_FILL_STEP ? 1 : pt->p->fill == LAD_FILL_LAYER ? (double)pt->llm->layers : 0;
    sum.fill_s = fills * LAD_FILL_SLOTS * period / rounds;
    sum.time_s = pt->head_samples * period + sum.fill_s;
    sum.slot_cycles = period / rounds * pt->clock_hz;
    sum.memory_cycles *= smaller(batch, tiles) * pt->clock_hz;
    for (int i = 0; i < LAD_STAGES; i++) sum.exposed_s[i] *= pt->head_samples;
    sum.stage1_s *= pt->head_samples;
    sum.stage1_bytes *= head_samples;
    sum.stage4_bytes *= head_samples;
    sum.centers_bytes *= head_samples;
    sum.active_bytes *= head_samples;
    sum.others_bytes *= head_samples;
    sum.prefetch_bytes *= head_samples;
    struct lad_macs macs = lad_stage_macs(pt, sum.active);
    sum.macs = head_samples * (macs.eas + macs.md + macs.ac);
    *ret = sum;
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
