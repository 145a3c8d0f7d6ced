/* LAD: the tables, check and estimate. The closed form is in lad_pipeline.c (attention), lad_schedule.c (linear layers, batch) and
 * lad_chip.c (area, power). */
#include "lad_bound.h"
#include "lad_llms.h"

#include <dse/units.h>

#include <math.h>
#include <stddef.h>

static const char *const pipelines[] = {[LAD_EQ7] = "eq7", [LAD_EXACT] = "exact", NULL};
static const char *const decodings[] = {[LAD_LOCALITY_AWARE] = "locality-aware", [LAD_FULL_CACHE] = "full-cache", NULL};
static const char *const slot_kinds[] = {
    [LAD_PARTITIONED] = "partitioned", [LAD_BARRIER] = "barrier", [LAD_BALANCED] = "balanced", NULL};
static const char *const fills[] = {[LAD_FILL_IGNORED] = "ignored", [LAD_FILL_STEP] = "step", [LAD_FILL_LAYER] = "layer", NULL};
static const char *const gathers[] = {[LAD_GATHER_STREAM] = "stream", [LAD_GATHER_ROWS] = "rows", NULL};
static const char *const group_reads[] = {[LAD_READS_HEAD] = "head", [LAD_READS_UNION] = "union", NULL};
static const char *const counted[] = {[LAD_IGNORED] = "ignored", [LAD_COUNTED] = "counted", NULL};
static const char *const prefetches[] = {
    [LAD_PREFETCH_OFF] = "off", [LAD_PREFETCH_LIMITED] = "limited", [LAD_PREFETCH_IDEAL] = "ideal", NULL};
static const char *const batch_policies[] = {[LAD_BATCH_FIXED] = "fixed",
                                             [LAD_BATCH_FIT_MEMORY] = "fit-memory",
                                             [LAD_BATCH_TILE_MULTIPLE] = "tile-multiple",
                                             [LAD_BATCH_BEST_THROUGHPUT] = "best-throughput",
                                             NULL};
static const char *const draws[] = {[LAD_DRAW] = "profile", [LAD_REPLAY] = "replay", [LAD_SURFACE] = "surface", NULL};
static const char *const elementwises[] = {[LAD_HIDDEN] = "hidden", [LAD_EXPOSED] = "exposed", NULL};
static const char *const stage_names[] = {
    [LAD_HBM] = "hbm", [LAD_EAS] = "eas", [LAD_APID] = "apid", [LAD_MD] = "md", [LAD_AC] = "ac", [LAD_VPU] = "vpu", NULL};
_Static_assert(sizeof stage_names / sizeof *stage_names == LAD_STAGES + 1, "every stage has a name");

#define P struct lad_params
static const struct dse_param lad_params_table[] = {
    DSE_EMBED(P, workload, struct dse_workload, dse_workload_params),
    DSE_EMBED(P, cache, struct dse_cache, dse_cache_params),
    DSE_EMBED(P, economics, struct dse_economics, dse_economics_params),
    DSE_EMBED_REFUSING(P, dram, struct dse_dram, dse_dram_params, dse_dram_refuse),
    DSE_EMBED(P, links, struct dse_links, dse_links_params),
    DSE_PARAM_I64(P, tiles, 1, 256, "LAD tiles sharing the HBM", "Sec. V-A"),
    DSE_PARAM_F64(P, sram_mib, "MiB", 0.03125, 64, "SRAM of one tile", "Sec. V-A"),
    DSE_PARAM_I64(P, vpu_eas, 1, 64, "VPUs of the attention score module", "Sec. IV-B(2)"),
    DSE_PARAM_I64(P, vpu_md, 1, 64, "VPUs of the mode discrepancy module", "Sec. IV-B(4)"),
    DSE_PARAM_I64(P, vpu_ac, 1, 64, "VPUs of the attention computation module", "Sec. IV-B(5)"),
    DSE_PARAM_I64(P, vpu_width, 8, 4096, "multipliers of one VPU", "Sec. IV-B(1)"),
    DSE_PARAM_I64(P, apid_width, 1, 1024, "positions per cycle of the active position identification module", "Sec. IV-B(3)"),
    DSE_PARAM_F64(P, clock_ghz, "GHz", 0.05, 10, "clock of every tile", "Sec. V-A"),
    DSE_PARAM_I64_UNIT(P, cache_bits, "bit", 4, 64, "width of an element of the intermediate caches and of activations",
                       "Sec. V-A"),
    DSE_PARAM_I64_UNIT(P, position_bits, "bit", 16, 256, "width of G of one position: norm, dnorm, cid, mode, count", "Sec. IV-C"),
    DSE_PARAM_I64(P, intervals, 2, 16, "intervals of the piecewise linear exp; at most 16, as modes have 4 bits", "Sec. III-A"),
    DSE_PARAM_I64(P, recent, 0, 1024, "newest positions, which are always active", "Sec. III-E"),
    DSE_PARAM_REF(P, profile, struct dse_profile, DSE_KIND_PROFILE,
                  "statistics of attention scores over the context, for draws = \"profile\"", "Sec. II-B"),
    DSE_PARAM_ENUM(P, draws, draws,
                   "attention statistics: drawn around the profile's means, replayed from the recording, or drawn around the "
                   "surface's means",
                   "E25, E34, E39"),
    DSE_PARAM_REF(P, recording, struct dse_recording, DSE_KIND_RECORDING,
                  "recorded steps of a trace's heads, for draws = \"replay\"", "E34"),
    DSE_PARAM_F64(P, center_scale, "", 0, 1000, "factor on the profile's numbers of centers and large modes", "Sec. III-D"),
    DSE_PARAM_F64(P, active_cv, "", 0, 3, "active positions over heads: standard deviation over mean", "E12"),
    DSE_PARAM_F64(P, score_sd, "", 0.1, 10, "standard deviation of a head's attention scores; equation softmax_mse only", "E23"),
    DSE_PARAM_ENUM(P, pipeline, pipelines, "cycles of compute stages: by Eq. 7, or exact as in Alg. 2", "E7, E10"),
    DSE_PARAM_ENUM(P, decoding, decodings, "LAD's attention, or full-cache attention (the paper's ideal accelerator)", "Sec. V-A"),
    DSE_PARAM_ENUM(P, slots, slot_kinds, "how tiles share the HBM: own channels, a barrier per head-sample, or freely", "E16"),
    DSE_PARAM_ENUM(P, fill, fills, "fill time of the six stages: ignored, once per step, or once per layer", "E16"),
    DSE_PARAM_ENUM(P, gather, gathers, "HBM efficiency of single keys and values: that of streams, or by row size", "E13"),
    DSE_PARAM_ENUM(P, group_reads, group_reads,
                   "grouped-query attention: keys and values read per query head, or once for positions that a group shares",
                   "A2, E40, E41"),
    DSE_PARAM_ENUM(P, counters, counted, "traffic of active positions' interval counters, which the paper ignores", "E13"),
    DSE_PARAM_I64_UNIT(P, accumulator_cycles, "cycle", 0, 16, "pipeline = exact: accumulator load and store per update", "E10"),
    DSE_PARAM_ENUM(P, prefetch, prefetches,
                   "pre-fetching: off, in idle HBM time of QKV periods, or in idle HBM time of all linear layers",
                   "Sec. IV-D, E14"),
    DSE_PARAM_ENUM(P, vain_prefetch, counted, "traffic of pre-fetched positions that turn out inactive", "E14"),
    DSE_PARAM_ENUM(P, batch_policy, batch_policies,
                   "sequences processed together: batch, or as many as memory, tiles or throughput suggest", "E18"),
    DSE_PARAM_ENUM(P, elementwise, elementwises, "time of norms, rotary embedding and the like on the special function module",
                   "E20"),
    DSE_PARAM_I64(P, resident_g, 1, 16, "copies of G in a tile's SRAM", "E15"),
    DSE_PARAM_I64(P, resident_centers, 1, 16, "copies of the keys of centers and large modes in a tile's SRAM", "E15"),
    DSE_PARAM_I64(P, resident_caches, 1, 16, "copies of the intermediate caches in a tile's SRAM", "E15"),
    DSE_PARAM_I64(P, resident_active, 1, 16, "copies of active keys and values in a tile's SRAM, before anything is pre-fetched",
                  "E15"),
    DSE_PARAM_I64(P, resident_activations, 1, 16, "copies of the batch's activations in a tile's SRAM", "E15"),
    DSE_PARAM_REF(P, sram, struct dse_sram_table, DSE_KIND_SRAM, "area and power of SRAM", "Table III"),
    DSE_PARAM_I64_UNIT(P, sram_word_bits, "bit", 8, 8192, "word width of an SRAM macro, if the table has several", "E19"),
    DSE_PARAM_REF(P, technology, struct dse_technology, DSE_KIND_TECHNOLOGY, "technology node of the chip; Table III is 22 nm",
                  "E19"),
    DSE_PARAM_ENUM(P, power, dse_power_names, "energy from activity, or the constant power of Table III", "E35, E21"),
    DSE_PARAM_ENUM(P, area, dse_area_names, "area of the die with memory interfaces and network, or of the tiles alone (Table III)",
                   "E37"),
    DSE_EMBED(P, events, struct dse_events, dse_events_params),
    DSE_PARAM_F64(P, sequence_cv, "", 0, 3,
                  "event level: active positions of a head over sequences and steps: standard deviation over mean", "E25"),
    DSE_PARAM_F64(P, weight_buffer_kib, "KiB", 0.25, 65536, "event level: weight buffer of a tile, in front of the VPUs", "E31"),
    DSE_PARAM_F64(P, dma_window_kib, "KiB", 0.0625, 65536, "event level: bytes in flight per DMA engine; a tile has two", "E29"),
    DSE_PARAM_I64(P, active_fifo, 1, 1048576, "event level: entries of a tile's active position FIFO", "Sec. IV-B(3), E28"),
    DSE_PARAM_I64(P, update_fifo, 1, 1048576, "event level: entries of a tile's update FIFO", "Sec. IV-B(4), E28"),
    DSE_PARAM_I64(P, sram_ports, 0, 256, "event level: rows of vpu_width elements that a tile's SRAM reads per cycle; 0: no limit",
                  "E27"),
    DSE_PARAM_END,
};
#undef P

#define M struct lad_metrics
static const struct dse_metric lad_metrics_table[] = {
    DSE_METRIC_EMBED(M, common, struct dse_common, dse_common_metrics),
    DSE_METRIC_I64(M, batch_used, DSE_NEITHER, "sequences processed together, by batch_policy", "E18", .mean = DSE_MEAN_STEP),
    DSE_METRIC_F64(M, idle_slots, "", DSE_LESS, "share of a tile's slots in attention periods that no head-sample fills", "E16",
                   .mean = DSE_MEAN_STEP),
    DSE_METRIC_F64(M, linear_us, "us", DSE_LESS, "part of latency_us spent in linear layers", "E20"),
    DSE_METRIC_F64(M, attention_share, "", DSE_LESS, "attention_us over latency_us", "Fig. 8"),
    DSE_METRIC_COMMUNICATION(M, "E45"),
    DSE_METRIC_F64(M, eas_cycles, "cycle", DSE_LESS, "stage 2 (EAS) of a head-sample, mean over heads", "E7, E10",
                   .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64(M, apid_cycles, "cycle", DSE_LESS, "stage 3 (APID) of a head-sample", "E7, E10", .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64(M, md_cycles, "cycle", DSE_LESS, "stage 5 (MD) of a head-sample, mean over heads", "E7, E10",
                   .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64(M, ac_cycles, "cycle", DSE_LESS, "stage 6 (AC) of a head-sample, mean over heads", "E7, E10",
                   .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64(M, compute_cycles, "cycle", DSE_LESS, "longest compute stage, mean over heads", "E7, E10",
                   .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64(M, memory_cycles, "cycle", DSE_LESS, "HBM time of one head-sample on every tile, mean over heads", "E13",
                   .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64(M, slot_cycles, "cycle", DSE_LESS, "time between head-samples of a tile, mean over heads", "E16",
                   .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_ENUM(M, attention_bound, stage_names, "stage that limits the largest part of attention", "E16",
                    .mean = DSE_MEAN_ATTENTION),
    DSE_METRIC_F64_OR_NULL(M, centers, "", DSE_LESS, "keys read to find active positions (centers and large modes), if measured",
                           "Sec. III-D", .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64_OR_NULL(M, active, "", DSE_LESS, "active positions of a head, mean over heads, if measured", "Sec. III-B",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64(M, prefetched, "", DSE_NEITHER, "positions pre-fetched for a head-sample, mean over heads", "E14",
                   .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64_OR_NULL(M, hit_ratio, "", DSE_MORE, "share of the active positions that were pre-fetched, if measured", "E14",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_CACHED_POSITIONS(M, "E38"),
    DSE_METRIC_F64(M, technique_mib, "MiB", DSE_LESS, "DRAM traffic per token: counts and page bounds of a cache technique", "E38"),
    DSE_METRIC_F64_OR_NULL(M, retained_mass, "", DSE_MORE, "share of the softmax mass on the kept positions, if measured", "E38",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64_OR_NULL(M, attention_error, "", DSE_LESS, "relative error (norm) of the attention output, if measured",
                           "E24, E38", .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64_OR_NULL(M, attention_error_sd, "", DSE_LESS, "standard deviation of attention_error over heads", "E24, E38",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_EMBED(M, task, struct dse_score, dse_score_metrics),
    DSE_METRIC_F64_OR_NULL(M, false_negative, "", DSE_LESS, "share of positions wrongly taken to be in their mode, if measured",
                           "E24", .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64(M, sram_resident_mib, "MiB", DSE_LESS, "SRAM of a tile that the pipeline needs", "E15",
                   .mean = DSE_MEAN_LARGEST),
    DSE_METRIC_DRAM_FOOTPRINT(M, "E17"),
    DSE_METRIC_F64(M, centers_mib, "MiB", DSE_LESS, "DRAM traffic per token: keys of centers and large modes", "Fig. 8"),
    DSE_METRIC_F64(M, active_mib, "MiB", DSE_LESS, "DRAM traffic per token: active positions in attention periods", "Fig. 8"),
    DSE_METRIC_F64(M, others_mib, "MiB", DSE_LESS, "DRAM traffic per token: G and intermediate caches", "Fig. 8"),
    DSE_METRIC_F64(M, prefetch_mib, "MiB", DSE_LESS, "DRAM traffic per token: pre-fetched active positions", "E14"),
    DSE_METRIC_F64(M, weights_mib, "MiB", DSE_LESS, "DRAM traffic per token: weights", "E20"),
    DSE_METRIC_F64(M, full_cache_mib, "MiB", DSE_NEITHER, "KV cache that full-cache decoding reads per token", "Fig. 8"),
    DSE_METRIC_F64(M, attention_energy_mj, "mJ", DSE_LESS, "energy per token in attention periods, chip and DRAM", "Fig. 9"),
    DSE_METRIC_F64(M, energy_dram_mj, "mJ", DSE_LESS, "energy per token: DRAM", "Fig. 10"),
    DSE_METRIC_F64(M, energy_sram_mj, "mJ", DSE_LESS, "energy per token: SRAM", "Fig. 10, E35"),
    DSE_METRIC_F64(M, energy_modules_mj, "mJ", DSE_LESS, "energy per token: modules, VPUs and special functions", "Fig. 10, E35"),
    DSE_METRIC_F64_OR_NULL(M, energy_clock_mj, "mJ", DSE_LESS, "energy per token: clock tree, idle time included", "E35"),
    DSE_METRIC_F64_OR_NULL(M, energy_leakage_mj, "mJ", DSE_LESS, "energy per token: leakage", "E35"),
    DSE_METRIC_F64_OR_NULL(M, energy_interface_mj, "mJ", DSE_LESS, "energy per token: memory interface and network on the die",
                           "E35"),
    DSE_METRIC_F64_OR_NULL(M, supply_v, "V", DSE_NEITHER, "supply voltage that the clock needs", "E36", .mean = DSE_MEAN_TIME),
    DSE_METRIC_F64(M, tokens_per_j, "tokens/J", DSE_MORE, "tokens per joule, chip and DRAM", "Fig. 9"),
    DSE_METRIC_F64(M, chip_power_w, "W", DSE_LESS, "power of all tiles, without DRAM and its interface", "Table III"),
    DSE_METRIC_CORE_AREA(M, "Table III"),
    DSE_METRIC_F64(M, phy_mm2, "mm2", DSE_LESS, "part of area_mm2: memory PHYs and controllers", "E37"),
    DSE_METRIC_F64(M, noc_mm2, "mm2", DSE_LESS, "part of area_mm2: the network over tiles", "E37"),
    DSE_METRIC_F64_OR_NULL(M, links_mm2, "mm2", DSE_LESS, "part of area_mm2: PHYs and controllers of the links between chips",
                           "E45"),
    DSE_METRIC_F64(M, tile_area_mm2, "mm2", DSE_LESS, "area of one tile", "Table III"),
    DSE_METRIC_F64(M, sram_area_share, "", DSE_NEITHER, "SRAM's share of a tile's area", "Table III"),
    DSE_METRIC_END,
};
#undef M

static void lad_resolve(void *params)
{
    struct lad_params *p = params;
    dse_workload_resolve(&p->workload);
    dse_dram_resolve(&p->dram);
    dse_economics_resolve(&p->economics);
}

static const char *lad_check(const void *params)
{
    const struct lad_params *p = params;
    struct lad_point pt;
    const char *why = dse_workload_unknown(&p->workload, LAD_CAN);
    if (!why) why = dse_dram_check(&p->dram);
    if (!why && dse_workload_chips(&p->workload) > 1) why = dse_links_check(&p->links, (double)dse_workload_chips(&p->workload));
    if (!why) why = lad_cache_check(p);
    if (!why) why = dse_kv_format_check(&p->workload);
    if (!why && p->decoding == LAD_LOCALITY_AWARE && dse_kv_apart(&p->workload))
        why = "decoding = locality-aware needs keys and values of one width (decoding, value_bits, kv_bits)";
    if (!why) why = lad_point_init(&pt, p);
    if (!why && !pt.is_simple) why = lad_llms_check(&pt);
    if (!why) why = lad_chip_check(p);
    if (!why) why = lad_batch_check(&pt);
    return why;
}

static bool lad_shortage(const void *params, const char *reason, struct dse_shortage *ret)
{
    struct lad_point pt;
    if (lad_point_init(&pt, params)) return false;
    return lad_batch_shortage(&pt, reason, ret) || lad_chip_shortage(params, reason, ret);
}

/* ---- estimate ----------------------------------------------------------------------------------------------------------- */

double lad_watts(const struct lad_chip *c)
{
    return c->dynamic_modules_w + c->dynamic_sram_w + c->static_modules_w + c->static_sram_w;
}

/* KV cache that one step reads when it reads all of it. */
static double full_cache_bytes(const struct lad_point *pt, const struct lad_step *s)
{
    if (!pt->is_simple) return s->full_cache_bytes;
    return s->batch * pt->n * dse_kv_bytes_per_token(pt->llm, dse_kv_bits(&pt->p->workload));
}

static struct dse_bill bill_of(const struct lad_params *p, const struct lad_chip *chip)
{
    return dse_bill_of_chip(&p->economics, (double)dse_workload_chips(&p->workload), chip->die.area_mm2, p->technology->node_nm,
                            &p->dram);
}

static const char *why_null(const void *params, const char *metric)
{
    const char *why = lad_why_null(params, metric);
    struct lad_chip chip;
    if (why) return why;
    lad_chip_at(params, &chip);
    const struct dse_bill bill = bill_of(params, &chip);
    return dse_bill_why_null(&bill, metric);
}

static void fill_common(struct dse_common *m, const struct lad_point *pt, const struct lad_step *s, const struct lad_chip *chip,
                        double joules, double tokens)
{
    const struct lad_params *p = pt->p;
    double peak_macs = (double)(p->tiles * (p->vpu_eas + p->vpu_md + p->vpu_ac) * p->vpu_width) * pt->clock_hz;
    const struct dse_bill bill = bill_of(p, chip);
    struct dse_totals totals = {
        .tokens = tokens,
        .seconds = s->time_s,
        .attention_s = s->attention.time_s,
        .joules = joules,
        .bytes = s->bytes,
        .ops = s->vpu_ops,
        .peak_ops = pt->chips * (DSE_OPS_PER_MAC * peak_macs),
        .peak_bytes = pt->chips * dse_dram_peak(&p->dram),
        .area_mm2 = pt->chips * chip->die.area_mm2,
        .bound = dse_bound_of(s->compute_bound_s, s->dram_bound_s, s->latency_bound_s),
        .bill = &bill,
    };
    *m = dse_common_of(&totals);
}

static void fill_attention(struct lad_metrics *m, const struct lad_point *pt, const struct lad_attention *a, double tokens)
{
    double mib = 1 / (DSE_MIB * tokens);
    m->eas_cycles = a->stages.eas;
    m->apid_cycles = a->stages.apid;
    m->md_cycles = a->stages.md;
    m->ac_cycles = a->stages.ac;
    m->compute_cycles = a->compute_cycles;
    m->memory_cycles = a->memory_cycles;
    m->slot_cycles = a->slot_cycles;
    m->attention_bound = LAD_HBM;
    for (int i = 0; i < LAD_STAGES; i++)
        if (a->exposed_s[i] > a->exposed_s[m->attention_bound]) m->attention_bound = i;
    bool measured = !pt->locality_aware || !lad_unlike(pt->p);
    m->centers = measured ? pt->at.centers + pt->at.large : (double)NAN;
    m->active = measured ? a->active : (double)NAN;
    m->prefetched = a->prefetched;
    m->hit_ratio = !measured ? (double)NAN : a->active > 0 ? a->hits / a->active : 0;
    m->centers_mib = a->centers_bytes * mib;
    m->active_mib = a->active_bytes * mib;
    m->others_mib = a->others_bytes * mib;
    m->prefetch_mib = a->prefetch_bytes * mib;
}

/* E21, E35. */
static void fill_energy(struct lad_metrics *m, const struct lad_point *pt, const struct lad_step *s, const struct lad_power *power,
                        const struct dse_joules *j, double tokens)
{
    double each = DSE_MJ_PER_J / tokens, apart = power->constant ? (double)NAN : each;
    struct lad_work attention = lad_attention_work(pt, s);
    m->attention_energy_mj = lad_joules_of(power, &attention).all * each;
    m->energy_dram_mj = j->dram * each;
    m->energy_sram_mj = j->sram * each;
    m->energy_modules_mj = j->modules * each;
    m->energy_clock_mj = j->clock * apart;
    m->energy_leakage_mj = j->leakage * apart;
    m->energy_interface_mj = j->interface * apart;
    m->tokens_per_j = DSE_MJ_PER_J / m->common.energy_mj;
    m->chip_power_w = power->constant ? power->watts : (j->leakage + j->clock + j->modules + j->sram) / s->time_s;
    m->chip_power_w /= pt->chips;
}

static void fill_chip(struct lad_metrics *m, const struct lad_params *p, const struct lad_chip *chip)
{
    m->supply_v = p->power == DSE_POWER_CONSTANT ? (double)NAN : chip->supply.volts;
    m->tile_area_mm2 = chip->tile_area_mm2;
    m->sram_area_share = chip->sram_area_mm2 / chip->tile_area_mm2;
    const double chips = (double)dse_workload_chips(&p->workload);
    m->core_mm2 = chips * chip->die.core_mm2;
    m->phy_mm2 = chips * chip->die.phy_mm2;
    m->noc_mm2 = chips * chip->die.noc_mm2;
    m->links_mm2 = chips * lad_links_mm2(p);
}

/* E24, E38. */
static void fill_cache(struct lad_metrics *m, const struct lad_point *pt, double technique_bytes, double mib)
{
    const struct dse_locality_error error = lad_quality(pt->p);
    struct dse_kept kept;
    lad_kept(pt->p, &kept);
    m->cached_positions = pt->cache.prefill ? (pt->n + 1) / 2 : pt->cache.read;
    m->technique_mib = technique_bytes * mib;
    m->retained_mass = kept.mass;
    const bool own = pt->is_simple ? pt->p->decoding == LAD_LOCALITY_AWARE : pt->locality_aware;
    m->attention_error = own ? error.attention_error : kept.error;
    m->attention_error_sd = own && !(error.attention_error <= 0) ? lad_error_spread(pt->p) : kept.error_sd;
    m->false_negative = error.false_negative;
    lad_score(pt->p, &m->task);
}

static double tokens_of(const struct lad_point *pt, const struct lad_step *s)
{
    if (!pt->is_simple) return s->tokens;
    return pt->p->workload.phase == DSE_PREFILL ? s->batch * pt->n : s->batch;
}

void lad_report(const struct lad_point *pt, const struct lad_step *step, struct lad_metrics *ret, struct dse_breakdown *breakdown)
{
    struct lad_point seen = *pt;
    if (!pt->is_simple) pt = lad_llms_see(&seen, step);
    const struct lad_params *p = pt->p;
    struct lad_metrics *m = ret;
    struct lad_chip chip;
    struct lad_power power;
    struct lad_work work = lad_step_work(pt, step);
    lad_chip_at(p, &chip);
    lad_power_at(p, &chip, &power);
    if (pt->chips > 1) lad_llms_power(&power, pt->chips);
    struct dse_joules joules = lad_joules_of(&power, &work);
    double batch = step->batch, tokens = tokens_of(pt, step), mib = 1 / (DSE_MIB * tokens);
    fill_common(&m->common, pt, step, &chip, joules.all, tokens);
    fill_attention(m, pt, &step->attention, tokens);
    if (pt->is_simple)
        fill_cache(m, pt, (double)pt->llm->layers * dse_cache_moved(&pt->cache), batch * mib);
    else
        fill_cache(m, pt, step->technique_bytes, mib);
    fill_energy(m, pt, step, &power, &joules, tokens);
    fill_chip(m, p, &chip);
    m->batch_used = (int64_t)batch;
    const double present = pt->is_simple ? batch : lad_llms_sequences(pt, batch);
    m->communication_us = step->communication_s * DSE_US_PER_S;
    m->idle_slots = 1 - present / ((double)p->tiles * lad_rounds(pt, present));
    m->linear_us = step->linear_s * DSE_US_PER_S;
    m->attention_share = step->attention.time_s / step->time_s;
    m->sram_resident_mib = (pt->is_simple ? lad_sram_resident(pt, batch) : step->resident_bytes) / DSE_MIB;
    m->dram_footprint_gib = (pt->is_simple ? lad_dram_footprint(pt, batch) : step->footprint_bytes) / DSE_GIB;
    m->weights_mib = step->weight_bytes * mib;
    m->full_cache_mib = full_cache_bytes(pt, step) * mib;
    if (breakdown) lad_break_down(pt, step, &power, breakdown);
}

static void lad_estimate(const void *params, void *metrics, struct dse_breakdown *breakdown)
{
    struct lad_point pt;
    struct lad_step step;
    lad_point_init(&pt, params);
    lad_step_init(&step, &pt);
    lad_step_at(&step, &pt, lad_batch(&pt, &step));
    lad_report(&pt, &step, metrics, breakdown);
}

/* With prefetch = "ideal", heads that wait for computing share the idle HBM time with heads that wait for the HBM: more room in
 * SRAM for the former can take a little from the latter (E14). A faster clock leaves linear layers less idle HBM time. */
static const struct dse_trend lad_trends[] = {
    {.param = "bandwidth_gbs", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "dram_efficiency", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "tiles",
     .metric = "tokens_per_s",
     .effect = DSE_MORE,
     .along = "batch",
     .where = "batch_policy=fixed,prefetch=limited"},
    {.param = "sram_mib", .metric = "tokens_per_s", .effect = DSE_MORE, .where = "batch_policy=fixed,prefetch=limited"},
    {.param = "clock_ghz", .metric = "tokens_per_s", .effect = DSE_MORE, .where = "prefetch=off"},
    {.param = "weight_bits", .metric = "tokens_per_s", .effect = DSE_LESS, .where = "batch_policy=fixed"},
    {.param = "weight_bits", .metric = "energy_mj", .effect = DSE_MORE, .where = "batch_policy=fixed"},
    {.param = "context", .metric = "latency_us", .effect = DSE_MORE, .where = "batch_policy=fixed"},
    {.param = "context", .metric = "tokens_per_s", .effect = DSE_LESS, .where = "batch_policy=fixed,phase=decode"},
    {.param = "context",
     .metric = "energy_mj",
     .effect = DSE_MORE,
     .where = "batch_policy=fixed,phase=decode,vain_prefetch=ignored"},
    {.param = "tiles", .metric = "area_mm2", .effect = DSE_MORE},
    {.param = "clock_ghz", .metric = "supply_v", .effect = DSE_MORE, .where = "power=activity"},
    {.param = "clock_ghz", .metric = "energy_clock_mj", .effect = DSE_MORE, .where = "power=activity,batch_policy=fixed"},
    {.param = "clock_ghz", .metric = "energy_modules_mj", .effect = DSE_MORE, .where = "power=activity,batch_policy=fixed"},
    {.param = "bandwidth_gbs", .metric = "area_mm2", .effect = DSE_MORE},
    {.param = NULL},
};

static const char *const lad_closed_form_only[] = {"dram_efficiency", NULL};

/* What LAD's decoding alone reads. */
static const char *const lad_only[] = {"draws", "profile", "recording", "center_scale", "intervals", "recent", NULL};

const struct dse_model dse_model_lad = {
    .name = "lad",
    .title = "LAD: locality-aware decoding",
    .cite = "H. Wang et al., LAD: Efficient Accelerator for Generative Inference of LLM with Locality Aware Decoding, HPCA 2025",
    .version = 10,
    .params = lad_params_table,
    .params_size = sizeof(struct lad_params),
    .metrics = lad_metrics_table,
    .metrics_size = sizeof(struct lad_metrics),
    .closed_form_only = lad_closed_form_only,
    .resolve = lad_resolve,
    .check = lad_check,
    .shortage = lad_shortage,
    .estimate = lad_estimate,
    .simulate = lad_simulate,
    .bound = lad_bound,
    .stand = lad_stand,
    .why_null = why_null,
    .equations = lad_equations_table,
    .equations_size = sizeof(struct lad_equations),
    .equate = lad_equate,
    .trends = lad_trends,
    .techniques = (const struct dse_technique[]){{"decoding", "full-cache", lad_only}, DSE_CACHE_TECHNIQUE, {NULL, NULL, NULL}},
};
