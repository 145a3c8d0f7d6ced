/* The rows of a neural engine of the catalog. */
#include <dse/catalog.h>

const struct dse_param dse_npu_fields[] = {
    DSE_PARAM_F64(struct dse_npu, engine_tflops, "Tflop/s", 0.01, 1000, "fp16 rate of fused matrix products", ""),
    DSE_PARAM_F64(struct dse_npu, fill_rows, "", 0, 1e5,
                  "rows that a layer's weights take as long as, with (channels, 1, rows) tensors", ""),
    DSE_PARAM_F64(struct dse_npu, square_gain, "", 1, 100, "how much faster few rows are as (channels, height, width) tensors", ""),
    DSE_PARAM_F64(struct dse_npu, narrow_gain, "", 1, 16, "how much faster narrow weights stream than those of 16 bits, at most",
                  ""),
    DSE_PARAM_F64(struct dse_npu, dispatch_us, "us", 0, 100000, "least time of a program", ""),
    DSE_PARAM_F64(struct dse_npu, engine_base_w, "W", 0, 1000, "power while it streams and computes next to nothing", ""),
    DSE_PARAM_F64(struct dse_npu, engine_op_pj, "pJ", 0, 1000, "energy of an operation on top of it", ""),
    DSE_PARAM_F64(struct dse_npu, engine_idle_w, "W", 0, 1000, "power while it waits for the host", ""),
    DSE_PARAM_F64_OPTIONAL(struct dse_npu, node_nm, "nm", 1, 1000, "node of the chip that it is on", ""),
    DSE_PARAM_END,
};
