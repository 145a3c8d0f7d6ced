/* FlashDecoding++: the tables and check. The closed form is in flashdecoding_gemm.c (linear operators),
 * flashdecoding_attention.c, flashdecoding_step.c (the step, the breakdown) and flashdecoding_equations.c (what only the paper
 * asks for, inflection points); metrics of both levels in flashdecoding_metrics.c; the event level in flashdecoding_events.h and
 * its files. */
#include "flashdecoding_bound.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <stddef.h>

static const char *const lookups[] = {[FD_PROFILED] = "profiled", [FD_CLOSED_FORM] = "closed-form", NULL};
static const char *const agains[] = {[FD_ONE_BLOCK] = "one", [FD_SPLIT] = "split", NULL};
static const char *const caches[] = {[FD_COLD] = "cold", [FD_WARM] = "warm", NULL};
static const char *const quantizings[] = {
    [FD_QUANTIZED] = "fused", [FD_BY_KERNEL] = "kernel", [FD_BY_OPERATORS] = "operators", NULL};
static const char *const expert_tilings[] = {
    [FD_SEARCHED] = "searched", [FD_DEFAULT] = "default", [FD_SCALED] = "block-scaled", [FD_MAKERS] = "makers", NULL};
static const char *const asked_collectives[] = {
    [FD_ALL_REDUCE] = "all-reduce", [FD_ALL_GATHER] = "all-gather",         [FD_REDUCE_SCATTER] = "reduce-scatter",
    [FD_ALL_TO_ALL] = "all-to-all", [FD_POINT_TO_POINT] = "point-to-point", NULL};
static const char *const expert_leftovers[] = {[FD_SPREAD] = "spread", [FD_NEIGHBOURS] = "neighbours", NULL};
static const char *const latent_prefills[] = {[FD_EXPANDED] = "expanded", [FD_ABSORBED] = "absorbed", NULL};
static const char *const switches[] = {[FD_OFF] = "off", [FD_ON] = "on", NULL};
static const char *const kernel_names[] = {[FD_GEMV] = "gemv", [FD_FLAT] = "flat-gemm", [FD_LIBRARY] = "library", NULL};
static const char *const gemms[] = {[FD_QKV] = "qkv_projection",
                                    [FD_OUTPUT] = "output_projection",
                                    [FD_FFN_UP] = "ffn_up",
                                    [FD_FFN_DOWN] = "ffn_down",
                                    [FD_LM_HEAD] = "lm_head",
                                    [FD_GIVEN] = "given",
                                    NULL};

#define K struct dse_gpu_kernels
/* As the fields of a GPU of the catalog; "auto": of the gpu, or of an A100. */
static const struct dse_param kernel_params[] = {
    DSE_PARAM_F64_AUTO(K, kernel_stream_share, "", 0.01, 1, NULL,
                       "share of the peak bandwidth that measured kernels reach: GEMMs (dataflow = vendor), attention "
                       "(kernel_losses = measured); auto: the gpu's, else an A100's",
                       "E28, E29"),
    DSE_PARAM_F64_AUTO(K, gemm_fixed_cycles, "", 0, 1e6, NULL,
                       "fixed cycles of a measured kernel: GEMMs (dataflow = vendor), attention (kernel_losses = measured); auto: "
                       "the gpu's, else an A100's",
                       "E28, E29"),
    DSE_PARAM_F64_AUTO(K, attention_kernels, "", 1, 3, NULL,
                       "kernel_losses = measured: kernels of decode attention; 3: cache write, partial attention, sum; 2: sum "
                       "fused; 1: all fused; auto: the gpu's, else an A100's",
                       "E29"),
    DSE_PARAM_F64_AUTO(K, gemm_tensor_share, "", 0.01, 1, NULL,
                       "dataflow = vendor: share of the tensor cores' peak that a GEMM reaches; auto: the gpu's, else an A100's",
                       "E28"),
    DSE_PARAM_F64_AUTO(K, attention_tensor_share, "", 0.01, 1, NULL,
                       "kernel_losses = measured: share of the tensor cores' peak that attention reaches; auto: the gpu's, else an "
                       "A100's",
                       "E29"),
    DSE_PARAM_F64_AUTO(K, gemm_reach_bytes, "B", 1, 4096, NULL,
                       "dataflow = vendor: bytes per cycle that feed an SM's tensor cores; auto: the gpu's, else an A100's", "E28"),
    DSE_PARAM_F64_AUTO(K, attention_block_cycles, "", 0, 1e6, NULL,
                       "kernel_losses = measured: cycles of a prefill attention block besides its tiles; auto: the gpu's, else an "
                       "A100's",
                       "E29"),
    DSE_PARAM_F64_AUTO(K, gemm_narrow_share, "", 0.01, 1, NULL,
                       "dataflow = vendor: gemm_tensor_share at 8 bits, over its value at 16; auto: the gpu's, else 1", "E28"),
    DSE_PARAM_F64_AUTO(
        K, gemm_four_share, "", 0.01, 1, NULL,
        "dataflow = vendor: gemm_tensor_share at 4 bits, over its value at 16; auto: the gpu's, else gemm_narrow_share", "E28"),
    DSE_PARAM_F64_AUTO(K, gemm_narrow_stream, "", 0.01, 1, NULL,
                       "dataflow = vendor: kernel_stream_share of GEMMs at 8 bits or fewer, over its value at 16; auto: the gpu's, "
                       "else 1",
                       "E28"),
    DSE_PARAM_F64_AUTO(
        K, attention_head_blocks, "", 1, 1e6, NULL,
        "kernel_losses = measured: blocks at a KV head in decode, at most, of all sequences; with attention_kernels = 1 of each; "
        "auto: the gpu's, else no limit",
        "E29"),
    DSE_PARAM_F64_AUTO(K, attention_narrow_cycles, "", 0, 1e6, NULL,
                       "kernel_losses = measured: cycles before decode attention over a cache of 8 bits or fewer; auto: the gpu's, "
                       "else 0",
                       "E29"),
    DSE_PARAM_F64_AUTO(K, attention_narrow_work, "", 1, 100, NULL,
                       "kernel_losses = measured: work of a tile of such a cache, over that at 16 bits; auto: the gpu's, else 1",
                       "E29"),
    DSE_PARAM_F64_AUTO(K, attention_stream_share, "", 0.01, 1, NULL,
                       "kernel_losses = measured: share of the peak bandwidth that attention reaches; auto: the gpu's, else an "
                       "A100's",
                       "E29"),
    DSE_PARAM_F64_AUTO(K, kernel_fixed_cycles, "", 0, 1e6, NULL,
                       "dataflow = vendor: fixed cycles of a kernel that is not the maker's library's: of attention, experts and "
                       "GEMMs of fewer than 16 bits; auto: the gpu's, else an A100's",
                       "E28"),
    DSE_PARAM_F64_AUTO(K, attention_rows, "", 1, 1024, NULL,
                       "kernel_losses = measured: query rows that a block of decode computes at least; auto: the gpu's, else 64",
                       "E29"),
    DSE_PARAM_F64_AUTO(
        K, expert_tensor_share, "", 0.01, 1, NULL,
        "dataflow = vendor: share of a GEMM's rate that the generated kernel of experts reaches on tensor cores; auto: "
        "the gpu's, else an A100's",
        "E31"),
    DSE_PARAM_F64_AUTO(
        K, expert_scaled_share, "", 0.01, 1, NULL,
        "dataflow = vendor: as expert_tensor_share, of blocks with scales; auto: the gpu's, else expert_tensor_share", "E31"),
    DSE_PARAM_F64_AUTO(K, expert_stream_share, "", 0.01, 1, NULL,
                       "dataflow = vendor: share of kernel_stream_share that it reads weights at; auto: the gpu's, else 1", "E31"),
    DSE_PARAM_F64_AUTO(K, expert_row_share, "", 0.01, 1, NULL,
                       "dataflow = vendor: share of kernel_stream_share that rows of experts are written, read and added at; auto: "
                       "the gpu's, else 1",
                       "E31"),
    DSE_PARAM_F64_AUTO(K, l2_copies, "", 1, 16, NULL,
                       "dataflow = vendor: copies of a line in the last-level cache, at most one per partition; auto: the gpu's, "
                       "else 1",
                       "E28"),
    DSE_PARAM_F64_AUTO(K, stream_fixed_cycles, "", 0, 1e6, NULL,
                       "equation stream_us only: fixed cycles of a kernel that goes over its data once; auto: the gpu's, else an "
                       "RTX 4090's",
                       "E43"),
    DSE_PARAM_F64_AUTO(K, dram_piece_bytes, "B", 0, 4096, NULL,
                       "dataflow = vendor: bytes that a piece of a row of an expert's weights costs the DRAM, at least; auto: the "
                       "gpu's, else 0",
                       "E31"),
    DSE_PARAM_F64_AUTO(K, kernel_cache_bytes, "B", 0.1, 4096, NULL,
                       "kernel_losses = measured: bytes per cycle from the last-level cache to an SM, in attention; auto: the "
                       "gpu's, else an A100's",
                       "E29"),
    DSE_PARAM_END,
};
#undef K

#define L struct dse_gpu_link
/* Likewise; "auto" where the gpu's entry has none: NVLink that a switch joins. Read with collectives = "nccl" and "one-shot". */
static const struct dse_param link_params[] = {
    DSE_PARAM_F64_AUTO(L, link_share, "", 0.01, 1, NULL,
                       "collectives = nccl, one-shot: share of link_gbs that all-reduces reach; auto: the gpu's, else 0.8", "E30"),
    DSE_PARAM_F64_AUTO(L, multicast_share, "", 0, 1, NULL,
                       "collectives = nccl, one-shot: share of link_gbs at which switches reduce and multicast; 0: none; auto: the "
                       "gpu's, else 0",
                       "E30"),
    DSE_PARAM_F64_AUTO(L, linked_devices, "", 1, 1024, NULL,
                       "devices that the links join; others of the system are reached through the host, two never are; auto: the "
                       "gpu's, else system_devices",
                       "E30"),
    DSE_PARAM_F64_AUTO(L, host_path_gbs, "GB/s", 0.1, 1e5, NULL,
                       "bandwidth of the host path that all hops without a link share; auto: the gpu's, else 16", "E30"),
    DSE_PARAM_F64_AUTO(L, system_devices, "", 1, 1024, NULL,
                       "devices of a server or rack; larger groups go over outer_interconnect; auto: the gpu's, else 8", "E40"),
    DSE_PARAM_END,
};
#undef L

static const char *refuse_link(const void *link)
{
    const struct dse_gpu_link *l = link;
    return l->linked_devices > l->system_devices
               ? "linked_devices is more than system_devices: links join no more devices than a server or rack has"
               : NULL;
}

#define Q struct dse_gpu_peaks
static const struct dse_param peak_params[] = {
    DSE_PARAM_F64_AUTO(
        Q, fp8_tflops, "Tflop/s", 0, 1e6, NULL,
        "as tensor_tflops, of fp8: GEMMs whose weights and activations both have 5 to 8 bits; 0: none; auto: the gpu's", "E28"),
    DSE_PARAM_F64_AUTO(Q, fp4_tflops, "Tflop/s", 0, 1e6, NULL,
                       "as tensor_tflops, of fp4: GEMMs whose weights and activations both have 4 bits; 0: none; auto: the gpu's",
                       "E28"),
    DSE_PARAM_F64_AUTO(Q, int8_tops, "Top/s", 0, 1e6, NULL,
                       "as fp8_tflops, of int8 (narrow_numbers = integer); 0: none; auto: the gpu's", "E28"),
    DSE_PARAM_END,
};
#undef Q

#define E struct dse_engine_memory
static const struct dse_param memory_params[] = {
    DSE_PARAM_F64_AUTO(E, memory_share, "", 0.01, 1, NULL,
                       "share of a device's memory that the engine uses; auto: the engine's, else 1", "E42"),
    DSE_PARAM_F64_AUTO(E, reserved_gib, "GiB", 0, 1000, NULL,
                       "memory of contexts, libraries and graphs; auto: the engine's, else 0", "E42"),
    DSE_PARAM_F64_AUTO(E, step_tokens, "", 0, 1e6, NULL,
                       "tokens of a step for whose activations the engine keeps room; auto: the engine's, else 0", "E42"),
    DSE_PARAM_F64_AUTO(E, step_sequences, "", 0, 1e6, NULL,
                       "sequences of a step for whose logits the engine keeps room; auto: the engine's, else 0", "E42"),
    DSE_PARAM_F64_AUTO(E, block_tokens, "", 1, 4096, NULL, "positions of a block of the cache; auto: the engine's, else 1", "E42"),
    DSE_PARAM_END,
};
#undef E

static const char *const numbers[] = {[FD_FLOATS] = "float", [FD_INTEGERS] = "integer", NULL};
static const char *const errors[] = {[FD_ERRORS_IGNORED] = "ignored", [FD_ERRORS_MEASURED] = "measured", NULL};
#define P struct fd_params
static const struct dse_param fd_params_table[] = {
    DSE_EMBED(P, workload, struct dse_workload, dse_workload_params),
    DSE_EMBED(P, kept, struct dse_cache, dse_cache_params),
    DSE_PARAM_REF(P, gpu, struct dse_gpu, DSE_KIND_GPU, "the GPU; a change of sms keeps the rates of one SM", "Table 1"),
    DSE_PARAM_I64(P, sms, 1, 4096, "streaming multiprocessors, or compute units, of one device", "Sec. 4"),
    DSE_PARAM_F64(P, clock_ghz, "GHz", 0.1, 10, "clock of the SMs", "entry of gpu"),
    DSE_PARAM_F64(P, tensor_tflops, "Tflop/s", 0.1, 1e5,
                  "dense peak of the tensor cores, fp16 with fp32 accumulation, at the gpu's own sms and clock_ghz", "E8"),
    DSE_EMBED(P, peaks, struct dse_gpu_peaks, peak_params),
    DSE_PARAM_ENUM(P, narrow_numbers, numbers, "what activations of fewer than 16 bits are: floating point or integers", "E28"),
    DSE_PARAM_F64(P, vector_tflops, "Tflop/s", 0.1, 1e5,
                  "peak fp32 rate outside the tensor cores, at the gpu's own sms and clock_ghz", "E10"),
    DSE_PARAM_F64(P, bandwidth_gbs, "GB/s", 1, 1e5, "peak DRAM bandwidth of one device", "E7"),
    DSE_PARAM_F64(P, capacity_gib, "GiB", 0.1, 1e5, "DRAM capacity of one device", "E16"),
    DSE_PARAM_F64(P, l1_kib, "KiB", 8, 4096, "L1 data cache of one SM, where tiles are buffered", "Sec. 6.3.2, E6"),
    DSE_PARAM_F64(P, l2_mib, "MiB", 0.1, 4096, "last-level cache of one device", "E18"),
    DSE_PARAM_F64(P, board_power_w, "W", 1, 5000, "power limit of one device; with power = constant, its power", "E17, E27"),
    DSE_PARAM_F64(P, die_mm2, "mm2", 1, 5000, "die area of one device", "E17"),
    DSE_PARAM_F64(P, dram_pj_per_bit, "pJ/bit", 0, 1000, "DRAM energy of moved data", "E17, E26"),
    DSE_PARAM_I64_UNIT(P, l1_bytes, "B", 1, 4096, "bytes per cycle to or from the L1 cache of one SM", "entry of gpu, E8"),
    DSE_PARAM_F64(P, block_share, "", 0.1, 100,
                  "largest bandwidth of one block of a tile kernel, over the gpu's bandwidth per SM; measured kernels ignore it",
                  "E7"),
    DSE_PARAM_ENUM(P, power, dse_power_names, "device power: from activity, or constant at board_power_w", "E17, E26"),
    DSE_PARAM_F64_AUTO(P, idle_w, "W", 0, 1000, NULL, "idle power of one device; auto: the gpu's, else a share of its limit",
                       "E26"),
    DSE_PARAM_F64_AUTO(P, way_pj_per_bit, "pJ/bit", 0, 1000, NULL,
                       "energy between the DRAM device and an SM: interface, wires, caches; auto: by die_mm2", "E26"),
    DSE_PARAM_F64(P, awake_share, "", 0, 1, "power while there is work, as a share of the gpu's limit minus idle power", "E26"),
    DSE_PARAM_F64(P, active_share, "", 0, 1, "extra power while kernels run, as a share of the gpu's limit minus idle power",
                  "E26"),
    DSE_PARAM_F64(P, tensor_share, "", 0, 10,
                  "extra power of tensor cores at peak rate, as a share of the gpu's limit minus idle power", "E26"),
    DSE_PARAM_F64_AUTO(P, link_gbs, "GB/s", 0.1, 1e5, NULL,
                       "bandwidth between two devices, one direction; auto: the gpu's, else an A100's 300", "E15"),
    DSE_PARAM_F64(P, link_pj_per_bit, "pJ/bit", 0, 1000, "energy of a transfer between two devices: both ends and a switch", "E41"),
    DSE_PARAM_F64(P, link_latency_us, "us", 0, 1000, "latency of one hop between devices", "E15"),
    DSE_PARAM_REF_ALONE(P, outer_interconnect, struct dse_interconnect, DSE_KIND_INTERCONNECT,
                        "links between systems, for more than system_devices devices; used as in the catalog", "E40"),
    DSE_PARAM_REF(P, engine, struct dse_engine, DSE_KIND_ENGINE,
                  "the inference engine; sets the defaults of kernels, efficiencies and host times", "Sec. 6.1.2"),
    DSE_EMBED(P, memory, struct dse_engine_memory, memory_params),
    DSE_PARAM_ENUM(P, softmax, dse_softmax_names, "how partial softmax results are combined", "Sec. 3, E2, E3"),
    DSE_PARAM_ENUM(P, dataflow, dse_dataflow_names,
                   "GEMM kernels: the library's for all shapes, the fastest of three per shape, or the vendor's library as "
                   "measured",
                   "Sec. 5, E12, E28"),
    DSE_PARAM_I64(P, pad_rows, 1, 256,
                  "rows of a flat or static GEMM are padded to a multiple of this; dataflow = vendor ignores it",
                  "Sec. 4, E6, E11"),
    DSE_PARAM_F64(P, attention_efficiency, "", 0.01, 1,
                  "share of the peak bandwidth that attention reaches; kernel_losses = measured ignores it", "E13"),
    DSE_PARAM_F64(P, linear_efficiency, "", 0.01, 1,
                  "share of the peak bandwidth that weight reads reach; dataflow = vendor ignores it", "E7, E10"),
    DSE_PARAM_F64(P, compute_efficiency, "", 0.01, 1,
                  "share of the tensor cores' peak that prefill attention reaches; kernel_losses = measured ignores it", "E13"),
    DSE_PARAM_F64(P, exposed_share, "", 0, 1,
                  "phi_x: exposed share of loading or computing, whichever is shorter; dataflow = vendor reads "
                  "gemm_exposed_share",
                  "E9"),
    DSE_PARAM_F64(P, sync_overhead, "", 0, 10, "sigma: time of the synchronized softmax update over the rest of attention",
                  "Sec. 2.3, E2"),
    DSE_PARAM_F64(P, launch_us, "us", 0, 1000, "time between two kernel launches", "E14"),
    DSE_PARAM_I64(P, elementwise_kernels, 0, 256, "unfused element-wise kernels per layer", "App. A, E14"),
    DSE_PARAM_ENUM(P, kernel_losses, dse_losses_names,
                   "fill, tail, latency and gap times of kernels: on top of the efficiencies, included in them, or as measured",
                   "ours, E19"),
    DSE_PARAM_ENUM(P, collectives, dse_collectives_names,
                   "all-reduce: a ring at the link's full rate, NCCL as measured, or the engine's own kernel where faster",
                   "E15, E30"),
    DSE_EMBED_REFUSING(P, link, struct dse_gpu_link, link_params, refuse_link),
    DSE_PARAM_F64(P, host_us, "us", 0, 1e7, "time of a step in which devices wait for the host: scheduling, sampling", "E14"),
    DSE_PARAM_ENUM(P, launches, dse_launches_names,
                   "waited: a short kernel waits for the next launch; queued: the host runs ahead, and the longer of both counts",
                   "E14"),
    DSE_PARAM_F64(P, sequence_us, "us", 0, 1e6, "as host_us, per sequence: scheduling, detokenization", "E14"),
    DSE_PARAM_F64(P, prompt_us, "us", 0, 1e7, "launches = queued: host time of a step with prompts, besides launches", "E14"),
    DSE_PARAM_F64(P, allocation_us, "us", 0, 1e6,
                  "as host_us, per MiB of prompt activations beyond 2560 tokens: new memory allocations", "E14"),
    DSE_PARAM_F64(P, sampling_ns, "ns", 0, 1e3,
                  "as host_us, per sequence and vocabulary word: sampling by sorting; 0: greedy sampling", "E14"),
    DSE_PARAM_F64(P, recompute_percent, "%", 0, 100, "rows that are recomputed because scores leave the range", "Sec. 6.3.1, E3"),
    DSE_PARAM_F64(P, score_low, "", -1000, 1000, "lower end of the softmax inputs", "Fig. 4, E4"),
    DSE_PARAM_F64(P, score_high, "", -1000, 1000, "upper end of the softmax inputs", "Fig. 4, E4"),
    DSE_PARAM_F64(P, unified_max, "", -1000, 1000, "phi: the scaling factor that all partial softmax results share", "Eq. 3, E4"),
    DSE_PARAM_ENUM(P, arithmetic_error, errors, "error of partial softmax in attention_error: ignored, or as measured (surface)",
                   "E33"),
    DSE_PARAM_I64(P, tile_n, 0, 1024,
                  "B_N of the flat GEMM; 0: the best power of two per operator; steps read it with dataflow = heuristic",
                  "Sec. 4, E7"),
    DSE_PARAM_I64(P, tile_k, 8, 1024, "B_K of the flat GEMM; steps read it with dataflow = heuristic", "Sec. 4, E6"),
    DSE_PARAM_I64(P, resident_blocks, 1, 32, "blocks of a tile kernel that an SM runs at the same time", "E7"),
    DSE_PARAM_ENUM(P, double_buffering, switches,
                   "double buffering of the flat GEMM in L1, if it fits; steps read it with dataflow = heuristic", "Sec. 4, E6"),
    DSE_PARAM_F64(P, gemv_efficiency, "", 0.001, 1,
                  "share of the vector units' peak that GEMV reaches; steps read it with dataflow = heuristic", "E10"),
    DSE_EMBED(P, kernels, struct dse_gpu_kernels, kernel_params),
    DSE_PARAM_F64(P, gemm_exposed_share, "", 0, 1,
                  "dataflow = vendor: exposed share of a GEMM's loading or computing, whichever is shorter", "E28"),
    DSE_PARAM_F64(P, nccl_start_cycles, "", 0, 1e7,
                  "collectives = nccl, one-shot: fixed cycles of an NCCL all-reduce, at the gpu's own clock", "E30"),
    DSE_PARAM_F64(P, nccl_pair_waits, "", 1, 100,
                  "collectives = nccl, one-shot: waits of large messages between two devices, over a ring's", "E30"),
    DSE_PARAM_F64(P, own_start_us, "us", 0, 1000, "collectives = one-shot: start of the engine's own all-reduce", "E30"),
    DSE_PARAM_F64(P, own_device_us, "us", 0, 1000, "collectives = one-shot: extra wait per device in the engine's own all-reduce",
                  "E30"),
    DSE_PARAM_F64(P, own_half_us, "us", 0, 1000, "collectives = one-shot: time between the halves of a two-step all-reduce", "E30"),
    DSE_PARAM_ENUM(P, cache, caches,
                   "last-level cache before a measured kernel: without its data, or as a repeated benchmark leaves it", "E28, E29"),
    DSE_PARAM_I64(P, cache_turns, 1, 1024, "dataflow = vendor: different weights that a repeated benchmark cycles through", "E28"),
    DSE_PARAM_ENUM(P, quantizing, quantizings,
                   "dataflow = vendor: quantizing of activations below 16 bits: in the previous kernel, in one kernel, or by "
                   "framework operators",
                   "E28"),
    DSE_PARAM_I64(P, gemm_splits, 1, 64, "dataflow = vendor: most blocks that split the depth of a GEMM tile", "E28"),
    DSE_PARAM_ENUM(P, gemm, gemms, "GEMM that the single-GEMM metrics describe", "Fig. 6"),
    DSE_PARAM_I64(P, gemm_m, 0, 16777216, "gemm = given: rows of the GEMM; 0: as the phase has", "Fig. 6"),
    DSE_PARAM_I64(P, gemm_k, 1, 1048576, "gemm = given: depth of the GEMM", "Fig. 6"),
    DSE_PARAM_I64(P, gemm_n, 1, 1048576, "gemm = given: columns of the GEMM", "Fig. 6"),
    DSE_PARAM_I64(P, experts, 1, FD_EXPERTS_MAX, "equations moe_* only: routed experts of a layer, all devices", "E31"),
    DSE_PARAM_I64(P, experts_active, 1, 64, "equations moe_* only: experts that each token goes to, at most experts", "E31"),
    DSE_PARAM_I64(P, moe_intermediate, 1, 65536, "equations moe_* only: hidden units of an expert, shared by the devices", "E31"),
    DSE_PARAM_I64(P, expert_devices, 1, 256, "equations moe_* only: groups of devices that share the experts", "E31"),
    DSE_PARAM_I64_UNIT(P, expert_activation_bits, "bit", 4, 16,
                       "equations moe_* only: width of multiplied activations; below 16, two kernels quantize them", "E31"),
    DSE_PARAM_ENUM(
        P, expert_tiles, expert_tilings,
        "tiles of expert GEMMs: tuned on this GPU, the engine's default, with block scales, or of the maker's own kernel; "
        "in moe_* and with dataflow = vendor",
        "E31"),
    DSE_PARAM_ENUM(P, expert_ties, expert_leftovers,
                   "routing = power-law: rows that rounding leaves over are spread, or go to idle experts of one device first",
                   "E31"),
    DSE_PARAM_F64(P, stream_bytes, "B", 1, 1e13, "equation stream_us only: bytes that the kernel reads and writes", "E43"),
    DSE_PARAM_ENUM(P, collective, asked_collectives, "equation collective_us only: what the devices of tensor_parallel do", "E44"),
    DSE_PARAM_F64(P, collective_bytes, "B", 1, 1e13, "equation collective_us only: bytes of the message, on each device", "E44"),
    DSE_PARAM_I64(P, kv_rank, 1, 65536, "equations mla_* only: elements of a position's latent", "E32"),
    DSE_PARAM_I64(P, rope_dim, 0, 4096, "equations mla_* only: elements of a position's rotary key, shared by all heads", "E32"),
    DSE_PARAM_I64(P, latent_heads, 0, 1024, "latent attention in decode: query heads that share a cache read; 0: all of a device",
                  "E32"),
    DSE_PARAM_ENUM(P, latent_prefill, latent_prefills,
                   "equations mla_* only: prefill over keys and values of each head, or over latents", "E32"),
    DSE_PARAM_F64(P, memory_latency_ns, "ns", 0, 1e6,
                  "DRAM latency of a block's first bytes; closed form: attention only; event level: all blocks", "ours, E13, E20"),
    DSE_PARAM_F64(P, l2_latency_ns, "ns", 0, 1e6, "latency of a block's first bytes from the last-level cache",
                  "arXiv:2208.11174, E13, E23"),
    DSE_PARAM_F64(P, l2_bytes, "B", 0.1, 4096, "bytes per cycle from the last-level cache to one SM",
                  "NVIDIA A100 whitepaper, E13, E20"),
    DSE_PARAM_F64(P, kernel_gap_us, "us", 0, 1000, "event level: gap between two queued kernels",
                  "NVIDIA, Getting Started with CUDA Graphs, E24"),
    DSE_PARAM_I64(P, library_tile_k, 1, 1024, "event level: B_K of the library", "CUTLASS, E21"),
    DSE_PARAM_I64(P, attention_tile, 16, 4096, "positions of a partial vector, and rows of a prefill attention block",
                  "arXiv:2307.08691, E13, E22"),
    DSE_PARAM_I64(P, split_positions, 0, 1048576,
                  "kernel_losses = apart: positions per block of decode attention; 0: few enough to fill the SMs",
                  "ours, E13, E22"),
    DSE_PARAM_ENUM(P, recompute_blocks, agains,
                   "event level: a vector that leaves the range is recomputed by one block, or by all free blocks",
                   "Fig. 5, Sec. 6.3.1, E23"),
    DSE_PARAM_ENUM(P, lookup, lookups,
                   "event level: dataflow = heuristic picks the fastest kernel at event level, or the closed form's pick",
                   "Sec. 5, E21"),
    DSE_EMBED(P, economics, struct dse_economics, dse_economics_params),
    DSE_EMBED(P, events, struct dse_events, dse_events_params),
    DSE_PARAM_END,
};
#undef P

#define M struct fd_metrics
static const struct dse_metric fd_metrics_table[] = {
    DSE_METRIC_EMBED(M, common, struct dse_common, dse_common_metrics),
    DSE_METRIC_F64(M, linear_us, "us", DSE_LESS, "part of latency_us spent in linear operators", "E12"),
    DSE_METRIC_F64(M, sync_us, "us", DSE_LESS, "part of attention_us spent on the synchronized update, or on recomputation",
                   "E2, E3"),
    DSE_METRIC_F64(M, launch_wait_us, "us", DSE_LESS, "part of latency_us spent waiting for the next launch, or for the host",
                   "E14"),
    DSE_METRIC_COMMUNICATION(M, "E15"),
    DSE_METRIC_CACHED_POSITIONS(M, "E33"),
    DSE_METRIC_F64(M, technique_us, "us", DSE_LESS,
                   "part of attention_us spent on counts, page bounds and selection of a cache technique", "E33"),
    DSE_METRIC_F64(M, technique_mib, "MiB", DSE_LESS,
                   "DRAM traffic per token: counts, page bounds and selection of a cache technique", "E33"),
    DSE_METRIC_F64_OR_NULL(M, retained_mass, "", DSE_MORE, "share of the softmax mass on the kept positions, if measured", "E33",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64_OR_NULL(M, attention_error, "", DSE_LESS, "relative error (norm) of the attention output, if measured", "E33",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64_OR_NULL(M, attention_error_sd, "", DSE_LESS, "standard deviation of attention_error over heads", "E33",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_EMBED(M, task, struct dse_score, dse_score_metrics),
    DSE_METRIC_F64(M, attention_share, "", DSE_LESS, "attention_us over latency_us", "E13"),
    DSE_METRIC_F64(M, energy_dram_mj, "mJ", DSE_LESS, "part of energy_mj spent on DRAM traffic", "E17, E26"),
    DSE_METRIC_F64(M, energy_links_mj, "mJ", DSE_LESS,
                   "energy per token: links between devices; energy_mj includes the boards' ends, not the switches", "E41"),
    DSE_METRIC_F64(M, fitting_tokens, "", DSE_MORE, "tokens of cache that fit on all devices, of sequences of this context", "E42"),
    DSE_METRIC_F64(M, fitting_sequences, "", DSE_MORE, "sequences of this context that fit on all devices", "E42"),
    DSE_METRIC_F64(M, power_demand_w, "W", DSE_LESS, "power of the step without the board limit", "E27"),
    DSE_METRIC_F64(M, used_clock_ghz, "GHz", DSE_MORE, "clock of the SMs within the power limit", "E27", .mean = DSE_MEAN_TIME),
    DSE_METRIC_F64(M, tokens_per_j, "tokens/J", DSE_MORE, "tokens per joule", "E17"),
    DSE_METRIC_DRAM_FOOTPRINT(M, "E16"),
    DSE_METRIC_F64(M, gemv_us, "us", DSE_LESS, "time of the GEMM as GEMV on vector units (ImplA)", "E10"),
    DSE_METRIC_F64(M, flat_gemm_us, "us", DSE_LESS, "time of the GEMM as flat GEMM (ImplB)", "E6 to E9"),
    DSE_METRIC_F64(M, library_gemm_us, "us", DSE_LESS, "time of the GEMM by the library, rows padded to 64 (ImplC)", "E11"),
    DSE_METRIC_F64(M, vendor_gemm_us, "us", DSE_LESS, "time of the GEMM by the vendor's library, as measured", "E28"),
    DSE_METRIC_ENUM(M, gemm_kernel, kernel_names, "fastest of GEMV, flat GEMM and the library", "E12"),
    DSE_METRIC_F64(M, flat_utilization, "", DSE_MORE, "share of the peak bandwidth that the flat GEMM reaches", "Fig. 6"),
    DSE_METRIC_F64(M, padding_utilization, "", DSE_MORE, "share of the flat GEMM's rows that are not padding", "Sec. 4"),
    DSE_METRIC_I64(M, flat_tile_n, DSE_NEITHER, "B_N of the flat GEMM", "Sec. 4"),
    DSE_METRIC_I64(M, flat_blocks, DSE_NEITHER, "blocks of the flat GEMM", "Sec. 4"),
    DSE_METRIC_I64(M, flat_waves, DSE_LESS, "waves of blocks of the flat GEMM", "E7"),
    DSE_METRIC_END,
};
#undef M

static const char no_room[] =
    "weights and KV cache do not fit what the engine leaves of a device's DRAM (capacity_gib, engine, tensor_parallel)";
static const char no_power[] = "board_power_w is not above the device's power at its lowest clock";

/* E28, E29 of an A100: fitted to its measured kernels (catalog/measured, rows of split calibrate). Where nobody measured a GPU's
 * generation, it is taken for one. */
static const struct dse_gpu_kernels ampere = {.kernel_stream_share = 0.8044,
                                              .gemm_fixed_cycles = 7232,
                                              .kernel_fixed_cycles = 6468,
                                              .attention_kernels = 3,
                                              .gemm_tensor_share = 0.8346,
                                              .attention_stream_share = 0.7777,
                                              .attention_tensor_share = 0.5851,
                                              .attention_rows = 64,
                                              .gemm_reach_bytes = 128,
                                              .attention_block_cycles = 4553,
                                              .gemm_narrow_share = 1,
                                              .expert_tensor_share = 0.780, /* 91 rows of an A100 (catalog/measured) */
                                              .l2_copies = 1};

/* NVLink 3 of an A100: 12 links of 25 GB/s. Where a GPU's entry has no links, its devices are taken to have these. */
#define FD_A100_LINK_GBS 300

#define FD_NO_LIMIT 1e6
/* Norms and activations of an RTX 4090: catalog/measured. */
static const double rtx_4090_stream = 5884;

static void own_or(double *own, double of_entry, double otherwise)
{
    if (isnan(*own)) *own = isnan(of_entry) ? otherwise : of_entry;
}

static void resolve_kernels(struct dse_gpu_kernels *k, const struct dse_gpu_kernels *of)
{
    own_or(&k->kernel_stream_share, of->kernel_stream_share, ampere.kernel_stream_share);
    own_or(&k->gemm_fixed_cycles, of->gemm_fixed_cycles, ampere.gemm_fixed_cycles);
    own_or(&k->attention_kernels, of->attention_kernels, ampere.attention_kernels);
    own_or(&k->gemm_tensor_share, of->gemm_tensor_share, ampere.gemm_tensor_share);
    own_or(&k->attention_tensor_share, of->attention_tensor_share, ampere.attention_tensor_share);
    own_or(&k->gemm_reach_bytes, of->gemm_reach_bytes, ampere.gemm_reach_bytes);
    own_or(&k->attention_block_cycles, of->attention_block_cycles, ampere.attention_block_cycles);
    own_or(&k->gemm_narrow_share, of->gemm_narrow_share, ampere.gemm_narrow_share);
    own_or(&k->gemm_four_share, of->gemm_four_share, k->gemm_narrow_share);
    own_or(&k->gemm_narrow_stream, of->gemm_narrow_stream, 1);
    own_or(&k->attention_head_blocks, of->attention_head_blocks, FD_NO_LIMIT);
    own_or(&k->attention_narrow_cycles, of->attention_narrow_cycles, 0);
    own_or(&k->attention_narrow_work, of->attention_narrow_work, 1);
    own_or(&k->attention_stream_share, of->attention_stream_share, ampere.attention_stream_share);
    own_or(&k->kernel_fixed_cycles, of->kernel_fixed_cycles, ampere.kernel_fixed_cycles);
    own_or(&k->attention_rows, of->attention_rows, ampere.attention_rows);
    own_or(&k->expert_tensor_share, of->expert_tensor_share, ampere.expert_tensor_share);
    own_or(&k->expert_scaled_share, of->expert_scaled_share, k->expert_tensor_share);
    own_or(&k->expert_stream_share, of->expert_stream_share, 1);
    own_or(&k->expert_row_share, of->expert_row_share, 1);
    own_or(&k->l2_copies, of->l2_copies, ampere.l2_copies);
    own_or(&k->kernel_cache_bytes, of->kernel_cache_bytes, FD_A100_CACHE_BYTES);
    own_or(&k->stream_fixed_cycles, of->stream_fixed_cycles, rtx_4090_stream);
    own_or(&k->dram_piece_bytes, of->dram_piece_bytes, 0);
}

/* NVLink with switches, as NCCL counts it (topo.h): 20 of 25 GB/s; and AMD's path between two sockets. */
static void resolve_link(struct dse_gpu_link *l, const struct dse_gpu_link *of)
{
    own_or(&l->link_share, of->link_share, 0.8);
    own_or(&l->multicast_share, of->multicast_share, 0);
    own_or(&l->system_devices, of->system_devices, 8);
    own_or(&l->linked_devices, of->linked_devices, l->system_devices);
    own_or(&l->host_path_gbs, of->host_path_gbs, 16);
}

/* E26, E28 to E30. */
static void fd_resolve(void *params)
{
    struct fd_params *p = params;
    dse_workload_resolve(&p->workload);
    dse_economics_resolve(&p->economics);
    resolve_kernels(&p->kernels, &p->gpu->kernels);
    own_or(&p->memory.memory_share, p->engine->memory.memory_share, 1);
    own_or(&p->memory.reserved_gib, p->engine->memory.reserved_gib, 0);
    own_or(&p->memory.step_tokens, p->engine->memory.step_tokens, 0);
    own_or(&p->memory.step_sequences, p->engine->memory.step_sequences, 0);
    own_or(&p->memory.block_tokens, p->engine->memory.block_tokens, 1);
    own_or(&p->peaks.fp8_tflops, p->gpu->peaks.fp8_tflops, 0);
    own_or(&p->peaks.fp4_tflops, p->gpu->peaks.fp4_tflops, 0);
    own_or(&p->peaks.int8_tops, p->gpu->peaks.int8_tops, 0);
    own_or(&p->link_gbs, p->gpu->link.link_gbs, FD_A100_LINK_GBS);
    resolve_link(&p->link, &p->gpu->link);
    if (isnan(p->idle_w)) p->idle_w = dse_gpu_idle_w(p->gpu);
    if (isnan(p->way_pj_per_bit)) p->way_pj_per_bit = dse_gpu_way_pj_per_bit(p->economics.costs, p->gpu->make.kind, p->die_mm2);
}

static const char *fd_check(const void *params)
{
    const struct fd_params *p = params;
    const char *why = dse_workload_check(&p->workload, DSE_CAN_ALL);
    if (!why) why = dse_kv_format_check(&p->workload);
    if (!why) why = fd_range_check(p);
    if (!why) why = fd_cache_check(p);
    if (!why && p->dataflow != FD_BY_VENDOR && p->workload.activation_bits != FD_WIDE_BITS)
        why = "activation_bits other than 16 need dataflow = vendor, which engine = vllm-0.14 has";
    if (!why) why = fd_formats_check(p);
    if (!why) why = refuse_link(&p->link);
    if (!why) why = fd_links_check(p);
    if (!why && fd_footprint(p) > fd_room(p)) why = no_room;
    if (!why && p->power == DSE_POWER_ACTIVITY && p->idle_w >= p->gpu->board_power_w)
        why = "idle_w is not below the gpu's power limit";
    if (!why && p->power == DSE_POWER_ACTIVITY && p->board_power_w <= fd_least_power(p)) why = no_power;
    return why;
}

static bool fd_shortage(const void *params, const char *reason, struct dse_shortage *ret)
{
    const struct fd_params *p = params;
    *ret = reason == no_power ? (struct dse_shortage){fd_least_power(p), p->board_power_w, "W"}
                              : (struct dse_shortage){fd_footprint(p) / DSE_GIB, fd_room(p) / DSE_GIB, "GiB"};
    return reason == no_room || reason == no_power;
}

static const char *why_null(const void *params, const char *metric)
{
    const struct dse_bill bill = fd_bill_of(params);
    struct dse_arithmetic arithmetic;
    const struct dse_cache_steps steps = fd_cache_steps(params, &arithmetic);
    const char *why = dse_cache_why_null(&steps, metric);
    return why ? why : dse_bill_why_null(&bill, metric);
}

static void fd_estimate(const void *params, void *metrics, struct dse_breakdown *breakdown)
{
    struct fd_point at;
    fd_point_init(&at, params);
    fd_settle(&at);
    fd_fill(metrics, &at);
    if (breakdown) fd_break_down(&at, breakdown);
}

/* What is faster draws more: under a limit, what it is fed from can become slower than what it is spent on. With losses apart, one
 * more tile of a context may share out better over the SMs, and what recomputation repeats gets shorter: up to 0.1 % of a step
 * where nearly all rows are recomputed; more devices have fewer heads each to share out. Measured attention splits positions over
 * more SMs, and has more parts to sum. */
static const struct dse_trend fd_trends[] = {
    {.param = "bandwidth_gbs", .metric = "tokens_per_s", .effect = DSE_MORE, .where = "power=constant"},
    {.param = "sms", .metric = "tokens_per_s", .effect = DSE_MORE, .where = "power=constant,kernel_losses=included"},
    {.param = "sms", .metric = "tokens_per_s", .effect = DSE_MORE, .where = "power=constant,kernel_losses=apart"},
    {.param = "clock_ghz", .metric = "tokens_per_s", .effect = DSE_MORE, .where = "power=constant"},
    {.param = "tensor_tflops", .metric = "tokens_per_s", .effect = DSE_MORE, .where = "power=constant"},
    {.param = "vector_tflops", .metric = "tokens_per_s", .effect = DSE_MORE, .where = "power=constant"},
    {.param = "l2_mib", .metric = "tokens_per_s", .effect = DSE_MORE, .where = "power=constant"},
    {.param = "link_gbs", .metric = "tokens_per_s", .effect = DSE_MORE, .where = "power=constant"},
    {.param = "context", .metric = "latency_us", .effect = DSE_MORE, .where = "power=constant,kernel_losses=included"},
    {.param = "context",
     .metric = "tokens_per_s",
     .effect = DSE_LESS,
     .where = "phase=decode,power=constant,kernel_losses=included"},
    {.param = "context", .metric = "energy_mj", .effect = DSE_MORE, .where = "phase=decode,power=constant,kernel_losses=included"},
    {.param = "tensor_parallel",
     .metric = "attention_us",
     .effect = DSE_LESS,
     .where = "phase=decode,power=constant,kernel_losses=included"},
    {.param = "launch_us", .metric = "tokens_per_s", .effect = DSE_LESS, .where = "power=constant"},
    {0},
};

/* Attention is exact. */
static void fd_stand(const void *params, struct dse_standing *ret)
{
    const struct fd_params *p = params;
    const bool measured = p->dataflow == FD_BY_VENDOR || p->kernel_losses == FD_MEASURED;
    struct dse_arithmetic arithmetic;
    const struct dse_cache_steps steps = fd_cache_steps(p, &arithmetic);
    dse_cache_stand(&steps, ret);
    if (measured && isnan(p->gpu->kernels.kernel_stream_share))
        dse_standing_add(ret, "kernels of this GPU's generation were not measured: E28 and E29 use an A100's constants");
    else
        fd_origins_stand(p, ret);
    fd_formats_stand(p, ret);
}

const struct dse_model dse_model_flashdecoding = {
    .name = "flashdecoding",
    .title = "FlashDecoding++: LLM inference on GPUs",
    .cite =
        "K. Hong et al., FlashDecoding++: Faster Large Language Model Inference with Asynchronization, Flat GEMM Optimization, and "
        "Heuristics, MLSys 2024",
    .version = 11,
    .params = fd_params_table,
    .params_size = sizeof(struct fd_params),
    .metrics = fd_metrics_table,
    .metrics_size = sizeof(struct fd_metrics),
    .resolve = fd_resolve,
    .check = fd_check,
    .shortage = fd_shortage,
    .estimate = fd_estimate,
    .bound = fd_bound,
    .simulate = fd_simulate,
    .why_null = why_null,
    .stand = fd_stand,
    .equations = fd_equations_table,
    .equations_size = sizeof(struct fd_equations),
    .equate = fd_equate,
    .trends = fd_trends,
    .techniques = (const struct dse_technique[]){DSE_CACHE_TECHNIQUE, {NULL, NULL, NULL}},
};
