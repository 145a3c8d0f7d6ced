/* The rows of an FPGA of the catalog. */
#include <dse/catalog.h>

const struct dse_param dse_fpga_fields[] = {
    DSE_PARAM_I64(struct dse_fpga, luts, 1, 100000000, "look-up tables", ""),
    DSE_PARAM_I64(struct dse_fpga, ffs, 1, 100000000, "flip-flops", ""),
    DSE_PARAM_I64(struct dse_fpga, brams, 1, 1000000, "block RAMs of 36 Kbit", ""),
    DSE_PARAM_I64(struct dse_fpga, dsps, 1, 1000000, "DSP slices", ""),
    DSE_PARAM_F64(struct dse_fpga, bandwidth_gbs, "GB/s", 1, 1e5, "peak DRAM bandwidth", ""),
    DSE_PARAM_F64(struct dse_fpga, capacity_gib, "GiB", 0.1, 1e5, "DRAM capacity", ""),
    DSE_EMBED_OPTIONAL(struct dse_fpga, trade, struct dse_trade, dse_trade_fields),
    DSE_PARAM_END,
};
