/* SwiftKV-MHA: the tables, check and estimate. The closed form is in swiftkv_timing.c (a step), swiftkv_fpga.c (resources, power)
 * and swiftkv_fixed.c (arithmetic); swiftkv_report.c makes metrics of a step, swiftkv_equations.c what only the paper asks for. */
#include "swiftkv.h"

#include <dse/units.h>

#include <math.h>
#include <stddef.h>

static const char *const attentions[] = {
    [SWIFTKV_SWIFTKV] = "swiftkv", [SWIFTKV_NATIVE] = "native", [SWIFTKV_FLASH] = "flash", [SWIFTKV_STREAMING] = "streaming", NULL};
static const char *const value_updates[] = {[SWIFTKV_UPDATE_IDEAL] = "ideal",
                                            [SWIFTKV_UPDATE_OWN] = "own",
                                            [SWIFTKV_UPDATE_SHARED] = "shared",
                                            [SWIFTKV_UPDATE_SINGLE] = "single",
                                            NULL};
static const char *const kv_fetches[] = {[SWIFTKV_FETCH_GROUP] = "group", [SWIFTKV_FETCH_HEAD] = "head", NULL};
static const char *const mappings[] = {[SWIFTKV_ONE_OUTPUT] = "one-output", [SWIFTKV_SEVERAL_OUTPUTS] = "several-outputs", NULL};
static const char *const stalls[] = {[SWIFTKV_STALLS_ARRAY] = "array", [SWIFTKV_STALLS_BOTH] = "both", NULL};
static const char *const layouts[] = {[SWIFTKV_LAYOUT_CHANNEL] = "channel", [SWIFTKV_LAYOUT_INTERLEAVED] = "interleaved", NULL};
static const char *const errors[] = {[SWIFTKV_ERRORS_IGNORED] = "ignored", [SWIFTKV_ERRORS_MEASURED] = "measured", NULL};
static const char *const heads[] = {[SWIFTKV_HEAD_EXCLUDED] = "excluded", [SWIFTKV_HEAD_INCLUDED] = "included", NULL};

/* The FPGA stands after the DRAM: where both set a default, that of the FPGA counts. */
#define P struct swiftkv_params
static const struct dse_param swiftkv_params_table[] = {
    DSE_EMBED(P, workload, struct dse_workload, dse_workload_params),
    DSE_EMBED(P, cache, struct dse_cache, dse_cache_params),
    DSE_EMBED(P, economics, struct dse_economics, dse_economics_params),
    DSE_EMBED_REFUSING(P, dram, struct dse_dram, dse_dram_params, dse_dram_refuse),
    DSE_EMBED(P, links, struct dse_links, dse_links_params),
    DSE_PARAM_REF(P, fpga, struct dse_fpga, DSE_KIND_FPGA,
                  "the FPGA: its resources; sets bandwidth_gbs and capacity_gib if no memory is given", "Sec. V"),
    DSE_PARAM_I64(P, processors, 1, 1024, "SKV processors, each with one head at a time", "Sec. IV-A"),
    DSE_PARAM_I64(P, dsps_per_processor, 1, 4096, "DSPs in the MAC array of a processor", "Sec. IV-B"),
    DSE_PARAM_I64(P, extra_dsps, 0, 1024, "other DSPs of a processor: exponential, rotary embedding", "Table II, E9"),
    DSE_PARAM_F64(P, clock_mhz, "MHz", 10, 1000, "clock of the whole accelerator", "Sec. V"),
    DSE_PARAM_I64_UNIT(P, q_int_bits, "bit", 2, 32, "integer bits of attention's fixed-point numbers, sign included", "Sec. III"),
    DSE_PARAM_I64_UNIT(P, q_frac_bits, "bit", 8, 24, "fraction bits of attention's fixed-point numbers", "Sec. III"),
    DSE_PARAM_I64_UNIT(P, lut_bits, "bit", 1, 12, "index width of the exponential's table", "Sec. III"),
    DSE_PARAM_F64_AUTO(P, gemv_dsps, "", 0.25, 64, NULL,
                       "DSPs per weight-activation product; auto: by the widths; 0.5: two products share a DSP", "E1"),
    DSE_PARAM_F64_AUTO(P, fxp_dsps, "", 0.25, 64, NULL, "DSPs per product of attention; auto: by q_int_bits + q_frac_bits", "E1"),
    DSE_PARAM_ENUM(P, gemv_mapping, mappings, "outputs per pass of the array: one, or several if the array is wider than the input",
                   "Sec. IV-B, E3"),
    DSE_PARAM_ENUM(P, gemv_stalls, stalls, "gemv_efficiency slows the arrays alone, or the slower of arrays and HBM", "E4"),
    DSE_PARAM_F64(P, gemv_efficiency, "", 0.01, 1, "share of linear layers' cycles that do work", "E4"),
    DSE_PARAM_I64(P, weight_reuse, 1, 65536, "vectors of a batch or prompt that share one weight read; 1: GEMV after GEMV", "E4"),
    DSE_PARAM_ENUM(P, head, heads, "output head: excluded from a step, or included", "E4"),
    DSE_PARAM_ENUM(P, attention, attentions, "attention algorithm", "Fig. 7b, E6"),
    DSE_PARAM_ENUM(P, value_update, value_updates,
                   "value update of swiftkv: free, on own DSPs, or on the MAC array with full or narrow products", "E6"),
    DSE_PARAM_ENUM(P, kv_fetch, kv_fetches, "grouped-query attention: keys and values fetched once per group, or by each head",
                   "E5"),
    DSE_PARAM_I64(P, block, 1, 65536, "positions in a block of flash attention", "Fig. 7a"),
    DSE_PARAM_I64_UNIT(P, rope_cycles, "cycle", 0, 1000, "rotary embedding of the new token, per head", "Sec. IV-C"),
    DSE_PARAM_I64_UNIT(P, overhead_cycles, "cycle", 0, 1000000,
                       "other attention work per layer and token (conversions, gathering); not published", "E7"),
    DSE_PARAM_F64(P, t_s_cycles, "cycle", 0, 1000, "native, flash: one pass of the softmax over a score", "E6"),
    DSE_PARAM_F64(P, t_v_cycles, "cycle", 0, 1000, "native, flash, streaming: weighting a value of 128 elements", "E6"),
    DSE_PARAM_F64(P, t_b_cycles, "cycle", 0, 10000, "flash: from the last score of a block to the next block", "E6"),
    DSE_PARAM_I64_UNIT(P, budget_cycles, "cycle", 1, 4096, "time per position that budget_dsps assumes", "E11"),
    DSE_PARAM_F64(P, rope_base, "", 2, 1e9, "base of the rotary angles", "Sec. II"),
    DSE_PARAM_ENUM(P, arithmetic_error, errors, "fixed-point error in attention_error: ignored, or as measured (surface)", "E25"),
    DSE_PARAM_ENUM(P, exp_rounding, dse_rounding_names, "the exponential's shift truncates or rounds; affects its error only",
                   "Sec. III, E25"),
    DSE_PARAM_ENUM(P, power, dse_power_names, "chip power: from activity, or constant as published", "E10"),
    DSE_PARAM_F64(P, reference_power_w, "W", 0, 1000, "power of the published chip, without HBM", "Sec. V"),
    DSE_PARAM_F64_AUTO(P, static_share, "", 0, 1, NULL,
                       "share of reference_power_w independent of size and clock; auto: 0 if power = constant, else the book's 16 "
                       "nm leakage",
                       "E10"),
    DSE_EMBED(P, events, struct dse_events, dse_events_params),
    DSE_EMBED(P, sampling, struct dse_sampling, dse_sampling_params),
    DSE_PARAM_F64(P, kv_memory_kib, "KiB", 1, 65536, "event level: KV-weight memory of a processor, for data read ahead",
                  "Table II"),
    DSE_PARAM_ENUM(P, kv_layout, layouts, "event level: a processor's keys and values lie in its own HBM channels, or in all",
                   "ours"),
    DSE_PARAM_I64_UNIT(P, dot_latency_cycles, "cycle", 1, 1000, "event level: latency from a key's first elements to its score",
                       "ours"),
    DSE_PARAM_I64_UNIT(P, compare_latency_cycles, "cycle", 1, 1000,
                       "event level: latency of comparing a score with the maximum and subtracting", "ours"),
    DSE_PARAM_I64_UNIT(P, exp_latency_cycles, "cycle", 1, 1000, "event level: latency of an exponential", "ours"),
    DSE_PARAM_I64_UNIT(P, update_latency_cycles, "cycle", 1, 1000, "event level: latency of scaling the output and adding a value",
                       "ours"),
    DSE_PARAM_I64_UNIT(P, divide_latency_cycles, "cycle", 1, 1000, "event level: latency of dividing a head's output", "ours"),
    DSE_PARAM_I64(P, pipe_fifo, 1, 1024, "event level: FIFO depth between pipeline stages, in positions", "ours"),
    DSE_PARAM_I64(P, sfu_lanes, 1, 4096, "event level: elements that the SFU normalises or converts per cycle", "ours"),
    DSE_PARAM_I64(P, dispatch_lanes, 1, 4096, "event level: elements that the dispatcher deals or gathers per cycle", "ours"),
    DSE_PARAM_I64_UNIT(P, sfu_latency_cycles, "cycle", 1, 1000, "event level: latency of the SFU", "ours"),
    DSE_PARAM_END,
};
#undef P

#define M struct swiftkv_metrics
static const struct dse_metric swiftkv_metrics_table[] = {
    DSE_METRIC_EMBED(M, common, struct dse_common, dse_common_metrics),
    DSE_METRIC_F64(M, linear_us, "us", DSE_LESS, "part of latency_us spent in linear layers", "E4"),
    DSE_METRIC_F64(M, attention_share, "", DSE_LESS, "attention_us over latency_us", "Fig. 8a"),
    DSE_METRIC_COMMUNICATION(M, "E28"),
    DSE_METRIC_CACHED_POSITIONS(M, "E24"),
    DSE_METRIC_F64(M, technique_mib, "MiB", DSE_LESS, "DRAM traffic per token: counts of a cache technique", "E24"),
    DSE_METRIC_F64_OR_NULL(M, retained_mass, "", DSE_MORE, "share of the softmax mass on the kept positions, if measured", "E25",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64_OR_NULL(M, attention_error, "", DSE_LESS, "relative error (norm) of the attention output, if measured", "E25",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64_OR_NULL(M, attention_error_sd, "", DSE_LESS, "standard deviation of attention_error over heads", "E25",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_EMBED(M, task, struct dse_score, dse_score_metrics),
    DSE_METRIC_F64(M, effective_gops, "Gop/s", DSE_MORE, "operation rate of linear layers and attention", "Table IV"),
    DSE_METRIC_F64(M, chip_gop_per_j, "Gop/J", DSE_MORE, "effective_gops over chip_power_w", "Table IV", .mean = DSE_MEAN_CHIP),
    DSE_METRIC_F64(M, tokens_per_j, "tokens/J", DSE_MORE, "tokens per joule, chip and HBM", "Table III"),
    DSE_METRIC_F64(M, chip_power_w, "W", DSE_LESS, "power of the chip, without HBM", "E10"),
    DSE_METRIC_F64(M, dram_power_w, "W", DSE_LESS, "power of the HBM, mean over the step", "E10"),
    DSE_METRIC_F64(M, luts, "", DSE_LESS, "look-up tables used", "E9"),
    DSE_METRIC_F64(M, ffs, "", DSE_LESS, "flip-flops used", "E9"),
    DSE_METRIC_F64(M, brams, "", DSE_LESS, "block RAMs used", "E9"),
    DSE_METRIC_F64(M, dsps, "", DSE_LESS, "DSPs used", "E9"),
    DSE_METRIC_F64(M, lut_share, "", DSE_LESS, "share of the FPGA's look-up tables", "Table II"),
    DSE_METRIC_F64(M, ff_share, "", DSE_LESS, "share of the FPGA's flip-flops", "Table II"),
    DSE_METRIC_F64(M, bram_share, "", DSE_LESS, "share of the FPGA's block RAMs", "Table II"),
    DSE_METRIC_F64(M, dsp_share, "", DSE_LESS, "share of the FPGA's DSPs", "Table II"),
    DSE_METRIC_F64(M, exp_error_percent, "%", DSE_LESS, "largest relative error of the exponential, before rounding", "E12"),
    DSE_METRIC_F64(M, rope_drift, "", DSE_LESS, "bound on the sine and cosine error of rotary embedding at this context", "E14",
                   .mean = DSE_MEAN_LARGEST),
    DSE_METRIC_DRAM_FOOTPRINT(M, "E8"),
    DSE_METRIC_END,
};
#undef M

static const char *const swiftkv_without[] = {"area_mm2", NULL};

static const struct dse_trend swiftkv_trends[] = {
    {.param = "bandwidth_gbs", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "processors", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "dsps_per_processor", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "clock_mhz", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "gemv_efficiency", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "weight_reuse", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "kv_bits", .metric = "tokens_per_s", .effect = DSE_LESS},
    {.param = "eviction_ratio", .metric = "tokens_per_s", .effect = DSE_LESS},
    {.param = "eviction_ratio", .metric = "energy_mj", .effect = DSE_MORE},
    {.param = "weight_bits", .metric = "tokens_per_s", .effect = DSE_LESS},
    {.param = "context", .metric = "latency_us", .effect = DSE_MORE},
    {.param = "context", .metric = "tokens_per_s", .effect = DSE_LESS, .where = "phase=decode"},
    {.param = "context", .metric = "energy_mj", .effect = DSE_MORE, .where = "phase=decode"},
    {.param = "lut_bits", .metric = "exp_error_percent", .effect = DSE_LESS},
    {.param = "q_frac_bits", .metric = "rope_drift", .effect = DSE_LESS},
    {0},
};

static void swiftkv_resolve(void *params)
{
    struct swiftkv_params *p = params;
    dse_dram_resolve(&p->dram);
    dse_economics_resolve(&p->economics);
    int64_t fxp_bits = p->q_int_bits + p->q_frac_bits;
    if (isnan(p->static_share))
        p->static_share = p->power == DSE_POWER_CONSTANT ? 0 : dse_physical(p->economics.costs, DSE_C_leakage_share_16nm);
    if (isnan(p->gemv_dsps)) p->gemv_dsps = swiftkv_product_dsps(p->workload.weight_bits, p->workload.activation_bits);
    if (isnan(p->fxp_dsps)) p->fxp_dsps = swiftkv_product_dsps(fxp_bits, fxp_bits);
}

static const char no_room[] = "weights and KV cache do not fit the DRAM";

double swiftkv_footprint(const struct swiftkv_params *p)
{
    const struct dse_cache_step cache = swiftkv_cache_step(p);
    return dse_cache_footprint(&cache, &p->workload);
}

static const char *swiftkv_check(const void *params)
{
    const struct swiftkv_params *p = params;
    const char *why = dse_workload_check(&p->workload, DSE_CAN_ALL);
    if (!why) why = dse_kv_format_check(&p->workload);
    if (!why) why = dse_dram_check(&p->dram);
    if (!why) why = dse_links_check(&p->links, (double)dse_workload_chips(&p->workload));
    if (!why) why = dse_cache_check(&p->cache, &p->workload, (double)p->workload.context);
    if (!why && (p->workload.chunk_tokens > 0 || p->workload.context_spread > 0) && !dse_eviction_at(p->cache.eviction)->keeps_all)
        why = "eviction cannot be combined with chunk_tokens or context_spread";
    if (why) return why;
    if (swiftkv_footprint(p) > p->dram.capacity_gib * DSE_GIB) return no_room;
    if (swiftkv_gemv_lanes(p) < 1) return "the MAC array has fewer DSPs than one weight-activation product needs";
    if (swiftkv_fxp_lanes(p) < 1) return "the MAC array has fewer DSPs than one product of attention needs";
    if (p->lut_bits > p->q_frac_bits) return "lut_bits is more than q_frac_bits";
    return swiftkv_chip_check(p);
}

static bool swiftkv_shortage(const void *params, const char *reason, struct dse_shortage *ret)
{
    const struct swiftkv_params *p = params;
    *ret = (struct dse_shortage){swiftkv_footprint(p) / DSE_GIB, p->dram.capacity_gib, "GiB"};
    return reason == no_room;
}

/* ---- estimate -------------------------------------------------------------------------------------------------------------- */

static const char *why_null(const void *params, const char *metric)
{
    const struct swiftkv_params *p = params;
    struct dse_arithmetic arithmetic;
    const struct dse_cache_steps steps = swiftkv_cache_steps(p, &arithmetic);
    const char *why = dse_cache_why_null(&steps, metric);
    const struct dse_bill bill = swiftkv_bill_of(p);
    return why ? why : dse_bill_why_null(&bill, metric);
}

static void swiftkv_estimate(const void *params, void *metrics, struct dse_breakdown *breakdown)
{
    struct swiftkv_step step;
    swiftkv_step_init(&step, params);
    swiftkv_report(params, &step, metrics, breakdown);
}

/* Sec. V: the clock of the accelerator on its board. */
#define SWIFTKV_PUBLISHED_MHZ 225

/* Attention over what the cache keeps is exact. */
static void swiftkv_stand(const void *params, struct dse_standing *ret)
{
    const struct swiftkv_params *p = params;
    struct dse_arithmetic arithmetic;
    const struct dse_cache_steps steps = swiftkv_cache_steps(p, &arithmetic);
    dse_cache_stand(&steps, ret);
    if (p->clock_mhz > SWIFTKV_PUBLISHED_MHZ)
        dse_standing_add(ret, "the design is published at 225 MHz; timing closure at a higher clock is not known (clock_mhz)");
}

static const char *const swiftkv_closed_form_only[] = {"dram_efficiency", NULL};

const struct dse_model dse_model_swiftkv = {
    .name = "swiftkv",
    .title = "SwiftKV: single-pass attention on an FPGA",
    .cite = "J. Zhang et al., SwiftKV: An Edge-Oriented Attention Algorithm and Multi-Head Accelerator for Fast, Efficient LLM "
            "Decoding, arXiv:2601.10953, 2026",
    .version = 8,
    .params = swiftkv_params_table,
    .params_size = sizeof(struct swiftkv_params),
    .metrics = swiftkv_metrics_table,
    .metrics_size = sizeof(struct swiftkv_metrics),
    .without = swiftkv_without,
    .closed_form_only = swiftkv_closed_form_only,
    .event_level_only = dse_dram_timing_names,
    .resolve = swiftkv_resolve,
    .check = swiftkv_check,
    .shortage = swiftkv_shortage,
    .estimate = swiftkv_estimate,
    .bound = swiftkv_bound,
    .simulate = swiftkv_simulate,
    .why_null = why_null,
    .stand = swiftkv_stand,
    .equations = swiftkv_equations_table,
    .equations_size = sizeof(struct swiftkv_equations),
    .equate = swiftkv_equate,
    .trends = swiftkv_trends,
    .techniques = (const struct dse_technique[]){DSE_CACHE_TECHNIQUE, {NULL, NULL, NULL}},
};
