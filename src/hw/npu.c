/* The rows of a neural engine of the catalog. */
#include <dse/catalog.h>

const struct dse_param dse_npu_fields[] = {
    DSE_PARAM_F64(struct dse_npu, engine_tflops, "Tflop/s", 0.01, 1000, "fp16 rate of fused matrix products", ""),
    DSE_PARAM_F64(struct dse_npu, fill_rows, "", 0, 1e5,
                  "weight loading of a layer, in rows of equal compute time, with (channels, 1, rows) tensors", ""),
    DSE_PARAM_F64(struct dse_npu, square_gain, "", 1, 100, "speedup of few rows as (channels, height, width) tensors", ""),
    DSE_PARAM_F64(struct dse_npu, narrow_gain, "", 1, 16, "largest speedup of streaming weights narrower than 16 bits", ""),
    DSE_PARAM_F64(struct dse_npu, dispatch_us, "us", 0, 100000, "minimum time of a program", ""),
    DSE_PARAM_F64(struct dse_npu, engine_base_w, "W", 0, 1000, "engine power while streaming, with next to no compute", ""),
    DSE_PARAM_F64(struct dse_npu, engine_op_pj, "pJ", 0, 1000, "energy of an operation on top of engine_base_w", ""),
    DSE_PARAM_F64(struct dse_npu, engine_idle_w, "W", 0, 1000, "engine power while waiting for the host", ""),
    DSE_PARAM_F64_OPTIONAL(struct dse_npu, node_nm, "nm", 1, 1000, "technology node of the engine's chip", ""),
    DSE_PARAM_END,
};
