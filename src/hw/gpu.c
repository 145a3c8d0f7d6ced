/* The rows of a GPU of the catalog. */
#include <dse/catalog.h>

const struct dse_param dse_gpu_power_fields[] = {
    DSE_PARAM_F64(struct dse_gpu_power, idle_w, "W", 0, 1000, "idle power of the board", ""),
    DSE_PARAM_END,
};

#define Q struct dse_gpu_peaks
const struct dse_param dse_gpu_peak_fields[] = {
    DSE_PARAM_F64(Q, fp8_tflops, "Tflop/s", 0.1, 1e6, "dense peak of the tensor cores, fp8 with fp32 accumulation", ""),
    DSE_PARAM_F64(Q, fp4_tflops, "Tflop/s", 0.1, 1e6, "dense peak of the tensor cores, fp4 with fp32 accumulation", ""),
    DSE_PARAM_F64(Q, int8_tops, "Top/s", 0.1, 1e6, "dense peak of the tensor cores, int8", ""),
    DSE_PARAM_END,
};
#undef Q

#define G struct dse_gpu_kernels
const struct dse_param dse_gpu_kernel_fields[] = {
    DSE_PARAM_F64(G, kernel_stream_share, "", 0.01, 1, "share of the peak bandwidth that measured kernels reach", ""),
    DSE_PARAM_F64(G, gemm_fixed_cycles, "", 0, 1e6, "fixed cycles of a measured GEMM, before and after its work", ""),
    DSE_PARAM_F64(G, attention_kernels, "", 1, 3,
                  "kernels of decode attention; 3: cache write, partial attention, sum; 2: sum fused; 1: all fused", ""),
    DSE_PARAM_F64(G, gemm_tensor_share, "", 0.01, 1, "share of the tensor cores' peak that a measured GEMM reaches", ""),
    DSE_PARAM_F64(G, attention_tensor_share, "", 0.01, 1, "share of the tensor cores' peak that measured attention reaches", ""),
    DSE_PARAM_F64(G, gemm_reach_bytes, "B", 1, 4096, "bytes per cycle that feed an SM's tensor cores", ""),
    DSE_PARAM_F64(G, attention_block_cycles, "", 0, 1e6, "cycles of a prefill attention block besides its tiles", ""),
    DSE_PARAM_F64(G, gemm_narrow_share, "", 0.01, 1, "gemm_tensor_share at 8 bits, over its value at 16", ""),
    DSE_PARAM_F64(G, gemm_four_share, "", 0.01, 1, "gemm_tensor_share at 4 bits, over its value at 16", ""),
    DSE_PARAM_F64(G, gemm_narrow_stream, "", 0.01, 1, "kernel_stream_share of GEMMs at 8 bits or fewer, over its value at 16", ""),
    DSE_PARAM_F64(G, attention_head_blocks, "", 1, 1e6,
                  "blocks at a KV head in decode, at most: of all sequences, with one kernel of each", ""),
    DSE_PARAM_F64(G, attention_narrow_cycles, "", 0, 1e6, "cycles before decode attention over a cache of 8 bits or fewer", ""),
    DSE_PARAM_F64(G, attention_narrow_work, "", 1, 100, "work of a tile of such a cache, over that at 16 bits", ""),
    DSE_PARAM_F64(G, attention_stream_share, "", 0.01, 1, "share of the peak bandwidth that measured attention reaches", ""),
    DSE_PARAM_F64(G, kernel_fixed_cycles, "", 0, 1e6, "fixed cycles of a measured kernel other than the library's GEMM", ""),
    DSE_PARAM_F64(G, attention_rows, "", 1, 1024, "query rows that a block of decode attention computes, at least", ""),
    DSE_PARAM_F64(G, expert_tensor_share, "", 0.01, 1, "share of a GEMM's rate that the generated kernel of experts computes at",
                  ""),
    DSE_PARAM_F64(G, expert_stream_share, "", 0.01, 1, "share of kernel_stream_share that it reads weights at", ""),
    DSE_PARAM_F64(G, expert_scaled_share, "", 0.01, 1, "as expert_tensor_share, where blocks of weights have scales", ""),
    DSE_PARAM_F64(G, expert_row_share, "", 0.01, 1, "share of kernel_stream_share that rows of experts move at", ""),
    DSE_PARAM_F64(G, l2_copies, "", 1, 16, "copies of a line in the last-level cache, at most one per partition", ""),
    DSE_PARAM_F64(G, stream_fixed_cycles, "", 0, 1e6, "fixed cycles of a measured kernel that goes over its data once", ""),
    DSE_PARAM_F64(G, dram_piece_bytes, "B", 0, 4096, "bytes that a piece of a row of weights costs the DRAM, at least", ""),
    DSE_PARAM_F64(G, kernel_cache_bytes, "B", 0.1, 4096, "bytes per cycle from the last-level cache to an SM, in measured kernels",
                  ""),
    DSE_PARAM_END,
};
#undef G

#define F struct dse_gpu_origins
static const char *const origins[] = {[DSE_FITTED_TO_NONE] = "none",
                                      [DSE_FITTED_TO_ITSELF] = "itself",
                                      [DSE_FITTED_TO_A100] = "a100",
                                      [DSE_FITTED_TO_H100] = "h100",
                                      [DSE_FITTED_TO_B200] = "b200",
                                      [DSE_FITTED_TO_RTX_4090] = "rtx-4090",
                                      NULL};
const struct dse_param dse_gpu_origin_fields[] = {
    DSE_PARAM_ENUM(F, gemms_from, origins, "the GPU that constants of 16-bit GEMMs were fitted to", ""),
    DSE_PARAM_ENUM(F, narrow_from, origins, "the same of GEMMs below 16 bits", ""),
    DSE_PARAM_ENUM(F, attention_from, origins, "the same of attention", ""),
    DSE_PARAM_ENUM(F, experts_from, origins, "the same of grouped GEMMs of experts", ""),
    DSE_PARAM_END,
};
#undef F

#define L struct dse_gpu_link
const struct dse_param dse_gpu_link_fields[] = {
    DSE_PARAM_F64(L, link_gbs, "GB/s", 0.1, 1e5, "bandwidth of all links of a device, one direction", ""),
    DSE_PARAM_F64(L, link_share, "", 0.01, 1, "share of a link's rate that all-reduces reach", ""),
    DSE_PARAM_F64(L, multicast_share, "", 0, 1, "share of link_gbs at which switches reduce and multicast; 0: switches cannot", ""),
    DSE_PARAM_F64(L, linked_devices, "", 1, 1024, "devices that the links join; others of the system are reached through the host",
                  ""),
    DSE_PARAM_F64(L, host_path_gbs, "GB/s", 0.1, 1e5, "bandwidth of the host path that hops without a link share", ""),
    DSE_PARAM_F64(L, system_devices, "", 1, 1024, "devices of a server or rack; larger groups go over a network", ""),
    DSE_PARAM_END,
};
#undef L

#define T struct dse_trade
const struct dse_param dse_trade_fields[] = {
    DSE_PARAM_F64(T, low_usd, "usd", 1, 1e6, "price of the board, at least", ""),
    DSE_PARAM_F64(T, price_usd, "usd", 1, 1e6, "price of the board", ""),
    DSE_PARAM_F64(T, high_usd, "usd", 1, 1e6, "price of the board, at most", ""),
    DSE_PARAM_F64(T, low_usd_h, "usd/h", 0.01, 1e3, "rent, at least", ""),
    DSE_PARAM_F64(T, rent_usd_h, "usd/h", 0.01, 1e3, "rent", ""),
    DSE_PARAM_F64(T, high_usd_h, "usd/h", 0.01, 1e3, "rent, at most", ""),
    DSE_PARAM_F64(T, node_nm, "nm", 1, 1000, "node of its dies", ""),
    DSE_PARAM_END,
};
#undef T

const struct dse_param dse_gpu_fields[] = {
    DSE_PARAM_I64(struct dse_gpu, sms, 1, 4096, "streaming multiprocessors, or compute units", ""),
    DSE_PARAM_F64(struct dse_gpu, clock_ghz, "GHz", 0.1, 10, "boost clock", ""),
    DSE_PARAM_F64(struct dse_gpu, tensor_tflops, "Tflop/s", 0.1, 1e5, "dense peak of the tensor cores, fp16 with fp32 accumulation",
                  ""),
    DSE_PARAM_F64(struct dse_gpu, vector_tflops, "Tflop/s", 0.1, 1e5, "peak fp32 rate outside the tensor cores", ""),
    DSE_PARAM_F64(struct dse_gpu, bandwidth_gbs, "GB/s", 1, 1e5, "peak DRAM bandwidth", ""),
    DSE_PARAM_F64(struct dse_gpu, capacity_gib, "GiB", 0.1, 1e5, "DRAM capacity", ""),
    DSE_PARAM_F64(struct dse_gpu, l1_kib, "KiB", 8, 4096, "L1 data cache of one SM", ""),
    DSE_PARAM_F64(struct dse_gpu, l2_mib, "MiB", 0.1, 4096, "last-level cache", ""),
    DSE_PARAM_I64_UNIT(struct dse_gpu, l1_bytes, "B", 1, 4096, "bytes per cycle to or from the L1 cache of one SM", ""),
    DSE_PARAM_F64(struct dse_gpu, board_power_w, "W", 1, 5000, "power limit of the board", ""),
    DSE_PARAM_F64(struct dse_gpu, die_mm2, "mm2", 1, 5000, "area of the die, or of all dies", ""),
    DSE_PARAM_F64(struct dse_gpu, dram_pj_per_bit, "pJ/bit", 0.1, 100, "DRAM energy of moved data", ""),
    DSE_EMBED_OPTIONAL(struct dse_gpu, make, struct dse_memory_make, dse_memory_make_fields),
    DSE_EMBED_OPTIONAL(struct dse_gpu, peaks, struct dse_gpu_peaks, dse_gpu_peak_fields),
    DSE_EMBED_OPTIONAL(struct dse_gpu, power, struct dse_gpu_power, dse_gpu_power_fields),
    DSE_EMBED_OPTIONAL(struct dse_gpu, kernels, struct dse_gpu_kernels, dse_gpu_kernel_fields),
    DSE_EMBED_OPTIONAL(struct dse_gpu, origins, struct dse_gpu_origins, dse_gpu_origin_fields),
    DSE_EMBED_OPTIONAL(struct dse_gpu, link, struct dse_gpu_link, dse_gpu_link_fields),
    DSE_EMBED_OPTIONAL(struct dse_gpu, trade, struct dse_trade, dse_trade_fields),
    DSE_PARAM_END,
};

const char *dse_gpu_check(const struct dse_gpu *gpu)
{
    return gpu->link.linked_devices > gpu->link.system_devices ? "linked_devices is more than system_devices" : NULL;
}
