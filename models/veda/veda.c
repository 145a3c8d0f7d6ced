/* VEDA: the tables, check and estimate. The closed form is in veda_array.c (the PE array), veda_point.c (the cache),
 * veda_attention.c, veda_step.c (linear layers) and veda_chip.c (area, power). */
#include "veda_llms.h"

#include <dse/units.h>

#include <math.h>
#include <stddef.h>
#include <string.h>

static const char *const dataflows[] = {[VEDA_FLEXIBLE] = "flexible", [VEDA_ADDER_TREE] = "adder-tree", NULL};
static const char *const softmaxes[] = {[VEDA_ELEMENT_SERIAL] = "element-serial", [VEDA_STAGE] = "stage", NULL};
static const char *const drains[] = {[VEDA_DRAIN_OVERLAPPED] = "overlapped", [VEDA_DRAIN_TILE] = "tile", NULL};
static const char *const sharings[] = {[VEDA_SHARE_GROUP] = "group", [VEDA_SHARE_NOTHING] = "nothing", NULL};
static const char *const causals[] = {[VEDA_SKIPPED] = "skipped", [VEDA_COMPUTED] = "computed", NULL};
static const char *const gathers[] = {[VEDA_GATHER_STREAM] = "stream", [VEDA_GATHER_ROWS] = "rows", NULL};

#define P struct veda_params
static const struct dse_param veda_params_table[] = {
    DSE_EMBED(P, workload, struct dse_workload, dse_workload_params),
    DSE_EMBED(P, economics, struct dse_economics, dse_economics_params),
    DSE_EMBED(P, request, struct dse_request, dse_request_params),
    DSE_EMBED_REFUSING(P, dram, struct dse_dram, dse_dram_params, dse_dram_refuse),
    DSE_EMBED(P, links, struct dse_links, dse_links_params),
    DSE_PARAM_I64(P, devices, 1, 1024, "chips, each with its own DRAM, that share heads and columns of the weights",
                  "Sec. VI, E13"),
    DSE_PARAM_F64(P, exchange_us, "us", 0, 10000, "time to gather a vector from all devices, twice per layer", "E13"),
    DSE_PARAM_I64(P, pe_rows, 1, 256, "rows of one PE array", "Sec. IV-A"),
    DSE_PARAM_I64(P, pe_columns, 1, 256, "columns of one PE array: inputs of the first level of its adder tree", "Sec. IV-A"),
    DSE_PARAM_I64(P, pe_copies, 1, 256, "PE arrays of one device", "Table I"),
    DSE_PARAM_F64(P, clock_ghz, "GHz", 0.05, 10, "clock of everything on chip", "Sec. VI"),
    DSE_PARAM_ENUM(P, dataflow, dataflows, "flexible: inner and outer products by turns; adder-tree: trees of fixed width",
                   "Sec. IV-A, E2, E3"),
    DSE_PARAM_I64(P, tree_width, 1, 16384, "inputs of an adder tree", "E3"),
    DSE_PARAM_F64(P, v_access_cycles, "cycle", 0, 16, "cycles per position that adder trees need to read V by columns", "E7"),
    DSE_PARAM_ENUM(P, softmax, softmaxes, "softmax and norms: element by element beside the GEMVs, or a stage between them",
                   "Sec. IV-B, E9, E12"),
    DSE_PARAM_I64(P, sfu_exp, 1, 256, "EXP units", "Table I"),
    DSE_PARAM_I64(P, sfu_div, 1, 256, "dividers", "Table I"),
    DSE_PARAM_I64(P, sfu_fifo, 1, 4096, "FIFO of the special function unit: scores in a softmax tile", "Table I"),
    DSE_PARAM_I64(P, softmax_passes, 1, 4, "softmax = stage: passes over the scores", "E9"),
    DSE_PARAM_ENUM(P, drain, drains, "last softmax tile of a head: overlapped with the next head, or exposed", "E9"),
    DSE_PARAM_ENUM(P, sharing, sharings, "rows of K and V are fetched once per group of query heads, or by each head", "E8"),
    DSE_PARAM_ENUM(P, causal, causals, "prefill: masked positions are skipped or computed", "Sec. V, E5"),
    DSE_PARAM_ENUM(P, gather, gathers, "DRAM efficiency of keys and values: that of streams, or by row size", "E8"),
    DSE_EMBED(P, cache, struct dse_cache, dse_cache_params),
    DSE_PARAM_I64(P, vote_fifo, 0, 1048576, "entries of the voting engine's FIFO and vote buffer; 0: no engine", "Table I"),
    DSE_PARAM_I64(P, vote_lanes, 1, 256, "scores that the voting engine takes per cycle", "Sec. V, E10"),
    DSE_PARAM_F64(P, buffer_kib, "KiB", 16, 16384, "on-chip buffer", "Table I"),
    DSE_PARAM_REF(P, sram, struct dse_sram_table, DSE_KIND_SRAM, "area and power of the buffer", "Table I"),
    DSE_PARAM_I64_UNIT(P, sram_word_bits, "bit", 8, 8192, "word width of an SRAM macro, if the table has several", "E14"),
    DSE_PARAM_REF(P, technology, struct dse_technology, DSE_KIND_TECHNOLOGY, "technology node of the chip; Table I is 28 nm",
                  "E14"),
    DSE_PARAM_ENUM(P, power, dse_power_names, "energy from activity, or the constant power of Table I", "E28, E15"),
    DSE_PARAM_ENUM(P, area, dse_area_names, "area of the die with memory interfaces, or of the modules of Table I alone", "E30"),
    DSE_EMBED(P, events, struct dse_events, dse_events_params),
    DSE_EMBED(P, sampling, struct dse_sampling, dse_sampling_params),
    DSE_PARAM_F64(P, stream_fifo_kib, "KiB", 1, 65536, "event level: FIFO of weights, keys and values read ahead of the array",
                  "ours"),
    DSE_PARAM_I64(P, norm_fifo, 1, 4096, "event level: attention weights in normalisation or waiting for the array", "ours"),
    DSE_PARAM_I64_UNIT(P, sfu_exp_cycles, "cycle", 1, 1000, "event level: latency of an exponential", "ours"),
    DSE_PARAM_I64_UNIT(P, sfu_div_cycles, "cycle", 1, 1000, "event level: latency of a division or a square root", "ours"),
    DSE_PARAM_END,
};
#undef P

#define M struct veda_metrics
static const struct dse_metric veda_metrics_table[] = {
    DSE_METRIC_EMBED(M, common, struct dse_common, dse_common_metrics),
    DSE_METRIC_CACHED_POSITIONS(M, "E5, E6"),
    DSE_METRIC_F64_OR_NULL(M, retained_mass, "", DSE_MORE, "share of the softmax mass on the kept positions, if measured", "E16",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64_OR_NULL(M, attention_error, "", DSE_LESS, "relative error (norm) of the attention output, if measured", "E16",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64_OR_NULL(M, attention_error_sd, "", DSE_LESS, "standard deviation of attention_error over heads", "E16",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_EMBED(M, task, struct dse_score, dse_score_metrics),
    DSE_METRIC_F64(M, linear_us, "us", DSE_LESS, "part of latency_us spent in linear layers", "E11"),
    DSE_METRIC_F64(M, attention_share, "", DSE_LESS, "attention_us over latency_us", ""),
    DSE_METRIC_COMMUNICATION(M, "E13, E34"),
    DSE_METRIC_F64(M, eviction_speedup, "", DSE_MORE, "attention time without eviction over attention time with eviction", "Fig. 8",
                   .mean = DSE_MEAN_ATTENTION),
    DSE_METRIC_F64(M, array_utilization, "", DSE_MORE, "multiply-adds over PEs times cycles, while the array works", "E2, E3"),
    DSE_METRIC_F64(M, scores_utilization, "", DSE_MORE, "multiply-adds over PEs times cycles, in q K^T", "E7",
                   .mean = DSE_MEAN_ATTENTION),
    DSE_METRIC_F64(M, values_utilization, "", DSE_MORE, "multiply-adds over PEs times cycles, in s V", "E7",
                   .mean = DSE_MEAN_ATTENTION),
    DSE_METRIC_F64(M, softmax_exposed_us, "us", DSE_LESS, "part of attention_us in which the array and the DRAM wait for softmax",
                   "E9"),
    DSE_METRIC_F64(M, vote_exposed_us, "us", DSE_LESS,
                   "part of attention_us in which the array and the DRAM wait for the voting engine", "E10"),
    DSE_METRIC_F64(M, weights_mib, "MiB", DSE_LESS, "DRAM traffic per token: weights", "E11"),
    DSE_METRIC_F64(M, kv_mib, "MiB", DSE_LESS, "DRAM traffic per token: keys and values read", "E8"),
    DSE_METRIC_F64(M, vote_mib, "MiB", DSE_LESS, "DRAM traffic per token: vote counts or accumulated scores", "E10"),
    DSE_METRIC_F64(M, energy_dram_mj, "mJ", DSE_LESS, "energy per token: DRAM", "E15"),
    DSE_METRIC_F64(M, energy_sram_mj, "mJ", DSE_LESS, "energy per token: on-chip buffer", "E28"),
    DSE_METRIC_F64(M, energy_modules_mj, "mJ", DSE_LESS, "energy per token: array, voting engine, special functions, schedule",
                   "E28"),
    DSE_METRIC_F64_OR_NULL(M, energy_clock_mj, "mJ", DSE_LESS, "energy per token: clock tree, idle time included", "E28"),
    DSE_METRIC_F64_OR_NULL(M, energy_leakage_mj, "mJ", DSE_LESS, "energy per token: leakage", "E28"),
    DSE_METRIC_F64_OR_NULL(M, energy_interface_mj, "mJ", DSE_LESS, "energy per token: memory interface on the die", "E28"),
    DSE_METRIC_F64(M, energy_links_mj, "mJ", DSE_LESS, "energy per token: links between chips", "E34"),
    DSE_METRIC_F64_OR_NULL(M, supply_v, "V", DSE_NEITHER, "supply voltage that the clock needs", "E29", .mean = DSE_MEAN_TIME),
    DSE_METRIC_F64(M, tokens_per_j, "tokens/J", DSE_MORE, "tokens per joule, chip and DRAM", "E15"),
    DSE_METRIC_F64(M, chip_power_w, "W", DSE_LESS, "power of all chips, without DRAM and its interface", "Table I"),
    DSE_METRIC_CORE_AREA(M, "E14"),
    DSE_METRIC_F64(M, phy_mm2, "mm2", DSE_LESS, "part of area_mm2: memory PHYs and controllers", "E30"),
    DSE_METRIC_F64(M, noc_mm2, "mm2", DSE_LESS, "part of area_mm2: on-chip network; 0 for a chip of one array", "E30"),
    DSE_METRIC_F64_OR_NULL(M, links_mm2, "mm2", DSE_LESS, "part of area_mm2: PHYs and controllers of the links between chips",
                           "E34"),
    DSE_METRIC_F64(M, matmul_gops, "Gop/s", DSE_MORE, "operations of all GEMVs over the time of the step", "Table II"),
    DSE_METRIC_F64(M, chip_gop_per_j, "Gop/J", DSE_MORE, "matmul_gops over chip_power_w, without DRAM", "Table II",
                   .mean = DSE_MEAN_CHIP),
    DSE_METRIC_DRAM_FOOTPRINT(M, ""),
    DSE_METRIC_END,
};
#undef M

static const struct dse_trend trends[] = {
    {.param = "bandwidth_gbs", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "clock_ghz", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "pe_rows", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "pe_columns", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "pe_copies", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "sfu_exp", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "sfu_div", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "vote_lanes", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "buffer_kib", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "buffer_kib", .metric = "dram_mib", .effect = DSE_LESS},
    /* A longer prompt shares the weights among more tokens, so this is of decode alone. */
    {.param = "context", .metric = "tokens_per_s", .effect = DSE_LESS, .where = "phase=decode"},
    {.param = "context", .metric = "energy_mj", .effect = DSE_MORE, .where = "phase=decode"},
    {.param = "context", .metric = "attention_us", .effect = DSE_MORE},
    {.param = "prompt", .metric = "tokens_per_s", .effect = DSE_LESS},
    {.param = "eviction_ratio", .metric = "tokens_per_s", .effect = DSE_LESS},
    {.param = "eviction_ratio", .metric = "energy_mj", .effect = DSE_MORE},
    {.param = "kv_bits", .metric = "tokens_per_s", .effect = DSE_LESS},
    {.param = "weight_bits", .metric = "tokens_per_s", .effect = DSE_LESS},
    {.param = "clock_ghz", .metric = "supply_v", .effect = DSE_MORE, .where = "power=activity"},
    {.param = "clock_ghz", .metric = "energy_clock_mj", .effect = DSE_MORE, .where = "power=activity"},
    {.param = "clock_ghz", .metric = "energy_modules_mj", .effect = DSE_MORE, .where = "power=activity"},
    {.param = "bandwidth_gbs", .metric = "area_mm2", .effect = DSE_MORE},
    {.param = NULL},
};

static void veda_resolve(void *params)
{
    struct veda_params *p = params;
    dse_dram_resolve(&p->dram);
    dse_economics_resolve(&p->economics);
}

static const char *veda_check(const void *params)
{
    struct veda_point pt;
    const struct veda_params *p = params;
    const char *why = dse_workload_unknown(&p->workload, DSE_CAN_ALL & ~DSE_CAN_ACTIVATIONS);
    if (why) return why;
    veda_point_init(&pt, params);
    why = veda_point_check(&pt);
    if (!why && !veda_is_simple(&p->workload)) why = veda_layers_check(&pt);
    if (!why) why = dse_kv_format_check(&pt.p->workload);
    return why ? why : veda_chip_check(params);
}

static bool veda_shortage(const void *params, const char *reason, struct dse_shortage *ret)
{
    struct veda_point pt;
    if (dse_llm_unlike_plain(((const struct veda_params *)params)->workload.llm)) {
        *ret = (struct dse_shortage){dse_workload_footprint(&((const struct veda_params *)params)->workload) / DSE_GIB,
                                     ((const struct veda_params *)params)->dram.capacity_gib, "GiB"};
        return reason && strstr(reason, "capacity_gib");
    }
    veda_point_init(&pt, params);
    return veda_point_shortage(&pt, reason, ret) || veda_chip_shortage(params, reason, ret);
}

/* ---- estimate ----------------------------------------------------------------------------------------------------------- */

static struct dse_bill bill_of(const struct veda_params *p, const struct veda_chip *chip)
{
    return dse_bill_of_chip(&p->economics, (double)(p->devices * dse_workload_chips(&p->workload)), chip->die.area_mm2,
                            p->technology->node_nm, &p->dram);
}

static const char no_links_mm2[] = "the area of this link's PHY is not published, and area_mm2 excludes it (interconnect)";

static bool lacks_links(const struct veda_params *p)
{
    return dse_workload_chips(&p->workload) > 1 && isnan(veda_links_mm2(p));
}

static const char *why_null(const void *params, const char *metric)
{
    const struct veda_params *p = params;
    if (strcmp(metric, "links_mm2") == 0) return lacks_links(p) ? no_links_mm2 : NULL;
    const struct dse_cache_steps steps = veda_cache_steps(p);
    const char *why = dse_why_not_apart(p->power, metric);
    struct veda_chip chip;
    if (!why) why = dse_cache_why_null(&steps, metric);
    if (why) return why;
    veda_chip_at(params, &chip);
    const struct dse_bill bill = bill_of(params, &chip);
    return dse_bill_why_null(&bill, metric);
}

static void fill_common(struct dse_common *m, const struct veda_point *pt, const struct veda_step *s, const struct veda_chip *chip,
                        double joules)
{
    const struct dse_dram *dram = &pt->p->dram;
    const struct dse_bill bill = bill_of(pt->p, chip);
    struct dse_totals totals = {
        .tokens = pt->tokens,
        .seconds = s->time_s,
        .attention_s = s->attention.time_s,
        .joules = joules,
        .bytes = s->bytes,
        .ops = s->ops,
        .peak_ops = DSE_OPS_PER_MAC * pt->devices * pt->array.pes * pt->clock_hz,
        .peak_bytes = pt->devices * dse_dram_peak(dram),
        .area_mm2 = pt->devices * chip->die.area_mm2,
        .bound = dse_bound_of(s->compute_bound_s, s->dram_bound_s, s->latency_bound_s),
        .bill = &bill,
    };
    *m = dse_common_of(&totals);
}

/* Useful operations over what the PEs of all devices could do in gemv_s. */
static double utilization(const struct veda_point *pt, double ops, double gemv_s)
{
    if (gemv_s <= 0) return 0;
    return ops / (DSE_OPS_PER_MAC * pt->devices * pt->array.pes * pt->clock_hz * gemv_s);
}

static void fill_attention(struct veda_metrics *m, const struct veda_point *pt, const struct veda_step *s, double whole_s)
{
    const struct veda_attention *a = &s->attention;
    m->cached_positions = pt->positions / pt->queries;
    m->linear_us = s->linear_s * DSE_US_PER_S;
    m->attention_share = a->time_s / s->time_s;
    m->eviction_speedup = a->time_s > 0 ? whole_s / a->time_s : 1;
    m->array_utilization = utilization(pt, s->ops, s->gemv_s);
    m->scores_utilization = utilization(pt, a->ops - a->value_ops, a->scores.gemv_s);
    m->values_utilization = utilization(pt, a->value_ops, a->values.gemv_s);
    m->softmax_exposed_us = a->softmax_exposed_s * DSE_US_PER_S;
    m->vote_exposed_us = a->vote_exposed_s * DSE_US_PER_S;
}

/* E15, E28. */
static void fill_energy(struct veda_metrics *m, const struct veda_point *pt, const struct veda_step *s,
                        const struct veda_chip *chip, const struct veda_power *power, const struct dse_joules *j)
{
    double each = DSE_MJ_PER_J / pt->tokens, apart = power->constant ? (double)NAN : each;
    m->energy_dram_mj = j->dram * each;
    m->energy_links_mj = j->links * each;
    m->energy_sram_mj = j->sram * each;
    m->energy_modules_mj = j->modules * each;
    m->energy_clock_mj = j->clock * apart;
    m->energy_leakage_mj = j->leakage * apart;
    m->energy_interface_mj = j->interface * apart;
    m->supply_v = power->constant ? (double)NAN : chip->supply.volts;
    m->tokens_per_j = DSE_MJ_PER_J / m->common.energy_mj;
    m->chip_power_w = power->constant ? power->watts : (j->leakage + j->clock + j->modules + j->sram) / s->time_s;
}

void veda_report(const struct veda_point *pt, const struct veda_step *step, const struct veda_work *work, double whole_s,
                 struct veda_metrics *m, struct veda_power *ret_power)
{
    const struct veda_params *p = pt->p;
    struct veda_chip chip;
    struct veda_power power;
    veda_chip_at(p, &chip);
    veda_power_at(pt, &chip, &power);
    struct dse_joules joules = veda_joules_of(&power, work);

    double mib = 1 / (DSE_MIB * pt->tokens);
    fill_common(&m->common, pt, step, &chip, joules.all);
    fill_energy(m, pt, step, &chip, &power, &joules);
    fill_attention(m, pt, step, whole_s);
    struct dse_kept quality;
    const struct dse_cache_steps seen = veda_cache_steps(p);
    dse_cache_quality(&seen, &quality);
    m->retained_mass = quality.mass;
    m->attention_error = quality.error;
    m->attention_error_sd = quality.error_sd;
    dse_cache_score(&seen, &m->task);
    m->weights_mib = step->weight_bytes * mib;
    m->kv_mib = step->attention.kv_bytes * mib;
    m->vote_mib = step->attention.vote_bytes * mib;
    m->core_mm2 = pt->devices * chip.die.core_mm2;
    m->phy_mm2 = pt->devices * chip.die.phy_mm2;
    m->noc_mm2 = pt->devices * chip.die.noc_mm2;
    m->links_mm2 = pt->devices * chip.links_mm2;
    m->matmul_gops = step->ops / step->time_s / DSE_GIGA;
    m->chip_gop_per_j = m->matmul_gops / m->chip_power_w;
    m->communication_us = step->exchange_s * DSE_US_PER_S;
    *ret_power = power;
}

void veda_report_step(const struct veda_point *pt, const struct veda_step *step, double whole_s, struct veda_metrics *m,
                      struct dse_breakdown *breakdown)
{
    const struct veda_work work = veda_step_work(pt, step);
    struct veda_power power;
    veda_report(pt, step, &work, whole_s, m, &power);
    m->dram_footprint_gib = veda_footprint(pt) / pt->devices / DSE_GIB;
    if (breakdown) veda_break_down(pt, step, &power, breakdown);
}

/* E32 to E35. */
static void estimate_layers(const struct veda_params *p, struct veda_metrics *m, struct dse_breakdown *breakdown)
{
    struct veda_point pt, all;
    struct veda_layers step;
    veda_point_init(&pt, p);
    all = pt;
    veda_layers_at(&pt, &step);
    const double whole_s = veda_layers_whole(&all, &step);
    veda_layers_report(&pt, &step, whole_s, m, breakdown);
}

static void veda_estimate(const void *params, void *metrics, struct dse_breakdown *breakdown)
{
    struct veda_point pt;
    struct veda_step step;
    if (!veda_is_simple(&((const struct veda_params *)params)->workload)) {
        estimate_layers(params, metrics, breakdown);
        return;
    }
    veda_point_init(&pt, params);
    veda_step_at(&pt, &step);
    struct veda_attention whole = step.attention;
    if (!pt.policy->keeps_all) {
        struct veda_point all = pt;
        veda_point_keep_all(&all);
        veda_attention_at(&all, &whole);
    }
    veda_report_step(&pt, &step, whole.time_s, metrics, breakdown);
}

static void veda_stand(const void *params, struct dse_standing *ret)
{
    const struct veda_params *p = params;
    const struct dse_cache_steps steps = veda_cache_steps(p);
    dse_cache_stand(&steps, ret);
    dse_standing_add(ret, dse_area_unpriced(p->clock_ghz, VEDA_PUBLISHED_GHZ));
    dse_standing_add(ret, dse_area_without_edges(p->area));
    dse_standing_add(ret, dse_tech_sram_beyond(p->technology, dse_sram_node_nm(p->sram)));
    if (lacks_links(p)) dse_standing_add(ret, no_links_mm2);
}

static const char *const veda_closed_form_only[] = {"dram_efficiency", NULL};

const struct dse_model dse_model_veda = {
    .name = "veda",
    .title = "VEDA: voting-based eviction and a flexible dataflow",
    .cite = "Z. Wang et al., VEDA: Efficient LLM Generation Through Voting-based KV Cache Eviction and Dataflow-flexible "
            "Accelerator, DAC 2025",
    .version = 10,
    .params = veda_params_table,
    .params_size = sizeof(struct veda_params),
    .metrics = veda_metrics_table,
    .metrics_size = sizeof(struct veda_metrics),
    .closed_form_only = veda_closed_form_only,
    .resolve = veda_resolve,
    .check = veda_check,
    .shortage = veda_shortage,
    .estimate = veda_estimate,
    .bound = veda_bound,
    .simulate = veda_simulate,
    .stand = veda_stand,
    .why_null = why_null,
    .equations = veda_equations_table,
    .equations_size = sizeof(struct veda_equations),
    .equate = veda_equate,
    .trends = trends,
    .techniques = (const struct dse_technique[]){DSE_CACHE_TECHNIQUE, {NULL, NULL, NULL}},
};
