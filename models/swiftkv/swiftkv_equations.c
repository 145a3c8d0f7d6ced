/* Quantities of the paper that no sweep stores: one dot product, one table, one layer. */
#include "swiftkv.h"

#include <dse/units.h>

#include <math.h>
#include <stddef.h>

#define E struct swiftkv_equations
const struct dse_metric swiftkv_equations_table[] = {
    DSE_METRIC_F64(E, gemv_lanes, "", DSE_MORE, "dot product elements per cycle of a processor, linear layers", "E2"),
    DSE_METRIC_F64(E, gemv_width, "", DSE_MORE, "dot product elements per cycle of all processors, linear layers", "E2"),
    DSE_METRIC_F64(E, gemv_peak_gops, "Gop/s", DSE_MORE, "peak as the paper counts: n products and n - 1 sums per processor", "E2"),
    DSE_METRIC_F64(E, array_peak_gops, "Gop/s", DSE_MORE, "peak at two operations per product", "E2"),
    DSE_METRIC_F64(E, fxp_lanes, "", DSE_MORE, "dot product elements per cycle of a processor, attention", "E2"),
    DSE_METRIC_F64(E, dot_cycles, "cycle", DSE_LESS, "dot product of a query and a key", "E6"),
    DSE_METRIC_F64(E, update_cycles, "cycle", DSE_LESS, "output update, on top of dot_cycles", "E6"),
    DSE_METRIC_F64(E, position_cycles, "cycle", DSE_LESS, "one position of a head in total", "E6"),
    DSE_METRIC_F64(E, attention_cycles, "cycle", DSE_LESS, "attention of one head over the context", "E6"),
    DSE_METRIC_F64(E, kv_dram_cycles, "cycle", DSE_LESS,
                   "reading one position's keys and values of one layer at the peak bandwidth", "E5"),
    DSE_METRIC_F64(E, layer_gemv_cycles, "cycle", DSE_LESS, "linear layers of one layer, one token, without stalls", "E3"),
    DSE_METRIC_F64(E, layer_ideal_cycles, "cycle", DSE_LESS, "linear layers of one layer, one token, with no idle lane", "E3"),
    DSE_METRIC_F64(E, token_ops, "", DSE_NEITHER, "operations per token: all weights, output head included, and attention",
                   "Sec. V"),
    DSE_METRIC_F64(E, array_dsps, "", DSE_LESS, "DSPs of all processors", "E9"),
    DSE_METRIC_F64(E, budget_dsps, "", DSE_LESS, "DSPs that dot product and update need at budget_cycles per position", "E11"),
    DSE_METRIC_F64(E, exp_estimate_percent, "%", DSE_LESS, "second-order estimate of the exponential's error, (step ln 2)^2 / 8",
                   "E12"),
    DSE_METRIC_F64(E, exp_swept_percent, "%", DSE_LESS,
                   "largest relative error of the exponential over all fractions, before rounding", "E13"),
    DSE_METRIC_F64(E, exp_rounded_percent, "%", DSE_LESS,
                   "largest relative error of the exponential with table, slopes and result in q_frac_bits", "E13"),
    DSE_METRIC_F64(E, rope_simulated_drift, "", DSE_LESS,
                   "worst error of sine and cosine up to this context, simulated in fixed point", "E15"),
    DSE_METRIC_END,
};
#undef E

static void equate_gemv(struct swiftkv_equations *e, const struct swiftkv_params *p)
{
    const struct dse_llm *llm = p->workload.llm;
    double processors = (double)p->processors, hz = p->clock_mhz * 1e6;
    double q = (double)(llm->heads * llm->head_dim), kv = (double)(llm->kv_heads * llm->head_dim);
    double hidden = (double)llm->hidden, ffn = (double)llm->ffn;
    e->gemv_lanes = swiftkv_gemv_lanes(p);
    e->gemv_width = processors * e->gemv_lanes;
    e->array_peak_gops = DSE_OPS_PER_MAC * e->gemv_width * hz / DSE_GIGA;
    e->gemv_peak_gops = e->layer_gemv_cycles = e->layer_ideal_cycles = NAN;
    if (e->gemv_lanes < 1) return;
    e->gemv_peak_gops = processors * (2 * e->gemv_lanes - 1) * hz / DSE_GIGA;
    e->layer_gemv_cycles = swiftkv_gemv_cycles(p, 1, hidden, q + 2 * kv) + swiftkv_gemv_cycles(p, 1, q, hidden) +
                           swiftkv_gemv_cycles(p, 1, hidden, (double)(llm->ffn_matrices - 1) * ffn) +
                           swiftkv_gemv_cycles(p, 1, ffn, hidden);
    e->layer_ideal_cycles = dse_llm_layer_weights(llm) / e->gemv_width;
}

static void equate_attention(struct swiftkv_equations *e, const struct swiftkv_params *p)
{
    const struct dse_llm *llm = p->workload.llm;
    double d = (double)llm->head_dim, n = (double)p->workload.context;
    double layer_bytes = dse_kv_bytes_per_token(llm, dse_kv_bits(&p->workload)) / (double)llm->layers;
    e->fxp_lanes = swiftkv_fxp_lanes(p);
    e->kv_dram_cycles = layer_bytes / dse_dram_peak(&p->dram) * p->clock_mhz * 1e6;
    e->budget_dsps = (double)p->processors * 2 * p->fxp_dsps * ceil(d / (double)p->budget_cycles);
    e->dot_cycles = e->update_cycles = e->position_cycles = e->attention_cycles = NAN;
    if (e->fxp_lanes < 1) return;
    const struct dse_attention head = {.key_dim = llm->head_dim, .value_dim = llm->head_dim};
    struct swiftkv_cycles c = swiftkv_position_cycles(p, &head);
    e->dot_cycles = c.dot;
    e->update_cycles = c.update;
    e->position_cycles = c.dot + c.update + c.sweeps;
    e->attention_cycles = n * e->position_cycles + ceil(n / (double)p->block) * c.block;
}

static void equate_arithmetic(struct swiftkv_equations *e, const struct swiftkv_params *p)
{
    const struct dse_llm *llm = p->workload.llm;
    bool table = p->lut_bits <= p->q_frac_bits, reached = p->workload.context <= llm->max_context;
    e->exp_estimate_percent = 100 * swiftkv_exp_estimate(p->lut_bits);
    e->exp_swept_percent = table ? 100 * swiftkv_exp_swept(p->lut_bits, p->q_frac_bits, false) : (double)NAN;
    e->exp_rounded_percent = table ? 100 * swiftkv_exp_swept(p->lut_bits, p->q_frac_bits, true) : (double)NAN;
    e->rope_simulated_drift =
        reached ? swiftkv_rope_simulated(p->q_frac_bits, p->rope_base, llm->head_dim, p->workload.context) : (double)NAN;
}

void swiftkv_equate(const void *params, void *equations)
{
    const struct swiftkv_params *p = params;
    struct swiftkv_equations *e = equations;
    const struct dse_llm *llm = p->workload.llm;
    struct swiftkv_chip chip;
    if (!swiftkv_is_simple(&p->workload)) {
        dse_equations_unknown(e, sizeof *e);
        return;
    }
    swiftkv_chip_at(p, &chip);
    equate_gemv(e, p);
    equate_attention(e, p);
    equate_arithmetic(e, p);
    double weights = (double)llm->layers * dse_llm_layer_weights(llm) + dse_llm_head_weights(llm);
    double attention = 2 * (double)(llm->layers * llm->heads * llm->head_dim) * (double)p->workload.context;
    e->token_ops = DSE_OPS_PER_MAC * (weights + attention);
    e->array_dsps = chip.array_dsps;
}
