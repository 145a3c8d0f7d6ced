/* Quantities of single equations: what the paper says about one head, one tile, one interval (struct lad_equations). None of them
 * is used by estimate; each comes from the functions that estimate uses. */
#include "lad.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

#define Q struct lad_equations
const struct dse_metric lad_equations_table[] = {
    DSE_METRIC_F64(Q, head_dim, "", DSE_NEITHER, "d: elements of a key", "Sec. II-A"),
    DSE_METRIC_F64(Q, cache_elements, "", DSE_LESS, "elements of the intermediate caches A to F of a head", "Eq. 5"),
    DSE_METRIC_F64(Q, active_elements, "", DSE_LESS, "elements of K and V read for one active position of a head", "Eq. 4"),
    DSE_METRIC_F64(Q, dense_elements, "", DSE_LESS, "elements of K and V of one position of a head", "Eq. 2"),
    DSE_METRIC_F64(Q, eq4_fixed_macs, "", DSE_LESS, "multiply-adds of Eq. 4 per head, as the text counts", "Eq. 4"),
    DSE_METRIC_F64(Q, eq4_active_macs, "", DSE_LESS, "multiply-adds of Eq. 4 per active position, as the text counts", "Eq. 4"),
    DSE_METRIC_F64(Q, merged_active_macs, "", DSE_LESS,
                   "multiply-adds per active position with one correction factor, as in Alg. 2", "E4"),
    DSE_METRIC_F64(Q, dense_macs, "", DSE_LESS, "multiply-adds of one position of a head in full attention", "Eq. 2"),
    DSE_METRIC_F64(Q, coefficient_entries, "", DSE_LESS, "entries of the tables of linear coefficients", "Sec. IV-B(4)"),
    DSE_METRIC_F64(Q, softmax_mse, "", DSE_LESS, "mean squared error of softmax with the piecewise linear exp", "Sec. III-F, E23"),
    DSE_METRIC_F64(Q, eas_center_cycles, "cycle", DSE_LESS, "Eq. 7: EAS per additional center", "Eq. 7"),
    DSE_METRIC_F64(Q, eas_position_cycles, "cycle", DSE_LESS, "Eq. 7: EAS per additional position", "Eq. 7"),
    DSE_METRIC_F64(Q, apid_position_cycles, "cycle", DSE_LESS, "Eq. 7: APID per additional position", "Eq. 7"),
    DSE_METRIC_F64(Q, md_active_cycles, "cycle", DSE_LESS, "Eq. 7: MD per additional active position", "Eq. 7"),
    DSE_METRIC_F64(Q, ac_active_cycles, "cycle", DSE_LESS, "Eq. 7: AC per additional active position", "Eq. 7"),
    DSE_METRIC_F64(Q, ac_update_cycles, "cycle", DSE_LESS, "Eq. 7: AC per additional change of mode", "Eq. 7"),
    DSE_METRIC_F64(Q, vpu_lanes_used, "", DSE_MORE, "share of a VPU's multipliers that a key or value occupies", "Sec. IV-B(1)"),
    DSE_METRIC_F64(Q, mode_share, "", DSE_MORE, "share of the positions whose score is in their mode", "Fig. 2b"),
    DSE_METRIC_F64(Q, repeat_share, "", DSE_MORE, "share of the active positions that were active in the step before", "Sec. IV-D"),
    DSE_METRIC_F64(Q, layer_weights_mib, "MiB", DSE_LESS, "weights of one layer", "Sec. I"),
    DSE_METRIC_F64(Q, layer_kv_mib, "MiB", DSE_LESS, "KV cache of the batch in one layer", "Sec. I"),
    DSE_METRIC_F64(Q, tile_dynamic_mw, "mW", DSE_LESS, "dynamic power of one tile", "Table III"),
    DSE_METRIC_F64(Q, tile_static_mw, "mW", DSE_LESS, "static power of one tile", "Table III"),
    DSE_METRIC_F64(Q, sram_area_mm2, "mm2", DSE_LESS, "area of one tile's SRAM", "Table III"),
    DSE_METRIC_F64(Q, sram_dynamic_mw, "mW", DSE_LESS, "dynamic power of one tile's SRAM", "Table III"),
    DSE_METRIC_F64(Q, sram_static_mw, "mW", DSE_LESS, "static power of one tile's SRAM", "Table III"),
    DSE_METRIC_F64(Q, compute_area_share, "", DSE_NEITHER, "VPUs' and SFM's share of a tile's area without SRAM", "Sec. V-D"),
    DSE_METRIC_F64(Q, compute_power_share, "", DSE_NEITHER, "VPUs' and SFM's share of a tile's power without SRAM", "Sec. V-D"),
    DSE_METRIC_END,
};
#undef Q

/* Multiply-adds of full attention: of one position, head and sequence. */
static double dense_macs(const struct dse_workload *w)
{
    struct dse_workload one = *w;
    one.phase = DSE_DECODE;
    one.batch = 1;
    one.tensor_parallel = one.pipeline_parallel = one.data_parallel = one.expert_parallel = 1;
    one.speculation.draft_tokens = one.chunk_tokens = 0;
    one.context_spread = 0;
    struct dse_oplist list;
    dse_workload_expand(&one, &list);
    double ops = 0;
    for (int i = 0; i < list.n; i++)
        if (list.op[i].kind == DSE_OP_SCORES || list.op[i].kind == DSE_OP_VALUES) ops += list.op[i].ops;
    return ops / DSE_OPS_PER_MAC / (double)(w->llm->layers * w->llm->heads * w->context);
}

static void equate_head(const struct lad_params *p, struct lad_equations *q)
{
    const struct dse_llm *llm = p->workload.llm;
    double d = (double)llm->head_dim, kv_bytes = (double)p->workload.kv_bits / DSE_BITS_PER_BYTE;
    q->head_dim = d;
    q->cache_elements = lad_cache_elements(d);
    q->active_elements = lad_kv_elements(1, d);
    q->dense_elements =
        dse_kv_bytes_per_token(llm, (double)p->workload.kv_bits) / (kv_bytes * (double)(llm->layers * llm->kv_heads));
    q->eq4_fixed_macs = lad_macs_text(d, 0);
    q->eq4_active_macs = lad_macs_text(d, 1) - lad_macs_text(d, 0);
    q->merged_active_macs = lad_macs_hardware(d, 1) - lad_macs_hardware(d, 0);
    q->dense_macs = dense_macs(&p->workload);
    q->coefficient_entries = lad_coefficient_entries((double)p->intervals);
    q->softmax_mse = lad_softmax_mse(p->intervals, (double)p->workload.context, p->score_sd);
    q->vpu_lanes_used = d / (dse_ceil(d / (double)p->vpu_width) * (double)p->vpu_width);
}

/* What Eq. 7 gains where each of its inputs grows by one. */
static void equate_stages(const struct lad_params *p, struct lad_equations *q)
{
    double d = q->head_dim;
    struct dse_locality none = {0}, center = {.centers = 1}, active = {.active = 1}, update = {.updates = 1};
    struct lad_stages from = lad_stages_eq7(p, d, 0, &none);
    struct lad_stages longer = lad_stages_eq7(p, d, 1, &none), updated = lad_stages_eq7(p, d, 0, &update);
    struct lad_stages centered = lad_stages_eq7(p, d, 0, &center), activated = lad_stages_eq7(p, d, 0, &active);
    q->eas_center_cycles = centered.eas - from.eas;
    q->eas_position_cycles = longer.eas - from.eas;
    q->apid_position_cycles = longer.apid - from.apid;
    q->md_active_cycles = activated.md - from.md;
    q->ac_active_cycles = activated.ac - from.ac;
    q->ac_update_cycles = updated.ac - from.ac;
}

static void equate_workload(const struct lad_params *p, struct lad_equations *q)
{
    const struct dse_workload *w = &p->workload;
    double layers = (double)w->llm->layers, cached = (double)w->batch * (double)w->context;
    const double network = (double)w->llm->ffn_matrices * (double)w->llm->hidden * (double)w->llm->ffn;
    q->layer_weights_mib =
        ((dse_llm_layer_weights(w->llm) - network) * dse_held_bytes(dse_workload_held(w, w->llm, DSE_WEIGHTS_ATTENTION)) +
         network * dse_held_bytes(dse_workload_held(w, w->llm, DSE_WEIGHTS_DENSE))) /
        DSE_MIB;
    q->layer_kv_mib = cached * dse_kv_bytes_per_token(w->llm, dse_kv_bits(w)) / layers / DSE_MIB;
    q->mode_share = q->repeat_share = (double)NAN;
    struct lad_point pt;
    struct lad_params decode = *p;
    decode.workload.phase = DSE_DECODE;
    decode.decoding = LAD_LOCALITY_AWARE;
    if (lad_point_init(&pt, &decode) || lad_unlike(&decode)) return;
    /* The newest are active without being asked for their score. */
    q->mode_share = 1 - (pt.at.active - fmin((double)p->recent, pt.at.active)) / pt.n;
    q->repeat_share = pt.at.hit_ratio;
}

static void equate_tile(const struct lad_params *p, struct lad_equations *q)
{
    q->tile_dynamic_mw = q->tile_static_mw = q->sram_area_mm2 = q->sram_dynamic_mw = q->sram_static_mw = (double)NAN;
    q->compute_area_share = q->compute_power_share = (double)NAN;
    if (lad_chip_check(p)) return;
    struct lad_chip chip;
    lad_chip_at(p, &chip);
    double each = DSE_MW_PER_W / (double)p->tiles;
    q->tile_dynamic_mw = each * (chip.dynamic_modules_w + chip.dynamic_sram_w);
    q->tile_static_mw = each * (chip.static_modules_w + chip.static_sram_w);
    q->sram_area_mm2 = chip.sram_area_mm2;
    q->sram_dynamic_mw = each * chip.dynamic_sram_w;
    q->sram_static_mw = each * chip.static_sram_w;
    lad_compute_shares(p, &q->compute_area_share, &q->compute_power_share);
}

void lad_equate(const void *params, void *equations)
{
    const struct lad_params *p = params;
    struct lad_equations *q = equations;
    if (dse_workload_unknown(&p->workload, DSE_CAN_ACTIVATIONS | DSE_CAN_SCALES | DSE_CAN_FORMATS)) {
        dse_equations_unknown(q, sizeof *q);
        return;
    }
    equate_head(p, q);
    equate_stages(p, q);
    equate_workload(p, q);
    equate_tile(p, q);
}
