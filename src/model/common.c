/* What all models share: the common metrics, the names of bounds, the breakdown. */
#include <dse/model.h>

#include <assert.h>

const char *const dse_bound_names[] = {"compute", "dram", "latency", NULL};
_Static_assert(sizeof dse_bound_names / sizeof *dse_bound_names == DSE_BOUND_COUNT + 1, "every bound has a name");

const struct dse_metric dse_common_metrics[] = {
    DSE_METRIC_F64(struct dse_common, tokens_per_s, "1/s", DSE_MORE, "tokens a second, all sequences of the batch together", ""),
    DSE_METRIC_F64(struct dse_common, latency_us, "us", DSE_LESS, "time of one step, as one user waits for it", ""),
    DSE_METRIC_F64(struct dse_common, attention_us, "us", DSE_LESS, "part of latency_us spent in attention", ""),
    DSE_METRIC_F64(struct dse_common, energy_mj, "mJ", DSE_LESS, "energy a token, chip and DRAM", ""),
    DSE_METRIC_F64(struct dse_common, power_w, "W", DSE_LESS, "average power, chip and DRAM", ""),
    DSE_METRIC_F64(struct dse_common, area_mm2, "mm2", DSE_LESS, "chip area, logic and SRAM", ""),
    DSE_METRIC_F64(struct dse_common, dram_mib, "MiB", DSE_LESS, "DRAM traffic a token", ""),
    DSE_METRIC_F64(struct dse_common, compute_utilization, "", DSE_MORE, "operations done over what the peak would do in the time",
                   ""),
    DSE_METRIC_F64(struct dse_common, dram_utilization, "", DSE_MORE,
                   "bytes moved over what the peak bandwidth would move in the time", ""),
    DSE_METRIC_ENUM(struct dse_common, bound, dse_bound_names, "what limits the larger share of the step", ""),
    DSE_METRIC_END,
};

void dse_breakdown_add(struct dse_breakdown *breakdown, struct dse_part part)
{
    if (!breakdown) return;
    assert(breakdown->n < DSE_PARTS_MAX);
    breakdown->part[breakdown->n++] = part;
}
