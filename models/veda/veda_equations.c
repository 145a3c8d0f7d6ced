/* What the paper says about one head, one vote and one module: equations for claims and readers. */
#include "veda.h"

#include <dse/units.h>

#include <math.h>
#include <stddef.h>

#define Q struct veda_equations
const struct dse_metric veda_equations_table[] = {
    DSE_METRIC_F64(Q, target_length, "", DSE_NEITHER, "S: positions kept by eviction; NULL without eviction", "E6, Fig. 3"),
    DSE_METRIC_F64(Q, reduced_positions, "", DSE_NEITHER, "positions that eviction saves per query, on average", "E6"),
    DSE_METRIC_F64(Q, scores_row_cycles, "cycle", DSE_LESS, "q K^T of a query head, per cached position", "E7, Sec. IV-A"),
    DSE_METRIC_F64(Q, values_row_cycles, "cycle", DSE_LESS, "s V of a query head, per cached position", "E7, Sec. IV-A"),
    DSE_METRIC_F64(Q, values_epochs, "", DSE_LESS, "passes of an adder tree of tree_width over the positions in s V",
                   "E3, Introduction"),
    DSE_METRIC_F64(Q, attention_head_cycles, "cycle", DSE_LESS, "both GEMVs of one query head and sequence", "E7"),
    DSE_METRIC_F64(Q, causal_share, "", DSE_NEITHER, "share of the prompt's query-position pairs that are computed", "E5, Sec. V"),
    DSE_METRIC_F64(Q, mean_score, "", DSE_NEITHER, "mean attention score of a query: 1 over its cached positions", "Sec. III"),
    DSE_METRIC_F64(Q, items_oldest, "", DSE_NEITHER, "scores accumulated for the oldest position", "E10, Sec. III"),
    DSE_METRIC_F64(Q, items_newest, "", DSE_NEITHER, "scores accumulated for the newest position", "E10, Sec. III"),
    DSE_METRIC_F64(Q, threshold_cv, "", DSE_NEITHER,
                   "spread of scores (deviation over mean) above which only the smallest score gets a vote", "E10, Fig. 3"),
    DSE_METRIC_F64(Q, peak_gops, "Gop/s", DSE_MORE, "peak: two operations per PE and cycle, all devices", "Sec. VI"),
    DSE_METRIC_F64(Q, linear_gops, "Gop/s", DSE_MORE, "operations of linear layers over the time of the step", "Table II"),
    DSE_METRIC_F64(Q, pe_area_percent, "%", DSE_NEITHER, "PE array's share of the area", "Table I"),
    DSE_METRIC_F64(Q, pe_power_percent, "%", DSE_NEITHER, "PE array's share of the power", "Table I"),
    DSE_METRIC_F64(Q, vote_area_percent, "%", DSE_NEITHER, "voting engine's share of the area", "Table I"),
    DSE_METRIC_F64(Q, vote_power_percent, "%", DSE_NEITHER, "voting engine's share of the power", "Table I"),
    DSE_METRIC_F64(Q, sfu_area_percent, "%", DSE_NEITHER, "special function unit's share of the area", "Table I"),
    DSE_METRIC_F64(Q, sfu_power_percent, "%", DSE_NEITHER, "special function unit's share of the power", "Table I"),
    DSE_METRIC_F64(Q, buffer_area_percent, "%", DSE_NEITHER, "on-chip buffer's share of the area", "Table I"),
    DSE_METRIC_F64(Q, buffer_power_percent, "%", DSE_NEITHER, "on-chip buffer's share of the power", "Table I"),
    DSE_METRIC_END,
};
#undef Q

/* Scores that meet position `j` until step `l`: the causal triangle has l - j + 1 of them in a column. */
static double items(double l, double j)
{
    return l - j + 1;
}

static void equate_lengths(const struct veda_point *pt, struct veda_equations *e)
{
    const struct veda_params *p = pt->p;
    struct veda_point all = *pt;
    veda_point_keep_all(&all);
    double scores = veda_scores_cycles(pt), values = veda_values_cycles(pt), seen = (double)p->workload.context;
    bool some = pt->positions > 0; /* a cache of length 0 is not feasible, but may be asked for */
    e->target_length = pt->policy->keeps_all ? (double)NAN : pt->target;
    e->reduced_positions = (all.positions - pt->positions) / pt->queries;
    e->scores_row_cycles = some ? scores / pt->positions : (double)NAN;
    e->values_row_cycles = some ? values / pt->positions : (double)NAN;
    e->mean_score = some ? pt->queries / pt->positions : (double)NAN;
    e->values_epochs = veda_span_sum(&pt->span, pt->array.width);
    e->attention_head_cycles = scores + values;
    e->causal_share = (seen + 1) / (2 * seen);
    e->items_oldest = items(seen, 1);
    e->items_newest = items(seen, seen);
    e->threshold_cv = p->cache.threshold_b > 0 ? p->cache.threshold_a / p->cache.threshold_b : (double)NAN;
}

static void equate_chip(const struct veda_params *p, struct veda_equations *e)
{
    struct veda_chip chip;
    veda_chip_at(p, &chip);
    e->pe_area_percent = 100 * chip.area_mm2[VEDA_PE_ARRAY] / chip.total_mm2;
    e->pe_power_percent = 100 * chip.power_w[VEDA_PE_ARRAY] / chip.total_w;
    e->vote_area_percent = 100 * chip.area_mm2[VEDA_VOTING_ENGINE] / chip.total_mm2;
    e->vote_power_percent = 100 * chip.power_w[VEDA_VOTING_ENGINE] / chip.total_w;
    e->sfu_area_percent = 100 * chip.area_mm2[VEDA_SFU] / chip.total_mm2;
    e->sfu_power_percent = 100 * chip.power_w[VEDA_SFU] / chip.total_w;
    e->buffer_area_percent = 100 * chip.area_mm2[VEDA_BUFFER] / chip.total_mm2;
    e->buffer_power_percent = 100 * chip.power_w[VEDA_BUFFER] / chip.total_w;
}

void veda_equate(const void *params, void *equations)
{
    const struct veda_params *p = params;
    struct veda_equations *e = equations;
    struct veda_point pt;
    struct veda_step step;
    if (dse_workload_unknown(&p->workload, DSE_CAN_ACTIVATIONS | DSE_CAN_SCALES)) {
        dse_equations_unknown(e, sizeof *e);
        return;
    }
    veda_point_init(&pt, p);
    veda_step_at(&pt, &step);
    equate_lengths(&pt, e);
    equate_chip(p, e);
    e->peak_gops = DSE_OPS_PER_MAC * pt.devices * pt.array.pes * pt.clock_hz / DSE_GIGA;
    e->linear_gops = (step.ops - step.attention.ops) / step.time_s / DSE_GIGA;
}
